//! A long session with an agent that does everything wrong: what `evolve` itself takes does not grow, and its history is
//! still one that proves itself.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::chance::{Chance, cases, seeds};
use crate::harness::{TestRepo, finish_within, output};

/// The most memory that `evolve` may take for itself, in KiB.
const OWN: u64 = 16 * 1024;
/// The most memory with the pages of the program's file, in KiB. What is not optimised has twice as many of them, whatever
/// it does, so that only an optimised program is held to it.
const RESIDENT: Option<u64> = match cfg!(debug_assertions) {
    true => None,
    false => Some(30 * 1024),
};
/// The most bytes that the private directory may take: the logs of a session, with a few large ones.
const PRIVATE: u64 = 2 << 30;
/// How long a night's session may take.
const LIMIT: Duration = Duration::from_secs(6 * 3600);

/// What an agent does wrong, or right for once. `$N` is the number of the call, `$SLEEP` a time that no other test sleeps.
const FAULTS: [&str; 26] = [
    "echo $N >work",
    "echo $N >work && git add work && git commit -qm work",
    "exit 3",
    "echo half >work; kill -9 $$",
    "echo half >work; sleep $SLEEP",
    "trap '' TERM; echo half >work; sleep $SLEEP",
    "head -c 20000000 /dev/zero | tr '\\0' x; echo $N >work",
    "yes \"$(printf '\\033[2J\\377\\001')\" | head -c 300000; echo $N >work",
    "setsid sleep $SLEEP & echo $N >work",
    "(setsid sh -c 'sleep $SLEEP & sleep $SLEEP' &) ; echo $N >work",
    "env -i setsid sleep $SLEEP >/dev/null 2>&1 & echo $N >work",
    "sleep $SLEEP & kill -STOP $!; echo $N >work",
    "head -c 200000 /dev/urandom >garbage; echo $N >work",
    "printf x >\"$(printf 'a\\nb\\001 \\377')\"; echo $N >work",
    "rm -f needed; echo $N >work",
    "git rm -rqf . ; echo gone >work",
    "git reset -q --hard HEAD~1; echo $N >work",
    "git commit -q --amend -m mine --allow-empty",
    "git checkout -q -B elsewhere HEAD~1; echo $N >work; git add work; git commit -qm x",
    "git checkout -q --detach; echo $N >work; git add work; git commit -qm x",
    "for n in 1 2 3 4 5 6 7 8; do echo $n >work; git add work; git commit -qm $n; done; echo no >\"$EVOLVE_GIVE_UP\"",
    "echo '{\"cycle\":99}' >>.agents/evolve/cycle-history.jsonl; git add -Af .; git commit -qm forged; echo $N >work",
    "rm -rf .agents/evolve; echo $N >work",
    "head -c 3000000 /dev/urandom >\"$EVOLVE_LESSONS\"; echo '{\"title\":' >\"$EVOLVE_NEXT_WORK\"; echo $N >work",
    "sed -i s/weight/wait/ GOALS.yaml; echo $N >work",
    "rm -f mine; echo theirs >mine; touch .git/index.lock; echo $N >work",
];

/// Notes memory, open files and zombies of `evolve`, at the same point of every cycle.
const LOOK: &str = r#"
until [ -s "$OUT/pid" ]; do sleep 0.02; done
P=$(cat "$OUT/pid")
status() { sed -n "s/^$1:[^0-9]*\([0-9]*\).*/\1/p" /proc/$P/status; }
F=$(ls /proc/$P/fd | wc -l)
Z=0
for C in $(cat /proc/$P/task/*/children); do
  grep -q '^State:.Z' /proc/$C/status 2>/dev/null && Z=$((Z + 1))
done
echo "$(status RssAnon) $(status VmRSS) $F $Z" >>"$OUT/looks"
"#;

/// What was noted in one cycle.
struct Look {
    own: u64,
    resident: u64,
    files: u64,
    zombies: u64,
}

fn looks(repo: &TestRepo) -> Vec<Look> {
    let look = |line: &str| {
        let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        Look {
            own: numbers[0],
            resident: numbers[1],
            files: numbers[2],
            zombies: numbers[3],
        }
    };
    repo.said("looks").lines().map(look).collect()
}

/// A repository with nothing but work to do, and an agent that is out of order.
fn prepared(cycles: u64, seed: u64) -> TestRepo {
    let mut repo = TestRepo::empty().with_out();
    // Of a long session git cleans up by itself, and forgets then what is dated months ago.
    let format = "+%Y-%m-%dT%H:%M:%SZ";
    let now = output(Command::new("date").args(["-u", "-d", "10 days ago", format]));
    for name in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE", "EVOLVE_CLOCK"] {
        let now = String::from_utf8_lossy(&now.stdout);
        repo.env.push((name.to_owned(), now.trim().to_owned()));
    }
    // The time of the sleeps names the processes of this run.
    let sleep = 100_000 + u64::from(std::process::id());
    let agent = repo.out("agent.sh");
    let goals = format!(
        "version: 1\nevolve:\n  sweep: []\n  agent: {{command: [sh, '{}'], timeout: 2s}}\ngoals:\n  \
         - {{id: needed, description: d, check: test -e needed, weight: 5}}\n  \
         - {{id: small, description: d, check: test ! -e huge, weight: 3}}\n",
        agent.display()
    );
    repo.write("GOALS.yaml", &goals);
    repo.write("needed", "");
    repo.commit_all("first");
    repo.commit_all("second");
    repo.write("mine", "my own\n");
    let mut queue = String::new();
    for number in 0..cycles {
        let _ = writeln!(
            queue,
            "{{\"title\":\"item {number}\",\"severity\":\"low\"}}"
        );
    }
    repo.write(".agents/rpi/next-work.jsonl", &queue);
    let mut chance = Chance::of(seed);
    let mut script = format!(
        "N=$(($(cat \"$OUT/calls\" 2>/dev/null || echo 0) + 1)); echo $N >\"$OUT/calls\"; SLEEP={sleep}; export SLEEP\ncat >/dev/null\n{LOOK}\ncase $N in\n"
    );
    for number in 1..=cycles {
        let _ = writeln!(script, "{number}) {}\n;;", chance.pick(&FAULTS));
    }
    fs::write(agent, script + "esac\n").unwrap();
    repo
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |path: &Path| match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => bytes_below(path),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    entries.map(|entry| size(&entry.path())).sum()
}

/// The living processes that sleep as long as nobody else does.
fn sleepers() -> Vec<String> {
    let time = (100_000 + u64::from(std::process::id())).to_string();
    let is_ours = |entry: &fs::DirEntry| {
        let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        line.starts_with("sleep\0") && line.contains(&time)
    };
    let found = fs::read_dir("/proc").unwrap().flatten().filter(is_ours);
    found
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_long_session_takes_no_more_than_a_short_one_whatever_its_agent_does() {
    for seed in seeds(1) {
        let cycles = cases(20, 1_000);
        let repo = prepared(cycles, seed);
        let child = repo.spawn(&[&format!("--max-cycles={cycles}")]);
        fs::write(repo.out("pid"), child.id().to_string()).unwrap();
        let run = finish_within(child, LIMIT);
        let told = format!("SEED={seed}\n{}\n{}", run.stdout, run.stderr);
        assert_eq!(run.code, 0, "{told}");
        assert_eq!(repo.records().len() as u64, cycles, "{told}");
        let looks = looks(&repo);
        let own = looks.iter().map(|look| look.own).max().unwrap();
        let resident = looks.iter().map(|look| look.resident).max().unwrap();
        println!(
            "{cycles} cycles: at most {own} KiB of its own, {resident} KiB resident; {} files open",
            looks[0].files
        );
        assert!(looks.len() as u64 >= cycles, "{told}");
        assert!(own < OWN, "{own} KiB of its own: {told}");
        let fits = RESIDENT.is_none_or(|most| resident < most);
        assert!(fits, "{resident} KiB resident: {told}");
        for (number, look) in looks.iter().enumerate() {
            assert_eq!(
                look.files,
                looks[0].files,
                "open files at call {}: {told}",
                number + 1
            );
            assert_eq!(look.zombies, 0, "zombies at call {}: {told}", number + 1);
        }
        assert_eq!(sleepers(), Vec::<String>::new(), "{told}");
        assert_eq!(repo.read("mine"), "my own\n", "{told}");
        assert!(bytes_below(&repo.private()) < PRIVATE, "{told}");
        let audit = repo.evolve(&["audit"]);
        assert_eq!(audit.code, 0, "{}{told}", audit.stdout);
        let again = repo.evolve(&["--max-cycles=1", "--agent=true"]);
        assert_eq!(again.code, 0, "{}{told}", again.stderr);
    }
}
