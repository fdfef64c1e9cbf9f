//! Who else may read and write a file: a folder may say that of all files that come to be in it, by its group (the set-group-ID bit) or by
//! a list (a default ACL, `acl(5)`). A file that is made ready elsewhere is given what it would have been given there.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{XattrFlags, getxattr, lsetxattr};

/// The attribute of a folder, and of a file.
const DEFAULT: &str = "system.posix_acl_default";
const OWN: &str = "system.posix_acl_access";
/// The most bytes that an attribute has (`XATTR_SIZE_MAX` in the kernel).
const LIMIT: usize = 64 * 1024;

/// How a list begins, and how long each entry is: its kind and what it allows, of two bytes each, and an id of four
/// (`linux/posix_acl_xattr.h`).
const HEADER: usize = 4;
const ENTRY: usize = 8;
/// The kinds of entries that the mode of a new file bounds.
const OWNER: u16 = 0x01;
const GROUP: u16 = 0x04;
const MASK: u16 = 0x10;
const OTHERS: u16 = 0x20;

/// Gives a file what it would have been given if it had been made in that folder with this mode. Where that cannot be, it stays as it is.
pub fn inherit(folder: &Path, file: &Path, mode: u32) {
    const SET_GROUP: u32 = 0o2000;
    if let Ok(meta) = fs::metadata(folder)
        && meta.mode() & SET_GROUP != 0
    {
        // Whose group it is not may not give it away: then it has another one.
        let _ = std::os::unix::fs::lchown(file, None, Some(meta.gid()));
    }
    let own = list_of(folder, DEFAULT).and_then(|list| bounded(&list, mode));
    if let Some(own) = own {
        let _ = lsetxattr(file, OWN, &own, XattrFlags::empty());
    }
}

/// Reads a list; none if there is none.
fn list_of(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut list = vec![0; LIMIT];
    let length = getxattr(path, name, &mut list[..]).ok()?;
    list.truncate(length);
    Some(list)
}

/// Returns a list as a file has it that was made with this mode (`posix_acl_create` in the kernel); none if it cannot be understood.
fn bounded(list: &[u8], mode: u32) -> Option<Vec<u8>> {
    let mut own = list.to_vec();
    let entries = own.get_mut(HEADER..)?;
    let kind_of = |entry: &[u8]| u16::from_le_bytes([entry[0], entry[1]]);
    let has_mask = entries
        .chunks_exact(ENTRY)
        .any(|entry| kind_of(entry) == MASK);
    for entry in entries.chunks_exact_mut(ENTRY) {
        let most = match kind_of(entry) {
            OWNER => mode >> 6,
            MASK => mode >> 3,
            GROUP if !has_mask => mode >> 3,
            OTHERS => mode,
            _ => continue,
        };
        entry[2] &= u8::try_from(most & 7).unwrap_or(0);
    }
    Some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of entries, each its kind, what it allows, and whom.
    fn list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (kind, allowed, id) in entries {
            list.extend(kind.to_le_bytes());
            list.extend(allowed.to_le_bytes());
            list.extend(id.to_le_bytes());
        }
        list
    }

    #[test]
    fn a_mode_bounds_the_owner_the_others_and_the_mask_or_else_the_group() {
        const USER: u16 = 0x02;
        let with_mask = [
            (OWNER, 7, 0),
            (USER, 7, 9),
            (GROUP, 7, 0),
            (MASK, 7, 0),
            (OTHERS, 5, 0),
        ];
        let bound = [
            (OWNER, 6, 0),
            (USER, 7, 9),
            (GROUP, 7, 0),
            (MASK, 6, 0),
            (OTHERS, 4, 0),
        ];
        assert_eq!(bounded(&list(&with_mask), 0o666), Some(list(&bound)));
        let without = [(OWNER, 7, 0), (GROUP, 5, 0), (OTHERS, 5, 0)];
        let bound = [(OWNER, 6, 0), (GROUP, 4, 0), (OTHERS, 4, 0)];
        assert_eq!(bounded(&list(&without), 0o666), Some(list(&bound)));
        assert_eq!(bounded(&list(&without), 0o777), Some(list(&without)));
        assert_eq!(bounded(b"x", 0o666), None);
    }

    #[test]
    fn a_file_made_elsewhere_has_what_one_made_in_the_folder_has() {
        let all = tempfile::tempdir().unwrap();
        let folder = all.path().join("shared");
        std::fs::create_dir(&folder).unwrap();
        let of = |owner: u16, mask: u16| {
            let mut entries = vec![(OWNER, owner, u32::MAX)];
            entries.extend((1..=200).map(|user| (0x02, 7, user)));
            entries.extend([(GROUP, 5, u32::MAX), (MASK, mask, u32::MAX)]);
            entries.push((OTHERS, 0, u32::MAX));
            list(&entries)
        };
        let given = of(7, 7);
        rustix::fs::setxattr(&folder, DEFAULT, &given, XattrFlags::empty()).unwrap();
        let [made, ready] = [folder.join("made"), all.path().join("ready")];
        for file in [&made, &ready] {
            std::fs::write(file, "text").unwrap();
        }
        inherit(&folder, &ready, 0o666);
        assert_eq!(list_of(&made, OWN), Some(of(6, 6)));
        assert_eq!(list_of(&ready, OWN), list_of(&made, OWN));
    }

    #[test]
    fn a_file_has_the_group_of_a_folder_that_gives_its_group_to_all_and_of_no_other() {
        use std::os::unix::fs::{PermissionsExt, chown};

        let all = tempfile::tempdir().unwrap();
        let own = all.path().metadata().unwrap().gid();
        let folder = all.path().join("shared");
        std::fs::create_dir(&folder).unwrap();
        // Who may not give a folder away has no other group to tell by.
        let is_given = chown(&folder, None, Some(own + 1)).is_ok();
        let given = folder.metadata().unwrap().gid();
        assert_eq!(given != own, is_given);
        for (mode, group) in [(0o755, own), (0o2755, given)] {
            let ready = all.path().join(format!("{mode:o}"));
            std::fs::write(&ready, "text").unwrap();
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
            inherit(&folder, &ready, 0o666);
            assert_eq!(ready.metadata().unwrap().gid(), group);
        }
    }
}
