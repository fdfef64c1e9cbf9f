use std::process::Command;

use super::*;
use crate::effects::workspace::land::Landing;

/// A repository on the commit before a change, and the change.
struct Yard {
    all: tempfile::TempDir,
    repo: crate::effects::repo::Repo,
    landing: Landing,
}

impl Yard {
    fn new(before: &[(&str, &str)], change: &str) -> Yard {
        let all = tempfile::tempdir().unwrap();
        let root = all.path().join("tree");
        fs::create_dir(&root).unwrap();
        let sh = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-ec", script]).current_dir(&root);
            command.env("GIT_CONFIG_GLOBAL", "/dev/null");
            let output = command.output().unwrap();
            assert!(output.status.success(), "{script}: {output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        sh("git init -q -b main; git config user.name u; git config user.email u");
        for (path, text) in before {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        let commit = "git add -A; git commit -qm c; git rev-parse HEAD";
        let from = sh(commit);
        let to = sh(&format!("{change}; {commit}"));
        sh(&format!("git reset -q --hard {from}"));
        let landing = Landing {
            branch: "refs/heads/main".to_owned(),
            from,
            to,
        };
        let repo = crate::effects::repo::Repo::discover(&root).unwrap();
        Yard { all, repo, landing }
    }

    fn file(&self, path: &str) -> PathBuf {
        self.all.path().join("tree").join(path)
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.file(path)).ok()
    }

    /// Makes the files of the change ready.
    fn begin<'a>(
        &'a self,
        workspace: &'a Workspace<'a>,
        quarantine: &mut Quarantine,
    ) -> std::result::Result<Placing<'a>, Hindrance> {
        let content = workspace.landed_content(&self.landing).unwrap();
        Placing::begin(workspace, &self.landing, content, quarantine).unwrap()
    }

    /// Lets a person do something between the moment at which all is ready and the one at which it takes its place.
    fn place(&self, quarantine: &mut Quarantine, meanwhile: impl FnOnce(&Yard)) -> Vec<String> {
        let workspace = Workspace { repo: &self.repo };
        let begun = self.begin(&workspace, quarantine);
        let placing = begun.unwrap_or_else(|hindrance| panic!("{hindrance:?}"));
        assert!(self.file(".git/index.lock").exists());
        meanwhile(self);
        let stayed = placing.carry_out(quarantine).unwrap();
        assert!(!self.file(".git/index.lock").exists());
        assert!(!self.repo.git_dir().join(FOLDER).exists());
        stayed
            .iter()
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect()
    }
}

const CHANGE: &str = "echo theirs >edited; echo theirs >new; git rm -q gone other/gone; mkdir deep; echo theirs >deep/new";

fn yard() -> Yard {
    let before = ["edited", "gone", "other/gone"].map(|path| (path, "old\n"));
    Yard::new(&before, CHANGE)
}

#[test]
fn files_take_their_places_with_the_index() {
    let yard = yard();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    assert!(yard.place(&mut quarantine, |_| {}).is_empty());
    let theirs = Some("theirs\n".to_owned());
    for path in ["edited", "new", "deep/new"] {
        assert_eq!(yard.read(path), theirs, "{path}");
    }
    assert!(!yard.file("gone").exists() && !yard.file("other").exists());
    let listed = yard.repo.git.run(&["ls-files"]).unwrap();
    assert_eq!(listed, b"deep/new\nedited\nnew\n");
    let changed = yard.repo.git.run(&["diff-files", "--name-only"]).unwrap();
    assert!(changed.is_empty());
    assert!(quarantine.notes().next().is_none());
}

#[test]
fn what_somebody_saved_meanwhile_stays_whatever_the_change_makes_of_it() {
    let yard = yard();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let saved = ["edited", "gone", "other/gone", "new", "deep/new"];
    let mut stayed = yard.place(&mut quarantine, |yard| {
        fs::create_dir(yard.file("deep")).unwrap();
        for path in saved {
            fs::write(yard.file(path), "hours of work\n").unwrap();
        }
    });
    for path in saved {
        let text = yard.read(path);
        assert_eq!(text.as_deref(), Some("hours of work\n"), "{path}");
    }
    stayed.sort();
    assert_eq!(stayed, ["deep/new", "edited", "gone", "new", "other/gone"]);
    let listed = yard.repo.git.run(&["ls-files"]).unwrap();
    assert_eq!(
        listed, b"deep/new\nedited\nnew\n",
        "the index has the change"
    );
    assert!(quarantine.notes().next().is_none());
}

/// Moves a yard's git directory to another file system, if there is one.
fn move_git_dir(yard: &mut Yard) -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let elsewhere = match memory.is_dir() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    };
    let mut sh = Command::new("sh");
    sh.args(["-ec", "mv .git \"$0\"; echo \"gitdir: $0\" >.git"]);
    sh.arg(elsewhere.path().join("git"))
        .current_dir(yard.file(""));
    assert!(sh.status().unwrap().success());
    yard.repo = crate::effects::repo::Repo::discover(&yard.file("")).unwrap();
    elsewhere
}

#[test]
fn what_somebody_saved_stays_where_the_git_directory_is_on_another_file_system() {
    let mut yard = yard();
    let _elsewhere = move_git_dir(&mut yard);
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let workspace = Workspace { repo: &yard.repo };
    let begun = yard.begin(&workspace, &mut quarantine);
    let placing = begun.unwrap_or_else(|hindrance| panic!("{hindrance:?}"));
    for path in ["edited", "gone"] {
        fs::write(yard.file(path), "hours of work\n").unwrap();
    }
    let mut stayed = placing.carry_out(&mut quarantine).unwrap();
    stayed.sort();
    assert_eq!(stayed, [&b"edited"[..], b"gone"]);
    for path in ["edited", "gone"] {
        assert_eq!(yard.read(path).as_deref(), Some("hours of work\n"));
    }
    assert_eq!(yard.read("new").as_deref(), Some("theirs\n"));
    assert!(quarantine.notes().next().is_none());
}

#[test]
fn what_is_called_as_a_file_on_its_way_to_another_file_system_is_not_written_over() {
    let mut yard = yard();
    let elsewhere = move_git_dir(&mut yard);
    let device = |path: &Path| path.metadata().unwrap().dev();
    if device(elsewhere.path()) == device(yard.all.path()) {
        return;
    }
    for end in ON_THE_WAY {
        let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
        let workspace = Workspace { repo: &yard.repo };
        let begun = yard.begin(&workspace, &mut quarantine);
        let placing = begun.unwrap_or_else(|hindrance| panic!("{hindrance:?}"));
        let mine = beside(&yard.file("edited"), end);
        fs::write(&mine, "mine\n").unwrap();
        placing.carry_out(&mut quarantine).unwrap_err();
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine\n");
        assert_eq!(yard.read("edited").as_deref(), Some("old\n"));
        fs::remove_file(&mine).unwrap();
        yard.repo
            .git
            .run(&["reset", "-q", "--hard", &yard.landing.from])
            .unwrap();
    }
}

#[test]
fn what_stands_where_a_folder_has_to_be_or_leads_elsewhere_stays() {
    let yard = yard();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let elsewhere = yard.all.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let stayed = yard.place(&mut quarantine, |yard| {
        std::os::unix::fs::symlink(&elsewhere, yard.file("deep")).unwrap();
    });
    assert_eq!(stayed, ["deep/new"]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(yard.file("deep").is_symlink());
}

#[test]
fn what_a_crash_left_half_way_and_no_object_has_goes_to_the_quarantine() {
    let yard = yard();
    let ready = yard.repo.git_dir().join(FOLDER).join(READY);
    fs::create_dir_all(ready.join("d")).unwrap();
    fs::write(ready.join("d/mine"), "hours of work\n").unwrap();
    fs::write(ready.join("edited"), "old\n").unwrap();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    yard.place(&mut quarantine, |_| {});
    let moved: Vec<_> = quarantine.moved.iter().map(|(name, _)| &**name).collect();
    assert_eq!(moved, ["d/mine"]);
}

#[test]
fn while_another_git_holds_the_index_or_has_staged_something_else_nothing_begins() {
    let yard = yard();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let workspace = Workspace { repo: &yard.repo };
    let mut begin = || yard.begin(&workspace, &mut quarantine);
    fs::write(yard.file("edited"), "staged\n").unwrap();
    yard.repo.git.run(&["add", "edited"]).unwrap();
    assert!(matches!(begin(), Err(Hindrance::Files(paths)) if paths == ["edited"]));
    let folder = yard.repo.git_dir().join(FOLDER);
    assert!(!folder.exists());
    fs::write(yard.file(".git/index.lock"), "").unwrap();
    assert!(matches!(begin(), Err(Hindrance::Locked(_))));
    assert!(yard.file(".git/index.lock").exists());
    assert!(!folder.exists());
}

#[test]
fn a_landing_that_was_cut_short_puts_a_link_and_a_file_where_folders_were_and_leaves_what_somebody_put_into_one()
 {
    let change = "rm -rf dir dir2 dir3; ln -s d dir; echo file >dir2; echo file >dir3";
    let before = [
        ("dir/a", "a"),
        ("dir2/deep/b", "b"),
        ("dir3/c", "c"),
        ("d/a", "d"),
    ];
    let yard = Yard::new(&before, change);
    let (from, to) = (&*yard.landing.from, &*yard.landing.to);
    let moved = yard.repo.move_ref(&yard.landing.branch, from, to, "landed");
    assert!(moved.unwrap());
    fs::write(yard.file("dir3/mine"), "mine").unwrap();
    let workspace = Workspace { repo: &yard.repo };
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let told = workspace.complete_landing(&yard.landing, &mut quarantine);
    assert_eq!(told.unwrap(), Some(Vec::new()));
    assert_eq!(fs::read_link(yard.file("dir")).unwrap(), Path::new("d"));
    assert_eq!(yard.read("dir2").as_deref(), Some("file\n"));
    assert_eq!(yard.read("dir3/mine").as_deref(), Some("mine"));
    assert_eq!(yard.read("d/a").as_deref(), Some("d"));
}

#[test]
fn what_a_landing_left_that_never_came_to_its_branch_is_gone_and_what_no_object_has_is_in_the_quarantine()
 {
    let yard = yard();
    let folder = yard.repo.git_dir().join(FOLDER).join(READY);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("edited"), "nobody has this\n").unwrap();
    let workspace = Workspace { repo: &yard.repo };
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let told = workspace.complete_landing(&yard.landing, &mut quarantine);
    assert_eq!(told.unwrap(), None);
    assert!(!yard.repo.git_dir().join(FOLDER).exists());
    let moved: Vec<_> = quarantine.moved.iter().map(|(name, _)| &**name).collect();
    assert_eq!(moved, ["edited"]);
}

#[test]
fn what_is_staged_below_a_file_to_be_is_in_the_way() {
    let yard = Yard::new(&[("d/a", "a")], "rm -r d; echo file >d");
    fs::create_dir_all(yard.file("d/e")).unwrap();
    fs::write(yard.file("d/e/z"), "staged").unwrap();
    yard.repo.git.run(&["add", "d/e/z"]).unwrap();
    fs::remove_dir_all(yard.file("d/e")).unwrap();
    let workspace = Workspace { repo: &yard.repo };
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let begun = yard.begin(&workspace, &mut quarantine);
    assert!(matches!(begun, Err(Hindrance::Files(paths)) if paths == ["d/e/z"]));
}

#[test]
fn what_somebody_stages_who_removed_the_lock_stays_staged() {
    let yard = yard();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    yard.place(&mut quarantine, |yard| {
        fs::remove_file(yard.file(".git/index.lock")).unwrap();
        fs::write(yard.file("edited"), "staged\n").unwrap();
        yard.repo.git.run(&["add", "edited"]).unwrap();
    });
    let staged = yard.repo.git.run(&["show", ":edited"]).unwrap();
    assert_eq!(staged, b"staged\n");
    assert_eq!(yard.read("edited").as_deref(), Some("staged\n"));
}

#[test]
fn what_only_one_side_of_a_merge_has_of_a_file_that_the_other_removed_is_in_the_way() {
    let yard = yard();
    let blob = |text: &str| {
        let said = yard
            .repo
            .git
            .run_with(&["hash-object", "-w", "--stdin"], text.as_bytes());
        String::from_utf8(said.unwrap()).unwrap().trim().to_owned()
    };
    let (old, mine) = (blob("old\n"), blob("mine\n"));
    let zero = "0".repeat(40);
    let entries = format!("0 {zero}\tedited\0100644 {old} 1\tedited\0100644 {mine} 2\tedited\0");
    let arguments = ["update-index", "-z", "--index-info"];
    let made = yard.repo.git.run_with(&arguments, entries.as_bytes());
    made.unwrap();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let workspace = Workspace { repo: &yard.repo };
    let begun = yard.begin(&workspace, &mut quarantine);
    assert!(matches!(begun, Err(Hindrance::Files(paths)) if paths == ["edited"]));
}

#[test]
fn a_file_that_somebody_removed_already_is_gone_and_one_behind_a_link_that_leads_elsewhere_stays() {
    let yard = yard();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let elsewhere = yard.all.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("gone"), "old\n").unwrap();
    let stayed = yard.place(&mut quarantine, |yard| {
        fs::remove_file(yard.file("gone")).unwrap();
        fs::remove_dir_all(yard.file("other")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, yard.file("other")).unwrap();
    });
    assert!(stayed.is_empty());
    let text = fs::read_to_string(elsewhere.join("gone")).unwrap();
    assert_eq!(text, "old\n");
}

#[test]
fn no_folder_is_made_behind_a_link_that_leads_elsewhere_and_one_that_is_there_is_kept() {
    let change = "mkdir -p a/b; echo theirs >a/b/new; echo theirs >other/new";
    let yard = Yard::new(&[("other/old", "old\n")], change);
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let elsewhere = yard.all.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let stayed = yard.place(&mut quarantine, |yard| {
        std::os::unix::fs::symlink(&elsewhere, yard.file("a")).unwrap();
    });
    assert_eq!(stayed, ["a/b/new"]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_eq!(yard.read("other/new").as_deref(), Some("theirs\n"));
}

#[test]
fn what_somebody_saved_twice_meanwhile_is_kept_both_times() {
    let yard = yard();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let workspace = Workspace { repo: &yard.repo };
    let begun = yard.begin(&workspace, &mut quarantine);
    let placing = begun.unwrap_or_else(|hindrance| panic!("{hindrance:?}"));
    let save = |text: &str| {
        fs::write(yard.file("saving"), text).unwrap();
        fs::rename(yard.file("saving"), yard.file("edited")).unwrap();
    };
    save("first\n");
    let edited = placing.content.iter().find(|one| one.path == b"edited");
    let edited = edited.unwrap();
    let Ok(Moved::Displaced(ours)) = placing.put(edited) else {
        panic!("the first version did not change places");
    };
    save("second\n");
    assert!(!placing.judge(edited, ours, &mut quarantine).unwrap());
    assert_eq!(yard.read("edited").as_deref(), Some("second\n"));
    let [(name, kept)] = &quarantine.moved[..] else {
        panic!("{:?}", quarantine.moved);
    };
    assert_eq!(name, "edited");
    assert_eq!(fs::read_to_string(kept).unwrap(), "first\n");
}

#[test]
fn a_list_of_the_folder_gives_a_program_what_it_takes_to_run_it_and_a_text_not() {
    let change = "echo theirs >edited; echo theirs >program; chmod +x program";
    let yard = Yard::new(&[("edited", "old\n")], change);
    // All may do all that the mode of a new file allows.
    let mut list = 2_u32.to_le_bytes().to_vec();
    for kind in [0x01_u16, 0x04, 0x20] {
        list.extend(kind.to_le_bytes());
        list.extend([7, 0, 255, 255, 255, 255]);
    }
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(yard.file(""), "system.posix_acl_default", &list, flags).unwrap();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    yard.place(&mut quarantine, |_| {});
    let modes = ["edited", "program"].map(|path| yard.file(path).metadata().unwrap().mode());
    assert_eq!(modes.map(|mode| mode & 0o777), [0o666, 0o777]);
}

#[test]
fn what_cannot_be_moved_aside_or_is_not_ready_is_an_error_and_the_next_one_rescues_what_lies_there()
{
    for (path, is_there) in [("gone/gone", true), ("ready/new", false)] {
        let yard = yard();
        let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
        let workspace = Workspace { repo: &yard.repo };
        let begun = yard.begin(&workspace, &mut quarantine);
        let placing = begun.unwrap_or_else(|hindrance| panic!("{hindrance:?}"));
        let file = yard.repo.git_dir().join(FOLDER).join(path);
        match is_there {
            true => {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, "hours of work\n").unwrap();
            }
            false => fs::remove_file(&file).unwrap(),
        }
        placing.carry_out(&mut quarantine).unwrap_err();
        assert!(yard.repo.git_dir().join(FOLDER).exists());
        assert!(!yard.file(".git/index.lock").exists());
        assert_eq!(yard.file("gone").exists(), is_there);
        assert!(quarantine.moved.is_empty());
        // What is staged is in the way now, which is looked at only later.
        let begun = yard.begin(&workspace, &mut quarantine);
        assert!(matches!(begun, Ok(_) | Err(Hindrance::Files(_))));
        let moved = quarantine.moved.iter().map(|(name, _)| &**name);
        assert!(moved.eq(is_there.then_some("gone")));
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let yard = yard();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let workspace = Workspace { repo: &yard.repo };
    let begun = yard.begin(&workspace, &mut quarantine);
    let placing = begun.unwrap_or_else(|hindrance| panic!("{hindrance:?}"));
    fs::rename(yard.file(""), yard.all.path().join("moved")).unwrap();
    let error = placing.make_way(b"deep/new").unwrap_err();
    assert!(error.message.contains("create"), "{error:?}");
}

#[test]
fn a_submodule_that_comes_is_no_file_that_takes_a_place() {
    let module = "git init -q module; git -C module -c user.name=u -c user.email=u commit -q --allow-empty -m m";
    let yard = Yard::new(
        &[("edited", "old\n")],
        &format!("{module}; echo theirs >edited"),
    );
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    assert!(yard.place(&mut quarantine, |_| {}).is_empty());
    assert_eq!(yard.read("edited").as_deref(), Some("theirs\n"));
    assert!(yard.file("module/.git").exists());
    assert!(quarantine.moved.is_empty());
}
