//! Reading the file, joining it with flags, and writing one.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::*;
use crate::model::goals::to_error;
use crate::model::init::Look;
use crate::model::sandbox::Mode;

const WHOLE: &str = include_str!("../../../../tests/formats/v1/search.yaml");

#[track_caller]
fn refused(text: &str) -> String {
    let problems = read_search(text.as_bytes()).expect_err("a mistake");
    to_error("SEARCH.yaml", &problems).to_string()
}

#[test]
fn the_file_says_all_that_the_options_do() {
    let asked = read_search(WHOLE.as_bytes()).unwrap();
    let expected = Asked {
        fitness: Some("./bench.sh".to_owned()),
        files: vec!["src/**/*.rs".to_owned(), "data/".to_owned()],
        strategy: Some(StrategyName::Population),
        objective: Some("requests each second".to_owned()),
        direction: Some(Direction::Min),
        gates: vec!["cargo test".to_owned()],
        holdout: Some("./other.sh".to_owned()),
        repeats: Some(5),
        agents: Some(2),
        benchmarks: Some(1),
        timeout: Some(Duration::from_secs(120)),
        prepare: Some("npm ci".to_owned()),
        link: vec!["node_modules".to_owned()],
        until: Some(-0.5),
        seed: Some(0),
        stale: Some(Bound::Off),
        max_attempts: Some(Bound::At(40)),
        max_cost: Some(2.5),
        max_time: Some(Duration::from_secs(8 * 3600)),
        k: Some(6),
        generations: Some(12),
        lenses: vec!["caching".to_owned(), "tables: not branches".to_owned()],
        protect: vec!["data/golden/**".to_owned()],
        goals_as_gates: Some(true),
        agent: Some("claude".to_owned()),
        sandbox: Wish {
            mode: Some(Mode::Auto),
            ..Wish::default()
        },
    };
    assert_eq!(asked, expected);
}

#[test]
fn every_problem_is_told_at_once_with_its_place_and_what_to_do() {
    let said = refused(
        "fitnes: ./bench.sh\nfiles: src/**\nx-own: 1\nstrategy: climbing\nagents: 0\nk: 4\nuntil: .nan\nstale: never\nlink: [../up]\nagent: {command: [a]}\n",
    );
    for line in [
        "SEARCH.yaml:1:1: unknown key \"fitnes\"\nhint: did you mean fitness?",
        "SEARCH.yaml:2:8: files: expected a list of texts, not the text \"src/**\"\nhint: write [\"src/**\"]",
        "SEARCH.yaml:4:11: strategy: expected climb or population",
        "SEARCH.yaml:5:9: agents: expected a whole number from 1 to 1000, not the number 0",
        "SEARCH.yaml:6:1: k is an option of the strategy population\nhint: add strategy: population",
        "SEARCH.yaml:7:8: until: expected a finite number",
        "SEARCH.yaml:8:8: stale: expected a whole number, 1 or more, or off, not the text \"never\"\nhint: `evolve schema search` prints",
        "SEARCH.yaml:9:8: link: ",
        "SEARCH.yaml:10:8: agent: expected a name or a command line",
    ] {
        assert!(said.contains(line), "{line}\n--- is not in\n{said}");
    }
    assert!(refused("files: [a]\n").contains("SEARCH.yaml:1:1: the file has no fitness"));
    assert!(refused("").contains("SEARCH.yaml:1:1: the file says nothing of what to search for"));
    let too_large = format!("fitness: \"{}\"\n", "a".repeat(300 * 1024));
    assert!(refused(&too_large).contains("more than the 256 KiB that are read"));
    assert!(refused("fitness: a\nfitness: b\n").contains("stands here again"));
    assert!(refused("fitness: a\nstrategy: population\nk: 1\n").contains("is a climb"));
}

#[test]
fn a_flag_goes_before_the_file_and_a_list_is_one_thing() {
    let file = read_search(WHOLE.as_bytes()).unwrap();
    let flags = Asked {
        files: vec!["lib/**".to_owned()],
        stale: Some(Bound::At(7)),
        strategy: Some(StrategyName::Climb),
        ..Asked::default()
    };
    let both = flags.or(file);
    assert_eq!(both.files, ["lib/**"]);
    assert_eq!(both.gates, ["cargo test"]);
    assert_eq!(both.strategy(), (Strategy::Climb, Bound::At(7)));
    let nothing = Asked::default();
    assert_eq!(nothing.strategy(), (Strategy::Climb, Bound::At(20)));
}

/// A repository in memory.
#[derive(Default)]
struct Files {
    texts: BTreeMap<String, String>,
    paths: Vec<String>,
    missing: BTreeSet<&'static str>,
}

impl Files {
    fn of(files: &[(&str, &str)]) -> Files {
        let texts = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        let texts: BTreeMap<_, _> = texts.collect();
        Files {
            paths: texts.keys().cloned().collect(),
            texts,
            missing: BTreeSet::new(),
        }
    }
}

impl Look for Files {
    fn files(&self) -> &[String] {
        &self.paths
    }

    fn read(&self, path: &str) -> Option<String> {
        self.texts.get(path).cloned()
    }

    fn is_there(&self, path: &str) -> bool {
        self.texts.contains_key(path)
    }

    fn is_executable(&self, path: &str) -> bool {
        self.texts
            .get(path)
            .is_some_and(|text| text.starts_with("#!"))
    }

    fn finds(&self, program: &str) -> bool {
        !self.missing.contains(program)
    }

    fn imports(&self, _program: &str, _module: &str) -> bool {
        true
    }

    fn is_set(&self, _variable: &str) -> bool {
        false
    }
}

#[test]
fn what_measures_a_repository_is_found_by_how_it_is_called() {
    let look = Files::of(&[
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\n[dev-dependencies]\ncriterion = \"0.5\"\n[[bench]]\nname = \"sorting\"\nharness = false\n",
        ),
        ("bench.sh", "#!/bin/sh\necho 1\n"),
        ("tools/bench_parser.py", "print(1)\n"),
        ("src/workbench.py", ""),
        ("Makefile", "bench:\n\ttrue\nall:\n\ttrue\n"),
        (
            "package.json",
            "{\"scripts\": {\"benchmark\": \"node b.js\"}}",
        ),
    ]);
    let all = benches(&look);
    let commands: Vec<&str> = all.iter().map(|one| one.command.as_str()).collect();
    assert!(
        commands[0].contains("cargo bench --bench sorting >&2"),
        "{commands:?}"
    );
    assert_eq!(
        commands[1..],
        [
            "./bench.sh",
            "python3 tools/bench_parser.py",
            "make --silent bench",
            "npm run --silent benchmark"
        ]
    );
    assert_eq!(all[0].direction, Some(Direction::Min));
    assert_eq!(all[1].direction, None);

    for (script, is_time) in [
        (
            "t = time.perf_counter(); run(); print(time.perf_counter() - t)",
            true,
        ),
        ("const t = process.hrtime()", true),
        ("print(len(found))", false),
        ("print(n / (time.perf_counter() - t), 'per second')", false),
    ] {
        let all = benches(&Files::of(&[("bench.py", script)]));
        assert_eq!(all[0].speaks_of_time, is_time, "{script}");
    }

    let without = Files {
        missing: BTreeSet::from(["cargo"]),
        ..look
    };
    let last = benches(&without).pop().unwrap();
    assert_eq!(last.missing, Some("cargo"), "what cannot run comes last");

    let python = Files::of(&[(
        "pyproject.toml",
        "[project]\ndependencies = [\"pytest-benchmark\"]\n",
    )]);
    assert!(benches(&python)[0].command.contains("--benchmark-only"));
    assert_eq!(benches(&Files::default()), []);
}

#[test]
fn sources_that_no_command_runs_are_proposed_as_files() {
    let paths = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let few = paths(&["README.md", "bench.py", "solve[1].py", "tests/a.py"]);
    assert_eq!(
        sources(&few, &[]),
        ["solve[[]1[]].py"],
        "what benchmarks is no source"
    );
    let tracked = paths(&[
        "a.py",
        "src/a.rs",
        "src/b/c.rs",
        "src/b/d.rs",
        "src/run.rs",
        "vendor/x.rs",
        "docs/y.py",
        "src/a_test.rs",
    ]);
    assert_eq!(
        sources(&tracked, &paths(&["src/run.rs"])),
        ["src/**/*.rs", "a.py"]
    );
    assert_eq!(sources(&paths(&["README.md"]), &[]), Vec::<String>::new());
}

#[test]
fn the_file_that_is_written_is_read_back_as_it_was_meant() {
    let look = Files::of(&[
        ("bench.sh", "#!/bin/sh\necho 1\n"),
        ("perf: odd # name.sh", "echo 1\n"),
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\n[dev-dependencies]\ncriterion = \"0.5\"\n",
        ),
    ]);
    let (benches, gates) = (benches(&look), gates(&look));
    assert!(
        gates
            .iter()
            .any(|(command, _)| command.contains("cargo test")),
        "{gates:?}"
    );
    for one in &benches {
        let wishes = Wishes {
            fitness: one.command.clone(),
            direction: Direction::Min,
            is_guess: true,
            files: vec!["src/**/*.rs".to_owned(), "*.py".to_owned()],
        };
        let page = file(&wishes, &benches, &gates, true);
        let read = read_search(page.as_bytes()).unwrap_or_else(|why| panic!("{why:?}\n{page}"));
        assert_eq!(
            read.fitness.as_deref(),
            Some(one.command.as_str()),
            "{page}"
        );
        assert_eq!(read.files, wishes.files);
        assert_eq!(read.direction, Some(Direction::Min));
        assert_eq!(read.gates.len(), gates.len());
    }
    let bare = Wishes {
        fitness: "./bench.sh".to_owned(),
        direction: Direction::Max,
        is_guess: true,
        files: Vec::new(),
    };
    let page = file(&bare, &[], &[], false);
    assert!(read_search(page.as_bytes()).unwrap().files.is_empty());
    let all: String = page
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest)
                if rest
                    .split_once(": ")
                    .is_some_and(|(key, _)| !key.contains([' ', '`', '$', '-'])) =>
            {
                format!("{rest}\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    let read = read_search(all.as_bytes()).unwrap_or_else(|why| panic!("{why:?}\n{all}"));
    assert!(
        read.max_cost.is_some() && read.prepare.is_some() && read.k.is_some(),
        "what is commented out can be taken in"
    );
}
