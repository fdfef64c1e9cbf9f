//! What a repository already measures itself with, as fitness commands, and its tests, as gates. Pure.

use serde_json::Value;

use crate::model::init::{self, Look, Role, has, is_own, json, split, toml};
use crate::model::recipes::{MAKEFILES, Rules};
use crate::model::search::lineage::Direction;
use crate::model::text;

/// The most of what is found that is told.
const MOST: usize = 6;
/// The most gates that are proposed.
const MOST_GATES: usize = 3;
/// The most tests of Python that are looked at.
const MOST_TESTS: usize = 20;
/// What benchmarks are called.
const NAMES: [&str; 4] = ["bench", "benchmark", "benchmarks", "perf"];
/// The words of a script that prints a time.
const TIMES: [&str; 7] = [
    "seconds",
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "ms",
    "took",
    "elapsed",
];
/// What a script asks for the time that something takes.
const CLOCKS: [&str; 5] = [
    "perf_counter",
    "timeit",
    "hrtime",
    "performance.now",
    "monotonic",
];
/// The geometric mean of what criterion measured, in nanoseconds.
const CRITERION: &str = r#"find target/criterion -path '*/new/estimates.json' -exec sed -n 's/^{"mean":{"confidence_interval":{[^}]*},"point_estimate":\([^,]*\).*/\1/p' {} + | awk '{ sum += log($1) } END { print exp(sum / NR) }'"#;

/// A command that measures something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bench {
    /// The command; what it prints last is the number.
    pub command: String,
    /// Which way that is better; none where nobody knows.
    pub direction: Option<Direction>,
    /// What it was found by.
    pub source: String,
    /// What it prints seems to be a time.
    pub speaks_of_time: bool,
    /// The program that it needs and that is not there.
    pub missing: Option<&'static str>,
}

impl Bench {
    fn new(command: impl Into<String>, source: impl Into<String>) -> Bench {
        Bench {
            command: command.into(),
            direction: None,
            source: source.into(),
            speaks_of_time: false,
            missing: None,
        }
    }

    fn lower_is_better(self) -> Bench {
        Bench {
            direction: Some(Direction::Min),
            ..self
        }
    }

    fn needs(self, look: &dyn Look, program: &'static str) -> Bench {
        let missing = (!look.finds(program)).then_some(program);
        Bench {
            missing: self.missing.or(missing),
            ..self
        }
    }
}

/// Returns what measures the repository, first what surely prints a number, and what can run here before what cannot.
pub fn benches(look: &dyn Look) -> Vec<Bench> {
    let mut all: Vec<Bench> = Vec::new();
    all.extend(criterion(look));
    all.extend(pytest(look));
    all.extend(scripts(look));
    all.extend(made(look));
    all.extend(packaged(look));
    all.sort_by_key(|one| one.missing.is_some());
    all.truncate(MOST);
    all
}

/// Returns the tests of the repository as `evolve init` finds them, with what each was found by.
pub fn gates(look: &dyn Look) -> Vec<(String, String)> {
    let wishes = init::Wishes {
        coverage: init::COVERAGE,
        from_ci: false,
    };
    let found = init::propose(look, &wishes);
    let of_role = |role| found.runnable().filter(move |one| one.role == role);
    let tests: Vec<_> = of_role(Role::Test).collect();
    let all = match (tests.is_empty(), unittest(look)) {
        (true, Some(found)) => return vec![found],
        (true, None) => of_role(Role::Build).collect(),
        (false, _) => tests,
    };
    let told = all.into_iter().take(MOST_GATES);
    told.map(|one| (one.check.clone(), one.source.clone()))
        .collect()
}

/// Tests of Python in a repository that says nothing else of being such a project.
fn unittest(look: &dyn Look) -> Option<(String, String)> {
    let is_test = |path: &&String| {
        let (_, name) = split(path);
        name.starts_with("test_") && name.ends_with(".py") && is_own(path)
    };
    let uses_it = |path: &&String| {
        look.read(path)
            .is_some_and(|text| text.contains("unittest"))
    };
    let mut tests = look.files().iter().filter(is_test).take(MOST_TESTS);
    let first = tests.find(uses_it).filter(|_| look.finds("python3"))?;
    let place = match first.split_once('/') {
        Some((folder, _)) => format!(" -s {}", text::shell_word(folder)),
        None => String::new(),
    };
    let command = format!("python3 -m unittest discover{place}");
    Some((command, first.clone()))
}

/// Benchmarks of criterion in the main project.
fn criterion(look: &dyn Look) -> Option<Bench> {
    let manifest = toml(look, "Cargo.toml")?;
    let is_used = |part: &str| manifest.pointer(&format!("/{part}/criterion")).is_some();
    if !["dev-dependencies", "dependencies"]
        .into_iter()
        .any(is_used)
    {
        return None;
    }
    let given = manifest.pointer("/bench").and_then(Value::as_array);
    let given = given.into_iter().flatten();
    let mut names: Vec<&str> = given.filter_map(|one| one.get("name")?.as_str()).collect();
    if names.is_empty() {
        let is_bench = |path: &&String| path.starts_with("benches/") && path.ends_with(".rs");
        let files = look.files().iter().filter(is_bench);
        names = files
            .map(|path| split(path).1.trim_end_matches(".rs"))
            .collect();
    }
    let names: String = names
        .iter()
        .map(|name| format!(" --bench {}", text::shell_word(name)))
        .collect();
    let command = format!("rm -rf target/criterion && cargo bench{names} >&2 && {CRITERION}");
    let bench = Bench::new(command, "Cargo.toml: criterion, the geometric mean in ns");
    Some(bench.lower_is_better().needs(look, "cargo"))
}

/// Benchmarks of pytest-benchmark.
fn pytest(look: &dyn Look) -> Option<Bench> {
    let names = [
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "requirements-dev.txt",
        "requirements.txt",
    ];
    let names_it = |name: &&str| {
        let text = look.read(name).unwrap_or_default();
        text.contains("pytest-benchmark") || text.contains("pytest_benchmark")
    };
    let named = names.into_iter().find(names_it)?;
    let command = "python3 -m pytest --benchmark-only --benchmark-json=\"$EVOLVE_TRACES/benchmark.json\" -q >&2 && python3 -c 'import json, os, statistics; print(statistics.geometric_mean(b[\"stats\"][\"mean\"] for b in json.load(open(os.environ[\"EVOLVE_TRACES\"] + \"/benchmark.json\"))[\"benchmarks\"]))'";
    let source = format!("{named}: pytest-benchmark, the geometric mean in seconds");
    let bench = Bench::new(command, source);
    Some(bench.lower_is_better().needs(look, "python3"))
}

/// Scripts that are called as benchmarks are: `bench.sh`, `scripts/benchmark.py`, `sort.bench.js`.
fn scripts(look: &dyn Look) -> Vec<Bench> {
    let is_bench = |path: &str| {
        let (folder, name) = split(path);
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        let is_near = matches!(
            folder,
            "" | "scripts" | "script" | "bench" | "benches" | "benchmarks" | "tools" | "bin"
        );
        let is_named = stem.ends_with(".bench") || NAMES.iter().any(|name| is_word(stem, name));
        let is_text = matches!(
            ending,
            "" | "sh" | "bash" | "py" | "js" | "mjs" | "rb" | "pl"
        );
        is_near && is_named && is_text && is_own(path)
    };
    let all = look.files().iter().filter(|path| is_bench(path));
    let found = all.filter_map(|path| {
        let word = text::shell_word(path);
        let bare = |program: &'static str| {
            Bench::new(format!("{program} {word}"), path).needs(look, program)
        };
        let ending = split(path)
            .1
            .rsplit_once('.')
            .map_or("", |(_, ending)| ending);
        match ending {
            _ if look.is_executable(path) => {
                let here = if path.contains('/') { "" } else { "./" };
                Some(Bench::new(format!("{here}{word}"), path))
            }
            "py" => Some(bare("python3")),
            "sh" => Some(bare("sh")),
            "bash" => Some(bare("bash")),
            "js" | "mjs" => Some(bare("node")),
            "rb" => Some(bare("ruby")),
            "pl" => Some(bare("perl")),
            _ => None,
        }
    });
    let timed = |bench: Bench| Bench {
        speaks_of_time: look
            .read(&bench.source)
            .is_some_and(|text| speaks_of_time(&text)),
        ..bench
    };
    found.map(timed).collect()
}

/// Says whether a script has words of times, and none of what is counted in a time.
fn speaks_of_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    let is_rate = [
        "throughput",
        "per second",
        "per_second",
        "/s\"",
        "/s'",
        "ops",
    ]
    .iter()
    .any(|word| text.contains(word));
    let asks_a_clock = CLOCKS.iter().any(|clock| text.contains(clock));
    !is_rate && (asks_a_clock || words.any(|word| TIMES.contains(&word)))
}

/// Says whether a name is this word, or begins or ends with it as a word of its own.
fn is_word(stem: &str, word: &str) -> bool {
    stem.split(['-', '_', '.'])
        .any(|part| part.eq_ignore_ascii_case(word))
}

/// Targets of a Makefile.
fn made(look: &dyn Look) -> Vec<Bench> {
    let Some(file) = MAKEFILES.into_iter().find(|file| has(look, file)) else {
        return Vec::new();
    };
    let text = look.read(file).unwrap_or_default();
    let rules = Rules::of_makefile(&text);
    let is_given = |name: &&str| rules.names().iter().any(|it| it == name);
    let named = NAMES.into_iter().filter(is_given);
    named
        .map(|name| {
            Bench::new(format!("make --silent {name}"), format!("{file}: {name}"))
                .needs(look, "make")
        })
        .collect()
}

/// Scripts of package.json.
fn packaged(look: &dyn Look) -> Vec<Bench> {
    let manifest = json(look, "package.json").unwrap_or_default();
    let has_script = |name: &&str| manifest.pointer(&format!("/scripts/{name}")).is_some();
    let named = NAMES.into_iter().filter(has_script);
    named
        .map(|name| {
            let command = format!("npm run --silent {name}");
            Bench::new(command, format!("package.json: {name}")).needs(look, "npm")
        })
        .collect()
}
