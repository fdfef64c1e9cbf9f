//! A search beside agents, gates and measured code that would fool it, or reach what is not theirs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::harness::{TestRepo, finish, is_alive, pid_in, signal_pid};
use crate::search_lineage::STOPS;

/// A repository whose score is what `x` prints.
fn with_program(prints: &str) -> TestRepo {
    let repo = TestRepo::with_number("1");
    repo.write("score.sh", "sh x\n");
    repo.write("x", &format!("echo {prints}\n"));
    repo.commit_all("a program");
    repo
}

#[test]
fn a_folder_in_which_something_is_tracked_is_not_lent() {
    let repo = TestRepo::with_number("1");
    repo.write("data/sample", "mine\n");
    repo.write("data/big.ignored", "7\n");
    repo.commit_all("data");
    repo.attempts(&["echo 2 >x; echo theirs >data/sample"]);
    let agent = format!("--agent={}", repo.agent());
    let words = [
        "search",
        "sh score.sh",
        "--files=**",
        "--link=data",
        "--max-attempts=1",
        &agent,
    ];
    let run = repo.evolve(&words).expect(0);
    assert!(
        run.stderr.contains("data is not lent: git tracks it"),
        "{run:?}"
    );
    assert_eq!(repo.read("data/sample"), "mine\n");
    assert_eq!(repo.of_attempt(1, "data/sample"), "theirs");
    assert_eq!(repo.status(), Vec::<String>::new());
}

/// Searches with what is lent, and says all that was told.
fn search_lent(repo: &TestRepo, fitness: &str, more: &[&str]) -> String {
    let agent = format!("--agent={}", repo.agent());
    let words = ["search", fitness, "--files=x", &agent];
    let run = repo.evolve(&[&words, more].concat()).expect(0);
    run.stdout + &run.stderr
}

#[test]
fn what_an_agent_makes_of_a_lent_file_that_the_commands_run_is_put_back_and_counts_for_nothing() {
    let script = "wc -l <x\n";
    for changes in ["echo 'echo 1000' >tools/score.sh", "rm tools/score.sh"] {
        let repo = TestRepo::with_number("1");
        repo.write(".gitignore", "/tools\n");
        repo.commit_all("tools are ignored");
        repo.write("tools/score.sh", script);
        let line = format!("echo true >>x; {changes}");
        repo.attempts(&[&line, &line]);
        let more = ["--link=tools", "--max-attempts=2", "--direction=max"];
        let told = search_lent(&repo, "sh tools/score.sh", &more);
        let said = "warning: tools/score.sh, which the commands run and copies are lent, was changed while an agent was at work";
        assert_eq!(told.matches(said).count(), 1, "{changes}: {told}");
        assert_eq!(repo.endings(), ["accepted 2", "accepted 3"], "{changes}");
        assert_eq!(repo.read("tools/score.sh"), script, "{changes}");
        assert!(!repo.private().join("search/1/lent").exists(), "{changes}");
    }
}

#[test]
fn what_the_measured_code_writes_to_a_lent_file_is_named_and_its_bytes_are_kept() {
    let repo = TestRepo::with_number("1");
    repo.write(".gitignore", "/tools\n");
    repo.commit_all("tools are ignored");
    repo.write("tools/score.sh", "sh x >/dev/null; wc -l <x\n");
    repo.attempts(&["echo 'echo wc -c x >tools/score.sh' >>x"]);
    let more = ["--link=tools", "--max-attempts=1", "--direction=max"];
    let told = search_lent(&repo, "sh tools/score.sh", &more);
    let said = "tools/score.sh, which the commands run and copies are lent, was written while attempts were measured";
    assert!(told.contains(said), "{told}");
    let kept = repo.quarantined().into_values().map(|(_, bytes)| bytes);
    let before = b"sh x >/dev/null; wc -l <x\n".to_vec();
    assert!(kept.collect::<Vec<_>>().contains(&before));
}

#[test]
fn what_the_commands_build_in_a_lent_folder_is_theirs_also_where_they_build_by_content() {
    let repo = TestRepo::with_number("1");
    repo.write(".gitignore", "/out\n");
    repo.write(
        "build.sh",
        "cmp -s x out/of || { echo \"echo $(cat x)\" >out/score.sh; cp x out/of; }\n",
    );
    repo.commit_all("a build");
    repo.write("out/score.sh", "echo 1\n");
    repo.write("out/of", &repo.read("x"));
    repo.attempts(&["echo 2 >x", "echo 3 >x"]);
    let more = [
        "--gate=sh build.sh",
        "--link=out",
        "--max-attempts=2",
        "--direction=max",
    ];
    let told = search_lent(&repo, "sh build.sh && sh out/score.sh", &more);
    assert!(!told.contains("at work, and is put back"), "{told}");
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
}

#[test]
fn a_module_that_an_agent_puts_beside_a_lent_script_in_place_of_pythons_own_is_taken_away() {
    let repo = TestRepo::with_number("1");
    repo.write(".gitignore", "/tools\n");
    repo.commit_all("tools are ignored");
    repo.write(
        "tools/score.py",
        "import json\nprint(json.loads(open('x').read()))\n",
    );
    repo.attempts(&["echo 2 >x; echo 'loads = lambda text: 1000' >tools/json.py"]);
    let more = ["--link=tools", "--max-attempts=1", "--direction=max"];
    let fitness = "PYTHONDONTWRITEBYTECODE=1 python3 tools/score.py";
    let told = search_lent(&repo, fitness, &more);
    assert!(
        told.contains("came into what copies are lent while an agent was at work, and is taken away: tools/json.py"),
        "{told}"
    );
    assert_eq!(repo.endings(), ["accepted 2"]);
    assert!(!repo.has("tools/json.py"));
}

#[test]
fn what_an_agent_of_a_killed_search_made_of_a_lent_file_is_put_back_by_the_next_command() {
    for (next, ending) in [
        (&["search", "resume"][..], &["accepted 2"][..]),
        (&["search", "discard"], &[]),
    ] {
        what_an_agent_left_is_put_back_by(next, ending);
    }
}

fn what_an_agent_left_is_put_back_by(next: &[&str], ending: &[&str]) {
    let script = "wc -l <x\n";
    let repo = TestRepo::with_number("1").with_out();
    repo.write(".gitignore", "/tools\n");
    repo.commit_all("tools are ignored");
    repo.write("tools/score.sh", script);
    let waits = "echo 'echo 1000' >tools/score.sh; touch $OUT/there; sleep 600";
    let line = format!("test -e $OUT/there || {{ {waits}; }}; echo true >>x");
    repo.attempts(&[&line]);
    let agent = format!("--agent={}", repo.agent());
    let words = [
        "search",
        "sh tools/score.sh",
        "--files=x",
        "--link=tools",
        "--max-attempts=1",
        "--direction=max",
        &agent,
    ];
    let mut search = repo.spawn(&words);
    repo.wait_for("there");
    search.kill().unwrap();
    search.wait().unwrap();
    let run = repo.evolve(next).expect(0);
    let told = run.stdout + &run.stderr;
    let said = "tools/score.sh, which the commands run and copies are lent, was changed while an agent was at work, and is put back";
    assert!(told.contains(said), "{told}");
    assert_eq!(repo.read("tools/score.sh"), script);
    if !ending.is_empty() {
        assert_eq!(repo.endings(), ending);
    }
}

#[test]
fn no_attempt_says_how_git_writes_what_is_frozen() {
    let repo = TestRepo::with_number("1");
    repo.write("score.sh", "wc -c <score.sh\n# $Id$\n");
    repo.write(".gitattributes", "");
    repo.commit_all("a score that grows with its own text");
    repo.attempts(&["echo 'score.sh ident' >.gitattributes"]);
    let agent = format!("--agent={}", repo.agent());
    let search = |files| {
        let words = ["search", "sh score.sh", files, "--max-attempts=1", &agent];
        repo.evolve(&words).expect(0)
    };
    search("--files=**");
    assert_eq!(repo.endings(), ["unchanged 23"]);
    assert!(
        repo.evolve(&["search", "show", "1"])
            .stdout
            .contains(".gitattributes")
    );
    repo.evolve(&["search", "discard"]).expect(0);
    let run = search("--files=.gitattributes");
    assert!(
        run.stderr
            .contains(".gitattributes says how git writes files"),
        "{run:?}"
    );
    assert_eq!(repo.of_attempt(1, ".gitattributes"), "score.sh ident");
}

#[test]
fn what_one_attempt_says_of_how_git_writes_files_counts_for_no_other() {
    let repo = TestRepo::with_number("1");
    repo.write(".gitattributes", "");
    repo.write("data", "a\n");
    repo.write("score.sh", "sh ./y; wc -c <data\n");
    repo.write("y", "\n");
    repo.commit_all("a score that is the size of a file");
    repo.attempts(&[
        "echo 'data text eol=crlf' >.gitattributes; echo 'rm -f data' >y",
        "echo 'data text eol=crlf' >.gitattributes; echo 'exit 0' >y",
        ": >.gitattributes; echo true >y",
    ]);
    let agent = format!("--agent={}", repo.agent());
    let files = ["--files=.gitattributes", "--files=y", "--max-attempts=3"];
    let words = [&["search", "sh score.sh"], &files[..], &[&agent]].concat();
    repo.evolve(&words).expect(0);
    assert_eq!(repo.endings(), ["invalid", "accepted 3", "worse 2"]);
}

#[test]
fn a_copy_of_a_repository_ends_nothing_of_a_search_that_runs_in_the_other() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo $$ >$OUT/pid; until [ -e $OUT/go ]; do sleep 0.1; done; echo 2 >x"]);
    let words = repo.search_words(&["--max-attempts=1"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let child = repo.spawn(&words);
    let agent = pid_in(&repo.out("pid"));
    let copy = repo.outside().join("copy").display().to_string();
    let (from, to) = (repo.path(".").display().to_string(), copy.as_str());
    let copied = std::process::Command::new("cp")
        .args(["-a", &from, to])
        .status();
    assert!(copied.unwrap().success());
    repo.evolve(&["-C", to, "search", "discard"]).expect(0);
    assert!(is_alive(agent));
    fs::write(repo.out("go"), "").unwrap();
    finish(child).expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
}

#[test]
fn what_is_lent_is_in_no_attempt_also_where_git_ignores_it_no_more() {
    let repo = TestRepo::with_number("1");
    repo.write("data.ignored", "7\n");
    repo.attempts(&["echo 2 >x; echo >.gitignore"]);
    let agent = format!("--agent={}", repo.agent());
    let words = [
        "search",
        "sh score.sh",
        "--files=**",
        "--link=data.ignored",
        "--max-attempts=1",
        &agent,
    ];
    repo.evolve(&words).expect(0);
    let tree = ["ls-tree", "-r", "--name-only", "refs/evolve/search/1/1"];
    assert!(!repo.git(&tree).contains("data"), "{}", repo.git(&tree));
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(repo.read("data.ignored"), "7\n");
}

#[test]
fn folders_of_the_commit_have_the_same_mode_for_each() {
    let repo = TestRepo::with_number("1");
    repo.write("out/kept", "");
    repo.write(
        "score.sh",
        "sh x >out/result.ignored || exit 1\ntail -n1 out/result.ignored\n",
    );
    repo.write("x", "echo 1\n");
    repo.commit_all("folders");
    repo.attempts(&[
        "echo 'rm -f out/result.ignored; chmod 555 out; chmod 555 .; echo 2 >&2' >x",
        "echo echo 3 >x",
    ]);
    let repo = repo.by_normal_user();
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings()[1], "accepted 3");
}

#[test]
fn nothing_is_written_through_a_link_that_stands_beside_a_copy() {
    for kind in ["-s", ""] {
        let repo = TestRepo::with_number("1");
        repo.write("mine", "mine\n");
        let link = |name: &str| {
            format!("for f in ../search-*-0.{name}; do rm -f $f; ln {kind} $MAIN/mine $f; done")
        };
        let harm = format!(
            "MAIN=$(dirname $(dirname $(cat .git/objects/info/alternates))); {}; {}; echo $EVOLVE_ATTEMPT >x",
            link("refs"),
            link("index")
        );
        repo.attempts(&[&harm, &harm, "echo 9 >x"]);
        repo.search(&["--max-attempts=3", "--gate=true"]).expect(0);
        assert_eq!(repo.read("mine"), "mine\n", "{kind}");
        assert_eq!(repo.endings()[2], "accepted 9");
    }
}

#[test]
fn refs_of_attempts_that_an_agent_removes_or_moves_are_set_again_and_told() {
    for harm in ["update-ref -d $r", "update-ref $r HEAD~1"] {
        let repo = TestRepo::with_number("1");
        repo.write("other", "");
        repo.commit_all("another");
        let harm = format!(
            "G=\"git --git-dir=$(dirname $(cat .git/objects/info/alternates))\"; \
             for r in $($G for-each-ref --format='%(refname)' refs/evolve); do $G {harm}; done; echo 3 >x"
        );
        repo.attempts(&["echo 5 >x", &harm]);
        let run = repo.search(&["--max-attempts=2"]).expect(0);
        assert!(
            run.stderr.contains("removed or moved refs of this search"),
            "{run:?}"
        );
        repo.git(&["reflog", "expire", "--expire=now", "--all"]);
        repo.git(&["gc", "-q", "--prune=now"]);
        repo.evolve(&["search", "apply"]).expect(0);
        assert_eq!(repo.read("x").trim(), "5");
    }
}

#[test]
fn a_goal_whose_check_builds_is_a_gate_in_a_sandbox_too() {
    let repo = TestRepo::with_number("1");
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - id: builds\n    description: it builds\n    weight: 1\n    check: 'echo >made.ignored'\n",
    );
    repo.write(
        "SEARCH.yaml",
        "fitness: sh score.sh\nfiles: [x]\nsandbox: {mode: auto, require: true, checks: true}\n",
    );
    repo.commit_all("a goal that writes");
    repo.attempts(&["echo 2 >x"]);
    let run = repo
        .search(&["--goals-as-gates", "--max-attempts=1"])
        .expect(0);
    assert!(
        run.stdout.contains("1 of 1 goals are gates: builds"),
        "{run:?}"
    );
}

#[test]
fn an_apply_is_not_fooled_by_an_agent_that_killed_evolve() {
    let folder = "$(dirname \"$EVOLVE_CALL\")/..";
    let landing = r#"{\"branch\":\"refs/heads/main\",\"from\":\"$h~1\",\"to\":\"$h\"}"#;
    let repo = TestRepo::with_number("1");
    let harm = format!(
        "sed -i 's/\\[2.0\\]/[999.0]/' {folder}/lineage.jsonl; \
         sed -i 's/\"gates\":\\[[^]]*\\]/\"gates\":[]/' {folder}/lineage.jsonl; \
         h={}; echo \"{landing}\" >{folder}/../applying.json; echo $$ >$OUT/pid; sleep 600",
        repo.head()
    );
    repo.attempts(&["echo 2 >x", &harm]);
    let gate = "--gate=echo gate >>$OUT/gates";
    let words = repo.search_words(&["--max-attempts=2", gate]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let child = repo.spawn(&words);
    pid_in(&repo.out("pid"));
    signal_pid(child.id(), "KILL");
    finish(child);
    let gates = repo.said("gates").lines().count();
    let run = repo.evolve(&["search", "apply"]).expect(0);
    assert!(run.stderr.contains("it is as it was"), "{run:?}");
    assert_eq!(repo.read("x"), "2\n");
    assert_eq!(repo.said("gates").lines().count(), gates + 1);
    let message = repo.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("Evolve-Score: 2\n"), "{message}");
}

#[test]
fn nothing_is_changed_behind_a_link_that_stands_for_a_copy() {
    let repo = TestRepo::with_number("1");
    let locked = repo.out("outside/locked");
    let swap = "mkdir -p $OUT/outside/locked; chmod 500 $OUT/outside/locked; d=$PWD; cd /; rm -rf \"$d\"; ln -s $OUT/outside \"$d\"";
    repo.attempts(&[swap, "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings(), ["agent failed", "accepted 3"]);
    let mode = fs::metadata(locked).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o500);
}

#[test]
fn where_a_search_was_killed_whole_its_agent_is_ended_before_another_one_begins() {
    // Nor does an agent say which session that was.
    let says = "echo another >\"$(dirname \"$EVOLVE_CALL\")/../../../search.session\"";
    for before in ["true", says] {
        killed_whole(before);
    }
}

fn killed_whole(before: &str) {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[&format!(
        "if mkdir $OUT/first; then {before}; echo $$ >$OUT/pid; sleep 600; fi; echo 2 >x"
    )]);
    let words = repo.search_words(&["--max-attempts=1"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let child = repo.spawn(&words);
    let agent = pid_in(&repo.out("pid"));
    // From the inside out, each stopped before the one within dies: nobody is left who could end the agent.
    let above = ancestors(agent, child.id());
    for pid in above.iter().rev() {
        signal_pid(*pid, "STOP");
    }
    for pid in above {
        signal_pid(pid, "KILL");
    }
    finish(child);
    assert!(is_alive(agent));
    let own = repo.private().join("search/1/own/own-7");
    fs::create_dir_all(&own).unwrap();
    repo.resume().expect(0);
    assert!(!own.exists());
    assert!(!is_alive(agent));
    assert_eq!(repo.endings(), ["accepted 2"]);
}

/// Lists the processes between one and the first that is above it, this one included, from the inside out.
fn ancestors(pid: u32, first: u32) -> Vec<u32> {
    let mut above = vec![parent(pid)];
    while above.last() != Some(&first) {
        above.push(parent(above[above.len() - 1]));
    }
    above
}

fn parent(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after_name = stat.rsplit(") ").next().unwrap();
    after_name.split(' ').nth(1).unwrap().parse().unwrap()
}

/// What writes a score into every copy that is measured in, once this measurement is over, out of its session and without its
/// mark.
const ESCAPES: &str = "env -i setsid sh -c 'sleep 1; for i in $(seq 100); do for f in ../search-measure-*/val; do echo 777 >$f; done; sleep 0.05; done' >/dev/null 2>&1 &";
/// What kills the process that keeps a measurement together.
const KILLS_ITS_KEEPER: &str = "p=$PPID; until grep -qa __keep /proc/$p/cmdline; do p=$(cut -d' ' -f4 /proc/$p/stat); done; kill -9 $p";

#[test]
fn what_escapes_from_one_measurement_does_not_outlive_it_while_others_run() {
    for (more, first) in [("", "accepted 2"), (KILLS_ITS_KEEPER, "invalid")] {
        let repo = TestRepo::with_number("1");
        repo.write("score.sh", "sh x; sleep 0.5; cat val\n");
        repo.write("x", "\n");
        repo.write("val", "1\n");
        repo.commit_all("a slow score");
        repo.attempts(&[
            &format!("cat >x <<'END'\n{ESCAPES}\n{more}\nEND\necho 2 >val"),
            "echo >x; echo 1.$EVOLVE_ATTEMPT >val",
        ]);
        let agent = format!("--agent={}", repo.agent());
        let words = [
            "search",
            "sh score.sh",
            "--files",
            "x",
            "val",
            "--agents=3",
            "--benchmarks=2",
            "--max-attempts=8",
            "--stale=off",
            "--seed=1",
            &agent,
        ];
        repo.evolve(&words).expect(0);
        let endings = repo.endings();
        assert!(endings[0].starts_with(first), "{endings:?}");
        for (index, ending) in endings.iter().enumerate().skip(1) {
            let own = format!(" 1.{}", index + 1);
            assert!(ending.ends_with(&own), "{more}: {endings:?}");
        }
    }
}

#[test]
fn what_was_edited_after_a_killed_apply_is_an_edit_of_what_was_applied() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let to = repo.git(&["rev-parse", "refs/evolve/search/1/1"]);
    let landing =
        serde_json::json!({"branch": "refs/heads/main", "from": repo.head(), "to": to.trim()});
    let begun = repo.applying();
    fs::write(&begun, landing.to_string()).unwrap();
    repo.git(&["update-ref", "refs/heads/main", to.trim()]);
    repo.write("x", "mine\n");
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(repo.read("x"), "mine\n");
    assert_eq!(repo.status(), [" M x"]);
}

#[test]
fn a_link_for_a_folder_of_what_stays_is_left_out_and_the_rest_counts() {
    let repo = TestRepo::with_number("1");
    repo.write("tests/score.sh", "cat x\n");
    repo.commit_all("tests");
    repo.attempts(&[
        "rm -r tests; mkdir mine; echo echo 9 >mine/score.sh; ln -s mine tests; echo 2 >x",
        "rm tests/score.sh; mkdir tests/score.sh; echo echo 9 >tests/score.sh/a; echo 3 >x",
    ]);
    let agent = format!("--agent={}", repo.agent());
    let words = [
        "search",
        "sh tests/score.sh",
        "--files=**",
        "--max-attempts=2",
        &agent,
    ];
    repo.evolve(&words).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
    let lineage = repo.lineage();
    let left_out = |id| lineage.attempt(id).edited().unwrap().left_out.join(" ");
    assert_eq!(
        [1, 2].map(left_out),
        ["tests/score.sh tests", "tests/score.sh tests/score.sh/a"]
    );
}

#[test]
fn a_link_that_leads_out_of_the_repository_is_left_out() {
    let repo = TestRepo::with_number("1");
    repo.write(".gitignore", "/build/\n");
    repo.commit_all("ignore");
    repo.attempts(&[
        "mkdir build; echo 9 >build/x; ln -sf \"$PWD/build/x\" x",
        "echo 3 >../own; ln -sf ../own x",
        "echo 4 >y; ln -sf y x",
    ]);
    let agent = format!("--agent={}", repo.agent());
    let words = ["search", "cat x", "--files=**", "--max-attempts=3", &agent];
    repo.evolve(&words).expect(0);
    let lineage = repo.lineage();
    let left_out = |id| {
        let edited = lineage.attempt(id).edited();
        edited.map_or_else(String::new, |it| it.left_out.join(" "))
    };
    assert_eq!(
        [1, 2, 3].map(left_out),
        ["x", "x", ""],
        "{:?}",
        repo.endings()
    );
    assert_eq!(repo.endings()[2], "accepted 4");
}

#[test]
fn a_goal_that_is_a_gate_has_its_own_limit_of_time() {
    let repo = TestRepo::with_number("1");
    repo.write(
        "GOALS.yaml",
        "version: 1\nmission: m\ngoals:\n  - {id: slow, description: d, weight: 1, check: sleep 1.5, timeout: 30s}\n",
    );
    repo.commit_all("goals");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--goals-as-gates", "--timeout=1s", "--max-attempts=1"])
        .expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
}

#[test]
fn more_at_once_than_there_can_be_is_refused() {
    let repo = with_program("1");
    for option in ["--agents", "--benchmarks", "--repeats"] {
        let option = format!("{option}=18446744073709551615");
        let said = repo.search(&[&option]).expect(2).stderr;
        assert!(said.contains("from 1 to 1000"), "{said}");
    }
}

#[test]
fn a_resume_that_is_refused_changes_nothing_of_the_search() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[STOPS, "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    let folder = repo.private().join("search/1");
    let lineage = folder.join("lineage.jsonl");
    let stopped = fs::read_to_string(&lineage).unwrap();
    assert!(stopped.contains(r#""why":"stopped""#), "{stopped}");
    fs::write(folder.join("stop"), "").unwrap();
    repo.evolve(&["search", "resume", "--agent=no-such-agent-here"])
        .expect(4);
    assert_eq!(fs::read_to_string(&lineage).unwrap(), stopped);
    assert!(folder.join("stop").exists());
}
