use proptest::prelude::*;

use super::*;

fn report(name: &str, text: &str) -> Report {
    Report {
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

fn last(stdout: &str) -> Result<f64, String> {
    read_value(&Reading::LastNumber, stdout, "", Ok(&[]))
}

fn json(pointer: &str, file: Option<&str>) -> Reading {
    Reading::Json {
        file: file.map(Into::into),
        pointer: pointer.to_owned(),
    }
}

#[test]
fn the_last_number_is_read_as_people_write_it() {
    let cases = [
        ("85", 85.0),
        ("coverage: 85.7% of statements\n", 85.7),
        ("coverage:85.7%.", 85.7),
        ("a=1e-5", 1e-5),
        ("-2", -2.0),
        ("\u{2212}2", -2.0),
        (
            "+3\nutf8 v1.2.3 12ms 2026-02-11 12:30:45 3/10 src/4/b x_9 0xff 7b",
            3.0,
        ),
        ("1,089 warnings", 1089.0),
        ("1,234,567.5", 1_234_567.5),
        ("total,85.7", 85.7),
        ("[1, 2, 3]", 3.0),
        ("lines......: 12.5% (x)", 12.5),
        ("lines......85", 85.0),
        ("\u{1b}[32m85\u{1b}[0m", 85.0),
        ("10%\r20%\r30%\r\n", 30.0),
        (".5", 0.5),
        ("It took 5.", 5.0),
    ];
    for (stdout, value) in cases {
        assert_eq!(last(stdout), Ok(value), "{stdout:?}");
    }
}

#[test]
fn what_is_no_finite_number_is_said_to_be_none() {
    let cases = [
        ("", "no value: no number on stdout, which is empty"),
        (
            "utf8 ok\n\n",
            "no value: no number on stdout, which ends with `utf8 ok`",
        ),
        (
            "5\nNaN",
            "no value: the last number on stdout, `NaN`, is not finite",
        ),
        (
            "-inf",
            "no value: the last number on stdout, `-inf`, is not finite",
        ),
        (
            "1e999",
            "no value: the last number on stdout, `1e999`, is not finite",
        ),
    ];
    for (stdout, message) in cases {
        assert_eq!(last(stdout), Err(message.to_owned()));
    }
    assert!(
        last("4\n85,7").is_err_and(|message| message.contains("`85,7`, may be one or several"))
    );
}

#[test]
fn a_pattern_reads_its_last_match_in_the_whole_output() {
    let read = |pattern: &str, output: &str| {
        read_value(&Reading::Regex(pattern.to_owned()), "", output, Ok(&[]))
    };
    assert_eq!(read(r"(\d+) warnings", "3 warnings\n12 warnings"), Ok(12.0));
    assert_eq!(read(r"\d+", "a1b22"), Ok(22.0));
    assert_eq!(read(r"^(\d+)$", "1 file\n42\ndone\n"), Ok(42.0));
    assert_eq!(read(r"time (\S+)ms", "time 1,089ms"), Ok(1089.0));
    let nothing = "no value: nothing matches `x(\\d)` in the output, which ends with `hm`";
    assert_eq!(read(r"x(\d)", "hm"), Err(nothing.to_owned()));
    let word = "no value: `abc`, the last match of `[a-c]+`, is no number";
    assert_eq!(read("[a-c]+", "abc"), Err(word.to_owned()));
    assert!(read("(", "1").is_err());
}

#[test]
fn a_pointer_reads_a_number_or_a_numeric_text() {
    let file = report(
        "cov.json",
        r#"{"data":[{"percent":85.5,"text":"12%","no":true}],"":1}"#,
    );
    let read = |pointer: &str| {
        let reading = json(pointer, Some("cov.json"));
        read_value(&reading, "", "", Ok(std::slice::from_ref(&file)))
    };
    assert_eq!(read("/data/0/percent"), Ok(85.5));
    assert_eq!(read("/data/0/text"), Ok(12.0));
    let is_bool = "no value: `true` at `/data/0/no` of `cov.json` is no number";
    assert_eq!(read("/data/0/no"), Err(is_bool.to_owned()));
    let missing = "no value: `cov.json` has no `/data/1/x`; `/data` has 1 element";
    assert_eq!(read("/data/1/x"), Err(missing.to_owned()));
    let missing = "no value: `cov.json` has no `/date`; `` has data, ";
    assert_eq!(read("/date"), Err(missing.trim().to_owned()));
}

#[test]
fn a_pointer_is_followed_as_if_the_whole_document_were_held() {
    let read = |text: &str, pointer: &str| json::in_report(&report("x", text), pointer);
    let err = |why: &str| Err(why.to_owned());
    // Which of two members of the same key counts nobody can say; what is passed over may have them.
    for (text, pointer, key, place) in [
        (r#"{"a":1,"a":2}"#, "/a", "a", "column 11"),
        (r#"{"n":50,"\u006e":0}"#, "/n", "n", "column 17"),
        (
            r#"{"a":{"b":1},"c":0,"a":{"d":2}}"#,
            "/a/b",
            "a",
            "column 23",
        ),
        (r#"{"a":{"b":{}},"a":3}"#, "/a/b/c", "a", "column 18"),
        (r#"{"a":[{"b":1,"b":2}]}"#, "", "b", "column 17"),
        (r#"{"a":[0,{"b":1,"b":2}]}"#, "/a/1/b", "b", "column 19"),
    ] {
        let why =
            format!("`x` is not read: the key `{key}` stands twice in an object at line 1 {place}");
        assert_eq!(read(text, pointer), err(&why), "{text}");
    }
    assert_eq!(
        read(r#"{"a":[{"b":1,"b":2},{"b":3}],"c":{},"c":0}"#, "/a/1/b"),
        Ok(3.0)
    );
    assert_eq!(read(r#"{"~a/b":{"":[5,6]}}"#, "/~0a~1b//1"), Ok(6.0));
    for step in ["01", "+1", "-1", "2", "1 ", ""] {
        assert_eq!(
            read("[5,6]", &format!("/{step}")),
            Err(format!("`x` has no `/{step}`; `` has 2 elements"))
        );
    }
    assert_eq!(read(r#"{"01":7}"#, "/01"), Ok(7.0));
    // What is passed over breaks a document as much as what is looked for.
    let deep = format!("[7,{}{}]", "[".repeat(127), "]".repeat(127));
    for broken in [
        r#"[7] 8"#,
        r#"[7,1e999]"#,
        r#"[7,"\ud800"]"#,
        r#"[7,{"a"}]"#,
        r#"[7"#,
        &deep,
    ] {
        let why = serde_json::from_str::<serde_json::Value>(broken).unwrap_err();
        let why = format!("`x` is not JSON: {why}");
        assert_eq!(read(broken, "/0"), Err(why), "{broken}");
    }
    assert_eq!(
        read(&deep.replacen("[[", "[", 1).replacen("]]", "]", 1), "/0"),
        Ok(7.0)
    );
    // A text that is too long for a number is none, however it begins.
    let long = format!("{{\"a\":\"5{}x\"}}", " ".repeat(1 << 20));
    assert!(read(&long, "/a").is_err_and(|why| why.ends_with("at `/a` of `x` is no number")));
}

#[test]
fn json_on_stdout_may_follow_other_lines() {
    let read = |stdout: &str| read_value(&json("/a", None), stdout, "", Ok(&[]));
    assert_eq!(read("{\n\"a\": 1\n}\n"), Ok(1.0));
    assert_eq!(read("running\n{\"a\": 2}\n\n"), Ok(2.0));
    assert!(read("").is_err_and(|message| message.starts_with("no value: stdout, which is empty")));
    assert_eq!(read_value(&json("", None), "7", "", Ok(&[])), Ok(7.0));
    for before in ["", "running\n"] {
        let twice = "no value: stdout, which ends with `{\"a\": 2, \"a\": 0}`, is not read: the key `a` stands twice in an object at line 1 column 14";
        let said = read(&format!("{before}{{\"a\": 2, \"a\": 0}}\n"));
        assert_eq!(said, Err(twice.to_owned()), "{before}");
    }
}

#[test]
fn why_a_report_cannot_be_read_is_the_reason() {
    let read = read_value(
        &json("/a", Some("cov.json")),
        "1",
        "1",
        Err("`x` is missing"),
    );
    assert_eq!(read, Err("no value: `x` is missing".to_owned()));
}

#[test]
fn a_file_is_of_this_run_if_it_is_as_young_as_the_check_by_the_clock_that_dated_it() {
    let at = |seconds, nanoseconds| UNIX_EPOCH + std::time::Duration::new(seconds, nanoseconds);
    for (time, start, is_written) in [
        (at(5, 100), at(5, 100), true),
        (at(5, 99), at(5, 100), false),
        (at(6, 1), at(5, 100), true),
        // Whole seconds are cut off, not rounded.
        (at(5, 0), at(5, 100), true),
        (at(4, 0), at(5, 100), false),
        (
            UNIX_EPOCH - std::time::Duration::from_secs(9),
            at(5, 0),
            false,
        ),
    ] {
        let found = written(time, time, start);
        assert_eq!(found == Written::Since, is_written, "{time:?} {start:?}");
    }
}

#[test]
fn a_file_is_of_this_run_only_if_it_was_both_written_and_changed_since() {
    let at = |seconds| UNIX_EPOCH + std::time::Duration::new(seconds, 1);
    for (modified, changed, expected) in [
        (50, 50, Written::Since),
        // Another name or mode since.
        (50, 60, Written::Since),
        // Copied, unpacked or restored with its time.
        (30, 60, Written::Before),
        (30, 30, Written::Before),
        // Set ahead before the check, by far or by as little as a file system rounds.
        (90, 30, Written::Ahead),
        (41, 39, Written::Before),
        // Set ahead, and renamed by the check.
        (90, 60, Written::Ahead),
        (52, 50, Written::Since),
    ] {
        let found = written(at(modified), at(changed), at(40));
        assert_eq!(found, expected, "{modified} {changed}");
    }
}

#[test]
fn a_source_file_of_several_runs_counts_once() {
    let read = |text: &str| {
        let of = |of| lcov::percent(of, &[report("x", text)]);
        [
            of(lcov::Of::Lines),
            of(lcov::Of::Functions),
            of(lcov::Of::Branches),
        ]
    };
    let none = |what: &str| {
        Err(format!(
            "`x` counts no {what} at all, and 0 of 0 is no coverage"
        ))
    };
    // Totals win over single records where a file stands once: they count what is on one line apart.
    let totals = "TN:\r\nSF:a\r\nDA:1,1\r\nLF:4\r\nLH:1\r\nXYZ:what?\r\nVER:2\r\nend_of_record\r\n";
    assert_eq!(
        read(totals),
        [Ok(25.0), none("functions"), none("branches")]
    );
    let twice = "SF:a\nDA:1,1\nDA:2,0\nLF:2\nLH:1\nend_of_record\nSF:a\nDA:1,0\nDA:2,-3\nLF:2\nLH:0\nend_of_record\n";
    assert_eq!(read(twice)[0], Ok(50.0));
    let bare = "SF:a\nLF:2\nLH:1\nend_of_record\nSF:a\nLF:2\nLH:2\nend_of_record\n";
    assert_eq!(read(bare)[0], Ok(75.0));
    // Function aliases and end lines, exceptional branches and expressions of lcov 2.
    let newer = "SF:a\nFNL:0,3,9\nFNA:0,0,f<int, int>\nFNA:0,2,f<long>\nFNL:1,10,12\nFNA:1,0,g\nBRDA:4,e0,a, b,1\nBRDA:4,0,1,-\nend_of_record\n";
    assert_eq!(read(newer)[1..], [Ok(50.0), Ok(50.0)]);
    let older = "SF:a\nFN:3,9,f,1\nFNDA:1.2e+10,f,1\nFN:10,g\nend_of_record\n";
    assert_eq!(read(older)[1], Ok(50.0));
}

#[test]
fn broken_lcov_files_are_told() {
    for (text, why) in [
        (
            "",
            "`x` is no LCOV file with anything in it: it has no line SF:",
        ),
        (
            "<html>\n",
            "`x` is no LCOV file with anything in it: it has no line SF:",
        ),
        (
            "SF:a\nDA:one,1,1\nDA:1\nend_of_record\n",
            "line 3 of `x` is no LCOV record: `DA:1`",
        ),
        (
            "SF:a\nDA:1,NaN\nend_of_record\n",
            "line 2 of `x` is no LCOV record: `DA:1,NaN`",
        ),
        (
            "SF:a\nLF:-1\nend_of_record\n",
            "line 2 of `x` is no LCOV record: `LF:-1`",
        ),
        (
            "SF:a\nLF:1\nLH:2\nend_of_record\n",
            "`x` says that 2 of 1 lines are hit",
        ),
        (
            "SF:a\nDA:1,1\n",
            "`x` ends in the middle: its last section has no end_of_record",
        ),
        (
            "SF:a\nDA:1,0\nSF:b\nDA:1,1\nend_of_record\n",
            "line 3 of `x` begins a section where the one before has no end_of_record",
        ),
        (
            "SF:a\nDA:1,0\nSF:a\nDA:1,1\nend_of_record\n",
            "line 3 of `x` begins a section where the one before has no end_of_record",
        ),
    ] {
        let found = lcov::percent(lcov::Of::Lines, &[report("x", text)]);
        assert_eq!(found, Err(why.to_owned()), "{text}");
    }
}

#[test]
fn a_rate_is_taken_where_a_cobertura_report_has_no_counts() {
    let read = |texts: &[&str]| {
        let reports: Vec<Report> = texts.iter().map(|text| report("x", text)).collect();
        cobertura::percent(cobertura::Of::Lines, &reports)
    };
    let rate = "\u{feff}<coverage line-rate='0.25'><line number='1' hits='1'/></coverage>";
    assert_eq!(read(&[rate]), Ok(25.0));
    let counts = "<coverage line-rate='1' lines-valid='8' lines-covered='2'/>";
    assert_eq!(read(&[counts, counts]), Ok(25.0));
    for (texts, why) in [
        (
            &["<coverage line-rate='1'/>"][..],
            "`x` counts no lines at all, and 0 of 0 is no coverage",
        ),
        (
            &[counts, rate],
            "`x` gives a rate without the lines it was taken from, which cannot be joined with other reports",
        ),
        (
            &["<coverage line-rate='NaN'><line/></coverage>"],
            "line-rate=\"NaN\" in `x` is not finite",
        ),
        (
            &["<coverage line-rate='80'><line/></coverage>"],
            "line-rate=\"80\" in `x` is not between 0 and 1",
        ),
        (
            &["<coverage lines-valid='x' lines-covered='2'/>"],
            "lines-valid=\"x\" in `x` is no number",
        ),
        (
            &["<coverage lines-valid='-1' lines-covered='2'/>"],
            "lines-valid=\"-1\" in `x` is no count",
        ),
        (
            &["<coverage clover='4'/>"],
            "`x` is no Cobertura report: its root is <coverage> without a line-rate",
        ),
        (
            &["<report/>"],
            "`x` is no Cobertura report: its root is <report> without a line-rate",
        ),
    ] {
        assert_eq!(read(texts), Err(why.to_owned()), "{texts:?}");
    }
}

#[test]
fn test_cases_count_wherever_they_stand_and_claims_of_suites_are_heard() {
    use junit::Of::{Failures, Skipped, Tests, Time};
    let read = |of, text: &str| junit::value(of, &[report("x", text)]);
    let case = "<testcase><failure/><error/></testcase>";
    assert_eq!(
        read(Failures, &format!("<assemblies><a>{case}</a></assemblies>")),
        Ok(1.0)
    );
    assert_eq!(
        read(
            Failures,
            &format!("<testsuites xmlns='urn:x'>{case}</testsuites>")
        ),
        Ok(1.0)
    );
    // What a test retried or printed on the way is no failure.
    let calm = "<testsuite failures=''><testcase><flakyFailure><failure/></flakyFailure></testcase></testsuite>";
    assert_eq!(read(Failures, calm), Ok(0.0));
    let claim = "<testsuites><testsuite errors='1' failures='2'><testsuite failures='3'/></testsuite><testsuite errors='1'/></testsuites>";
    assert_eq!(read(Failures, claim), Ok(4.0));
    for (text, failures) in [
        // Who stands around has not heard of it.
        (
            "<testsuites failures='0'><testsuite failures='3'><testcase/></testsuite></testsuites>",
            3.0,
        ),
        (
            "<testsuites failures='0'><testsuite errors='0'><testcase><error/></testcase></testsuite></testsuites>",
            1.0,
        ),
        // What one suite claims makes up for nothing in another.
        (
            "<testsuites><testsuite failures='3'/><testsuite failures='0'><testcase><failure/></testcase></testsuite></testsuites>",
            4.0,
        ),
        // Sums, as most write them, count once.
        (
            "<testsuites failures='2'><testsuite failures='2'><testsuite failures='1'><testcase><failure/></testcase></testsuite>\
             <testcase><failure/></testcase></testsuite></testsuites>",
            2.0,
        ),
        (
            "<testsuites failures='5'><testsuite failures='2'><testcase><failure/></testcase></testsuite></testsuites>",
            5.0,
        ),
        (
            "<testsuite failures='-1' errors='2'><testcase/></testsuite>",
            2.0,
        ),
        (
            "<testsuite failures='999999999999999' errors='999999999999999'><testcase/></testsuite>",
            1_999_999_999_999_998.0,
        ),
    ] {
        assert_eq!(read(Failures, text), Ok(failures), "{text}");
    }
    assert_eq!(read(Tests, claim), Ok(0.0));
    assert_eq!(
        read(
            Skipped,
            "<testsuite><testcase status='notrun'/><testcase status='run'><skipped/></testcase></testsuite>"
        ),
        Ok(2.0)
    );
    let times = "<testsuites><testsuite time='1,234.5'><testcase time='9999'/></testsuite><testcase time='.5'/></testsuites>";
    assert_eq!(read(Time, times), Ok(1235.0));
    let coloured = "<testsuite><testcase name='\u{1b}[31m\u{0}'/></testsuite>";
    assert_eq!(read(Tests, coloured), Ok(1.0));
    for (of, text, why) in [
        (
            Failures,
            "<testsuites/>",
            "`x` holds no test case, so that no test was run",
        ),
        (
            Time,
            "<testsuite><testcase/></testsuite>",
            "`x` does not say how long anything took",
        ),
        (
            Time,
            "<testsuite time='0,123'><testcase/></testsuite>",
            "time=\"0,123\" in `x` is no number",
        ),
        (
            Time,
            "<testsuite time='-100'><testcase time='30'/></testsuite>",
            "time=\"-100\" in `x` is below zero, as no time is",
        ),
        (
            Time,
            "<testsuite><testcase time='30'/><testcase time='-1e-3'/></testsuite>",
            "time=\"-0.001\" in `x` is below zero, as no time is",
        ),
        (
            Tests,
            "<html/>",
            "`x` is no JUnit report: its root is <html>, and it holds no <testcase>",
        ),
        (Tests, "", "`x` is empty"),
    ] {
        assert_eq!(read(of, text), Err(why.to_owned()), "{text}");
    }
    let cut = read(Failures, "<testsuite><testcase/>");
    assert!(cut.is_err_and(|why| why.starts_with("`x` is not XML: ")));
}

#[test]
fn a_benchmark_takes_no_time_below_zero() {
    let export = r#"{"results": [{"command": "c", "mean": -5, "min": -0.0, "max": "-inf", "stddev": -1e-9}]}"#;
    let read = |of| hyperfine::seconds(of, None, &report("x", export));
    for (of, why) in [
        (
            hyperfine::Of::Mean,
            "`/mean` of `c` in `x` is below zero, as no time is",
        ),
        (
            hyperfine::Of::Stddev,
            "`/stddev` of `c` in `x` is below zero, as no time is",
        ),
        (
            hyperfine::Of::Max,
            "`\"-inf\"` at `/max` of `c` in `x` is not finite",
        ),
    ] {
        assert_eq!(read(of), Err(why.to_owned()));
    }
    assert_eq!(read(hyperfine::Of::Min), Ok(0.0));
    let twice =
        r#"{"results": [{"command": "c", "mean": 5}], "results": [{"command": "c", "mean": 1}]}"#;
    assert!(
        hyperfine::seconds(hyperfine::Of::Mean, None, &report("x", twice))
            .is_err_and(|why| why.starts_with("`x` is not read: the key `results` stands twice"))
    );
    let estimates = report("x", r#"{"mean": {"point_estimate": -1}}"#);
    assert_eq!(
        criterion::nanoseconds(criterion::Of::Mean, &estimates),
        Err("`/mean/point_estimate` of `x` is below zero, as no time is".to_owned())
    );
}

#[test]
fn a_command_that_failed_was_not_timed() {
    let read = |command, results: &str| {
        let export = report("x", &format!("{{\"results\": [{results}]}}"));
        hyperfine::seconds(hyperfine::Of::Mean, command, &export)
    };
    let failed = |why: &str| {
        let way = "what fails is not timed; if it is meant to, put `|| true` behind the command";
        Err(format!("`c` in `x` {why}: {way}"))
    };
    for (codes, expected) in [
        ("[0, 127, 1]", failed("failed in 2 of 3 runs (exit 127)")),
        // Older versions, and those of other systems, have none for what a signal ended.
        ("[null]", failed("failed in 1 of 1 runs (no exit code)")),
        ("[0, 0]", Ok(0.001)),
        ("[]", Ok(0.001)),
    ] {
        let result = format!(r#"{{"exit_codes": {codes}, "command": "c", "mean": 0.001}}"#);
        assert_eq!(read(None, &result), expected, "{codes}");
        let other = format!(r#"{result}, {{"command": "d", "mean": 5, "exit_codes": [0]}}"#);
        assert_eq!(read(Some("d"), &other), Ok(5.0));
        assert_eq!(read(Some("c"), &other), expected, "{codes}");
    }
    assert_eq!(read(None, r#"{"command": "c", "mean": 1}"#), Ok(1.0));
    let twice = r#"{"command": "c", "mean": 1, "exit_codes": [1], "exit_codes": [0]}"#;
    assert!(read(None, twice).is_err_and(|why| why.contains("`exit_codes` stands twice")));
}

#[test]
fn a_document_that_would_grow_or_goes_very_deep_does_no_harm() {
    let bomb = "<?xml version='1.0'?><!-- [ --><!DOCTYPE x SYSTEM 'a>b' [<!ENTITY a 'aaaa'>]><testsuite>&a;</testsuite>";
    let read = |text: &str| junit::value(junit::Of::Time, &[report("x", text)]);
    let plain = "<!DOCTYPE x [ <!ENTITY a 'aaaa'> ]><testsuite>&a;</testsuite>";
    let refused = "`x` defines entities, which are not read";
    assert_eq!(read(bomb), Err(refused.to_owned()));
    assert_eq!(read(plain), Err(refused.to_owned()));
    let depth = 200_000;
    let deep = format!(
        "{}<testcase time='2'/>{}",
        "<testsuite>".repeat(depth),
        "</testsuite>".repeat(depth)
    );
    assert_eq!(read(&deep), Ok(2.0));
    assert_eq!(
        junit::value(junit::Of::Failures, &[report("x", &deep)]),
        Ok(0.0)
    );
    let wide = format!(
        "<testsuite>{}</testsuite>",
        "<testcase time='1'/>".repeat(50_000)
    );
    assert_eq!(read(&wide), Ok(50_000.0));
}

#[test]
fn a_document_that_would_keep_the_parser_busy_for_hours_is_refused() {
    let read = |text: &str| junit::value(junit::Of::Tests, &[report("x", text)]);
    let many = |what: &str, number: usize| -> String {
        let one = |index| format!(" {}='\">'", what.replace('#', &format!("{index}")));
        (0..number).map(one).collect()
    };
    let case = |attributes: &str| format!("<testsuite><testcase{attributes}/></testsuite>");
    let attributes = "`x` has more than 128 attributes in an element, and is not read";
    let prefixes = "`x` has more than 16 prefixes of namespaces, and is not read";
    assert_eq!(
        read(&case(&many("a#", 1_000_000))),
        Err(attributes.to_owned())
    );
    assert_eq!(read(&case(&many("xmlns:a#", 17))), Err(prefixes.to_owned()));
    let nested = |index| format!("<testsuite a='' xmlns:a{index} = \"u\">");
    let nested: String = (0..50_000).map(nested).collect();
    assert_eq!(read(&nested), Err(prefixes.to_owned()));
    assert_eq!(read(&case(&many("a#", 128))), Ok(1.0));
    assert_eq!(read(&case(&many("xmlns:a#", 16))), Ok(1.0));
    let same = case(" xmlns:a='u'").repeat(1000);
    let quotes = "\"'".repeat(1000);
    let text =
        format!("<testsuite><!-- {quotes} --><![CDATA[<{quotes}]]>{quotes}{same}</testsuite>");
    assert_eq!(read(&text), Ok(1000.0));
    for broken in ["<".repeat(1_000_000), "<testsuite a='".to_owned()] {
        assert!(read(&broken).is_err_and(|why| why.starts_with("`x` is not XML: ")));
    }
}

#[test]
fn findings_that_were_dealt_with_do_not_count_and_a_rule_gives_the_level() {
    let read = |results: &str| {
        let text = format!(
            r#"{{"runs": [{{"tool": {{"driver": {{"name": "T", "rules": [
                {{"id": "n", "defaultConfiguration": {{"level": "note"}}}},
                {{"id": "e", "defaultConfiguration": {{"level": "error"}}}}]}}}}, "results": {results}}}]}}"#
        );
        use sarif::Level::{Error, Note, Warning};
        [Note, Warning, Error]
            .map(|level| sarif::count(level, &[report("x", &text)]).unwrap_or(-1.0))
    };
    for (results, counts) in [
        ("[]", [0.0, 0.0, 0.0]),
        (r#"[{}]"#, [1.0, 1.0, 0.0]),
        (
            r#"[{"ruleId": "e"}, {"ruleIndex": 0}, {"rule": {"id": "n"}}, {"rule": {"index": 1}}]"#,
            [4.0, 2.0, 2.0],
        ),
        (
            r#"[{"ruleId": "e", "level": "note"}, {"ruleId": "e", "level": "none"}]"#,
            [1.0, 0.0, 0.0],
        ),
        (
            r#"[{"rule": {"index": 1, "toolComponent": {"index": 0}}}]"#,
            [1.0, 1.0, 0.0],
        ),
        (
            r#"[{"kind": "pass"}, {"kind": "open"}, {"kind": "fail"}]"#,
            [1.0, 1.0, 0.0],
        ),
        (
            r#"[{"baselineState": "absent"}, {"baselineState": "unchanged"}]"#,
            [1.0, 1.0, 0.0],
        ),
        (
            r#"[{"suppressions": [{}]}, {"suppressions": []}, {"suppressions": [{"status": "rejected"}]}]"#,
            [2.0, 2.0, 0.0],
        ),
        (r#"[{"level": "fatal"}]"#, [-1.0, -1.0, -1.0]),
        ("null", [-1.0, -1.0, -1.0]),
    ] {
        assert_eq!(read(results), counts, "{results}");
    }
    for (text, why) in [
        (
            r#"{"runs": []}"#,
            "`x` holds no run with results, so that nothing was looked at",
        ),
        (
            r#"{"runs": [{}]}"#,
            "`x` holds no run with results, so that nothing was looked at",
        ),
        ("[]", "`x` is no SARIF log: it has no list of runs"),
    ] {
        let found = sarif::count(sarif::Level::Note, &[report("x", text)]);
        assert_eq!(found, Err(why.to_owned()));
    }
}

#[test]
fn a_log_is_counted_in_whatever_order_it_is_written() {
    let read = |text: &str| sarif::count(sarif::Level::Error, &[report("x", text)]);
    let rules = r#""tool": {"driver": {"rules": [{"id": "e", "defaultConfiguration": {"level": "error"}}, {"id": "w"}]}}"#;
    let results =
        r#""results": [{"ruleId": "e"}, {"ruleId": "w"}, {"ruleIndex": 0}, {"ruleId": "e"}]"#;
    for run in [
        format!("{{{rules}, {results}}}"),
        format!("{{{results}, {rules}}}"),
        format!(r#"{{"a": 1, {results}, "a": 2, {rules}}}"#),
    ] {
        assert_eq!(read(&format!(r#"{{"runs": [{run}]}}"#)), Ok(3.0), "{run}");
    }
    // Which of two lists holds what was found nobody can say.
    for (text, key) in [
        (
            format!(r#"{{"runs": [{{{results}}}], "runs": [{{"results": []}}]}}"#),
            "runs",
        ),
        (
            format!(r#"{{"runs": null, "runs": [{{{results}}}]}}"#),
            "runs",
        ),
        (
            format!(r#"{{"runs": [{{{results}, "results": []}}]}}"#),
            "results",
        ),
        (
            format!(r#"{{"runs": [{{{results}, {rules}, "tool": {{}}}}]}}"#),
            "tool",
        ),
        (
            r#"{"runs": [{"invocations": [{"executionSuccessful": false}], "invocations": []}]}"#
                .to_owned(),
            "invocations",
        ),
        (
            r#"{"runs": [{"results": [{"level": "error", "level": "none"}]}]}"#.to_owned(),
            "level",
        ),
    ] {
        let why =
            format!("`x` is not read: the key `{key}` stands twice in an object at line 1 column ");
        assert!(
            read(&text).is_err_and(|said| said.starts_with(&why)),
            "{text}"
        );
    }
    // The first thing that is wrong is told.
    let bad = r#"{"runs": [{"results": [{"ruleId": "a"}, {"level": "u"}, {"level": "v"}]}, {"results": null}]}"#;
    assert_eq!(
        read(bad),
        Err("`x` holds a result of the unknown level `u`".to_owned())
    );
    let failed = r#"{"runs": [{"results": null, "invocations": [{}, {"executionSuccessful": false}], "tool": {"driver": {"name": "T"}}}]}"#;
    assert_eq!(
        read(failed),
        Err("T says in `x` that its run did not succeed".to_owned())
    );
    let many: String = (0..100_000)
        .map(|id| format!(r#"{{"ruleId": "{id}"}},"#))
        .collect();
    let many = read(&format!(r#"{{"runs": [{{"results": [{many}{{}}]}}]}}"#));
    assert!(many.is_err_and(|why| why.ends_with("and is not read")));
}

#[test]
fn an_lcov_file_of_more_source_files_than_there_is_room_for_is_refused() {
    let text: String = (0..140_000)
        .map(|file| format!("SF:{file}\nend_of_record\n"))
        .collect();
    assert_eq!(
        lcov::percent(lcov::Of::Lines, &[report("x", &text)]),
        Err("`x` has more than 100000 source files, and is not read".to_owned())
    );
}

#[test]
fn the_folders_of_a_benchmark_are_found_from_its_printed_id() {
    let files = |id: &str| -> Vec<String> {
        let inner = |path: PathBuf| {
            let path = path.display().to_string();
            let path = path.strip_prefix("target/criterion/").unwrap();
            path.strip_suffix("/new/estimates.json").unwrap().to_owned()
        };
        criterion::files(id).into_iter().map(inner).collect()
    };
    assert_eq!(files("fib 20"), ["fib 20"]);
    assert_eq!(
        files("a/b:c/d"),
        ["a/b_c/d", "a_b_c/d", "a/b_c_d", "a_b_c_d"]
    );
    assert_eq!(files(&"ä".repeat(40)), ["ä".repeat(32)]);
    assert_eq!(files(&"a/".repeat(40)).len(), 64);
}

proptest! {
    #[test]
    fn a_printed_number_is_read_back(value in -1e12..1e12f64, before in "[a-z0-9 .:]{0,9}") {
        prop_assert_eq!(last(&format!("{before} {value}\n")), Ok(value));
    }

    #[test]
    fn no_output_breaks_the_reading(stdout in ".*") {
        if let Ok(value) = last(&stdout) {
            prop_assert!(value.is_finite());
        }
    }

    #[test]
    fn a_pointer_leads_to_what_stands_in_the_document(
        text in r#"(\{|\}|\[|\]|,|"a":|"b":|"a"|1|2\.5|true|\{"a":\[|\]\}){0,12}"#,
        pointer in "(/(a|b|0|1|01)){0,3}",
    ) {
        let found = json::in_report(&report("x", &text), &pointer);
        match serde_json::from_str::<serde_json::Value>(&text) {
            Err(why) => prop_assert_eq!(found, Err(format!("`x` is not JSON: {why}"))),
            Ok(document) if found.as_ref().is_err_and(|why| why.contains(" stands twice in an object ")) => {
                let is_twice = |key: &str| text.matches(&format!("\"{key}\":")).count() > 1;
                prop_assert!(is_twice("a") || is_twice("b"), "{}", document);
            }
            Ok(document) => {
                let number = document.pointer(&pointer).and_then(serde_json::Value::as_f64);
                prop_assert_eq!(found.ok(), number);
            }
        }
    }

    #[test]
    fn items_count_once_however_often_and_in_whatever_order_they_stand(
        items in proptest::collection::vec((0..40_u32, proptest::bool::ANY), 1..200),
        sections in 1..4_usize,
    ) {
        let mut text = String::new();
        let mut all = std::collections::HashMap::new();
        for (index, (line, is_hit)) in items.iter().enumerate() {
            if index % (items.len() / sections).max(1) == 0 {
                text += if index > 0 { "end_of_record\nSF:a\n" } else { "SF:a\n" };
            }
            text += &format!("DA:{line},{}\n", u8::from(*is_hit));
            *all.entry(line).or_insert(false) |= is_hit;
        }
        let hit = all.values().filter(|is_hit| **is_hit).count();
        let found = lcov::percent(lcov::Of::Lines, &[report("x", &(text + "end_of_record\n"))]);
        prop_assert_eq!(found, Ok(100.0 * hit as f64 / all.len() as f64));
    }

    #[test]
    fn no_report_breaks_the_reading(text in "(SF:|DA:1,1|end_of_record|\n|<testsuite>|<testcase time='1'/>|</testsuite>|<coverage line-rate='1'>|\\{\"runs\":\\[|\\]\\}|&#27;|<!DOCTYPE|<!\\[CDATA\\[|\\PC){0,30}") {
        let reports = [report("x", &text)];
        let values = [
            lcov::percent(lcov::Of::Branches, &reports),
            cobertura::percent(cobertura::Of::Lines, &reports),
            junit::value(junit::Of::Time, &reports),
            sarif::count(sarif::Level::Note, &reports),
            hyperfine::seconds(hyperfine::Of::Mean, None, &reports[0]),
            criterion::nanoseconds(criterion::Of::Mean, &reports[0]),
        ];
        for value in values.into_iter().flatten() {
            prop_assert!(value.is_finite());
        }
    }
}
