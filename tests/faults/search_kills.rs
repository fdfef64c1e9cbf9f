//! SIGKILL of a search at random moments, as often as it takes it to end: the lineage is that of an undisturbed search, and
//! nothing is left running, locked or named. The same of an `apply`.

use std::fs;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use evolve::search::standing::Standing;

use crate::chance::{Chance, cases, seeds};
use crate::harness::search::essence;
use crate::harness::{TestRepo, finish, is_alive, wait_until};
use crate::kill_points::run_all;

/// What is searched: strategies, several agents at once, a fitness command that leaves things behind.
const SEARCHES: [&[&str]; 3] = [
    &["--strategy=climb"],
    &["--strategy=climb", "--agents=2", "--benchmarks=2"],
    &["--strategy=population", "-k=4", "-g=6", "--yes"],
];
const MORE: [&str; 2] = ["--stale=off", "--max-attempts=12"];
/// Every fourth attempt fails, has a fault or is what another one is.
const VARY: &str = "sleep 0.0$((EVOLVE_DICE % 10))\ncase $((EVOLVE_DICE % 8)) in 0) exit 1;; 1) echo fault $EVOLVE_ATTEMPT >x; exit;; esac\necho $(($(cat x) + EVOLVE_DICE % 9 - 3)) >x; touch other";

fn prepared() -> TestRepo {
    let repo = TestRepo::with_number("1");
    repo.write("score.sh", "sleep 0.02; touch left\ncat x\n");
    repo.commit_all("takes its time");
    repo
}

/// The lineage of each undisturbed search, and how long it took.
fn undisturbed(which: usize) -> &'static (Vec<String>, Duration) {
    static KNOWN: [OnceLock<(Vec<String>, Duration)>; 3] = [const { OnceLock::new() }; 3];
    KNOWN[which].get_or_init(|| {
        let repo = prepared().copied();
        repo.attempts(&[VARY]);
        let began = Instant::now();
        repo.search(&[SEARCHES[which], &MORE].concat()).expect(0);
        (essence(&repo.lineage()), began.elapsed())
    })
}

/// The living processes that work in the test's folders or were started with a path there.
fn processes(repo: &TestRepo) -> Vec<String> {
    let folder = repo.root().parent().unwrap().to_owned();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_ours = |pid: &u32| {
        let place = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        is_alive(*pid) && (place.starts_with(&folder) || line.contains(folder.to_str().unwrap()))
    };
    pids.filter(is_ours).map(|pid| pid.to_string()).collect()
}

/// Kills a search at a random moment of an undisturbed one's time, each time that it is gone on with, up to four times.
fn killed(seed: u64) -> Result<(), String> {
    let mut chance = Chance::of(seed);
    let which = usize::try_from(chance.below(SEARCHES.len() as u64)).unwrap();
    let (expected, took) = undisturbed(which);
    let repo = prepared().copied();
    repo.attempts(&[VARY]);
    let begin = repo.search_words(&[SEARCHES[which], &MORE].concat());
    let resume = ["search", "resume", "--yes"].map(str::to_owned);
    let has_begun = || {
        let newest = repo.newest_search();
        newest.is_some_and(|number| repo.lineage_file(number).exists())
    };
    let mut said = String::new();
    for kill in 0..=chance.below(4) {
        let words = if has_begun() { &resume[..] } else { &begin[..] };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut child = repo.spawn(&words);
        let share = chance.below(1000) as u32;
        std::thread::sleep(*took * share / 1000 / (kill as u32 + 1));
        let _ = child.kill();
        let run = finish(child);
        said.push_str(&format!("--- {}\n{}{}", run.code, run.stdout, run.stderr));
        wait_until("what it started is gone", || processes(&repo).is_empty());
    }
    let words = if has_begun() { &resume[..] } else { &begin[..] };
    let is_over = has_begun() && repo.lineage().end.is_some();
    if !is_over {
        let run = repo.evolve(&words.iter().map(String::as_str).collect::<Vec<_>>());
        if run.code != 0 {
            return Err(format!(
                "{}: {}{}\n{said}",
                run.code, run.stdout, run.stderr
            ));
        }
    }
    let lineage = repo.lineage();
    if essence(&lineage) != *expected {
        let found = essence(&lineage).join("\n");
        return Err(format!(
            "{found}\n--- instead of\n{}\n{said}",
            expected.join("\n")
        ));
    }
    let number = repo.newest_search().unwrap();
    let mut refs = vec!["refs/heads/main".to_owned()];
    let commits = (0..Standing::of(&lineage).len())
        .filter(|id| lineage.content(*id).is_some())
        .map(|id| format!("refs/evolve/search/{number}/{id}"));
    refs.extend(commits);
    refs.sort();
    let found = repo.git(&["for-each-ref", "--format=%(refname)"]);
    // One that was killed once it had its number, and before it began, leaves the number taken.
    let taken: Vec<String> = (1..number)
        .map(|number| format!("refs/evolve/search/{number}/0"))
        .collect();
    let is_taken = |name: &&str| taken.iter().any(|one| one == name);
    let mut found: Vec<&str> = found.lines().filter(|name| !is_taken(name)).collect();
    found.sort_unstable();
    if found != refs {
        return Err(format!("refs {found:?} instead of {refs:?}"));
    }
    if !processes(&repo).is_empty() || !repo.status().is_empty() {
        return Err(format!("left: {:?} {:?}", processes(&repo), repo.status()));
    }
    repo.git(&["fsck", "--strict"]);
    // Nothing is locked: another search can begin.
    repo.search(&["--max-attempts=1"]).expect(0);
    Ok(())
}

#[test]
fn a_search_that_is_killed_at_any_moment_goes_on_to_the_same_lineage() {
    run_all(&seeds(cases(20, 400)), killed);
}

/// A search that found something, and how long it takes to apply that.
fn searched() -> &'static (TestRepo, Duration) {
    static KNOWN: OnceLock<(TestRepo, Duration)> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let repo = TestRepo::with_number("1");
        repo.attempts(&["echo 2 >x; chmod +x x"]);
        repo.write("y", "mine\n");
        repo.commit_all("more");
        repo.search(&["--max-attempts=1", "--gate=sh gate.sh"])
            .expect(0);
        let tried = repo.copied();
        let began = Instant::now();
        tried.evolve(&["search", "apply"]).expect(0);
        (repo, began.elapsed())
    })
}

/// Kills an `apply` at random moments, up to three times, and applies then.
fn killed_apply(seed: u64) -> Result<(), String> {
    let mut chance = Chance::of(seed);
    let (searched, took) = searched();
    let repo = searched.copied();
    let base = repo.head();
    let mut said = String::new();
    for _ in 0..=chance.below(3) {
        let mut child = repo.spawn(&["search", "apply"]);
        std::thread::sleep(*took * chance.below(1000) as u32 / 1000);
        let _ = child.kill();
        let run = finish(child);
        said.push_str(&format!("--- {}\n{}{}", run.code, run.stdout, run.stderr));
        wait_until("what it started is gone", || processes(&repo).is_empty());
    }
    let run = repo.evolve(&["search", "apply"]);
    said.push_str(&format!("--- {}\n{}{}", run.code, run.stdout, run.stderr));
    // It is applied, is completed, or was done before.
    let was_done = run.code == 2 && run.stderr.contains("is on the branch already");
    if run.code != 0 && !was_done {
        return Err(said);
    }
    let parents = repo.git(&["rev-list", "--parents", "-n1", "HEAD"]);
    let is_merge = parents.split_whitespace().any(|parent| parent == base);
    let is_whole = repo.read("x") == "2\n" && repo.read("y") == "mine\n";
    if !is_merge || !is_whole || !repo.status().is_empty() {
        return Err(format!("{parents} {:?}\n{said}", repo.status()));
    }
    let locks = [
        ".git/index.lock",
        ".git/HEAD.lock",
        ".git/refs/heads/main.lock",
    ];
    if let Some(lock) = locks.iter().find(|lock| repo.path(lock).exists()) {
        return Err(format!("{lock} is left\n{said}"));
    }
    repo.git(&["fsck", "--strict"]);
    Ok(())
}

#[test]
fn an_apply_that_is_killed_at_any_moment_can_be_completed() {
    run_all(&seeds(cases(40, 2000)), killed_apply);
}
