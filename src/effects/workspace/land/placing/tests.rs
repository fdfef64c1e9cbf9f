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

    /// Lets a person do something between the moment at which all is ready and the one at which it takes its place.
    fn place(&self, quarantine: &mut Quarantine, meanwhile: impl FnOnce(&Yard)) -> Vec<String> {
        let workspace = Workspace { repo: &self.repo };
        let content = workspace.landed_content(&self.landing).unwrap();
        let commits = (&*self.landing.from, &*self.landing.to);
        let begun = Placing::begin(&workspace, commits, content, quarantine).unwrap();
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

#[test]
fn what_somebody_saved_stays_where_the_git_directory_is_on_another_file_system() {
    let memory = Path::new("/dev/shm");
    let elsewhere = match memory.is_dir() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    };
    let mut yard = yard();
    let git_dir = elsewhere.path().join("git");
    let mut sh = Command::new("sh");
    sh.args(["-ec", "mv .git \"$0\"; echo \"gitdir: $0\" >.git"]);
    sh.arg(&git_dir).current_dir(yard.file(""));
    assert!(sh.status().unwrap().success());
    yard.repo = crate::effects::repo::Repo::discover(&yard.file("")).unwrap();
    let mut quarantine = Quarantine::of(&yard.repo.private, "s", 1);
    let workspace = Workspace { repo: &yard.repo };
    let content = workspace.landed_content(&yard.landing).unwrap();
    let commits = (&*yard.landing.from, &*yard.landing.to);
    let begun = Placing::begin(&workspace, commits, content, &mut quarantine).unwrap();
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
    let mut begin = || {
        let content = workspace.landed_content(&yard.landing).unwrap();
        let commits = (&*yard.landing.from, &*yard.landing.to);
        Placing::begin(&workspace, commits, content, &mut quarantine).unwrap()
    };
    fs::write(yard.file("edited"), "staged\n").unwrap();
    yard.repo.git.run(&["add", "edited"]).unwrap();
    assert!(matches!(begin(), Err(Hindrance::Files(paths)) if paths == ["edited"]));
    fs::write(yard.file(".git/index.lock"), "").unwrap();
    assert!(matches!(begin(), Err(Hindrance::Locked(_))));
    assert!(yard.file(".git/index.lock").exists());
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
    let content = workspace.landed_content(&yard.landing).unwrap();
    let commits = (&*yard.landing.from, &*yard.landing.to);
    let begun = Placing::begin(&workspace, commits, content, &mut quarantine).unwrap();
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
