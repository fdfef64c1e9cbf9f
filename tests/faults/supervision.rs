//! Processes that try to outlive the run: many ways at once, in a random order, while a check or an agent ends or while evolve
//! is killed. None may be left, and the lock is free only then.

use std::fs;
use std::process::{Child, Command, Stdio};

use crate::chance::{Chance, cases, seeds};
use crate::harness::{TestRepo, finish, is_alive, pid_in, signal_pid, wait_until};

/// Says that it is there under the name it was given, and stays for ever; further words say how.
const STAY: &str = "case $2 in deaf) trap '' TERM HUP INT;; esac
echo $$ >\"$OUT/$1\"
case $2 in stopped) kill -STOP $$;; esac
while :; do sleep 0.2; done
";
/// Never has the same pid for long, nor a parent, a session or a mark.
const HOP: &str = "trap '' TERM HUP
[ -e \"$OUT/hop-pid\" ] || echo $$ >\"$OUT/hop-pid\"
sleep 0.01
[ -e \"$OUT/enough\" ] || env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid sh \"$OUT/hop\" &
";
/// Has a child every hundredth of a second, each in a session of its own: a bounded bomb.
const BREED: &str = "echo $$ >\"$OUT/breed-pid\"
i=0
while [ $i -lt 25 ]; do
  i=$((i + 1))
  env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid sh \"$OUT/stay\" brood-$i &
  sleep 0.01
done
wait
";

/// Every way out: a name, which is the file that it leaves when it is there, and the shell's words for it.
const ESCAPES: [(&str, &str); 12] = [
    ("background", "sh \"$OUT/stay\" background &"),
    ("session", "setsid sh \"$OUT/stay\" session &"),
    ("double", "(setsid sh \"$OUT/stay\" double & ) &"),
    ("nohup", "nohup sh \"$OUT/stay\" nohup >/dev/null 2>&1 &"),
    (
        "bare",
        "env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid sh \"$OUT/stay\" bare &",
    ),
    (
        "quiet",
        "env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid sh \"$OUT/stay\" quiet </dev/null >/dev/null 2>&1 &",
    ),
    (
        "stopped",
        "env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid sh \"$OUT/stay\" stopped stopped &",
    ),
    ("deaf", "setsid sh \"$OUT/stay\" deaf deaf &"),
    (
        "deep",
        "setsid sh -c 'setsid sh -c \"setsid sh \\\"$OUT/stay\\\" deep & \" & ' &",
    ),
    (
        "behind",
        "sh -c 'setsid sh \"$OUT/stay\" behind & sleep 300' >/dev/null 2>&1 &",
    ),
    ("hop-pid", "setsid sh \"$OUT/hop\" &"),
    ("breed-pid", "setsid sh \"$OUT/breed\" &"),
];

/// What ends while all of them are there.
#[derive(Clone, Copy, Debug)]
enum End {
    /// A check, by itself.
    Check,
    /// An agent, by itself.
    Agent,
    /// `evolve measure`, killed.
    KilledMeasure,
    /// The loop, killed while its agent runs.
    KilledLoop,
    /// The loop's supervising process, killed while its agent runs.
    KilledSupervisor,
    /// The loop, killed while its agent runs and its supervising process is stopped.
    KilledBesideStopped,
    /// The kill switch, while the agent stops whoever would obey it.
    KillSwitch,
}

const ENDS: [End; 7] = [
    End::Check,
    End::Agent,
    End::KilledMeasure,
    End::KilledLoop,
    End::KilledSupervisor,
    End::KilledBesideStopped,
    End::KillSwitch,
];

/// A repository whose processes are ended whatever becomes of the test.
struct Yard(TestRepo);

impl Yard {
    /// One whose check, or whose agent, is this script.
    fn new(check: &str, agent: &str) -> Yard {
        let repo = TestRepo::with_goals(
            "  - {id: a, description: d, check: 'if [ -e \"$OUT/check\" ]; then . \"$OUT/check\"; fi; test -e a', weight: 5}\n",
        )
        .with_out();
        for (name, script) in [("stay", STAY), ("hop", HOP), ("breed", BREED)] {
            fs::write(repo.out(name), script).unwrap();
        }
        if !check.is_empty() {
            fs::write(repo.out("check"), check).unwrap();
        }
        repo.agent_does(&[agent]);
        Yard(repo)
    }

    /// Every living process that was started with a script of this yard.
    fn survivors(&self) -> Vec<(u32, String)> {
        let scripts = ["stay", "hop", "breed"].map(|name| self.0.out(name).display().to_string());
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let command = |pid: u32| {
            let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            (pid, String::from_utf8_lossy(&bytes).replace('\0', " "))
        };
        let is_ours = |line: &str| scripts.iter().any(|script| line.contains(script));
        let all = pids.map(command);
        all.filter(|(pid, line)| is_ours(line) && is_alive(*pid))
            .collect()
    }

    fn is_lock_free(&self) -> bool {
        let lock = fs::File::open(self.0.private().join("lock")).unwrap();
        lock.try_lock().is_ok()
    }

    /// Asserts that nothing is left, and that nothing comes back.
    #[track_caller]
    fn assert_empty(&self, what: &str) {
        let left = self.survivors();
        assert!(left.is_empty(), "{what}: {left:?}");
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        let _ = fs::write(self.0.out("enough"), "");
        for _ in 0..100 {
            let left = self.survivors();
            if left.is_empty() {
                return;
            }
            for (pid, _) in left {
                let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
            }
        }
    }
}

/// Kills a program.
fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// At least six ways out in a random order, then the wait until all of them are taken.
fn escapes(chance: &mut Chance) -> (String, Vec<&'static str>) {
    let mut all = ESCAPES.to_vec();
    let count = 6 + chance.below(7) as usize;
    let mut script = String::new();
    let mut names = Vec::new();
    while names.len() < count {
        let (name, words) = all.swap_remove(chance.below(all.len() as u64) as usize);
        script.push_str(words);
        script.push('\n');
        names.push(name);
    }
    let there: Vec<String> = names
        .iter()
        .map(|name| format!("[ -s \"$OUT/{name}\" ]"))
        .collect();
    script.push_str(&format!(
        "until {}; do sleep 0.01; done\n",
        there.join(" && ")
    ));
    (script, names)
}

fn run(seed: u64) {
    let mut chance = Chance::of(seed);
    let end = ENDS[(seed % ENDS.len() as u64) as usize];
    let (script, names) = escapes(&mut chance);
    let what = format!("SEED={seed} {end:?} {names:?}");
    let stays = format!("{script}echo $$ >\"$OUT/all\"; exec sleep 300");
    match end {
        End::Check => {
            let yard = Yard::new(&script, "");
            let ran = yard.0.evolve(&["measure"]);
            yard.assert_empty(&what);
            ran.expect(0);
        }
        End::Agent => {
            let yard = Yard::new("", &format!("{script}touch a"));
            let ran = yard.0.run(&["--max-cycles=1"]);
            yard.assert_empty(&what);
            ran.expect(0);
            assert_eq!(yard.0.each("result"), ["improved"], "{what}");
        }
        End::KilledMeasure => {
            let yard = Yard::new(&stays, "");
            let child = yard.0.spawn(&["measure"]);
            pid_in(&yard.0.out("all"));
            kill(child);
            wait_until(&what, || yard.survivors().is_empty());
        }
        End::KilledLoop => {
            let yard = Yard::new("", &stays);
            let child = yard.0.spawn_run(&["--max-cycles=1", "--skip-baseline"]);
            pid_in(&yard.0.out("all"));
            kill(child);
            wait_until(&what, || yard.is_lock_free());
            yard.assert_empty(&what);
        }
        End::KilledSupervisor => {
            let yard = Yard::new("", &stays);
            let child = yard.0.spawn_run(&["--max-cycles=1", "--skip-baseline"]);
            pid_in(&yard.0.out("all"));
            signal_pid(yard.0.supervisor(), "KILL");
            let ran = finish(child);
            yard.assert_empty(&what);
            ran.expect(1);
            assert_eq!(yard.0.each("result"), ["interrupted"], "{what}");
        }
        End::KilledBesideStopped => {
            let yard = Yard::new("", &stays);
            let child = yard.0.spawn_run(&["--max-cycles=1", "--skip-baseline"]);
            pid_in(&yard.0.out("all"));
            signal_pid(yard.0.supervisor(), "STOP");
            kill(child);
            wait_until(&what, || yard.is_lock_free());
            yard.assert_empty(&what);
        }
        End::KillSwitch => {
            let whom = ["head", "tail"][chance.below(2) as usize];
            let stop = format!("kill -STOP $({whom} -n 1 .git/evolve/lock | cut -d' ' -f1)");
            let stop = [stop.clone(), format!("while :; do {stop}; done &")]
                [chance.below(2) as usize]
                .clone();
            let yard = Yard::new(
                "",
                &format!("{script}{stop}\necho $$ >\"$OUT/all\"; sleep 300"),
            );
            let child = yard.0.spawn_run(&["--max-cycles=1", "--skip-baseline"]);
            pid_in(&yard.0.out("all"));
            yard.0.kill();
            let ran = finish(child);
            yard.assert_empty(&format!("{what} {stop}"));
            ran.expect(0);
            assert_eq!(yard.0.each("result"), ["interrupted"], "{what} {stop}");
        }
    }
}

#[test]
fn nothing_outlives_a_check_an_agent_or_evolve_whatever_way_out_it_tries() {
    for seed in seeds(cases(100, 1000)) {
        run(seed);
    }
}

/// Keeps a process from ending, until what is returned is killed.
fn hold(pid: u32) -> Child {
    let tracer = Command::new("strace")
        .args(["--trace=none", "-p", &pid.to_string()])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let traced = format!("TracerPid:\t{}", tracer.id());
    wait_until("it is traced", || {
        fs::read_to_string(format!("/proc/{pid}/status"))
            .is_ok_and(|status| status.contains(&traced))
    });
    signal_pid(tracer.id(), "STOP");
    tracer
}

#[test]
fn what_cannot_be_ended_is_reported_and_nothing_is_undone_while_it_lives() {
    // A process whose end its tracer does not take note of stays, like one that sleeps uninterruptibly.
    let yard = Yard::new(
        "",
        "echo x >loose; env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid sh \"$OUT/stay\" stays & until [ -e \"$OUT/traced\" ]; do sleep 0.02; done",
    );
    let repo = &yard.0;
    let child = repo.spawn_run(&["--max-cycles=1"]);
    let stays = pid_in(&repo.out("stays"));
    let mut tracer = hold(stays);
    fs::write(repo.out("traced"), "").unwrap();
    let run = finish(child).expect(3);
    let pid = format!("[{stays}]");
    assert!(run.stderr.contains(&pid), "{}", run.stderr);
    assert_eq!(repo.records().len(), 0);
    assert!(repo.has("loose"), "it was undone");
    // The next one waits for it, not without bound, and says what for.
    repo.agent_does(&["touch a"]);
    let run = repo.run(&["--max-cycles=1"]).expect(3);
    assert!(run.stderr.contains(&pid), "{}", run.stderr);
    assert!(repo.has("loose"), "it was undone");
    signal_pid(tracer.id(), "KILL");
    tracer.wait().unwrap();
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert!(!repo.has("loose"));
}

#[test]
fn a_supervising_process_that_cannot_end_is_not_waited_for_without_bound() {
    let yard = Yard::new("", "echo x >loose; exec sh \"$OUT/stay\" pid");
    let repo = &yard.0;
    let child = repo.spawn_run(&["--max-cycles=1"]);
    pid_in(&repo.out("pid"));
    let supervisor = repo.supervisor();
    let tracer = hold(supervisor);
    signal_pid(supervisor, "KILL");
    let run = finish(child);
    kill(tracer);
    let run = run.expect(3);
    assert!(
        run.stderr.contains(&format!("[{supervisor}]")),
        "{}",
        run.stderr
    );
    // What it has could still write.
    assert!(repo.has("loose"), "it was undone");
}

#[test]
fn what_evolve_s_own_git_leaves_and_cannot_be_ended_is_named_and_nothing_goes_on() {
    let yard = Yard::new("", "echo broken >tracked");
    let repo = &yard.0;
    repo.write("tracked", "text\n");
    repo.write(".gitattributes", "tracked filter=leaving\n");
    repo.commit_all("attributes");
    fs::write(
        repo.out("filter"),
        "env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid sh \"$OUT/stay\" stays >/dev/null 2>&1 &
until [ -e \"$OUT/traced\" ]; do sleep 0.02; done
cat
",
    )
    .unwrap();
    let smudge = format!("sh {}", repo.out("filter").display());
    repo.git(&["config", "filter.leaving.smudge", &smudge]);
    repo.git(&["config", "filter.leaving.clean", "cat"]);
    let child = repo.spawn_run(&["--max-cycles=1"]);
    let stays = pid_in(&repo.out("stays"));
    let tracer = hold(stays);
    fs::write(repo.out("traced"), "").unwrap();
    let run = finish(child);
    kill(tracer);
    let run = run.expect(1);
    let pid = format!("[{stays}]");
    assert!(run.stderr.contains(&pid), "{}", run.stderr);
    // The next one settles it.
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.read("tracked"), "text\n");
}

#[test]
fn a_lock_that_was_put_back_is_held_as_well_until_nothing_is_left() {
    let stays = "env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid sh \"$OUT/stay\" stays & sleep 300";
    let yard = Yard::new("", "rm .git/evolve/lock");
    let repo = &yard.0;
    repo.agent_does(&[stays]);
    let child = repo.spawn_run(&["--max-cycles=2"]);
    let stays = pid_in(&repo.out("stays"));
    let tracer = hold(stays);
    kill(child);
    assert!(!yard.is_lock_free());
    kill(tracer);
    wait_until("the lock is free", || yard.is_lock_free());
    yard.assert_empty("the second agent");
}
