//! Values from reports: what is read from the files of real tools is what these tools say themselves, and a report that
//! this check did not write counts for nothing.

use std::fs;
use std::path::Path;

use evolve::model::goals::read_goals;
use evolve::model::reading::{Reading, Report, read_value};
use serde_json::Value;

use crate::harness::TestRepo;

/// The reading that a goals file with this `read:` has.
#[track_caller]
fn reading(read: &str) -> Reading {
    let text = format!(
        "goals:\n  - {{id: a, description: d, check: c, weight: 5, continuous: {{threshold: 1, direction: at-least, read: {read}}}}}\n"
    );
    let (goals, _) = read_goals("GOALS.yaml", text.as_bytes()).unwrap();
    goals.goals[0].continuous.clone().unwrap().read
}

/// A captured report.
fn report(name: &str) -> Report {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports");
    Report {
        name: name.to_owned(),
        text: fs::read_to_string(folder.join(name)).unwrap(),
    }
}

/// What is read from captured reports, whose names stand in `read` between blanks.
#[track_caller]
fn value(read: &str, names: &[&str]) -> Result<f64, String> {
    let reports: Vec<Report> = names.iter().map(|name| report(name)).collect();
    read_value(&reading(read), "", "", Ok(&reports))
}

#[test]
fn coverage_is_what_the_tools_say() {
    for (read, file, hit, found) in [
        ("{lcov: x}", "geninfo.info", 6.0, 9.0),
        ("{lcov: x, of: functions}", "geninfo.info", 3.0, 4.0),
        ("{lcov: x, of: branches}", "geninfo.info", 5.0, 10.0),
        ("{lcov: x, of: lines}", "geninfo-two-runs.info", 8.0, 10.0),
        (
            "{lcov: x, of: functions}",
            "geninfo-two-runs.info",
            4.0,
            5.0,
        ),
        (
            "{lcov: x, of: branches}",
            "geninfo-two-runs.info",
            9.0,
            14.0,
        ),
        ("{lcov: x, of: lines}", "lcov-added.info", 8.0, 10.0),
        ("{lcov: x, of: functions}", "lcov-added.info", 4.0, 5.0),
        ("{lcov: x, of: branches}", "lcov-added.info", 9.0, 14.0),
        ("{lcov: x}", "gcovr.info", 6.0, 9.0),
        ("{lcov: x, of: functions}", "gcovr.info", 3.0, 4.0),
        ("{lcov: x, of: branches}", "gcovr.info", 4.0, 10.0),
        ("{lcov: x}", "coverage-py.info", 26.0, 33.0),
        ("{lcov: x, of: functions}", "coverage-py.info", 7.0, 9.0),
        ("{lcov: x, of: branches}", "coverage-py.info", 2.0, 6.0),
        ("{lcov: x}", "nyc.info", 4.0, 7.0),
        ("{lcov: x, of: functions}", "nyc.info", 2.0, 3.0),
        ("{lcov: x, of: branches}", "nyc.info", 4.0, 6.0),
        ("{lcov: x}", "c8.info", 8.0, 14.0),
        ("{lcov: x, of: branches}", "c8.info", 3.0, 5.0),
        ("{cobertura: x}", "gcovr.xml", 6.0, 9.0),
        ("{cobertura: x, of: branches}", "gcovr.xml", 4.0, 10.0),
        ("{cobertura: x}", "coverage-py.xml", 26.0, 33.0),
        ("{cobertura: x, of: branches}", "coverage-py.xml", 2.0, 6.0),
        ("{cobertura: x}", "nyc.xml", 4.0, 7.0),
        ("{cobertura: x, of: branches}", "nyc.xml", 4.0, 6.0),
        ("{cobertura: x}", "c8.xml", 8.0, 14.0),
        ("{cobertura: x, of: branches}", "c8.xml", 3.0, 5.0),
    ] {
        let wanted = 100.0 * hit / found;
        assert_eq!(value(read, &[file]), Ok(wanted), "{read} {file}");
    }
    let files = ["coverage-py.info", "nyc.info"];
    assert_eq!(value("{lcov: '*'}", &files), Ok(100.0 * 30.0 / 40.0));
    let files = ["coverage-py.xml", "nyc.xml"];
    assert_eq!(value("{cobertura: '*'}", &files), Ok(100.0 * 30.0 / 40.0));
    let pointer = "{json: 'x#/totals/percent_statements_covered'}";
    let percent = value(pointer, &["coverage-py.json"]).unwrap();
    assert!((percent - 100.0 * 26.0 / 33.0).abs() < 1e-9, "{percent}");
    let pointer = "{json: 'x#/total/lines/pct'}";
    assert_eq!(value(pointer, &["nyc.json"]), Ok(57.14));
}

#[test]
fn coverage_of_nothing_is_no_coverage() {
    for (read, file, counted) in [
        ("{lcov: x}", "coverage-py-nothing.info", "lines"),
        ("{cobertura: x}", "coverage-py-nothing.xml", "lines"),
        ("{cobertura: x}", "nyc-nothing.xml", "lines"),
        (
            "{cobertura: x, of: branches}",
            "coverage-py-lines.xml",
            "branches",
        ),
        (
            "{cobertura: x, of: branches}",
            "coverage-py-nothing.xml",
            "branches",
        ),
    ] {
        let why =
            format!("no value: `{file}` counts no {counted} at all, and 0 of 0 is no coverage");
        assert_eq!(value(read, &[file]), Err(why), "{read}");
    }
}

#[test]
fn test_reports_are_counted_as_the_runners_count() {
    for (file, tests, failures, skipped, seconds) in [
        ("pytest.xml", 8.0, 4.0, 1.0, 0.160),
        ("pytest-broken.xml", 1.0, 1.0, 0.0, 0.153),
        ("jest-junit.xml", 4.0, 1.0, 1.0, 0.412),
        ("mocha.xml", 4.0, 1.0, 1.0, 0.003),
        ("node-test.xml", 5.0, 1.0, 2.0, 0.012_410 + 0.000_070),
        ("nextest.xml", 3.0, 1.0, 0.0, 0.093),
        ("nextest-retries.xml", 4.0, 1.0, 0.0, 0.035),
        ("ant.xml", 4.0, 2.0, 1.0, 0.021),
    ] {
        let of = |word: &str| value(&format!("{{junit: x, of: {word}}}"), &[file]);
        let found = [of("tests"), of("failures"), of("skipped"), of("time")];
        assert_eq!(found, [tests, failures, skipped, seconds].map(Ok), "{file}");
        assert_eq!(value("{junit: x}", &[file]), Ok(failures));
    }
    let several = ["pytest.xml", "ant.xml", "pytest-nothing.xml"];
    assert_eq!(value("{junit: '*'}", &several), Ok(6.0));
    assert_eq!(value("{junit: '*', of: tests}", &several), Ok(12.0));
}

#[test]
fn a_suite_that_could_not_start_is_a_failure_and_no_tests_are_no_success() {
    // One test failed; the suite that could not start stands there as two more, one with an error, one with a failure.
    assert_eq!(
        value("{junit: x}", &["jest-junit-suite-errors.xml"]),
        Ok(3.0)
    );
    for file in ["pytest-nothing.xml", "jest-junit-nothing.xml"] {
        let why = format!("no value: `{file}` holds no test case, so that no test was run");
        for of in ["failures", "skipped", "time"] {
            assert_eq!(
                value(&format!("{{junit: x, of: {of}}}"), &[file]),
                Err(why.clone())
            );
        }
        assert_eq!(value("{junit: x, of: tests}", &[file]), Ok(0.0));
    }
}

#[test]
fn findings_are_counted_from_their_level_up() {
    for (file, notes, warnings, errors) in [
        ("ruff.sarif", 5.0, 5.0, 5.0),
        ("bandit.sarif", 3.0, 1.0, 1.0),
        ("eslint.sarif", 3.0, 3.0, 2.0),
        ("eslint-clean.sarif", 0.0, 0.0, 0.0),
    ] {
        let from = |level: &str| value(&format!("{{sarif: x, level: {level}}}"), &[file]);
        let found = [from("note"), from("warning"), from("error")];
        assert_eq!(found, [notes, warnings, errors].map(Ok), "{file}");
        assert_eq!(value("{sarif: x}", &[file]), Ok(notes));
    }
    assert_eq!(
        value("{sarif: '*'}", &["ruff.sarif", "eslint.sarif"]),
        Ok(8.0)
    );
    let broken = "no value: ESLint says in `eslint-broken.sarif` that its run did not succeed";
    assert_eq!(
        value("{sarif: x}", &["eslint-broken.sarif"]),
        Err(broken.to_owned())
    );
}

#[test]
fn benchmarks_are_read_in_seconds_and_nanoseconds() {
    for (of, seconds) in [
        ("mean", 0.006_183_020_4),
        ("median", 0.007_813_821),
        ("min", 0.001_064_997),
        ("max", 0.008_049_244),
        ("stddev", 0.002_966_821_627_453_241_4),
        ("user", 0.000_814_400_000_000_000_1),
        ("system", 0.0),
    ] {
        let read = format!("{{hyperfine: x, of: {of}}}");
        assert_eq!(value(&read, &["hyperfine.json"]), Ok(seconds), "{of}");
    }
    assert_eq!(
        value("{hyperfine: x}", &["hyperfine.json"]),
        Ok(0.006_183_020_4)
    );
    let two = ["hyperfine-two.json"];
    let sleeping = "{hyperfine: x, command: sleep 0.02, of: min}";
    assert_eq!(value(sleeping, &two), Ok(0.024_262_484));
    assert_eq!(
        value("{hyperfine: x, command: nothing, of: min}", &two),
        Ok(0.003_806_350_000_000_000_4)
    );
    for (read, file, why) in [
        (
            "{hyperfine: x}",
            "hyperfine-two.json",
            "no value: `hyperfine-two.json` has several commands, `nothing`, `sleep 0.02`; say which one with `command`",
        ),
        (
            "{hyperfine: x, command: sleep}",
            "hyperfine-two.json",
            "no value: `hyperfine-two.json` has no command `sleep`; it has `nothing`, `sleep 0.02`",
        ),
        (
            "{hyperfine: x, of: stddev}",
            "hyperfine-single-run.json",
            "no value: `null` at `/stddev` of `true` in `hyperfine-single-run.json` is no number",
        ),
    ] {
        assert_eq!(value(read, &[file]), Err(why.to_owned()), "{read}");
    }
    for (of, nanoseconds) in [("slope", 16.117), ("mean", 17.002), ("median", 15.797)] {
        let found = value(
            &format!("{{criterion: area, of: {of}}}"),
            &["criterion.json"],
        )
        .unwrap();
        assert!((found - nanoseconds).abs() < 0.001, "{of} {found}");
    }
}

#[test]
fn a_report_of_another_format_is_told_from_one_without_findings() {
    let formats = ["lcov", "cobertura", "junit", "sarif", "hyperfine"];
    let files = [
        "geninfo.info",
        "gcovr.xml",
        "ant.xml",
        "ruff.sarif",
        "hyperfine.json",
    ];
    for (format, own) in formats.iter().zip(files) {
        for file in files.iter().filter(|file| **file != own) {
            let found = value(&format!("{{{format}: x}}"), &[file]);
            assert!(found.is_err(), "{format} {file} {found:?}");
        }
    }
}

/// A goal with a check and `read:`; the threshold is at most 0 failures or at least 80 of all else.
fn goal(id: &str, check: &str, read: &str) -> String {
    let limit = match read.contains("junit") || read.contains("sarif") {
        true => "threshold: 0, direction: at-most",
        false => "threshold: 80, direction: at-least",
    };
    format!(
        "  - id: {id}\n    description: goal {id}\n    weight: 5\n    check: |\n      {check}\n    continuous: {{metric: things, {limit}, read: {read}}}\n"
    )
}

/// What `evolve measure` says of each goal: result, value and reason.
#[track_caller]
fn measured(repo: &TestRepo) -> Vec<(String, Value, String)> {
    let run = repo.evolve(&["measure", "--json"]).expect(0);
    let snapshot: Value = serde_json::from_str(&run.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let goals = snapshot["goals"].as_array().unwrap();
    goals
        .iter()
        .map(|goal| {
            (
                text(&goal["result"]),
                goal["value"].clone(),
                text(&goal["reason"]),
            )
        })
        .collect()
}

const TWO_OF_TWO: &str = r"SF:a.c\nDA:1,1\nDA:2,1\nend_of_record\n";
const NO_FAILURE: &str = r#"<testsuite><testcase name="a"/></testsuite>"#;

#[test]
fn a_report_that_the_check_writes_counts() {
    let check = |file: &str, text: &str| format!("mkdir -p out/deep; printf '{text}' >out/{file}");
    let repo = TestRepo::with_goals(
        &[
            goal("lcov", &check("lcov.info", TWO_OF_TWO), "{lcov: out/lcov.info}"),
            goal("junit", &check("deep/a.xml", NO_FAILURE), "{junit: './out/**/*.xml'}"),
            goal("json", &check("a.json", "{\"a\": 90}"), "{json: 'out/a.json#/a'}"),
            goal(
                "link",
                "mkdir -p real; ln -s real there; echo 90 >there/x.json",
                "{json: 'there/x.json#'}",
            ),
            goal(
                "criterion",
                "d='target/criterion/sides_wide/a_ b/new'; mkdir -p \"$d\"; echo '{\"mean\": {\"point_estimate\": 81.5}}' >\"$d/estimates.json\"",
                "{criterion: 'sides/wide/a: b'}",
            ),
        ]
        .concat(),
    );
    let found = measured(&repo);
    let values = [100.0, 0.0, 90.0, 90.0, 81.5];
    let wanted = values.map(|value| ("pass".to_owned(), Value::from(value), String::new()));
    assert_eq!(found, wanted);
}

#[test]
fn a_report_from_before_the_check_fails_and_says_so() {
    let repo = TestRepo::with_goals(
        &[
            goal("lcov", "true", "{lcov: old/lcov.info}"),
            goal("json", "true", "{json: 'old/a.json#/a'}"),
            goal("junit", "true", "{junit: 'old/*.xml'}"),
            goal(
                "copied",
                "cp -p old/lcov.info copy.info",
                "{lcov: copy.info}",
            ),
            goal("criterion", "true", "{criterion: area}"),
        ]
        .concat(),
    );
    let estimates = "target/criterion/area/new/estimates.json";
    repo.write("old/lcov.info", &TWO_OF_TWO.replace(r"\n", "\n"));
    repo.write("old/a.json", "{\"a\": 90}");
    repo.write("old/a.xml", NO_FAILURE);
    repo.write("old/b.xml", NO_FAILURE);
    repo.write(estimates, "{}");
    for file in ["lcov.info", "a.json", "a.xml", "b.xml"] {
        age(&repo, &format!("old/{file}"));
    }
    age(&repo, estimates);
    let single = |file: &str| {
        format!("no value: `{file}` is older than the check's start, so the check did not write it")
    };
    let reasons = [
        single("old/lcov.info"),
        single("old/a.json"),
        "no value: the check wrote nothing that matches `old/*.xml`: 2 reports are older than the check's start (`old/a.xml`, `old/b.xml`)".to_owned(),
        single("copy.info"),
        single(estimates),
    ];
    let wanted = reasons.map(|reason| ("fail".to_owned(), Value::Null, reason));
    assert_eq!(measured(&repo), wanted);
}

/// What an agent leaves with a time in the future would be newer than any check.
#[test]
fn a_report_dated_in_the_future_was_not_written_by_the_check_and_that_is_said() {
    let fresh = format!("printf '{NO_FAILURE}' >mixed/new.xml");
    let repo = TestRepo::with_goals(
        &[
            goal("json", "true", "{json: 'ahead/a.json#/a'}"),
            goal(
                "touched",
                "chmod 600 ahead/b.json",
                "{json: 'ahead/b.json#/a'}",
            ),
            goal(
                "moved",
                "mv ahead/c.json there.json",
                "{json: 'there.json#/a'}",
            ),
            goal("junit", "true", "{junit: 'ahead/*.xml'}"),
            goal("mixed", &fresh, "{junit: 'mixed/*.xml'}"),
        ]
        .concat(),
    );
    for name in ["a.json", "b.json", "c.json"] {
        repo.write(&format!("ahead/{name}"), "{\"a\": 90}");
        date_ahead(&repo, &format!("ahead/{name}"));
    }
    let failing = NO_FAILURE.replace("/></", "><failure/></testcase></");
    for file in ["ahead/a.xml", "mixed/ahead.xml"] {
        repo.write(file, &failing);
        date_ahead(&repo, file);
    }
    repo.write("mixed/old.xml", &failing);
    age(&repo, "mixed/old.xml");
    let single = |file: &str| {
        format!(
            "no value: `{file}` is dated later than it was last changed, so the check did not write it"
        )
    };
    let reasons = [
        single("ahead/a.json"),
        single("ahead/b.json"),
        single("there.json"),
        "no value: the check wrote nothing that matches `ahead/*.xml`: `ahead/a.xml` is dated later than it was last changed".to_owned(),
    ];
    let found = measured(&repo);
    let failed = reasons.map(|reason| ("fail".to_owned(), Value::Null, reason));
    assert_eq!(found[..4], failed);
    let note = "`mixed/old.xml` is older than the check's start, `mixed/ahead.xml` is dated later than it was last changed and not counted";
    let pass = ("pass".to_owned(), Value::from(0.0), note.to_owned());
    assert_eq!(found[4], pass);
}

/// Dates a file an hour ahead.
fn date_ahead(repo: &TestRepo, file: &str) {
    let path = repo.path(file);
    let hour = std::time::Duration::from_secs(3600);
    let ahead = fs::metadata(&path).unwrap().modified().unwrap() + hour;
    fs::File::open(path).unwrap().set_modified(ahead).unwrap();
}

/// Dates a file an hour back.
fn age(repo: &TestRepo, file: &str) {
    let path = repo.path(file);
    let hour = std::time::Duration::from_secs(3600);
    let old = fs::metadata(&path).unwrap().modified().unwrap() - hour;
    fs::File::open(path).unwrap().set_modified(old).unwrap();
}

#[test]
fn older_reports_beside_those_of_this_run_are_not_counted_and_are_named() {
    let failing = r#"<testsuite><testcase name="a"><failure/></testcase></testsuite>"#;
    let repo = TestRepo::with_goals(&goal(
        "junit",
        &format!("printf '{NO_FAILURE}' >reports/new.xml"),
        "{junit: 'reports/*.xml'}",
    ));
    repo.write("reports/gone.xml", failing);
    age(&repo, "reports/gone.xml");
    let note = "`reports/gone.xml` is older than the check's start and not counted";
    let pass = ("pass".to_owned(), Value::from(0.0), note.to_owned());
    assert_eq!(measured(&repo), [pass]);
}

#[test]
fn a_report_that_a_link_leads_to_as_well_counts_once() {
    let failing = r#"<testsuite><testcase name="a"><failure/></testcase></testsuite>"#;
    let repo = TestRepo::with_goals(&goal(
        "junit",
        &format!(
            "mkdir reports; printf '{failing}' >reports/run.xml; ln -s run.xml reports/latest.xml"
        ),
        "{junit: 'reports/*.xml'}",
    ));
    assert_eq!(measured(&repo)[0].1, Value::from(1.0));
}

#[test]
fn a_report_that_cannot_be_read_fails_and_says_why() {
    let repo = TestRepo::with_goals(
        &[
            goal("missing", "true", "{lcov: out/lcov.info}"),
            goal("nothing", "true", "{junit: 'out/*.xml'}"),
            goal("folder", "mkdir -p folder.xml", "{junit: folder.xml}"),
            goal("pipe", "mkfifo pipe.info", "{lcov: pipe.info}"),
            goal(
                "large",
                "truncate -s 33M large.json",
                "{json: 'large.json#'}",
            ),
            goal("empty", ": >empty.xml", "{junit: empty.xml}"),
            goal(
                "elsewhere",
                "ln -s /etc/hostname away.json",
                "{json: 'away.json#'}",
            ),
            goal("outside", "ln -s /etc away", "{junit: 'away/*.xml'}"),
            goal(
                "broken",
                "printf 'SF:a\\nDA:1\\nend_of_record\\n' >b.info",
                "{lcov: b.info}",
            ),
            goal("cut", "printf 'SF:a\\nDA:1,1\\n' >c.info", "{lcov: c.info}"),
            goal(
                "bomb",
                "printf '<!DOCTYPE a [<!ENTITY b \"xxxx\">]><testsuite>&b;</testsuite>' >bomb.xml",
                "{junit: bomb.xml}",
            ),
        ]
        .concat(),
    );
    let reasons = [
        "no value: `out/lcov.info` is missing",
        "no value: no file matches `out/*.xml`",
        "no value: `folder.xml` is no plain file",
        "no value: `pipe.info` is no plain file",
        "no value: `large.json` is larger than the 32 MiB that are read",
        "no value: `empty.xml` is empty",
        "no value: `away.json` leads out of the repository through a link",
        "no value: `away` leads out of the repository through a link",
        "no value: line 2 of `b.info` is no LCOV record: `DA:1`",
        "no value: `c.info` ends in the middle: its last section has no end_of_record",
        "no value: `bomb.xml` defines entities, which are not read",
    ];
    let wanted = reasons.map(|reason| ("fail".to_owned(), Value::Null, reason.to_owned()));
    assert_eq!(measured(&repo), wanted);
}

#[test]
fn a_change_after_which_the_report_is_no_longer_written_is_undone() {
    let write = format!("[ -e lazy ] || printf '{TWO_OF_TWO}' >target/lcov.info");
    let wanted =
        "  - {id: wanted, description: wanted, weight: 9, check: '[ -e wanted ]'}\n".to_owned();
    let repo = TestRepo::with_goals(
        &[goal("coverage", &write, "{lcov: target/lcov.info}"), wanted].concat(),
    );
    repo.write(".gitignore", "target/\n");
    repo.write("target/keep", "");
    repo.commit_all("target is ignored");
    repo.cycle("touch wanted lazy").expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "regressed");
    assert_eq!(record["newly_failing"], serde_json::json!(["coverage"]));
    let post = repo.json(".agents/evolve/fitness-1-post.json");
    let reason = post["goals"][0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("is older than the check's start"),
        "{reason}"
    );
    assert!(!repo.has("lazy") && !repo.has("wanted"));
}
