//! Repositories and machines of other kinds than most: each is worked on to the end, an undo included, or refused in words
//! before anything was written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::harness::{Run, TestRepo, everything_below, output, pid_in};

const GOALS: &str = "  - {id: a, description: a, check: test -e a, weight: 5}
  - {id: b, description: b, check: test -e b, weight: 5}
  - {id: c, description: c, check: test -e c, weight: 4}
";

/// A repository with three goals, of which `b` passes, and files in two folders.
fn repository() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write("b", "b\n");
    repo.write("in/file", "1\n");
    repo.write("out/file", "1\n");
    repo.commit_goals(GOALS);
    repo
}

fn sh(repo: &TestRepo, script: &str) -> String {
    let said = output(repo.command("sh").args(["-c", script])).stdout;
    String::from_utf8_lossy(&said).trim_end().to_owned()
}

/// Runs two cycles: the first makes `a` and commits it, the second breaks `b` and is undone.
#[track_caller]
fn two_cycles(repo: &TestRepo, place: &Path) -> Run {
    repo.agent_does(&[
        "touch a; echo 2 >>in/file; git add a; git commit -qm work",
        "rm b; echo 3 >>in/file; echo new >in/new",
    ]);
    repo.run(&["-C", place.to_str().unwrap(), "--max-cycles=2"])
}

/// Asserts that of two cycles the first was kept and the second undone, and that nobody had to put anything right.
#[track_caller]
fn assert_worked(what: &str, repo: &TestRepo, place: &Path) {
    let run = two_cycles(repo, place);
    assert_eq!(run.code, 0, "{what}: {}", run.stderr);
    let history = fs::read_to_string(place.join(".agents/evolve/cycle-history.jsonl")).unwrap();
    let results: Vec<_> = history
        .lines()
        .map(|line| line.contains("\"result\":\"improved\""))
        .collect();
    assert_eq!(results, [true, false], "{what}: {}", run.stdout);
    assert!(
        history.contains("\"result\":\"regressed\""),
        "{what}: {history}"
    );
    for said in [&run.stdout, &run.stderr] {
        assert!(
            !said.contains("put right") && !said.contains("warning"),
            "{what}: {said}"
        );
    }
    let read = |file: &str| fs::read_to_string(place.join(file)).unwrap_or_default();
    assert_eq!(read("in/file") + &read("b"), "1\n2\nb\n", "{what}");
    assert!(!place.join("in/new").exists(), "{what}");
    let git =
        |arguments: &[&str]| repo.git(&[&["-C", place.to_str().unwrap()], arguments].concat());
    assert_eq!(git(&["status", "--porcelain"]), "", "{what}");
    git(&["fsck", "--strict", "--no-dangling"]);
}

/// E-05, E-16: kinds of index, and a checkout that leaves out the ledger's folder.
#[test]
fn every_kind_of_index_and_of_sparse_checkout_is_worked_on() {
    for (what, script) in [
        ("a split index", "git update-index --split-index"),
        (
            "an index of version 4",
            "git update-index --index-version 4",
        ),
        (
            "an untracked cache",
            "git update-index --force-untracked-cache",
        ),
        (
            "a cone",
            "git sparse-checkout init --cone; git sparse-checkout set in",
        ),
        (
            "a sparse index",
            "git sparse-checkout init --cone --sparse-index; git sparse-checkout set in",
        ),
        (
            "patterns",
            "git config core.sparseCheckout true; git config core.sparseCheckoutCone false; printf '/*\\n!/out\\n!/.agents\\n' >.git/info/sparse-checkout; git read-tree -mu HEAD",
        ),
    ] {
        let repo = repository();
        sh(&repo, script);
        let is_sparse = script.contains("sparse");
        assert_eq!(repo.has("out/file"), !is_sparse, "{what}");
        assert_worked(what, &repo, &repo.root());
        assert_eq!(repo.has("out/file"), !is_sparse, "{what}");
        assert!(
            repo.content("HEAD")
                .iter()
                .any(|line| line.ends_with("\tout/file")),
            "{what}"
        );
        for name in [
            "cycle-history.jsonl",
            "fitness-2.json",
            "session-summary.md",
        ] {
            let path = format!(".agents/evolve/{name}");
            assert_eq!(
                repo.git(&["show", &format!("HEAD:{path}")]),
                repo.read(&path).trim_end(),
                "{what}"
            );
        }
    }
}

#[test]
fn a_split_or_sparse_index_is_clean_after_the_first_undo_and_the_change_can_be_shown() {
    for (what, script) in [
        (
            "split",
            "git config core.splitIndex true; git update-index --split-index",
        ),
        (
            "sparse",
            "git sparse-checkout init --cone --sparse-index; git sparse-checkout set in",
        ),
    ] {
        let repo = repository();
        sh(&repo, script);
        repo.cycle("rm b; echo 3 >>in/file").expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{what}");
        // As the user's own git leaves it, which may write it anew.
        assert_eq!(sh(&repo, "git status --porcelain"), "", "{what}");
        sh(&repo, "touch in/file; git update-index --refresh");
        let shown = repo.evolve(&["show", "1", "--diff"]).expect(0);
        assert!(shown.stdout.contains("+3"), "{what}: {}", shown.stdout);
        assert_eq!(sh(&repo, "git status --porcelain"), "", "{what}");
    }
}

#[test]
fn what_an_agent_takes_out_of_a_sparse_checkout_is_measured_all_the_same() {
    for (what, script) in [
        ("a narrower cone", "git sparse-checkout set --cone b"),
        (
            "patterns",
            "git sparse-checkout set --no-cone '/*' '!/in/' '!/out/'",
        ),
        (
            "marks alone",
            "git update-index --skip-worktree in/todo; rm in/todo",
        ),
        (
            "and no sparse checkout any more",
            "git sparse-checkout set --cone b; git config --worktree --unset core.sparseCheckout; rm .git/info/sparse-checkout",
        ),
    ] {
        let repo = TestRepo::empty();
        repo.write(
            "GOALS.yaml",
            "goals:\n  - {id: done, description: d, check: '! grep -r todo in', weight: 5}\n  - {id: b, description: d, check: test -e b/file, weight: 5}\n",
        );
        for name in ["b/file", "in/todo", "out/file"] {
            repo.write(name, "todo\n");
        }
        repo.commit_all("files");
        sh(&repo, "git sparse-checkout set --cone b in");
        let before = repo.git(&["ls-files", "-t", "in", "out"]);
        let run = repo
            .cycle(&format!(
                "{script}; echo more >>b/file; git commit -qm more b/file"
            ))
            .expect(0);
        assert_eq!(repo.each("result"), ["unchanged"], "{what}: {}", run.stdout);
        let said =
            "files that git was told to leave out of the checkout are checked out again: in/todo";
        assert!(run.stdout.contains(said), "{what}: {}", run.stdout);
        assert_eq!(
            (repo.has("in/todo"), repo.has("out")),
            (true, false),
            "{what}: {}",
            sh(
                &repo,
                "git ls-files -t; find . -path ./.git -prune -o -print; cat .git/info/sparse-checkout"
            )
        );
        assert_eq!(repo.git(&["ls-files", "-t", "in", "out"]), before, "{what}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
    }
}

#[test]
fn a_whole_checkout_that_an_agent_makes_sparse_loses_nothing() {
    for options in [&[][..], &["--isolate"]] {
        let repo = TestRepo::with_files_wanted(&[("done", 5)]);
        for name in ["b/file", "in/file"] {
            repo.write(name, "kept\n");
        }
        repo.commit_all("files");
        repo.agent_does(&["git sparse-checkout set --cone nosuch; touch done; git add --sparse done; git commit -qm done"]);
        repo.run(&[&["--max-cycles=1"], options].concat()).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{options:?}");
        let tracked = repo.git(&["ls-files", "b", "in"]);
        assert_eq!(tracked, "b/file\nin/file", "{options:?}");
        assert_eq!(repo.read("in/file"), "kept\n", "{options:?}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{options:?}");
    }
}

#[test]
fn an_undo_takes_out_again_what_a_sparse_checkout_leaves_out_but_the_ledger() {
    for set in [
        "git sparse-checkout set --cone in",
        "git sparse-checkout set --no-cone '/*' '!/out' '!/.agents'",
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3), ("c", 1)]);
        for name in ["b", "in/file", "out/file", "out/deep/file"] {
            repo.write(name, "text\n");
        }
        repo.commit_all("files");
        sh(&repo, set);
        repo.cycle("touch a").expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{set}");
        let content = repo.content("HEAD");
        // Without the index nothing tells what is left out: to git it is deleted.
        repo.cycle("rm b .git/index; git add -A; git commit -qm evil")
            .expect(0);
        assert_eq!(repo.each("result"), ["improved", "regressed"], "{set}");
        assert_eq!(repo.content("HEAD"), content, "{set}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{set}");
        assert!(repo.has("in/file") && !repo.has("out"), "{set}");
        let history = ".agents/evolve/cycle-history.jsonl";
        let flags = repo.git(&["ls-files", "-t", "out", history]);
        let expected = format!("H {history}\nS out/deep/file\nS out/file");
        assert_eq!(flags, expected, "{set}");
        assert_eq!(repo.records().len(), 2, "{set}");
    }
}

#[test]
fn what_is_ignored_where_a_sparse_checkout_leaves_a_folder_out_stays_after_an_undo() {
    for set in [
        "git sparse-checkout set --cone in",
        "git sparse-checkout set --cone --sparse-index in",
        "git sparse-checkout set --no-cone '/*' '!/out'",
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
        for (name, text) in [
            ("b", ""),
            ("in/file", ""),
            ("out/deep/file", ""),
            (".gitignore", ".env\nbuilt\n"),
        ] {
            repo.write(name, text);
        }
        repo.commit_all("files");
        sh(&repo, set);
        repo.write("out/.env", "SECRET=1\n");
        repo.write("out/deep/built/one", "1\n");
        repo.cycle("rm b").expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{set}");
        assert_eq!(repo.read("out/.env"), "SECRET=1\n", "{set}");
        assert_eq!(repo.read("out/deep/built/one"), "1\n", "{set}");
        assert!(repo.has("b") && !repo.has("out/deep/file"), "{set}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{set}");
    }
}

#[test]
fn an_undo_leaves_in_the_tree_what_was_there_though_a_sparse_checkout_leaves_it_out() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 2), ("never", 1)]).with_out();
    for name in ["a", "in/file", "out/file"] {
        repo.write(name, "text\n");
    }
    repo.commit_all("files");
    sh(&repo, "git sparse-checkout set --cone in");
    repo.write("out/mine", "mine\n");
    sh(&repo, "git add --sparse out/mine; git commit -qm mine");
    repo.cycle("mkdir -p out; touch b out/kept").expect(0);
    let is_as_before = |what: &str| {
        assert_eq!(repo.read("out/mine"), "mine\n", "{what}");
        assert!(repo.has("out/kept") && repo.has("a"), "{what}");
        assert!(!repo.has("out/file"), "{what}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
    };
    for agent in [
        "git sparse-checkout disable; rm a; echo >>out/file",
        "rm a out/mine; echo >out/kept",
        "rm a .git/index; git add -A; git commit -qm evil",
    ] {
        repo.evolve(&["retry", "never"]);
        repo.cycle(agent).expect(0);
        assert_eq!(repo.each("result").last().unwrap(), "regressed", "{agent}");
        is_as_before(agent);
    }
    repo.evolve(&["retry", "never"]);
    repo.agent_does(&["rm a; echo >out/mine; echo $$ >\"$OUT/pid\"; sleep 300"]);
    let mut child = repo.spawn_run(&[]);
    pid_in(&repo.out("pid"));
    child.kill().unwrap();
    child.wait().unwrap();
    repo.cycle("true").expect(0);
    assert!(repo.each("result").contains(&"interrupted".to_owned()));
    is_as_before("a crash");
}

/// E-05: what libgit2 does not read is refused before anything is written.
#[test]
fn formats_that_cannot_be_read_are_refused_and_left_alone() {
    for (what, option) in [
        ("SHA-256", "--object-format=sha256"),
        ("reftable", "--ref-format=reftable"),
    ] {
        let repo = repository();
        let other = repo.out("other");
        let name = other.to_str().unwrap();
        let init = repo
            .command("git")
            .args(["init", "--quiet", option, name])
            .output()
            .unwrap();
        if !init.status.success() {
            // A git that cannot make one has none to work on, and says which word it does not know.
            let said = String::from_utf8_lossy(&init.stderr).into_owned();
            assert!(
                said.contains("unknown option") || said.contains("unknown"),
                "{what}: {said}"
            );
            continue;
        }
        fs::copy(repo.path("GOALS.yaml"), other.join("GOALS.yaml")).unwrap();
        sh(
            &repo,
            &format!("cd '{name}'; git add .; git -c user.name=n -c user.email=n commit -qm n"),
        );
        let before = everything_below(&other);
        let run = repo.run(&["-C", name, "--max-cycles=1"]);
        assert_eq!(run.code, 3, "{what}: {}", run.stderr);
        let words =
            "hint: evolve needs a repository that libgit2 reads: SHA-1, files as ref storage";
        assert!(run.stderr.contains(words), "{what}: {}", run.stderr);
        assert_eq!(repo.calls(), 0, "{what}");
        assert_eq!(everything_below(&other), before, "{what}");
    }
}

#[test]
fn a_file_is_committed_though_git_would_write_it_otherwise() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    for setting in ["core.autocrlf", "core.safecrlf"] {
        repo.git(&["config", setting, "true"]);
    }
    repo.cycle("echo a >a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.git(&["show", "HEAD:a"]), "a");
}

#[test]
fn a_cycle_is_undone_where_what_a_partial_clone_leaves_out_is_elsewhere() {
    let repo = repository();
    repo.write("out/file", "0\n");
    repo.commit_all("another");
    let at = &repo.partial_clone(&["--filter=blob:none", "--sparse"]);
    let agent = format!("--agent=echo more >>{at}/more");
    repo.evolve(&["-C", at, "work", "add", "say more"])
        .expect(0);
    repo.evolve(&["-C", at, "--max-cycles=1", &agent]).expect(0);
    let run = repo.evolve(&["-C", at, "undo", "1"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(!Path::new(at).join("more").exists());
}

#[test]
fn a_cycle_that_is_taken_back_leaves_the_ledger_of_a_sparse_checkout_alone() {
    for set in [
        "--cone in",
        "--cone --sparse-index in",
        "--no-cone '/*' '!/.agents'",
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        for name in ["in/file", "out/file"] {
            repo.write(name, "text\n");
        }
        repo.commit_all("files");
        sh(&repo, &format!("git sparse-checkout set {set}"));
        repo.evolve(&["work", "add", "say more"]).expect(0);
        repo.cycle("touch a more; echo more >>in/file").expect(0);
        let run = repo.evolve(&["undo", "1"]);
        assert_eq!(run.code, 10, "{set}: {}{}", run.stdout, run.stderr);
        repo.cycle("echo more >>in/file; mkdir -p out; echo more >>out/file; git add --sparse out")
            .expect(0);
        sh(&repo, "git status; git sparse-checkout reapply");
        let is_held = set.contains("--no-cone");
        assert_eq!(repo.has("out/file"), is_held, "{set}");
        repo.evolve(&["undo", "3"]).expect(0);
        assert_eq!(repo.read("in/file"), "text\nmore\n", "{set}");
        assert_eq!(repo.has("out/file"), is_held, "{set}");
        for record in repo.records() {
            let notes = record["notes"].to_string();
            assert!(
                !notes.contains("put right") && !notes.contains("gone"),
                "{set}: {notes}"
            );
        }
        assert_eq!(repo.status(), Vec::<String>::new(), "{set}");
    }
}

/// E-04: what is not there is not fetched for, and not needed.
#[test]
fn a_partial_clone_is_worked_on_without_the_place_it_came_from() {
    for filter in ["--filter=blob:none", "--filter=tree:0"] {
        let repo = repository();
        repo.write("in/file", "0\n");
        repo.commit_all("another");
        repo.write("in/file", "1\n");
        repo.commit_all("and back");
        let clone = repo.partial_clone(&[filter]);
        let clone = Path::new(&clone);
        let away = repo.out("away");
        fs::rename(repo.path(".git"), &away).unwrap();
        let run = two_cycles(&repo, clone);
        fs::rename(&away, repo.path(".git")).unwrap();
        assert_eq!(run.code, 0, "{filter}: {}", run.stderr);
        assert!(
            run.stdout.contains("1 improved, 1 regressed"),
            "{filter}: {}",
            run.stdout
        );
        assert_eq!(
            fs::read_to_string(clone.join("in/file")).unwrap(),
            "1\n2\n",
            "{filter}"
        );
        assert_eq!(
            repo.git(&["-C", clone.to_str().unwrap(), "status", "--porcelain"]),
            ""
        );
    }
}

/// E-08: the undo of very many commits and files ends, and is exact.
#[test]
fn a_git_directory_somewhere_else_is_worked_with_in_the_tree_that_leads_to_it() {
    let ways = [
        (
            "file",
            "git init -q --separate-git-dir=\"$OUT/other/elsewhere.git\"",
        ),
        (
            "link",
            "mv .git \"$OUT/other/elsewhere.git\"; ln -s \"$OUT/other/elsewhere.git\" .git",
        ),
        (
            "tree named in the settings",
            "git init -q --separate-git-dir=\"$OUT/other/elsewhere.git\"; git config core.worktree \"$PWD\"",
        ),
    ];
    for (what, way) in ways {
        let repo = repository();
        // Around the git directory lies another repository, with goals of its own.
        sh(
            &repo,
            &format!(
                "git clone -q . \"$OUT/other\"; echo elsewhere.git >>\"$OUT/other/.git/info/exclude\"; {way}"
            ),
        );
        let other = || {
            let mut found = everything_below(&repo.out("other"));
            found.retain(|path, _| !path.to_string_lossy().contains("elsewhere.git"));
            found
        };
        let before = other();
        let root = repo.root().canonicalize().unwrap();
        let status = repo.evolve(&["-C", "in", "status"]).expect(0);
        let said = format!("repository {} on main\n", root.display());
        assert!(status.stdout.contains(&said), "{what}: {}", status.stdout);
        assert_worked(what, &repo, &root);
        repo.evolve(&["audit"]).expect(0);
        assert_eq!(other(), before, "{what}");
        assert!(repo.out("other/elsewhere.git/evolve").is_dir(), "{what}");
    }
}

#[test]
fn a_git_directory_whose_working_tree_is_not_known_is_refused() {
    let repo = repository();
    sh(
        &repo,
        "git clone -q . \"$OUT/other\"; git init -q --separate-git-dir=\"$OUT/other/elsewhere.git\"",
    );
    let git_dir = repo.out("other/elsewhere.git");
    let before = everything_below(&repo.out("other"));
    for command in [&["--agent=true"][..], &["measure"], &["status"]] {
        let run = repo.evolve(&[&["-C", git_dir.to_str().unwrap()][..], command].concat());
        let run = run.expect(3);
        let said = "is a git directory, and its working tree lies elsewhere\nhint: run evolve in the working tree";
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    assert_eq!(everything_below(&repo.out("other")), before);
}

#[test]
fn a_linked_working_tree_and_a_submodule_are_worked_on_and_nothing_around_them() {
    for (what, way) in [
        ("linked", "git worktree add -q -b topic \"$OUT/tree\""),
        (
            "submodule",
            "git init -q \"$OUT/around\"; at=$PWD; cd \"$OUT/around\"
             git -c protocol.file.allow=always submodule --quiet add \"$at\" mod
             git commit -qm mod; cd mod; git config user.name n; git config user.email n; ln -s \"$PWD\" \"$OUT/tree\"",
        ),
    ] {
        let repo = repository();
        sh(&repo, way);
        let tree = repo.out("tree").canonicalize().unwrap();
        let before = repo.files();
        assert_worked(what, &repo, &tree);
        assert_eq!(repo.files(), before, "{what}");
    }
}

#[test]
fn thousands_of_empty_commits_and_files_are_undone() {
    let repo = repository();
    let start = repo.head();
    let script = r#"
{ n=0; while [ $n -lt 10000 ]; do n=$((n+1))
  printf 'commit refs/heads/many\ncommitter a <a> %s +0000\ndata 1\ne\n' $n
  [ $n -gt 1 ] || echo "from $(git rev-parse HEAD)"; done
  echo "commit refs/heads/many"; printf 'committer a <a> 1 +0000\ndata 1\nf\nD b\n'
  n=0; while [ $n -lt 20000 ]; do n=$((n+1)); printf 'M 100644 inline many/%s/%s\ndata 2\nx\n\n' $((n % 100)) $n; done
} | git fast-import --quiet
git merge -q --ff-only many; git branch -qD many"#;
    repo.cycle(script).expect(0);
    assert_eq!(repo.newest()["result"], "regressed");
    assert_eq!(repo.content("HEAD"), repo.content(&start));
    assert!(!repo.has("many") && repo.read("b") == "b\n");
    assert!(repo.status().is_empty());
    assert_eq!(
        repo.git(&["rev-list", "--count", &format!("{start}..HEAD")])
            .parse::<u32>()
            .unwrap(),
        10_004
    );
}

/// E-14: nobody is asked for a name, and nothing is signed: a program that signs may wait for a person.
#[test]
fn without_a_name_and_with_signing_on_commits_are_made_all_the_same() {
    let repo = repository();
    let signer = repo.out("signer");
    fs::write(&signer, "#!/bin/sh\ntouch \"$OUT/asked\"\nsleep 300\n").unwrap();
    fs::set_permissions(&signer, fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["user.name", "user.email"] {
        repo.git(&["config", "--unset", name]);
    }
    for (name, value) in [
        ("commit.gpgSign", "true"),
        ("tag.gpgSign", "true"),
        ("gpg.program", signer.to_str().unwrap()),
        ("user.useConfigOnly", "true"),
    ] {
        repo.git(&["config", "--global", name, value]);
    }
    repo.agent_does(&["touch a", "rm b"]);
    let run = repo.run(&["--max-cycles=2"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(repo.each("result"), ["improved", "regressed"]);
    let made = repo.git(&["log", "--format=%an <%ae> %cn %G?", "--max-count=5"]);
    for line in made.lines() {
        assert_eq!(line, "evolve <evolve@localhost> evolve N");
    }
    assert!(!repo.out("asked").exists());
}

/// Who made the commits of a run in which one is of the agent and the others are not: `author, committer` of each of those.
fn makers(repo: &TestRepo) -> Vec<String> {
    repo.agent_does(&["touch a; git add a; GIT_AUTHOR_NAME=Agent git commit -qm work"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let format = "--format=%an <%ae>, %cn <%ce>, %ad";
    let made = repo.git(&["log", format, "--grep=^evolve: "]);
    assert_eq!(made.lines().count(), 2, "{made}");
    made.lines().map(str::to_owned).collect()
}

#[test]
fn commits_are_made_by_whom_the_environment_names() {
    let mut repo = repository();
    for (name, value) in [
        ("GIT_AUTHOR_NAME", "The <Author>"),
        ("GIT_AUTHOR_EMAIL", "author@example.invalid"),
        ("GIT_COMMITTER_EMAIL", "ci@example.invalid"),
        ("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z"),
    ] {
        repo.env.push((name.to_owned(), value.to_owned()));
    }
    let author = "The Author <author@example.invalid>";
    let committer = "Tester <ci@example.invalid>";
    let date = "Tue Feb 3 04:05:";
    for maker in makers(&repo) {
        let wanted = format!("{author}, {committer}, {date}");
        assert!(maker.starts_with(&wanted), "{maker}");
    }
    // Made for somebody else, not again.
    let audited = repo.evolve(&["audit"]).expect(0).stdout;
    assert!(!audited.contains("made again"), "{audited}");
}

#[test]
fn commits_are_made_by_whom_the_settings_that_the_environment_names_say() {
    for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        let mut repo = repository();
        for name in ["user.name", "user.email"] {
            repo.git(&["config", "--unset", name]);
        }
        let settings = repo.outside().join("settings");
        let text = "[user]\n\tname = Jane\n\temail = jane@example.invalid\n";
        fs::write(&settings, text).unwrap();
        for (name, value) in [
            (variable, settings.to_str().unwrap()),
            ("GIT_CONFIG_NOSYSTEM", "0"),
        ] {
            repo.env.push((name.to_owned(), value.to_owned()));
        }
        let jane = "Jane <jane@example.invalid>";
        for maker in makers(&repo) {
            let wanted = format!("{jane}, {jane}, ");
            assert!(maker.starts_with(&wanted), "{variable}: {maker}");
        }
    }
}

/// E-18: no git, or one that cannot do what an undo needs, is told before an agent is called.
#[test]
fn a_git_that_is_missing_or_too_old_is_told_before_an_agent_is_called() {
    for (what, version, said) in [
        (
            "missing",
            "",
            "error: the program `git` is not on the PATH\nhint: install git 2.25 or later\n",
        ),
        (
            "old",
            "2.20.1",
            "error: the program `git` is of version 2.20, which is too old\nhint: install git 2.25 or later\n",
        ),
    ] {
        let mut repo = repository();
        let head = repo.head();
        let git = which::which("git").unwrap();
        let bin = repo.out("bin");
        repo.installs("");
        fs::remove_file(bin.join("git")).unwrap();
        if !version.is_empty() {
            let script = format!(
                "#!/bin/sh\ncase \" $* \" in *' version '*) echo 'git version {version}';; *) exec '{}' \"$@\";; esac\n",
                git.display()
            );
            fs::write(bin.join("git"), script).unwrap();
            fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let run = repo.cycle("touch a");
        assert_eq!(run.code, 3, "{what}: {}", run.stderr);
        assert!(run.stderr.ends_with(said), "{what}: {}", run.stderr);
        assert_eq!(repo.calls(), 0, "{what}");
        let baseline = ".agents/evolve/fitness-0-baseline.json";
        assert!(!repo.has(baseline), "{what}: measured before it was told");
        repo.env.retain(|(name, _)| name != "PATH");
        assert_eq!((repo.head(), repo.has("a")), (head, false), "{what}");
    }
}

/// Variables that a person may have set for their own git, and that say how paths, differences and colours are to be told.
#[test]
fn variables_for_the_users_own_git_change_nothing() {
    for (name, value) in [
        ("GIT_ICASE_PATHSPECS", "1"),
        ("GIT_GLOB_PATHSPECS", "1"),
        ("GIT_NOGLOB_PATHSPECS", "1"),
        ("GIT_EXTERNAL_DIFF", "false"),
        ("GIT_DIFF_OPTS", "-u9"),
        ("GIT_PAGER", "false"),
        ("GIT_NAMESPACE", "other"),
        ("GIT_REFLOG_ACTION", "mine"),
        ("GIT_FLUSH", "0"),
        ("GIT_ATTR_SOURCE", "gone"),
        ("GIT_TRACE", "1"),
    ] {
        let mut repo = repository();
        repo.agent_does(&["touch a; echo 2 >>in/file", "rm b; echo new >in/new"]);
        let plain = repo.env.clone();
        repo.env.push((name.to_owned(), value.to_owned()));
        let run = repo.run(&["--max-cycles=2"]);
        repo.env = plain;
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        assert_eq!(repo.each("result"), ["improved", "regressed"], "{name}");
        assert_eq!(repo.status(), [""; 0], "{name}");
    }
}

#[test]
fn settings_of_the_users_that_may_not_be_read_are_named_with_the_way_out() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).by_normal_user();
    let mode = |mode| fs::set_permissions(repo.home(), PermissionsExt::from_mode(mode));
    mode(0o000).unwrap();
    for arguments in [&["measure"][..], &["--max-cycles=1", "--agent=true"]] {
        let run = repo.evolve(arguments).expect(3);
        let file = repo.home().join(".gitconfig").display().to_string();
        assert!(
            run.stderr.contains(&format!("git reads {file} first")),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("set HOME"), "{}", run.stderr);
    }
    mode(0o755).unwrap();
}
