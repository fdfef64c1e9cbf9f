//! GOALS.yaml and config.yaml: whatever stands in them, every problem has a place and clean words, and what is taken is
//! within its bounds.

use std::collections::HashSet;

use evolve::model::goals::{Goals, Problem, read_agents, read_config, read_goals, to_error};
use evolve::model::{check, yardstick};

use crate::feed::{Format, feed};
use crate::nasty::{self, assert_clean};

const WORDS: &[&str] = &[
    "version: 1",
    "mission: ",
    "goals:",
    "evolve:",
    "  - id: ",
    "id: a",
    "description: ",
    "check: ",
    "weight: ",
    "weight: 010",
    "weight: 0x5",
    "weight: .nan",
    "weight: .inf",
    "weight: 5.0",
    "weight: '5'",
    "weight: ~",
    "continuous: ",
    "metric: ",
    "threshold: ",
    "direction: at-least",
    "direction: at-most",
    "tolerance: ",
    "read: {regex: '",
    "read: {json: \"-#/a\"}",
    "read: {lcov: ",
    "retries: ",
    "alone: yes",
    "timeout: ",
    "10m",
    "1h30",
    "5x",
    "tags: [",
    "pillar: ",
    "type: health",
    "agent: ",
    "agents:",
    "command: [",
    "prompt: ",
    "limits: {",
    "max_cost: ",
    "max_time: ",
    "jobs: ",
    "protect: [",
    "sweep: [",
    "x-mine: ",
    "vision: ",
    "&a ",
    "*a",
    "<<: *a",
    "!!str ",
    "!!binary ",
    "!tag ",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "? ",
    "| ",
    ">-\n",
    "{",
    "}",
    "[",
    "]",
    ", ",
    ": ",
    "- ",
    "#",
    "'",
    "\"",
    "@",
    "`",
    "null",
    "~",
    "true",
    "NO",
    "1_000",
    "0o17",
    "1e3",
    "tresholds: 1",
    "\t",
];

fn goals() -> Format {
    let example = include_bytes!("../../GOALS.example.yaml").to_vec();
    let frozen = include_bytes!("../formats/v1/goals.yaml").to_vec();
    let own = include_bytes!("../../GOALS.yaml").to_vec();
    let short = b"goals:\n  - {id: a, description: d, check: test -e a, weight: 5}\n".to_vec();
    let mut samples = vec![short, example, frozen, own];
    for text in [
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c]\ngoals: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
        "goals: &a [*a]\n",
        "goals: &a\n  - *a\n",
        "---\n...\n---\ngoals: []\n",
        "goals:\n\t- id: a\n",
        "goals:\n  - {id: a, id: b, description: d, check: c, weight: 5, weight: 6}\n",
        "{? {a: b} : c}\n",
        "goals: !!python/object:os.system [x]\n",
        "goals:\n- id: \"\\ud800\"\n",
        "goals:\n- {id: a, description: \"\\e[2J\\u202e\", check: \"\\0\", weight: 340282366920938463463374607431768211456}\n",
    ] {
        samples.push(text.as_bytes().to_vec());
    }
    samples.extend(nasty::structures());
    samples.push(vec![b'a'; 50 << 20]);
    samples.push(format!("goals: \"{}\"\n", "a".repeat(255 * 1024)).into_bytes());
    samples.push(many_goals().into_bytes());
    Format {
        name: "goals",
        samples,
        words: WORDS.to_vec(),
    }
}

/// As many goals as fit into a file.
fn many_goals() -> String {
    let mut text = "goals:\n".to_owned();
    for number in 0.. {
        let goal = format!("- {{id: g{number}, description: d, check: c, weight: 5}}\n");
        if text.len() + goal.len() > evolve::model::goals::MAX_BYTES {
            return text;
        }
        text.push_str(&goal);
    }
    text
}

#[test]
fn goals_are_read_or_refused_in_clean_words() {
    feed(goals(), |input| match read_goals("GOALS.yaml", input) {
        Ok((goals, warnings)) => {
            assert_problems(input, &warnings);
            assert_within_bounds(&goals);
            assert_used(&goals);
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            assert_problems(input, &problems);
        }
    });
}

#[test]
fn config_is_read_or_refused_in_clean_words() {
    let Format {
        mut samples, words, ..
    } = goals();
    samples.insert(0, include_bytes!("../formats/v1/config.yaml").to_vec());
    let format = Format {
        name: "config",
        samples,
        words,
    };
    feed(format, |input| {
        for read in [
            read_config("config.yaml", input).map(drop),
            read_agents(input).map(drop),
        ] {
            if let Err(problems) = read {
                assert!(!problems.is_empty(), "refused without a reason");
                assert_problems(input, &problems);
            }
        }
    });
}

/// Every problem stands in the file, and what is printed of it is clean.
fn assert_problems(input: &[u8], problems: &[Problem]) {
    let lines = input
        .iter()
        .filter(|byte| matches!(byte, b'\n' | b'\r'))
        .count()
        + 2;
    for problem in problems {
        assert!((1..=lines).contains(&problem.line), "{problem:?}");
        assert!(problem.column >= 1, "{problem:?}");
    }
    if !problems.is_empty() {
        let error = to_error("GOALS.yaml", problems);
        assert_clean(&error.message);
        error.hints.iter().for_each(|hint| assert_clean(hint));
    }
}

fn assert_within_bounds(goals: &Goals) {
    let ids: HashSet<_> = goals.goals.iter().map(|goal| &goal.id).collect();
    assert!(!goals.goals.is_empty());
    assert_eq!(ids.len(), goals.goals.len(), "an id is there twice");
    for goal in &goals.goals {
        assert!((1..=10).contains(&goal.weight), "{goal:?}");
        assert!(
            !goal.id.is_empty() && !goal.check.trim().is_empty(),
            "{goal:?}"
        );
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(goal.id.chars().all(kebab), "{goal:?}");
        if let Some(threshold) = goal.threshold() {
            assert!(threshold.is_finite(), "{goal:?}");
        }
    }
}

/// What is derived from goals takes any goals.
fn assert_used(goals: &Goals) {
    let root = check::Root::of(&["/there".to_owned()], Some("/home"));
    let frozen = yardstick::Yardstick::of(goals, &root, &|path| path.len() % 2 == 0);
    for goal in goals.goals.iter().take(50) {
        let _ = goal.definition();
        let _ = check::runs(&goal.check, &|_| true);
        let _ = check::leaned_on_in(&check::Code::of_check(&goal.check), &|_| true);
        let _ = frozen.is_frozen(&goal.check);
    }
    let _ = yardstick::compare_goals(goals, goals);
}
