//! Files that running programs of the user's have open, and what an agent would have taken for such.

use crate::harness::{TestRepo, wait_until};

#[test]
fn what_an_agent_links_in_the_place_of_a_users_file_is_no_file_that_a_running_program_has_open() {
    for (case, links) in [
        (
            "evolve's lock",
            "echo good >.git/evolve/lock; ln -f .git/evolve/lock mine",
        ),
        (
            "evolve's lock, moved",
            "echo good >.git/evolve/lock; mv -f .git/evolve/lock mine",
        ),
        (
            "its own log, moved",
            "echo good; mv -f .git/evolve/logs/*/1-agent.log mine",
        ),
        (
            "a program's log",
            "echo good >server.log; ln -f server.log mine",
        ),
        (
            "a program's log, moved",
            "echo good >server.log; mv -f server.log mine",
        ),
    ] {
        let repo = TestRepo::with_goals(
            "  - {id: good, description: d, check: grep -q good mine, weight: 5}\n",
        );
        repo.write("mine", "bad\n");
        repo.write("server.log", "begun\n");
        let mut program = repo.command("sh");
        program.args(["-c", "exec 3<>server.log; touch open; exec sleep 600"]);
        let mut program = program.spawn().unwrap();
        wait_until("the program has its log open", || {
            repo.path("open").exists()
        });
        repo.agent_does(&[&format!("{links}; echo more >>app.txt")]);
        let run = repo.run(&["--max-cycles=1"]);
        program.kill().unwrap();
        program.wait().unwrap();
        assert_ne!(run.code, 1, "{case}: {}", run.stderr);
        assert_eq!(repo.read("mine"), "bad\n", "{case}");
        assert_eq!(repo.each("newly_passing"), ["[]"], "{case}");
    }
}
