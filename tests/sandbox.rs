//! The sandbox around agent and checks: real Landlock, real bubblewrap. What is not to be written has a canary in it.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use evolve::model::schema;
use serde_json::Value;

use crate::harness::{Run, TestRepo, copy_program, finish, output, wait_until, write_program};

const GOALS: &str = "  - {id: a, description: file a exists, check: test -e a, weight: 5}\n";

/// Tries to write everywhere and makes `a`; what could be done it tells in the repository.
const ROAM: &str = r#"
try() { (eval "$2") >/dev/null 2>&1 && echo "$1" >>done-here; }
try home 'echo x >>"$HOME/canary"'
try home-new 'echo x >"$HOME/new"'
try home-empty 'truncate -s 0 "$HOME/canary"'
try home-remove 'rm "$HOME/canary"'
try home-replace 'mv canary-of-mine "$HOME/canary"'
try sibling 'echo x >>"$OUT/canary"'
try sibling-take 'mv "$OUT/canary" moved'
try sibling-link 'ln "$OUT/canary" linked && echo x >>linked'
try mode 'chmod 600 "$HOME/canary"'
try kill-file 'rm "$HOME/.config/evolve/config.yaml"'
try private 'echo x >.git/evolve/x'
try hooks 'echo x >.git/hooks/post-commit'
try config 'git config a.b c'
try frozen 'echo exit 0 >check.sh'
try temporary 'f=$(mktemp) && echo x >"$f"'
try repository 'mkdir -p src && echo x >src/x && mv src/x y && rm y'
try devices 'echo x >/dev/null && echo x >/dev/stderr'
try outbox 'echo learned >"$EVOLVE_LESSONS"'
try commit 'git add done-here && git commit -qm work'
echo made >a
"#;

/// A repository with a home and a sibling folder whose files a script may try to change.
fn repo() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write("check.sh", "test -e a\n");
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: file a exists, check: sh check.sh, weight: 5}\n",
    );
    repo.commit_all("first");
    fs::create_dir_all(repo.home().join(".config/evolve")).unwrap();
    fs::write(repo.home().join(".config/evolve/config.yaml"), "jobs: 1\n").unwrap();
    for canary in [repo.home().join("canary"), repo.out("canary")] {
        fs::write(canary, "mine\n").unwrap();
    }
    repo
}

/// The canaries are as they were.
#[track_caller]
fn canaries_live(repo: &TestRepo) {
    for canary in [repo.home().join("canary"), repo.out("canary")] {
        assert_eq!(fs::read_to_string(canary).unwrap(), "mine\n");
    }
    assert!(!repo.home().join("new").exists());
}

/// What a script says it did.
fn done(repo: &TestRepo) -> Vec<String> {
    repo.read("done-here").lines().map(str::to_owned).collect()
}

#[track_caller]
fn roams(repo: &TestRepo, arguments: &[&str]) -> (Vec<String>, Run) {
    repo.agent_does(&[ROAM]);
    let run = repo
        .run(&[&["--max-cycles=1"], arguments].concat())
        .expect(0);
    let story = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(repo.each("result"), ["improved"], "{story}");
    (done(repo), run)
}

/// The one line that says what protects whom.
#[track_caller]
fn header(run: &Run) -> &str {
    let mut lines = run.stdout.lines();
    let line = lines.find_map(|line| line.strip_prefix("protections: "));
    line.unwrap_or_else(|| panic!("no header\n{}{}", run.stdout, run.stderr))
}

#[test]
fn an_agent_under_landlock_writes_only_to_the_repository_and_its_temporary_folder() {
    let repo = repo();
    repo.agent_does(&[&ROAM.replace("try frozen", "false try frozen")]);
    let run = repo
        .run(&["--max-cycles=1", "--sandbox=landlock"])
        .expect(0);
    assert_eq!(repo.each("result"), ["improved"], "{}", run.stdout);
    // All of .git stays writable: that is what landlock cannot do, and the header says so.
    assert_eq!(
        done(&repo),
        [
            // Modes, owners and times are not what landlock is about.
            "mode",
            "private",
            "hooks",
            "config",
            "temporary",
            "repository",
            "devices",
            "outbox",
            "commit"
        ]
    );
    canaries_live(&repo);
    assert_eq!(
        header(&run),
        "landlock: the agent may write only to the repository and a temporary folder; all of .git stays writable; sockets of other programs (tmux, Docker, a desktop) can be reached; its git cannot push"
    );
}

#[test]
fn an_agent_in_bubblewrap_writes_neither_elsewhere_nor_to_what_git_checks_and_evolve_obey() {
    let repo = repo();
    let (done, run) = roams(&repo, &["--sandbox=bwrap"]);
    assert_eq!(
        done,
        ["temporary", "repository", "devices", "outbox", "commit"]
    );
    canaries_live(&repo);
    assert_eq!(
        header(&run),
        "bwrap: the agent may write only to the repository and a temporary folder; its git cannot push"
    );
    let lessons = repo.read(".agents/evolve/lessons.jsonl");
    assert!(lessons.contains("learned"), "{lessons}");
}

#[test]
fn in_a_slot_both_keep_the_agent_out_of_the_repository_itself() {
    for mode in ["landlock", "bwrap"] {
        let repo = repo();
        let user = repo.root().display().to_string();
        repo.agent_does(&[&format!(
            "cd \"${{EVOLVE_LESSONS%/.agents/*}}\" || exit 1\n(echo x >'{user}/.git/hooks/x') && echo hooks >>done-here\n\
             (echo x >'{user}/x') && echo tree >>done-here\n(echo x >\"$HOME/canary\") && echo home >>done-here\n\
             echo made >a; echo slot >>done-here\n"
        )]);
        let run = repo
            .run(&["--max-cycles=1", "--isolate", &format!("--sandbox={mode}")])
            .expect(0);
        let story = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(repo.each("result"), ["improved"], "{story}");
        assert_eq!(done(&repo), ["slot"], "{mode}");
        assert!(!header(&run).contains(".git"), "{}", header(&run));
        canaries_live(&repo);
    }
}

#[test]
fn a_search_says_that_its_agents_may_write_only_to_their_copies() {
    for mode in ["landlock", "bwrap"] {
        let repo = TestRepo::with_number("1");
        let user = repo.root().display().to_string();
        repo.attempts(&[&format!(
            "(echo 9 >'{user}/.git/x') || (echo 9 >'{user}/x') || echo 2 >x"
        )]);
        let mode = format!("--sandbox={mode}");
        let run = repo.search(&["--max-attempts=1", &mode]).expect(0);
        assert_eq!(repo.endings(), ["accepted 2"], "{run:?}");
        let line = header(&run);
        assert!(
            line.contains(": the agent may write only to its copy and a temporary folder"),
            "{line}"
        );
        assert!(!line.contains(".git"), "{line}");
    }
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    let line = "the agent works in a copy of its own; no sandbox: the agent may write wherever you may; its git cannot push";
    assert_eq!(header(&run), line);
}

#[test]
fn nothing_is_held_back_and_that_is_said_unless_a_sandbox_is_asked_for() {
    let repo = repo();
    repo.agent_does(&["echo x >>\"$HOME/canary\"; [ -z \"$TMPDIR\" ] && echo made >a"]);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(header(&run).starts_with("no sandbox: "), "{}", header(&run));
    let home = fs::read_to_string(repo.home().join("canary")).unwrap();
    assert_eq!(home, "mine\nx\n");
}

#[test]
fn named_caches_are_made_and_may_be_written_and_evolves_own_folder_in_them_may_not() {
    for mode in ["landlock", "bwrap"] {
        let repo = repo();
        repo.write(
            "GOALS.yaml",
            &format!(
                "version: 1\nevolve:\n  sandbox: {{mode: {mode}, write: [$XDG_CACHE_HOME/tool/, ~/canary, ~/missing]}}\ngoals:\n{GOALS}"
            ),
        );
        repo.commit_all("goals");
        let (done, run) = roams(&repo, &[]);
        let home = ["home", "home-empty"].map(str::to_owned);
        assert!(done.starts_with(&home), "{done:?}");
        assert!(!done.contains(&"home-remove".to_owned()), "{done:?}");
        assert!(repo.home().join(".cache/tool").is_dir());
        assert!(!repo.home().join("missing").exists());
        let line = header(&run);
        assert!(
            line.contains("a temporary folder, $XDG_CACHE_HOME/tool/ and ~/canary;"),
            "{line}"
        );
    }
    let repo = repo();
    let goals = format!(
        "version: 1\nevolve:\n  sandbox: {{mode: bwrap, write: [~/.config]}}\ngoals:\n{GOALS}"
    );
    repo.write("GOALS.yaml", &goals);
    repo.commit_all("goals");
    let (done, _) = roams(&repo, &[]);
    assert!(!done.contains(&"kill-file".to_owned()), "{done:?}");
}

#[test]
fn an_agent_in_a_sandbox_cannot_signal_evolve_and_evolve_can_end_the_agent() {
    for mode in ["landlock", "bwrap"] {
        let repo = repo();
        // Whoever is its parent, whoever holds the lock, and everybody it can see outside.
        repo.agent_does(&["read pid rest <.git/evolve/lock\nfor victim in $PPID $pid; do kill -9 \"$victim\" 2>/dev/null && [ $victim != 1 ] && echo \"$victim\" >>done-here; done\n\
             for victim in $PPID $pid; do kill -TERM \"$victim\" 2>/dev/null && [ $victim -gt 3 ] && echo \"$victim\" >>done-here; done\n\
             trap '' TERM; echo made >a; exec sleep 1000"]);
        let goals = repo.read("GOALS.yaml");
        let agent = repo.agent();
        repo.write(
            "GOALS.yaml",
            &format!("{goals}evolve:\n  sandbox: {mode}\n  agent: {{command: [sh, -c, 'exec {agent}'], timeout: 2s}}\n"),
        );
        repo.commit_all("agent");
        let run = repo.evolve(&["--max-cycles=1"]).expect(0);
        let story = format!("{mode}\n{}{}", run.stdout, run.stderr);
        assert_eq!(repo.newest()["agent"]["status"], "timed out", "{story}");
        assert!(!repo.has("done-here"), "{story}");
        assert_eq!(repo.each("result"), ["improved"], "{story}");
    }
}

#[test]
fn an_agent_in_a_sandbox_gets_only_the_variables_that_are_named_and_cannot_read_those_of_evolve() {
    for mode in ["landlock", "bwrap"] {
        let mut repo = repo();
        let secret = ("SECRET_OF_MINE".to_owned(), "canary-7f3a".to_owned());
        repo.env.push(secret);
        let goals = repo.read("GOALS.yaml");
        repo.write(
            "GOALS.yaml",
            &format!("{goals}evolve:\n  sandbox: {{mode: {mode}, env: [OUT, OTHER]}}\n"),
        );
        repo.commit_all("sandbox");
        repo.agent_does(&["env >environment\nread pid rest <.git/evolve/lock\n\
             (tr '\\0' '\\n' <\"/proc/$pid/environ\") 2>/dev/null >>environment\necho made >a\n"]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        let story = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(repo.each("result"), ["improved"], "{story}");
        let environment = repo.read("environment");
        assert!(!environment.contains("canary-7f3a"), "{mode}");
        for needed in ["PATH=", "HOME=", "OUT=", "EVOLVE_BRIEF="] {
            assert!(environment.contains(needed), "{needed}");
        }
    }
}

/// A server on this machine, and the command that asks it.
fn server() -> (TcpListener, String) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    (
        server,
        format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"),
    )
}

#[test]
fn the_network_is_open_until_it_is_closed_for_checks_or_for_all() {
    let (_server, ask) = server();
    for mode in ["landlock", "bwrap"] {
        for (network, agent_gets_out, check_gets_out) in [
            ("all", true, true),
            ("agent", true, false),
            ("none", false, false),
        ] {
            let repo = TestRepo::empty();
            repo.write(
                "GOALS.yaml",
                &format!(
                    "version: 1\nevolve:\n  sandbox: {{mode: {mode}, checks: true, network: {network}}}\ngoals:\n{GOALS}  \
                     - {{id: net, description: the server answers, check: \"{ask}\", weight: 1}}\n"
                ),
            );
            repo.commit_all("goals");
            repo.agent_does(&[&format!(
                "if {ask} 2>/dev/null; then echo out >a; else echo in >a; fi"
            )]);
            let run = repo.run(&["--max-cycles=1"]).expect(0);
            let story = format!("{mode} {network}\n{}{}", run.stdout, run.stderr);
            assert_eq!(
                repo.read("a").trim(),
                if agent_gets_out { "out" } else { "in" },
                "{story}"
            );
            let passing = repo.newest()["goals_passing"].as_u64().unwrap();
            assert_eq!(passing, 1 + u64::from(check_gets_out), "{story}");
        }
    }
}

#[test]
fn checks_are_held_back_where_asked_for_in_measure_too() {
    for (mode, is_held_back) in [("none", false), ("landlock", true), ("bwrap", true)] {
        let repo = repo();
        repo.write(
            "GOALS.yaml",
            &format!(
                "version: 1\nevolve:\n  sandbox: {{mode: {mode}, checks: true}}\ngoals:\n  \
                 - {{id: out, description: writes outside, check: touch \"$OUT/made\", weight: 5}}\n  \
                 - {{id: in, description: writes inside, check: \"touch made && f=$(mktemp) && echo x >$f\", weight: 5}}\n"
            ),
        );
        repo.commit_all("goals");
        let run = repo.evolve(&["measure", "--json"]).expect(0);
        let snapshot: Value = serde_json::from_str(&run.stdout).unwrap();
        let passing = snapshot["goals_passing"].as_u64().unwrap();
        assert_eq!(
            passing,
            2 - u64::from(is_held_back),
            "{mode}: {}",
            run.stdout
        );
        assert_eq!(repo.out("made").exists(), !is_held_back);
    }
}

#[test]
fn a_check_that_an_agent_measures_inside_its_sandbox_is_measured_there() {
    for mode in ["landlock", "bwrap"] {
        let repo = repo();
        let goals = repo.read("GOALS.yaml");
        repo.write(
            "GOALS.yaml",
            &format!("{goals}evolve:\n  sandbox: {{mode: {mode}, checks: true, require: true}}\n"),
        );
        repo.commit_all("sandbox");
        let evolve = env!("CARGO_BIN_EXE_evolve");
        repo.agent_does(&[&format!(
            "echo made >a; {evolve} measure --gate && echo measured >done-here"
        )]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert!(
            repo.has("done-here"),
            "{mode}\n{}{}",
            run.stdout,
            run.stderr
        );
    }
}

#[test]
fn what_is_left_running_in_bubblewrap_is_gone_with_the_agent() {
    let repo = repo();
    repo.agent_does(&["mkfifo pipe; env -i setsid sh -c 'echo up >pipe; exec sleep 1000.5' & read line <pipe; rm pipe; echo made >a"]);
    repo.run(&["--max-cycles=1", "--sandbox=bwrap"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    let lives = |entry: fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line == b"sleep\x001000.5\x00"
    };
    assert!(!fs::read_dir("/proc").unwrap().flatten().any(lives));
}

/// A PATH with everything that is needed and no bubblewrap.
fn without_bwrap(repo: &mut TestRepo) {
    repo.installs("");
    for tool in ["mktemp", "truncate", "mv", "ln", "mkdir", "env", "tr"] {
        let bin = repo.out("bin").join(tool);
        symlink(which::which(tool).unwrap(), bin).unwrap();
    }
}

#[test]
fn a_required_sandbox_that_is_not_to_be_had_ends_the_run_before_anything_is_written() {
    let mut repo = repo();
    without_bwrap(&mut repo);
    repo.agent_does(&["echo made >a"]);
    let head = repo.head();
    for arguments in [
        &["--require-sandbox", "--sandbox=bwrap"][..],
        &["--dry-run", "--require-sandbox", "--sandbox=bwrap"],
    ] {
        let run = repo.run(arguments).expect(2);
        assert!(
            run.stderr.contains("a sandbox is required"),
            "{}",
            run.stderr
        );
        assert!(
            run.stderr.contains("hint: bwrap: not installed\n"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("install bubblewrap"), "{}", run.stderr);
    }
    assert_eq!(
        (repo.calls(), repo.head(), repo.has(".agents")),
        (0, head, false)
    );
}

#[test]
fn a_sandbox_that_is_not_to_be_had_and_not_required_is_warned_of_and_done_without() {
    let mut repo = repo();
    without_bwrap(&mut repo);
    repo.agent_does(&["echo x >>\"$HOME/canary\"; echo made >a"]);
    let run = repo.run(&["--max-cycles=1", "--sandbox=bwrap"]).expect(0);
    assert!(
        run.stderr.contains("warning: no sandbox, although one is asked for: bwrap: not installed; --require-sandbox would not run then\n"),
        "{}", run.stderr
    );
    assert!(header(&run).starts_with("no sandbox: "), "{}", header(&run));
    assert_eq!(repo.each("result"), ["improved"]);
}

/// The instructions that make the kernel answer as one without Landlock does: ENOSYS to `landlock_create_ruleset`.
fn filter(repo: &TestRepo) -> PathBuf {
    let program: [(u16, u8, u8, u32); 4] = [
        (0x20, 0, 0, 0),           // the number of the system call
        (0x15, 0, 1, 444),         // is it that one?
        (0x06, 0, 0, 0x0005_0026), // ENOSYS
        (0x06, 0, 0, 0x7fff_0000), // as always
    ];
    let bytes = program.iter().flat_map(|(code, yes, no, value)| {
        [&code.to_ne_bytes()[..], &[*yes, *no], &value.to_ne_bytes()].concat()
    });
    let path = repo.out("filter");
    fs::write(&path, bytes.collect::<Vec<u8>>()).unwrap();
    path
}

/// Runs the program on a kernel that has no Landlock, as far as the program can tell.
fn without_landlock(repo: &TestRepo, arguments: &[&str]) -> Run {
    let bwrap = which::which("bwrap").expect("install bubblewrap for this test");
    let mut command = repo.command("sh");
    command.args(["-c", "exec 9<\"$0\" && exec \"$@\""]);
    command.arg(filter(repo)).arg(bwrap);
    command.args(["--dev-bind", "/", "/", "--seccomp", "9", "--"]);
    command.arg(env!("CARGO_BIN_EXE_evolve")).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().unwrap())
}

/// The sandbox that a run would have, and which of the two work here, as `evolve status` tells it.
#[track_caller]
fn told(run: Run) -> (String, [bool; 2]) {
    let run = run.expect(0);
    let status: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(schema::check("status", &status), Ok(()));
    let works = |sandbox: &str| {
        let all = status["sandboxes"].as_array().unwrap();
        let one = all.iter().find(|one| one["sandbox"] == sandbox).unwrap();
        one["works"].as_bool().unwrap()
    };
    let sandbox = status["protections"]["sandbox"].as_str().unwrap();
    (sandbox.to_owned(), [works("bwrap"), works("landlock")])
}

#[test]
fn auto_is_bubblewrap_if_it_works_else_landlock_else_nothing() {
    let mut repo = repo();
    let config = repo.home().join(".config/evolve/config.yaml");
    fs::write(config, "sandbox: auto\n").unwrap();
    let status = ["status", "--json"];
    let with_both = told(repo.evolve(&status));
    assert_eq!(with_both, ("bwrap".to_owned(), [true, true]));
    let with_bwrap = told(without_landlock(&repo, &status));
    assert_eq!(with_bwrap, ("bwrap".to_owned(), [true, false]));
    without_bwrap(&mut repo);
    let with_landlock = told(repo.evolve(&status));
    assert_eq!(with_landlock, ("landlock".to_owned(), [false, true]));
    let with_none = told(without_landlock(&repo, &status));
    assert_eq!(with_none, ("none".to_owned(), [false, false]));
    let page = without_landlock(&repo, &["status"]).expect(0).stdout;
    assert!(
        page.contains("sandboxes  bwrap: not installed; landlock: this kernel has none"),
        "{page}"
    );

    let agent = format!("--agent={}", repo.agent());
    let run = without_landlock(&repo, &[&agent, "--require-sandbox"]).expect(2);
    for why in [
        "hint: bwrap: not installed\n",
        "hint: landlock: this kernel has none",
    ] {
        assert!(run.stderr.contains(why), "{}", run.stderr);
    }
    let run =
        without_landlock(&repo, &[&agent, "--require-sandbox", "--sandbox=landlock"]).expect(2);
    assert!(
        !run.stderr.contains("bwrap: not installed"),
        "{}",
        run.stderr
    );
}

#[test]
fn bubblewrap_that_is_installed_and_does_not_work_counts_as_missing() {
    let mut repo = repo();
    without_bwrap(&mut repo);
    let bwrap = repo.out("bin/bwrap");
    fs::write(
        &bwrap,
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
    )
    .unwrap();
    fs::set_permissions(&bwrap, fs::Permissions::from_mode(0o755)).unwrap();
    repo.agent_does(&["echo made >a"]);
    let run = repo.run(&["--max-cycles=1", "--sandbox=auto"]).expect(0);
    assert!(header(&run).starts_with("landlock: "), "{}", header(&run));
    let run = repo
        .run(&["--require-sandbox", "--sandbox=bwrap"])
        .expect(2);
    let why =
        "hint: bwrap: installed, but does not work here: No permissions to create new namespace\n";
    assert!(run.stderr.contains(why), "{}", run.stderr);
}

#[test]
fn a_running_session_says_what_protects_whom() {
    let repo = repo();
    repo.agent_does(&["echo made >a; touch up; while [ -e up ]; do sleep 0.05; done"]);
    let child = repo.spawn_run(&["--max-cycles=1", "--sandbox=landlock"]);
    wait_until("the agent is at work", || repo.has("up"));
    assert_eq!(told(repo.evolve(&["status", "--json"])).0, "landlock");
    fs::remove_file(repo.path("up")).unwrap();
    finish(child).expect(0);
    assert_eq!(told(repo.evolve(&["status", "--json"])).0, "none");
}

#[test]
fn the_events_say_what_protects_whom() {
    let repo = repo();
    repo.agent_does(&["echo made >a"]);
    let run = repo
        .run(&["--max-cycles=1", "--json", "--sandbox=landlock"])
        .expect(0);
    let events = run.events();
    let protections = &events[0]["protections"];
    assert_eq!(protections["sandbox"], "landlock");
    assert_eq!(protections["lacks"][0], "all of .git stays writable");
    assert_eq!(protections["pushes_refused"], true);
}

#[test]
fn both_work_for_somebody_who_is_not_root() {
    for (mode, left) in [("landlock", "mine\n"), ("bwrap", "mine\n")] {
        let repo = repo();
        repo.agent_does(&["(echo x >>\"$HOME/canary\"); (echo x >>\"$OUT/canary\"); echo made >a"]);
        let evolve = repo.out("evolve");
        copy_program(&evolve);
        let everything = repo.root().parent().unwrap().to_owned();
        let is_root = output(Command::new("id").arg("-u")).stdout == b"0\n";
        let mut command = match is_root {
            true => {
                output(
                    Command::new("chown")
                        .args(["-R", "65534:65534"])
                        .arg(&everything),
                );
                let mut command = repo.command("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
                command.arg(&evolve);
                command
            }
            false => repo.command(&evolve),
        };
        command.arg(format!("--agent={}", repo.agent()));
        command.args([
            "--max-cycles=1",
            "--require-sandbox",
            &format!("--sandbox={mode}"),
        ]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = finish(command.spawn().unwrap()).expect(0);
        let story = format!("{mode}\n{}{}", run.stdout, run.stderr);
        assert_eq!(repo.each("result"), ["improved"], "{story}");
        for canary in [repo.home().join("canary"), repo.out("canary")] {
            assert_eq!(fs::read_to_string(canary).unwrap(), left, "{story}");
        }
    }
}

#[test]
fn an_agent_whose_own_sandbox_cannot_start_inside_is_explained() {
    let repo = repo();
    repo.agent_does(&["bwrap --ro-bind / / -- true || echo made >a"]);
    let run = repo
        .run(&["--max-cycles=1", "--sandbox=landlock"])
        .expect(0);
    assert_eq!(repo.each("result"), ["improved"], "{}", run.stdout);
    let said = "warning: the agent's own sandbox cannot start inside this one (bwrap: ";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(run.stderr.contains("sandboxed_args"), "{}", run.stderr);
}

#[test]
fn a_push_of_the_agent_goes_nowhere_and_a_fetch_works() {
    let repo = repo();
    for name in ["first", "second", "third"] {
        repo.git(&[
            "clone",
            "--quiet",
            "--bare",
            ".",
            repo.out(name).to_str().unwrap(),
        ]);
    }
    let url = |name: &str| repo.out(name).display().to_string();
    repo.git(&["remote", "add", "origin", &url("first")]);
    repo.git(&[
        "remote",
        "add",
        "other",
        &format!("file://{}", url("second")),
    ]);
    repo.git(&["config", "remote.other.pushurl", &url("third")]);
    let refs = |name: &str| repo.git(&["--git-dir", &url(name), "for-each-ref"]);
    let before = ["first", "second", "third"].map(refs);
    repo.agent_does(&["echo made >a; git add a; git commit -qm made\n\
         for to in origin other \"$OUT/first\" \"file://$OUT/second\"; do git push -q --force $to HEAD:main 2>>push && echo $to >>done-here; done\n\
         git fetch -q origin && git fetch -q other && echo fetched >>done-here; grep -q evolve-refuses-pushes push && echo named >>done-here"]);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    let story = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(done(&repo), ["fetched", "named"], "{story}");
    assert_eq!(["first", "second", "third"].map(refs), before);
}

#[test]
fn what_the_sandbox_is_asked_to_be_has_to_make_sense() {
    let repo = repo();
    for (sandbox, wrong) in [
        (
            "bubblewrap",
            "3:12: sandbox: expected auto or bwrap or landlock or none",
        ),
        (
            "{mode: none, require: true}",
            "3:12: sandbox: a sandbox is required, but its mode is none",
        ),
        (
            "{mode: auto, network: agent}",
            "3:12: sandbox: network: agent keeps checks from the network, which only checks: true can do",
        ),
        (
            "{write: [cache]}",
            "3:21: write: \"cache\" is no path for a sandbox",
        ),
        (
            "{write: [~/../x]}",
            "3:21: write: \"~/../x\" is no path for a sandbox",
        ),
        (
            "{env: [A-B]}",
            "3:19: env: \"A-B\" is no name of a variable",
        ),
        ("{modes: auto}", "3:13: unknown key \"modes\""),
    ] {
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\nevolve:\n  sandbox: {sandbox}\ngoals:\n{GOALS}"),
        );
        let said = repo.evolve(&["validate"]).expect(2).stderr;
        let (place, words) = wrong.split_once(": ").unwrap();
        let pointed = format!("error: {words}");
        assert!(said.contains(&pointed), "{said}");
        let place = format!("--> GOALS.yaml:{place}\n");
        assert!(said.contains(&place), "{said}");
        assert!(said.contains("hint: "), "{said}");
    }
    repo.write("GOALS.yaml", &format!("version: 1\ngoals:\n{GOALS}"));
    repo.commit_all("goals");
    let run = repo.evolve(&["--sandbox=jail"]).expect(2);
    assert!(
        run.stderr.contains("write auto, bwrap, landlock, none"),
        "{}",
        run.stderr
    );
    let both = ["--require-sandbox", "--sandbox=none", "--agent=true"];
    let run = repo.evolve(&both).expect(2);
    assert!(
        run.stderr
            .contains("a sandbox is required, but its mode is none"),
        "{}",
        run.stderr
    );
}

#[test]
fn programs_that_an_agent_puts_on_the_path_are_not_what_evolve_runs() {
    for is_relative in [true, false] {
        let mut repo = repo();
        let path = std::env::var("PATH").unwrap();
        let folder = match is_relative {
            true => "bin".to_owned(),
            false => repo.path("bin").display().to_string(),
        };
        repo.env
            .push(("PATH".to_owned(), format!("{folder}:{path}")));
        repo.write(".gitignore", "bin/\n");
        repo.write("GOALS.yaml", &format!("version: 1\ngoals:\n{GOALS}"));
        repo.commit_all("ignored");
        // A git that says it worked, a shell that passes every check.
        repo.agent_does(&["mkdir bin; for tool in git sh; do printf '#!/bin/true\\n' >bin/$tool; chmod +x bin/$tool; done"]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        let story = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(repo.each("result"), ["unchanged"], "{story}");
        assert_eq!(repo.newest()["goals_passing"], 0, "{story}");
        assert!(
            run.stderr
                .contains("warning: PATH leads into the repository"),
            "{story}"
        );
    }
}

#[test]
fn checks_in_a_slot_of_their_own_and_what_prepares_it_are_held_back_to_that_slot() {
    for mode in ["landlock", "bwrap"] {
        for isolate in [&[][..], &["--isolate"]] {
            let repo = repo();
            repo.write(".gitignore", "built\n");
            repo.write(
                "GOALS.yaml",
                &format!(
                    "version: 1\nevolve:\n  measure: clean\n  prepare: touch built; echo x >>\"$OUT/canary\" || true\n  \
                     sandbox: {{mode: {mode}, checks: true}}\ngoals:\n{GOALS}  \
                     - {{id: writes, description: writes here, check: touch built, weight: 1}}\n  \
                     - {{id: roams, description: writes elsewhere, check: echo x >>\"$OUT/canary\", weight: 1}}\n"
                ),
            );
            repo.commit_all("goals");
            repo.agent_does(&["echo made >\"${EVOLVE_LESSONS%/.agents/*}/a\""]);
            let arguments = [&["--max-cycles=1"], isolate].concat();
            let run = repo.run(&arguments).expect(0);
            let story = format!("{mode} {isolate:?}\n{}{}", run.stdout, run.stderr);
            assert_eq!(repo.each("result"), ["improved"], "{story}");
            assert_eq!(repo.newest()["goals_passing"], 2, "{story}");
            canaries_live(&repo);
        }
    }
}

#[test]
fn an_agent_in_a_sandbox_sets_nothing_of_the_kernel_not_even_as_root() {
    // What is written is what stands there: that it can be written shows enough.
    let tries = "for one in vm/swappiness kernel/core_pattern fs/inotify/max_user_instances; do one=/proc/sys/$one\n\
        value=$(cat $one) && (printf '%s\\n' \"$value\" >$one) 2>>said && echo $one >>done-here; done\n\
        for one in /proc/mtrr /proc/dynamic_debug/control /proc/acpi/wakeup /proc/scsi/scsi; do\n\
        test -e $one && (: >>$one) 2>>said && echo $one >>done-here; done\n\
        (echo 0 >/proc/self/oom_score_adj) && echo own >>done-here; echo made >a";
    for mode in ["landlock", "bwrap"] {
        for isolate in [&[][..], &["--isolate"]] {
            let repo = repo();
            repo.agent_does(&[tries]);
            let sandbox = format!("--sandbox={mode}");
            let arguments = [&["--max-cycles=1", "--require-sandbox", &sandbox], isolate].concat();
            let run = repo.run(&arguments).expect(0);
            assert_eq!(repo.each("result"), ["improved"], "{}", run.stderr);
            let own: &[&str] = if mode == "bwrap" { &["own"] } else { &[] };
            let done = repo.has("done-here").then(|| done(&repo));
            assert_eq!(done.unwrap_or_default(), own, "{mode} {isolate:?}");
        }
    }
}

#[test]
fn an_agent_in_bubblewrap_cannot_have_another_program_start_something_for_it() {
    let repo = repo();
    let tmux = |socket: &[&str]| {
        let mut command = repo.command("tmux");
        command.args(socket);
        command
    };
    // One where it lies by itself, and one at a place that nobody knows.
    let hidden = repo.out("somewhere");
    let named = format!("evolve-test-{}", std::process::id());
    let servers = [["-L", &named], ["-S", hidden.to_str().unwrap()]];
    for server in &servers {
        output(tmux(server).args(["new-session", "-d", "sleep 300"]));
    }
    let escapes = |way: usize| {
        let server = servers[way].join(" ");
        let mark = repo.out(&format!("escaped-{way}"));
        format!("tmux {server} new-window -d 'touch {}'; ", mark.display())
    };
    let run = |mode: &str| {
        repo.agent_does(&[&format!("{}{}echo made >>a", escapes(0), escapes(1))]);
        repo.run(&["--max-cycles=1", mode]).expect(0)
    };
    run("--sandbox=bwrap");
    // What was asked of a server before this is done when it has answered.
    for server in &servers {
        output(tmux(server).args(["new-window", "-d", "true"]));
    }
    let escaped = |way: usize| repo.out(&format!("escaped-{way}")).exists();
    let both = [escaped(0), escaped(1)];
    // Where nothing holds it back, it is as easy as that.
    repo.git(&["rm", "--quiet", "a"]);
    repo.commit_all("again");
    run("--sandbox=none");
    wait_until("it got out", || escaped(0) && escaped(1));
    for server in &servers {
        output(tmux(server).arg("kill-server"));
    }
    assert_eq!(repo.each("result"), ["improved", "improved"]);
    assert_eq!(both, [false, false]);
}

#[test]
fn variables_that_lead_out_get_in_only_if_they_are_asked_for() {
    for mode in ["landlock", "bwrap"] {
        let mut repo = repo();
        for name in [
            "TMUX",
            "STY",
            "DISPLAY",
            "DBUS_SESSION_BUS_ADDRESS",
            "PLAIN",
        ] {
            repo.env.push((name.to_owned(), "there".to_owned()));
        }
        let told = r#"echo "$TMUX:$STY:$DISPLAY:$DBUS_SESSION_BUS_ADDRESS:$PLAIN" >a"#;
        let sandbox = format!("--sandbox={mode}");
        repo.agent_does(&[told, told]);
        repo.run(&["--max-cycles=1", &sandbox]).expect(0);
        assert_eq!(repo.read("a"), "::::there\n", "{mode}");
        let goals = repo.read("GOALS.yaml");
        repo.git(&["rm", "--quiet", "a"]);
        repo.write(
            "GOALS.yaml",
            &format!("{goals}evolve: {{sandbox: {{env: [TMUX]}}}}\n"),
        );
        repo.commit_all("asked for");
        repo.run(&["--max-cycles=1", &sandbox]).expect(0);
        assert_eq!(repo.read("a"), "there::::\n", "{mode}");
    }
}

#[test]
fn a_variable_that_says_there_is_a_sandbox_turns_none_off() {
    for mode in ["landlock", "bwrap"] {
        for said in ["x", "landlock", "bwrap"] {
            let mut repo = repo();
            repo.env
                .push(("_EVOLVE_SANDBOX".to_owned(), said.to_owned()));
            repo.agent_does(&["echo x >\"$HOME/canary\"; echo made >a"]);
            let sandbox = format!("--sandbox={mode}");
            let run = repo
                .run(&["--max-cycles=1", &sandbox, "--require-sandbox"])
                .expect(0);
            assert!(header(&run).starts_with(mode), "{}", header(&run));
            let warned = run.stdout + &run.stderr;
            assert!(warned.contains("it is passed over"), "{warned}");
            canaries_live(&repo);
        }
    }
}

#[test]
fn what_was_to_be_covered_and_is_gone_when_a_check_starts_is_in_no_ones_way() {
    let repo = repo();
    // One that a program listens on, and a place of such.
    let sockets = repo.home().join("sockets");
    fs::create_dir_all(&sockets).unwrap();
    let listener = UnixListener::bind(sockets.join("s")).unwrap();
    fs::create_dir_all(repo.home().join(".screen")).unwrap();
    let goals = repo.read("GOALS.yaml");
    let held = "version: 1\nevolve: {sandbox: {mode: bwrap, checks: true}}";
    repo.write("GOALS.yaml", &goals.replace("version: 1", held));
    repo.commit_all("held back");
    repo.agent_does(&[
        "touch begun; while ! test -e go; do sleep 0.02; done; rm begun go; touch a",
    ]);
    let session = repo.spawn_run(&["--max-cycles=1"]);
    wait_until("the agent is at work", || repo.has("begun"));
    drop(listener);
    fs::remove_dir_all(&sockets).unwrap();
    fs::remove_dir(repo.home().join(".screen")).unwrap();
    repo.write("go", "");
    let run = finish(session);
    assert_eq!(repo.newest()["result"], "improved", "{}", run.stderr);
}

#[test]
fn what_goes_while_bubblewrap_covers_it_is_left_out_and_no_program_runs_twice() {
    let repo = repo();
    let sockets = repo.home().join("sockets");
    fs::create_dir_all(&sockets).unwrap();
    let _listener = UnixListener::bind(sockets.join("s")).unwrap();
    // Where the agent is to start, the socket goes when it has been seen and is not covered yet.
    let [sockets, agent, bwrap] = [
        sockets.display().to_string(),
        repo.outside().join("agent").display().to_string(),
        which::which("bwrap").unwrap().display().to_string(),
    ];
    let taken = repo.out("taken").display().to_string();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *{sockets}/s*{agent}*) rm -r {sockets}; echo >>{taken};; esac\nexec {bwrap} \"$@\"\n"
    );
    let bin = repo.out("bin");
    fs::create_dir(&bin).unwrap();
    write_program(&bin.join("bwrap"), &script);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    repo.agent_does(&["echo once >>a"]);
    let run = repo.evolve_with(
        &[("PATH", &path)],
        &[
            &format!("--agent={}", repo.agent()),
            "--max-cycles=1",
            "--sandbox=bwrap",
        ],
    );
    assert_eq!(repo.newest()["result"], "improved", "{}", run.stderr);
    assert_eq!(repo.read("a"), "once\n");
    assert_eq!(fs::read_to_string(&taken).unwrap(), "\n");
}

#[test]
fn what_of_the_network_stays_open_is_said_and_refused_where_a_sandbox_is_required() {
    let with = |sandbox: &str| {
        let repo = TestRepo::empty();
        let goals = format!("version: 1\nevolve:\n  sandbox: {sandbox}\ngoals:\n{GOALS}");
        repo.write("GOALS.yaml", &goals);
        repo.commit_all("goals");
        repo.agent_does(&["echo made >a"]);
        repo.run(&["--max-cycles=1"])
    };
    for (sandbox, told, warned) in [
        (
            "{mode: bwrap, network: none, checks: true}",
            "; no network;",
            "",
        ),
        (
            "{mode: bwrap, network: none}",
            "; no network for the agent;",
            "checks keep the network",
        ),
        (
            "{mode: landlock, network: none, checks: true}",
            "; no TCP;",
            "only TCP is held back",
        ),
        (
            "{mode: landlock, network: none}",
            "; no TCP for the agent;",
            "checks keep the network",
        ),
    ] {
        let run = with(sandbox).expect(0);
        assert!(header(&run).contains(told), "{}", header(&run));
        let said = run.stdout.clone() + &run.stderr;
        assert_eq!(
            said.contains("not all that is asked for"),
            !warned.is_empty(),
            "{said}"
        );
        assert!(said.contains(warned), "{said}");
        let required = with(&sandbox.replace('{', "{require: true, "));
        let code = if warned.is_empty() { 0 } else { 2 };
        let said = required.expect(code).stderr;
        assert!(said.contains(warned), "{said}");
    }
}

#[test]
fn in_bubblewrap_there_are_devices_also_where_all_may_be_written() {
    let repo = repo();
    let goals = repo.read("GOALS.yaml");
    repo.write(
        "GOALS.yaml",
        &format!("{goals}evolve: {{sandbox: {{mode: bwrap, write: [/]}}}}\n"),
    );
    repo.commit_all("all of it");
    repo.agent_does(&["echo x >/dev/null && echo y >\"$HOME/new\" && echo made >a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(repo.home().join("new").exists());
}
