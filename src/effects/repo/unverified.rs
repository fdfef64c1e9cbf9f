//! A file of a tree that is given out before its digest was held against its id. To compute that takes as long as to understand a
//! long history, and both can be done side by side.

use std::fs::{self, Metadata};
use std::io::Read;

use flate2::read::ZlibDecoder;
use git2::{ObjectType, Oid};

use super::Repo;
use crate::effects::files;
use crate::error::{Error, Result};
use crate::model::ledger;

/// The bytes of a file, as they are stored.
#[derive(Debug)]
pub struct Unverified {
    /// What is stored under the id.
    pub bytes: Vec<u8>,
    /// What they are still to be held against.
    id: Option<Oid>,
}

impl Unverified {
    /// Refuses bytes that are not what their id stands for: the object is damaged.
    pub fn verify(&self) -> Result<()> {
        let Some(id) = self.id else {
            return Ok(());
        };
        match Oid::hash_object(ObjectType::Blob, &self.bytes) {
            Ok(found) if found == id => Ok(()),
            Ok(_) | Err(_) => Err(Error::internal(format!("the object {id} is damaged")).hint(
                "`git fsck` names what else is; another clone of the repository may have it whole",
            )),
        }
    }
}

impl Repo {
    /// Returns a file in a tree; none if it is not there or no file.
    pub fn unverified(&self, tree: &str, path: &str) -> Result<Option<Unverified>> {
        let Some(id) = self.id_to_read(tree, path)? else {
            return Ok(None);
        };
        if let Some(bytes) = self.read_loose(id, ledger::most_bytes(path)) {
            let id = Some(id);
            return Ok(Some(Unverified { bytes, id }));
        }
        let bytes = self.blob_of(id)?;
        Ok(Some(Unverified { bytes, id: None }))
    }

    /// Reads a file of no more than so many bytes that is stored by itself; none where it is not, or not in whole. Not by libgit2,
    /// which reads one that was cut short for ever, and one that says less than it holds to its end.
    fn read_loose(&self, id: Oid, most: u64) -> Option<Vec<u8>> {
        let name = id.to_string();
        let (folder, name) = name.split_at(2);
        let file = self.common_path("objects").join(folder).join(name);
        fs::symlink_metadata(&file).ok().filter(Metadata::is_file)?;
        let mut stored = ZlibDecoder::new(files::open(&file).ok()?);
        let size = header(&mut stored).filter(|size| *size <= most)?;
        let mut bytes = Vec::with_capacity(files::room_for(size));
        stored.take(size + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 == size).then_some(bytes)
    }
}

/// Returns how many bytes follow the header of a stored file; none where it is another one.
fn header(stored: &mut impl Read) -> Option<u64> {
    const LONGEST: usize = 32;
    let mut text = Vec::new();
    let mut byte = [0];
    while text.len() < LONGEST {
        stored.read_exact(&mut byte).ok()?;
        if byte == [0] {
            let text = std::str::from_utf8(&text).ok()?;
            return text.strip_prefix("blob ")?.parse().ok();
        }
        text.push(byte[0]);
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_file_is_verified_wherever_it_is_stored() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |script: &str| {
            let mut command = Command::new("sh");
            command
                .args(["-euc", script])
                .current_dir(folder.path())
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_NOSYSTEM", "1");
            let output = command.output().expect("it runs");
            assert!(output.status.success(), "{script}");
            String::from_utf8(output.stdout)
                .expect("UTF-8")
                .trim()
                .to_owned()
        };
        run("git init -q . && git config user.name t && git config user.email t@example.invalid
            echo text >file && mkdir folder && echo more >folder/file && git add -A && git commit -qm x");
        let tree = run("git rev-parse HEAD^{tree}");
        let repo = Repo::discover(folder.path()).expect("a repository");
        let read = |path: &str| repo.unverified(&tree, path).expect("it is read");
        assert!(read("none").is_none() && read("folder").is_none());
        let found = read("file").expect("a file");
        assert_eq!(found.bytes, b"text\n");
        assert!(found.id.is_some() && found.verify().is_ok());

        let id = run("git rev-parse HEAD:file");
        let object = folder
            .path()
            .join(format!(".git/objects/{}/{}", &id[..2], &id[2..]));
        let whole = fs::read(&object).expect("an object");
        fs::set_permissions(&object, fs::Permissions::from_mode(0o644)).expect("it is opened");
        let store = |text: &[u8]| {
            let mut other =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            other.write_all(text).expect("it is packed");
            fs::write(&object, other.finish().expect("it is packed")).expect("it is written");
        };
        let oid = Oid::from_str(&id).expect("an id");
        let stored = |text: &[u8]| {
            store(text);
            repo.read_loose(oid, 5)
        };
        assert_eq!(stored(b"blob 5\0text\n"), Some(b"text\n".to_vec()));
        let others: [&[u8]; 6] = [
            b"blob 4\0text\n",
            b"blob 6\0text\n",
            b"blob 9223372036854775807\0text\n",
            b"tree 5\0text\n",
            b"blob 5",
            b"blob                                     5\0text\n",
        ];
        for other in others {
            assert_eq!(stored(other), None, "{}", String::from_utf8_lossy(other));
        }
        fs::write(&object, &whole[..whole.len() - 6]).expect("it is written");
        assert_eq!(repo.read_loose(oid, 5), None);

        store(b"blob 5\0lies\n");
        let told = read("file")
            .expect("a file")
            .verify()
            .expect_err("it is damaged");
        assert!(told.to_string().contains(&id), "{told}");

        fs::write(&object, whole).expect("it is written");
        run("git gc -q");
        let packed = Repo::discover(folder.path()).expect("a repository");
        let found = packed.unverified(&tree, "file").expect("it is read");
        let found = found.expect("a file");
        assert!(found.bytes == b"text\n" && found.verify().is_ok());
    }
}
