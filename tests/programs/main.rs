//! The real agent programs, driven through whole cycles against a scripted model server on 127.0.0.1: no account, no network.
//!
//! `cargo test --test programs [-- NAME…]` is not part of `cargo test`. A program that is not on the PATH is skipped, in so many
//! words. With `-- --sandbox=landlock` or another they work in that sandbox.

#[path = "../harness/mod.rs"]
mod harness;
mod programs;
mod protocol;
mod script;
mod server;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use harness::{Run, TestRepo, finish_within};
use programs::{PROGRAMS, Program};
use protocol::TOKENS;
use script::{Refusal, Turn};
use server::Server;

/// How long a cycle with a real program may take; some try a refused request again for more than a minute.
const LIMIT: Duration = Duration::from_secs(400);

/// What is shown with each program: a name, and what shows it.
const CASES: [(&str, Case); 7] = [
    ("makes an improvement with the model's tools", improves),
    ("is not logged in", is_not_logged_in),
    ("is shut out after it has done its work", is_cut_off),
    ("is overloaded", |program| {
        is_waited_for(program, Refusal::Overloaded, "overloaded")
    }),
    ("is rate limited", |program| {
        is_waited_for(program, Refusal::RateLimit(None), "rate limited")
    }),
    ("has used up its plan", |program| {
        is_waited_for(program, Refusal::UsageLimit(at_the_hour()), "")
    }),
    ("is out of quota", |program| {
        is_waited_for(program, Refusal::Quota, "out of quota")
    }),
];

type Case = fn(&Program);

/// How many of the cases a program goes through that tries a refused request again for minutes.
const OF_THE_PATIENT: usize = 3;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let with_all = std::env::args().any(|word| word == "--all");
    let mut failures = 0;
    let mut skipped = 0;
    for program in &PROGRAMS {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == program.name) {
            continue;
        }
        if which::which(program.name).is_err() {
            println!("{}: skipped, it is not installed", program.name);
            skipped += 1;
            continue;
        }
        println!("{} {}", program.name, program.version());
        let cases = match program.is_patient && !with_all {
            true => OF_THE_PATIENT,
            false => CASES.len(),
        };
        for (what, case) in CASES.into_iter().take(cases) {
            let began = Instant::now();
            let ended = catch_unwind(AssertUnwindSafe(|| case(program)));
            let word = match ended {
                Ok(()) => "ok",
                Err(_) => "FAILED",
            };
            failures += u32::from(ended.is_err());
            println!("  {what}: {word} ({:.0} s)", began.elapsed().as_secs_f64());
        }
    }
    if !with_all {
        println!(
            "programs that try a refused request again for minutes go through all cases with `--all`"
        );
    }
    println!("{failures} failed, {skipped} programs skipped");
    match failures {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// A repository in which the file `fixed.txt` is wanted, and where `program` asks `server`.
fn repo_for(program: &Program, server: &Server) -> TestRepo {
    let mut repo = TestRepo::empty();
    let agents = match program.extra_args {
        "" => String::new(),
        words => format!(
            "evolve:\n  agents:\n    {}: {{extra_args: {words}}}\n",
            program.name
        ),
    };
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\ngoals:\n  - {{id: fixed, description: The file fixed.txt is there, check: test -s fixed.txt, weight: 5}}\n{agents}"
        ),
    );
    repo.write("README.md", "# A repository\n");
    repo.commit_all("first");
    let url = server.url();
    for (name, content) in program.files {
        let path = repo.home().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content.replace("{url}", &url)).unwrap();
    }
    // The times that programs name are those of the real clock.
    repo.env.push(("EVOLVE_CLOCK".to_owned(), String::new()));
    // Whatever a program wants from elsewhere, it does not get.
    for proxy in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
        repo.env
            .push((proxy.to_owned(), "http://127.0.0.1:9".to_owned()));
    }
    for none in ["no_proxy", "NO_PROXY"] {
        repo.env
            .push((none.to_owned(), "127.0.0.1,localhost".to_owned()));
    }
    let temporary = repo.outside().display().to_string();
    repo.env.push(("TMPDIR".to_owned(), temporary));
    for (name, value) in program.env {
        repo.env
            .push(((*name).to_owned(), value.replace("{url}", &url)));
    }
    repo
}

/// The sandbox that the programs are to work in, as in `--sandbox=landlock`, if one is named.
fn sandbox() -> Option<String> {
    std::env::args().find(|word| word.starts_with("--sandbox="))
}

fn run(repo: &TestRepo, program: &Program, more: &[&str]) -> Run {
    let sandbox = sandbox();
    let mut arguments = vec!["--agent", program.name, "--max-cycles=1", "--json"];
    arguments.extend(sandbox.as_deref());
    arguments.extend(more);
    finish_within(repo.spawn(&arguments), LIMIT)
}

/// Everything that is needed to see why a case failed.
fn story(repo: &TestRepo, run: &Run) -> String {
    let logs = harness::everything_below(&repo.private().join("logs"));
    let log = logs
        .keys()
        .find(|path| path.to_string_lossy().ends_with("-agent.log"));
    let log =
        log.and_then(|path| std::fs::read_to_string(repo.private().join("logs").join(path)).ok());
    let log = log.unwrap_or_default();
    format!(
        "{}\n{}\n--- agent\n{}",
        run.stdout,
        run.stderr,
        &log[..log.len().min(6000)]
    )
}

fn improves(program: &Program) {
    let server = Server::start(Vec::new());
    let repo = repo_for(program, &server);
    server.now_does(vec![Turn::Write {
        path: repo.path("fixed.txt"),
        content: "fixed\n".to_owned(),
    }]);
    let run = run(&repo, program, &[]);
    let story = story(&repo, &run);
    assert_eq!(run.code, 0, "{story}");
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{story}");
    assert_eq!(repo.read("fixed.txt").trim(), "fixed", "{story}");
    let agent = &record["agent"];
    assert_eq!(
        (&agent["name"], &agent["status"]),
        (&program.name.into(), &"done".into()),
        "{story}"
    );
    let is_more_than =
        |value: &Value, least: f64| value.as_f64().is_some_and(|value| value > least);
    // Whole answers; most programs need two of them, and some ask for a title besides and do not count it.
    let tokens = agent["tokens"].as_u64().unwrap_or_default();
    let asked = server.requests().len() as u64;
    assert!((1..=asked).contains(&(tokens / TOKENS)), "{story}");
    assert_eq!(tokens % TOKENS, 0, "{story}");
    match program.tells_cost {
        true => assert!(is_more_than(&agent["cost_usd"], 0.0), "{story}"),
        false => assert_eq!(agent["cost_usd"], Value::Null, "{story}"),
    }
    let events = run.events();
    let activity = events
        .iter()
        .rev()
        .find(|event| event["event"] == "agent-activity");
    let activity = activity.unwrap_or_else(|| panic!("nothing was told of the work\n{story}"));
    assert!(is_more_than(&activity["turns"], 0.0), "{story}");
    assert!(activity["last"].is_string(), "{story}");
    if program.names_files {
        assert!(is_more_than(&activity["files"], 0.0), "{story}");
    }
    assert_eq!(repo.status(), Vec::<String>::new(), "{story}");
    let cost = agent["cost_usd"].as_f64();
    let cost = cost.map_or_else(|| "no cost".to_owned(), |cost| format!("${cost:.5}"));
    println!("  {tokens} tokens and {cost} told, {asked} requests");
}

/// A refusal after a change is a failure of the agent, and the change is judged all the same.
fn is_cut_off(program: &Program) {
    let server = Server::start(Vec::new());
    let repo = repo_for(program, &server);
    server.now_does(vec![
        Turn::Write {
            path: repo.path("fixed.txt"),
            content: "fixed\n".to_owned(),
        },
        Turn::Refuse(Refusal::NotLoggedIn),
    ]);
    let run = run(&repo, program, &[]);
    let story = story(&repo, &run);
    assert_eq!(run.code, 0, "{story}");
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{story}");
    // One that needs no second answer is not cut off.
    let was_cut_off = server.requests().len() > 1;
    let status = if was_cut_off { "failed" } else { "done" };
    assert_eq!(record["agent"]["status"], status, "{story}");
}

fn is_not_logged_in(program: &Program) {
    let server = Server::start(vec![Turn::Refuse(Refusal::NotLoggedIn)]);
    let repo = repo_for(program, &server);
    let run = run(&repo, program, &[]);
    let story = story(&repo, &run);
    assert_eq!(run.code, 4, "{story}");
    assert!(
        run.stderr.contains("the agent cannot run: not logged in: "),
        "{story}"
    );
    assert!(!server.requests().is_empty(), "it was asked\n{story}");
    assert_eq!(repo.records().len(), 0, "{story}");
}

/// The wait is seen to begin, and a STOP file ends it.
fn is_waited_for(program: &Program, refusal: Refusal, word: &str) {
    let server = Server::start(vec![Turn::Refuse(refusal)]);
    let repo = repo_for(program, &server);
    let child = repo.spawn(&["--agent", program.name, "--max-cycles=1", "--json"]);
    let began = Instant::now();
    let (private, mut was_called) = (repo.private(), false);
    while began.elapsed() < LIMIT {
        let journal = std::fs::read_to_string(private.join("journal.json")).unwrap_or_default();
        was_called |= journal.contains("\"agent\"");
        if was_called && !journal.contains("\"agent\"") {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    repo.write(".agents/evolve/STOP", "");
    let run = finish_within(child, LIMIT);
    let story = story(&repo, &run);
    assert_eq!(run.code, 0, "{story}");
    let events = run.events();
    let waiting = events.iter().find(|event| event["event"] == "waiting");
    let waiting = waiting.unwrap_or_else(|| panic!("it is not waited for\n{story}"));
    let reason = waiting["reason"].as_str().unwrap_or_default();
    assert!(reason.contains(word), "{reason}\n{story}");
    if program.tells_reset && matches!(refusal, Refusal::UsageLimit(_)) {
        // As people are told it: to the minute.
        let seconds = waiting["seconds"].as_f64().unwrap_or_default();
        assert!((3500.0..7300.0).contains(&seconds), "{story}");
    }
    assert_eq!(repo.records().len(), 0, "{story}");
}

/// The whole hour that is one to two hours away, in seconds since 1970.
fn at_the_hour() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs() / 3600 * 3600 + 7200
}
