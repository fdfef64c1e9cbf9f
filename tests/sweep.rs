//! The weekly sweep: when it runs, what it queues, and that it leaves no trace but that. The linters are stand-ins on the
//! PATH, so that each says what the test needs; what the real ones print is read in the tests of `model/sweep`, and the real
//! clippy runs once here.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Run, TestRepo, finish, is_alive, pid_in, wait_until};

mod proven;

const QUEUE: &str = ".agents/rpi/next-work.jsonl";
const DATE: &str = ".agents/evolve/last-sweep-date";
const GOAL: &str = "goals:\n  - {id: a, description: file a exists, check: test -e a, weight: 5}\n";
/// Shellcheck's word on `name` in line 3 of `a.sh`.
const ONE_FINDING: &str = r#"[{"file":"a.sh","line":3,"endLine":3,"column":6,"endColumn":11,"level":"info","code":2086,"message":"Double quote."}]"#;

/// A repository whose goal passes, with one shell script and this line under `evolve:`.
fn repo_with(settings: &str) -> TestRepo {
    let repo = TestRepo::empty();
    let settings = match settings {
        "" => String::new(),
        settings => format!("evolve:\n  {settings}\n"),
    };
    repo.write("GOALS.yaml", &format!("{settings}{GOAL}"));
    repo.write("a", "");
    repo.write("a.sh", "#!/bin/sh\necho\n");
    repo.commit_all("first");
    repo
}

/// Puts a program on the PATH, in front of all others.
fn install(repo: &mut TestRepo, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let folder = repo.outside().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    if !repo.env.iter().any(|(name, _)| name == "PATH") {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", folder.display());
        repo.env.push(("PATH".to_owned(), path));
    }
}

/// A shellcheck that prints this and counts its calls.
fn install_shellcheck(repo: &mut TestRepo, output: &str, exit: i32) {
    let calls = repo.outside().join("sweeps");
    let script = format!(
        "echo x >>'{}'\ncat <<'END'\n{output}\nEND\nexit {exit}",
        calls.display()
    );
    install(repo, "shellcheck", &script);
}

/// How often the stand-in was called.
fn sweeps(repo: &TestRepo) -> usize {
    fs::read_to_string(repo.outside().join("sweeps")).map_or(0, |text| text.lines().count())
}

fn items(repo: &TestRepo) -> Vec<Value> {
    let text = fs::read_to_string(repo.path(QUEUE)).unwrap_or_default();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn titles(repo: &TestRepo) -> Vec<String> {
    let title = |item: &Value| item["title"].as_str().unwrap().to_owned();
    items(repo).iter().map(title).collect()
}

/// Lets the program's clock start at this time from now on; unless said it is 2026-02-03T04:05:06Z.
fn set_clock(repo: &mut TestRepo, time: &str) {
    repo.env.retain(|(name, _)| name != "EVOLVE_CLOCK");
    repo.env.push(("EVOLVE_CLOCK".to_owned(), time.to_owned()));
}

fn idle(repo: &TestRepo) -> Run {
    repo.run(&[]).expect(0)
}

#[test]
fn a_finding_is_queued_worked_on_in_the_same_cycle_and_committed_with_the_record() {
    let mut repo = repo_with("");
    install_shellcheck(&mut repo, ONE_FINDING, 1);
    let run = repo.cycle("echo 'mended' >>a.sh").expect(0);
    assert!(
        run.stdout.contains("sweep: shellcheck\n")
            && run
                .stdout
                .contains("the sweep found 1 new item: see `evolve work list`\n"),
        "{}",
        run.stdout
    );
    assert_eq!(
        repo.each("goal_id"),
        ["next-work:Mend a finding of shellcheck in a.sh (SC2086)"]
    );
    assert_eq!(repo.each("result"), ["harvested"]);
    let item = &items(&repo)[0];
    for (key, value) in [
        ("type", "bug"),
        ("severity", "medium"),
        ("source", "sweep:shellcheck"),
        ("evidence", "a.sh:3: SC2086 Double quote."),
        ("state", "consumed"),
    ] {
        assert_eq!(item[key], value, "{key}");
    }
    assert!(repo.brief(1).contains("a.sh:3: SC2086 Double quote."));
    let committed = repo.git(&["show", "--format=%s", "--name-only", "HEAD~1"]);
    assert!(committed.starts_with("evolve: cycle 1"), "{committed}");
    for file in [QUEUE, DATE] {
        assert!(committed.lines().any(|line| line == file), "{committed}");
    }
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn what_was_found_once_is_never_found_again() {
    let mut repo = repo_with("");
    install_shellcheck(&mut repo, ONE_FINDING, 1);
    repo.cycle("echo x >>a.sh").expect(0);
    set_clock(&mut repo, "2026-02-20T00:00:00Z");
    // The item is done, and what it named has moved.
    install_shellcheck(
        &mut repo,
        &ONE_FINDING.replace("\"line\":3", "\"line\":33"),
        1,
    );
    let run = idle(&repo);
    assert_eq!(sweeps(&repo), 2);
    assert_eq!(items(&repo).len(), 1);
    assert!(
        run.stdout.contains("the sweep found nothing new"),
        "{}",
        run.stdout
    );
    // Something else in the same file is new, and so is the same in another.
    set_clock(&mut repo, "2026-03-20T00:00:00Z");
    repo.write("b.sh", "");
    repo.commit_all("b");
    let more = format!(
        "[{},{},{}]",
        &ONE_FINDING[1..ONE_FINDING.len() - 1],
        ONE_FINDING[1..ONE_FINDING.len() - 1].replace("a.sh", "b.sh"),
        ONE_FINDING[1..ONE_FINDING.len() - 1].replace("2086", "2034")
    );
    install_shellcheck(&mut repo, &more, 1);
    repo.agent_does(&["exit 7"; 6]);
    idle(&repo);
    assert_eq!(
        titles(&repo)[1..],
        [
            "Mend a finding of shellcheck in a.sh (SC2034)",
            "Mend a finding of shellcheck in b.sh (SC2086)"
        ]
    );
    // Both failed three times and are set aside; that is known too.
    set_clock(&mut repo, "2026-04-20T00:00:00Z");
    idle(&repo);
    assert_eq!(sweeps(&repo), 4);
    assert_eq!(items(&repo).len(), 3);
}

#[test]
fn a_sweep_comes_after_seven_days_by_the_date_in_the_file() {
    for (date, is_due) in [
        ("2026-02-01", false),
        ("2026-01-28T00:00:00Z\n", false),
        ("1769990000\n", false),
        ("2026-01-20", true),
        ("", true),
        ("never\n", true),
    ] {
        let mut repo = repo_with("");
        install_shellcheck(&mut repo, "[]", 0);
        repo.write(DATE, date);
        repo.commit_all("swept before");
        idle(&repo);
        assert_eq!(sweeps(&repo), usize::from(is_due), "{date:?}");
        let expected = match is_due {
            true => "2026-02-03T04:05",
            false => date,
        };
        assert!(repo.read(DATE).starts_with(expected), "{date:?}");
    }
}

#[test]
fn a_failing_goal_goes_first() {
    let mut repo = repo_with("");
    install_shellcheck(&mut repo, ONE_FINDING, 1);
    repo.git(&["rm", "-q", "a"]);
    repo.commit_all("a is gone");
    repo.cycle("true").expect(0);
    assert_eq!(sweeps(&repo), 0);
    assert_eq!(repo.each("goal_id"), ["a"]);
    repo.agent_does(&["touch a", "echo x >>a.sh"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["unchanged", "improved", "harvested"]);
}

#[test]
fn work_that_waits_already_does_not_keep_a_sweep_off() {
    let mut repo = repo_with("");
    install_shellcheck(&mut repo, ONE_FINDING, 1);
    repo.write(QUEUE, "{\"title\": \"tidy\", \"severity\": \"low\"}\n");
    repo.commit_all("queue");
    repo.cycle("echo x >>a.sh").expect(0);
    assert_eq!(
        repo.each("goal_id"),
        ["next-work:Mend a finding of shellcheck in a.sh (SC2086)"]
    );
}

#[test]
fn a_dormant_repository_is_swept_when_it_is_time_and_left_alone_otherwise() {
    let mut repo = repo_with("");
    install_shellcheck(&mut repo, "[]", 0);
    idle(&repo);
    assert_eq!((sweeps(&repo), repo.records().len()), (1, 3));
    let head = repo.head();
    idle(&repo);
    assert_eq!((sweeps(&repo), repo.head()), (1, head));
    set_clock(&mut repo, "2026-02-20T00:00:00Z");
    idle(&repo);
    // The new date is committed, with a record like any other.
    assert_eq!((sweeps(&repo), repo.records().len()), (2, 4));
    assert_eq!(
        repo.newest()["reason"],
        "no goal fails and the queue is empty; the sweep found nothing new"
    );
    assert_eq!(repo.status(), Vec::<String>::new());
    let head = repo.head();
    idle(&repo);
    assert_eq!((sweeps(&repo), repo.head()), (2, head));
}

#[test]
fn a_dry_run_says_that_a_sweep_is_due_and_writes_nothing() {
    let mut repo = repo_with("sweep: [linters, floors]");
    install_shellcheck(&mut repo, ONE_FINDING, 1);
    let run = repo.evolve(&["--dry-run"]).expect(0);
    assert!(
        run.stdout
            .contains("a sweep is due (shellcheck, floors): a run would look for new work"),
        "{}",
        run.stdout
    );
    let run = repo.evolve(&["--dry-run", "--json"]).expect(0);
    assert!(run.stdout.contains("a sweep is due"), "{}", run.stdout);
    assert!(!repo.has(".agents") && sweeps(&repo) == 0);
    idle_after_work(&repo);
    let run = repo.evolve(&["--dry-run"]).expect(0);
    assert!(!run.stdout.contains("sweep"), "{}", run.stdout);
}

fn idle_after_work(repo: &TestRepo) {
    repo.cycle("echo x >>a.sh").expect(0);
}

#[test]
fn an_empty_list_turns_it_off_and_without_linters_nothing_happens() {
    let mut off = repo_with("sweep: []");
    install_shellcheck(&mut off, ONE_FINDING, 1);
    idle(&off);
    assert!(sweeps(&off) == 0 && !off.has(DATE));
    let mut no_scripts = repo_with("");
    install_shellcheck(&mut no_scripts, ONE_FINDING, 1);
    no_scripts.git(&["rm", "-q", "a.sh"]);
    no_scripts.commit_all("no script");
    idle(&no_scripts);
    assert!(sweeps(&no_scripts) == 0 && !no_scripts.has(DATE));
}

#[test]
fn the_users_configuration_says_what_to_look_with_where_goals_yaml_does_not() {
    let mut repo = repo_with("");
    install_shellcheck(&mut repo, ONE_FINDING, 1);
    let folder = repo.home().join(".config/evolve");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.yaml"), "sweep: []\n").unwrap();
    idle(&repo);
    assert_eq!(sweeps(&repo), 0);
}

#[test]
fn a_linter_that_cannot_run_is_a_warning_and_the_next_session_sweeps_again() {
    let mut repo = repo_with("sweep: [linters, {run: 'echo \"a.sh:2: odd\"'}]");
    install_shellcheck(&mut repo, "a.sh: does not exist", 2);
    let run = repo.cycle("echo x >>a.sh").expect(0);
    assert!(
        run.stderr
            .contains("warning: the sweep could not use shellcheck: exit 2, its output is no list in JSON, it said \"a.sh: does not exist\"; see .git/evolve/logs/"),
        "{}",
        run.stderr
    );
    // What the other part found counts.
    assert_eq!(titles(&repo), ["Mend a finding of echo in a.sh"]);
    assert!(!repo.has(DATE));
    install_shellcheck(&mut repo, "[]", 0);
    idle(&repo);
    assert_eq!((sweeps(&repo), repo.has(DATE)), (2, true));
}

#[test]
fn a_linter_that_fails_runs_once_a_session() {
    let mut repo = repo_with("");
    install_shellcheck(&mut repo, "", 3);
    idle(&repo);
    assert_eq!((sweeps(&repo), repo.records().len()), (1, 3));
    let head = repo.head();
    idle(&repo);
    assert_eq!((sweeps(&repo), repo.head()), (2, head));
}

#[test]
fn tracked_files_that_a_linter_changes_are_put_back_and_nothing_is_lost() {
    let mut repo = repo_with("");
    let script = "echo fixed >a.sh; git rm -q --cached a; git add a.sh; echo '[]'";
    install(&mut repo, "shellcheck", script);
    let before = repo.content("HEAD");
    let run = idle(&repo);
    assert!(
        run.stderr.contains(
            "warning: shellcheck changed tracked files, so what it found is left out; they were put back: "
        ),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.contains("moved out of the way: a.sh → "),
        "{}",
        run.stdout
    );
    assert_eq!(repo.content("HEAD"), before);
    assert_eq!(repo.status(), Vec::<String>::new());
    assert_eq!(repo.read("a.sh"), "#!/bin/sh\necho\n");
    assert_eq!(repo.quarantined()[&b"a.sh"[..]].1, b"fixed\n");
    assert!(!repo.has(DATE));
}

#[test]
fn what_a_linter_hides_from_git_in_a_tracked_file_is_found_in_its_cycle() {
    let mut repo = repo_with("");
    repo.write("x", "one\n");
    let x = fs::File::options().write(true).open(repo.root().join("x"));
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    x.unwrap().set_modified(long_ago).unwrap();
    repo.commit_all("x");
    repo.git(&["config", "core.trustctime", "false"]);
    repo.git(&["config", "core.checkStat", "minimal"]);
    let time = repo.outside().join("time");
    let script = format!(
        "touch -r x '{0}'; echo two >x; touch -r '{0}' x; echo '{ONE_FINDING}'; exit 1",
        time.display()
    );
    install(&mut repo, "shellcheck", &script);
    repo.cycle("echo 'mended' >>a.sh").expect(0);
    assert_eq!(repo.git(&["show", "HEAD:x"]), repo.read("x").trim_end());
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn what_a_linter_leaves_untracked_is_not_taken_for_the_agents() {
    let mut repo = repo_with("");
    let script = format!("echo cache >left-over; cat <<'END'\n{ONE_FINDING}\nEND\nexit 1");
    install(&mut repo, "shellcheck", &script);
    let run = repo.cycle("echo x >>a.sh").expect(0);
    assert!(
        run.stdout
            .contains("the sweep's programs left files that git does not track: left-over\n"),
        "{}",
        run.stdout
    );
    assert_eq!(repo.status(), ["?? left-over"]);
    assert!(
        !repo
            .content("HEAD")
            .iter()
            .any(|line| line.ends_with("left-over"))
    );
}

#[test]
fn a_finding_in_a_frozen_file_is_no_work() {
    let mut repo = repo_with("protect: [kept/**]");
    repo.write(
        "GOALS.yaml",
        "evolve: {protect: ['kept/**'], sweep: [linters, markers]}\ngoals:\n  - {id: a, description: 'TODO', check: sh a.sh, weight: 5}\n",
    );
    repo.write("kept/b.sh", "# TODO: b\n");
    repo.commit_all("frozen");
    let both = format!(
        "[{},{}]",
        &ONE_FINDING[1..ONE_FINDING.len() - 1],
        ONE_FINDING[1..ONE_FINDING.len() - 1].replace("a.sh", "kept/b.sh")
    );
    install_shellcheck(&mut repo, &both, 1);
    idle(&repo);
    assert_eq!(sweeps(&repo), 1);
    assert_eq!(titles(&repo), Vec::<String>::new());
    // Two of the linter's, and two markers: one in the goals file.
    let reason = repo.records()[0]["reason"].as_str().unwrap().to_owned();
    let told = "; the sweep found nothing new, and 4 findings in files that no cycle may change: a.sh:3, kept/b.sh:3, GOALS.yaml:3, kept/b.sh:1";
    assert!(reason.ends_with(told), "{reason}");
}

#[test]
fn markers_are_found_in_tracked_text_files() {
    let repo = repo_with("sweep: [markers]");
    repo.write("src/my file.txt", "one\n  // TODO: two\nFIXME three\n");
    repo.write("binary", "TODO\0");
    repo.write("words", "TODOS XXXXXX\n");
    repo.commit_all("markers");
    repo.write("untracked", "TODO: mine\n");
    repo.cycle("git mv 'src/my file.txt' b").expect(0);
    let all = items(&repo);
    assert_eq!(all.len(), 1);
    let evidence =
        "\n\nEvidence:\n\nsrc/my file.txt:2: TODO: two\nsrc/my file.txt:3: FIXME three\n\n";
    assert!(repo.brief(1).contains(evidence), "{}", repo.brief(1));
    for (key, value) in [
        ("title", "Settle 2 markers in src/my file.txt (FIXME, TODO)"),
        ("type", "tech-debt"),
        ("severity", "low"),
        ("source", "sweep:markers"),
        (
            "evidence",
            "src/my file.txt:2: TODO: two\nsrc/my file.txt:3: FIXME three",
        ),
    ] {
        assert_eq!(all[0][key], value, "{key}");
    }
}

#[test]
fn floors_with_headroom_are_one_item_for_all() {
    let repo = TestRepo::empty();
    let floor = |id: &str, value: u32| {
        format!(
            "  - {{id: {id}, description: d, check: echo {value}, weight: 5, continuous: {{metric: coverage, threshold: 80, direction: at-least}}}}\n"
        )
    };
    let goals: String = [
        floor("lines", 90),
        floor("branches", 84),
        floor("tight", 83),
    ]
    .concat();
    repo.write(
        "GOALS.yaml",
        &format!("evolve: {{sweep: [floors]}}\ngoals:\n{goals}"),
    );
    repo.commit_all("first");
    repo.cycle("sed -i -e '/lines/s/threshold: 80/threshold: 89/' -e '/branches/s/threshold: 80/threshold: 83/' GOALS.yaml")
        .expect(0);
    assert_eq!(
        repo.each("goal_id"),
        ["next-work:Raise 2 coverage floors with more than 3 % headroom: lines, branches"]
    );
    assert_eq!(repo.each("result"), ["harvested"]);
    assert_eq!(items(&repo)[0]["type"], "coverage-floor");
}

#[test]
fn own_commands_print_places_or_items() {
    let command = "printf \"%s\\n\" \"./a.sh:2:1: odd\" \"a.sh:4:also odd\" \"nowhere:1: x\" \"2 problems\" \"{\\\"title\\\": \\\"Write it down\\\", \\\"severity\\\": \\\"high\\\"}\"; exit 1";
    let repo = repo_with(&format!(
        "sweep: [{{run: '{command}', severity: low, type: docs}}]"
    ));
    repo.cycle("echo x >>a.sh").expect(0);
    let shown: Vec<_> = items(&repo)
        .iter()
        .map(|item| {
            format!(
                "{} {} {} {}",
                item["severity"], item["type"], item["source"], item["title"]
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            r#""high" "docs" "sweep:printf" "Write it down""#,
            r#""low" "docs" "sweep:printf" "Mend 2 findings of printf in a.sh""#,
        ]
    );
    assert_eq!(repo.each("goal_id"), ["next-work:Write it down"]);
}

#[test]
fn at_most_ten_items_a_sweep() {
    let command =
        "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo \"{\\\"title\\\": \\\"item $n\\\"}\"; done";
    let mut repo = repo_with(&format!("sweep: [{{run: '{command}'}}]"));
    let run = repo.cycle("echo x >>a.sh").expect(0);
    assert!(
        run.stdout
            .contains("the sweep found 10 new items, 2 more wait for the next one"),
        "{}",
        run.stdout
    );
    assert_eq!(items(&repo).len(), 10);
    set_clock(&mut repo, "2026-02-20T00:00:00Z");
    repo.cycle("echo x >>a.sh").expect(0);
    assert_eq!(titles(&repo)[10..], ["item 11", "item 12"]);
}

#[test]
fn kill_ends_a_sweep_at_once_and_it_comes_again() {
    let mut repo = repo_with("");
    let pid = repo.outside().join("pid");
    install(
        &mut repo,
        "shellcheck",
        &format!("echo $$ >'{}'\nsleep 600", pid.display()),
    );
    repo.agent_does(&[]);
    let child = repo.spawn_run(&[]);
    let linter = pid_in(&pid);
    let folder = repo.home().join(".config/evolve");
    fs::create_dir_all(&folder).unwrap();
    // It acts the moment it is there, with the words that it has then.
    fs::write(folder.join("words"), "enough\n").unwrap();
    fs::rename(folder.join("words"), folder.join("KILL")).unwrap();
    let run = finish(child).expect(0);
    assert!(run.stdout.contains("enough"), "{}", run.stdout);
    wait_until("the linter is gone", || !is_alive(linter));
    assert!(!repo.has(DATE) && !repo.has(QUEUE));
    assert_eq!(repo.records().len(), 0);
    assert_eq!(repo.calls(), 0);
}

#[test]
fn a_sweep_that_is_cut_short_leaves_no_tracked_file_changed() {
    let mut repo = repo_with("");
    install(&mut repo, "shellcheck", "echo fixed >a.sh; sleep 600");
    repo.agent_does(&[]);
    let run = repo.run(&["--max-time=3s"]).expect(0);
    assert!(
        run.stderr
            .contains("warning: shellcheck changed tracked files"),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.contains("moved out of the way: a.sh → "),
        "{}",
        run.stdout
    );
    assert_eq!(repo.read("a.sh"), "#!/bin/sh\necho\n");
    assert_eq!(repo.git(&["status", "--porcelain", "-uno"]), "");
    assert_eq!(repo.records().len(), 0);
}

#[test]
fn a_sweep_that_switches_the_branch_is_told() {
    let mut repo = repo_with("");
    install(&mut repo, "shellcheck", "git switch -qc other; echo '[]'");
    repo.agent_does(&[]);
    let run = repo.run(&[]).expect(3);
    assert!(
        run.stderr.contains("to other while the sweep ran"),
        "{}",
        run.stderr
    );
    assert_eq!(repo.records().len(), 0);
}

#[test]
fn max_time_ends_a_sweep() {
    let mut repo = repo_with("");
    install(&mut repo, "shellcheck", "sleep 600");
    repo.agent_does(&[]);
    let run = repo.run(&["--max-time=3s"]).expect(0);
    assert!(run.stdout.contains("time limit reached"), "{}", run.stdout);
    assert!(!repo.has(DATE));
}

#[test]
fn a_linter_has_the_time_of_a_check() {
    let mut repo = repo_with("");
    repo.write(
        "GOALS.yaml",
        "evolve: {timeout: 0.2}\ngoals:\n  - {id: a, description: a, check: test -e a, weight: 5, timeout: 2m}\n",
    );
    repo.commit_all("little time");
    install(&mut repo, "shellcheck", "sleep 600");
    let run = idle(&repo);
    assert!(
        run.stderr
            .contains("the sweep could not use shellcheck: timed out after 200ms"),
        "{}",
        run.stderr
    );
}

#[test]
fn stop_ends_a_sweep_between_two_programs() {
    let mut repo = repo_with("sweep: [linters, {run: 'echo \"a.sh:2: odd\"'}]");
    install(
        &mut repo,
        "shellcheck",
        "mkdir -p .agents/evolve && touch .agents/evolve/STOP; echo '[]'",
    );
    repo.agent_does(&[]);
    let run = repo.run(&[]).expect(0);
    assert!(
        run.stdout
            .contains("the sweep was cut short by a STOP file and comes again"),
        "{}",
        run.stdout
    );
    assert!(!repo.has(DATE) && !repo.has(QUEUE));
    assert_eq!(repo.each("result"), ["idle"]);
}

#[test]
fn validate_names_the_place_of_a_wrong_entry_and_the_nearest_word() {
    let repo = repo_with("sweep: [linters, flors]");
    let run = repo.evolve(&["validate"]).expect(2);
    assert!(
        run.stderr.contains("error: sweep[1]: expected linters, markers, floors or {run: a command}, not the text \"flors\"\n --> GOALS.yaml:2:20\n"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("did you mean floors?"),
        "{}",
        run.stderr
    );
}

/// Lets the real rustup and cargo be found although the home is another.
fn with_real_toolchain(repo: &mut TestRepo) -> bool {
    let home = std::env::var("HOME").unwrap_or_default();
    for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        let default = Path::new(&home).join(folder).display().to_string();
        let value = std::env::var(name).unwrap_or(default);
        repo.env.push((name.to_owned(), value));
    }
    let mut clippy = repo.command("cargo");
    let answer = clippy.args(["clippy", "--version"]).output();
    answer.is_ok_and(|output| output.status.success())
}

#[test]
fn the_real_clippy_is_swept_with() {
    let mut repo = repo_with("");
    if !with_real_toolchain(&mut repo) {
        eprintln!("skipped: clippy is not installed");
        return;
    }
    repo.git(&["rm", "-q", "a.sh"]);
    repo.write(
        "Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    repo.write("src/lib.rs", "pub fn f(x: u8) -> u8 {\n    return x;\n}\n");
    repo.write(".gitignore", "Cargo.lock\n");
    repo.commit_all("a crate");
    repo.cycle("printf 'pub fn f(x: u8) -> u8 {\\n    x\\n}\\n' >src/lib.rs")
        .expect(0);
    assert_eq!(
        repo.each("goal_id"),
        ["next-work:Mend a finding of clippy in src/lib.rs (needless_return)"]
    );
    // Git does not ignore `target`, so that is not where it built.
    assert!(!repo.has("target"));
    assert_eq!(repo.status(), Vec::<String>::new());
}

/// Says whether a program is here at all.
fn is_installed(program: &str) -> bool {
    let answer = Command::new(program).arg("--version").output();
    answer.is_ok_and(|output| output.status.success())
}

#[test]
fn the_real_shellcheck_and_ruff_are_swept_with() {
    let repo = repo_with("");
    repo.write("a.sh", "#!/bin/sh\necho $1\n");
    repo.write("ruff.toml", "");
    repo.write("b.py", "import os\n");
    repo.commit_all("to be mended");
    let mut expected = Vec::new();
    for (program, title) in [
        (
            "shellcheck",
            "Mend a finding of shellcheck in a.sh (SC2086)",
        ),
        ("ruff", "Mend a finding of ruff in b.py (F401)"),
    ] {
        match is_installed(program) {
            true => expected.push(title),
            false => eprintln!("skipped: {program} is not installed"),
        }
    }
    repo.cycle("echo x >>a").expect(0);
    let found = titles(&repo);
    for title in expected {
        assert!(found.iter().any(|known| known == title), "{found:?}");
    }
}
