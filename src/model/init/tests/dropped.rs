//! What gives way to a goal: only what that goal does, too, and by the id that is written.

use super::*;

fn left_out(files: &Files, wishes: &Wishes) -> Vec<String> {
    propose(files, wishes).left_out
}

#[test]
fn what_starts_services_and_ends_is_not_said_to_go_on_itself() {
    let of = |recipe: &str| {
        let makefile = format!("test:\n\t{recipe}\n\tpytest\n");
        left_out(&Files::of(&[("Makefile", &makefile)]), &PLAIN)
    };
    for recipe in ["docker compose up -d", "docker run --detach redis"] {
        let why = format!("it starts services that go on ({recipe})");
        assert_eq!(of(recipe), [format!("Makefile: test: {why}")]);
    }
    let why = "it starts what does not end by itself (docker compose up)";
    assert_eq!(of("docker compose up"), [format!("Makefile: test: {why}")]);
}
