//! What runs in a copy finds the copy's code, where the user's environment leads to the checkout's.

use std::fs;
use std::os::unix::fs::symlink;

use crate::harness::{Run, TestRepo, output, write_program};

/// What an environment has of a project that was installed to be edited: a file among its packages.
#[derive(Clone, Copy)]
enum Installed {
    Line,
    Finder,
    /// Through a finder that is asked before PYTHONPATH.
    Before,
    /// By links among the packages, as `flit install -s` makes them.
    Links,
    /// As `setup.py develop` does it: what tells of the distribution lies in the checkout.
    Egg,
}

/// A project of Python's with a value that is wrong, and one that is right; PATH leads to an environment in which it is installed.
fn with_environment(setting: &str, installed: Installed) -> TestRepo {
    let mut repo = TestRepo::empty().with_out();
    let goal = |id: &str, weight: u8, value: &str| {
        format!(
            "  - {{id: {id}, description: d, check: \"python3 -c 'import calc; assert calc.{id} == {value}'\", weight: {weight}}}\n"
        )
    };
    let goals = goal("total", 5, "2") + &goal("mean", 3, "1");
    let goals = format!("version: 1\nevolve: {{{setting}}}\ngoals:\n{goals}");
    repo.write("GOALS.yaml", &goals);
    repo.write(".gitignore", ".venv\n__pycache__\n*.egg-info\n");
    repo.write("src/calc/__init__.py", "total = 1\nmean = 1\n");
    repo.commit_all("first");
    output(
        repo.command("python3")
            .args(["-m", "venv", "--without-pip", ".venv"]),
    );
    let site = packages_of(&repo);
    let put = |name: &str, text: &str| {
        let text = text.replace("ROOT", &repo.root().to_string_lossy());
        fs::write(format!("{site}/{name}"), text).unwrap();
    };
    let finder = |place: &str| {
        format!(
            "import sys\nfrom pathlib import Path\nfrom importlib.machinery import PathFinder\nfrom importlib.util import spec_from_file_location\nMAPPING: dict[str, str] = {{'calc': 'ROOT/src/calc'}}\n\
             class It:\n    @classmethod\n    def find_spec(cls, name, path=None, target=None):\n        \
             above, _, last = name.rpartition('.')\n        if above in MAPPING:\n            \
             return PathFinder.find_spec(name, path=[MAPPING[above]])\n        \
             if name in MAPPING and Path(MAPPING[name], '__init__.py').exists():\n            \
             return spec_from_file_location(name, MAPPING[name] + '/__init__.py')\n\n\
             def install():\n    sys.meta_path.{place}\n"
        )
    };
    match installed {
        Installed::Line => put("__editable__.calc-1.pth", "ROOT/src\n"),
        Installed::Finder => {
            put("__editable___calc_1_finder.py", &finder("append(It)"));
            put(
                "__editable__.calc-1.pth",
                "import __editable___calc_1_finder; __editable___calc_1_finder.install()\n",
            );
        }
        Installed::Egg => {
            put("easy-install.pth", "ROOT/src\n");
            put("calc.egg-link", "ROOT/src\n.\n");
            repo.write("src/calc.egg-info/PKG-INFO", "Name: calc\nVersion: 3\n");
        }
        Installed::Links => {
            for module in ["calc", "old.py", "part"] {
                let link = format!("{site}/{module}");
                symlink(repo.path(&format!("src/{module}")), link).unwrap();
            }
        }
        Installed::Before => {
            put("_calc_editable.py", &finder("insert(0, It)"));
            put(
                "calc.pth",
                "import _calc_editable; _calc_editable.install()\n",
            );
        }
    }
    if !matches!(installed, Installed::Egg) {
        fs::create_dir(format!("{site}/calc-1.dist-info")).unwrap();
        put(
            "calc-1.dist-info/direct_url.json",
            r#"{"dir_info": {"editable": true}, "url": "file://ROOT"}"#,
        );
    }
    let path = std::env::var("PATH").unwrap();
    let bin = repo.path(".venv/bin");
    // It tells by the second whether what it compiled is of the same source, and cycles follow faster.
    repo.env
        .push(("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()));
    repo.env
        .push(("PATH".to_owned(), format!("{}:{path}", bin.display())));
    repo
}

/// Returns the folder of what is installed in the project's environment.
fn packages_of(repo: &TestRepo) -> String {
    let asked = output(
        repo.command(repo.path(".venv/bin/python3"))
            .args(["-c", "import site; print(site.getsitepackages()[0])"]),
    );
    String::from_utf8(asked.stdout).unwrap().trim().to_owned()
}

/// Runs a cycle, after which every goal has to pass.
#[track_caller]
fn check_all_pass(repo: &TestRepo) {
    let said = all_of(repo.run(&["--max-cycles=1"]).expect(0));
    let newest = repo.newest();
    assert_eq!(
        newest["goals_passing"], newest["goals_total"],
        "{said}\n{newest}"
    );
}

fn all_of(run: Run) -> String {
    run.stdout + &run.stderr
}

#[test]
fn goals_in_a_copy_are_of_its_own_code_where_the_environment_has_the_checkouts() {
    for installed in [Installed::Line, Installed::Finder] {
        for setting in ["isolate: true", "measure: clean"] {
            let repo = with_environment(setting, installed);
            repo.agent_does(&[
                "printf 'total = 2\\nmean = -1\\n' >src/calc/__init__.py",
                "printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py; python3 -c 'import calc; print(calc.total)' >\"$OUT/seen\"",
            ]);
            let said = all_of(repo.run(&["--max-cycles=2"]).expect(0));
            assert_eq!(repo.each("result"), ["regressed", "improved"], "{said}");
            assert_eq!(repo.said("seen"), "2\n", "the agent's own look");
            assert!(
                said.contains("in a copy, PYTHONPATH leads to its src"),
                "{said}"
            );
            assert!(!said.contains("runs your checkout's code"), "{said}");
        }
    }
}

#[test]
fn an_environment_that_asks_before_pythonpath_is_named() {
    let repo = with_environment("isolate: true", Installed::Before);
    repo.agent_does(&["printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py"]);
    let said = repo.run(&["--max-cycles=1"]).expect(0).stderr;
    assert!(
        said.contains("total, mean: the program that PATH leads to runs your checkout's code"),
        "{said}"
    );
    assert!(said.contains("_calc_editable.py leads to "), "{said}");
}

#[test]
fn a_check_by_tox_that_runs_programs_of_the_environment_is_named() {
    for (install, is_named) in [("skip_install = true", true), ("deps = probe", false)] {
        let repo = with_environment("isolate: true", Installed::Line);
        let goals = repo.read("GOALS.yaml");
        repo.write(
            "GOALS.yaml",
            &(goals + "  - {id: by-tox, description: d, check: tox -q -e t, weight: 2}\n"),
        );
        repo.write(
            "tox.ini",
            &format!("[testenv:t]\n{install}\nallowlist_externals = *\ncommands = probe -q\n"),
        );
        repo.commit_all("tox");
        for program in ["tox", "probe"] {
            let program = repo.path(&format!(".venv/bin/{program}"));
            write_program(&program, "#!/bin/sh\nexit 1\n");
        }
        repo.agent_does(&["printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py"]);
        let said = repo.run(&["--max-cycles=1"]).expect(0).stderr;
        let named = "by-tox: the program that PATH leads to runs your checkout's code";
        assert_eq!(said.contains(named), is_named, "{install}: {said}");
    }
}

#[test]
fn a_check_that_says_otherwise_is_named() {
    let repo = with_environment("isolate: true", Installed::Line);
    let goals = repo.read("GOALS.yaml");
    repo.write(
        "GOALS.yaml",
        &goals.replacen("check: \"python3", "check: \"PYTHONPATH=. python3", 1),
    );
    repo.commit_all("otherwise");
    repo.agent_does(&["printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py"]);
    let said = repo.run(&["--max-cycles=1"]).expect(0).stderr;
    let named = "total: the program that PATH leads to runs your checkout's code";
    assert!(said.contains(named), "{said}");
}

#[test]
fn a_folder_with_what_would_come_before_pythons_own_leads_nobody() {
    let repo = with_environment("isolate: true", Installed::Line);
    repo.write("src/queue.py", "raise SystemExit(3)\n");
    repo.commit_all("a queue of its own");
    repo.agent_does(&["python3 -c 'import queue' && touch \"$OUT/whole\""]);
    let said = all_of(repo.run(&["--max-cycles=1"]).expect(0));
    assert!(repo.out("whole").exists(), "{said}");
    assert!(!said.contains("in a copy, PYTHONPATH"), "{said}");
    let named = "total, mean: the program that PATH leads to runs your checkout's code";
    assert!(said.contains(named), "{said}");
}

#[test]
fn a_folder_of_the_checkout_in_path_is_named_with_who_calls_what_is_there() {
    let mut repo = TestRepo::empty().with_out();
    repo.write("bin/probe", "#!/bin/sh\ntest -e a\n");
    crate::harness::write_program(&repo.path("bin/probe"), "#!/bin/sh\ntest -e a\n");
    repo.commit_goals("  - {id: a, description: d, check: probe, weight: 5}\n  - {id: b, description: d, check: \"true\", weight: 5}\n");
    let path = std::env::var("PATH").unwrap();
    let bin = repo.path("bin");
    repo.env
        .push(("PATH".to_owned(), format!("{}:{path}", bin.display())));
    repo.agent_does(&["touch a"]);
    let said = repo.run(&["--max-cycles=1", "--isolate"]).expect(0).stderr;
    let named = "a: the program that PATH leads to is your checkout's, and not the copy's";
    assert!(said.contains(named), "{said}");
}

#[test]
fn variables_that_lead_into_the_checkout_lead_into_the_copy() {
    for sandbox in [
        "mode: none",
        "mode: landlock, env: [NODE_PATH], checks: true",
        "mode: bwrap, env: [NODE_PATH], checks: true",
    ] {
        let mut repo = TestRepo::empty();
        let led = [
            "\"$PYTHONPATH\" = \"/opt/py:$PWD/lib\"",
            "\"$PERL5LIB\" = \"$PWD\"",
            "\"$NODE_PATH\" = /opt/node",
        ];
        let led = led.map(|one| format!("test {one}")).join(" && ");
        repo.write("lib/x", "x\n");
        repo.write("GOALS.yaml", &format!("version: 1\nevolve: {{isolate: true, sandbox: {{{sandbox}}}}}\ngoals:\n  - {{id: a, description: d, check: '{led} && test -e a', weight: 5}}\n"));
        repo.commit_all("first");
        let root = repo.root().display().to_string();
        for (name, value) in [
            ("PYTHONPATH", format!("/opt/py:{root}/lib")),
            ("PERL5LIB", root),
            ("NODE_PATH", "/opt/node".to_owned()),
        ] {
            repo.env.push((name.to_owned(), value));
        }
        repo.agent_does(&[&format!("{led} && touch a")]);
        let said = all_of(repo.run(&["--max-cycles=1"]).expect(0));
        assert_eq!(repo.each("result"), ["improved"], "{said}");
        let told = "in a copy, PYTHONPATH leads to its lib and PERL5LIB leads to its root";
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn what_comes_in_front_by_way_of_the_environment_moves_the_goalposts() {
    let repo = with_environment("isolate: true", Installed::Line);
    repo.agent_does(&[
        "printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py; echo 'x = 1' >src/json.py",
    ]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    let reason = repo.newest()["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("src/json.py"), "{reason}");
}

#[test]
fn a_search_scores_the_code_of_its_copies() {
    let repo = with_environment("measure: here", Installed::Finder);
    repo.attempts(&[
        "printf 'total = 7\\nmean = 1\\n' >src/calc/__init__.py",
        "printf 'total = 9\\nmean = -1\\n' >src/calc/__init__.py",
    ]);
    let agent = format!("--agent={}", repo.agent());
    let run = repo.evolve(&[
        "search",
        "python3 -c 'import calc; print(calc.total)'",
        "--gate=python3 -c 'import calc; assert calc.mean == 1'",
        "--files=src/**",
        "--max-attempts=2",
        "--yes",
        &agent,
    ]);
    let said = all_of(run.expect(0));
    assert_eq!(repo.endings(), ["accepted 7", "gate failed"], "{said}");
    assert!(
        said.contains("in a copy, PYTHONPATH leads to its src"),
        "{said}"
    );
}

/// The same project with more modules, a package without `__init__.py` among them, and goals that import what a change may take out.
fn with_modules(setting: &str, installed: Installed) -> TestRepo {
    let repo = with_environment(setting, installed);
    let goal = |id: &str, check: &str| {
        format!("  - {{id: {id}, description: d, check: \"python3 -c '{check}'\", weight: 3}}\n")
    };
    let goals = goal("old", "import old")
        + &goal("part", "import part.old, part.kept")
        + &goal("calc", "import calc")
        + &goal("deep", "import calc.deep");
    repo.write("GOALS.yaml", &(repo.read("GOALS.yaml") + &goals));
    repo.write("src/old.py", "where = 1\n");
    repo.write("src/calc/deep.py", "");
    repo.write("src/part/old.py", "");
    repo.write("src/part/kept.py", "");
    repo.commit_all("modules");
    repo
}

#[test]
fn a_module_that_a_change_takes_out_is_not_found_in_the_checkout() {
    for (setting, installed) in [
        ("isolate: true", Installed::Line),
        ("measure: clean", Installed::Finder),
        ("isolate: true", Installed::Links),
    ] {
        for taken_out in [
            "git mv src/old.py src/new.py",
            "git rm -q src/part/old.py",
            "git rm -q src/calc/deep.py",
            "mkdir lib; git mv src/calc lib/",
        ] {
            let repo = with_modules(setting, installed);
            let mended = "printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py";
            repo.agent_does(&[&format!("{mended}; {taken_out}"), mended]);
            let said = all_of(repo.run(&["--max-cycles=2"]).expect(0));
            assert_eq!(repo.each("result"), ["regressed", "improved"], "{said}");
        }
    }
}

#[test]
fn a_module_that_a_change_takes_out_for_an_installed_one_is_found_there() {
    let repo = with_modules("isolate: true", Installed::Line);
    let goals = repo.read("GOALS.yaml");
    let asked = "import old; assert old.where == 2";
    repo.write(
        "GOALS.yaml",
        &goals.replacen("'import old'", &format!("'{asked}'"), 1),
    );
    repo.commit_all("the installed one is wanted");
    let site = packages_of(&repo);
    fs::write(format!("{site}/old.py"), "where = 2\n").unwrap();
    repo.agent_does(&[
        "git rm -q src/old.py; printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py",
    ]);
    let said = all_of(repo.run(&["--max-cycles=1"]).expect(0));
    assert_eq!(repo.each("result"), ["improved"], "{said}");
}

#[test]
fn a_package_that_loses_its_init_is_the_copys_in_a_search() {
    let repo = with_modules("measure: here", Installed::Line);
    repo.write("src/calc/value.py", "value = 1\n");
    repo.write("src/old.py", "where = 1\n");
    repo.commit_all("a value");
    repo.attempts(&[
        "git rm -q src/calc/__init__.py; echo 'value = 7' >src/calc/value.py",
        "git rm -q src/old.py; echo 'value = 9' >src/calc/value.py",
    ]);
    let agent = format!("--agent={}", repo.agent());
    let run = repo.evolve(&[
        "search",
        "python3 -c 'import calc.value; print(calc.value.value)'",
        "--gate=python3 -c 'import old'",
        "--files=src/**",
        "--max-attempts=2",
        "--yes",
        &agent,
    ]);
    let said = all_of(run.expect(0));
    assert_eq!(repo.endings(), ["accepted 7", "gate failed"], "{said}");
}

#[test]
fn who_asks_whether_a_module_is_there_is_told_of_the_copys() {
    for installed in [Installed::Line, Installed::Finder] {
        let repo = with_modules("isolate: true", installed);
        let asked = "import importlib.util as it, pkgutil as all; assert it.find_spec(\\\"old\\\") is None; assert \\\"old\\\" not in [one.name for one in all.iter_modules()]";
        let goals = repo.read("GOALS.yaml");
        repo.write(
            "GOALS.yaml",
            &goals.replacen("'import old'", &format!("'{asked}'"), 1),
        );
        repo.commit_all("nobody finds the old one");
        let script = "git rm -q src/old.py; printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py";
        repo.agent_does(&[script]);
        check_all_pass(&repo);
    }
}

#[test]
fn what_is_installed_from_an_ignored_folder_of_the_checkout_stays_there() {
    let repo = with_environment("isolate: true", Installed::Finder);
    let site = packages_of(&repo);
    let finder = format!("{site}/__editable___calc_1_finder.py");
    // The project's package lies in its root, as the root is led to then.
    let text = fs::read_to_string(&finder).unwrap();
    let root = repo.root().to_string_lossy().into_owned();
    let dep = format!("/calc', 'dep': '{root}/vendor/dep/dep'");
    fs::write(&finder, text.replace("/src/calc'", &dep)).unwrap();
    repo.write("calc/__init__.py", "total = 1\nmean = 1\n");
    repo.write("vendor/dep/dep/__init__.py", "");
    repo.write(".gitignore", ".venv\n__pycache__\nvendor\n");
    let asked = "  - {id: dep, description: d, check: \"python3 -c 'import dep'\", weight: 3}\n";
    repo.write("GOALS.yaml", &(repo.read("GOALS.yaml") + asked));
    repo.commit_all("flat");
    repo.agent_does(&["printf 'total = 2\\nmean = 1\\n' >calc/__init__.py"]);
    check_all_pass(&repo);
}

#[test]
fn what_tells_of_a_distribution_is_found_and_leads_to_no_code_of_the_checkout() {
    let repo = with_environment("isolate: true", Installed::Egg);
    let link =
        "import site; at = open(site.getsitepackages()[0] + '/calc.egg-link').readline().strip()";
    // As `pkg_resources` does where it finds the link.
    let put_first = format!("import sys; {link}; sys.path.insert(0, at)");
    repo.write(
        "link.py",
        &format!("{put_first}; import calc; assert calc.total == 2\n"),
    );
    let version = "import importlib.metadata as it; assert it.version('calc') == '3'";
    repo.write("version.py", &format!("{version}\n"));
    let goal = |name: &str| {
        format!("  - {{id: {name}, description: d, check: \"python3 {name}.py\", weight: 2}}\n")
    };
    let goals = repo.read("GOALS.yaml") + &goal("link") + &goal("version");
    repo.write("GOALS.yaml", &goals);
    repo.commit_all("a version");
    repo.agent_does(&["printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py"]);
    check_all_pass(&repo);
}

#[test]
fn what_tells_of_a_distribution_that_the_environment_does_not_ask_tells_nobody() {
    let repo = with_environment("isolate: true", Installed::Finder);
    repo.write("src/left.egg-info/PKG-INFO", "Name: left\nVersion: 3\n");
    let asked = "import importlib.metadata as it; assert not [one for one in it.distributions() if one.metadata['Name'] == 'left']";
    repo.write("left.py", &format!("{asked}\n"));
    let goal = "  - {id: left, description: d, check: \"python3 left.py\", weight: 2}\n";
    repo.write("GOALS.yaml", &(repo.read("GOALS.yaml") + goal));
    repo.commit_all("a rest of an earlier name");
    repo.agent_does(&["printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py"]);
    check_all_pass(&repo);
}

#[test]
fn what_python_ran_at_its_start_before_is_run_in_a_copy_too() {
    let mut repo = with_environment("isolate: true", Installed::Line);
    repo.env.push((
        "PYTHONPATH".to_owned(),
        repo.out("own").display().to_string(),
    ));
    fs::create_dir(repo.out("own")).unwrap();
    fs::write(
        repo.out("own/sitecustomize.py"),
        "import sys\nsys.seen = __name__\n",
    )
    .unwrap();
    repo.agent_does(&["python3 -c 'import sys; print(sys.seen)' >\"$OUT/seen\""]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.said("seen"), "sitecustomize\n");
}

#[test]
fn what_leads_python_is_written_anew_whatever_an_agent_made_of_it() {
    for made in [
        "rm \"$F\"; mkfifo \"$F\"",
        "echo 'raise SystemExit(0)' >\"$F\"",
    ] {
        let repo = with_modules("isolate: true", Installed::Line);
        let mended = "printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py";
        let place = "F=$(python3 -c 'import sitecustomize as it; print(it.__file__)')";
        repo.agent_does(&[&format!("{mended}; git rm -q src/old.py; {place}; {made}")]);
        let said = all_of(repo.run(&["--max-cycles=1"]).expect(0));
        assert_eq!(repo.each("result"), ["regressed"], "{said}");
    }
}

#[test]
fn an_environment_that_a_check_makes_itself_finds_what_is_installed_in_it_alone() {
    for installed in [Installed::Line, Installed::Finder, Installed::Links] {
        let mut repo = with_environment("isolate: true", installed);
        let wheel = "env=$(mktemp -d)/env\npython3 -m venv --without-pip \"$env\"\nsite=$(\"$env/bin/python3\" -c 'import site; print(site.getsitepackages()[0])')\n\
            cp -r $(cat packages) \"$site\"\n\"$env/bin/python3\" -c 'import calc, other'\n";
        repo.write("smoke.sh", &format!("set -e\n{wheel}"));
        repo.write("packages", "src/calc src/other.py\n");
        repo.write("src/other.py", "");
        repo.write("packed/theirs.py", "");
        let theirs = "python3 -m venv --without-pip \\\"$TMPDIR/env\\\" && \\\"$TMPDIR/env/bin/python3\\\" -c 'import theirs'";
        repo.write(
            "GOALS.yaml",
            &format!(
                "version: 1\nevolve: {{isolate: true}}\ngoals:\n  \
                 - {{id: total, description: d, check: \"python3 -c 'import calc; assert calc.total == 2'\", weight: 5}}\n  \
                 - {{id: installs, description: d, check: sh smoke.sh, weight: 3}}\n  \
                 - {{id: theirs, description: d, check: \"{theirs}\", weight: 1}}\n"
            ),
        );
        repo.commit_all("with what is installed");
        let packed = repo.path("packed").to_string_lossy().into_owned();
        repo.env.push(("PYTHONPATH".to_owned(), packed));
        let right = "printf 'total = 2\\nmean = 1\\n' >src/calc/__init__.py";
        repo.agent_does(&[&format!("{right}; echo src/calc >packages"), right]);
        let said = all_of(repo.run(&["--max-cycles=2"]).expect(0));
        assert_eq!(repo.each("result"), ["regressed", "improved"], "{said}");
        assert!(repo.each("reason")[0].contains("installs"), "{said}");
        check_all_pass(&repo);
    }
}

#[test]
fn what_leads_python_is_code_of_no_file_to_those_who_measure_coverage() {
    let mut repo = with_environment("isolate: true", Installed::Finder);
    repo.write(
        "trace.py",
        "import sys\nseen = set()\nsys.settrace(lambda frame, *_: seen.add(frame.f_code.co_filename))\nimport calc\nsys.settrace(None)\n\
         named = [name for name in seen if 'sitecustomize' in name]\nassert '<evolve>' in seen and not named, seen\n",
    );
    repo.write(
        "GOALS.yaml",
        "version: 1\nevolve: {isolate: true}\ngoals:\n  - {id: traced, description: d, check: python3 trace.py, weight: 5}\n  - {id: c, description: d, check: test -e c, weight: 5}\n",
    );
    repo.commit_all("traced");
    repo.agent_does(&["touch c"]);
    repo.env
        .push(("PYTHONNOUSERSITE".to_owned(), "1".to_owned()));
    check_all_pass(&repo);
}
