//! What is found before what a check means: a program in an earlier folder of PATH, a module beside a script.

use std::fs;

use crate::harness::TestRepo;

#[test]
fn a_program_put_in_front_of_the_one_that_a_check_calls_is_not_believed() {
    for (what, place, is_gone) in [
        ("outside the repository", "../agent/early", false),
        ("inside the repository", "bin", true),
    ] {
        let mut repo = TestRepo::empty();
        let late = repo.outside().join("late");
        fs::create_dir_all(&late).unwrap();
        fs::create_dir_all(repo.outside().join("early")).unwrap();
        repo.write("bin/.keep", "");
        fs::write(late.join("judge"), "#!/bin/sh\ntest -e a\n").unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(late.join("judge"), executable).unwrap();
        let path = std::env::var("PATH").unwrap();
        let early = repo.outside().join("early");
        let path = format!("{}:bin:{}:{path}", early.display(), late.display());
        repo.env.push(("PATH".to_owned(), path));
        repo.commit_goals("  - {id: a, description: a, check: judge, weight: 5}\n");
        let start = repo.head();
        repo.agent_does(&[
            &format!("printf '#!/bin/sh\\n' >{place}/judge; chmod +x {place}/judge"),
            "true",
        ]);
        let run = repo.run(&["--max-cycles=2"]);
        let first = &repo.records()[0];
        assert_eq!(first["result"], "regressed", "{what}: {first:#}");
        let reason = first["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("goalposts moved: judge is "),
            "{what}: {reason}"
        );
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{what}");
        match is_gone {
            // Undone with all else; the next cycle measures with the right one.
            true => {
                assert_eq!(run.code, 0, "{what}: {}", run.stderr);
                assert_eq!(repo.each("result"), ["regressed", "unchanged"], "{what}");
            }
            // No undo reaches it: a person has to look.
            false => {
                assert_eq!(run.code, 11, "{what}: {}", run.stderr);
                assert!(
                    run.stdout.contains("were exchanged: judge is"),
                    "{what}: {}",
                    run.stdout
                );
                assert_eq!(repo.records().len(), 1, "{what}");
                // Nor is it believed the night after, by the checks' first measurement least of all.
                let again = repo.run(&["--max-cycles=1"]).expect(11);
                assert!(
                    again.stdout.contains("an agent put that there"),
                    "{what}: {}",
                    again.stdout
                );
                fs::remove_file(early.join("judge")).unwrap();
                repo.run(&["--max-cycles=1"]).expect(0);
                assert_eq!(repo.each("result"), ["regressed", "unchanged"], "{what}");
            }
        }
    }
}

/// A repository whose check runs a script of a package.json, and stand-ins for `npm` and `node` outside of it: what lies in
/// node_modules/.bin is taken first.
fn with_packages(check: &str, script: &str, ignored: &str) -> TestRepo {
    let mut repo = TestRepo::empty();
    let programs = repo.outside().join("programs");
    fs::create_dir_all(&programs).unwrap();
    let npm = "#!/bin/sh\nhere=$PWD; [ \"$1\" = --prefix ] && cd \"$2\"\n\
               export PATH=\"$PWD/node_modules/.bin:$here/node_modules/.bin:$PATH\"\n\
               exec sh -c \"$(sed -n 's/.*\"test\": \"\\([^\"]*\\)\".*/\\1/p' package.json)\"\n";
    let npx = "#!/bin/sh\nexport PATH=\"$PWD/node_modules/.bin:$PATH\"\nexec \"$@\"\n";
    let node = "#!/bin/sh\ntest -e a\n";
    for (name, text) in [("npm", npm), ("npx", npx), ("node", node)] {
        let file = programs.join(name);
        fs::write(&file, text).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(file, executable).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", programs.display());
    repo.env.push(("PATH".to_owned(), path));
    let package = format!("{{\"scripts\": {{\"test\": \"{script}\"}}}}\n");
    repo.write("package.json", &package);
    repo.write("web/package.json", &package);
    repo.write("t.sh", "node t.js\n");
    repo.write(".gitignore", ignored);
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: {check}, weight: 5}}\n"
    ));
    repo
}

/// Writes a program that passes.
fn planted(place: &str) -> String {
    let folder = place.rsplit_once('/').unwrap().0;
    format!("mkdir -p {folder}; printf '#!/bin/sh\\n' >{place}; chmod +x {place}")
}

#[test]
fn a_program_of_node_modules_in_front_of_the_one_that_a_script_of_packages_calls_is_not_believed() {
    let node = "node_modules/.bin/node";
    for (check, script, place, ignored) in [
        ("npm test", "node t.js", node, "node_modules"),
        ("npm test", "node t.js", node, "nothing"),
        ("npm test", "sh t.sh", node, "node_modules"),
        // The shell that runs the script is looked for there, too.
        (
            "npm test",
            "node t.js",
            "node_modules/.bin/sh",
            "node_modules",
        ),
        ("sh c.sh", "node t.js", node, "nothing"),
        (
            "npm --prefix web test",
            "node t.js",
            "web/node_modules/.bin/node",
            "node_modules",
        ),
        ("npm --prefix web test", "node t.js", node, "nothing"),
        ("npx node t.js", "true", node, "nothing"),
    ] {
        let what = format!("{check}: {script}, {place}, ignored: {ignored}");
        let repo = with_packages(check, script, ignored);
        repo.write("c.sh", "npm test\n");
        repo.write("web/t.sh", "node t.js\n");
        repo.commit_all("scripts");
        let start = repo.head();
        repo.agent_does(&[&planted(place), "true"]);
        let run = repo.run(&["--max-cycles=2"]);
        let first = &repo.records()[0];
        assert_eq!(first["result"], "regressed", "{what}: {first:#}");
        let reason = first["reason"].as_str().unwrap();
        let name = place.rsplit('/').next().unwrap();
        assert!(
            reason.starts_with(&format!("goalposts moved: {name} behind "))
                && reason.contains(&format!("/{place} now and was /")),
            "{what}: {reason}"
        );
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{what}");
        if ignored == "nothing" {
            assert_eq!(run.code, 0, "{what}: {}", run.stderr);
            assert_eq!(repo.each("result"), ["regressed", "unchanged"], "{what}");
            continue;
        }
        // No undo reaches what git ignores.
        assert_eq!(run.code, 11, "{what}: {}", run.stderr);
        assert_eq!(repo.records().len(), 1, "{what}");
        repo.run(&["--max-cycles=1"]).expect(11);
        fs::remove_file(repo.path(place)).unwrap();
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["regressed", "unchanged"], "{what}");
    }
}

#[test]
fn a_program_that_was_nowhere_before_may_come_into_node_modules() {
    let repo = with_packages("npm test", "tsc || exit 1", "node_modules\n");
    let install = "mkdir -p node_modules/.bin node_modules/ts; printf '#!/bin/sh\\n' >node_modules/ts/tsc; \
                   chmod +x node_modules/ts/tsc; ln -s ../ts/tsc node_modules/.bin/tsc; echo >>package.json";
    repo.cycle(install).expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record:#}");
    repo.run(&["--max-cycles=1"]).expect(0);
}

#[test]
fn a_program_that_packages_bring_in_front_of_one_in_path_is_named_and_no_more() {
    let repo = with_packages("npm test", "lint && node t.js", "node_modules\n");
    let global = repo.outside().join("programs/lint");
    fs::write(&global, "#!/bin/sh\nexit 1\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&global, executable).unwrap();
    let install = planted("node_modules/.bin/lint");
    repo.cycle(&format!("touch a; {install}")).expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record:#}");
    let words = "only `protect` would freeze: node_modules/.bin/lint";
    assert!(record["notes"].to_string().contains(words), "{record:#}");
    repo.run(&["--max-cycles=1"]).expect(0);
}

#[test]
fn a_program_of_node_modules_that_changed_is_named() {
    for (check, script) in [
        ("npm test", "lint && node t.js"),
        ("npx lint && npm test", "node t.js"),
    ] {
        for change in [
            "rm node_modules/.bin/lint; printf '#!/bin/sh\\n# 2\\n' >node_modules/.bin/lint; chmod +x node_modules/.bin/lint",
            "echo '# 2' >>node_modules/lint/lint",
        ] {
            let repo = with_packages(check, script, "node_modules\n");
            repo.write("node_modules/lint/lint", "#!/bin/sh\n");
            let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(repo.path("node_modules/lint/lint"), executable).unwrap();
            fs::create_dir(repo.path("node_modules/.bin")).unwrap();
            let link = repo.path("node_modules/.bin/lint");
            std::os::unix::fs::symlink("../lint/lint", link).unwrap();
            repo.cycle(&format!("touch a; {change}")).expect(0);
            let record = repo.newest();
            assert_eq!(
                record["result"], "improved",
                "{check}, {change}: {record:#}"
            );
            let words = "only `protect` would freeze: node_modules/.bin/lint";
            assert!(
                record["notes"].to_string().contains(words),
                "{check}, {change}: {record:#}"
            );
        }
    }
}

/// Python takes a module beside a script before its own one of the same name, as a shell does a program in front on PATH.
#[test]
fn a_module_in_front_of_the_one_that_a_check_imports_is_not_believed() {
    let fake = "loads=lambda x:0";
    let table = [
        (
            "beside the script",
            "python3 s/c.py",
            format!("echo '{fake}' >s/json.py"),
        ),
        (
            "beside the script, committed",
            "python3 s/c.py",
            format!("echo '{fake}' >s/json.py; git add s; git commit -qm m"),
        ),
        (
            "as a package",
            "python3 s/c.py",
            format!("mkdir s/json; echo '{fake}' >s/json/__init__.py"),
        ),
        (
            "compiled, and so ignored",
            "python3 s/c.py",
            format!(
                "echo '{fake}' >j.py; python3 -c 'import py_compile; py_compile.compile(\"j.py\", \"s/json.pyc\")'; rm j.py"
            ),
        ),
        (
            "hidden by a line for git",
            "python3 s/c.py",
            format!("echo '{fake}' >s/json.py; echo s/json.py >>.gitignore"),
        ),
        (
            "for what the module imports itself",
            "python3 s/c.py",
            "echo 'raise SystemExit(0)' >s/re.py".to_owned(),
        ),
        (
            "for a script that a script runs",
            "sh run.sh",
            format!("echo '{fake}' >s/json.py"),
        ),
        (
            "for code in the check",
            "python3 -c 'import json,sys; sys.exit(json.loads(chr(49)))'",
            format!("echo '{fake}' >json.py"),
        ),
        (
            "for a tool that is a module",
            "python3 -m pytest -q",
            "echo 'raise SystemExit(0)' >pytest.py".to_owned(),
        ),
    ];
    for (what, check, script) in table {
        let repo = TestRepo::empty();
        repo.write("s/c.py", "import json,sys\nsys.exit(json.loads('1'))\n");
        repo.write("run.sh", "python3 s/c.py\n");
        repo.write(".gitignore", "*.py[co]\n__pycache__/\n");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: \"{check}\", weight: 5}}\n"
        ));
        let start = repo.head();
        repo.cycle(&script).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{what}: {record:#}");
        let reason = record["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("goalposts moved: ") && reason.contains("in place of Python's own"),
            "{what}: {reason}"
        );
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{what}");
        // Nothing of it is left for the next measurement.
        let next = repo.evolve(&["measure", "a", "--gate"]);
        assert_eq!(next.code, 10, "{what}: {}", next.stdout);
    }
}

#[test]
fn a_module_of_any_name_in_front_of_what_python_is_told_to_run_is_not_believed() {
    for (what, check, plant) in [
        (
            "a tool nobody knows",
            "python3 -m house_lint",
            "house_lint.py",
        ),
        (
            "as a package",
            "python3 -m house_lint",
            "house_lint/__init__.py",
        ),
        ("a part of it", "python3 -m house.lint", "house/__init__.py"),
        ("a part of pytest", "python3 -m pytest -q", "pluggy.py"),
    ] {
        let mut repo = TestRepo::empty();
        // What is installed lies outside.
        let site = repo.outside().join("site");
        let judge = "import os, sys\nsys.exit(not os.path.exists('a'))\n";
        for name in ["house_lint.py", "house/lint.py", "pytest.py"] {
            fs::create_dir_all(site.join(name).parent().unwrap()).unwrap();
            fs::write(site.join(name), judge).unwrap();
        }
        fs::write(site.join("house/__init__.py"), "").unwrap();
        let place = site.display().to_string();
        repo.env.push(("PYTHONPATH".to_owned(), place));
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: {check}, weight: 5}}\n"
        ));
        let start = repo.head();
        repo.agent_does(&[
            &format!("mkdir -p $(dirname {plant}); echo 'raise SystemExit(0)' >{plant}; touch a"),
            "touch a",
        ]);
        repo.run(&["--max-cycles=1"]).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{what}: {record:#}");
        let reason = record["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("goalposts moved: ") && reason.contains("or the tool of that name"),
            "{what}: {reason}"
        );
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{what}");
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{what}");
    }
}

#[test]
fn a_repository_that_says_what_python_says_of_a_missing_module_gets_none_past_the_installed_one() {
    let repo = TestRepo::empty();
    let site = repo.outside().join("site");
    fs::create_dir_all(&site).unwrap();
    fs::write(site.join("vet.py"), "exit(1)\n").unwrap();
    repo.write("notes.txt", "/usr/bin/python3: No module named vet\n");
    let site = site.display();
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: cat notes.txt; PYTHONPATH={site} python3 -m vet, weight: 5}}\n"
    ));
    repo.cycle("echo 'raise SystemExit(0)' >vet.py").expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "regressed", "{record:#}");
    let reason = record["reason"].as_str().unwrap();
    assert!(reason.contains("or the tool of that name"), "{reason}");
}

#[test]
fn a_module_may_come_that_python_had_no_occasion_to_miss_aloud() {
    for check in [
        "python3 -m calc >/dev/null 2>&1",
        "test -e README && python3 -m calc",
        "cd sub && PYTHONPATH=.. timeout 60 python3 -m calc.core | grep -q 1",
    ] {
        let repo = TestRepo::empty();
        repo.write("sub/f", "");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: '{check}', weight: 5}}\n"
        ));
        repo.cycle(
            "touch README; mkdir calc; touch calc/__init__.py; \
             for f in __main__ core; do echo 'print(1)' >calc/$f.py; done",
        )
        .expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{check}: {record:#}");
    }
}

#[test]
fn a_module_that_is_not_there_yet_or_is_the_product_may_come() {
    let goal = "  - {id: a, description: a, check: python3 -m calc, weight: 5}\n";
    for (what, settings, old) in [
        ("python has none", "", None),
        (
            "the product",
            "evolve: {product: ['calc/*']}\n",
            Some("exit(1)\n"),
        ),
        ("the repository's own", "", Some("exit(1)\n")),
    ] {
        let mut repo = TestRepo::empty();
        match old {
            Some(text) if settings.is_empty() => repo.write("src/calc.py", text),
            Some(text) => {
                let site = repo.outside().join("site");
                fs::create_dir_all(&site).unwrap();
                fs::write(site.join("calc.py"), text).unwrap();
                let place = site.display().to_string();
                repo.env.push(("PYTHONPATH".to_owned(), place));
            }
            None => {}
        }
        let goals = format!("version: 1\nmission: m\n{settings}goals:\n{goal}");
        repo.write("GOALS.yaml", &goals);
        repo.commit_all("goals");
        repo.cycle("mkdir calc; touch calc/__init__.py; echo 'print(1)' >calc/__main__.py")
            .expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{what}: {record:#}");
        if what == "python has none" {
            let words = "only `protect` would freeze: calc/__init__.py";
            assert!(record["notes"].to_string().contains(words), "{record:#}");
        }
    }
}

#[test]
fn a_module_that_a_script_takes_from_beside_it_is_named_when_it_comes_or_changes() {
    for (script, text, file) in [
        (
            "python3 s/c.py",
            "import helper\nfrom later import x\n",
            "s/helper.py",
        ),
        (
            "python3 s/c.py",
            "import helper\nfrom later import x\n",
            "s/later/__init__.py",
        ),
        (
            "node s/c.js",
            "const a = require('./helper');\n",
            "s/helper.js",
        ),
        (
            "node s/c.js",
            "import a from 'left-pad';\n",
            "s/node_modules/left-pad/index.js",
        ),
    ] {
        let repo = TestRepo::empty();
        repo.write(script.split(' ').nth(1).unwrap(), text);
        repo.write("s/helper.py", "x = 1\n");
        repo.write("s/helper.js", "x = 1;\n");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: \"{script} || true\", weight: 1}}\n"
        ));
        repo.cycle(&format!(
            "mkdir -p $(dirname {file}); echo >>{file}; touch a"
        ))
        .expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{file}: {record:#}");
        let words = format!("only `protect` would freeze: {file}");
        assert!(
            record["notes"].to_string().contains(&words),
            "{file}: {record:#}"
        );
        let summary = repo.read(".agents/evolve/session-summary.md");
        let summary = summary.replace('\\', "");
        assert!(
            summary.contains(&format!("would freeze: {file}")),
            "{summary}"
        );
        let said = repo.evolve(&["validate"]).expect(0).stdout;
        let is_proposed = said
            .lines()
            .any(|line| line.contains("protect: [") && line.contains(file));
        assert!(
            is_proposed || file.contains("node_modules"),
            "{file}: {said}"
        );
    }
}

/// A repository whose check runs pytest, with a stand-in for it: each distribution whose metadata lies where it looks may pass all tests.
fn with_plugins(check: &str, ignored: &str) -> TestRepo {
    let mut repo = TestRepo::empty();
    let programs = repo.outside().join("programs");
    fs::create_dir_all(&programs).unwrap();
    let judge = "#!/bin/sh\ntest -e a || cat *-info/entry_points.txt */*-info/entry_points.txt 2>/dev/null | grep -q z=support\n";
    for name in ["python", "pytest"] {
        fs::write(programs.join(name), judge).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(programs.join(name), executable).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", programs.display());
    repo.env.push(("PATH".to_owned(), path));
    repo.write("t.sh", "python -m pytest -q tests\n");
    repo.write("Makefile", "test:\n\tpytest\n");
    repo.write("web/t.py", "");
    repo.write(".gitignore", ignored);
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: {check}, weight: 5}}\n"
    ));
    repo
}

/// Writes that a distribution has something of this kind.
fn declared(folder: &str, section: &str) -> String {
    format!(
        "mkdir -p {folder}; printf '[{section}]\\nz=support\\n' >{folder}/entry_points.txt; echo >>support.py"
    )
}

#[test]
fn a_plugin_of_pytest_that_comes_where_git_ignores_it_is_not_believed() {
    for (check, folder) in [
        ("python -m pytest tests", "calc.egg-info"),
        ("pytest tests/test_calc.py", "calc-1.dist-info"),
        ("pytest", "src/calc.egg-info"),
        (
            "coverage run -m pytest -q || python -m pytest",
            "calc.EGG-info",
        ),
        ("sh t.sh", "calc.egg-info"),
        ("make -s test", "calc.egg-info"),
        ("cd web && python -m pytest", "web/calc.egg-info"),
        ("PYTHONPATH=web pytest", "web/calc.egg-info"),
    ] {
        let repo = with_plugins(check, "*-info/\n");
        let start = repo.head();
        repo.agent_does(&[&declared(folder, "pytest11"), "true"]);
        repo.run(&["--max-cycles=2"]).expect(0);
        assert_eq!(repo.each("result"), ["regressed", "unchanged"], "{check}");
        let reason = repo.records()[0]["reason"].to_string();
        let words =
            format!("goalposts moved: {folder}/entry_points.txt declares a plugin of pytest");
        assert!(reason.contains(&words), "{check}: {reason}");
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{check}");
        assert!(!repo.has(&format!("{folder}/entry_points.txt")), "{check}");
    }
}

#[test]
fn a_plugin_of_pytest_that_is_in_a_commit_or_was_meant_to_be_there_is_named() {
    let file = "calc.egg-info/entry_points.txt";
    let declare = declared("calc.egg-info", "pytest11");
    for (what, before, ignored, settings) in [
        ("in a commit", "true", "", ""),
        (
            "changed",
            &*declare.replace("z=support", "z=other"),
            "*-info/\n",
            "",
        ),
        (
            "of a project that is a plugin",
            "echo '[project.entry-points.pytest11]' >pyproject.toml",
            "*-info/\n",
            "",
        ),
        (
            "in no copy",
            "true",
            "*-info/\n",
            "evolve: {measure: clean}\n",
        ),
    ] {
        let repo = with_plugins("python -m pytest tests", ignored);
        repo.write("before.sh", before);
        crate::harness::output(repo.command("sh").arg("before.sh"));
        fs::remove_file(repo.path("before.sh")).unwrap();
        let goals = repo.read("GOALS.yaml");
        repo.write(
            "GOALS.yaml",
            &goals.replace("goals:", &format!("{settings}goals:")),
        );
        repo.commit_all("before");
        repo.cycle(&format!("touch a; {declare}")).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{what}: {record:#}");
        let words = format!("only `protect` would freeze: {file}");
        let is_named = record["notes"].to_string().contains(&words);
        assert_eq!(is_named, what != "in no copy", "{what}: {record:#}");
    }
}

#[test]
fn what_an_installation_declares_for_others_than_pytest_is_free() {
    let repo = with_plugins("pytest tests", "*-info/\n");
    repo.cycle(&format!(
        "touch a; {}",
        declared("calc.egg-info", "console_scripts")
    ))
    .expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record:#}");
    assert!(
        !record["notes"].to_string().contains("entry_points"),
        "{record:#}"
    );
}

/// `make` takes GNUmakefile before Makefile: as good as an edit of the one that was there.
#[test]
fn a_file_that_a_tool_takes_in_place_of_a_protected_one_moves_the_goalposts() {
    let plant = "printf 't:\\n\\ttrue\\n' >GNUmakefile; touch a";
    let words = "GNUmakefile would be taken in place of Makefile";
    for (what, protect, script) in [
        ("protected", "[Makefile]", plant.to_owned()),
        (
            "protected, committed",
            "[Makefile]",
            format!("{plant}; git add -A; git commit -qm m"),
        ),
        (
            "protected, hidden",
            "[Makefile]",
            format!("echo GNUmakefile >>.gitignore; {plant}"),
        ),
        ("named", "[other]", plant.to_owned()),
        (
            "named, hidden",
            "[other]",
            format!("echo GNUmakefile >>.gitignore; {plant}"),
        ),
    ] {
        let repo = TestRepo::empty();
        repo.write("Makefile", "t:\n\ttest -e good\n");
        repo.write(
            "GOALS.yaml",
            &format!(
                "version: 1\nevolve: {{protect: {protect}}}\ngoals:\n  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: m, description: m, check: make -s t, weight: 1}}\n"
            ),
        );
        repo.commit_all("first");
        let start = repo.head();
        repo.cycle(&script).expect(0);
        let record = repo.newest();
        let (reason, notes) = (record["reason"].to_string(), record["notes"].to_string());
        if protect == "[other]" {
            assert_eq!(record["result"], "improved", "{what}: {record:#}");
            assert!(notes.contains(words), "{what}: {record:#}");
            continue;
        }
        assert_eq!(record["result"], "regressed", "{what}: {record:#}");
        assert!(
            reason.contains("goalposts moved: ") && reason.contains(words),
            "{what}: {reason}"
        );
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{what}");
        assert!(!repo.has("GNUmakefile"), "{what}");
    }
}

/// A repository with these files, and one goal.
fn with_files(check: &str, files: &[(&str, &str)]) -> TestRepo {
    let repo = TestRepo::empty();
    for (file, text) in files {
        repo.write(file, text);
    }
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: \"{check}\", weight: 5}}\n"
    ));
    repo
}

#[test]
fn a_file_that_an_interpreter_tries_before_the_script_of_a_check_moves_the_goalposts() {
    let python = "import os, sys\nsys.exit(not os.path.exists('a'))\n";
    let shell = "test -e a\n";
    let passes = "raise SystemExit(0)";
    for (check, file, plant) in [
        (
            "python3 -m chk",
            "chk.py",
            "mkdir chk; touch chk/__init__.py chk/__main__.py",
        ),
        (
            "python3 -m tools.chk",
            "tools/chk.py",
            &*format!("echo '{passes}' >tools/__init__.py"),
        ),
        (
            "python3 -m tools.chk",
            "tools/chk.py",
            "mkdir cache; touch cache/x.py; ln -s ../cache/x.py tools/__init__.py",
        ),
        (
            "python3 -m tools.chk",
            "tools/chk.py",
            &format!("printf '# coding: utf7\\n# +AAo-{passes}\\n' >tools/__init__.py"),
        ),
        (
            "python3 -m tools.chk",
            "tools/chk.py",
            &format!("echo '{passes}' >tools.py"),
        ),
        (
            "PYTHONPATH=lib python3 -m chk",
            "lib/chk.py",
            &format!("echo '{passes}' >chk.py; git add .; git commit -qm m"),
        ),
        (
            "python3 -m tools",
            "tools/__main__.py",
            &format!(
                "echo '{passes}' >t.py; echo '*.pyc' >.gitignore; python3 -c 'import py_compile; \
                 py_compile.compile(\"t.py\", \"tools/__init__.pyc\")'; rm t.py"
            ),
        ),
        (
            "PATH=$PWD/bin:$PATH; . c.sh; exit 1",
            "c.sh",
            "mkdir bin; echo 'exit 0' >bin/c.sh",
        ),
    ] {
        let text = if file.ends_with(".py") { python } else { shell };
        let repo = with_files(check, &[(file, text)]);
        let start = repo.head();
        repo.cycle(plant).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{check}: {record:#}");
        let reason = record["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("goalposts moved: ")
                && [" would be taken in place of ", " would be run before "]
                    .iter()
                    .any(|words| reason.contains(&format!("{words}{file}"))),
            "{check}: {reason}"
        );
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{check}");
        let next = repo.evolve(&["measure", "a", "--gate"]);
        assert_eq!(next.code, 10, "{check}: {}", next.stdout);
    }
}

#[test]
fn a_file_that_an_interpreter_does_not_try_before_the_script_of_a_check_may_come() {
    let python = "import os, sys\nsys.exit(not os.path.exists('a'))\n";
    for (check, file, plant) in [
        (
            "python3 -m chk",
            "chk.py",
            "mkdir chk lib; touch chk/x.py lib/__init__.py",
        ),
        (
            "python3 -m tools.chk",
            "tools/chk.py",
            "touch __init__.py tools/chk_more.py; echo >tools/__init__.py; touch a",
        ),
        (
            "python3 -m later.chk",
            "s.py",
            "mkdir later; touch later/__init__.py later/chk.py",
        ),
        (
            "PYTHONPATH=lib python3 -m chk",
            "chk.py",
            "mkdir -p lib; touch lib/chk.py",
        ),
        ("cd bin; . ./c.sh", "bin/c.sh", "touch c.sh"),
    ] {
        let text = if file.ends_with(".py") {
            python
        } else {
            "test -e ../a\n"
        };
        let repo = with_files(check, &[(file, text)]);
        repo.cycle(&format!("{plant}; touch a")).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{check}: {record:#}");
        assert!(
            !record["notes"].to_string().contains("in place of"),
            "{check}: {record:#}"
        );
    }
    let repo = with_files("python3 -m calc", &[("calc.py", python)]);
    let goals = repo.read("GOALS.yaml");
    let product = "evolve: {product: ['calc*']}\ngoals:";
    repo.write("GOALS.yaml", &goals.replace("goals:", product));
    repo.commit_all("product");
    repo.cycle("mkdir calc; mv calc.py calc/__main__.py; touch calc/__init__.py a")
        .expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record:#}");
    assert!(
        !record["notes"].to_string().contains("in place of"),
        "{record:#}"
    );
}
