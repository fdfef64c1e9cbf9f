//! The same through the program, whose agent and fitness command are a line each to the server that holds the tasks.

use std::fs;
use std::process::{Child, Command};
use std::time::Duration;

use evolve::search::standing::Standing;

use crate::harness::{TestRepo, finish_within, output};
use crate::plain::{assert_same, hill_climb};
use crate::world::{Server, start, tasks};

/// How many attempts are made through the program.
const ATTEMPTS: u64 = 500;
/// How long that may take on a slow machine.
const LIMIT: Duration = Duration::from_secs(1200);

/// A server between two pipes, ended with its test.
struct Between(Child);

impl Between {
    fn pipes_of(repo: &TestRepo) -> Between {
        let pipes = [repo.out("requests"), repo.out("answers")];
        output(Command::new("mkfifo").args(&pipes));
        let mut python = Command::new("python3");
        Between(
            python
                .arg(tasks())
                .arg("serve")
                .args(&pipes)
                .spawn()
                .unwrap(),
        )
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Searches through the program, and holds the lineage against the plain hill climb.
fn climbs(task: &str, seed: u64) {
    let repo = TestRepo::empty();
    let ask = |what: &str| {
        format!(
            "echo \"{what}\" >'{}'; cat '{}'",
            repo.out("requests").display(),
            repo.out("answers").display()
        )
    };
    repo.write("solution.py", &start(task));
    repo.write("score.sh", &ask("score $PWD/solution.py"));
    repo.commit_all("first");
    let agent = repo.out("agent.sh");
    let mutate = ask("mutate $PWD/solution.py $EVOLVE_DICE");
    fs::write(&agent, format!("cat >/dev/null\n{mutate}\n")).unwrap();
    let between = Between::pipes_of(&repo);
    let words = [
        "search",
        "sh score.sh",
        "--files=solution.py",
        "--stale=off",
        &format!("--agent=sh {}", agent.display()),
        &format!("--max-attempts={ATTEMPTS}"),
        &format!("--seed={seed}"),
    ];
    finish_within(repo.spawn(&words), LIMIT).expect(0);
    drop(between);
    let lineage = repo.lineage();
    let mut server = Server::new();
    let climbed = hill_climb(&mut server, &start(task), (seed, ATTEMPTS));
    let genome = |tree: &str| repo.git(&["show", &format!("{tree}:solution.py")]) + "\n";
    assert_same(&lineage, &climbed, genome, task);
    let standing = Standing::of(&lineage);
    println!(
        "{task}, seed {seed}: {} after {ATTEMPTS} attempts through the program",
        standing.score(standing.best()).unwrap()
    );
}

#[test]
fn the_program_climbs_circle26_as_the_plain_hill_climb_does() {
    climbs("circle26", 1);
}

#[test]
fn the_program_climbs_sortnet10_as_the_plain_hill_climb_does() {
    climbs("sortnet10", 1);
}
