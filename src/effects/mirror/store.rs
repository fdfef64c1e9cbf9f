//! The bytes of small files, one after the other in a file beside the copy, which only grows: to make thousands of files would
//! cost more than all else. Of loose objects the copy has nothing but these bytes, until it is needed as a whole (`make_files`).
//! Of refs and reflogs it has links; who writes to an original in place writes to its link, and one that was written to is
//! replaced by a file with the bytes (`mend`). Of a folder of loose objects it is noted when it held what is in here.
//!
//! A record is a line of JSON and, where it has bytes, these and the end of a line. The newest of a name counts. What follows the
//! first record that is not whole, because its writer was cut short, counts for nothing and is written over. Last stands a mark:
//! without it, records were lost, if only whole ones.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{
    BufRead, BufReader, BufWriter, ErrorKind, Read, Result as IoResult, Seek, SeekFrom, Write,
};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use flate2::Crc;
use serde::{Deserialize, Serialize};

use super::names::{OBJECTS, is_own_loose};
use crate::effects::files;

/// The most bytes of one file in here; for larger ones a copy costs no more.
pub const FILE_LIMIT: u64 = 1 << 20;
/// The most bytes of a record's first line: a path, each byte written as six.
const LINE_LIMIT: u64 = 1 << 16;
/// The record that stands last: one without a name.
const MARK: &[u8] = b"{\"name\":\"\"}\n";
/// The bits of a mode that are permissions.
const MODES: u32 = 0o7777;
/// How much is written at once.
const BLOCK: usize = 1 << 18;

/// The bytes of small files, by their path below the git directory.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    entries: BTreeMap<String, Entry>,
    /// Where the whole records end, but for the mark.
    end: u64,
    /// The mark stands behind them.
    is_marked: bool,
    /// They were not all there when they were read.
    is_torn: bool,
    out: Option<BufWriter<File>>,
}

/// What is known of one file or folder.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    kind: Kind,
    version: Version,
    at: u64,
    body: Body,
}

/// What the copy has beside the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
enum Kind {
    /// A link to the original.
    #[default]
    Link,
    /// Nothing.
    Bytes,
    /// This is a folder, and has no bytes.
    Folder,
}

/// Tells one version of a file from another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Version {
    inode: u64,
    length: u64,
    /// The time of the last change of state, which nobody can set: seconds and nanoseconds since 1970.
    changed: (i64, i64),
}

impl Version {
    fn of(meta: &Metadata) -> Version {
        Version {
            inode: meta.ino(),
            length: meta.len(),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Body {
    length: u64,
    sum: u32,
    /// The file's permissions.
    #[serde(default)]
    mode: u32,
}

/// The first line of a record. One without a version says that the copy has no such file any more, one of a file without a body
/// that it holds the same in a newer version.
#[derive(Default, Serialize, Deserialize)]
struct Line {
    name: String,
    #[serde(default)]
    kind: Kind,
    version: Option<Version>,
    body: Option<Body>,
}

impl Store {
    /// Reads what stands beside a copy.
    pub fn read(folder: &Path) -> IoResult<Store> {
        let mut store = Store {
            path: folder.join("bytes"),
            entries: BTreeMap::new(),
            end: 0,
            is_marked: false,
            is_torn: true,
            out: None,
        };
        let file = match files::open(&store.path) {
            Ok(file) => file,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(store),
            Err(cause) => return Err(cause),
        };
        let length = file.metadata()?.len();
        let mut reader = BufReader::new(file);
        while store.read_record(&mut reader, length)? {}
        store.is_torn = !store.is_marked || store.end + MARK.len() as u64 != length;
        Ok(store)
    }

    /// Reads one record; false where there is none that is whole.
    fn read_record(&mut self, reader: &mut BufReader<File>, length: u64) -> IoResult<bool> {
        let mut line = Vec::new();
        reader.take(LINE_LIMIT).read_until(b'\n', &mut line)?;
        let at = self.end + line.len() as u64;
        let read = serde_json::from_slice::<Line>(&line);
        let (true, Ok(line)) = (line.ends_with(b"\n"), read) else {
            return Ok(false);
        };
        if line.name.is_empty() {
            self.is_marked = true;
            return Ok(false);
        }
        let mut end = at;
        if let Some(body) = line.body {
            let is_there = body.length <= FILE_LIMIT && body.length < length.saturating_sub(at);
            let step = i64::try_from(body.length).ok().filter(|_| is_there);
            let Some(step) = step else {
                return Ok(false);
            };
            reader.seek_relative(step)?;
            let mut last = [0];
            if reader.read(&mut last)? != 1 || last != *b"\n" {
                return Ok(false);
            }
            end = at + body.length + 1;
        }
        self.end = end;
        self.note(line, at);
        Ok(true)
    }

    fn note(&mut self, line: Line, at: u64) {
        match (line.version, line.body) {
            (None, _) => {
                self.entries.remove(&line.name);
            }
            // A file is made by that name.
            (Some(_), Some(_)) if line.kind == Kind::Bytes && !is_own_loose(&line.name) => {}
            (Some(version), Some(body)) => {
                let kind = line.kind;
                let entry = Entry {
                    kind,
                    version,
                    at,
                    body,
                };
                self.entries.insert(line.name, entry);
            }
            (Some(version), None) if line.kind == Kind::Folder => {
                let entry = Entry {
                    kind: line.kind,
                    version,
                    at,
                    body: Body::default(),
                };
                self.entries.insert(line.name, entry);
            }
            (Some(version), None) => {
                if let Some(entry) = self.entries.get_mut(&line.name) {
                    entry.version = version;
                }
            }
        }
    }

    /// Says whether records were lost.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// How long the file is.
    pub fn length(&self) -> u64 {
        self.end
    }

    /// Says whether a file's bytes are in here.
    pub fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Says whether a file is of the version that is in here.
    pub fn is_of(&self, name: &str, meta: &Metadata) -> bool {
        let entry = self.entries.get(name);
        entry.is_some_and(|entry| entry.version == Version::of(meta))
    }

    /// Drops everything, as if records had been lost.
    pub fn clear(&mut self) -> IoResult<()> {
        self.out = None;
        self.entries.clear();
        (self.end, self.is_marked, self.is_torn) = (0, false, true);
        files::remove_all(&self.path)
    }

    /// Says whether the copy has nothing of a file but its bytes in here.
    pub fn has_bytes_alone(&self, name: &str) -> bool {
        let entry = self.entries.get(name);
        entry.is_some_and(|entry| entry.kind == Kind::Bytes)
    }

    /// Returns the names of such files whose names begin so.
    pub fn names_of_bytes<'a>(&'a self, begin: &'a str) -> impl Iterator<Item = &'a str> {
        let from = self.entries.range(begin.to_owned()..);
        let those = from.take_while(move |(name, _)| name.starts_with(begin));
        let those = those.filter(|(_, entry)| entry.kind == Kind::Bytes);
        those.map(|(name, _)| name.as_str())
    }

    /// How long such a file is.
    pub fn length_of(&self, name: &str) -> u64 {
        let entry = self.entries.get(name);
        entry.map_or(0, |entry| entry.body.length)
    }

    /// Returns the bytes of such a file with its permissions; none where they are not those that were written.
    pub fn bytes_of(&self, name: &str) -> IoResult<Option<(Vec<u8>, u32)>> {
        let Some(entry) = self.entries.get(name) else {
            return Ok(None);
        };
        let bytes = entry.bytes(&files::open_plain(&self.path)?)?;
        Ok(bytes.map(|bytes| (bytes, entry.body.mode)))
    }

    /// Adds the bytes of a file that has just been linked; returns how many.
    pub fn add(&mut self, name: &str, link: &Path) -> IoResult<u64> {
        self.add_as(Kind::Link, name, link)
    }

    /// Adds the bytes of a file of which the copy gets nothing else; returns how many.
    pub fn add_bytes_alone(&mut self, name: &str, file: &Path) -> IoResult<u64> {
        self.add_as(Kind::Bytes, name, file)
    }

    fn add_as(&mut self, kind: Kind, name: &str, file: &Path) -> IoResult<u64> {
        let file = files::open_plain(file)?;
        let meta = file.metadata()?;
        let mut bytes = Vec::new();
        file.take(FILE_LIMIT).read_to_end(&mut bytes)?;
        let line = Line {
            name: name.to_owned(),
            kind,
            version: Some(Version::of(&meta)),
            body: Some(Body {
                length: bytes.len() as u64,
                sum: sum(&bytes),
                mode: meta.mode() & MODES,
            }),
        };
        self.write(line, &bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Notes the version of a file that was only touched: where it holds the same bytes still.
    pub fn note_touched(&mut self, name: &str, file: &Path) -> IoResult<()> {
        let meta = fs::symlink_metadata(file)?;
        let kept = self.bytes_of(name)?;
        if !kept.is_some_and(|(kept, _)| is_held(file, &kept).unwrap_or(false)) {
            return Ok(());
        }
        let version = Some(Version::of(&meta));
        self.write_line(name, version, Kind::Bytes)
    }

    /// Notes that all files of a folder are in here, as it is now.
    pub fn note_folder(&mut self, name: &str, folder: &Metadata) -> IoResult<()> {
        self.write_line(name, Some(Version::of(folder)), Kind::Folder)
    }

    /// Says whether that was noted of a folder, and nothing came or went there since.
    pub fn is_of_folder(&self, name: &str, folder: &Metadata) -> bool {
        let entry = self.entries.get(name);
        entry
            .is_some_and(|entry| entry.kind == Kind::Folder && entry.version == Version::of(folder))
    }

    /// Notes, for good, that the copy has no such link any more: the inode of one that is gone may soon be another file's.
    pub fn forget(&mut self, name: &str) -> IoResult<()> {
        if !self.has(name) {
            return Ok(());
        }
        self.write_line(name, None, Kind::Link)?;
        self.flush()
    }

    /// Drops the bytes of files below a folder of which the copy has nothing else and that are gone; what is noted of folders, too.
    pub fn forget_gone(&mut self, folder: &str, is_there: impl Fn(&str) -> bool) -> IoResult<()> {
        let begin = format!("{folder}/");
        let from = self.entries.range(begin.clone()..);
        let those = from.take_while(|(name, _)| name.starts_with(&begin));
        let gone = those.filter(|(name, entry)| {
            let first = name[begin.len()..].split('/').next().unwrap_or_default();
            entry.kind != Kind::Link && !is_there(first)
        });
        let gone: Vec<_> = gone.map(|(name, _)| name.clone()).collect();
        let mut gone = gone.iter();
        gone.try_for_each(|name| self.write_line(name, None, Kind::Link))
    }

    fn write_line(&mut self, name: &str, version: Option<Version>, kind: Kind) -> IoResult<()> {
        let line = Line {
            name: name.to_owned(),
            kind,
            version,
            body: None,
        };
        self.write(line, b"")
    }

    fn write(&mut self, line: Line, bytes: &[u8]) -> IoResult<()> {
        let mut head = serde_json::to_vec(&line)?;
        head.push(b'\n');
        let at = self.end + head.len() as u64;
        let out = self.out()?;
        out.write_all(&head)?;
        let mut end = at;
        if line.body.is_some() {
            out.write_all(bytes)?;
            out.write_all(b"\n")?;
            end = at + bytes.len() as u64 + 1;
        }
        self.end = end;
        self.is_marked = false;
        self.note(line, at);
        Ok(())
    }

    fn out(&mut self) -> IoResult<&mut BufWriter<File>> {
        let out = match self.out.take() {
            Some(out) => out,
            None => {
                let mut options = OpenOptions::new();
                let options = options.write(true).create(true).truncate(false);
                let mut file = options.open(&self.path)?;
                file.set_len(self.end)?;
                file.seek(SeekFrom::Start(self.end))?;
                BufWriter::with_capacity(BLOCK, file)
            }
        };
        Ok(self.out.insert(out))
    }

    /// Hands everything to the system: then a kill loses none of it.
    pub fn flush(&mut self) -> IoResult<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }

    /// Sets the mark behind all that was added, and hands it on. What is added later is written over it.
    pub fn finish(&mut self) -> IoResult<()> {
        if !self.is_marked {
            self.out()?.write_all(MARK)?;
            self.is_marked = true;
        }
        self.flush()?;
        self.out = None;
        Ok(())
    }

    /// Replaces each link in `copy` that was written to by a file with the bytes that it held; notes the newer version of those
    /// that were only touched.
    pub fn mend(&mut self, copy: &Path) -> IoResult<()> {
        let touched = self.replace_changed(copy)?;
        if touched.is_empty() {
            return Ok(());
        }
        for (name, meta) in touched {
            self.write_line(&name, Some(Version::of(&meta)), Kind::Link)?;
        }
        // What was lost stays lost until the next refresh.
        match self.is_torn {
            true => self.flush(),
            false => self.finish(),
        }
    }

    /// Does that, and returns what was only touched, with its state.
    pub fn replace_changed(&self, copy: &Path) -> IoResult<Vec<(String, Metadata)>> {
        let mut touched = Vec::new();
        let mut opened = None;
        let links = self.entries.iter();
        for (name, entry) in links.filter(|(_, entry)| entry.kind == Kind::Link) {
            let link = copy.join(name);
            let Ok(meta) = fs::symlink_metadata(&link) else {
                continue;
            };
            let version = Version::of(&meta);
            // A folder may have got the inode of a link that is gone.
            if !meta.is_file() || version.inode != entry.version.inode || version == entry.version {
                continue;
            }
            let file = match opened.take() {
                Some(file) => file,
                None => File::open(&self.path)?,
            };
            let kept = entry.bytes(opened.insert(file))?;
            match kept {
                Some(kept) if is_held(&link, &kept)? => touched.push((name.clone(), meta)),
                // It bears no original's time.
                Some(kept) => self.replace(&link, &kept, meta.permissions(), UNIX_EPOCH)?,
                None => {}
            }
        }
        Ok(touched)
    }

    /// Makes files in `copy` of all that it has only in here, so that it can be copied back.
    pub fn make_files(&self, copy: &Path) -> IoResult<()> {
        for name in self.names_of_bytes("") {
            let file = copy.join(name);
            if fs::symlink_metadata(&file).is_ok() {
                continue;
            }
            let Some((bytes, mode)) = self.bytes_of(name)? else {
                continue;
            };
            fs::create_dir_all(file.parent().unwrap_or(copy))?;
            // The times of git's objects say how long those are kept that nothing leads to.
            let now = SystemTime::now();
            self.replace(&file, &bytes, Permissions::from_mode(mode), now)?;
        }
        // Its time, which tells what it is the copy of, is another's now.
        match files::is_there(&copy.join(OBJECTS))? {
            true => File::open(copy.join(OBJECTS))?.set_modified(UNIX_EPOCH),
            false => Ok(()),
        }
    }

    /// Puts a file with these bytes in a link's place, or where none is, in one step.
    fn replace(
        &self,
        file: &Path,
        bytes: &[u8],
        mode: Permissions,
        modified: SystemTime,
    ) -> IoResult<()> {
        let name = format!("mended.{:x}", std::process::id());
        let temporary = self.path.with_file_name(name);
        files::remove_all(&temporary)?;
        let mut made = File::create_new(&temporary)?;
        made.write_all(bytes)?;
        made.set_permissions(mode)?;
        made.set_modified(modified)?;
        fs::rename(&temporary, file)
    }
}

impl Entry {
    /// Returns the bytes; none where they are not those that were written.
    fn bytes(&self, file: &File) -> IoResult<Option<Vec<u8>>> {
        let mut bytes = vec![0; usize::try_from(self.body.length).unwrap_or_default()];
        file.read_exact_at(&mut bytes, self.at)?;
        Ok((sum(&bytes) == self.body.sum).then_some(bytes))
    }
}

/// Says whether a file holds these bytes and no others.
pub fn is_held(file: &Path, bytes: &[u8]) -> IoResult<bool> {
    let mut now = Vec::new();
    let limit = bytes.len() as u64 + 1;
    let file = files::open_plain(file)?;
    file.take(limit).read_to_end(&mut now)?;
    Ok(now == bytes)
}

fn sum(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 4] = [
        ("a", "one"),
        ("b c", ""),
        ("d\n\u{e9}", "{\"name\":1}\n\n"),
        ("e", "four"),
    ];

    /// A folder with a copy in it, and what is a link there.
    fn make() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (live, copy) = (folder.path().join("live"), folder.path().join("git"));
        for folder in [&live, &copy] {
            fs::create_dir(folder).unwrap();
        }
        for (name, text) in FILES {
            fs::write(live.join(name), text).unwrap();
            fs::hard_link(live.join(name), copy.join(name)).unwrap();
        }
        (folder, live, copy)
    }

    fn add_all(store: &mut Store, copy: &Path) {
        for (name, _) in FILES {
            store.add(name, &copy.join(name)).unwrap();
        }
        store.finish().unwrap();
    }

    #[test]
    fn what_was_cut_off_is_ignored_from_the_first_broken_record_on_and_written_over() {
        let (folder, _, copy) = make();
        let mut store = Store::read(folder.path()).unwrap();
        add_all(&mut store, &copy);
        let whole = fs::read(&store.path).unwrap();
        let starts: Vec<_> = store.entries.values().map(|entry| entry.at).collect();
        for cut in 0..=whole.len() {
            for tail in ["", "\0\0\0\0", "{}"] {
                let bytes = [&whole[..cut], tail.as_bytes()].concat();
                fs::write(&store.path, bytes).unwrap();
                let mut read = Store::read(folder.path()).unwrap();
                let ends: Vec<_> = FILES
                    .iter()
                    .zip(&starts)
                    .map(|((_, text), at)| at + text.len() as u64 + 1)
                    .collect();
                let is_whole = |end: &&u64| **end <= cut as u64;
                let count = ends.iter().filter(is_whole).count();
                assert_eq!(read.entries.len(), count, "{cut}");
                let is_all = cut == whole.len() && tail.is_empty();
                assert_eq!(read.is_torn(), !is_all, "{cut} {tail:?}");
                add_all(&mut read, &copy);
                let again = Store::read(folder.path()).unwrap();
                assert!(!again.is_torn());
                assert_eq!(again.entries, read.entries);
                assert_eq!(again.entries.len(), FILES.len());
            }
        }
    }

    #[test]
    fn links_that_were_written_to_are_files_again_and_those_only_touched_stay() {
        let (folder, live, copy) = make();
        let mut store = Store::read(folder.path()).unwrap();
        add_all(&mut store, &copy);
        fs::write(live.join("a"), "bad").unwrap();
        fs::write(live.join("e"), "").unwrap();
        fs::remove_file(live.join("e")).unwrap();
        fs::remove_file(live.join("b c")).unwrap();
        let mut store = Store::read(folder.path()).unwrap();
        store.mend(&copy).unwrap();
        for (name, text) in FILES {
            assert_eq!(fs::read_to_string(copy.join(name)).unwrap(), text, "{name}");
        }
        let read = Store::read(folder.path()).unwrap();
        let touched = copy.join("b c").metadata().unwrap();
        assert!(read.is_of("b c", &touched));
        assert_eq!(read.entries, store.entries);
    }

    #[test]
    fn files_are_made_of_what_is_nothing_but_bytes_and_bears_the_name_of_an_object() {
        let (folder, live, copy) = make();
        let object = format!("objects/00/{}", "a".repeat(38));
        let outside = format!("objects/00/../../../{}", "a".repeat(38));
        let mut store = Store::read(folder.path()).unwrap();
        store.add_bytes_alone(&object, &live.join("a")).unwrap();
        store.add_bytes_alone(&outside, &live.join("a")).unwrap();
        store.finish().unwrap();
        let mode = Permissions::from_mode(0o600);
        fs::set_permissions(live.join("a"), mode).unwrap();
        let store = Store::read(folder.path()).unwrap();
        store.make_files(&copy).unwrap();
        assert_eq!(fs::read_to_string(copy.join(&object)).unwrap(), "one");
        assert_eq!(store.names_of_bytes("").collect::<Vec<_>>(), [&object]);
        assert!(!folder.path().join("a".repeat(38)).exists());
    }

    #[test]
    fn a_folder_is_as_noted_until_something_comes_or_goes_there() {
        let (folder, live, _) = make();
        let mut store = Store::read(folder.path()).unwrap();
        store
            .note_folder("objects/00", &live.metadata().unwrap())
            .unwrap();
        store.finish().unwrap();
        let store = Store::read(folder.path()).unwrap();
        assert!(store.is_of_folder("objects/00", &live.metadata().unwrap()));
        fs::remove_file(live.join("a")).unwrap();
        assert!(!store.is_of_folder("objects/00", &live.metadata().unwrap()));
    }

    #[test]
    fn a_file_that_took_the_place_of_a_link_is_left_alone_once_that_was_noted() {
        let (folder, _, copy) = make();
        let mut store = Store::read(folder.path()).unwrap();
        add_all(&mut store, &copy);
        store.forget("a").unwrap();
        // As if the new file had got the old one's inode.
        fs::write(copy.join("a"), "new").unwrap();
        let mut store = Store::read(folder.path()).unwrap();
        store.mend(&copy).unwrap();
        assert_eq!(fs::read_to_string(copy.join("a")).unwrap(), "new");
    }

    #[test]
    fn bytes_that_are_not_those_that_were_written_replace_nothing() {
        let (folder, live, copy) = make();
        let mut store = Store::read(folder.path()).unwrap();
        add_all(&mut store, &copy);
        let at = usize::try_from(store.entries["a"].at).unwrap();
        let mut whole = fs::read(&store.path).unwrap();
        whole[at..at + 3].copy_from_slice(b"eno");
        fs::write(&store.path, whole).unwrap();
        fs::write(live.join("a"), "bad").unwrap();
        let mut store = Store::read(folder.path()).unwrap();
        store.mend(&copy).unwrap();
        assert_eq!(fs::read_to_string(copy.join("a")).unwrap(), "bad");
    }
}
