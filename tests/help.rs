//! The pages of `evolve help`, held against what is true, and the help of each command by the same word.

use std::collections::BTreeSet;

use evolve::error::Kind;
use evolve::model::agent::BUILT_IN;
use evolve::model::{ledger, schema};
use insta::assert_snapshot;
use regex::Regex;
use serde_json::Value;

use crate::harness::TestRepo;

const PAGES: [&str; 5] = ["goals", "agents", "searching", "exit-codes", "files"];

fn page(name: &str) -> String {
    TestRepo::empty().answer(&["help", name])
}

fn found<'t>(pattern: &str, text: &'t str) -> BTreeSet<&'t str> {
    let pattern = Regex::new(pattern).unwrap();
    let all = pattern.captures_iter(text);
    all.map(|one| one.get(1).unwrap().as_str()).collect()
}

/// Every key that a part of the schema of GOALS.yaml tells of.
fn keys(part: &Value, known: &mut BTreeSet<String>) {
    match part {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                known.extend(properties.keys().cloned());
            }
            map.values().for_each(|value| keys(value, known));
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, known)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn goals_schema() -> Value {
    serde_json::from_str(schema::text("goals").unwrap()).unwrap()
}

#[test]
fn each_page_fits_a_screen_and_the_help_lists_them() {
    let repo = TestRepo::empty();
    let whole = repo.answer(&["help"]);
    for name in PAGES {
        let page = repo.answer(&["help", name]);
        assert!(page.lines().count() < 60, "{name}");
        let widest = page.lines().map(|line| line.chars().count()).max();
        assert!(widest.unwrap() <= 80, "{name}: {widest:?}");
        assert!(
            whole.contains(&format!("\n  evolve help {name} ")),
            "{whole}"
        );
    }
}

#[test]
fn the_help_of_a_command_is_the_same_by_either_way_and_a_mistyped_word_names_the_nearest() {
    let repo = TestRepo::empty();
    assert_eq!(
        repo.answer(&["help", "measure"]),
        repo.answer(&["measure", "--help"])
    );
    assert_eq!(
        repo.answer(&["help", "work", "add"]),
        repo.answer(&["work", "add", "--help"])
    );
    assert_eq!(repo.answer(&["help"]), repo.answer(&["--help"]));
    assert_snapshot!(repo.error(2, &["help", "completing"]), @r#"
    error: there is no help on completing
    hint: source <(evolve completions bash) in your shell's start file has words completed, for zsh and fish, too
    "#);
    for (word, near) in [("mesure", "measure"), ("exit-code", "exit-codes")] {
        let said = repo.error(2, &["help", word]);
        assert!(
            said.contains(&format!("hint: did you mean `{near}`?")),
            "{said}"
        );
    }
}

#[test]
fn the_page_of_goals_has_every_key_and_none_that_does_not_exist() {
    let page = page("goals");
    let schema = goals_schema();
    let mut all = BTreeSet::new();
    keys(&schema["properties"], &mut all);
    let mut of_agents = BTreeSet::new();
    keys(
        &schema["properties"]["evolve"]["properties"]["agent"],
        &mut of_agents,
    );
    keys(
        &schema["properties"]["evolve"]["properties"]["agents"],
        &mut of_agents,
    );
    let words = found(r"([A-Za-z_]+)", &page);
    let mut top = BTreeSet::new();
    keys(&schema["properties"]["goals"], &mut top);
    top.extend(["version", "mission", "evolve", "goals"].map(str::to_owned));
    for key in all.difference(&of_agents).chain(&top) {
        assert!(words.contains(key.as_str()), "{key} is not on the page");
    }
    let named = found(r"(?m)^ +(?:- )?([a-z_]+):(?: |$)", &page);
    for key in named {
        assert!(all.contains(key) || top.contains(key), "there is no {key}");
    }
}

#[test]
fn the_page_of_agents_has_every_preset_and_key_and_none_that_does_not_exist() {
    let page = page("agents");
    let presets = page.lines().find(|line| line.starts_with("  claude"));
    let presets: Vec<&str> = presets.unwrap().split_whitespace().collect();
    assert_eq!(presets, BUILT_IN);
    let schema = goals_schema();
    let evolve = &schema["properties"]["evolve"]["properties"];
    let mut all = BTreeSet::new();
    keys(&evolve["agent"], &mut all);
    let entry = &schema["definitions"]["agent"]["properties"];
    all.extend(entry.as_object().unwrap().keys().cloned());
    for part in ["output", "cannot_run"] {
        keys(&entry[part], &mut all);
    }
    let refusal = &schema["definitions"]["refusal"];
    keys(refusal, &mut all);
    let words = found(r"([A-Za-z_]+)", &page);
    for key in &all {
        assert!(words.contains(key.as_str()), "{key} is not on the page");
    }
    for key in found(r"(?m)^  ([a-z_]+):(?: |$)", &page) {
        assert!(all.contains(key), "there is no {key}");
    }
    let variables = found(r"(?m)\b(EVOLVE_[A-Z_]+)", &page);
    let help = TestRepo::empty().answer(&["-h"]);
    let readme = include_str!("../README.md");
    for variable in variables {
        let is_known = readme.contains(variable) || help.contains(variable);
        assert!(is_known, "there is no {variable}");
    }
}

#[test]
fn the_page_of_searches_has_every_key_of_search_yaml_and_none_that_does_not_exist() {
    let page = page("searching");
    let schema: serde_json::Value = serde_json::from_str(schema::text("search").unwrap()).unwrap();
    let keys = schema["properties"].as_object().unwrap().keys();
    let known: BTreeSet<&str> = keys.map(String::as_str).collect();
    assert_eq!(found(r"(?m)^ {2,4}([a-z_]+):(?: |$)", &page), known);
    let commands = TestRepo::empty().answer(&["search", "--help"]);
    for command in found(r"`([a-z]+)`", page.rsplit("\n\n").next().unwrap()) {
        let is_command = commands.contains(&format!("\n  {command} "));
        assert!(is_command || command == "search", "{command}: {commands}");
    }
}

#[test]
fn the_page_of_exit_codes_names_each_command_that_ends_with_10() {
    let page = page("exit-codes");
    let line = page.lines().skip_while(|line| !line.starts_with("   10  "));
    let line: Vec<&str> = line
        .take_while(|line| !line.starts_with("   11  "))
        .collect();
    for command in ["measure --gate", "audit", "doctor", "undo"] {
        assert!(
            line.join(" ").contains(&format!("`{command}`")),
            "{command}: {line:?}"
        );
    }
}

#[test]
fn the_page_of_exit_codes_has_those_of_the_program_and_of_the_readme() {
    let page = page("exit-codes");
    let codes: BTreeSet<u8> = found(r"(?m)^ {2,4}(\d+)  ", &page)
        .into_iter()
        .map(|code| code.parse().unwrap())
        .collect();
    let kinds = [
        Kind::Internal,
        Kind::Usage,
        Kind::Unsafe,
        Kind::Agent,
        Kind::Locked,
        Kind::Failing,
        Kind::Human,
        Kind::Signal(1),
        Kind::Signal(2),
        Kind::Signal(15),
        Kind::Killed,
    ];
    let known: BTreeSet<u8> = kinds.into_iter().map(Kind::exit_code).collect();
    assert_eq!(codes, known);
    let readme = include_str!("../README.md");
    let (_, section) = readme.split_once("## Exit codes\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let of_readme: BTreeSet<u8> = found(r"(?m)^\| ([0-9, ]+) \|", section)
        .into_iter()
        .flat_map(|row| row.split(", "))
        .map(|code| code.parse().unwrap())
        .collect();
    assert_eq!(codes, of_readme);
}

#[test]
fn the_page_of_files_has_every_file_and_none_that_does_not_exist() {
    let page = page("files");
    let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    let snapshot = |path: String| name(&path).replace('7', "N");
    let mut known: BTreeSet<String> = [
        ledger::QUEUE,
        ledger::HISTORY,
        ledger::BASELINE,
        ledger::BASELINE_REPORT,
        ledger::SUMMARY,
        ledger::DELTA,
        ledger::LESSONS,
        ledger::RETRIES,
        ledger::LAST_SWEEP,
        ledger::STOP,
        ledger::KILLED,
        ledger::OUTBOX,
    ]
    .map(name)
    .into();
    known.extend([
        name(&ledger::segment(1)),
        snapshot(ledger::snapshot(7)),
        snapshot(ledger::post_snapshot(7)),
        "GOALS.yaml".to_owned(),
        "config.yaml".to_owned(),
    ]);
    for file in &known {
        assert!(page.contains(file.as_str()), "{file} is not on the page");
    }
    for file in found(r"([A-Za-z0-9.-]+\.(?:jsonl|json|md|yaml))\b", &page) {
        assert!(known.contains(file), "there is no {file}");
    }
    assert!(page.contains(&format!("{}/", ledger::FOLDER)));
}

#[test]
fn who_asks_for_the_loop_or_what_belongs_to_it_by_a_name_is_told_where_it_is() {
    let repo = TestRepo::empty();
    for word in ["run", "start"] {
        let said = repo.evolve(&[word]).expect(2).stderr;
        assert!(said.contains("`evolve` alone runs the loop"), "{said}");
        assert!(!said.contains("undo"), "{said}");
    }
    for (word, way) in [
        ("sweep", "`evolve` alone runs the loop, which sweeps when"),
        ("queue", "`evolve work list` lists the queue"),
        ("goals", "`evolve validate` lists the goals"),
        ("agents", "`evolve help agents`"),
        ("cycl", "`evolve` alone runs the loop"),
        ("goalss", "`evolve validate` lists the goals"),
    ] {
        let said = repo.evolve(&[word]).expect(2).stderr;
        assert!(said.contains(way), "{word}: {said}");
    }
    // A command of another command is something else.
    let said = repo.evolve(&["work", "run"]).expect(2).stderr;
    assert!(!said.contains("`evolve` alone"), "{said}");
    let said = repo.evolve(&["-q", "run"]).expect(2).stderr;
    assert!(said.contains("`evolve` alone runs the loop"), "{said}");
    let said = repo.evolve(&["und"]).expect(2).stderr;
    assert!(said.contains("undo"), "{said}");
}
