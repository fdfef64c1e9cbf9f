//! What shells are told while a command line is typed, asked as each of them asks; and the manual pages.

use std::fs;
use std::process::{Command, Stdio};

use crate::harness::{Run, TestRepo, finish};

/// A repository with two goals, in which a cycle was run.
fn lived_in() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("has-a", 5), ("has-b", 3), ("other", 1)]);
    repo.cycle("touch has-a").expect(0);
    repo
}

/// Asks as a shell does while the last of these words is typed.
fn asked(repo: &TestRepo, shell: &str, words: &[&str]) -> Run {
    let mut command = repo.command(repo.program());
    command
        .env("EVOLVE_COMPLETE", shell)
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .args(["--", "evolve"])
        .args(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    finish(command.spawn().unwrap())
}

#[track_caller]
fn proposed(repo: &TestRepo, words: &[&str]) -> Vec<String> {
    let run = asked(repo, "bash", words).expect(0);
    assert_eq!(run.stderr, "");
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn goals_cycles_agents_schemas_and_topics_are_known() {
    let repo = lived_in();
    assert_eq!(proposed(&repo, &["retry", "has"]), ["has-a", "has-b"]);
    assert_eq!(proposed(&repo, &["measure", "other", "has-b"]), ["has-b"]);
    let of_lessons = ["lessons", "list", "--goal", "has"];
    assert_eq!(proposed(&repo, &of_lessons), ["has-a", "has-b"]);
    assert_eq!(proposed(&repo, &["show", ""])[0], "1");
    assert_eq!(proposed(&repo, &["--agent", "cl"]), ["claude"]);
    assert_eq!(proposed(&repo, &["schema", "sn"]), ["snapshot"]);
    assert_eq!(proposed(&repo, &["help", "exit"]), ["exit-codes"]);
    assert!(proposed(&repo, &["do"]).contains(&"doctor".to_owned()));
    fs::create_dir(repo.path("below")).unwrap();
    assert_eq!(proposed(&repo, &["-C", "b"]), ["below/"]);
    let folders = proposed(&repo, &["-C", ""]);
    assert!(!folders.contains(&"GOALS.yaml".to_owned()), "{folders:?}");
    let modes = ["auto", "bwrap", "landlock", "none"];
    assert_eq!(proposed(&repo, &["--sandbox", ""]), modes);
    for (option, words) in [
        ("--strategy", ["climb", "population"]),
        ("--direction", ["max", "min"]),
        ("--sandbox", ["bwrap", "landlock"]),
    ] {
        let proposed = proposed(&repo, &["search", option, ""]);
        assert!(
            words
                .iter()
                .all(|word| proposed.contains(&(*word).to_owned())),
            "{option}: {proposed:?}"
        );
    }
}

#[test]
fn work_and_lessons_are_known_by_their_ids() {
    let repo = lived_in();
    repo.evolve(&["work", "add", "Split the parser"]).expect(0);
    let lesson = r#"{"format":1,"goal_id":"has-a","cycle":1,"timestamp":"2026-02-03T04:05:06Z","text":"the cache lies"}"#;
    repo.write(".agents/evolve/lessons.jsonl", &format!("{lesson}\n"));
    repo.commit_all("a lesson");
    for (words, command) in [
        (["work", "drop", ""], ["work", "list", "--json"]),
        (["lessons", "drop", ""], ["lessons", "list", "--json"]),
    ] {
        let proposed = proposed(&repo, &words);
        let listed = repo.evolve(&command).expect(0).stdout;
        let id = proposed
            .iter()
            .find(|id| listed.contains(&format!("\"{id}\"")));
        assert!(id.is_some(), "{proposed:?} {listed}");
    }
}

#[test]
fn the_attempts_of_a_search_are_known_the_newest_first() {
    let repo = TestRepo::empty();
    repo.write("value", "2\n");
    repo.commit_all("first");
    let search = [
        "search",
        "cat value",
        "--files",
        "value",
        "--max-attempts=2",
        "--seed=1",
    ];
    let agent = ["--agent", "echo 3 >value"];
    repo.evolve(&[&search[..], &agent].concat()).expect(0);
    assert_eq!(
        proposed(&repo, &["search", "show", ""])[..3],
        ["2", "1", "0"]
    );
    assert_eq!(proposed(&repo, &["search", "diff", "1"]), ["1"]);
    assert_eq!(proposed(&repo, &["search", "b"]), ["board"]);
}

#[test]
fn the_goals_are_those_of_the_file_and_folder_that_the_line_names() {
    let repo = lived_in();
    repo.write(
        "more.yaml",
        "goals:\n  - {id: elsewhere, description: d, check: 'true', weight: 1}\n",
    );
    assert_eq!(
        proposed(&repo, &["retry", "--goals", "more.yaml", "e"]),
        ["elsewhere"]
    );
    let root = repo.root().display().to_string();
    let mut command = repo.command(repo.program());
    command
        .current_dir("/")
        .env("EVOLVE_COMPLETE", "fish")
        .args(["--", "evolve", "-C", &root, "retry", "oth"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let run = finish(command.spawn().unwrap()).expect(0);
    assert_eq!(run.stdout.trim_end(), "other\tfile other exists");
}

#[test]
fn zsh_and_fish_are_told_what_each_goal_is_about() {
    let repo = lived_in();
    let run = asked(&repo, "zsh", &["retry", "has-b"]).expect(0);
    assert_eq!(run.stdout.trim_end(), "has-b:file has-b exists");
    let run = asked(&repo, "fish", &["retry", "has-b"]).expect(0);
    assert_eq!(run.stdout.trim_end(), "has-b\tfile has-b exists");
    let run = asked(&repo, "fish", &["show", "1"]).expect(0);
    assert_eq!(run.stdout.trim_end(), "1\timproved · has-a");
}

#[test]
fn a_shell_that_registers_the_completion_gets_the_goals() {
    let repo = lived_in();
    let script = format!(
        "source <(EVOLVE_COMPLETE=bash '{}')\nCOMP_WORDS=(evolve retry o) COMP_CWORD=2\n_clap_complete_evolve evolve o retry\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        repo.program().display()
    );
    let mut bash = repo.command("bash");
    bash.args(["-c", &script]);
    let output = crate::harness::output(&mut bash);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "other\n");
    for shell in ["zsh", "fish"] {
        let mut command = repo.command(repo.program());
        command.env("EVOLVE_COMPLETE", shell);
        let script = crate::harness::output(&mut command).stdout;
        assert!(String::from_utf8_lossy(&script).contains("EVOLVE_COMPLETE"));
    }
}

#[test]
fn the_command_for_completions_names_the_shells_and_prints_what_each_reads() {
    let repo = lived_in();
    let named = repo.answer(&["completions"]);
    for line in [
        "source <(evolve completions bash)",
        "source <(evolve completions zsh)",
        "evolve completions fish | source",
    ] {
        assert!(named.contains(line), "{named}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let mut command = repo.command(repo.program());
        command.env("EVOLVE_COMPLETE", shell);
        let script = crate::harness::output(&mut command).stdout;
        let printed = repo.answer(&["completions", shell]);
        assert_eq!(printed, String::from_utf8_lossy(&script));
    }
    let said = repo.error(2, &["completions", "csh"]);
    assert!(
        said.contains("[possible values: bash, zsh, fish]"),
        "{said}"
    );
}

#[test]
fn where_nothing_can_be_told_nothing_is_proposed_and_nothing_said() {
    let repo = TestRepo::empty();
    let silent = |words: &[&str]| {
        let run = asked(&repo, "bash", words).expect(0);
        assert_eq!(
            (run.stdout.as_str(), run.stderr.as_str()),
            ("", ""),
            "{words:?}"
        );
    };
    silent(&["retry", "a"]);
    silent(&["show", "1"]);
    repo.write("GOALS.yaml", "goals: [\n");
    silent(&["retry", "a"]);
    fs::remove_file(repo.path("GOALS.yaml")).unwrap();
    let pipe = repo.path("GOALS.yaml");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    silent(&["retry", "a"]);
    silent(&["-C", "/nowhere", "retry", "a"]);
}

#[test]
fn a_manual_page_is_printed_or_written_for_each_command() {
    let repo = TestRepo::empty();
    let page = repo.answer(&["man"]);
    assert!(page.contains(".TH evolve 1"), "{page}");
    let folder = repo.out("man").display().to_string();
    repo.evolve(&["man", "--out", &folder]).expect(0);
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in [
        "evolve.1",
        "evolve-measure.1",
        "evolve-work-add.1",
        "evolve-doctor.1",
    ] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    assert!(
        !names.iter().any(|name| name.contains("work-help")),
        "{names:?}"
    );
    let page = fs::read_to_string(repo.out("man/evolve-measure.1")).unwrap();
    assert!(page.contains("\\-\\-gate"), "{page}");
    assert!(page.contains("\n.SH \"EXIT STATUS\"\n"), "{page}");
    assert!(!page.contains(".SH \"FILES\"\n"), "{page}");
    // As the pages of `evolve help` say it, nothing of which is a request to the program that sets it.
    let whole = fs::read_to_string(repo.out("man/evolve.1")).unwrap();
    let whole = whole.replace("\\&", "").replace("\\-", "-");
    for (words, heading) in [("exit-codes", "EXIT STATUS"), ("files", "FILES")] {
        let said = repo.answer(&["help", words]);
        let (_, said) = said.split_once("\n\n").unwrap();
        let wanted = format!(".SH \"{heading}\"\n.nf\n{}\n.fi\n", said.trim_end());
        assert!(whole.contains(&wanted), "{wanted}\nis not in\n{whole}");
    }
    let help = repo.answer(&["-h"]);
    assert!(help.contains("\n  man "), "{help}");
}
