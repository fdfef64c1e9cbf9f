//! Git's index: how it begins and ends, and what it lists. It is read here because most looks at a tree begin with what the index
//! lists: a process of git's takes several times as long to say it, in small repositories and in large ones.
//!
//! The format is that of `git help gitformat-index`. Whatever is not plain in it (a part that lies in another file, an entry that
//! a sparse checkout leaves out, another kind of id) is left to git itself.

use sha1::{Digest, Sha1};

/// How every index begins.
const BEGIN: &[u8] = b"DIRC";
/// How many bytes the digest has with which it ends.
const DIGEST: usize = 20;
/// How many bytes an id has.
const ID: usize = 20;
/// An entry's flags: it is assumed to be unchanged.
const ASSUMED: u16 = 0x8000;
/// It has more flags.
const EXTENDED: u16 = 0x4000;
/// Which side of a conflict it is.
const STAGE: u16 = 0x3000;
/// In the further flags: it is not in the working tree.
const SKIPPED: u16 = 0x4000;
/// It is only to be added.
const INTENDED: u16 = 0x2000;

/// Says whether these are the bytes of a whole index. Git may leave the digest out, as zeros.
pub fn is_index(bytes: &[u8]) -> bool {
    let Some(end) = bytes.len().checked_sub(DIGEST) else {
        return false;
    };
    let (all, digest) = bytes.split_at(end);
    let is_digest = || Sha1::digest(all).as_slice() == digest;
    all.starts_with(BEGIN) && (digest.iter().all(|byte| *byte == 0) || is_digest())
}

/// One entry of an index.
pub struct Listed<'a> {
    /// Its path below the root.
    pub path: &'a [u8],
    /// The file mode: 0o100644, 0o100755, 0o120000 (link) or 0o160000 (submodule).
    pub mode: u32,
    /// The id of its content.
    pub id: &'a [u8],
    /// Which side of a conflict it is, 1 to 3; 0 where there is none.
    pub stage: u8,
    /// Git was told not to look at it.
    pub is_assumed: bool,
    /// It is only to be added: its content is not in the index yet.
    pub is_intended: bool,
    /// What git noted of its file when it last was as the index has it.
    pub noted: Noted,
}

/// What git notes of a file: the lower 32 bits of each number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// When its state was last changed, in seconds and nanoseconds.
    pub changed: (u32, u32),
    /// When its content was last changed.
    pub modified: (u32, u32),
    /// Its inode.
    pub inode: u32,
    /// Whose it is.
    pub owner: u32,
    /// Its group.
    pub group: u32,
    /// How many bytes it has; 0 also where it may have been changed after git looked.
    pub size: u32,
}

/// Hands each entry of an index to `take`, in its order. Returns nothing where git itself is to be asked; what was taken until then is
/// to be forgotten.
pub fn each(bytes: &[u8], mut take: impl FnMut(&Listed<'_>)) -> Option<()> {
    let (all, _) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
    let mut rest = Rest(all.strip_prefix(BEGIN)?);
    let version = rest.number()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut path = Vec::new();
    for _ in 0..rest.number()? {
        let begin = rest.0.len();
        let changed = (rest.number()?, rest.number()?);
        let modified = (rest.number()?, rest.number()?);
        let _device = rest.number()?;
        let inode = rest.number()?;
        let mode = rest.number()?;
        let noted = Noted {
            changed,
            modified,
            inode,
            owner: rest.number()?,
            group: rest.number()?,
            size: rest.number()?,
        };
        let id = rest.take(ID)?;
        let flags = rest.short()?;
        let more = match flags & EXTENDED {
            0 => 0,
            _ if version == 2 => return None,
            _ => rest.short()?,
        };
        if more & SKIPPED != 0 {
            return None;
        }
        match version {
            4 => {
                let shared = path.len().checked_sub(rest.varying()?)?;
                path.truncate(shared);
            }
            _ => path.clear(),
        }
        path.extend_from_slice(rest.name()?);
        if version < 4 {
            // The name's end is one of one to eight zeros up to a multiple of eight.
            const MULTIPLE: usize = 8;
            let length = begin - rest.0.len();
            rest.take(length.next_multiple_of(MULTIPLE) - length)?;
        }
        take(&Listed {
            path: &path,
            mode,
            id,
            stage: u8::try_from((flags & STAGE) >> STAGE.trailing_zeros()).ok()?,
            is_assumed: flags & ASSUMED != 0,
            is_intended: more & INTENDED != 0,
            noted,
        });
    }
    while !rest.0.is_empty() {
        // Whoever does not know a part whose name begins with a small letter cannot read the index.
        let is_optional = rest.take(4)?[0].is_ascii_uppercase();
        let length = usize::try_from(rest.number()?).ok()?;
        rest.take(length)?;
        is_optional.then_some(())?;
    }
    Some(())
}

/// Returns what an index lists as `git ls-files -v --stage -z` does, as in `H 100644 <id> 0<tab>path`, each ended by a NUL; nothing
/// where git itself is to be asked.
pub fn listing(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut lines = Vec::with_capacity(bytes.len());
    each(bytes, |one| {
        let tag = if one.stage == 0 { b'H' } else { b'M' };
        lines.push(match one.is_assumed {
            true => tag.to_ascii_lowercase(),
            false => tag,
        });
        lines.push(b' ');
        // Formatting them one by one takes longer than all the rest.
        const OCTAL: [u32; 6] = [15, 12, 9, 6, 3, 0];
        lines.extend(OCTAL.map(|shift| digit(one.mode >> shift & 7)));
        lines.push(b' ');
        for byte in one.id {
            lines.extend([byte >> 4, byte & 15].map(|half| digit(half.into())));
        }
        lines.extend([b' ', digit(one.stage.into()), b'\t']);
        lines.extend_from_slice(one.path);
        lines.push(0);
    })?;
    Some(lines)
}

/// Returns how a number below sixteen is written.
fn digit(number: u32) -> u8 {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    DIGITS[number as usize & 15]
}

/// What is still to be read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        let bytes = self.take(4)?;
        bytes.try_into().map(u32::from_be_bytes).ok()
    }

    fn short(&mut self) -> Option<u16> {
        let bytes = self.take(2)?;
        bytes.try_into().map(u16::from_be_bytes).ok()
    }

    /// Takes what ends with a zero, and that; returns it without.
    fn name(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        self.take(end + 1).map(|name| &name[..end])
    }

    /// Takes a number of as many bytes as it needs: seven bits each, the most significant first, each but the last with its
    /// highest bit set, and one added for each byte that follows.
    fn varying(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        loop {
            let byte = *self.take(1)?.first()?;
            number = number.checked_shl(7)? | usize::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return Some(number);
            }
            number = number.checked_add(1)?;
            if number > usize::MAX >> 8 {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    fn git(root: &Path, arguments: &[&str]) -> Vec<u8> {
        let mut git = Command::new("git");
        git.current_dir(root).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = git.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        output.stdout
    }

    /// A repository whose index has files of many lengths of names, a link, a submodule, a conflict and marks.
    fn yard() -> tempfile::TempDir {
        let yard = tempfile::tempdir().unwrap();
        let root = yard.path();
        git(root, &["init", "--quiet"]);
        for length in 1..40 {
            let folder = root.join(format!("folder{}", length % 3));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("n".repeat(length)), length.to_string()).unwrap();
        }
        fs::write(root.join("a\tb\nc"), "").unwrap();
        fs::write(root.join("x".repeat(250)), "").unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("link")).unwrap();
        git(root, &["add", "--all"]);
        let id = "1234567890123456789012345678901234567890";
        let module = format!("160000,{id},module");
        git(root, &["update-index", "--add", "--cacheinfo", &module]);
        git(root, &["update-index", "--assume-unchanged", "folder1/n"]);
        git(root, &["update-index", "--chmod=+x", "folder2/nn"]);
        let conflict =
            format!("100644 {id} 1\tsides\n100644 {id} 2\tsides\n100755 {id} 3\tsides\n");
        fs::write(root.join("conflict"), conflict).unwrap();
        let read = "git update-index --index-info <conflict";
        let shell = Command::new("sh")
            .current_dir(root)
            .args(["-c", read])
            .status();
        assert!(shell.unwrap().success());
        yard
    }

    fn index(root: &Path) -> Vec<u8> {
        fs::read(root.join(".git/index")).unwrap()
    }

    #[test]
    fn an_index_of_each_version_lists_what_git_says_that_it_does() {
        let yard = yard();
        let root = yard.path();
        let listed = |bytes: &[u8]| listing(bytes).map(|it| String::from_utf8(it).unwrap());
        for version in ["2", "3", "4"] {
            git(root, &["update-index", "--index-version", version]);
            let wanted = git(root, &["ls-files", "-v", "--stage", "-z"]);
            let wanted = String::from_utf8(wanted).unwrap();
            assert_eq!(listed(&index(root)), Some(wanted), "version {version}");
        }
        // What is to be added has more flags.
        fs::write(root.join("intended"), "").unwrap();
        git(root, &["add", "--intent-to-add", "intended"]);
        for version in ["3", "4"] {
            git(root, &["update-index", "--index-version", version]);
            let wanted = git(root, &["ls-files", "-v", "--stage", "-z"]);
            let wanted = String::from_utf8(wanted).unwrap();
            assert_eq!(listed(&index(root)), Some(wanted), "version {version}");
        }
    }

    #[test]
    fn an_index_that_lies_in_two_files_or_leaves_files_out_is_git_s_to_read() {
        let yard = yard();
        let root = yard.path();
        assert!(listing(&index(root)).is_some());
        git(root, &["update-index", "--split-index"]);
        assert_eq!(listing(&index(root)), None);
        git(root, &["update-index", "--no-split-index"]);
        assert!(listing(&index(root)).is_some());
        git(root, &["update-index", "--skip-worktree", "link"]);
        assert_eq!(listing(&index(root)), None);
    }

    #[test]
    fn of_damaged_bytes_nothing_is_said_and_none_stop_it() {
        let yard = yard();
        for version in ["2", "4"] {
            git(yard.path(), &["update-index", "--index-version", version]);
            let whole = index(yard.path());
            assert_eq!(listing(b""), None);
            for end in 0..whole.len() {
                assert_eq!(
                    listing(&whole[..end]),
                    None,
                    "version {version}, {end} bytes"
                );
            }
            for at in 0..whole.len() {
                let mut damaged = whole.clone();
                damaged[at] ^= 0xff;
                let _ = listing(&damaged);
            }
        }
    }
}
