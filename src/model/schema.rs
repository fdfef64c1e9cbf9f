//! The JSON Schemas of everything that is written or printed, embedded, and the check against them. Pure.

use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

/// Name and text of each schema, in alphabetical order.
const SCHEMAS: [(&str, &str); 25] = [
    ("audit", include_str!("../../schemas/audit.schema.json")),
    ("call", include_str!("../../schemas/call.schema.json")),
    ("config", include_str!("../../schemas/config.schema.json")),
    ("doctor", include_str!("../../schemas/doctor.schema.json")),
    ("event", include_str!("../../schemas/event.schema.json")),
    ("goals", include_str!("../../schemas/goals.schema.json")),
    ("history", include_str!("../../schemas/history.schema.json")),
    ("journal", include_str!("../../schemas/journal.schema.json")),
    ("killed", include_str!("../../schemas/killed.schema.json")),
    ("lesson", include_str!("../../schemas/lesson.schema.json")),
    ("lessons", include_str!("../../schemas/lessons.schema.json")),
    ("queue", include_str!("../../schemas/queue.schema.json")),
    ("ratchet", include_str!("../../schemas/ratchet.schema.json")),
    ("record", include_str!("../../schemas/record.schema.json")),
    ("retry", include_str!("../../schemas/retry.schema.json")),
    ("search", include_str!("../../schemas/search.schema.json")),
    (
        "search-board",
        include_str!("../../schemas/search-board.schema.json"),
    ),
    (
        "search-show",
        include_str!("../../schemas/search-show.schema.json"),
    ),
    (
        "search-status",
        include_str!("../../schemas/search-status.schema.json"),
    ),
    ("session", include_str!("../../schemas/session.schema.json")),
    ("show", include_str!("../../schemas/show.schema.json")),
    (
        "snapshot",
        include_str!("../../schemas/snapshot.schema.json"),
    ),
    ("status", include_str!("../../schemas/status.schema.json")),
    (
        "validation",
        include_str!("../../schemas/validation.schema.json"),
    ),
    ("work", include_str!("../../schemas/work.schema.json")),
];

static VALIDATORS: [OnceLock<Validator>; SCHEMAS.len()] =
    [const { OnceLock::new() }; SCHEMAS.len()];

/// Returns the names of all schemas, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(name, _)| *name)
}

/// Returns the text of the schema called `name`.
pub fn text(name: &str) -> Option<&'static str> {
    index(name).map(|index| SCHEMAS[index].1)
}

/// Returns what the schema called `name` says that it describes; nothing where there is none.
pub fn about(name: &str) -> String {
    let schema = text(name).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let about = schema.and_then(|schema| Some(schema.get("description")?.as_str()?.to_owned()));
    about.unwrap_or_default()
}

/// Holds `value` against the schema called `name`; the error lists everything that is wrong, each with its place.
pub fn check(name: &str, value: &Value) -> Result<(), String> {
    let index = index(name).ok_or_else(|| {
        let known: Vec<&str> = names().collect();
        format!("there is no schema {name}; known are {}", known.join(", "))
    })?;
    let problems: Vec<String> = validator(index)
        .iter_errors(value)
        .map(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "/" } else { &place };
            format!("{place}: {error}")
        })
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("not a valid {name}: {}", problems.join("; ")))
}

/// Returns the keys of `value` that the schema called `name` does not tell of, as the paths that lead to them.
pub fn unknown_keys(name: &str, value: &Value) -> Vec<String> {
    static PARSED: [OnceLock<Value>; SCHEMAS.len()] = [const { OnceLock::new() }; SCHEMAS.len()];
    let mut found = Vec::new();
    if let Some(index) = index(name) {
        let root = PARSED[index].get_or_init(|| {
            serde_json::from_str(SCHEMAS[index].1).expect("BUG: an embedded schema is JSON")
        });
        find_unknown(root, root, value, "", &mut found);
    }
    found
}

fn find_unknown(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(named) = schema["$ref"]
        .as_str()
        .and_then(|named| root.pointer(named.strip_prefix('#')?))
    {
        return find_unknown(root, named, value, path, found);
    }
    let is_object = |one: &&Value| one.get("properties").is_some();
    let schema = schema["oneOf"]
        .as_array()
        .and_then(|all| all.iter().find(is_object))
        .unwrap_or(schema);
    match value {
        Value::Object(fields) => {
            let Some(known) = schema["properties"].as_object() else {
                return;
            };
            for (key, value) in fields {
                match known.get(key) {
                    Some(schema) => {
                        find_unknown(root, schema, value, &format!("{path}{key}."), found);
                    }
                    None => found.push(format!("{path}{key}")),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                find_unknown(root, &schema["items"], item, path, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Makes the check against the schema called `name` ready, which takes some milliseconds: for another thread to do while this one
/// waits for something else.
pub fn prepare(name: &str) {
    index(name).map(validator);
}

fn validator(index: usize) -> &'static Validator {
    VALIDATORS[index].get_or_init(|| build(SCHEMAS[index].1))
}

fn index(name: &str) -> Option<usize> {
    SCHEMAS.iter().position(|(known, _)| *known == name)
}

fn build(text: &str) -> Validator {
    let schema = serde_json::from_str(text).expect("BUG: an embedded schema is JSON");
    jsonschema::validator_for(&schema).expect("BUG: an embedded schema is a valid schema")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::record::{AgentReport, CycleResult, Record};
    use crate::model::snapshot::{CheckResult, FORMAT, Measurement, Snapshot};
    use crate::model::work::{NewItem, Queue};

    #[test]
    fn keys_that_a_schema_does_not_tell_of_are_named_wherever_they_are() {
        let mut snapshot = serde_json::to_value(snapshot()).expect("JSON");
        assert_eq!(unknown_keys("snapshot", &snapshot), Vec::<String>::new());
        snapshot["evil"] = json!({"deeper": 1});
        snapshot["goals"][0]["more"] = json!(1);
        assert_eq!(unknown_keys("snapshot", &snapshot), ["goals.more", "evil"]);
        let record = json!({"cycle": 1, "agent": {"name": "a", "x": 1}, "notes": ["y"]});
        assert_eq!(unknown_keys("record", &record), ["agent.x"]);
        assert_eq!(
            unknown_keys("record", &json!({"agent": null})),
            Vec::<String>::new()
        );
    }

    fn parsed(name: &str) -> Value {
        serde_json::from_str(text(name).expect("a schema")).expect("JSON")
    }

    fn accepts(name: &str, value: impl serde::Serialize) {
        let value = serde_json::to_value(value).expect("JSON");
        assert_eq!(check(name, &value), Ok(()), "{value}");
    }

    fn measurement() -> Measurement {
        Measurement {
            id: "tests-pass".to_owned(),
            result: CheckResult::Fail,
            weight: 9,
            value: Some(1.5),
            threshold: None,
            duration_s: 0.25,
            reason: Some("exit 1".to_owned()),
            exit: Some(1),
            attempts: 2,
            flaky: true,
            tolerated: true,
            output_tail: Some("boom".to_owned()),
        }
    }

    fn snapshot() -> Snapshot {
        let time = "2026-02-11T21:00:00Z".to_owned();
        let mut snapshot = Snapshot::new(None, time, None, "d".to_owned(), vec![measurement()]);
        snapshot.taken_from = Some("fitness-1-post.json".to_owned());
        snapshot
    }

    fn record() -> Record {
        Record {
            format: FORMAT,
            cycle: 3,
            goal_id: Some("tests-pass".to_owned()),
            result: CycleResult::Regressed,
            commit_sha: "a".repeat(40),
            reverted_to: Some("b".repeat(64)),
            goals_passing: 1,
            goals_total: 2,
            goals_added: 0,
            timestamp: "2026-02-11T21:00:00.25Z".to_owned(),
            score_before: Some(61.5),
            score_after: None,
            newly_failing: vec!["a".to_owned()],
            newly_passing: vec![],
            reason: Some("a fails".to_owned()),
            definition: None,
            content: None,
            session: Some("s".to_owned()),
            agent: Some(AgentReport {
                name: "claude".to_owned(),
                status: "done".to_owned(),
                exit: None,
                duration_s: 12.0,
                tokens: Some(5),
                cost_usd: None,
            }),
            notes: vec!["Makefile changed".to_owned()],
        }
    }

    #[test]
    fn every_schema_is_valid_draft_7_with_a_title() {
        for (index, name) in names().enumerate() {
            let schema = parsed(name);
            assert!(jsonschema::meta::is_valid(&schema), "{name}");
            assert_eq!(
                schema["$schema"], "http://json-schema.org/draft-07/schema#",
                "{name}"
            );
            assert!(schema["title"].is_string(), "{name}");
            build(SCHEMAS[index].1);
        }
        assert!(names().is_sorted());
        assert!(check("nothing", &json!({})).is_err_and(|message| message.contains("snapshot")));
    }

    #[test]
    fn every_property_is_described() {
        fn walk(value: &Value, place: &str) {
            if let Some(properties) = value.get("properties").and_then(Value::as_object) {
                for (name, property) in properties {
                    let is_described =
                        property["description"].is_string() || property.get("$ref").is_some();
                    assert!(is_described, "{place}/{name} has no description");
                }
            }
            match value {
                Value::Object(map) => map
                    .iter()
                    .for_each(|(key, inner)| walk(inner, &format!("{place}/{key}"))),
                Value::Array(list) => list.iter().for_each(|inner| walk(inner, place)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        for name in names() {
            walk(&parsed(name), name);
        }
    }

    #[test]
    fn what_a_schema_borrows_is_the_same_everywhere() {
        for name in ["event", "history", "show", "status"] {
            let mut original = parsed("record");
            let map = original.as_object_mut().expect("an object");
            map.shift_remove("$schema");
            assert_eq!(parsed(name)["definitions"]["record"], original, "{name}");
        }
        assert_eq!(
            parsed("goals")["definitions"],
            parsed("config")["definitions"]
        );
        let agents = &parsed("config")["properties"]["agents"];
        assert_eq!(
            &parsed("goals")["properties"]["evolve"]["properties"]["agents"],
            agents
        );
        let measurement = &parsed("snapshot")["definitions"]["measurement"];
        for name in ["event", "show"] {
            assert_eq!(&parsed(name)["definitions"]["measurement"], measurement);
        }
        let mut snapshot = parsed("snapshot");
        let map = snapshot.as_object_mut().expect("an object");
        map.shift_remove("$schema");
        map.shift_remove("definitions");
        assert_eq!(parsed("show")["definitions"]["snapshot"], snapshot);
        let item = &parsed("work")["definitions"]["item"];
        let mut listed = parsed("queue")["definitions"]["item"].clone();
        let properties = listed["properties"].as_object_mut().expect("properties");
        // Only a list tells what an item is called.
        assert!(properties.shift_remove("id").is_some());
        assert_eq!(&listed, item);
    }

    #[test]
    fn what_the_program_writes_is_valid() {
        accepts("snapshot", snapshot());
        accepts("record", record());
        let idle = Record {
            goal_id: None,
            result: CycleResult::Idle,
            reverted_to: None,
            agent: None,
            notes: vec![],
            ..record()
        };
        accepts("record", &idle);
        accepts(
            "history",
            json!({"format": FORMAT, "records": [record(), idle]}),
        );
        let mut queue = Queue::default();
        queue.add(
            NewItem {
                title: "a".to_owned(),
                target_repo: Some("*".to_owned()),
                ..NewItem::default()
            },
            "2026-02-11T21:00:00Z",
        );
        let key = queue.items()[0].key;
        for step in 0..4 {
            let line: Value = serde_json::from_str(&queue.to_text()).expect("JSON");
            accepts("work", &line);
            accepts(
                "work",
                json!({"source_epic": "e", "items": [line], "consumed": false}),
            );
            match step {
                0 => queue.claim(key, "s", "2026-02-11T21:00:00Z"),
                1 => queue.fail(key, "2026-02-11T21:00:00Z"),
                _ => queue.consume(key, "s", "2026-02-11T21:00:00Z"),
            }
        }
    }

    #[test]
    fn the_small_documents_are_described_as_they_are_written() {
        let time = "2026-02-11T21:00:00Z";
        accepts(
            "lesson",
            json!({"format": 1, "goal_id": "a", "cycle": 1, "timestamp": time, "text": "x"}),
        );
        accepts(
            "retry",
            json!({"format": 1, "goal_id": "a", "after_cycle": 0, "at": time}),
        );
        accepts(
            "killed",
            json!({"format": 1, "killed_at": time, "cycle": 0, "reason": "enough"}),
        );
        accepts(
            "journal",
            json!({"format": 1, "session": "s", "cycle": 1, "phase": "agent", "start": "x"}),
        );
        let protections = json!({"sandbox": "bwrap", "checks": true, "network": "agent", "write": [], "lacks": []});
        accepts(
            "session",
            json!({"format": 1, "pid": 7, "protections": protections}),
        );
        accepts(
            "status",
            json!({
                "format": 1, "repository": "r", "branch": "main", "head": null, "goals_total": 2,
                "session": {"pid": 7, "started_at": time}, "protections": protections,
                "sandboxes": [{"sandbox": "bwrap", "works": false, "detail": "not installed"}], "kill": null, "stop": "done for today",
                "interrupted_cycle": null, "cycles": 1, "newest": record(), "score": 50.0, "baseline_score": null,
                "failing": ["a"], "skipped": [],
                "stuck": [{"goal_id": "a", "standing": "struck", "reason": "the agent changed nothing"}],
                "struck": ["a"], "declined": [], "queue": {"open": 1, "set_aside": 0, "consumed": 2}, "problems": []
            }),
        );
    }

    #[test]
    fn unknown_fields_are_free_and_mistakes_are_all_named() {
        let mut value = serde_json::to_value(snapshot()).expect("JSON");
        value["later"] = json!(1);
        assert_eq!(check("snapshot", &value), Ok(()));
        value["goals"][0]["weight"] = json!(11);
        value["timestamp"] = json!("yesterday");
        value["score"] = Value::Null;
        let message = check("snapshot", &value).expect_err("three mistakes");
        for place in ["/goals/0/weight: ", "/timestamp: ", "/score: "] {
            assert!(message.contains(place), "{place} is not in {message}");
        }
        for line in [
            json!({"title": 1}),
            json!({"items": 1, "title": "a"}),
            json!({}),
            json!([]),
        ] {
            assert!(check("work", &line).is_err(), "{line}");
        }
    }
}
