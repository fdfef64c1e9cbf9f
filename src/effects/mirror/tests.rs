use super::*;
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

fn make(root: &Path) -> Mirror {
    let common = root.join("repo/.git");
    for (name, text) in [
        ("HEAD", "ref: refs/heads/main\n"),
        ("config", "[core]\n"),
        ("logs/HEAD", "one\n"),
        ("objects/ab/cdef", "object"),
        ("objects/pack/p.pack", "pack"),
        ("objects/info/alternates", "/elsewhere\n"),
        ("modules/sm/objects/12/34", "of a submodule"),
        ("lfs/objects/ab/cd/abcd", "large"),
        ("evolve/lock", "1"),
        ("evolve/quarantine/s-1/a/b", "precious"),
    ] {
        write(&common.join(name), text);
    }
    symlink("config", common.join("link")).unwrap();
    Mirror {
        folder: root.join("state"),
        git_dir: common.clone(),
        common,
    }
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Every file of the copy with its bytes, as a person who needs it gets it. It is left as it was.
fn all_of(mirror: &Mirror) -> BTreeMap<PathBuf, Vec<u8>> {
    let copy = mirror.copy();
    let before = files(&copy);
    let way_back = mirror.way_back().unwrap();
    assert!(way_back.starts_with('`'), "{way_back}");
    let whole = files(&copy);
    for name in whole.keys().filter(|name| !before.contains_key(*name)) {
        fs::remove_file(copy.join(name)).unwrap();
        // One that is empty now was made for it.
        let _ = fs::remove_dir(copy.join(name).parent().unwrap());
    }
    let objects = fs::File::open(copy.join("objects")).unwrap();
    objects.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    whole
}

/// Every file below a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_owned();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    found.remove(Path::new("evolve/lock"));
    found
}

#[test]
fn a_refreshed_copy_is_what_the_original_is_whatever_came_and_went() {
    let root = tempfile::tempdir().unwrap();
    let mirror = make(root.path());
    let loose: Vec<_> = (0..4)
        .map(|n| format!("objects/{n:02x}/{}", "b".repeat(38)))
        .collect();
    for name in &loose[..3] {
        write(&mirror.common.join(name), name);
    }
    mirror.refresh(&[]).unwrap();
    assert_eq!(all_of(&mirror), files(&mirror.common));
    assert!(!mirror.copy().join("evolve/lock").exists());
    let common = &mirror.common;
    write(&common.join("config"), "[user]\n");
    write(&common.join("objects/ab/new"), "new");
    write(&common.join("objects/cd/other"), "other");
    write(&common.join("lfs/objects/ab/cd/more"), "more");
    write(&common.join("evolve/quarantine/s-1/a/c"), "more");
    fs::remove_file(common.join("objects/pack/p.pack")).unwrap();
    fs::remove_file(common.join(&loose[0])).unwrap();
    fs::remove_dir_all(common.join("objects/01")).unwrap();
    write(&common.join(&loose[3]), "new");
    fs::remove_dir_all(common.join("modules")).unwrap();
    fs::remove_file(common.join("logs/HEAD")).unwrap();
    write(&common.join("logs/HEAD/below"), "a folder now\n");
    mirror.refresh(&[]).unwrap();
    assert_eq!(all_of(&mirror), files(common));
}

/// Files that are linked, each with what it holds.
fn small(n: usize) -> Vec<(String, String)> {
    let names = (0..n).map(|n| format!("{n:02x}"));
    let names = names.flat_map(|n| {
        [
            format!("objects/{n}/{}", "0".repeat(38)),
            format!("modules/s m/objects/{n}/{}", "a".repeat(38)),
            format!("refs/heads/{n}"),
            format!("logs/refs/heads/{n}"),
            format!("worktrees/w/logs/{n}"),
        ]
    });
    names
        .map(|name| (name.clone(), format!("{name}\n")))
        .collect()
}

/// Folders for a copy: beside the repository, and where nothing can be linked.
fn folders() -> [tempfile::TempDir; 2] {
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    let beside = tempfile::tempdir().unwrap();
    let device = |folder: &tempfile::TempDir| folder.path().metadata().unwrap().dev();
    assert_ne!(device(&beside), device(&elsewhere), "one file system");
    [beside, elsewhere]
}

#[test]
fn what_is_written_to_in_place_is_still_what_it_was_in_the_copy() {
    for state in folders() {
        let root = tempfile::tempdir().unwrap();
        let mirror = Mirror {
            folder: state.path().join("state"),
            ..make(root.path())
        };
        for (name, text) in small(3) {
            write(&mirror.common.join(name), &text);
        }
        mirror.refresh(&[]).unwrap();
        let before = all_of(&mirror);
        assert_eq!(before, files(&mirror.common));
        for (name, _) in small(3) {
            fs::write(mirror.common.join(name), "changed in place").unwrap();
        }
        for name in ["config", "objects/info/alternates", "objects/ab/cdef"] {
            fs::write(mirror.common.join(name), "changed in place").unwrap();
        }
        assert_eq!(all_of(&mirror), before);
    }
}

#[test]
fn of_loose_objects_the_copy_has_only_bytes_and_of_those_too_large_a_file() {
    let root = tempfile::tempdir().unwrap();
    let mirror = make(root.path());
    let (little, large) = (
        format!("objects/00/{}", "a".repeat(38)),
        format!("objects/00/{}", "b".repeat(38)),
    );
    write(&mirror.common.join(&little), "little");
    let text = "large ".repeat(1 << 18);
    write(&mirror.common.join(&large), &text);
    for _ in 0..2 {
        mirror.refresh(&[]).unwrap();
        assert!(!mirror.copy().join(&little).exists());
        assert!(mirror.copy().join(&large).exists());
        assert_eq!(all_of(&mirror), files(&mirror.common));
    }
    // It goes on from a copy that was made whole, as after a run that was cut short.
    mirror.way_back().unwrap();
    mirror.refresh(&[]).unwrap();
    assert_eq!(all_of(&mirror), files(&mirror.common));
}

#[test]
fn where_the_copy_cannot_be_made_whole_no_command_is_told_that_would_put_back_a_part() {
    let root = tempfile::tempdir().unwrap();
    let mirror = make(root.path());
    let loose = format!("objects/00/{}", "a".repeat(38));
    write(&mirror.common.join(&loose), "little");
    mirror.refresh(&[]).unwrap();
    write(&mirror.copy().join("objects/00"), "in the way");
    let words = mirror.way_back().unwrap();
    assert!(!words.contains("cp -a"), "{words}");
    assert!(words.contains("run evolve again"), "{words}");
}

#[test]
fn only_links_are_made_of_small_files_and_what_changes_becomes_a_copy_of_its_own() {
    let root = tempfile::tempdir().unwrap();
    let mirror = make(root.path());
    for (name, text) in small(3) {
        write(&mirror.common.join(name), &text);
    }
    mirror.refresh(&[]).unwrap();
    let links = || -> (Vec<_>, usize) {
        let inode = |folder: &Path, name: &str| folder.join(name).metadata().unwrap().ino();
        let is_link = |(name, _): &(String, String)| {
            inode(&mirror.common, name) == inode(&mirror.copy(), name)
        };
        let is_linked = |(name, _): &(String, String)| !name.starts_with("objects/");
        let small = small(4).into_iter().filter(is_linked);
        let (links, others): (Vec<_>, Vec<_>) = small.partition(is_link);
        (links, others.len())
    };
    write(&mirror.common.join("objects/ff/x"), "");
    for (name, text) in small(4).into_iter().skip(small(3).len()) {
        write(&mirror.common.join(name), &text);
    }
    mirror.refresh(&[]).unwrap();
    let (linked, others) = links();
    assert_eq!((linked.len(), others), (16, 0));
    for name in ["refs/heads/00", "logs/refs/heads/00"] {
        fs::write(mirror.common.join(name), "another").unwrap();
        mirror.refresh(&[]).unwrap();
        fs::write(mirror.common.join(name), "yet another").unwrap();
        mirror.way_back().unwrap();
        let kept = fs::read_to_string(mirror.copy().join(name)).unwrap();
        assert_eq!(kept, "another", "{name}");
    }
    assert_eq!(links().1, 2);
}

#[test]
fn what_was_lost_of_the_bytes_of_links_is_there_again_after_a_refresh() {
    let root = tempfile::tempdir().unwrap();
    let mirror = make(root.path());
    for (name, text) in small(3) {
        let file = mirror.common.join(name);
        write(&file, &text);
        // What came a while ago is not looked at again for itself.
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        let folder = fs::File::open(file.parent().unwrap()).unwrap();
        folder.set_modified(long_ago).unwrap();
    }
    mirror.refresh(&[]).unwrap();
    let before = all_of(&mirror);
    let bytes = mirror.folder.join("bytes");
    // A line and the end of its bytes for each link.
    for (line, beyond) in (0..=2 * small(3).len()).flat_map(|line| [(line, 0), (line, 30)]) {
        let whole = fs::read(&bytes).unwrap();
        let mut ends = whole.split_inclusive(|byte| *byte == b'\n');
        let end: usize = ends.by_ref().take(line).map(<[u8]>::len).sum();
        let cut = (end + beyond).min(whole.len());
        fs::write(&bytes, &whole[..cut]).unwrap();
        mirror.refresh(&[]).unwrap();
        assert_eq!(all_of(&mirror), before);
        for (name, _) in small(3) {
            fs::write(mirror.common.join(name), "changed in place").unwrap();
        }
        assert_eq!(all_of(&mirror), before, "cut at {cut}");
        for (name, text) in small(3) {
            fs::write(mirror.common.join(name), text).unwrap();
        }
        fs::remove_dir_all(&mirror.folder).unwrap();
        mirror.refresh(&[]).unwrap();
    }
}

#[test]
fn an_object_whose_folder_got_its_time_back_is_copied_all_the_same() {
    let root = tempfile::tempdir().unwrap();
    let mirror = make(root.path());
    let folder = mirror.common.join("objects/ab");
    let time = SystemTime::now() - Duration::from_secs(3600);
    let set_back = || fs::File::open(&folder).unwrap().set_modified(time).unwrap();
    set_back();
    mirror.refresh(&[]).unwrap();
    write(&folder.join("new"), "new");
    set_back();
    mirror.refresh(&[]).unwrap();
    assert_eq!(all_of(&mirror), files(&mirror.common));
}

#[test]
fn what_lies_elsewhere_is_not_written_over_by_way_of_what_was_left_in_the_place_of_the_copy() {
    type Plant = fn(&Path, &Path);
    let plants: [(&str, Plant); 7] = [
        ("a link for the folder", |folder, precious| {
            fs::remove_dir_all(folder).unwrap();
            symlink(precious, folder).unwrap();
        }),
        ("a file for the folder", |folder, _| {
            fs::remove_dir_all(folder).unwrap();
            fs::write(folder, "").unwrap();
        }),
        ("a link for the copy", |folder, precious| {
            fs::remove_dir_all(folder.join("git")).unwrap();
            symlink(precious.join("git"), folder.join("git")).unwrap();
        }),
        ("a link for a note", |folder, precious| {
            fs::remove_file(folder.join("of")).unwrap();
            symlink(precious.join("of"), folder.join("of")).unwrap();
        }),
        ("a second name for a note", |folder, precious| {
            fs::remove_file(folder.join("of-tree")).unwrap();
            fs::hard_link(precious.join("of"), folder.join("of-tree")).unwrap();
        }),
        ("a link for the bytes", |folder, precious| {
            fs::remove_file(folder.join("bytes")).unwrap();
            symlink(precious.join("of"), folder.join("bytes")).unwrap();
        }),
        ("a link for what is around", |folder, precious| {
            symlink(precious, folder.join("around")).unwrap();
        }),
    ];
    for (what, plant) in plants {
        let root = tempfile::tempdir().unwrap();
        let mirror = make(root.path());
        mirror.refresh(&[]).unwrap();
        let expected = all_of(&mirror);
        let precious = root.path().join("precious");
        write(&precious.join("of"), "mine");
        write(&precious.join("git/mine"), "mine, too");
        write(&precious.join("paths"), "mine as well");
        let before = files(&precious);
        plant(&mirror.folder, &precious);
        let around = root.path().join("repo/.git/modules/sm");
        mirror.refresh(&[around]).unwrap();
        assert_eq!(files(&precious), before, "{what}");
        assert_eq!(all_of(&mirror), expected, "{what}");
    }
}
