//! Goals that are measured one after the other, each on what is committed, because checks wrote to tracked files.

use crate::harness::TestRepo;

/// Flags and settings by which goals are measured in a copy.
const COPIES: [(&[&str], &str); 3] = [
    (&["--isolate"], ""),
    (&[], ", measure: clean"),
    (&["--isolate"], ", measure: clean"),
];

/// A repository of these files with these goals; `app.sh` is the product. A check with a `#` runs when all others have ended.
fn repository(settings: &str, files: &[(&str, &str)], goals: &[(&str, &str)]) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    for (name, text) in files {
        repo.write(name, text);
    }
    let goal = |(id, check): &(&str, &str)| {
        let alone = check.contains('#');
        format!("  - {{id: {id}, description: d, check: '{check}', weight: 5, alone: {alone}}}\n")
    };
    let goals: String = goals.iter().map(goal).collect();
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\nevolve: {{product: [app.sh]{settings}}}\ngoals:\n{goals}"),
    );
    repo.commit_all("first");
    repo
}

#[test]
fn a_goal_that_was_met_by_what_was_committed_has_to_stay_so_also_where_checks_wrote_before_the_agent()
 {
    for (flags, settings) in COPIES {
        let files = [("app.sh", "true\n"), ("two", "fine\n"), ("gen", "0\n")];
        let goals = [
            ("app", "sh app.sh; test -e new"),
            ("gen", "echo more >>gen"),
            // Never met by what is committed alone.
            ("needs", "grep -q more gen #"),
            ("two", "grep -q fine two #"),
        ];
        let repo = repository(settings, &files, &goals);
        repo.agent_does(&[
            "touch new; echo broken >two; echo 'echo fine >two' >app.sh",
            "touch new",
        ]);
        repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
        let case = format!("{flags:?} {settings}: {:?}", repo.each("reason"));
        assert_eq!(repo.each("result"), ["regressed", "improved"], "{case}");
        assert_eq!(repo.each("newly_failing"), [r#"["two"]"#, "[]"], "{case}");
    }
}

#[test]
fn so_has_one_that_the_change_of_a_work_item_breaks_and_nobody_calls_it_flaky() {
    for (flags, settings) in COPIES {
        let files = [("app.sh", "true\n"), ("two", "fine\n"), ("gen", "0\n")];
        let goals = [
            ("two", "grep -q fine two"),
            ("gen", "echo more >>gen"),
            ("app", "sh app.sh"),
        ];
        let repo = repository(settings, &files, &goals);
        repo.evolve(&["work", "add", "Break it"]).expect(0);
        repo.agent_does(&["echo broken >two; echo 'echo fine >two' >app.sh"]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        let case = format!("{flags:?} {settings}: {:?}", repo.newest());
        assert_eq!(repo.each("result"), ["regressed"], "{case}");
        assert_eq!(repo.each("newly_failing"), [r#"["two"]"#], "{case}");
        assert!(!repo.each("notes")[0].contains("flaky"), "{case}");
    }
}

#[test]
fn a_folder_that_stands_in_the_place_of_a_tracked_one_for_a_moment_meets_no_goal() {
    // What was waited for once is there when the goals are measured apart.
    const LOOKS: &str = "test ! -e new || until test -e $OUT/w; do sleep 0.01; done; grep -q good src/app; was=$?; test ! -e new || touch $OUT/seen; exit $was";
    const MOVES: &str = "touch new; cat >app.sh <<'X'
mv src was.ignored; mkdir src; echo good >src/app; touch $OUT/w
until test -e $OUT/seen; do sleep 0.01; done
rm -rf src; mv was.ignored src
X";
    let in_place: (&[&str], &str) = (&[], "");
    for (flags, settings) in [COPIES[0], COPIES[1], COPIES[2], in_place] {
        let files = [
            ("app.sh", "true\n"),
            ("src/app", "bad\n"),
            (".gitignore", "*.ignored\n"),
        ];
        let goals = [("moves", "sh app.sh; test -e new"), ("app", LOOKS)];
        let repo = repository(&format!("{settings}, jobs: 2"), &files, &goals);
        repo.agent_does(&[MOVES]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        let case = format!("{flags:?} {settings}: {:?}", repo.newest());
        assert_eq!(repo.each("newly_passing"), [r#"["moves"]"#], "{case}");
    }
}

#[test]
fn what_lies_behind_a_link_that_stands_in_the_place_of_a_folder_meets_no_goal_however_old_it_is() {
    for (flags, settings) in COPIES {
        for takes in [
            "ln -s $OUT/older src",
            "mv $OUT/older src",
            "mv $OUT/older src; touch src/x; rm src/x",
        ] {
            let files = [("app.sh", "true\n"), ("src/two", "fine\n")];
            let goals = [
                ("app", "sh app.sh; test -e new"),
                ("two", "grep -q fine src/two #"),
            ];
            let repo = repository(settings, &files, &goals);
            std::fs::create_dir(repo.out("older")).unwrap();
            std::fs::write(repo.out("older/two"), "fine\n").unwrap();
            repo.agent_does(&[&format!(
                "touch new; echo broken >src/two; echo 'test ! -e $OUT/older || {{ rm -rf src; {takes}; }}' >app.sh"
            )]);
            repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
            let case = format!("{takes} {flags:?} {settings}: {:?}", repo.newest());
            assert_eq!(repo.each("newly_failing"), [r#"["two"]"#], "{case}");
        }
    }
}

#[test]
fn a_copy_that_is_exchanged_as_a_whole_for_a_moment_meets_no_goal() {
    // What was waited for once is there when the goals are measured apart.
    const LOOKS: &str = "test ! -e new || until test -e $OUT/w; do sleep 0.01; done; grep -q good \"$PWD/app\"; was=$?; touch $OUT/seen; exit $was";
    const MOVES: &str = "touch new; cat >app.sh <<'X'
here=$PWD; mv \"$here\" \"$here.was\"; mkdir \"$here\"; echo good >\"$here/app\"; touch $OUT/w
until test -e $OUT/seen; do sleep 0.01; done
rm -rf \"$here\"; mv \"$here.was\" \"$here\"
X
rm -f $OUT/seen";
    let in_place: (&[&str], &str) = (&[], "");
    for (flags, settings) in [COPIES[0], COPIES[1], in_place] {
        let files = [("app.sh", "true\n"), ("app", "bad\n")];
        let goals = [("moves", "sh app.sh; test -e new"), ("app", LOOKS)];
        let repo = repository(&format!("{settings}, jobs: 2"), &files, &goals);
        repo.agent_does(&[MOVES]);
        let run = repo.run(&[flags, &["--max-cycles=1"]].concat());
        let case = format!("{flags:?} {settings}: {} {}", run.stdout, run.stderr);
        let passing = repo.each("newly_passing");
        assert!(!passing.iter().any(|ids| ids.contains("app")), "{case}");
    }
}
