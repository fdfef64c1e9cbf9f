//! What `evolve` itself would wait for without end: git that hangs, pipes where it or its git opens files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Child;

use crate::harness::{Run, TestRepo, finish, is_alive, pid_in, signal, wait_until};

/// A git that hangs at this command, deaf to SIGTERM, once the file `$OUT/hang` is there; the filters of others do as well.
fn with_hanging_git(command: &str) -> TestRepo {
    let mut repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let git = which::which("git").unwrap();
    let folder = repo.out("bin");
    fs::create_dir_all(&folder).unwrap();
    let shim = folder.join("git");
    let text = format!(
        "#!/bin/sh\nif [ -e \"$OUT/hang\" ]; then case \" $* \" in *' {command} '*) trap '' TERM; echo $$ >\"$OUT/git\"; while :; do sleep 0.1; done;; esac; fi\nexec {} \"$@\"\n",
        git.display()
    );
    fs::write(&shim, text).unwrap();
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", folder.display());
    repo.env.push(("PATH".to_owned(), path));
    repo
}

type End = fn(&TestRepo, &Child);
const ENDS: [(&str, End, i32); 3] = [
    ("KILL", |repo, _| repo.kill(), 0),
    ("TERM", |_, child| signal(child, "TERM"), 143),
    ("INT", |_, child| signal(child, "INT"), 130),
];

/// Waits until git hangs, ends the session, and says what came of it.
#[track_caller]
fn end(repo: &TestRepo, child: Child, end: End) -> Run {
    let git = pid_in(&repo.out("git"));
    end(repo, &child);
    let run = finish(child);
    assert!(!is_alive(git), "git lives");
    fs::remove_file(repo.out("git")).unwrap();
    run
}

#[test]
fn git_that_hangs_before_an_agent_was_called_is_ended_with_the_session() {
    for (what, by, code) in ENDS {
        let repo = with_hanging_git("status");
        fs::write(repo.out("hang"), "").unwrap();
        let run = end(&repo, repo.spawn_run(&[]), by);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, code, "{what}: {said}");
        assert!(said.contains("`git status "), "{what}: {said}");
        assert_eq!(repo.records().len(), 0, "{what}");
        fs::remove_file(repo.out("hang")).unwrap();
        let _ = fs::remove_file(repo.kill_file());
        repo.cycle("touch a").expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{what}");
    }
}

#[test]
fn git_that_hangs_after_the_agent_is_ended_with_the_session_and_the_next_one_undoes() {
    for (command, (what, by, code)) in ["ls-files", "add"].into_iter().zip(ENDS) {
        let repo = with_hanging_git(command);
        let content = repo.content("HEAD");
        repo.agent_does(&["touch a loose; touch \"$OUT/hang\""]);
        let run = end(&repo, repo.spawn_run(&[]), by);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, code, "{what}: {said}");
        assert!(said.contains("`git "), "{what}: {said}");
        fs::remove_file(repo.out("hang")).unwrap();
        let _ = fs::remove_file(repo.kill_file());
        repo.cycle("touch a").expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"], "{what}");
        let settled = repo.records()[0]["commit_sha"].as_str().unwrap().to_owned();
        assert_eq!(repo.content(&settled), content, "{what}");
        assert!(!repo.has("loose"), "{what}");
    }
}

/// For an agent's script: leaves a pack of git's own making, which is read when the agent has ended.
const REPACK: &str = "touch a; git add a; git commit -qm a; git repack -qad; touch \"$OUT/hang\"";

#[test]
fn git_that_reads_a_new_pack_is_ended_with_the_session_and_the_pack_stays_where_it_is() {
    for (what, by, code) in ENDS {
        let repo = with_hanging_git("index-pack");
        repo.agent_does(&[REPACK]);
        let run = end(&repo, repo.spawn_run(&[]), by);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, code, "{what}: {said}");
        fs::remove_file(repo.out("hang")).unwrap();
        let _ = fs::remove_file(repo.kill_file());
        repo.cycle("touch a").expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"], "{what}");
        assert!(!repo.has(".git/evolve/quarantine"), "{what}");
        repo.git(&["fsck", "--strict"]);
    }
}

#[test]
fn git_that_reads_a_new_pack_outlives_neither_evolve_nor_the_start_after_it() {
    let repo = with_hanging_git("index-pack");
    repo.agent_does(&[REPACK]);
    for _ in 0..2 {
        let mut child = repo.spawn_run(&[]);
        let git = pid_in(&repo.out("git"));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("the git is gone", || !is_alive(git));
        fs::remove_file(repo.out("git")).unwrap();
    }
    fs::remove_file(repo.out("hang")).unwrap();
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert!(!repo.has(".git/evolve/quarantine"));
}

#[test]
fn a_lock_file_of_git_that_was_ended_is_not_in_the_way() {
    let repo = with_hanging_git("add");
    // Git that is killed has no time to remove it.
    repo.agent_does(&["touch a; touch .git/index.lock \"$OUT/hang\""]);
    let run = end(&repo, repo.spawn_run(&[]), |repo, _| repo.kill());
    run.expect(0);
    fs::remove_file(repo.out("hang")).unwrap();
    fs::remove_file(repo.kill_file()).unwrap();
    fs::write(repo.path(".git/index.lock"), "").unwrap();
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn a_kill_acts_though_its_acknowledgement_would_wait_for_a_pipe() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let config = repo.read(".git/config");
    repo.agent_does(&[
        "rm .git/config; mkfifo .git/config; touch loose; echo $$ >\"$OUT/pid\"; sleep 300",
    ]);
    let child = repo.spawn_run(&[]);
    let pid = pid_in(&repo.out("pid"));
    repo.kill();
    finish(child).expect(0);
    assert!(!is_alive(pid));
    assert_eq!(repo.read(".git/config"), config);
    assert_eq!(repo.each("result"), ["interrupted"]);
    wait_until("it is acknowledged", || {
        repo.has(".agents/evolve/KILLED.json")
    });
    assert!(!repo.has("loose"));
}

/// What git opens in every folder that it looks through.
const OPENED: [&str; 4] = [".gitignore", ".gitattributes", ".gitmodules", ".mailmap"];

#[test]
fn a_pipe_that_an_agent_puts_where_git_opens_files_is_moved_away_and_named() {
    for (name, more) in [
        (".gitignore", ""),
        (".gitattributes", ""),
        (".gitmodules", ""),
        (".mailmap", ""),
        ("new/.gitignore", "touch new/file;"),
        ("skipped/deep/.gitignore", "echo '!skipped' >>.gitignore;"),
        ("new/.gitattributes", "touch new/file; git add new/file;"),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        repo.write(".gitignore", "skipped/\n");
        repo.commit_all("ignore");
        let folder = name.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let run = repo.cycle(&format!(
            "touch a; mkdir -p {folder}; {more} rm -f {name}; mkfifo {name}"
        ));
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        let notes = repo.newest()["notes"].to_string();
        assert!(
            notes.contains(&format!("moved out of the way: {name}")),
            "{name}: {notes}"
        );
        assert_eq!(repo.each("result"), ["improved"], "{name}");
        assert!(!repo.has(name), "{name}");
    }
}

#[test]
fn other_things_that_are_no_plain_file_there_are_moved_away_too() {
    for (what, script) in [
        (
            "a link to a pipe",
            "mkfifo \"$OUT/pipe\"; ln -s \"$OUT/pipe\" .gitattributes",
        ),
        (
            "a link to what never ends",
            "ln -s /dev/zero .gitattributes",
        ),
        ("more than git reads", "truncate -s 200M .gitattributes"),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        repo.cycle(&format!("touch a; {script}")).expect(0);
        let notes = repo.newest()["notes"].to_string();
        let moved = "moved out of the way: .gitattributes";
        assert!(notes.contains(moved), "{what}: {notes}");
        assert_eq!(repo.each("result"), ["improved"], "{what}");
    }
}

#[test]
fn a_pipe_that_a_check_leaves_does_not_hold_up_the_undo() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: 'if [ -e bad ]; then rm -f .gitattributes; mkfifo .gitattributes; exit 1; fi; test -e a', weight: 5}\n  - {id: b, description: d, check: 'test ! -e bad', weight: 5}\n",
    )
    .with_out();
    repo.cycle("touch bad").expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert!(!repo.has("bad"));
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["regressed", "improved"]);
}

#[test]
fn a_pipe_that_was_there_before_is_named_and_left_where_it_is() {
    for name in OPENED.into_iter().chain(["folder/.gitignore"]) {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        fs::create_dir_all(repo.path("folder")).unwrap();
        make_pipe(&repo, name);
        let run = repo.evolve(&["--agent=true"]).expect(3);
        assert!(run.stderr.contains(name), "{name}: {}", run.stderr);
        assert!(run.stderr.contains("hint: "), "{name}: {}", run.stderr);
        assert!(repo.has(name), "{name}");
        assert_eq!(repo.records().len(), 0, "{name}");
    }
}

/// What `evolve`, its git or its library opens below `.git`.
const OF_GIT: [&str; 9] = [
    "HEAD",
    "config",
    "index",
    "packed-refs",
    "commondir",
    "info/exclude",
    "refs/heads/other",
    "logs/HEAD",
    "objects/info/alternates",
];

#[test]
fn pipes_among_gits_own_files_are_named_whatever_is_asked_for() {
    for name in OF_GIT {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        let path = format!(".git/{name}");
        let _ = fs::remove_file(repo.path(&path));
        make_pipe(&repo, &path);
        for arguments in [
            &["--agent=true"][..],
            &["status"],
            &["measure"],
            &["history"],
        ] {
            let run = repo.evolve(arguments);
            assert_ne!(run.code, 0, "{name} {arguments:?}");
            assert!(
                run.stderr.contains(name),
                "{name} {arguments:?}: {}",
                run.stderr
            );
        }
    }
}

#[test]
fn pipes_that_an_agent_puts_among_gits_own_files_hold_up_nothing() {
    for name in OF_GIT
        .into_iter()
        .chain(["config.worktree", "shallow", "info/attributes"])
    {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        repo.git(&["branch", "other"]);
        let script =
            format!("touch a; mkdir -p .git/{name}; rm -r .git/{name}; mkfifo .git/{name}");
        repo.cycle(&script);
        if !repo.git_works() {
            // Without HEAD it is no repository: said, and left as it is.
            continue;
        }
        assert_eq!(repo.each("result").len(), 1, "{name}");
        assert_ne!(repo.git(&["rev-parse", "other"]), "", "{name}");
        repo.cycle("touch a").expect(0);
    }
}

#[test]
fn pipes_where_evolve_opens_files_of_its_own_are_named() {
    for name in [
        "GOALS.yaml",
        ".agents/evolve/cycle-history.jsonl",
        ".agents/evolve/lessons.jsonl",
        ".agents/rpi/next-work.jsonl",
        ".git/evolve/lock",
        ".git/evolve/journal.json",
        ".git/evolve/anchor",
        ".git/evolve/turn",
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 5)]).with_out();
        repo.cycle("touch a").expect(0);
        let _ = fs::remove_file(repo.path(name));
        make_pipe(&repo, name);
        for arguments in [
            &["--agent=true", "--max-cycles=1"][..],
            &["status"],
            &["measure"],
            &["validate"],
            &["history"],
            &["audit"],
            &["work", "add", "something"],
            &["retry", "a"],
        ] {
            // It ends, which is all that has to hold for each of them.
            repo.evolve(arguments);
        }
    }
}

#[track_caller]
fn make_pipe(repo: &TestRepo, name: &str) {
    let path = repo.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success(), "{name}");
}

impl TestRepo {
    /// Says whether git still knows the repository.
    fn git_works(&self) -> bool {
        let mut git = self.command("git");
        git.args(["rev-parse", "--git-dir"]);
        git.output().unwrap().status.success()
    }
}

#[test]
fn what_an_agent_leaves_in_the_place_of_the_next_ones_papers_holds_up_nothing() {
    for paper in ["agent.log", "brief.txt"] {
        for leave in ["mkfifo", "mkdir"] {
            let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
            repo.agent_does(&[
                &format!("touch a; for it in .git/evolve/logs/*; do {leave} $it/2-{paper}; done"),
                "touch b",
            ]);
            repo.run(&["--max-cycles=2"]).expect(0);
            assert!(repo.has("b"), "{leave} {paper}");
        }
    }
}

#[test]
fn what_an_agent_leaves_in_the_place_of_notes_on_the_copy_of_git_holds_up_nothing() {
    let leaves = [
        "mkfifo $it",
        "mkdir $it",
        "ln -s /dev/zero $it",
        "ln -s PRECIOUS $it",
        "ln PRECIOUS $it",
    ];
    for name in ["of", "of-tree", "linked", "bytes", "whole", "around"] {
        for leave in leaves {
            let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
            let precious = repo.outside().join("precious");
            fs::write(&precious, "mine\n").unwrap();
            let leave = leave.replace("PRECIOUS", &precious.display().to_string());
            repo.agent_does(&[
                &format!(
                    "touch a; for it in ~/.local/state/evolve/*/; do it=$it{name}; rm -rf $it; {leave}; done"
                ),
                "touch b",
            ]);
            let what = format!("{leave} {name}");
            repo.run(&["--max-cycles=2"]).expect(0);
            assert!(repo.has("a") && repo.has("b"), "{what}");
            repo.run(&["--max-cycles=1"]).expect(0);
            assert_eq!(fs::read_to_string(&precious).unwrap(), "mine\n", "{what}");
        }
    }
}
