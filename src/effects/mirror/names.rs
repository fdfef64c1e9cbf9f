//! What the names of files in a git directory say of them. A name is the path below the git directory that is copied, in which
//! those of submodules and of linked working trees may lie.

use std::ffi::OsString;
use std::fs;
use std::io::Result as IoResult;
use std::path::Path;

/// The folder of objects in a git directory.
pub const OBJECTS: &str = "objects";
/// What only the running program needs.
const LEFT_OUT: [&str; 2] = ["evolve/lock", "evolve/logs"];
/// The quarantine.
const QUARANTINE: &str = "evolve/quarantine";
/// How names begin in which git and libgit2 write objects and packs at first.
const BEGUN: [&str; 4] = ["pack_", "tmp_idx_", "tmp_obj", "tmp_pack_"];
/// Folders whose files are never changed once they are written.
const UNCHANGING: [&str; 3] = [OBJECTS, "lfs", QUARANTINE];

/// Returns the names of what is in a folder; of objects the loose ones before the packs, and these from the smallest up.
pub fn in_order(folder: &Path, name: &str) -> IoResult<Vec<OsString>> {
    let entries = fs::read_dir(folder)?.collect::<IoResult<Vec<_>>>()?;
    let mut names: Vec<_> = entries.iter().map(fs::DirEntry::file_name).collect();
    if ends_with_one_of(name, &[OBJECTS]) {
        names.sort_by_key(|name| name == "pack");
    } else if ends_with_one_of(name, &["objects/pack"]) {
        let size =
            |name: &OsString| fs::symlink_metadata(folder.join(name)).map_or(0, |it| it.len());
        names.sort_by_cached_key(size);
    }
    Ok(names)
}

/// Says whether a file among objects can only ever hold the one content that its name stands for.
pub fn is_named_by_content(name: &str) -> bool {
    let mut parts = name.rsplit('/');
    let (file, folder) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    match folder {
        "pack" => {
            file.starts_with("pack-") && [".pack", ".idx"].iter().any(|it| file.ends_with(it))
        }
        _ => {
            folder.len() == 2
                && is_hex(folder)
                && [38, 62, 64].contains(&file.len())
                && is_hex(file)
        }
    }
}

/// Says whether a file is a loose object.
pub fn is_loose(name: &str) -> bool {
    is_named_by_content(name) && !name.ends_with(".pack") && !name.ends_with(".idx")
}

/// Says whether a folder is one in which loose objects of the git directory lie that is copied, and not of one within.
pub fn is_of_loose(name: &str) -> bool {
    let folder = name
        .strip_prefix(OBJECTS)
        .and_then(|it| it.strip_prefix('/'));
    folder.is_some_and(|folder| folder.len() == 2 && is_hex(folder))
}

/// Says whether a file is a loose object in such a folder.
pub fn is_own_loose(name: &str) -> bool {
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    is_of_loose(folder) && is_loose(name)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Says whether a file is a ref or a reflog. Some are taken for others, and copied.
pub fn is_of_refs(name: &str) -> bool {
    let mut folders = name.split('/').rev().skip(1);
    let is_of_evolve = || name.split('/').any(|part| part == "evolve");
    folders.any(|folder| folder == "refs" || folder == "logs") && !is_of_evolve()
}

/// Says whether a file is not copied. What is in the quarantine bears the names of the user's files, whatever these are.
pub fn is_left_out(name: &str) -> bool {
    let is_of_git = ends_with_one_of(name, &LEFT_OUT) || name.ends_with(".lock") || is_begun(name);
    let behind = name.split_once(QUARANTINE).map(|(_, behind)| behind);
    is_of_git && !behind.is_some_and(|behind| behind.starts_with('/'))
}

/// Says whether a file is an object or a pack that somebody's git has only begun to write. No git reads from such a file, while a pack
/// may be called as anybody likes.
fn is_begun(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let is_read = [".pack", ".idx"].iter().any(|it| file.ends_with(it));
    let is_named_so = BEGUN.iter().any(|it| file.starts_with(it));
    is_named_so && !is_read && !is_of_refs(name) && name.split('/').any(|part| part == "objects")
}

/// Says whether a folder holds files that are never changed once they are written.
pub fn is_of_objects(name: &str) -> bool {
    ends_with_one_of(name, &UNCHANGING)
}

fn ends_with_one_of(name: &str, paths: &[&str]) -> bool {
    let ends = |path: &&str| {
        name.strip_suffix(*path)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    paths.iter().any(ends)
}

/// Says whether a folder of unchanging files may have folders in it: not those by the first digits of objects' names.
pub fn has_folders(name: &str) -> bool {
    let parent = name.rsplit_once('/').map(|(parent, _)| parent);
    let is_beside = |parent: &str| parent.contains("lfs/") || parent.ends_with("annex/objects");
    let is_of_git = |parent: &str| ends_with_one_of(parent, &[OBJECTS]) && !is_beside(parent);
    !parent.is_some_and(is_of_git)
}

#[cfg(test)]
mod tests {
    use super::is_left_out;

    #[test]
    fn what_a_git_has_only_begun_to_write_is_not_copied() {
        for (name, expected) in [
            ("objects/ab/tmp_obj_Xy12ab", true),
            ("objects/tmp_object_git2_0a1b", true),
            ("modules/sub/objects/pack/tmp_pack_Xy12ab", true),
            ("objects/pack/tmp_idx_Xy12ab", true),
            ("objects/pack/pack_git2_0a1b", true),
            ("index.lock", true),
            ("evolve/quarantine/1/Cargo.lock", false),
            ("evolve/quarantine/1/objects/pack_list", false),
            ("worktrees/w/evolve/quarantine/1/evolve/logs/a", false),
            ("refs/heads/tmp_obj_1", false),
            ("logs/refs/heads/objects/tmp_obj_1", false),
            ("objects/pack/pack-0a1b.pack", false),
            ("objects/pack/pack_mine.pack", false),
            ("objects/pack/tmp_pack_mine.idx", false),
            ("objects/ab/cdef", false),
        ] {
            assert_eq!(is_left_out(name), expected, "{name}");
        }
    }
}
