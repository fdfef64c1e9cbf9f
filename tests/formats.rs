//! Every format that is written has a frozen sample of what the program wrote: it is still read, and still what its schema
//! describes. A sample is never edited; a new version of a format gets a new folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use evolve::effects::journal::Journal;
use evolve::model::goals::{self, AgentSpec};
use evolve::model::lesson::Lesson;
use evolve::model::record::{History, Record, TakenBack};
use evolve::model::snapshot::Snapshot;
use evolve::model::strikes::Retry;
use evolve::model::told::Told;
use evolve::model::work::Queue;
use evolve::model::{schema, work};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::harness::TestRepo;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The frozen samples of a version, as paths.
fn samples() -> Vec<PathBuf> {
    let folder = root().join("tests/formats/v1");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

fn sample(name: &str) -> String {
    let path = root().join("tests/formats/v1").join(name);
    fs::read_to_string(&path).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()))
}

/// The format of a sample: the name of its file.
fn format_of(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

/// The documents that a sample holds: one, or one a line.
fn documents(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    match path.extension().unwrap().to_str().unwrap() {
        "json" => vec![serde_json::from_str(&text).unwrap()],
        "jsonl" => text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
        "yaml" => vec![serde_yaml::from_str(&text).unwrap()],
        other => panic!("a sample ends with {other}"),
    }
}

#[test]
fn every_format_has_a_frozen_sample_that_its_schema_describes() {
    let mut seen = BTreeSet::new();
    for path in samples() {
        let name = format_of(&path);
        let documents = documents(&path);
        assert!(!documents.is_empty(), "{name} is empty");
        for document in documents {
            assert_eq!(schema::check(name, &document), Ok(()), "{name}");
        }
        seen.insert(name.to_owned());
    }
    assert_eq!(seen, schema::names().map(str::to_owned).collect());
}

/// Asserts that each document of a sample is read as a `T`, and that nothing of it is lost on the way back.
#[track_caller]
fn comes_back<T: DeserializeOwned + Serialize>(file: &str) {
    for document in documents(&root().join("tests/formats/v1").join(file)) {
        let read: T = serde_json::from_value(document.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), document);
    }
}

#[test]
fn what_was_written_then_is_read_now_and_written_the_same() {
    comes_back::<Snapshot>("snapshot.json");
    comes_back::<Record>("record.jsonl");
    comes_back::<Lesson>("lesson.jsonl");
    comes_back::<Retry>("retry.jsonl");
    comes_back::<Journal>("journal.json");
    comes_back::<Told>("session.json");
    let history: Vec<Record> = serde_json::from_value(
        documents(&root().join("tests/formats/v1/history.json"))[0]["records"].clone(),
    )
    .unwrap();
    let read = History::parse(&sample("record.jsonl"));
    assert_eq!(
        (read.records, read.problems),
        (history, Vec::<String>::new())
    );
}

#[test]
fn a_queue_with_both_forms_of_lines_is_read_and_written_byte_for_byte() {
    let text = sample("work.jsonl");
    let queue = Queue::parse(&text);
    assert_eq!(queue.problems(), Vec::<String>::new());
    assert_eq!(queue.to_text(), text);
    let count = |is_entry: bool| {
        text.lines()
            .filter(|line| line.contains("\"items\"") == is_entry)
            .count()
    };
    assert!(count(true) > 0 && count(false) > 0, "{text}");
    assert_eq!(
        queue.counts("calc", &TakenBack::default()),
        work::Counts {
            open: 0,
            set_aside: 0,
            consumed: 4,
            ..work::Counts::default()
        }
    );
    assert_eq!(queue.open("elsewhere").len(), 1);
}

#[test]
fn the_sample_of_events_has_each_kind() {
    let known: Value = serde_json::from_str(schema::text("event").unwrap()).unwrap();
    let known: BTreeSet<String> = known["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| {
            kind["properties"]["event"]["const"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let seen: BTreeSet<String> = documents(&root().join("tests/formats/v1/event.jsonl"))
        .iter()
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(seen, known);
}

#[test]
fn the_goals_file_and_the_configuration_are_read_as_they_were() {
    let (goals, warnings) =
        goals::read_goals("goals.yaml", sample("goals.yaml").as_bytes()).unwrap();
    assert_eq!(warnings, []);
    let ids: Vec<_> = goals
        .goals
        .iter()
        .map(|goal| (goal.id.as_str(), goal.weight))
        .collect();
    assert_eq!(
        ids,
        [
            ("tests-pass", 9),
            ("open-ends", 4),
            ("usage-documented", 3),
            ("linted", 1)
        ]
    );
    assert!(goals.goals[0].alone);
    assert_eq!(goals.goals[1].threshold(), Some(0.0));
    let config = goals::read_config("config.yaml", sample("config.yaml").as_bytes()).unwrap();
    assert_eq!(
        config.agent,
        Some(AgentSpec::Line("my-agent --print".to_owned()))
    );
    assert_eq!((config.jobs, config.limits.max_cycles), (Some(2), Some(50)));
}

#[test]
fn a_repository_with_a_ledger_of_then_goes_on_where_it_was() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    for (file, name) in [
        ("record.jsonl", "evolve/cycle-history.jsonl"),
        ("lesson.jsonl", "evolve/lessons.jsonl"),
        ("retry.jsonl", "evolve/retries.jsonl"),
        ("snapshot.json", "evolve/fitness-1-post.json"),
        ("work.jsonl", "rpi/next-work.jsonl"),
    ] {
        repo.write(&format!(".agents/{name}"), &sample(file));
    }
    repo.commit_all("ledger");
    repo.answer(&["status"]);
    repo.answer(&["show", "1"]);
    let run = repo.cycle("touch a").expect(0);
    assert_eq!(run.stderr, "");
    assert_eq!(repo.newest()["cycle"], 13);
    assert!(
        repo.read(".agents/evolve/cycle-history.jsonl")
            .starts_with(&sample("record.jsonl"))
    );
    assert_eq!(
        repo.read(".agents/evolve/lessons.jsonl"),
        sample("lesson.jsonl")
    );
    assert!(
        repo.brief(1).contains("a mark is an open end"),
        "{}",
        repo.brief(1)
    );
}

#[test]
fn a_session_that_died_with_a_journal_of_then_is_settled() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let mut journal: Value = serde_json::from_str(&sample("journal.json")).unwrap();
    // Commits cannot be frozen: those of the sample are exchanged for this repository's.
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    for (name, value) in [
        ("commit", repo.head()),
        ("tree", tree.clone()),
        ("content", tree),
    ] {
        journal["start"][name] = value.into();
    }
    journal["record"]["commit_sha"] = repo.head().into();
    fs::create_dir_all(repo.private()).unwrap();
    fs::write(repo.private().join("journal.json"), journal.to_string()).unwrap();
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn the_example_and_this_projects_own_goals_are_valid() {
    for name in ["GOALS.example.yaml", "GOALS.yaml"] {
        let path = root().join(name);
        let document: Value = serde_yaml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(schema::check("goals", &document), Ok(()), "{name}");
        let repo = TestRepo::empty();
        // What the example links is there.
        fs::create_dir(repo.path("data")).unwrap();
        repo.write(".env.test", "");
        let said = repo.answer(&["validate", "--goals", path.to_str().unwrap()]);
        assert!(said.contains("no problems"), "{said}");
    }
}

#[test]
fn the_example_runs_as_it_is_where_another_agent_is_named() {
    let repo = TestRepo::empty();
    let example = fs::read_to_string(root().join("GOALS.example.yaml")).unwrap();
    repo.write("GOALS.yaml", &example);
    repo.write("words", "blanks at the end  \n");
    repo.commit_all("first");
    repo.agent_does(&["echo none >words"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("goal_id"), ["whitespace-clean"]);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn the_built_in_agents_are_written_as_users_write_theirs() {
    let text = fs::read_to_string(root().join("src/model/agent/presets.yaml")).unwrap();
    let agents: Value = serde_yaml::from_str(&text).unwrap();
    let settings = serde_json::json!({ "agents": agents });
    assert_eq!(schema::check("config", &settings), Ok(()));
    let settings = serde_yaml::to_string(&settings).unwrap();
    let read = goals::read_config("config.yaml", settings.as_bytes()).unwrap();
    assert_eq!(read.agents, goals::read_agents(text.as_bytes()).unwrap());
    let wrong = serde_json::json!({"agents": {"a": {"output": {"format": "jsonl", "rules": [{"cost": "x"}]}}}});
    assert!(schema::check("config", &wrong).is_err());
}
