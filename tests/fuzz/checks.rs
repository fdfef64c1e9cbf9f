//! What checks print, the reports that they write, the check lines themselves, and what linters say.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use evolve::model::check;
use evolve::model::goals::{Goal, read_goals};
use evolve::model::mask;
use evolve::model::measuring::{Outcome, measurement};
use evolve::model::reading::{
    Reading, Report, cobertura, criterion, hyperfine, junit, lcov, read_value, sarif,
};
use evolve::model::sweep::{Linter, OwnCommand, read_markers, read_own};
use evolve::model::work::Severity;

use crate::feed::{Format, feed};
use crate::nasty::{self, assert_clean};

fn files_of(folder: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.retain(|path| path.is_file());
    files.sort();
    files
        .iter()
        .map(|path| fs::read(path).expect("readable"))
        .collect()
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    let mut samples: Vec<_> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    samples.extend(nasty::structures());
    samples
}

fn goal() -> Goal {
    let text = "goals:\n  - {id: a, description: d, check: c, weight: 5, continuous: {metric: m, threshold: 80, direction: at-least}}\n";
    let (mut goals, _) = read_goals("GOALS.yaml", text.as_bytes()).expect("valid");
    goals.goals.remove(0)
}

#[test]
fn check_outputs_give_a_finite_number_or_a_reason_in_one_clean_line() {
    const WORDS: &[&str] = &[
        "85.7%",
        "1,089",
        "3,5",
        ".5",
        "1e-5",
        "NaN",
        "-inf",
        "total:",
        "TOTAL",
        "100",
        "\u{2212}3",
        "1.2.3",
        "0x1f",
        "\n",
    ];
    let samples = texts(&[
        "lines......: 85.7% (60 of 70 lines)\n",
        "{\"a\": {\"b\": [1, \"2\", null]}}\n",
        "note\n{\"a\":{\"b\":[7]}}\n",
        "TOTAL 120 6 95%\n",
        "\u{1b}[31m12\u{1b}[0m\r\n",
        "1e999\n",
        "coverage: 80\rcoverage: 81\r",
        "ok 1\nok 2\n# 3 tests\n",
    ]);
    let readings = [
        Reading::LastNumber,
        Reading::Regex("cov.*?(\\d+)".to_owned()),
        Reading::Regex("(?s)(.*)*x".to_owned()),
        Reading::Regex("".to_owned()),
        Reading::Json {
            file: None,
            pointer: "/a/b/0".to_owned(),
        },
        Reading::Json {
            file: None,
            pointer: String::new(),
        },
    ];
    let goal = goal();
    feed(
        Format {
            name: "check_outputs",
            samples,
            words: WORDS.to_vec(),
        },
        move |input| {
            let text = String::from_utf8_lossy(input);
            let exits = [Some(0), Some(1), Some(127), None];
            // A check has one reading; the limits are for one, and two in turn stay well within them.
            let in_turn = readings.iter().cycle().skip(text.len() % readings.len());
            for (reading, exit) in in_turn
                .take(2)
                .zip(exits.iter().cycle().skip(text.len() % 4))
            {
                let mut goal = goal.clone();
                goal.continuous.as_mut().expect("it has one").read = reading.clone();
                assert_measured(&goal, &text, *exit);
            }
        },
    );
}

fn assert_measured(goal: &Goal, text: &str, exit: Option<i32>) {
    let measured = measurement(
        goal,
        &Outcome {
            exit,
            fault: exit.is_none().then_some("ended by signal 9"),
            duration: Duration::from_secs(1),
            stdout: text,
            combined: text,
            reports: Ok(&[]),
            note: None,
        },
    );
    assert!(measured.value.is_none_or(f64::is_finite), "{measured:?}");
    for said in [&measured.reason, &measured.output_tail]
        .into_iter()
        .flatten()
    {
        assert_clean(said);
        assert!(said.len() <= 4096, "{} bytes", said.len());
        assert_eq!(&mask::secrets(said), said, "a secret is kept");
    }
    assert!(measured.reason.is_none_or(|reason| !reason.contains('\n')));
}

#[test]
fn reports_give_a_finite_number_or_a_reason() {
    const WORDS: &[&str] = &[
        "SF:",
        "DA:1,1",
        "LF:18446744073709551615",
        "LH:18446744073709551615",
        "BRDA:1,0,0,-",
        "FNL:0,1",
        "FNA:0,1,f",
        "end_of_record\n",
        "<testsuite",
        "<testcase",
        "<failure/>",
        "time=\"1e308\"",
        "time=\"NaN\"",
        "tests=\"-1\"",
        "line-rate=\"2\"",
        "lines-valid=\"0\"",
        "<!DOCTYPE x [<!ENTITY a \"aaaa\">]>",
        "&a;",
        "&#0;",
        "&#x10ffff;",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "xmlns:a=\"b\"",
        "</",
        "\"runs\":[",
        "\"results\":[",
        "\"level\":\"error\"",
        "\"suppressions\":[{}]",
        "\"mean\":",
        "\"point_estimate\":1e400",
    ];
    let mut samples = files_of("tests/reports");
    samples.extend(nasty::structures());
    let file = || "r".to_owned();
    let mut readings = vec![Reading::Json {
        file: Some("r".into()),
        pointer: "/0/a".to_owned(),
    }];
    readings.extend(lcov::WORDS.iter().map(|(_, of)| Reading::Lcov {
        files: file(),
        of: *of,
    }));
    readings.extend(cobertura::WORDS.iter().map(|(_, of)| Reading::Cobertura {
        files: file(),
        of: *of,
    }));
    readings.extend(junit::WORDS.iter().map(|(_, of)| Reading::Junit {
        files: file(),
        of: *of,
    }));
    readings.extend(sarif::WORDS.iter().map(|(_, level)| Reading::Sarif {
        files: file(),
        level: *level,
    }));
    readings.extend(hyperfine::WORDS.iter().map(|(_, of)| Reading::Hyperfine {
        file: "r".into(),
        of: *of,
        command: None,
    }));
    readings.extend(criterion::WORDS.iter().map(|(_, of)| Reading::Criterion {
        benchmark: file(),
        of: *of,
    }));
    feed(
        Format {
            name: "reports",
            samples,
            words: WORDS.to_vec(),
        },
        move |input| {
            let report = Report {
                name: "r".to_owned(),
                text: String::from_utf8_lossy(input).into_owned(),
            };
            let reports = [report.clone(), report];
            for reading in &readings {
                for reports in [&reports[..1], &reports[..]] {
                    if let Ok(value) = read_value(reading, "", "", Ok(reports)) {
                        assert!(value.is_finite(), "{reading:?}: {value}");
                    }
                }
            }
        },
    );
}

#[test]
fn check_lines_are_split_as_a_shell_would_or_left_alone() {
    const WORDS: &[&str] = &[
        "sh ",
        "bash -c '",
        "python -m ",
        "make -f ",
        "scripts/check-a b.sh",
        "scripts/check-$(x).sh",
        "'",
        "\"",
        "\\\n",
        "$(",
        "`",
        "<<EOF\n",
        "EOF\n",
        "&&",
        "||",
        "|",
        ";",
        "#",
        "env A=b ",
        "exec ",
        "if ",
        "then ",
        "fi",
        "{ ",
        "}",
        "( ",
        ")",
        "~/",
        "$HOME/",
        "2>&1",
        "../",
    ];
    let samples = texts(&[
        "sh scripts/check.sh --all",
        "cd a && python3 -u 'x y.py' | grep -q z",
        "! git grep -InE '^<<<<<<< '",
        "make -f Makefile test",
        "env FOO=1 nice -n 5 bash -euo pipefail scripts/run.sh",
        "cat <<'EOF' | sh\nscripts/a.sh\nEOF\n",
        "test -e a # scripts/check-x.sh",
    ]);
    feed(
        Format {
            name: "check_lines",
            samples,
            words: WORDS.to_vec(),
        },
        |input| {
            let text = String::from_utf8_lossy(input);
            let is_file = |path: &str| !path.ends_with("no");
            for path in check::runs(&text, &is_file)
                .iter()
                .chain(&check::leaned_on_in(
                    &check::Code::of_check(&text),
                    &is_file,
                ))
            {
                assert!(!path.is_empty());
            }
            let _ = check::commands(&text);
            let code = check::Code::of_check(&text);
            let _ = (check::discovered(&code), check::tools(&code));
        },
    );
}

#[test]
fn linter_outputs_give_findings_in_the_repository_only() {
    const WORDS: &[&str] = &[
        "/root/x/",
        "../",
        "\"file\":",
        "\"line\":4294967296",
        "\"level\":",
        "TODO: ",
        "FIXME",
        ":1:1: ",
        "{\"title\":\"",
    ];
    let mut samples = files_of("tests/sweep_outputs");
    samples.extend(nasty::structures());
    let own = OwnCommand {
        run: "./find.sh".to_owned(),
        severity: Severity::Low,
        kind: "bug".to_owned(),
    };
    feed(
        Format {
            name: "linter_outputs",
            samples,
            words: WORDS.to_vec(),
        },
        move |input| {
            let text = String::from_utf8_lossy(input);
            let linters = [
                Linter::Shellcheck,
                Linter::GoVet,
                Linter::Clippy,
                Linter::Ruff,
            ];
            for finding in linters
                .iter()
                .filter_map(|one| one.read(1, &text, "/root/x", "").ok())
                .flatten()
            {
                assert!(
                    !finding.file.starts_with('/') && !finding.file.starts_with("../"),
                    "{finding:?}"
                );
            }
            let _ = read_markers(&text);
            let batch = read_own(&own, &text, "/root/x", &|_| true);
            for item in &batch.items {
                assert_clean(&item.title);
                assert!(item.title.chars().count() <= 200);
            }
        },
    );
}
