use super::*;
use crate::model::goals;

fn goals(text: &str) -> Goals {
    let (goals, _) = goals::read_goals("GOALS.yaml", text.as_bytes()).expect("valid goals");
    goals
}

/// One goal with these keys beside the mandatory ones, and a check that passes.
fn goal(keys: &str) -> Goals {
    let mandatory = "id: a, description: d";
    let check = if keys.contains("check:") {
        ""
    } else {
        "check: 'true', "
    };
    let weight = if keys.contains("weight:") {
        ""
    } else {
        "weight: 5, "
    };
    goals(&format!(
        "goals:\n  - {{{mandatory}, {check}{weight}{keys}}}\n"
    ))
}

fn moved(loaded: &Goals, edited: &Goals) -> String {
    compare_goals(loaded, edited).moved.join("; ")
}

#[test]
fn frozen_is_what_checks_run_and_what_is_protected_and_nothing_else() {
    let goals = goals(
        "evolve: {protect: ['tests/**', lib]}\ngoals:\n  \
         - {id: a, description: d, check: sh check.sh, weight: 5}\n  \
         - {id: b, description: d, check: sh check.sh && make all && make -f tests/Makefile, weight: 5}\n",
    );
    let yardstick = Yardstick::of(&goals, &Root::default(), &|path| {
        ["check.sh", "Makefile", "tests/Makefile", "lib/x"].contains(&path)
    });
    assert_eq!(yardstick.frozen, ["check.sh", "tests/Makefile"]);
    assert_eq!(
        yardstick.leaned_on,
        ["Makefile"],
        "neither frozen nor protected"
    );
    for (path, is_frozen) in [
        ("check.sh", true),
        ("tests/new/x.rs", true),
        ("lib/deep/x", true),
        ("lib", true),
        ("library/x", false),
        ("Makefile", false),
        ("src/main.rs", false),
    ] {
        assert_eq!(yardstick.is_frozen(path), is_frozen, "{path}");
    }
}

#[test]
fn a_star_in_a_pattern_stops_at_a_slash() {
    let goals = goals(
        "evolve: {protect: ['*.toml']}\ngoals:\n  - {id: a, description: d, check: 'true', weight: 5}\n",
    );
    let yardstick = Yardstick::of(&goals, &Root::default(), &|_| false);
    assert!(yardstick.is_frozen("Cargo.toml"));
    assert!(!yardstick.is_frozen("crates/Cargo.toml"));
}

#[test]
fn what_leaned_on_files_a_protected_pattern_covers_is_not_listed_again() {
    let goals = goals(
        "evolve: {protect: [Makefile]}\ngoals:\n  - {id: a, description: d, check: make, weight: 5}\n",
    );
    let yardstick = Yardstick::of(&goals, &Root::default(), &|path| path == "Makefile");
    assert_eq!(yardstick.leaned_on, Vec::<String>::new());
}

/// The yardstick of one goal with this check, in a repository that has these files.
fn of_files(check: &str, files: &[(&str, &str)]) -> Yardstick {
    of_files_with("{}", check, files)
}

/// The same with these settings.
fn of_files_with(settings: &str, check: &str, files: &[(&str, &str)]) -> Yardstick {
    let goals = goals(&format!(
        "evolve: {settings}\ngoals:\n  - {{id: a, description: d, check: '{check}', weight: 5}}\n"
    ));
    let is_file = |path: &str| files.iter().any(|(file, _)| *file == path);
    let folder = |path: &str| path.rsplit_once('/').map_or("", |(dir, _)| dir).to_owned();
    let files_in = |dir: &str| {
        let there = files.iter().filter(|(file, _)| folder(file) == dir);
        there.map(|(file, _)| (*file).to_owned()).collect()
    };
    let folders_in = |dir: &str| {
        let mut found: Vec<String> = files.iter().map(|(file, _)| folder(file)).collect();
        found.retain(|path| !path.is_empty() && folder(path) == dir);
        found.dedup();
        found
    };
    let read = |path: &str| {
        let found = files.iter().find(|(file, _)| *file == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    Yardstick::of(&goals, &Root::default(), &is_file).with_scripts(&Tree {
        is_file: &is_file,
        files_in: &files_in,
        folders_in: &folders_in,
        read: &read,
        is_program: &|name| ["grep", "make", "python3", "timeout"].contains(&name),
        run_by: &|used| {
            let text = read(&used.file).unwrap_or_default();
            check::interpreter(&text)
                .map(str::to_owned)
                .into_iter()
                .collect()
        },
    })
}

#[test]
fn what_runs_a_frozen_script_is_frozen_and_what_runs_another_one_is_named() {
    let files = [
        ("a.sh", "#!bin/outer"),
        ("bin/outer", "#!bin/inner -x"),
        ("bin/inner", ""),
        ("lib/b", "#!bin/other"),
        ("bin/other", ""),
        ("c.sh", "#!/bin/sh\n. lib/b"),
    ];
    let yardstick = of_files("./a.sh && ./c.sh", &files);
    assert_eq!(yardstick.frozen, ["a.sh", "bin/inner", "bin/outer", "c.sh"]);
    assert_eq!(yardstick.leaned_on, ["bin/other", "lib/b"]);
}

#[test]
fn scripts_that_are_run_by_a_pattern_are_frozen_and_new_ones_are_named() {
    let files = [
        ("t/a.sh", ". t/lib"),
        ("t/b.sh", ""),
        ("t/lib", ""),
        ("t/c.txt", ""),
    ];
    let check = "for f in t/*.sh; do sh $f || exit 1; done";
    let yardstick = of_files(check, &files);
    assert_eq!(yardstick.frozen, ["t/a.sh", "t/b.sh"]);
    assert_eq!(yardstick.leaned_on, ["t/lib"]);
    let named = |path: &str| yardstick.is_leaned_on(path, &|_| false);
    assert!(named("t/new.sh") && named("t/lib"));
    assert!(!named("t/c.txt") && !named("t/deep/new.sh") && !named("t/a.sh"));
}

#[test]
fn what_a_check_or_its_script_hands_on_is_named_and_proposed_where_it_is_there() {
    let files = [
        ("run.sh", "ls cases/*.sh | xargs -n1 sh"),
        ("cases/a.sh", ""),
        ("t/g.sh", ""),
        ("mk/a.mk", "check:\n\tsh deep.sh\n"),
        ("deep.sh", ""),
        ("Makefile", "include mk/*.mk\n"),
        ("src/main.rs", ""),
        ("index.js", ""),
        ("m.js", ""),
        ("package.json", "{\"main\": \"m\"}"),
    ];
    for (check, proposed, also_named) in [
        (
            "find t -name g.sh -exec sh {} +",
            "t/**/g.sh",
            "t/deep/g.sh",
        ),
        ("find none -name g.sh -exec sh {} +", "", "none/g.sh"),
        ("sh run.sh", "cases/*.sh", "cases/b.sh"),
        ("make check", "Makefile deep.sh mk/*.mk", "mk/b.mk"),
        ("node .", "m.js package.json", "m.js"),
        ("ruff check src/ && wc -l src/*.rs", "", "pyproject.toml"),
    ] {
        let yardstick = of_files(check, &files);
        assert_eq!(yardstick.leaned_on.join(" "), proposed, "{check}");
        assert!(yardstick.is_leaned_on(also_named, &|_| false), "{check}");
        assert!(!yardstick.is_leaned_on("src/main.rs", &|_| true), "{check}");
    }
}

#[test]
fn tests_that_a_runner_finds_are_proposed_where_they_are_and_new_ones_are_not_named() {
    let files = [
        ("run.sh", "cd web && npm test\n"),
        ("web/package.json", "{\"scripts\": {\"test\": \"jest\"}}"),
        ("web/src/x.test.js", ""),
        ("tests/a/test_a.py", ""),
        ("tests/__init__.py", ""),
        ("tests/a/x.json", ""),
        ("calc.py", ""),
        ("node_modules/x/x.test.js", ""),
    ];
    let yardstick = of_files("sh run.sh", &files);
    let proposed = "web/**/*[._-]{test,spec}.{js,cjs,mjs,jsx,ts,cts,mts,tsx} web/package.json";
    assert_eq!(yardstick.leaned_on.join(" "), proposed);
    assert!(yardstick.is_leaned_on("web/src/x.test.js", &|_| true));
    assert!(!yardstick.is_leaned_on("web/src/y.test.js", &|_| false));
    assert!(!yardstick.is_leaned_on("tests/a/test_a.py", &|_| true));

    let yardstick = of_files("pytest -q", &files);
    assert_eq!(yardstick.leaned_on, ["**/tests/**"]);
    for (path, was_there, is_named) in [
        ("tests/a/test_a.py", true, true),
        ("tests/a/x.json", true, true),
        ("tests/a/calc.py", false, true),
        ("tests/calc/__init__.py", false, true),
        ("tests/a/test_b.py", false, false),
        ("tests/b/y.json", false, false),
        ("calc.py", true, false),
        ("other.py", false, false),
    ] {
        let found = yardstick.is_leaned_on(path, &|_| was_there);
        assert_eq!(found, is_named, "{path}");
    }
}

#[test]
fn goals_may_be_added_and_made_stricter_and_told_otherwise() {
    let number = |keys: &str| goal(&format!("continuous: {{{keys}}}"));
    let at_least = |number_: &str| {
        number(&format!(
            "metric: m, threshold: {number_}, direction: at-least, tolerance: 1"
        ))
    };
    let at_most = |number_: &str| {
        number(&format!(
            "metric: m, threshold: {number_}, direction: at-most, tolerance: 1"
        ))
    };
    let plain = goal("");
    for (loaded, edited) in [
        (plain.clone(), goal("weight: 9")),
        (plain.clone(), goal("pillar: other, tags: [x]")),
        (at_least("80"), at_least("80")),
        (at_least("80"), at_least("81")),
        (at_most("80"), at_most("79")),
        (
            at_least("80"),
            number("metric: m, threshold: 80, direction: at-least, tolerance: 0"),
        ),
        (number("metric: m"), number("metric: m")),
    ] {
        assert_eq!(moved(&loaded, &edited), "");
    }
    let more = goals(
        "goals:\n  - {id: a, description: d, check: 'true', weight: 5}\n  \
         - {id: b, description: d, check: 'true', weight: 5}\n  \
         - {id: c, description: d, check: 'true', weight: 5}\n",
    );
    let edit = compare_goals(&plain, &more);
    assert_eq!((edit.moved, edit.added), (vec![], 2));
    assert_eq!(
        edit.told,
        ["goal b is new, weight 5", "goal c is new, weight 5"]
    );
    let told = |loaded: &Goals, edited: &Goals| compare_goals(loaded, edited).told.join("; ");
    for (loaded, edited, expected) in [
        (plain.clone(), plain.clone(), ""),
        (plain.clone(), goal("weight: 9"), "goal a: weight 5 → 9"),
        (
            at_least("80"),
            at_least("80.5"),
            "goal a: threshold 80 → 80.5",
        ),
        (at_most("80"), at_most("79"), "goal a: threshold 80 → 79"),
    ] {
        assert_eq!(told(&loaded, &edited), expected);
    }
    assert_eq!(compare_goals(&more, &more).added, 0);
    assert_eq!(moved(&more, &plain), "goal b is gone; goal c is gone");
}

#[test]
fn another_mission_moves_the_goalposts() {
    let goal = "goals:\n  - {id: a, description: d, check: 'true', weight: 5}\n";
    let with = |mission: &str| goals(&format!("mission: {mission}\n{goal}"));
    assert_eq!(moved(&with("one"), &with("two")), "the mission changed");
    assert_eq!(moved(&goals(goal), &with("two")), "the mission changed");
    assert_eq!(moved(&with("one"), &with("one")), "");
}

#[test]
fn each_way_to_loosen_a_goal_is_named() {
    let number = |keys: &str| goal(&format!("continuous: {{metric: m, {keys}}}"));
    let at_least = number("threshold: 80, direction: at-least, tolerance: 1");
    let judged = "goal a: the way its value is judged changed";
    let measured = "goal a: the way it is measured changed";
    let loosened = "goal a: threshold loosened";
    let block =
        goals("evolve: {jobs: 2}\ngoals:\n  - {id: a, description: d, check: 'true', weight: 5}\n");
    for (loaded, edited, what) in [
        (goal(""), goal("check: 'false'"), "goal a: check changed"),
        (goal(""), goal("weight: 4"), "goal a: weight lowered"),
        (goal(""), goal("alone: true"), measured),
        (goal(""), goal("type: quality"), measured),
        (goal(""), goal("timeout: 1s"), measured),
        (goal(""), goal("retries: 9"), measured),
        (goal(""), block, "the `evolve:` block changed"),
        (
            at_least.clone(),
            number("threshold: 79, direction: at-least, tolerance: 1"),
            loosened,
        ),
        (
            number("threshold: 80, direction: at-most"),
            number("threshold: 81, direction: at-most"),
            loosened,
        ),
        (
            // Without a direction no threshold is stricter than another.
            number("threshold: 80"),
            number("threshold: 81"),
            loosened,
        ),
        (number("threshold: 80"), number(""), loosened),
        (number(""), number("threshold: 80"), loosened),
        (
            at_least.clone(),
            number("threshold: 80, direction: at-least, tolerance: 2"),
            judged,
        ),
        (
            at_least.clone(),
            number("threshold: 80, direction: at-least, tolerance: 1, read: {regex: '(x)'}"),
            judged,
        ),
        (
            at_least.clone(),
            number("threshold: 80, direction: at-most, tolerance: 1"),
            judged,
        ),
        (at_least.clone(), goal(""), judged),
        (goal(""), at_least, judged),
    ] {
        assert_eq!(moved(&loaded, &edited), what);
    }
}

#[test]
fn a_program_found_elsewhere_was_put_in_front_and_a_missing_or_new_one_was_not() {
    let places = |list: &[(&str, &str)]| -> BTreeMap<String, String> {
        let owned = |(program, place): &(&str, &str)| ((*program).to_owned(), (*place).to_owned());
        list.iter().map(owned).collect()
    };
    let before = places(&[
        ("cargo", "/usr/bin/cargo"),
        ("make", "/usr/bin/make"),
        ("sh", "/bin/sh"),
    ]);
    let now = places(&[
        ("cargo", "/tmp/cargo"),
        ("node", "/usr/bin/node"),
        ("sh", "/bin/sh"),
    ]);
    let found = put_in_front(&before, &now);
    let said: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["cargo is /tmp/cargo now and was /usr/bin/cargo"]);
}

#[test]
fn a_module_that_was_there_before_is_not_taken_for_a_new_one() {
    let [old, new] = ["json.py", "re.py"].map(str::to_owned);
    let said = taken_for_own(std::slice::from_ref(&old), &[old.clone(), new]);
    assert_eq!(
        said,
        ["re.py would be taken in place of Python's own module or the tool of that name"]
    );
}

#[test]
fn what_checks_build_is_let_go_unless_it_is_protected() {
    let goals = goals(
        "evolve: {protect: ['bin/kept']}\ngoals:\n  \
         - {id: a, description: d, check: sh check.sh && bin/tool && bin/kept, weight: 5}\n",
    );
    let mut yardstick = Yardstick::of(&goals, &Root::default(), &|_| true);
    let built = yardstick.let_go(&|path| path.starts_with("bin/"));
    assert_eq!(built, ["bin/tool"]);
    assert!(yardstick.is_frozen("bin/kept") && yardstick.is_frozen("check.sh"));
    assert!(!yardstick.is_frozen("bin/tool"));
}

#[test]
fn settings_and_tests_steer_what_checks_run_and_what_they_import_or_read_does_not() {
    let files = [
        ("run.py", "import algo"),
        ("algo.py", ""),
        ("data", ""),
        ("Makefile", "ok:\n\tsh s.sh\n"),
        ("s.sh", ""),
        ("tests/test_a.py", ""),
    ];
    let check = "python3 run.py <data && make -s ok && pytest -q && sh later.sh";
    let yardstick = of_files(check, &files);
    let was_there = |path: &str| files.iter().any(|(file, _)| *file == path);
    for (path, expected) in [
        ("run.py", false),
        ("algo.py", false),
        ("data", false),
        ("Makefile", true),
        ("GNUmakefile", true),
        ("later.sh", true),
        ("pytest.ini", true),
        ("tests/test_a.py", true),
        ("tests/test_b.py", false),
        ("other", false),
    ] {
        assert_eq!(yardstick.is_steering(path, &was_there), expected, "{path}");
    }
}

#[test]
fn a_package_is_taken_in_place_of_a_module_that_is_imported_and_of_no_script() {
    let files = [("b/run.py", "import help\n"), ("b/help.py", "")];
    let yardstick = of_files("python3 b/run.py", &files);
    assert!(yardstick.followed.contains(&"b/help.py".to_owned()));
    let there = |path: &str| path.starts_with("b/") && path.ends_with("/__init__.py");
    let taken = yardstick.taken_instead(&there);
    let taken: Vec<String> = taken.iter().map(ToString::to_string).collect();
    let said = "b/help/__init__.py would be taken in place of b/help.py";
    assert_eq!(taken, [said]);
    let followed: Vec<String> = yardstick
        .in_front_of_followed()
        .into_iter()
        .map(|one| one.path)
        .collect();
    assert!(
        followed.contains(&"b/help/__init__.py".to_owned()),
        "{followed:?}"
    );
    assert!(
        !followed.contains(&"b/run/__init__.py".to_owned()),
        "{followed:?}"
    );
}

#[test]
fn a_new_file_comes_in_front_of_what_checks_run_by_its_name() {
    let files = [
        ("b/run.py", "import json"),
        ("t/a.sh", ""),
        ("Makefile", "ok:\n\ttrue\n"),
        ("m.py", ""),
    ];
    let check = "python3 b/run.py && python3 -m m; for f in t/*.sh; do . $f; done; make -s ok";
    let yardstick = of_files(check, &files);
    for (path, expected) in [
        ("b/json.py", true),
        ("b/json/__init__.py", true),
        ("json/__init__.pyc", true),
        ("b/json/other.py", false),
        ("c/json.py", false),
        ("b/jsons.py", false),
        ("m/__init__.py", true),
        ("t/0.sh", true),
        ("t/0.py", false),
        ("ok", true),
        ("ok/any", true),
        ("okay", false),
    ] {
        assert_eq!(yardstick.is_in_front(path), expected, "{path}");
    }
}

#[test]
fn what_a_tool_would_take_in_place_of_a_file_is_told_those_of_frozen_ones_first() {
    let files = [("Makefile", "ok:\n\ttrue\n"), ("rules.mk", "")];
    let yardstick = of_files("make -s ok", &files);
    let said = |new: &[&str]| -> Vec<String> {
        let taken = yardstick.taken_instead(&|path| new.contains(&path));
        taken.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        said(&["GNUmakefile"]),
        ["GNUmakefile would be taken in place of Makefile"]
    );
    assert!(said(&["Makefile.old"]).is_empty());
}

#[test]
fn what_would_be_taken_before_a_frozen_script_is_refused_and_what_would_be_run_beside_it_is_named()
{
    let files = [
        ("chk.py", ""),
        ("c.sh", "python3 -m lib.chk; . ./env"),
        ("lib/chk.py", ""),
    ];
    let yardstick = of_files("python3 -m chk && sh c.sh && sh later.sh", &files);
    for (path, taken, is_named) in [
        ("chk/__init__.py", Some("chk.py"), false),
        ("chk/__main__.py", None, true),
        // Before what a script runs, which is not frozen.
        ("lib/__init__.py", Some("lib/chk.py"), true),
        ("env", None, true),
        ("later.sh", None, true),
        ("other/__init__.py", None, false),
    ] {
        let found = yardstick.taken_instead(&|it| it == path);
        let of = found.first().map(|one| one.of.as_str());
        assert_eq!(of, taken, "{path}");
        let is_refused = found.iter().any(|one| yardstick.is_refused(one));
        assert_eq!(is_refused, taken == Some("chk.py"), "{path}");
        assert_eq!(yardstick.is_leaned_on(path, &|_| false), is_named, "{path}");
    }
}

#[test]
fn what_an_interpreter_would_load_before_a_module_is_refused_where_that_is_frozen_else_named() {
    let files = [
        ("t/run.py", "import m, n"),
        ("t/m.py", ""),
        ("t/n.py", ""),
        ("t/n.so", ""),
        ("t/run.pl", "use lib 't'; require './t/M.pm';"),
        ("t/M.pm", ""),
        ("t/run.js", "require('./m'); require('./d.js')"),
        ("t/m.js", ""),
        ("t/d.js", ""),
    ];
    let compiled = check::loaded_before("t/m.py", &|_| false);
    let is_tagged = |path: &&String| path.starts_with("t/m.cpython-311-");
    let tagged = compiled.iter().find(is_tagged).unwrap();
    for protected in [false, true] {
        let settings = match protected {
            true => "{protect: [t/*.py, t/*.pm, t/*.js]}",
            false => "{}",
        };
        let check = "python3 t/run.py && perl t/run.pl && node t/run.js";
        let yardstick = of_files_with(settings, check, &files);
        for (path, of) in [
            ("t/m.so", Some("t/m.py")),
            ("t/m.abi3.so", Some("t/m.py")),
            (tagged, Some("t/m.py")),
            ("t/m.cpython-311.pyc", None),
            ("t/M.pmc", Some("t/M.pm")),
            ("t/m", Some("t/m.js")),
            ("t/d", None),
            // It was there.
            ("t/n.so", None),
        ] {
            let taken = yardstick.taken_instead(&|it| it == path);
            let found: Vec<&str> = taken.iter().map(|one| one.of.as_str()).collect();
            assert_eq!(found, Vec::from_iter(of), "{path}");
            let is_refused = taken.iter().any(|one| yardstick.is_refused(one));
            assert_eq!(is_refused, protected && of.is_some(), "{path}");
        }
    }
}

#[test]
fn a_new_file_of_a_pattern_is_frozen_where_it_could_take_the_others_out_of_the_way() {
    let files = [("t/a.sh", ""), ("t/b.sh", ""), ("r.sh", ". t/*.sh")];
    for (check, is_frozen) in [
        ("for f in t/*.sh; do . $f; done", true),
        ("for f in t/*.sh; do source \"./$f\"; done", true),
        ("for f in t/*; do . ./$f || exit 1; done", true),
        ("(for f in t/*.sh; do . ./$f; done)", true),
        ("for f in t/*.sh; do eval \"$(cat $f)\"; done", true),
        ("set -- t/*.sh; for f; do . ./$f; done", true),
        ("cd t; for f in *.sh; do . ./$f; done", true),
        ("for d in */; do cd $d; . ./n.sh; cd ..; done", true),
        (". t/*.sh", true),
        ("sh t/*.sh", true),
        ("T=t/*.sh; sh -e $T", true),
        ("./t/*.sh", true),
        ("python3 t/n*", true),
        ("cat t/*.sh | sh", true),
        ("cat t/*.sh | tr -d x | bash -e", true),
        ("sh -c \"$(cat t/*.sh)\"", true),
        ("ls t/*.sh | xargs sh", true),
        ("ls t/*.sh | xargs cat | sh", true),
        ("for f in t/*.sh; do sh $f || exit 1; done", false),
        ("for f in t/*.sh; do ./$f || exit 1; done", false),
        ("for f in $PWD/t/*.sh; do bash \"$f\"; done", false),
        ("for f in t/*.sh; do ( . ./$f ) || exit 1; done", false),
        ("for f in t/*.sh; do sh -c \". $f\"; done", false),
        ("for f in t/*.sh; do cat $f | sh; done", false),
        ("for f in t/*.sh; do sh < $f; done", false),
        ("for f in t/{n,a}*.sh; do sh $f; done", false),
        ("set -e; set -- t/*.sh; for f; do sh $f; done", false),
        ("for d in */; do (cd $d && . ./n.sh); done", false),
        ("for d in */; do (cd $d && sh n.sh); done", false),
        ("ls t/*.sh | xargs -n1 sh", false),
        ("ls t/*.sh | xargs -rn1 sh", false),
        ("ls t | xargs -I{} sh t/{}", false),
        ("ls t/*.sh | parallel sh", false),
        ("find t/*.sh -exec sh {} +", false),
        ("node --test t/*.sh", false),
        ("go run t/*.sh", false),
        ("sh -n t/*.sh", false),
        ("cat t/*.sh | grep x", false),
        ("sh r.sh t/*.sh", false),
        ("sh r.sh", false),
    ] {
        let yardstick = of_files(check, &files);
        assert_eq!(yardstick.is_frozen("t/n.sh"), is_frozen, "{check}");
        assert!(!yardstick.is_frozen("t/.n.sh"), "{check}");
        assert!(!yardstick.is_frozen("u.sh"), "{check}");
    }
}

#[test]
fn what_stands_in_a_file_that_says_what_is_run_is_frozen_or_named() {
    let files = [
        ("ci/x.sh", ""),
        ("ci/y.sh", ""),
        ("ci/list", "ci/x.sh\nci/none.sh\n"),
        ("ci/env", "T=\"ci/x.sh\"\nexport U=./y.sh; V=/bin/sh\n"),
    ];
    for (check, frozen, proposed) in [
        ("sh $(cat ci/list)", "ci/list ci/x.sh", ""),
        ("sh -e ./$(< ci/list)", "ci/list ci/x.sh", ""),
        ("T=$(cat ci/list); sh \"$T\" x", "ci/list ci/x.sh", ""),
        ("python3 `cat ci/list`", "ci/list ci/x.sh", ""),
        ("$(cat ci/list)", "ci/list ci/x.sh", ""),
        (". $(cat ci/list)", "ci/list ci/x.sh", ""),
        (
            "for t in $(cat ci/list); do sh $t || exit 1; done",
            "ci/list ci/x.sh",
            "",
        ),
        (
            "for t in $(cat ci/list) ci/y.sh; do sh $t || exit 1; done",
            "ci/list ci/x.sh ci/y.sh",
            "",
        ),
        ("sh ci/y.sh $(cat ci/list)", "ci/y.sh", "ci/list"),
        ("grep x $(cat ci/list)", "", ""),
        ("sh -n $(cat ci/list)", "", "ci/list"),
        (". ci/env; sh $T", "ci/env", "ci/x.sh ci/y.sh"),
        ("source ./ci/env && \"./$T\"", "ci/env", "ci/x.sh ci/y.sh"),
        (". ci/env; grep x $T", "ci/env", ""),
        (
            "while read -r t; do sh $t; done < ci/list",
            "",
            "ci/list ci/x.sh",
        ),
        (
            "grep -v z ci/list | while read t; do sh $t; done",
            "",
            "ci/list ci/x.sh",
        ),
    ] {
        let yardstick = of_files(check, &files);
        assert_eq!(yardstick.frozen.join(" "), frozen, "{check}");
        assert_eq!(yardstick.leaned_on.join(" "), proposed, "{check}");
    }
}

#[test]
fn a_new_program_in_a_folder_of_path_is_refused_where_one_of_its_name_is_found_elsewhere() {
    let files = [
        ("bin/tool", ""),
        ("run.sh", "grep x y"),
        ("Makefile", "ok:\n\tgrep x y\n"),
        ("x.py", "#!/usr/bin/env python3\n"),
        ("y.py", "#!/usr/bin/env tool\n"),
    ];
    for (check, new, is_refused) in [
        ("PATH=$PWD/bin:$PATH; grep x y", "bin/grep", true),
        ("PATH=\"${PWD}/bin:$PATH\"; grep x y", "bin/grep", true),
        ("PATH=`pwd`/bin:$PATH; grep x y", "bin/grep", true),
        ("PATH=./bin:$PATH; python3 -c 1", "bin/python3", true),
        (
            "export PATH=\"$(pwd)/bin:$PATH\"; grep x y",
            "bin/grep",
            true,
        ),
        ("PATH=\"$(pwd)/bin:$PATH\" grep x y", "bin/grep", true),
        ("env PATH=\"$PWD/bin:$PATH\" grep x y", "bin/grep", true),
        ("PATH+=:bin; grep x y", "bin/grep", true),
        ("PATH=bin:$PATH; timeout 5 true", "bin/timeout", true),
        ("PATH=.:$PATH; cd sub; grep x y", "grep", true),
        ("PATH=bin:$PATH; ./run.sh", "bin/grep", true),
        ("PATH=bin:$PATH; sh run.sh", "bin/grep", true),
        ("PATH=bin:$PATH; make ok", "bin/grep", true),
        ("PATH=bin:$PATH; ./x.py", "bin/python3", true),
        ("PATH=first:bin; ./y.py", "first/tool", true),
        ("PATH=first:bin; tool", "first/tool", true),
        ("PATH=bin:$PATH; other", "bin/other", false),
        ("PATH=bin:$PATH; tool", "bin/grep", false),
        ("PATH=bin:$PATH grep x y; make", "bin/make", false),
        ("grep x y", "bin/grep", false),
    ] {
        let yardstick = of_files(check, &files);
        let taken = yardstick.taken_instead(&|path| path == new);
        let refused = taken.iter().filter(|one| yardstick.is_refused(one));
        assert_eq!(refused.count() == 1, is_refused, "{check}");
    }
    let yardstick = of_files("PATH=bin:$PATH; ./y.py", &files);
    assert_eq!(yardstick.frozen, ["bin/tool", "y.py"]);
}

#[test]
fn what_a_script_imports_or_is_steered_by_is_leaned_on_though_it_is_not_there_yet() {
    let files = [
        ("t/a.py", "import helper\n"),
        ("run.sh", "npm test\n"),
        ("package.json", "{}"),
        (
            "t/c.py",
            "subprocess.run(['sh', 't/called.sh'], check=True)\n",
        ),
        ("t/called.sh", ""),
    ];
    let yardstick = of_files("python3 t/a.py && sh run.sh && python3 t/c.py", &files);
    let named = |path: &str| yardstick.is_leaned_on(path, &|_| false);
    assert!(named("t/helper.py"), "imported");
    assert!(named(".npmrc"), "steering");
    assert!(named("t/called.sh"), "run by a call");
    assert!(!named("t/other.py") && !named("t/a.py"));
}

#[test]
fn a_file_whose_name_reads_as_a_pattern_is_that_file() {
    let files = [("t/[a].sh", ""), ("t/a.sh", "")];
    let yardstick = of_files("for f in t/[a].sh; do sh $f; done", &files);
    assert_eq!(yardstick.frozen, ["t/[a].sh"]);
}

#[test]
fn so_many_scripts_are_looked_into_and_no_more() {
    let names: Vec<String> = (0..=MOST_SCRIPTS)
        .map(|number| format!("s/{number}.sh"))
        .collect();
    let texts: Vec<String> = (1..=MOST_SCRIPTS + 1)
        .map(|next| format!(". s/{next}.sh\n"))
        .collect();
    let named = names.iter().zip(&texts);
    let files: Vec<_> = named
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let yardstick = of_files("sh s/0.sh", &files);
    let all = yardstick.frozen.len() + yardstick.leaned_on.len();
    assert_eq!(all, MOST_SCRIPTS);
}

#[test]
fn what_folders_of_a_pattern_a_list_or_a_path_hold_is_followed_into_scripts() {
    let files = [
        ("pkg/run.sh", ". ./lib.sh"),
        ("pkg/lib.sh", ""),
        ("pkg/package.json", "{\"scripts\": {\"test\": \"sh t.sh\"}}"),
        ("pkg/t.sh", ""),
        (".git/run.sh", ""),
        ("list.txt", "a.sh\nb.sh\n"),
        ("LIST", "a.sh\n"),
        ("deno.json", "{\"tasks\": {\"x\": \"sh b.sh\"}}"),
        ("a.sh", ""),
        ("b.sh", ""),
        ("tools/mine", "helper"),
        ("tools/helper", ""),
        ("src/main.rs", ""),
    ];
    for (check, frozen, named) in [
        (
            "for d in */; do (cd \"$d\" && ./run.sh) || exit 1; done",
            "pkg/run.sh",
            "pkg/lib.sh",
        ),
        (
            "for d in */; do (cd $d && npm test); done",
            "",
            "pkg/package.json pkg/t.sh",
        ),
        ("npm --prefix pkg test", "", "pkg/package.json pkg/t.sh"),
        ("xargs -a list.txt -n1 sh", "a.sh b.sh list.txt", ""),
        ("xargs -n1 sh <LIST", "LIST a.sh", ""),
        ("cat list.txt | xargs -n1 sh", "list.txt", "a.sh b.sh"),
        ("xargs -a LIST -n1 sh pkg/lib.sh", "pkg/lib.sh", ""),
        ("pnpm -r run test", "", "pkg/package.json pkg/t.sh"),
        ("deno task x", "", "b.sh deno.json"),
        ("PATH=$PWD/tools:$PATH mine", "tools/mine", "tools/helper"),
    ] {
        let yardstick = of_files(check, &files);
        assert_eq!(yardstick.frozen.join(" "), frozen, "{check}");
        assert_eq!(yardstick.leaned_on.join(" "), named, "{check}");
    }
}
