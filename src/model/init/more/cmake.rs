//! CMake: it builds and its tests pass, by the project's presets or without. Pure.

use super::super::offer::Role;
use super::super::{Found, Look};
use super::{Goal, Kind, TaskFiles, add, offer, presets};

pub(super) const CMAKE: Kind = Kind {
    name: "CMake",
    program: "cmake",
    install: "install it with your system's packages",
    packages: None,
    goals: &[Goal::of(
        Role::Build,
        "builds",
        "It builds",
        "cmake -S . -B build && cmake --build build",
    )],
};
const CTEST: Goal<'static> = Goal::of(
    Role::Test,
    "tests-pass",
    "All tests pass",
    "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure",
);
/// Proposes goals for CMake, by the project's presets where there are any for it; none where files are tracked in the folder that it would
/// build in.
pub(super) fn propose(look: &dyn Look, tasks: &TaskFiles, text: &str, found: &mut Found) {
    let presets = presets::commands(look);
    let folder = match &presets {
        Some(presets) => presets.folder.as_deref(),
        None => Some("build"),
    };
    if folder.is_some_and(|folder| look.has_below(folder)) {
        return;
    }
    found.is_compiled = true;
    let is_tested = ["enable_testing(", "include(CTest)"];
    let is_tested = is_tested.iter().any(|word| text.contains(word));
    let Some(presets) = &presets else {
        offer(look, tasks, &CMAKE, found);
        if is_tested {
            add(look, tasks, &CMAKE, &CTEST, found);
        }
        return;
    };
    found.is_made_with(CMAKE.name, "");
    let missing = presets.builder.filter(|builder| !look.finds(builder));
    let missing = missing.map(|it| format!("{it} is not installed: {}", CMAKE.install));
    let unset = presets.unset.as_ref();
    let lacks = missing.or_else(|| unset.map(|name| format!("{name} is not set")));
    let by_folder = |folder| {
        let test = format!("ctest --test-dir {folder} --output-on-failure");
        format!("{} && {test}", presets.build)
    };
    let test = presets.test.clone();
    let test = test.or_else(|| folder.filter(|_| is_tested).map(by_folder));
    let build = (&CMAKE.goals[0], Some(&presets.build));
    for (goal, check) in [build, (&CTEST, test.as_ref())] {
        let Some(check) = check else { continue };
        let goal = Goal {
            check,
            lacks: lacks.as_deref(),
            configs: &[presets::FILE],
            ..*goal
        };
        add(look, tasks, &CMAKE, &goal, found);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::propose;
    use super::super::super::tests::{Files, PLAIN, goals_in};

    const PRESETS: &str = r#"{"configurePresets": [{"name": "dev", "binaryDir": "out"}],
        "buildPresets": [{"name": "dev", "configurePreset": "dev"}], "testPresets": [{"name": "dev", "configurePreset": "dev"}]}"#;
    const UNTESTED: &str = r#"{"configurePresets": [{"name": "dev", "binaryDir": "${sourceDir}/out/"}],
        "buildPresets": [{"name": "dev", "configurePreset": "dev"}]}"#;

    #[test]
    fn a_preset_waits_for_what_it_goes_by() {
        let waiting = |more: &str, missing| {
            let presets = PRESETS.replace("\"binaryDir\"", &format!("{more}, \"binaryDir\""));
            let files = Files::of(&[("CMakeLists.txt", ""), ("CMakePresets.json", &presets)]);
            let found = propose(&files.without(missing), &PLAIN);
            let all = found.lacking().filter_map(|one| one.missing.clone());
            all.collect::<Vec<_>>()
        };
        let ninja = "\"generator\": \"Ninja\"";
        let why = "ninja is not installed: install it with your system's packages";
        assert_eq!(waiting(ninja, &["ninja"]), [why; 2]);
        assert_eq!(waiting(ninja, &[]), [""; 0]);
        let chain = "\"toolchainFile\": \"$env{VCPKG_ROOT}/x.cmake\"";
        assert_eq!(waiting(chain, &[]), ["VCPKG_ROOT is not set"; 2]);
    }

    #[test]
    fn a_preset_goes_before_a_folder_of_the_usual_name() {
        for (files, expected) in [
            (
                &[
                    ("CMakeLists.txt", "project(x)"),
                    ("build/x.cmake", ""),
                    ("CMakePresets.json", PRESETS),
                ][..],
                &[
                    "10 builds: cmake --preset dev && cmake --build --preset dev",
                    "9 tests-pass: cmake --preset dev && cmake --build --preset dev && ctest --preset dev",
                ][..],
            ),
            (
                &[
                    ("CMakeLists.txt", "include(CTest)"),
                    ("CMakePresets.json", UNTESTED),
                ],
                &[
                    "10 builds: cmake --preset dev && cmake --build --preset dev",
                    "9 tests-pass: cmake --preset dev && cmake --build --preset dev && ctest --test-dir out --output-on-failure",
                ],
            ),
            (
                &[
                    ("CMakeLists.txt", "include(CTest)"),
                    ("CMakePresets.json", UNTESTED),
                    ("out/a", ""),
                ],
                &[],
            ),
        ] {
            assert_eq!(goals_in(files), expected, "{files:?}");
        }
    }
}
