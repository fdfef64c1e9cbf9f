//! The files of searches: `search/<n>/lineage.jsonl` in the private directory, append-only and never committed. A line is on
//! the disk before what follows from it is begun; one that a crash cut off is as if it had never been begun.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::twin::{self, Beside, Twin, outside};
use crate::effects::files::{self, Stamp};
use crate::effects::repo::Repo;
use crate::error::{Error, Kind, Result};
use crate::model::exact;
use crate::model::git::whose::OF_SEARCHES;
use crate::model::search::lineage::{Entry, Lineage, Plan};

/// The most bytes of a lineage that are read: 10,000 attempts take about five million.
const LIMIT: u64 = 256 << 20;
/// The format of the files that this version writes.
pub const FORMAT: u32 = 1;

/// A number from here on is of no search.
const NUMBERS: u64 = 1 << 32;

/// The files of one search.
#[derive(Clone, Debug)]
pub struct Store {
    /// The search's number, from 1.
    pub number: u64,
    /// Its folder.
    pub folder: PathBuf,
    /// Somebody else changed the lineage since `evolve` wrote it: what was read is its copy.
    pub is_changed: bool,
    /// This `evolve` has not written it, as far as the copies outside of the repository tell: they are of another search, or of
    /// less of this one, or only of others.
    pub is_strange: bool,
    /// The lineage as this process wrote it.
    written: Rc<RefCell<Written>>,
    twin: Twin,
    /// The private directory that it is in.
    private: PathBuf,
}

/// A lineage that somebody else had changed is what it was.
#[derive(Clone, Debug)]
pub struct PutRight {
    /// Where what stood there is kept; none where nothing did.
    pub kept: Option<PathBuf>,
}

/// What the file of a lineage is to hold, as it was read and added to, and how it stood after the last entry.
#[derive(Debug, Default)]
struct Written {
    bytes: Vec<u8>,
    /// What nobody can set back; none where this process wrote nothing yet.
    stamp: Option<Stamp>,
    /// Whether its copy could be written.
    copied: Copied,
}

/// What is known of writing the copy of a lineage.
#[derive(Debug, Default)]
enum Copied {
    #[default]
    Always,
    /// Not any more, for this reason.
    NoMore(Error),
    /// The same, and it was told.
    Told,
}

impl Store {
    /// Returns the next search. There is nothing of it before it begins.
    pub fn next(user: &Repo) -> Result<Store> {
        // Refs are common to all working trees of a repository, these folders are not.
        let of_ref = |name: &str| {
            name.strip_prefix(OF_SEARCHES)?
                .split('/')
                .next()?
                .parse()
                .ok()
        };
        let refs = user.all_refs()?;
        let named = refs.keys().filter_map(|name| of_ref(name));
        let taken = begun(user).chain(named);
        let taken = taken.filter(|number| *number < NUMBERS - 1).max();
        let number = taken.map_or(1, |last: u64| last + 1);
        Ok(Store::at(&user.private, number))
    }

    /// Makes its folder anew: what is there is of a start that a crash cut off.
    pub fn make_folder(&self) -> Result<()> {
        self.remove()?;
        fs::create_dir_all(&self.folder).map_err(|cause| Error::io("create", &self.folder, cause))
    }

    /// Makes the folder of an attempt, if it is not there; returns it.
    pub fn make_folder_of(&self, id: u64) -> Result<PathBuf> {
        self.make(self.folder.join(id.to_string()))
    }

    /// Makes the folder in which each command that measures has one to itself, if it is not there; returns it.
    pub fn make_own_folder(&self) -> Result<PathBuf> {
        self.make(self.own_folder())
    }

    fn make(&self, folder: PathBuf) -> Result<PathBuf> {
        self.drop_links()?;
        files::remove_unless_folder(&folder)?;
        fs::create_dir_all(&folder).map_err(|cause| Error::io("create", &folder, cause))?;
        Ok(folder)
    }

    fn own_folder(&self) -> PathBuf {
        self.folder.join("own")
    }

    /// Removes what somebody put where its folder belongs: what is written there would go elsewhere.
    fn drop_links(&self) -> Result<()> {
        let above = self.folder.parent().into_iter();
        above
            .chain([&*self.folder])
            .try_for_each(files::remove_unless_folder)
    }

    /// Begins the search with a plan.
    pub fn begin(&self, plan: &Plan) -> Result<()> {
        self.append(&Entry::Header(Box::new(plan.clone())))
    }

    /// Returns the newest search, if there is one.
    pub fn newest(user: &Repo) -> Result<Option<(Store, Lineage)>> {
        for number in numbers(user).into_iter().rev() {
            let mut store = Store::at(&user.private, number);
            if let Some(lineage) = store.read()? {
                return Ok(Some((store, lineage)));
            }
        }
        Ok(None)
    }

    /// Returns the search with a number, if there is one.
    pub fn numbered(user: &Repo, number: u64) -> Result<Option<(Store, Lineage)>> {
        if !numbers(user).contains(&number) {
            return Ok(None);
        }
        let mut store = Store::at(&user.private, number);
        Ok(store.read()?.map(|lineage| (store, lineage)))
    }

    /// Lists the numbers of the searches that began.
    pub fn all(user: &Repo) -> Vec<u64> {
        begun(user).collect()
    }

    /// Returns the newest search that began, whatever its lineage says.
    pub fn last(user: &Repo) -> Option<Store> {
        let number = begun(user).next_back()?;
        Some(Store::at(&user.private, number))
    }

    /// Says whether anything was written of it.
    fn has_begun(&self) -> bool {
        fs::symlink_metadata(self.file()).is_ok_and(|meta| meta.len() > 0) || self.twin.is_there()
    }

    fn at(private: &Path, number: u64) -> Store {
        Store {
            number,
            folder: private.join("search").join(number.to_string()),
            is_changed: false,
            is_strange: false,
            written: Rc::default(),
            private: private.to_owned(),
            twin: Twin::of(private, number),
        }
    }

    /// Returns the file of the lineage.
    pub fn file(&self) -> PathBuf {
        self.folder.join("lineage.jsonl")
    }

    /// Returns the ref that holds an attempt's commit.
    pub fn attempt_ref(&self, id: u64) -> String {
        format!("{}{id}", self.attempt_ref_prefix())
    }

    /// Returns how the names of all such refs begin.
    pub fn attempt_ref_prefix(&self) -> String {
        format!("{OF_SEARCHES}{}/", self.number)
    }

    /// Adds an entry; it is on the disk when this returns.
    pub fn append(&self, entry: &Entry) -> Result<()> {
        let path = self.file();
        let mut written = self.written.borrow_mut();
        let line = serde_json::to_string(entry).expect("BUG: an entry is always JSON");
        let line = format!("{line}\n");
        let lost = self.twin.append(&written.bytes, &line)?;
        if let (Some(cause), Copied::Always) = (lost, &written.copied) {
            written.copied = Copied::NoMore(cause);
        }
        files::append(&path, &line)?;
        written.bytes.extend(line.as_bytes());
        written.stamp = Stamp::at(&path);
        Ok(())
    }

    /// Returns why the lineage has no copy outside of the repository, the first time it is asked for after none could be written.
    pub fn lost_copy(&self) -> Option<Error> {
        let copied = &mut self.written.borrow_mut().copied;
        match std::mem::replace(copied, Copied::Told) {
            Copied::NoMore(cause) => Some(cause),
            Copied::Always => {
                *copied = Copied::Always;
                None
            }
            Copied::Told => None,
        }
    }

    /// Makes the lineage what this process wrote, or read when it began, if somebody else changed it since: agents find their way
    /// to it.
    pub fn put_right(&self) -> Result<Option<PutRight>> {
        self.drop_links()?;
        let path = self.file();
        let mut written = self.written.borrow_mut();
        let is_untouched = written.stamp.is_some() && Stamp::at(&path) == written.stamp;
        if written.bytes.is_empty() || is_untouched {
            return Ok(None);
        }
        // What is no file, or no file that can be read, is not what was written either.
        let is_same = files::read_bounded(&path, LIMIT)
            .is_ok_and(|bytes| bytes.as_ref() == Some(&written.bytes));
        let changed = match is_same {
            true => None,
            false => Some(self.put_back(&written.bytes)?),
        };
        written.stamp = Stamp::at(&path);
        Ok(changed)
    }

    /// The same, of what somebody did after the process that wrote it ended, as far as its copy tells. To be called by who holds the
    /// lock, before the lineage is read.
    pub fn put_right_by_twin(&self) -> Result<Option<PutRight>> {
        self.drop_links()?;
        match self.believed()? {
            (_, Beside::Sound | Beside::Other) => Ok(None),
            (copy, Beside::Behind) => files::replace(&self.file(), &copy).map(|()| None),
            (copy, Beside::Changed) => self.put_back(&copy).map(Some),
        }
    }

    /// Returns the lineage's whole lines as `evolve` wrote them, and what became of its file since.
    pub fn believed(&self) -> Result<(Vec<u8>, Beside)> {
        let read = || files::read_bounded(&self.file(), LIMIT);
        // What is no file is not what was written.
        let lines = || twin::whole_lines(read().ok().flatten().unwrap_or_default());
        // What cannot be read is not what was written either.
        let can_be_read = |bytes: &[u8]| matches!(self.parse(bytes), Ok(Some(_)));
        let mut lineage = lines();
        // It is read after the file: what is written meanwhile is in it.
        while let Some(copy) = self.twin.read(LIMIT)? {
            let beside = twin::beside(&lineage, &copy);
            match beside {
                Beside::Sound => return Ok((lineage, beside)),
                Beside::Behind if can_be_read(&copy) => return Ok((copy, beside)),
                Beside::Behind | Beside::Changed | Beside::Other => {}
            }
            let before = std::mem::replace(&mut lineage, lines());
            // Else a search is at work and adds to it.
            if lineage == before {
                let beside = match (can_be_read(&lineage), can_be_read(&copy)) {
                    (false, true) => Beside::Changed,
                    (true, false) => Beside::Other,
                    (true, true) | (false, false) => beside,
                };
                return Ok(match beside {
                    Beside::Other => (lineage, beside),
                    _ => (copy, beside),
                });
            }
        }
        let lineage = read()?.unwrap_or_default();
        Ok((twin::whole_lines(lineage), Beside::Sound))
    }

    /// Makes the lineage these bytes.
    fn put_back(&self, bytes: &[u8]) -> Result<PutRight> {
        let path = self.file();
        let changed = path.with_extension("changed.jsonl");
        fs::create_dir_all(&self.folder)
            .map_err(|cause| Error::io("create", &self.folder, cause))?;
        files::remove_all(&changed).map_err(|cause| Error::io("remove", &changed, cause))?;
        let kept = match fs::rename(&path, &changed) {
            Ok(()) => Some(changed),
            Err(cause) if cause.kind() == ErrorKind::NotFound => None,
            Err(cause) => return Err(Error::io("move", &path, cause)),
        };
        files::replace(&path, bytes)?;
        Ok(PutRight { kept })
    }

    /// Cuts off the line that a crash left unfinished, if there is one.
    fn mend(&self) -> Result<()> {
        let path = self.file();
        let Some(bytes) = files::read_bounded(&path, LIMIT)? else {
            return Ok(());
        };
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |last| last + 1);
        if whole == bytes.len() {
            return Ok(());
        }
        let file = fs::OpenOptions::new().write(true).open(&path);
        let file = file.and_then(|file| file.set_len(whole as u64).map(|()| file));
        file.and_then(|file| file.sync_all())
            .map_err(|cause| Error::io("cut", &path, cause))
    }

    /// Reads the lineage; none where not even its header is there.
    fn read(&mut self) -> Result<Option<Lineage>> {
        let (lines, beside) = self.believed()?;
        self.is_changed = beside == Beside::Changed;
        let is_other = |number: &u64| *number != self.number;
        let have_others = || Twin::numbers(&self.private).iter().any(is_other);
        self.is_strange = beside == Beside::Other || !self.twin.is_there() && have_others();
        let lineage = self.parse(&lines)?;
        // What is added from now on follows these, whatever an agent makes of the file until then.
        *self.written.borrow_mut() = Written {
            bytes: lines,
            ..Written::default()
        };
        Ok(lineage)
    }

    /// Understands the lines of a lineage; none where there are none.
    fn parse(&self, lines: &[u8]) -> Result<Option<Lineage>> {
        let mut lineage: Option<Lineage> = None;
        for (number, line) in exact::decode(lines).lines().enumerate() {
            let at = |why: String| {
                let place = format!("{}:{}", self.file().display(), number + 1);
                Error::new(Kind::Usage, format!("{place}: {why}"))
                    .hint("the file was changed by somebody else; `evolve search discard` gives the search up")
            };
            let entry: Entry = serde_json::from_str(line)
                .map_err(|cause| at(format!("no entry of a lineage: {cause}")))?;
            match (&mut lineage, entry) {
                (None, Entry::Header(plan)) if plan.format > FORMAT => {
                    return Err(at(format!(
                        "format {} is newer than this evolve",
                        plan.format
                    )));
                }
                (None, Entry::Header(plan)) => lineage = Some(Lineage::new(*plan)),
                (None, _) => return Err(at("the header is missing".to_owned())),
                (Some(lineage), entry) => lineage.take(entry).map_err(at)?,
            }
        }
        Ok(lineage)
    }

    /// Makes it ready to be gone on with: what a killed session left goes, and the wish that it stop. To be called by who holds the
    /// lock.
    pub fn go_on(&self) -> Result<()> {
        self.drop_links()?;
        self.mend()?;
        if self.is_strange {
            // Whoever named it takes it for ours: its copy is made anew with the next entry.
            self.twin.remove()?;
        }
        self.forget_stop()?;
        let own = self.own_folder();
        files::remove_all(&own).map_err(|cause| Error::io("remove", &own, cause))
    }

    /// Returns the file that tells of a winner that is being applied. It is where no agent in a sandbox can write it.
    pub fn applying(private: &Path) -> PathBuf {
        let outside = outside(private, "applying");
        outside.unwrap_or_else(|| private.join("search").join("applying.json"))
    }

    /// Removes the files of the search.
    pub fn remove(&self) -> Result<()> {
        self.twin.remove()?;
        self.drop_links()?;
        files::remove_all(&self.folder).map_err(|cause| Error::io("remove", &self.folder, cause))
    }
}

/// Lists the numbers of the searches that began.
fn begun(user: &Repo) -> impl DoubleEndedIterator<Item = u64> {
    let all = numbers(user).into_iter();
    all.filter(|number| Store::at(&user.private, *number).has_begun())
}

/// Lists the numbers of searches that there are folders of, or copies of a lineage and the refs: their folder somebody removed.
fn numbers(user: &Repo) -> BTreeSet<u64> {
    let entries = match fs::read_dir(user.private.join("search")) {
        Ok(entries) => Some(entries),
        Err(cause) if cause.kind() == ErrorKind::NotFound => None,
        Err(cause) => {
            tracing::debug!("no searches: {cause}");
            None
        }
    };
    let name = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let folders = entries.into_iter().flatten().flatten().filter_map(name);
    let mut numbers: BTreeSet<u64> = folders.collect();
    // A repository that was here before had copies, too.
    let has_refs = |number: u64| {
        let base = Store::at(&user.private, number).attempt_ref(0);
        user.target_of(&base).is_some()
    };
    for number in Twin::numbers(&user.private) {
        if !numbers.contains(&number) && has_refs(number) {
            numbers.insert(number);
        }
    }
    numbers.retain(|number| *number < NUMBERS);
    numbers
}
