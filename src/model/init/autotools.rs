//! Autotools: it builds and its tests pass, by the Makefile that `configure` makes. Pure.

use super::offer::{Proposal, Role};
use super::told::MAY;
use super::{Found, Look, first_of, has};
use crate::model::check;
use crate::model::recipes::MAKEFILES;

/// What a project is known by, and who makes a Makefile of what stands there.
const FILES: [&str; 3] = ["configure.ac", "configure.in", "configure"];

/// What else builds what is written in the languages that it builds.
const BUILDERS: [&str; 5] = ["cmake", "ctest", "make", "meson", "ninja"];

/// Proposes goals for a project in the root.
pub(super) fn propose(look: &dyn Look, found: &mut Found) {
    let Some(source) = first_of(look, "", &FILES) else {
        return;
    };
    // One that is kept is a file of tasks, whoever configures.
    let is_kept = first_of(look, "", &MAKEFILES).is_some();
    let Some(template) = first_of(look, "", &["Makefile.am", "Makefile.in"]).filter(|_| !is_kept)
    else {
        return;
    };
    found.is_made_with("Autotools", "");
    found.is_compiled = true;
    let text = look.read(template).unwrap_or_default();
    // Automake makes the target wherever it makes a Makefile.
    let has_target = |name: &str| {
        text.lines()
            .any(|line| line.starts_with(&format!("{name}:")))
    };
    let target = match template.ends_with(".am") || has_target("check") {
        true => Some("check"),
        false => has_target("test").then_some("test"),
    };
    let test = target.map(|target| format!("make --silent {target}"));
    let goals = [
        (
            Role::Build,
            "builds",
            "It builds",
            Some("make --silent".to_owned()),
        ),
        (Role::Test, "tests-pass", "All tests pass", test),
    ];
    for (role, id, says, command) in goals {
        let Some(command) = command else { continue };
        // Only what builds the same sources stands for it.
        let calls = |one: &Proposal| {
            let mut all = check::programs(&one.check).into_iter();
            all.any(|program| BUILDERS.contains(&program.as_str()))
        };
        let is_it = |one: &&Proposal| one.role == role && one.folder.is_empty() && calls(one);
        if let Some(id) = found.proposals.iter().find(is_it).map(|one| one.id.clone()) {
            found.leave_told(format!("{source}: {command}"), vec![id], MAY);
            continue;
        }
        let short = command.replace(" --silent", "");
        let goal = Proposal::new(role, id, "", &command)
            .says(says)
            .seen_in(format!("{source}, {template}"))
            .same_as(&[&command, &short])
            .needs(look, "make", "install it with your system's packages")
            .alone();
        found.add(match look.is_there("Makefile") {
            true => goal,
            false => goal.lacks(format!("it is not configured: {}", configure(look))),
        });
    }
}

/// Returns the commands that make the Makefile.
fn configure(look: &dyn Look) -> &'static str {
    match has(look, "configure") || look.is_there("configure") {
        true => "./configure",
        false => "autoreconf --install && ./configure",
    }
}

#[cfg(test)]
mod tests {
    use super::super::propose;
    use super::super::tests::{Files, PLAIN, goals_in};

    #[test]
    fn goals_run_by_the_makefile_that_configure_makes_and_wait_for_it() {
        let automake = [("configure.ac", ""), ("Makefile.am", ""), ("!Makefile", "")];
        let builds = "10 builds: make --silent";
        assert_eq!(
            goals_in(&automake),
            [builds, "9 tests-pass: make --silent check"]
        );
        let of = |template: &str| {
            goals_in(&[
                ("configure", ""),
                ("Makefile.in", template),
                ("!Makefile", ""),
            ])
        };
        assert_eq!(
            of("all:\n\ncheck: all\n"),
            [builds, "9 tests-pass: make --silent check"]
        );
        assert_eq!(of("test:\n"), [builds, "9 tests-pass: make --silent test"]);
        assert_eq!(of("all:\n"), [builds]);
        let both = [("Makefile", "all:\n\tcc a.c\n"), automake[0], automake[1]];
        assert_eq!(goals_in(&both), ["10 builds: make --silent all"]);
        for (files, expected) in [
            (&automake[..2], "autoreconf --install && ./configure"),
            (
                &[automake[0], automake[1], ("!configure", "")],
                "./configure",
            ),
        ] {
            let found = propose(&Files::of(files), &PLAIN);
            let expected = format!("it is not configured: {expected}");
            let why: Vec<&str> = found
                .lacking()
                .filter_map(|one| one.missing.as_deref())
                .collect();
            assert_eq!(why, [&*expected, &*expected]);
        }
    }
}
