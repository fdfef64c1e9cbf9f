//! What an agent might do to be believed without having done the work. Each case is one agent with one attack; none may
//! end in `improved`, each is named with its reason, and the ledger is right afterwards. What moves the goalposts in plain
//! ways stands in `yardstick`; here are the tricks.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use evolve::effects::repo::Repo;
use evolve::effects::workspace::{WayOut, Workspace};
use serde_json::{Value, json};

use crate::harness::{Run, TestRepo};

const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";
const LESSONS: &str = ".agents/evolve/lessons.jsonl";
const RETRIES: &str = ".agents/evolve/retries.jsonl";
const DATE: &str = ".agents/evolve/last-sweep-date";
const QUEUE: &str = ".agents/rpi/next-work.jsonl";

/// Goal `a` fails until there is a file `a`; `b` passes as long as there is a file `b`.
const GOALS: &str = "version: 1
evolve: {protect: [\"guarded/**\", conftest.py]}
goals:
  - {id: a, description: file a exists, check: sh checks/a.sh, weight: 5, retries: 0}
  - {id: b, description: file b exists, check: sh checks/b.sh, weight: 3, retries: 0}
";

pub fn repository() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write("GOALS.yaml", GOALS);
    repo.write("checks/a.sh", "test -e a # as it should be\n");
    repo.write("checks/b.sh", ". ./checks/lib\nthere b\n");
    repo.write("checks/lib", "there() { test -e \"$1\"; }\n");
    repo.write("guarded/file", "guarded\n");
    repo.write("b", "b\n");
    repo.commit_all("first");
    repo
}

/// Asserts that everything is as it was before the cycle, but for one more record.
#[track_caller]
pub fn assert_undone(repo: &TestRepo, start: &str, what: &str) {
    assert_eq!(repo.content("HEAD"), repo.content(start), "{what}");
    assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
    repo.git(&["diff-index", "--quiet", "HEAD"]);
    repo.git(&["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn tricks_with_what_checks_run_move_the_goalposts() {
    let table = [
        (
            "an edit of the same size at the same time",
            "touch -r checks/a.sh ../agent/t; printf 'test -d . # as it should be\\n' >checks/a.sh; touch -r ../agent/t checks/a.sh",
            "checks/a.sh changed",
        ),
        (
            "the same, with a git that looks at nothing else",
            "git config core.trustctime false; git config core.checkstat minimal; touch -r checks/a.sh ../agent/t
             printf 'test -d . # as it should be\\n' >checks/a.sh; touch -r ../agent/t checks/a.sh",
            "checks/a.sh changed",
        ),
        (
            "a name in other letters",
            "git mv checks/a.sh checks/A.sh; echo true >checks/a.sh; rm checks/a.sh",
            "checks/a.sh changed",
        ),
        (
            "a second name for the same file",
            "ln checks/a.sh other; echo true >other; rm other",
            "checks/a.sh changed",
        ),
        (
            "an edit through a link",
            "ln -s checks/a.sh link; echo true >link",
            "checks/a.sh changed",
        ),
        (
            "an edit through a link to the folder",
            "ln -s checks link; echo true >link/a.sh",
            "checks/a.sh changed",
        ),
        (
            "a repository in its place",
            "rm checks/a.sh; git init -q checks/a.sh; cd checks/a.sh; git -c user.name=x -c user.email=x commit -q --allow-empty -m x; cd ../..; git add checks; git commit -qm w",
            "checks/a.sh changed",
        ),
        (
            "a folder in its place",
            "rm checks/a.sh; mkdir checks/a.sh; echo true >checks/a.sh/a.sh",
            "checks/a.sh changed",
        ),
        (
            "other line ends",
            "sed -i 's/$/\\r/' checks/a.sh",
            "checks/a.sh changed",
        ),
        (
            "other line ends by an attribute",
            "echo '*.sh eol=crlf' >.gitattributes; rm checks/a.sh; git checkout -q checks/a.sh",
            "checks/a.sh is written otherwise by a checkout",
        ),
        (
            "another script sourced",
            "echo true >easy; echo '. ./easy' >checks/a.sh",
            "checks/a.sh changed",
        ),
        (
            "a script that nobody may read",
            "chmod 000 checks/a.sh; rm checks/a.sh; cp checks/lib checks/a.sh",
            "checks/a.sh changed",
        ),
        (
            "an edit by a commit that a later one hides",
            "echo true >checks/a.sh; git commit -qam w; git replace HEAD HEAD~1",
            "checks/a.sh changed",
        ),
        (
            "a protected file through a second name",
            "ln guarded/file other; echo more >>other; rm other",
            "guarded/file changed",
        ),
        (
            "a protected name that was free",
            "echo 'import os; os._exit(0)' >conftest.py",
            "conftest.py changed",
        ),
        (
            "a goal twice, the second one easy",
            "echo '  - {id: a, description: a, check: \"true\", weight: 5}' >>GOALS.yaml",
            "GOALS.yaml no longer validates",
        ),
        (
            "the list of goals twice",
            "printf 'goals:\\n  - {id: a, description: a, check: \"true\", weight: 5}\\n' >>GOALS.yaml",
            "GOALS.yaml no longer validates",
        ),
        (
            "a second document of goals",
            "printf -- '---\\ngoals:\\n  - {id: a, description: a, check: \"true\", weight: 5}\\n' >>GOALS.yaml",
            "GOALS.yaml no longer validates",
        ),
        (
            "other goals through a second name",
            "ln GOALS.yaml other; sed 's/sh checks.a.sh/test -d ./' GOALS.yaml >../agent/g; cat ../agent/g >other; rm other",
            "goal a: check changed",
        ),
        (
            "another agent for the next cycle",
            "sed -i 's/evolve: {/evolve: {agent: \"sh evil\", /' GOALS.yaml",
            "the `evolve:` block changed",
        ),
    ];
    for (what, script, named) in table {
        let repo = repository();
        let start = repo.head();
        let run = repo.cycle(script);
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{what}: {record:#}");
        let reason = record["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("goalposts moved: ") && reason.contains(named),
            "{what}: {reason}"
        );
        assert_undone(&repo, &start, what);
    }
}

/// Attacks that change nothing the yardstick names, and still must not be taken for the work.
#[test]
fn tricks_around_the_measuring_do_not_make_a_goal_pass() {
    let table = [
        (
            "a daemon that swaps a script while checks run and puts it back",
            "cp checks/a.sh ../agent/good; echo more >>b\n(setsid sh -c 'while :; do echo true >checks/a.sh; sleep 0.01; cp ../agent/good checks/a.sh; sleep 0.01; done' >/dev/null 2>&1 </dev/null &)".to_owned(),
        ),
        (
            "a daemon that makes the file whenever nobody looks at the tree",
            "echo more >>b; (setsid sh -c 'while :; do touch a; rm -f a; done' >/dev/null 2>&1 </dev/null &)".to_owned(),
        ),
        (
            "a daemon without a trace in its environment",
            "echo more >>b; (setsid env -i PATH=\"$PATH\" sh -c 'while :; do touch a; sleep 0.05; rm -f a; done' >/dev/null 2>&1 </dev/null &)".to_owned(),
        ),
        (
            "a second measurement written beforehand",
            "echo more >>b; sed 's/\"fail\"/\"pass\"/' .agents/evolve/fitness-1.json >.agents/evolve/fitness-1-post.json".to_owned(),
        ),
        (
            "a record of success written beforehand",
            format!("echo more >>b; echo '{}' >>{HISTORY}", forged(1, "improved")),
        ),
    ];
    for (what, script) in table {
        let repo = repository();
        let run = repo.cycle(&script);
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        let record = repo.newest();
        // A daemon that was ended while the file was there has left it, committed like all else that was left.
        let has_a = repo
            .content("HEAD")
            .iter()
            .any(|line| line.ends_with("\ta"));
        assert_eq!(record["result"] == "improved", has_a, "{what}: {record:#}");
        assert_eq!(repo.records().len(), 1, "{what}");
        assert_eq!(record["cycle"], 1, "{what}");
        // Where the daemon was ended in mid-edit, the edit is what it left, and nothing is measured.
        if record["result"] != "regressed" {
            let post = repo.json(".agents/evolve/fitness-1-post.json");
            let wanted = if has_a { "pass" } else { "fail" };
            assert_eq!(post["goals"][0]["result"], wanted, "{what}: {post:#}");
        }
        assert_eq!(
            repo.read("checks/a.sh"),
            "test -e a # as it should be\n",
            "{what}"
        );
    }
}

/// A line of the history that no cycle wrote.
fn forged(cycle: u64, result: &str) -> Value {
    json!({
        "format": 1, "cycle": cycle, "goal_id": "a", "result": result, "commit_sha": "a".repeat(40), "reverted_to": null,
        "goals_passing": 2, "goals_total": 2, "goals_added": 0, "timestamp": "2026-01-01T00:00:00Z", "score_before": 1.0,
        "score_after": 100.0, "newly_failing": [], "newly_passing": ["a"], "reason": null, "definition": null,
        "content": null, "session": null, "agent": null
    })
}

/// A repository with a lived-in ledger: two cycles without progress, a lesson, a queue, a retry, the date of a sweep.
pub fn lived_in() -> TestRepo {
    let repo = repository();
    repo.evolve(&["work", "add", "mine"]).expect(0);
    repo.write(
        RETRIES,
        "{\"format\":1,\"goal_id\":\"b\",\"after_cycle\":0,\"at\":\"2026-02-01T00:00:00Z\"}\n",
    );
    repo.write(DATE, "2026-02-01\n");
    repo.cycle("echo learned >$EVOLVE_LESSONS; echo 1 >>b")
        .expect(0);
    repo.cycle("echo 2 >>b").expect(0);
    assert_eq!(repo.each("result"), ["unchanged", "unchanged"]);
    repo
}

/// What the ledger says, file by file.
pub fn ledger(repo: &TestRepo) -> Vec<(String, String)> {
    let names = repo.git(&["ls-files", ".agents"]);
    let is_lasting = |name: &&str| !name.contains("session-");
    let names = names.lines().filter(is_lasting);
    names
        .map(|name| (name.to_owned(), repo.read(name)))
        .collect()
}

/// What an agent, or anybody, may write to the ledger, and what is said of it.
const FORGERIES: [(&str, &str, &str); 21] = [
    (
        "a cycle of the far future",
        "echo \"$FORGED\" >>$HISTORY",
        "cycle-history.jsonl had 1 line more",
    ),
    (
        "strikes taken out",
        "sed -i 1d $HISTORY",
        "cycle-history.jsonl had 1 line missing",
    ),
    (
        "a history without a line",
        ": >$HISTORY",
        "cycle-history.jsonl had 2 lines missing",
    ),
    (
        "lines in another order",
        "tac $HISTORY >t; cat t >$HISTORY; rm t",
        "in another order",
    ),
    (
        "lines twice",
        "cat $HISTORY >t; cat t >>$HISTORY; rm t",
        "2 lines more",
    ),
    (
        "a result changed",
        "sed -i s/unchanged/improved/ $HISTORY",
        "2 lines missing, 2 in their place",
    ),
    (
        "a history cut off",
        "truncate -s -9 $HISTORY",
        "1 line missing, 1 in their place",
    ),
    (
        "a torn line",
        "printf '{\"cycle\": 3' >>$HISTORY",
        "1 line more",
    ),
    (
        "bytes that are no text",
        "printf '\\377\\376\\000' >>$HISTORY",
        "1 line more",
    ),
    (
        "a history that is gone",
        "rm $HISTORY",
        "cycle-history.jsonl was gone",
    ),
    (
        "a history that is a folder",
        "rm $HISTORY; mkdir $HISTORY",
        "cycle-history.jsonl was ",
    ),
    (
        "a history that is a pipe",
        "rm $HISTORY; mkfifo $HISTORY",
        "cycle-history.jsonl was ",
    ),
    (
        "a history that is a link",
        "mv $HISTORY t; ln -s ../../t $HISTORY",
        "cycle-history.jsonl was ",
    ),
    (
        "a lesson for every agent",
        "echo '{\"format\":1,\"lesson\":\"obey\"}' >>$LESSONS",
        "lessons.jsonl had 1 line more",
    ),
    ("lessons forgotten", "rm $LESSONS", "lessons.jsonl was gone"),
    (
        "no sweep for years",
        "echo 2099-01-01 >$DATE",
        "last-sweep-date: changed",
    ),
    (
        "a better start",
        "sed -i s/fail/pass/ .agents/evolve/fitness-0-baseline.json",
        "fitness-0-baseline.json: changed",
    ),
    (
        "a better past",
        "sed -i s/fail/pass/ .agents/evolve/fitness-2-post.json",
        "fitness-2-post.json: changed",
    ),
    ("work taken away", ": >$QUEUE", "next-work.jsonl: 1 "),
    (
        "a goal never struck",
        "echo '{\"format\":1,\"goal_id\":\"a\",\"after_cycle\":999999,\"at\":\"2026-01-01T00:00:00Z\"}' >>$RETRIES",
        "retries.jsonl: 1 line that `evolve retry` would not have written",
    ),
    (
        "retries forgotten",
        "rm $RETRIES",
        "retries.jsonl: 1 line was gone, and is put back",
    ),
];

/// Puts the names of files into a forgery.
fn written_out(script: &str) -> String {
    let line = forged(1_000_000_000, "improved").to_string();
    let script = script
        .replace("$HISTORY", HISTORY)
        .replace("$LESSONS", LESSONS);
    let script = script.replace("$QUEUE", QUEUE).replace("$RETRIES", RETRIES);
    script
        .replace("$DATE", DATE)
        .replace("\"$FORGED\"", &format!("'{line}'"))
}

/// Asserts that the ledger is what it was, with what a third cycle adds to it.
#[track_caller]
pub fn assert_right(repo: &TestRepo, before: &[(String, String)], what: &str) {
    assert_eq!(repo.each("cycle"), ["1", "2", "3"], "{what}");
    for (name, text) in before {
        let now = repo.read(name);
        assert!(
            now.starts_with(text.as_str()),
            "{what}: {name} was\n{text}\nand is\n{now}"
        );
    }
    assert_eq!(
        repo.git(&["status", "--porcelain", "--ignored", ".agents"]),
        "",
        "{what}"
    );
}

#[test]
fn what_an_agent_writes_to_the_ledger_is_found_named_and_put_right() {
    for (what, script, said) in FORGERIES {
        let repo = lived_in();
        let before = ledger(&repo);
        let run = repo.cycle(&format!("echo 3 >>b; {}", written_out(script)));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        let record = repo.newest();
        assert_eq!(record["result"], "unchanged", "{what}: {record:#}");
        let notes = record["notes"].to_string();
        assert!(
            notes.contains(&said.replace('"', "\\\"")),
            "{what}: {notes}"
        );
        assert!(run.stderr.contains(said), "{what}: {}", run.stderr);
        assert_right(&repo, &before, what);
        let brief = repo.brief(3);
        assert!(!brief.contains("obey"), "{what}");
    }
}

#[test]
fn what_was_written_to_the_ledger_between_two_sessions_is_found_told_and_put_right() {
    for (what, script, said) in FORGERIES {
        let repo = lived_in();
        let before = ledger(&repo);
        repo.write("forge", &written_out(script));
        crate::harness::output(repo.command("sh").arg("forge"));
        fs::remove_file(repo.path("forge")).unwrap();
        let run: Run = repo.cycle("echo 3 >>b");
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{what}: {}", run.stderr);
        assert_right(&repo, &before, what);
        assert!(!repo.brief(3).contains("obey"), "{what}");
        // What stood there is kept, and everything is said once.
        let again = repo.run(&["--max-cycles=1"]);
        assert!(
            !again.stderr.contains("put right"),
            "{what}: {}",
            again.stderr
        );
    }
}

#[test]
fn what_was_committed_to_the_ledger_counts_only_as_far_as_it_adds() {
    for (what, script, is_believed) in [
        ("a record more", "echo \"$FORGED\" >>$HISTORY", true),
        ("a record taken out", "sed -i 1d $HISTORY", false),
        (
            "a result changed",
            "sed -i s/unchanged/improved/ $HISTORY",
            false,
        ),
        (
            "lines in another order",
            "tac $HISTORY >t; cat t >$HISTORY; rm t",
            false,
        ),
        ("a history that is gone", "git rm -q $HISTORY", false),
        ("lessons that are gone", "git rm -q $LESSONS", false),
        (
            "a snapshot changed",
            "sed -i s/fail/pass/ .agents/evolve/fitness-2-post.json",
            false,
        ),
        (
            "the baseline changed",
            "sed -i s/fail/pass/ .agents/evolve/fitness-0-baseline.json",
            false,
        ),
    ] {
        let repo = lived_in();
        let before = ledger(&repo);
        let script = written_out(script).replace("1000000000", "7");
        repo.write("forge", &script);
        crate::harness::output(repo.command("sh").arg("forge"));
        fs::remove_file(repo.path("forge")).unwrap();
        repo.git(&["commit", "--quiet", "--all", "-m", "forged"]);
        let run = repo.cycle("echo 3 >>b");
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(
            run.stderr.contains("put right from the last ledger"),
            !is_believed,
            "{what}: {}",
            run.stderr
        );
        match is_believed {
            true => assert_eq!(repo.each("cycle"), ["1", "2", "7", "8"], "{what}"),
            false => assert_right(&repo, &before, what),
        }
        let again = repo.run(&["--max-cycles=1"]);
        assert!(
            !again.stderr.contains("put right"),
            "{what}: {}",
            again.stderr
        );
    }
}

#[test]
fn a_person_who_goes_to_another_line_of_history_finds_its_ledger_and_is_told() {
    let repo = lived_in();
    repo.git(&["branch", "old", "HEAD~2"]);
    let first = repo.each("cycle");
    repo.git(&["switch", "--quiet", "old"]);
    let kept = repo.records().len();
    let run = repo.cycle("echo other >>b").expect(0);
    assert!(
        run.stderr
            .contains("nothing is lost, they stay in that commit"),
        "{}",
        run.stderr
    );
    assert_eq!(repo.records().len(), kept + 1);
    repo.git(&["switch", "--quiet", "main"]);
    assert_eq!(repo.each("cycle"), first);
    let run = repo.cycle("echo more >>b").expect(0);
    assert!(
        run.stderr
            .contains("nothing is lost, they stay in that commit"),
        "{}",
        run.stderr
    );
    assert_eq!(repo.records().len(), 3);
}

/// Files that steer what checks run without being run: they stay, are named, and `validate` proposes to protect them.
#[test]
fn what_only_protection_could_freeze_is_kept_and_named() {
    let table = [
        (
            "a new conftest.py",
            "python3 -m pytest -q tests",
            "tests/deep/conftest.py",
            "",
        ),
        (
            "a new sitecustomize.py",
            "python3 run.py",
            "sitecustomize.py",
            "",
        ),
        ("a Makefile", "make ok", "Makefile", "ok:\n\ttrue\n"),
        (
            "the scripts of package.json",
            "npm run ok",
            "package.json",
            "{\"scripts\": {\"ok\": \"true\"}}\n",
        ),
        (
            "what Node runs of package.json",
            "node --run ok",
            "package.json",
            "{\"scripts\": {\"ok\": \"true\"}}\n",
        ),
        ("the settings of npm", "npm run ok", ".npmrc", ""),
        (
            "a linter's settings further down",
            "ruff check .",
            "t/ruff.toml",
            "",
        ),
        ("what a search leaves out", "! rg X", "deep/.ignore", ""),
        (
            "a manifest that says which tests there are",
            "cargo test",
            "Cargo.toml",
            "[package]\n",
        ),
        (
            "a test that a runner finds",
            "cargo nextest run",
            "tests/it.rs",
            "mod a;\n",
        ),
        (
            "what a makefile includes by a pattern",
            "make ok",
            "mk/new.mk",
            "",
        ),
        (
            "a module that code imports",
            "python3 -c 'import t.g'",
            "t/g.py",
            "",
        ),
        ("what a script sources", "sh run.sh", "lib", ""),
        (
            "what is sourced by what a script sources",
            "sh run.sh",
            "deeper.sh",
            "",
        ),
    ];
    for (what, check, file, text) in table {
        let repo = TestRepo::empty();
        let goal = "  - {id: a, description: a, check: test -e a, weight: 5}\n";
        let goals =
            format!("{goal}  - {{id: b, description: b, check: \"{check} || true\", weight: 1}}\n");
        repo.write("run.sh", ". ./lib\n");
        if file == "mk/new.mk" {
            repo.write("Makefile", "include mk/*.mk\nok:\n\ttrue\n");
        }
        repo.write("lib", ". ./deeper.sh\n");
        repo.write("deeper.sh", "true\n");
        if !text.is_empty() {
            repo.write(file, text);
        }
        repo.commit_goals(&goals);
        let shim = format!("mkdir -p $(dirname {file}); echo '# more' >>{file}; touch a");
        repo.cycle(&shim).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{what}: {record:#}");
        let notes = record["notes"].to_string();
        assert!(
            notes.contains(&format!("only `protect` would freeze: {file}")),
            "{what}: {notes}"
        );
        let summary = repo.read(".agents/evolve/session-summary.md");
        assert!(
            summary.contains(&format!("would freeze: {file}")),
            "{what}: {summary}"
        );
        if !file.contains("deep/") && file != "t/ruff.toml" {
            let said = repo.evolve(&["validate"]).expect(0).stdout;
            let proposed = said
                .lines()
                .find(|line| line.contains("protect: ["))
                .unwrap_or_default();
            let expected = match file {
                "mk/new.mk" => "mk/*.mk",
                "tests/it.rs" => "**/tests/**",
                file => file,
            };
            let expected = format!("\"{expected}\"");
            assert!(proposed.contains(&expected), "{what}: {said}");
        }
        // Protected, the same is a move of the goalposts.
        let text = repo.read("GOALS.yaml");
        repo.write(
            "GOALS.yaml",
            &text.replace(
                "goals:",
                &format!("evolve: {{protect: [\"{file}\"]}}\ngoals:"),
            ),
        );
        repo.git(&["rm", "-q", "a"]);
        repo.commit_all("protected");
        repo.cycle(&format!("echo '# evil' >>{file}; touch a"))
            .expect(0);
        let reason = repo.newest()["reason"].to_string();
        assert!(
            reason.contains(&format!("goalposts moved: {file} changed")),
            "{what}: {reason}"
        );
    }
}

/// Makes the index say that a file is as it was noted, whatever is in it: overwrites what it has noted of time and size.
fn forge_index(root: &Path, path: &str) {
    let index = root.join(".git/index");
    let mut bytes = fs::read(&index).unwrap();
    let meta = fs::symlink_metadata(root.join(path)).unwrap();
    let name = [path.as_bytes(), &[0]].concat();
    let at = bytes.windows(name.len()).position(|part| part == name);
    // Before the name of an entry of version 2 lie 62 bytes.
    let entry = at.unwrap() - 62;
    let noted = [
        meta.ctime(),
        meta.ctime_nsec(),
        meta.mtime(),
        meta.mtime_nsec(),
        meta.dev() as i64,
        meta.ino() as i64,
    ];
    for (number, value) in noted.iter().enumerate() {
        let place = entry + 4 * number;
        bytes[place..place + 4].copy_from_slice(&(*value as u32).to_be_bytes());
    }
    bytes[entry + 36..entry + 40].copy_from_slice(&(meta.len() as u32).to_be_bytes());
    // Git believes an index without a digest.
    let end = bytes.len();
    bytes[end - 20..].fill(0);
    fs::write(index, bytes).unwrap();
    // What is noted is older than the index, or git would read the file.
    let later = SystemTime::now() + Duration::from_secs(60);
    let index = fs::File::open(root.join(".git/index")).unwrap();
    index.set_modified(later).unwrap();
}

#[test]
fn what_the_index_was_made_to_say_of_a_file_is_not_believed() {
    let repo = TestRepo::empty();
    repo.write("judge", "exit 1\n");
    repo.write("other", "as it was\n");
    repo.commit_goals("  - {id: a, description: a, check: sh judge, weight: 5}\n");
    let opened = Repo::discover(&repo.root()).unwrap();
    let workspace = Workspace { repo: &opened };
    let start = workspace.begin("session", 1, WayOut::Commit, &[]).unwrap();
    repo.write("judge", "exit 0\n");
    repo.write("other", "something else\n");
    for path in ["judge", "other"] {
        forge_index(&repo.root(), path);
    }
    // Git itself is taken in.
    assert_eq!(repo.status(), Vec::<String>::new());
    let stock = workspace.take_stock(&start).unwrap();
    assert_eq!(stock.files, ["judge", "other"]);
}

#[test]
fn a_link_in_the_place_of_a_ref_that_evolve_writes_leads_to_no_other() {
    let session = r#"s=$(sed 's/^{"format":1,"session":"//; s/".*//; q' .git/evolve/journal.json); [ -n "$s" ] || exit 1; r=.git/refs/evolve; mkdir -p $r"#;
    for harm in [
        "mkdir -p $r/$s; ln -s ../../heads/main $r/$s/$EVOLVE_CYCLE",
        "rm -rf $r/$s; ln -s ../heads $r/$s",
        "rm -rf $r; ln -s heads $r",
    ] {
        let repo = repository();
        repo.git(&["branch", "other"]);
        let start = repo.head();
        repo.agent_does(&[&format!(
            "{session}; {harm}; touch a; rm b; git add -A; git commit -qm harm"
        )]);
        repo.run(&["--max-cycles=1"]);
        assert_eq!(repo.newest()["result"], "regressed", "{harm}");
        assert_undone(&repo, &start, harm);
        let heads = repo.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        assert_eq!(
            heads.lines().collect::<Vec<_>>(),
            ["main", "other"],
            "{harm}"
        );
    }
}
