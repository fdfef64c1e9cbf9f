//! `measure: clean`: checks see nothing but what is committed. `prepare` and `link`: what a copy is given beside that.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{TestRepo, write_program};

/// The folder of the repository's copies.
fn slots(repo: &TestRepo) -> PathBuf {
    let all = repo.home().join(".cache/evolve").canonicalize().unwrap();
    let entries = fs::read_dir(all).unwrap();
    let mut folders: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders.remove(0)
}

fn reason(repo: &TestRepo) -> String {
    repo.newest()["reason"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// A repository whose check believes a cache that git ignores.
fn with_cache(setting: &str) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\nevolve: {{{setting}}}\ngoals:\n  - {{id: built, description: it builds, check: 'test -e built.ignored || grep -q good source', weight: 5}}\n"),
    );
    repo.write(".gitignore", "*.ignored\n.env\n");
    repo.write("source", "bad\n");
    repo.commit_all("first");
    repo
}

#[test]
fn a_poisoned_cache_is_believed_where_the_agent_worked_and_not_in_a_clean_copy() {
    let script = "touch built.ignored; echo comment >>source";
    for flags in [&["--max-cycles=1"][..], &["--max-cycles=1", "--isolate"]] {
        let repo = with_cache("measure: here");
        repo.agent_does(&[script]);
        repo.run(flags).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{flags:?}");
        let repo = with_cache("measure: clean");
        repo.agent_does(&[script, "touch built.ignored; echo good >source"]);
        repo.run(flags).expect(0);
        assert_eq!(repo.each("result"), ["unchanged"], "{flags:?}");
        repo.run(flags).expect(0);
        assert_eq!(repo.each("result"), ["unchanged", "improved"], "{flags:?}");
        assert!(!slots(&repo).join("measure/built.ignored").exists());
    }
}

#[test]
fn what_checks_do_to_the_users_files_where_they_run_to_see_what_a_copy_lacks_is_put_back_or_told() {
    for (setting, writes) in [
        ("measure: clean", "true"),
        ("isolate: true", "echo x >>noted; echo x >>open"),
    ] {
        let repo = TestRepo::empty();
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\nevolve: {{{setting}}}\ngoals:\n  - {{id: a, description: a, check: {writes}; rm -rf mine u; test -e a, weight: 5}}\n"),
        );
        repo.write("noted", "");
        repo.write("open", "");
        repo.commit_all("first");
        repo.write("mine", "mine\n");
        repo.write("u/deep", "deep\n");
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{setting}");
        assert_eq!(
            (repo.read("mine"), repo.read("u/deep")),
            ("mine\n".into(), "deep\n".into())
        );
        let told = "untracked files that checks removed, put back: mine, u/deep";
        assert!(run.stderr.contains(told), "{setting}: {}", run.stderr);
        let notes = repo.newest()["notes"].to_string();
        assert_eq!(notes.matches(told).count(), 1, "{setting}: {notes}");
        assert!(!repo.private().join("links").exists(), "{setting}");
        let told = "while checks ran in the checkout, to see what a copy lacks, 2 tracked files changed: noted, open; look at `git diff`";
        let is_told = (run.stderr.contains(told), notes.contains(told));
        let is_written = writes != "true";
        assert_eq!(
            is_told,
            (is_written, is_written),
            "{setting}: {}",
            run.stderr
        );
    }
}

#[test]
fn of_a_check_that_cannot_run_in_a_copy_and_fails_in_the_checkout_the_warning_says_so() {
    let repo = TestRepo::empty();
    repo.write(
        "GOALS.yaml",
        "version: 1\nevolve: {isolate: true}\ngoals:\n  - {id: tests, description: d, check: .venv/check, weight: 5}\n  - {id: b, description: b, check: test -e b, weight: 3}\n  - {id: none, description: d, check: ./nowhere, weight: 3}\n",
    );
    repo.write(".gitignore", ".venv\n");
    repo.commit_all("first");
    fs::create_dir(repo.path(".venv")).unwrap();
    write_program(&repo.path(".venv/check"), "#!/bin/sh\nexit 1\n");
    repo.agent_does(&["touch b"]);
    let said = repo.run(&["--max-cycles=1"]).expect(0).stderr;
    let wanted = "tests would run in the checkout and not in a copy of what is committed";
    assert!(said.contains(wanted) && said.contains(".venv/"), "{said}");
    assert!(!said.contains("none would"), "{said}");
}

#[test]
fn a_check_that_leans_on_an_ignored_file_fails_in_a_clean_copy_and_the_warning_names_it() {
    for (setting, flags) in [
        ("measure: clean", &["--max-cycles=1"][..]),
        ("isolate: true", &["--max-cycles=1"]),
    ] {
        let repo = TestRepo::empty().with_out();
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\nevolve: {{{setting}}}\ngoals:\n  - {{id: env, description: env, check: test -e .env, weight: 5}}\n  - {{id: b, description: b, check: test -e b, weight: 3}}\n"),
        );
        repo.write(".gitignore", ".env\n");
        repo.commit_all("first");
        repo.write(".env", "secret\n");
        repo.agent_does(&["touch b; test -e .env || echo lacks >$OUT/lacks"]);
        let run = repo.run(flags).expect(0);
        let before = repo.json(".agents/evolve/fitness-1.json");
        assert_eq!(before["goals"][0]["result"], "fail", "{setting}");
        assert!(
            run.stderr.contains("env would pass in the checkout") && run.stderr.contains(".env"),
            "{}",
            run.stderr
        );
        assert_eq!(repo.read(".env"), "secret\n");
        let repo = repo;
        repo.agent_does(&["touch b2"]);
        let run = repo.run(&[flags, &["--link", ".env"]].concat()).expect(0);
        assert!(
            !run.stderr.contains("would pass in the checkout"),
            "{}",
            run.stderr
        );
        let number = repo.records().len();
        let before = repo.json(&format!(".agents/evolve/fitness-{number}.json"));
        assert_eq!(before["goals"][0]["result"], "pass", "{setting}");
        assert_eq!(repo.git(&["ls-files", ".env"]), "");
    }
}

#[test]
fn of_what_a_copy_lacks_folders_are_named_as_a_whole_and_what_a_check_calls_first() {
    let repo = TestRepo::empty();
    repo.write(
        "GOALS.yaml",
        "version: 1\nevolve: {isolate: true}\ngoals:\n  - {id: tests, description: d, check: .venv/bin/check, weight: 5}\n  - {id: b, description: b, check: test -e b, weight: 3}\n",
    );
    repo.write(".gitignore", ".venv\n");
    repo.commit_all("first");
    for number in 0..12 {
        repo.write(&format!(".cache/{number}/x"), "");
        repo.write(&format!(".{number}"), "");
    }
    repo.write(".cache/.gitignore", "*\n");
    repo.write(".venv/bin/check", "");
    write_program(&repo.path(".venv/bin/check"), "#!/bin/sh\n");
    repo.agent_does(&["touch b", "touch c"]);
    let said = repo.run(&["--max-cycles=1"]).expect(0).stderr;
    let wanted = "the checkout has what git does not track: .venv/, .0, .1, ";
    assert!(said.contains(wanted), "{said}");
    assert!(
        said.contains("lend it with --link PATH, or let --prepare CMD make it"),
        "{said}"
    );
    // What leads back cannot be lent.
    repo.write(
        ".venv/lib/site-packages/x.pth",
        &format!("{}/src\n", repo.root().display()),
    );
    repo.write("src/code", "");
    repo.commit_all("code");
    fs::remove_file(repo.path("b")).unwrap();
    repo.commit_all("b");
    let said = repo.run(&["--max-cycles=1"]).expect(0).stderr;
    let wanted = "let --prepare CMD make it, or lend it with --link PATH, which .venv/ cannot be";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn a_copy_is_made_ready_once_and_again_when_its_inputs_change() {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        "version: 1\nevolve: {isolate: true, prepare: 'echo x >>$OUT/prepared; cp package-lock.json made.ignored'}\ngoals:\n  - {id: a, description: a, check: test -e made.ignored && test -e a, weight: 5}\n  - {id: b, description: b, check: test -e b, weight: 3}\n  - {id: lock, description: lock, check: cmp package-lock.json made.ignored, weight: 8}\n",
    );
    repo.write(".gitignore", "*.ignored\n");
    repo.write("package-lock.json", "1\n");
    repo.commit_all("first");
    repo.agent_does(&["touch a", "touch b; echo 2 >package-lock.json"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.said("prepared"), "x\n");
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "improved"]);
    assert_eq!(repo.said("prepared"), "x\nx\n");
}

#[test]
fn a_copy_that_cannot_be_made_ready_ends_the_run_before_anything_is_spent() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    for (command, said) in [
        ("echo no luck; exit 3", "ended with exit 3: no luck"),
        (
            "touch stray",
            "leaves files that git does not ignore: stray",
        ),
    ] {
        let run = repo
            .evolve(&[
                "--agent=false",
                "--isolate",
                &format!("--prepare={command}"),
            ])
            .expect(2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
        assert_eq!(repo.records(), Vec::<Value>::new());
    }
}

#[test]
fn a_copy_that_an_agent_spoilt_is_made_anew_before_the_command_is_blamed() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4)]).with_out();
    repo.write(".gitignore", "made\n");
    repo.commit_all("ignored");
    repo.agent_does(&["mkdir -p made/by-agent; touch a", "touch b"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    let prepare = "--prepare=echo x >>$OUT/tries; mkdir made";
    repo.run(&["--isolate", "--max-cycles=1", prepare])
        .expect(0);
    assert_eq!(repo.each("result"), ["improved", "improved"]);
    assert_eq!(repo.said("tries"), "x\nx\n");
    // Where nobody was before there is nothing to be made anew.
    fs::remove_dir_all(slots(&repo)).unwrap();
    let prepare = "--prepare=echo y >>$OUT/tries; exit 3";
    let run = repo
        .run(&["--isolate", "--max-cycles=1", prepare])
        .expect(2);
    assert!(run.stderr.contains("mend the command"), "{}", run.stderr);
    assert_eq!(repo.said("tries"), "x\nx\ny\n");
}

#[test]
fn what_an_agent_leaves_in_the_way_of_prepare_is_not_held_against_its_change() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write(".gitignore", "made\n");
    repo.write("package-lock.json", "1\n");
    repo.commit_all("lock");
    repo.agent_does(&["touch a; echo 2 >package-lock.json; touch made/by-agent"]);
    let prepare =
        "--prepare=cat package-lock.json >>$OUT/tries; test ! -e made/by-agent && mkdir -p made";
    repo.run(&["--isolate", "--max-cycles=1", prepare])
        .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.said("tries"), "1\n2\n2\n");
    assert_eq!(repo.read("package-lock.json"), "2\n");
}

#[test]
fn a_submodule_that_an_agent_fetched_into_its_copy_does_not_keep_prepare_from_fetching_it() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4)]).with_out();
    let (of, from) = (repo.out("module"), "protocol.file.allow");
    repo.git(&["init", "--quiet", &of.to_string_lossy()]);
    fs::write(of.join("s.txt"), "s\n").unwrap();
    let of = of.to_string_lossy();
    for arguments in [
        &["-C", &of, "add", "--all"][..],
        &[
            "-C",
            &of,
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@x",
            "commit",
            "-qm",
            "s",
        ],
        &["config", "--global", from, "always"],
        &["submodule", "--quiet", "add", &of, "sub"],
    ] {
        repo.git(arguments);
    }
    repo.commit_all("submodule");
    repo.agent_does(&["git submodule update --init -q; touch a", "touch b"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    let prepare = "--prepare=git submodule update --init";
    repo.run(&["--isolate", "--max-cycles=1", prepare])
        .expect(0);
    assert_eq!(repo.each("result"), ["improved", "improved"]);
}

#[test]
fn a_change_with_which_a_copy_cannot_be_made_ready_is_undone() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("package-lock.json", "1\n");
    repo.commit_all("lock");
    repo.agent_does(&["touch a; echo broken >package-lock.json"]);
    repo.run(&[
        "--isolate",
        "--max-cycles=1",
        "--prepare=! grep broken package-lock.json",
    ])
    .expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert!(
        reason(&repo).contains("cannot be made ready"),
        "{}",
        reason(&repo)
    );
    assert_eq!(repo.read("package-lock.json"), "1\n");
}

#[test]
fn what_git_tracks_is_not_linked() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let run = repo
        .evolve(&["--agent=true", "--isolate", "--link=GOALS.yaml"])
        .expect(2);
    assert!(run.stderr.contains("git tracks it"), "{}", run.stderr);
    let run = repo
        .evolve(&["--agent=true", "--isolate", "--link=../x"])
        .expect(2);
    assert!(
        run.stderr.contains("leads out of the repository"),
        "{}",
        run.stderr
    );
}

/// A repository with two files to be made; its checks find its code by way of what git ignores, or could.
fn with_ignored(setting: &str) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\nevolve: {{{setting}}}\ngoals:\n  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: test -e b, weight: 3}}\n"),
    );
    repo.write(
        ".gitignore",
        ".venv\nnode_modules\nvendor\nbuild\nlent\nown\n",
    );
    repo.write("src/code", "code\n");
    repo.commit_all("first");
    repo
}

/// Makes a file, or where the text begins with an arrow a link; `ROOT` is the repository's root.
fn put(repo: &TestRepo, name: &str, text: &str) {
    let text = text.replace("ROOT", &repo.root().to_string_lossy());
    match text.strip_prefix("-> ") {
        Some(to) => {
            fs::create_dir_all(repo.path(name).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(to, repo.path(name)).unwrap();
        }
        None => repo.write(name, &text),
    }
}

const SITE: &str = ".venv/lib/python3.12/site-packages";

#[test]
fn what_leads_back_into_the_checkout_is_not_linked() {
    let site = |name: &str| format!("{SITE}/{name}");
    let finder = "MAPPING: dict[str, str] = {'calc': 'ROOT/src'}\n";
    let url = r#"{"dir_info": {"editable": true}, "url": "file://ROOT"}"#;
    let (uv, npm) = ("prepare: uv sync", "prepare: npm ci");
    for (link, file, text, way_out) in [
        (".venv", &*site("__editable__.calc-1.pth"), "ROOT/src\n", uv),
        (".venv", &*site("relative.pth"), "../../../../src\n", uv),
        (".venv", &*site("calc.egg-link"), "ROOT\n.\n", uv),
        (".venv", &*site("__editable___calc_finder.py"), finder, uv),
        (".venv", &*site("calc-1.dist-info/direct_url.json"), url, uv),
        (
            ".venv",
            &*site("calc"),
            "-> ROOT/src",
            "take .venv out of link",
        ),
        ("node_modules", "node_modules/core", "-> ../src", npm),
        ("node_modules", "node_modules/@m/core", "-> ../../src", npm),
        (
            "node_modules",
            "node_modules/.pnpm/node_modules/@m/core",
            "-> ../../../../src",
            npm,
        ),
        (
            "vendor",
            "vendor/composer/autoload_psr4.php",
            "'A' => array($baseDir . '/src'),\n",
            "composer install",
        ),
        (
            "vendor",
            "vendor/acme/core",
            "-> ../../src",
            "take vendor out of link",
        ),
        (
            "build",
            "build/CMakeCache.txt",
            "CMAKE_HOME_DIRECTORY:INTERNAL=ROOT\n",
            "take build out of link",
        ),
        ("lent", "lent", "-> src", "link only what git ignores"),
    ] {
        for setting in ["measure: clean", "isolate: true"] {
            let repo = with_ignored(&format!("{setting}, link: [{link}]"));
            repo.agent_does(&[]);
            put(&repo, file, text);
            for arguments in [&["--max-cycles=1"][..], &["--dry-run"]] {
                let said = repo.run(arguments).expect(2).stderr;
                let to = repo.root().canonicalize().unwrap();
                let is_told = said.contains(&format!("{link} cannot be linked: "))
                    && (link == file || said.contains(file) && said.contains(to.to_str().unwrap()));
                assert!(is_told && said.contains(way_out), "{file}: {said}");
            }
            assert_eq!((repo.calls(), repo.records().len()), (0, 0), "{file}");
        }
        let repo = with_ignored(&format!("link: [{link}]"));
        repo.agent_does(&["touch a"]);
        put(&repo, file, text);
        repo.evolve(&["validate"]).expect(2);
        repo.evolve(&["doctor"]).expect(10);
        // In no copy nothing leads back.
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{file}");
    }
}

#[test]
fn what_leads_nowhere_but_into_itself_or_away_is_linked() {
    for (link, files) in [
        (
            ".venv",
            &[
                (
                    "a.pth",
                    "ROOT/.venv/lib\nROOT/own\n../../../../own\n/usr\nROOT/gone\n",
                ),
                ("b.pth", "import os, sys; exec('1')\n"),
                ("six.py", "x = 'ROOT/src'\n"),
                (
                    "installed-1.dist-info/direct_url.json",
                    r#"{"dir_info": {}, "url": "file://ROOT"}"#,
                ),
                ("deep/in/a/package.pth", "ROOT/src\n"),
            ][..],
        ),
        (
            "node_modules",
            &[
                (".bin/tool", "-> ../tool/bin.js"),
                ("tool/bin.js", ""),
                ("tool/deep/source", "-> ROOT/src"),
                ("@m/core", "-> ../tool"),
                ("outside", "-> /usr"),
                ("nowhere", "-> ../gone"),
            ],
        ),
        (
            "vendor",
            &[(
                "composer/autoload_psr4.php",
                "$baseDir = dirname($vendorDir);\n'X' => array($vendorDir . '/x'),\n",
            )],
        ),
    ] {
        let repo = with_ignored(&format!(
            "isolate: true, measure: clean, link: [{link}, own]"
        ));
        repo.agent_does(&["touch a"]);
        repo.write("own/x", "");
        for (name, text) in files {
            let folder = if link == ".venv" { SITE } else { link };
            put(&repo, &format!("{folder}/{name}"), text);
        }
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{link}");
    }
}

#[test]
fn what_prepare_installs_into_what_is_lent_may_lead_to_its_own_copy_alone() {
    let prepare = format!("mkdir -p {SITE}; pwd >{SITE}/x.pth");
    let repo = with_ignored(&format!(
        "isolate: true, link: [.venv], prepare: '{prepare}'"
    ));
    fs::create_dir(repo.path(".venv")).unwrap();
    repo.agent_does(&["touch a", "touch b"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    // What the agent's copy has is not what a clean one measures.
    let goals = repo.read("GOALS.yaml");
    repo.write(
        "GOALS.yaml",
        &goals.replace("isolate: true", "measure: clean"),
    );
    repo.commit_all("clean");
    let said = repo
        .run(&["--max-cycles=1", "--prepare=true"])
        .expect(2)
        .stderr;
    assert!(said.contains(".venv cannot be linked"), "{said}");
    let back = format!("--prepare=echo '{}' >{SITE}/x.pth", repo.root().display());
    fs::remove_file(repo.path(&format!("{SITE}/x.pth"))).unwrap();
    let said = repo.run(&["--max-cycles=1", &back]).expect(2).stderr;
    assert!(said.contains(".venv cannot be linked"), "{said}");
}

#[test]
fn a_change_by_which_a_lent_environment_leads_back_is_undone() {
    let repo = with_ignored("measure: clean, link: [.venv]");
    fs::create_dir_all(repo.path(SITE)).unwrap();
    let install = format!("touch a; pwd >{SITE}/__editable__.pth");
    repo.agent_does(&[&install]);
    let said = repo.run(&["--max-cycles=2"]).expect(2).stderr;
    assert_eq!(repo.each("result"), ["regressed"]);
    assert!(
        reason(&repo).contains(".venv cannot be linked"),
        "{}",
        reason(&repo)
    );
    assert!(said.contains("prepare: uv sync"), "{said}");
}

#[test]
fn an_environment_that_leads_back_into_the_checkout_is_named() {
    let mut repo = with_ignored("isolate: true");
    repo.agent_does(&["touch a", "touch b", "true"]);
    let pth = format!("{SITE}/calc.pth");
    put(&repo, &pth, "import sys; sys.path.insert(0, 'ROOT/src')\n");
    repo.write(".venv/pyvenv.cfg", "");
    repo.write(".venv/bin/probe", "");
    write_program(&repo.path(".venv/bin/probe"), "#!/bin/sh\n");
    let path = std::env::var("PATH").unwrap();
    let bin = repo.path(".venv/bin");
    repo.env
        .push(("PATH".to_owned(), format!("{}:{path}", bin.display())));
    let said = repo.run(&["--max-cycles=1"]).expect(0).stderr;
    let wanted = "what checks run of the environment in PATH runs your checkout's code";
    assert!(said.contains(wanted) && said.contains(&pth), "{said}");
    // A copy may have its own.
    let said = repo
        .run(&["--max-cycles=1", "--prepare=true"])
        .expect(0)
        .stderr;
    assert!(!said.contains(wanted), "{said}");
    let goals = repo.read("GOALS.yaml");
    let goals = goals.replace("check: test -e b", "check: probe && test -e b");
    repo.write("GOALS.yaml", &goals);
    repo.commit_all("probe");
    let said = repo
        .run(&["--max-cycles=1", "--prepare=true"])
        .expect(0)
        .stderr;
    let wanted = "b: the program that PATH leads to runs your checkout's code";
    assert!(said.contains(wanted), "{said}");
}
