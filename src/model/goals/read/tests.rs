//! What the reader takes and what it says, from the bytes of a file to the problems as shown.

use crate::model::agent::Prompt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::model::goals::{
    AgentCommand, AgentSpec, Continuous, Direction, GoalKind, MAX_BYTES, Where, to_error,
};
use crate::model::reading::Reading;
use crate::model::sandbox::Wish;
use crate::model::sweep::{OwnCommand, Part};
use crate::model::work::Severity;

/// Far more than any file may take, far less than quadratic work on one does.
const HANG: Duration = Duration::from_secs(30);
const GOAL: &str = "  - {id: a, description: d, check: c, weight: 5}\n";

fn read(text: &str) -> Result<(Goals, Vec<Problem>), Vec<Problem>> {
    read_goals("GOALS.yaml", text.as_bytes())
}

/// Reads a file whose only goal has `lines` after the mandatory ones, from line 6 on.
fn with_goal(lines: &str) -> Result<(Goals, Vec<Problem>), Vec<Problem>> {
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    read(&format!(
        "goals:\n  - id: a\n    description: d\n    check: c\n    weight: 5\n{lines}"
    ))
}

/// Reads a file whose `evolve:` block has `lines`, from line 2 on.
fn with_settings(lines: &str) -> Result<(Goals, Vec<Problem>), Vec<Problem>> {
    let lines: String = lines.lines().map(|line| format!("  {line}\n")).collect();
    read(&format!("evolve:\n{lines}goals:\n{GOAL}"))
}

/// Shows problems as `line:column message | hint`.
fn shown<T: std::fmt::Debug>(result: Result<T, Vec<Problem>>) -> Vec<String> {
    let show = |problem: &Problem| {
        let hint = problem.hint.as_deref().unwrap_or("-");
        let Problem {
            line,
            column,
            message,
            ..
        } = problem;
        format!("{line}:{column} {message} | {hint}")
    };
    result.unwrap_err().iter().map(show).collect()
}

fn only_goal(result: Result<(Goals, Vec<Problem>), Vec<Problem>>) -> Goal {
    let (goals, warnings) = result.unwrap();
    assert_eq!(warnings, []);
    goals.goals.into_iter().next().unwrap()
}

#[test]
fn a_whole_file_is_read() {
    let text = "\
version: 2
mission: Stay well
vision: free
x-own: [1, 2]
evolve:
  agent: my-agent --print
  jobs: 3
  timeout: 90
  protect: ['tests/**', '*.lock']
  sweep: [markers]
  isolate: true
  measure: clean
  prepare: npm ci
  link: [node_modules/]
  on_cycle: sh tell.sh
  limits: {max_time: 1h 30m, max_cycles: 7, max_cost: 2.5, max_tokens: 500k}
goals:
  - id: tests-pass
    description: All tests pass
    check: |
      make test
    weight: 9
    type: meta
    pillar: base
    tags: [a, b]
    timeout: 20m
    alone: true
    retries: 0
    affects_files: [x]
    x-note: free
  - id: coverage
    description: Covered
    check: make cov
    weight: 1
    continuous:
      metric: lines
      threshold: 80
      direction: at-least
      read: {json: 'target/cov.json#/a~1b/0'}
      tolerance: 0.5
";
    let (goals, warnings) = read(text).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(goals.mission.as_deref(), Some("Stay well"));
    assert_eq!(goals.digest, digest::full(text.as_bytes()));
    assert_eq!(
        goals.settings,
        Settings {
            sandbox: Wish::default(),
            agents: Vec::new(),
            agent: Some(AgentSpec::Line("my-agent --print".to_string())),
            jobs: Some(3),
            timeout: Some(Duration::from_secs(90)),
            sweep: Some(vec![Part::Markers]),
            protect: vec!["tests/**".to_string(), "*.lock".to_string()],
            product: Vec::new(),
            on_cycle: Some("sh tell.sh".to_owned()),
            on_end: None,
            limits: crate::model::goals::Limits {
                max_time: Some(Duration::from_secs(5400)),
                max_cycles: Some(7),
                max_cost: Some(2.5),
                max_tokens: Some(500_000),
            },
            isolate: Some(true),
            measure: Where::Clean,
            prepare: Some("npm ci".to_string()),
            link: vec!["node_modules".to_string()],
        }
    );
    let [first, second] = goals.goals.as_slice() else {
        panic!("two goals");
    };
    assert_eq!(
        *first,
        Goal {
            id: "tests-pass".to_string(),
            description: "All tests pass".to_string(),
            check: "make test\n".to_string(),
            weight: 9,
            kind: GoalKind::Meta,
            pillar: Some("base".to_string()),
            tags: vec!["a".to_string(), "b".to_string()],
            timeout: Some(Duration::from_secs(1200)),
            alone: true,
            retries: 0,
            continuous: None,
            line: 18,
        }
    );
    assert_eq!(
        (second.line, second.retries, second.kind),
        (31, 2, GoalKind::Health)
    );
    assert_eq!(
        second.continuous,
        Some(Continuous {
            metric: Some("lines".to_string()),
            threshold: Some(80.0),
            direction: Some(Direction::AtLeast),
            read: Reading::Json {
                file: Some(PathBuf::from("target/cov.json")),
                pointer: "/a~1b/0".to_string(),
            },
            tolerance: 0.5,
        })
    );
}

#[test]
fn every_problem_of_a_file_is_reported_at_once() {
    let text = "\
missoin: x
goals:
  - id: Tests_Pass
    description: d
    check: c
    weight: 11
    timeout: 5x
  - id: b
    descripton: d
    weight: 5
  - 7
";
    assert_eq!(
        shown(read(text)),
        [
            r#"1:1 unknown key "missoin" | did you mean mission?"#,
            r#"3:9 id: "Tests_Pass" is not in kebab-case | write tests-pass"#,
            "6:13 weight: expected a whole number from 1 to 10, not the number 11 | 10 is the most",
            r#"7:14 timeout: "5x" is not a duration | write seconds, as in 90, or a unit, as in "2m""#,
            r#"8:5 the goal "b" has no check | add a line check: …"#,
            r#"9:5 unknown key "descripton" | did you mean description?"#,
            "11:5 a goal has to be a mapping, not the number 7 | write keys, as in id: …",
        ]
    );
}

#[test]
fn problems_are_told_with_their_places_and_how_far_these_go() {
    let problems = with_goal("timeout: 5x\ntyp: meta").unwrap_err();
    let error = to_error("GOALS.yaml", &problems);
    assert_eq!(
        error.to_string(),
        "\
GOALS.yaml:6:14: timeout: \"5x\" is not a duration
hint: write seconds, as in 90, or a unit, as in \"2m\"

GOALS.yaml:7:5: unknown key \"typ\"
hint: did you mean type?"
    );
    let spots = error.spots.iter();
    let lengths: Vec<usize> = spots.map(|spot| spot.length).collect();
    assert_eq!(lengths, ["5x".len(), "typ".len()]);
}

#[test]
fn each_mistake_in_a_goal_has_its_words() {
    for (lines, problem) in [
        (
            "retries: 11",
            "6:14 retries: expected a whole number from 0 to 10, not the number 11 | 10 is the most",
        ),
        (
            "alone: yes",
            r#"6:12 alone: expected true or false, not the text "yes" | write true, without quotes"#,
        ),
        (
            "type: helth",
            r#"6:11 type: expected health or architecture or quality or meta, not the text "helth" | did you mean health?"#,
        ),
        (
            "tags: rust",
            r#"6:11 tags: expected a list of texts, not the text "rust" | write ["rust"]"#,
        ),
        (
            "tags: [a, 5]",
            "6:15 tags[1]: expected text, not the number 5 | put it in quotes: \"5\"",
        ),
        (
            "timeout: 0",
            r#"6:14 timeout: "0" is no time at all | write seconds, as in 90, or a unit, as in "2m""#,
        ),
        (
            "timeout: [1]",
            r#"6:14 timeout: expected a duration, not a list | write seconds, as in 90, or a unit, as in "2m""#,
        ),
        (
            "pillar:",
            "6:5 pillar has no value | give it one, or remove the line",
        ),
        (
            "threshold: 5",
            r#"6:5 unknown key "threshold" | threshold belongs under continuous:"#,
        ),
        (
            "zzz: 5",
            r#"6:5 unknown key "zzz" | known keys are id, description, check, weight, type, pillar, tags, timeout, alone, retries, continuous"#,
        ),
        (
            "weight: 5",
            r#"6:5 the key "weight" stands here again, first on line 5 | remove one of the two"#,
        ),
        (
            "continuous: 5",
            "6:17 continuous has to be a mapping, not the number 5 | write keys, as in metric: …",
        ),
        (
            "continuous: {direction: at-least}",
            "6:29 a direction needs a threshold | add a line threshold: …",
        ),
        (
            "continuous: {tolerance: 1}",
            "6:29 a tolerance needs a direction | add direction: at-least or direction: at-most",
        ),
        (
            "continuous: {threshold: 1, direction: at-most, tolerance: -1}",
            "6:63 tolerance: expected a number, 0 or more, not the number -1 | write how far off is still fine",
        ),
        (
            "continuous: {threshold: .inf, direction: at-most}",
            "6:29 threshold: expected a finite number, not the number .inf | -",
        ),
        (
            "continuous: {threshold: '80', direction: at-most}",
            r#"6:29 threshold: expected a number, not the text "80" | write 80"#,
        ),
        (
            "continuous: {threshold: 1, direction: '>='}",
            r#"6:43 direction: expected at-least or at-most, not the text ">=" | did you mean at-least?"#,
        ),
        (
            "continuous: {threshold: 1, direction: at_most}",
            r#"6:43 direction: expected at-least or at-most, not the text "at_most" | did you mean at-most?"#,
        ),
        (
            "continuous: {read: {}}",
            "6:24 read names no source | add one of json, regex, lcov, cobertura, junit, sarif, hyperfine, criterion, or leave read out to take the last number on stdout",
        ),
        (
            "continuous: {read: {json: 'a#/b', regex: x}}",
            "6:46 read has both json and regex | keep the one that finds the number",
        ),
        (
            "continuous: {read: {regex: '('}}",
            r"6:32 regex: not a regular expression: unclosed group | a backslash before it makes a character stand for itself, as in '\('",
        ),
        (
            r"continuous: {read: {regex: '(\d'}}",
            "6:32 regex: not a regular expression: unclosed group | put it in single quotes, in which a backslash stays one",
        ),
        (
            "continuous: {read: {json: a.json}}",
            r#"6:31 json: "a.json" has no # between file and pointer | write "target/cov.json#/data/0/total", or "-#/total" for stdout"#,
        ),
        (
            "continuous: {read: {json: '/a#/b'}}",
            "6:31 json: an absolute path cannot be read | name a file below the repository's root, or - for stdout",
        ),
        (
            "continuous: {read: {json: 'a/../../b#/b'}}",
            "6:31 json: a path with .. leads out of the repository | name a file below the repository's root, or - for stdout",
        ),
        (
            "continuous: {read: {json: '#/b'}}",
            "6:31 json: no file stands before the # | name a file below the repository's root, or - for stdout",
        ),
        (
            "continuous: {read: {json: 'a#b.c'}}",
            r##"6:31 json: the pointer "b.c" does not begin with / | write "a#/b/c""##,
        ),
        (
            "continuous: {read: {json: 'a#/~2'}}",
            "6:31 json: a ~ in a pointer stands before 0 or 1 | write ~0 for ~ and ~1 for /",
        ),
        (
            "continuous: {read: {lcov: a, of: line}}",
            r#"6:38 of: expected lines or functions or branches, not the text "line" | did you mean lines?"#,
        ),
        (
            "continuous: {read: {junit: a, of: percent}}",
            r#"6:39 of: expected failures or tests or skipped or time, not the text "percent" | write one of failures, tests, skipped, time"#,
        ),
        (
            "continuous: {read: {sarif: a, of: lines}}",
            "6:39 of says nothing beside sarif | remove it; it belongs beside lcov, cobertura, junit, hyperfine, criterion",
        ),
        (
            "continuous: {read: {junit: a, level: error}}",
            "6:42 level says nothing beside junit | remove it; it belongs beside sarif",
        ),
        (
            "continuous: {read: {junit: '/a/*.xml'}}",
            "6:32 junit: an absolute path cannot be read | name a file below the repository's root, or several as in reports/*.xml",
        ),
        (
            "continuous: {read: {junit: [a, b]}}",
            "6:32 junit: expected text, not a list | name a file below the repository's root, or several as in reports/*.xml",
        ),
        (
            "continuous: {read: {junit: reports/}}",
            r#"6:32 junit: "reports/" is a folder | name a file below the repository's root, or several as in reports/*.xml"#,
        ),
        (
            "continuous: {read: {junit: 'a[.xml'}}",
            "6:32 junit: not a glob: unclosed character class; missing ']' | write it as in reports/**/*.xml",
        ),
        (
            "continuous: {read: {hyperfine: '*.json'}}",
            "6:36 hyperfine: only one file is read here | name one file below the repository's root",
        ),
        (
            "continuous: {read: {criterion: target/criterion/fib/new/estimates.json}}",
            r#"6:36 criterion: "target/criterion/fib/new/estimates.json" is no id of a benchmark | write it as criterion prints it, as in group/function/input"#,
        ),
        (
            "continuous: {lcov: a}",
            r#"6:18 unknown key "lcov" | lcov belongs under read:"#,
        ),
        (
            "continuous: {read: {lcvo: a}}",
            r#"6:25 unknown key "lcvo" | did you mean lcov?"#,
        ),
        (
            "continuous: {read: 'a#/b'}",
            r##"6:24 read has to be a mapping, not the text "a#/b" | write {json: "file.json#/pointer"}, {regex: 'pattern'} or {lcov: file}"##,
        ),
    ] {
        assert_eq!(shown(with_goal(lines)), [problem], "{lines}");
    }
}

#[test]
fn a_weight_is_a_whole_number_from_1_to_10() {
    let weigh = |weight: &str| {
        read(&format!(
            "goals:\n  - {{id: a, description: d, check: c, weight: {weight}}}\n"
        ))
    };
    for weight in 1..=10 {
        assert_eq!(only_goal(weigh(&weight.to_string())).weight, weight);
    }
    for (weight, rest) in [
        ("0", "the number 0 | 1 is the least"),
        ("-3", "the number -3 | 1 is the least"),
        ("010", r#"the text "010" | write 10"#),
        ("5.5", "the number 5.5 | -"),
        ("5.0", "the number 5.0 | write 5"),
        ("\"5\"", r#"the text "5" | write 5"#),
        ("0x5", "the number 0x5 | write 5"),
        ("1e1", "the number 1e1 | -"),
        ("inf", r#"the text "inf" | -"#),
        (".inf", "the number .inf | -"),
        (".nan", "the number .nan | -"),
        ("high", r#"the text "high" | -"#),
        (
            "99999999999999999999999999",
            "the number 99999999999999999999999999 | 10 is the most",
        ),
        ("true", "the value true | -"),
        ("[5]", "a list | -"),
    ] {
        let expected = format!("2:47 weight: expected a whole number from 1 to 10, not {rest}");
        assert_eq!(shown(weigh(weight)), [expected], "{weight}");
    }
}

#[test]
fn a_number_that_is_written_otherwise_than_people_do_is_written_out() {
    for (threshold, plainly) in [("+20", 20), ("0x10", 16)] {
        let read = read(&format!(
            "goals: [{{id: a, description: d, check: c, weight: 5, continuous: {{metric: m, threshold: {threshold}}}}}]"
        ));
        let expected = format!(
            "1:89 threshold: expected a number written plainly, not the number {threshold} | write {plainly}"
        );
        assert_eq!(shown(read), [expected]);
    }
}

#[test]
fn an_id_is_in_kebab_case_and_the_right_one_is_proposed() {
    let name = |id: &str| {
        read(&format!(
            "goals: [{{description: d, check: c, weight: 5, id: {id}}}]"
        ))
    };
    for id in ["a", "tests-pass", "a1-2b", "'5'", &"a".repeat(100)] {
        assert_eq!(only_goal(name(id)).id, id.trim_matches('\''));
    }
    for (id, better) in [
        ("TestsPass", "tests-pass"),
        ("tests_pass", "tests-pass"),
        ("Tests pass!", "tests-pass"),
        ("-a--b-", "a-b"),
        ("a/b.c", "a-b-c"),
        ("HTTPServer2Up", "httpserver2-up"),
    ] {
        let problems = name(id).unwrap_err();
        assert_eq!(problems[0].hint, Some(format!("write {better}")), "{id}");
    }
    assert_eq!(
        shown(name("ä")),
        [r#"1:51 id: "ä" is not in kebab-case | write small letters, digits and single dashes"#]
    );
    assert_eq!(
        shown(name(&"a".repeat(101))),
        ["1:51 id: is longer than 100 characters | say the rest in the description"]
    );
    assert_eq!(
        shown(name("5")),
        [r#"1:51 id: expected text, not the number 5 | put it in quotes: "5""#]
    );
}

#[test]
fn an_id_is_used_once() {
    assert_eq!(
        shown(read(&format!("goals:\n{GOAL}{GOAL}"))),
        [r#"3:10 the id "a" is taken, by the goal on line 2 | give each goal an id of its own"#]
    );
}

#[test]
fn a_check_is_text_that_says_something() {
    let check = |check: &str| {
        read(&format!(
            "goals:\n  - {{id: a, description: d, weight: 5, check: {check}}}\n"
        ))
    };
    for (text, rest) in [
        ("''", "is empty | write at least a word"),
        ("' '", "is empty | write at least a word"),
        (r#""a\0b""#, r"a NUL byte cannot stand here | remove \0"),
        (
            "true",
            "expected text, not the value true | put it in quotes: \"true\"",
        ),
        (
            "{a: b}",
            "expected text, not a mapping | put text that holds \": \" or starts with { in quotes",
        ),
    ] {
        assert_eq!(
            shown(check(text)),
            [format!("2:47 check: {rest}")],
            "{text}"
        );
    }
    assert_eq!(
        shown(check("")),
        ["2:40 check has no value | give it one, or remove the line"]
    );
}

#[test]
fn a_file_that_two_goals_read_is_a_warning_unless_both_are_alone() {
    let file = |more: &str| {
        let goal = |id: &str, read: &str| {
            format!(
                "  - {{id: {id}, description: d, check: c, weight: 1, {more}continuous: {{threshold: 1, direction: at-least, read: {read}}}}}\n"
            )
        };
        let goals = [
            goal("a", "{lcov: x.info}"),
            goal("b", "{json: 'y.json#/n'}"),
            goal("c", "{lcov: x.info, of: branches}"),
        ];
        let (_, warnings) = read(&format!("goals:\n{}", goals.concat())).unwrap();
        shown::<()>(Err(warnings))
    };
    assert_eq!(
        file(""),
        [
            r#"4:5 "c" reads "x.info", as "a" does: each of the two checks has to write it itself | let each write a file of its own, or set alone: true on both"#
        ]
    );
    assert_eq!(file("alone: true, "), Vec::<String>::new());
}

#[test]
fn a_threshold_without_a_direction_is_a_warning() {
    let (goals, warnings) = with_goal("continuous: {threshold: 5}").unwrap();
    assert_eq!(goals.goals.len(), 1);
    assert_eq!(
        shown::<()>(Err(warnings)),
        [
            "6:29 without a direction the exit code alone decides, the value is only shown | add direction: at-least or direction: at-most"
        ]
    );
}

#[test]
fn a_check_that_passes_whatever_it_finds_is_a_warning_unless_its_value_decides() {
    let warned = |keys: &str| {
        let check = format!("check: cargo test || true, {keys}");
        let (_, warnings) = read(&format!(
            "goals:\n  - {{id: a, description: d, {check}weight: 3}}\n"
        ))
        .unwrap();
        shown::<()>(Err(warnings))
    };
    let said = "2:36 this check passes whatever its commands find | leave out what has it succeed in any case, such as || true";
    assert_eq!(warned(""), [said]);
    let measured = "continuous: {metric: m, threshold: 3, direction: at-least}, ";
    assert_eq!(warned(measured), Vec::<String>::new());
}

#[test]
fn each_way_to_find_a_number_is_read() {
    for (lines, expected) in [
        ("continuous: {metric: x}", Reading::LastNumber),
        (
            r"continuous: {read: {regex: '(\d+) %'}}",
            Reading::Regex(r"(\d+) %".to_string()),
        ),
        (
            "continuous: {read: {json: '-#/a'}}",
            Reading::Json {
                file: None,
                pointer: "/a".to_string(),
            },
        ),
        (
            "continuous: {read: {json: './a b.json#'}}",
            Reading::Json {
                file: Some(PathBuf::from("./a b.json")),
                pointer: String::new(),
            },
        ),
    ] {
        let goal = only_goal(with_goal(lines));
        assert_eq!(goal.continuous.unwrap().read, expected, "{lines}");
    }
}

#[test]
fn the_agent_is_a_line_or_a_program() {
    let (goals, _) =
        with_settings("agent: {command: [a, -p, ''], prompt: file, timeout: 5m, idle_timeout: 30}")
            .unwrap();
    assert_eq!(
        goals.settings.agent,
        Some(AgentSpec::Command(AgentCommand {
            command: vec!["a".to_string(), "-p".to_string(), String::new()],
            prompt: Prompt::File,
            timeout: Some(Duration::from_secs(300)),
            idle_timeout: Some(Duration::from_secs(30)),
        }))
    );
}

#[test]
fn each_mistake_in_the_settings_has_its_words() {
    for (lines, problem) in [
        ("agent: ''", "2:10 agent: is empty | write at least a word"),
        (
            "agent: [a]",
            "2:10 agent: expected a command line or a mapping, not a list | write {command: [program, argument]}",
        ),
        (
            "agent: {prompt: arg}",
            "2:10 agent has no command | add a line command: …",
        ),
        (
            "agent: {command: a -b}",
            r#"2:20 command: expected a list of words, not the text "a -b" | write [a, -b], or agent: "a -b" for a command line"#,
        ),
        (
            "agent: {command: []}",
            "2:20 command: the list is empty | name the program",
        ),
        (
            "agent: {command: [a, 5]}",
            "2:24 command[1]: expected text, not the number 5 | put it in quotes: \"5\"",
        ),
        (
            "agent: {command: [a], prompt: stdn}",
            r#"2:33 prompt: expected stdin or file or arg, not the text "stdn" | did you mean stdin?"#,
        ),
        (
            "jobs: 0",
            "2:9 jobs: expected a whole number, 1 or more, not the number 0 | 1 is the least",
        ),
        (
            "protect: ['a[']",
            "2:13 protect: unclosed character class; missing ']' | -",
        ),
        (
            "protect: [./]",
            "2:13 protect: a pattern names files below the root | write ** for all of them",
        ),
        (
            "protect: [/a]",
            r#"2:13 protect: a pattern is relative to the repository's root | write "a""#,
        ),
        (
            "protect: [../a]",
            "2:13 protect: a pattern stays below the repository's root | write it without ..",
        ),
        (
            "protect: a",
            r#"2:12 protect: expected a list of texts, not the text "a" | write ["a"]"#,
        ),
        (
            "limits: {max_time: soon}",
            r#"2:22 max_time: "soon" is not a duration | write seconds, as in 90, or a unit, as in "2m""#,
        ),
        (
            "limits: {max_cycles: 0}",
            "2:24 max_cycles: expected a whole number, 1 or more, not the number 0 | 1 is the least",
        ),
        (
            "limits: {max_cost: 0}",
            "2:22 max_cost: expected an amount in US dollars, more than 0, not the number 0 | leave the key out for no limit",
        ),
        (
            "limits: {max_tokens: 1.5}",
            "2:24 max_tokens: expected a whole number, 1 or more, not the number 1.5 | -",
        ),
        (
            "limits: {max_tokens: 99999999999999999999k}",
            "2:24 max_tokens: expected a whole number, 1 or more, not the text \"99999999999999999999k\" | -",
        ),
        (
            "sweep: linters",
            r#"2:10 sweep: expected a list, not the text "linters" | write [linters]"#,
        ),
        (
            "sweep: false",
            "2:10 sweep: expected a list, not the value false | write [] to turn it off",
        ),
        (
            "sweep: {run: a}",
            "2:10 sweep: expected a list, not a mapping | write [{run: …}], a command in a list",
        ),
        (
            "sweep: [linters, marker]",
            r#"2:20 sweep[1]: expected linters, markers, floors or {run: a command}, not the text "marker" | did you mean markers?"#,
        ),
        (
            "sweep: [npx eslint .]",
            r#"2:11 sweep[0]: expected linters, markers, floors or {run: a command}, not the text "npx eslint ." | if it is a command, write {run: "npx eslint ."}"#,
        ),
        (
            "sweep: [{severity: low}]",
            "2:11 a sweep command has no run | add a line run: …",
        ),
        (
            "sweep: [{run: a, severity: hihg}]",
            r#"2:30 severity: expected critical or high or medium or low, not the text "hihg" | did you mean high?"#,
        ),
        (
            "sweep: [{run: a, typ: bug}]",
            r#"2:20 unknown key "typ" | did you mean type?"#,
        ),
        (
            "sweep: [{run: a, timeout: 5m}]",
            r#"2:20 unknown key "timeout" | timeout belongs under evolve:, for checks and sweeps alike"#,
        ),
        (
            "max_time: 4h",
            r#"2:3 unknown key "max_time" | max_time belongs under limits:"#,
        ),
        (
            "limit: {}",
            r#"2:3 unknown key "limit" | did you mean limits?"#,
        ),
    ] {
        assert_eq!(shown(with_settings(lines)), [problem], "{lines}");
    }
}

#[test]
fn a_sweep_looks_with_parts_and_commands() {
    let own = |run: &str, severity, kind: &str| {
        Part::Own(OwnCommand {
            run: run.to_string(),
            severity,
            kind: kind.to_string(),
        })
    };
    let lines = "sweep: [floors, {run: a -b}, {run: c, severity: low, type: docs}, linters]";
    let (goals, _) = with_settings(lines).unwrap();
    assert_eq!(
        goals.settings.sweep,
        Some(vec![
            Part::Floors,
            own("a -b", Severity::Medium, "bug"),
            own("c", Severity::Low, "docs"),
            Part::Linters,
        ])
    );
    let (goals, _) = with_settings("sweep: []").unwrap();
    assert_eq!(goals.settings.sweep, Some(vec![]));
    let (goals, _) = with_settings("jobs: 2").unwrap();
    assert_eq!(goals.settings.sweep, None);
}

#[test]
fn a_block_of_which_everything_is_commented_out_is_no_mistake() {
    let (goals, _) = read(&format!("evolve:\n  # jobs: 2\ngoals:\n{GOAL}")).unwrap();
    assert_eq!(goals.settings, Settings::default());
    assert!(with_settings("limits:\n").is_ok());
}

#[test]
fn the_version_is_1_2_or_3() {
    for version in 1..=3 {
        assert!(read(&format!("version: {version}\ngoals:\n{GOAL}")).is_ok());
    }
    assert_eq!(
        shown(read(&format!("version: 4\ngoals:\n{GOAL}"))),
        ["1:10 version: expected a whole number from 1 to 3, not the number 4 | 3 is the most"]
    );
}

#[test]
fn a_file_without_goals_says_so_and_how_to_write_one() {
    for (text, place) in [
        ("", (1, 1)),
        ("\n\n# only this\n", (1, 1)),
        ("null", (1, 1)),
        ("---\n", (1, 1)),
        ("version: 1\n", (1, 1)),
        ("version: 1\ngoals:\n", (2, 1)),
        ("version: 1\ngoals: []\n", (2, 8)),
        ("{}", (1, 1)),
    ] {
        let problems = read(text).unwrap_err();
        let [problem] = problems.as_slice() else {
            panic!("{text:?}: {problems:?}");
        };
        assert_eq!(problem.message, "No goals to measure", "{text:?}");
        assert_eq!((problem.line, problem.column), place, "{text:?}");
        let hint = problem.hint.as_deref().unwrap();
        let (_, example) = hint.split_once('\n').unwrap();
        assert!(read(example).is_ok(), "{example}");
    }
}

#[test]
fn the_users_configuration_has_the_same_keys_but_protect() {
    let text = b"agent: a\njobs: 2\ntimeout: 5m\nlimits: {max_cycles: 3}\n";
    let settings = read_config("config.yaml", text).unwrap();
    assert_eq!(
        (settings.jobs, settings.limits.max_cycles),
        (Some(2), Some(3))
    );
    assert_eq!(
        read_config("config.yaml", b"# nothing\n"),
        Ok(Settings::default())
    );
    assert_eq!(
        shown(read_config("config.yaml", b"protect: [a]\njob: 2\n")),
        [
            r#"1:1 unknown key "protect" | protect belongs under evolve: in GOALS.yaml"#,
            r#"2:1 unknown key "job" | did you mean jobs?"#,
        ]
    );
}

#[test]
fn broken_yaml_is_refused_with_its_place() {
    for (text, problem) in [
        (
            "goals:\n\t- id: a\n",
            "2:1 a tab cannot indent YAML | indent with spaces",
        ),
        (
            "goals:\n  - id: a\n    description: all tests\n\tcheck: x\n",
            "4:1 a tab cannot indent YAML | indent with spaces",
        ),
        (
            "goals:\n  - id: a\n    check:\ttrue\n",
            "3:11 a tab cannot follow a colon in YAML | put a space there",
        ),
        (
            "goals:\n  - check: a: b\n",
            "2:13 not valid YAML: mapping values are not allowed in this context | put the text in quotes, or after | on lines of its own",
        ),
        (
            "goals:\n  - id: a\n     check: b\n    weight: 3\n",
            "3:11 not valid YAML: mapping values are not allowed in this context | indent `check` like the key above it, by 4",
        ),
        (
            "goals:\n  - id: a\n    check: b\n    weight 3\n",
            "4:5 not valid YAML: a key needs a colon and a blank behind it | as in `weight: 3`; or is it part of the text above, then indent it further",
        ),
        (
            "goals:\n  - id: a\n    weight:3\n    # a comment\n\n    check: b\n",
            "3:5 not valid YAML: a key needs a colon and a blank behind it | as in `weight: 3`; or is it part of the text above, then indent it further",
        ),
        (
            "version: 1\nmission x\ngoals: []\n",
            "2:1 not valid YAML: a key needs a colon and a blank behind it | as in `mission: x`; or is it part of the text above, then indent it further",
        ),
        (
            "version: 1\n<<<<<<< HEAD\nmission: x\n",
            "2:1 a merge conflict is left over here | keep one side, and remove the lines that mark it",
        ),
        (
            "goals:\n  - {id: a, check: [ -f x ] y}\n",
            "2:29 not valid YAML: while parsing a flow mapping, did not find expected ',' or '}' | close the [ or { that is open here, or put text that begins with one in quotes",
        ),
        (
            "goals:\n  - {id: a, check: x}\nevolve: {agent: x\n",
            "3:9 not valid YAML: this { is not closed | close it, or put text that begins with it in quotes",
        ),
        (
            "goals:\n  - {id: a, check: x\n  - {id: b, check: y}\n",
            "2:5 not valid YAML: this { is not closed | close it, or put text that begins with it in quotes",
        ),
        (
            "goals: [\n  {id: a, check: x}\n  {id: b, check: y}\n]\n",
            "3:3 not valid YAML: while parsing a flow sequence, expected ',' or ']' | close the [ or { that is open here, or put text that begins with one in quotes",
        ),
        (
            "goals: [\n",
            "1:8 not valid YAML: this [ is not closed | close it, or put text that begins with it in quotes",
        ),
        (
            "evolve:\n  protect: [a,\n  agent: x\ngoals: []\n",
            "2:12 not valid YAML: this [ is not closed | close it, or put text that begins with it in quotes",
        ),
        (
            "a: 1\n---\nb: 2\n",
            "2:1 a second document starts here | keep one document in the file, and remove the line ---",
        ),
        (
            "a: *b\n",
            "1:4 this alias (*) names no anchor (&) that stands above it | write & and its name before the value that it repeats, or put text that begins with * in quotes",
        ),
        (
            "a: &a [*a]\n",
            "1:8 this alias stands inside its own anchor | write the value out",
        ),
        (
            "a: &a {b: 1}\nc:\n  <<: *a\n",
            "3:3 a merge key (<<) is not read | write the keys out; an alias (*) that stands for a whole value is read",
        ),
        (
            "a: ! b c\n",
            "1:4 what starts with ! is a tag in YAML, not text | put it in quotes, or after | on lines of its own",
        ),
        (
            "? [a]\n: b\n",
            "1:3 a key has to be a word | put text that starts with { or [ in quotes",
        ),
        (
            "a\u{1}b",
            "1:2 the control character U+0001 cannot stand in YAML | delete it",
        ),
        (
            "a: b\n\0",
            "2:1 the control character U+0000 cannot stand in YAML | delete it",
        ),
        (
            "- a",
            "1:1 the file has to be a mapping, not a list | write keys, as in version: …",
        ),
    ] {
        assert_eq!(shown(read(text)), [problem], "{text:?}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_refused_with_their_place() {
    assert_eq!(
        shown(read_goals("GOALS.yaml", b"a: b\nc: d\xff\n")),
        ["2:5 byte 0xff is not UTF-8 | save the file as UTF-8"]
    );
}

#[test]
fn a_byte_order_mark_and_other_line_ends_are_taken() {
    let text = format!("version: 1\ngoals:\n{GOAL}\n  - 5\n");
    let plain = shown(read(&text));
    assert_eq!(plain.len(), 1);
    assert_eq!(shown(read(&format!("\u{feff}{text}"))), plain);
    assert_eq!(shown(read(&text.replace('\n', "\r\n"))), plain);
    assert!(read(&format!("\u{feff}goals:\r\n{GOAL}")).is_ok());
}

#[test]
fn aliases_repeat_what_they_name() {
    let text = "goals:\n  - {id: a, description: &d same, check: c, weight: &w 5}\n  - {id: b, description: *d, check: c, weight: *w}\n";
    let (goals, _) = read(text).unwrap();
    assert_eq!(goals.goals[1].description, "same");
    assert_eq!(goals.goals[1].weight, 5);
}

#[test]
fn hostile_files_are_refused_quickly() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for n in 1..20 {
        let list = vec![format!("*a{}", n - 1); 9].join(", ");
        bomb.push_str(&format!("a{n}: &a{n} [{list}]\n"));
    }
    let mut nested = String::from("a0: &a0 [x]\n");
    for n in 1..200 {
        nested.push_str(&format!("a{n}: &a{n} [*a{}]\n", n - 1));
    }
    let indented: String = (0..500).map(|n| " ".repeat(n) + "a:\n").collect();
    let deep = format!(
        "nested deeper than {} levels",
        crate::model::goals::MAX_DEPTH
    );
    for (text, message) in [
        (
            "{a: ".repeat(100_000),
            "the file has 391 KiB, more than the 256 KiB that are read",
        ),
        ("{a: ".repeat(60_000), deep.as_str()),
        ("[".repeat(200_000), deep.as_str()),
        ("- ".repeat(100_000), deep.as_str()),
        ("? ".repeat(100_000), deep.as_str()),
        (indented, deep.as_str()),
        (nested, deep.as_str()),
        (bomb, "the aliases up to here repeat too much"),
        (
            "\0".repeat(1000),
            "the control character U+0000 cannot stand in YAML",
        ),
        (
            "a: b\n".repeat(50_000),
            "the key \"a\" stands here again, first on line 1",
        ),
    ] {
        let start = Instant::now();
        let problems = read(&text).unwrap_err();
        let error = to_error("GOALS.yaml", &problems).to_string();
        let found = problems.iter().any(|problem| problem.message == message);
        assert!(found, "{message}: {:.300}", error);
        assert!(error.len() < 20_000, "{}", error.len());
        assert!(start.elapsed() < HANG, "{message}");
    }
}

#[test]
fn large_files_are_read_quickly() {
    let start = Instant::now();
    let long = "x".repeat(50_000);
    let goal = only_goal(with_goal(&format!("pillar: {long}")));
    assert_eq!(goal.pillar, Some(long));
    let mut text = String::from("goals:\n");
    for n in 0.. {
        let goal = format!("  - {{id: g{n}, description: d, check: c, weight: 5}}\n");
        if text.len() + goal.len() > MAX_BYTES {
            break;
        }
        text.push_str(&goal);
    }
    assert!(read(&text).unwrap().0.goals.len() > 4000);
    assert!(start.elapsed() < HANG, "{:?}", start.elapsed());
}

#[test]
fn the_example_reads_without_problems_and_warnings() {
    let (goals, warnings) = read(include_str!("../../../../GOALS.example.yaml")).unwrap();
    assert_eq!(warnings, []);
    assert!(goals.goals.len() >= 4);
}

fn validator(schema: &str) -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
}

fn json_of(yaml: &str) -> serde_json::Value {
    serde_yaml::from_str(yaml).unwrap()
}

const GOALS_SCHEMA: &str = include_str!("../../../../schemas/goals.schema.json");
const CONFIG_SCHEMA: &str = include_str!("../../../../schemas/config.schema.json");

#[test]
fn the_example_fits_the_schema_and_shows_every_key() {
    let example = include_str!("../../../../GOALS.example.yaml");
    let schema = validator(GOALS_SCHEMA);
    let value = json_of(example);
    let errors: Vec<String> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    for key in [
        "version",
        "mission",
        "evolve",
        "agent",
        "command",
        "prompt",
        "idle_timeout",
        "jobs",
        "protect",
        "isolate",
        "measure",
        "prepare",
        "link",
        "sweep",
        "run",
        "severity",
        "limits",
        "max_time",
        "max_cycles",
        "id",
        "description",
        "check",
        "weight",
        "type",
        "pillar",
        "tags",
        "timeout",
        "alone",
        "retries",
        "continuous",
        "metric",
        "threshold",
        "direction",
        "read",
        "json",
        "regex",
        "lcov",
        "cobertura",
        "junit",
        "sarif",
        "hyperfine",
        "criterion",
        "of",
        "level",
        "tolerance",
    ] {
        assert!(example.contains(&format!("{key}:")), "{key}");
    }
}

#[test]
fn schema_and_reader_agree() {
    let schema = validator(GOALS_SCHEMA);
    for lines in [
        "weight2: 5",
        "retries: 11",
        "retries: 10",
        "retries: -1",
        "alone: 'yes'",
        "type: helth",
        "type: meta",
        "tags: rust",
        "tags: [a, '']",
        "tags: [a]",
        "timeout: 0",
        "timeout: 5x x",
        "timeout: 1h 30m",
        "timeout: 1.5",
        "pillar: ''",
        "pillar:",
        "threshold: 5",
        "x-own: 5",
        "vision: 5",
        "continuous: {direction: at-least}",
        "continuous: {tolerance: 1, threshold: 1}",
        "continuous: {}",
        "continuous: {threshold: 1, direction: at-most, tolerance: -1}",
        "continuous: {threshold: '1', direction: at-most}",
        "continuous: {threshold: 1, direction: at-most, tolerance: 0.5}",
        "continuous: {read: {}}",
        "continuous: {read: {json: 'a#/b', regex: x}}",
        "continuous: {read: {regex: 'a'}}",
        "continuous: {read: {json: a.json}}",
        "continuous: {read: {json: '/a#/b'}}",
        "continuous: {read: {json: '-#/b'}}",
        "continuous: {read: {json: 'a/../b#/b'}}",
        "continuous: {read: {json: '../b#/b'}}",
        "continuous: {read: {json: 'a..b/c#'}}",
        "continuous: {read: {json: 'a#b'}}",
        "continuous: {read: {json: 'a#/~2'}}",
        "continuous: {read: {json: '#/b'}}",
        "continuous: {read: 'a#/b'}",
        "continuous: {read: {lcov: a.info}}",
        "continuous: {read: {lcov: 'a/*.info', of: functions}}",
        "continuous: {read: {lcov: a.info, of: line}}",
        "continuous: {read: {lcov: a.info, of: time}}",
        "continuous: {read: {lcov: a.info, level: note}}",
        "continuous: {read: {lcov: a.info, json: 'a#/b'}}",
        "continuous: {read: {lcov: ''}}",
        "continuous: {read: {lcov: ' '}}",
        "continuous: {read: {lcov: /a}}",
        "continuous: {read: {lcov: ./a}}",
        "continuous: {read: {lcov: a/..}}",
        "continuous: {read: {lcov: ../a}}",
        "continuous: {read: {lcov: ..a/b..}}",
        "continuous: {read: {lcov: a/}}",
        "continuous: {read: {lcov: .}}",
        "continuous: {read: {lcov: ././}}",
        "continuous: {read: {cobertura: a.xml, of: branches}}",
        "continuous: {read: {cobertura: a.xml, of: functions}}",
        "continuous: {read: {junit: 'a/**/*.xml', of: time}}",
        "continuous: {read: {junit: a.xml, of: lines}}",
        "continuous: {read: {sarif: a.sarif}}",
        "continuous: {read: {sarif: a.sarif, level: warning}}",
        "continuous: {read: {sarif: a.sarif, level: fatal}}",
        "continuous: {read: {sarif: a.sarif, of: lines}}",
        "continuous: {read: {hyperfine: a.json, of: min, command: make}}",
        "continuous: {read: {hyperfine: a.json, command: ''}}",
        "continuous: {read: {hyperfine: '*.json'}}",
        "continuous: {read: {hyperfine: a.json, of: slope}}",
        "continuous: {read: {criterion: group/f/20, of: slope}}",
        "continuous: {read: {criterion: fib, of: min}}",
        "continuous: {read: {criterion: ../fib}}",
        "continuous: {read: {criterion: a/./fib}}",
        "continuous: {read: {criterion: fib/}}",
        "continuous: {read: {criterion: a/new/estimates.json}}",
        "continuous: {read: {of: lines}}",
    ] {
        let yaml = format!(
            "goals:\n  - id: a\n    description: d\n    check: c\n    weight: 5\n    {lines}\n"
        );
        assert_eq!(
            read(&yaml).is_ok(),
            schema.is_valid(&json_of(&yaml)),
            "{lines}"
        );
    }
    for lines in [
        "jobs: 0",
        "jobs: 1",
        "agent: ''",
        "agent: a",
        "agent: [a]",
        "agent: {prompt: arg}",
        "agent: {command: [a, '']}",
        "agent: {command: ['']}",
        "agent: {command: []}",
        "agent: {command: [a], prompt: x}",
        "limits:",
        "limits: {max_cycles: 0}",
        "limits: {max_time: 4h}",
        "limits: {max_cost: 2.5, max_tokens: 500000}",
        "limits: {max_cost: 0}",
        "limits: {max_cost: a}",
        "limits: {max_tokens: 0}",
        "limits: {max_tokens: 500k}",
        "limits: {max_tokens: '2M'}",
        "limits: {max_tokens: 0k}",
        "limits: {max_tokens: 1.5M}",
        "limits: {max_tokens: '5'}",
        "limits: {x: 1}",
        "protect: [a]",
        "protect: a",
        "sweep: []",
        "sweep: linters",
        "sweep:",
        "sweep: [linters, markers, floors]",
        "sweep: [marker]",
        "sweep: [{run: a}]",
        "sweep: [{run: ''}]",
        "sweep: [{severity: low}]",
        "sweep: [{run: a, severity: low, type: docs}]",
        "sweep: [{run: a, severity: unknown}]",
        "sweep: [{run: a, x: 1}]",
        "sweep: [[a]]",
        "max_time: 4h",
    ] {
        let yaml = format!("evolve:\n  {lines}\ngoals:\n{GOAL}");
        assert_eq!(
            read(&yaml).is_ok(),
            schema.is_valid(&json_of(&yaml)),
            "{lines}"
        );
        let config = validator(CONFIG_SCHEMA).is_valid(&json_of(lines));
        assert_eq!(
            read_config("c", lines.as_bytes()).is_ok(),
            config,
            "{lines}"
        );
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Err(problems) = read_goals("G", &bytes) {
            to_error("G", &problems);
        }
        let _ = read_config("G", &bytes);
    }

    #[test]
    fn no_yaml_like_text_makes_it_panic(
        text in "(goals:|id:|evolve:|- |\n|  |\t|\\{|\\}|\\[|\\]|, |a|5|: |&a |\\*a|'|\"|#|!|\\||>|\\? |---\n|\r|é|<<: ){0,40}"
    ) {
        if let Err(problems) = read_goals("G", text.as_bytes()) {
            prop_assert!(!problems.is_empty());
            prop_assert!(problems.iter().all(|problem| problem.line > 0 && problem.column > 0));
            to_error("G", &problems);
        }
    }

    #[test]
    fn no_text_in_a_value_makes_it_panic(value in "\\PC{0,30}") {
        for key in ["id", "check", "weight", "timeout", "continuous", "tags"] {
            if let Err(problems) = with_goal(&format!("{key}: {value}")) {
                to_error("G", &problems);
            }
        }
    }
}

#[test]
fn what_stands_behind_a_value_in_quotes_is_not_marked() {
    for (value, length) in [
        (r#""2"   # it's "so""#, 3),
        (r#""a \" b" # c"#, 8),
        ("'it''s'   # c", 7),
        ("'x'", 3),
        ("x   # c", 1),
    ] {
        let text = format!("goals:\n  - {{id: a}}\n  - id: b\n    check: c\n    weight: {value}\n");
        let Err(problems) = read(&text) else {
            panic!("{value} is a weight")
        };
        let problem = problems.iter().find(|it| it.line == 5);
        assert_eq!(problem.expect("a problem").length, length, "{value}");
    }
}
