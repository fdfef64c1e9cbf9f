//! `evolve ratchet`: thresholds follow what was reached, and nothing else of the goals file changes.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use insta::assert_snapshot;

use crate::harness::{TestRepo, output, pid_in};

const GOALS: &str = "\
# The goals; 80 is a lot.
version: 1
goals:
  - id: coverage   # lines, 80
    description: enough
    check: cat coverage
    weight: 6
    continuous:
      threshold:   80    # raised on Monday
      direction: at-least

  - {id: size, description: small, check: cat size, weight: 3, continuous: {direction: at-most, threshold: 100.0}}
  - {id: failing, description: fails, check: echo 50, weight: 3, continuous: {direction: at-least, threshold: 60}}
  - {id: near, description: near, check: echo 101, weight: 3, continuous: {direction: at-least, threshold: 100}}
  - {id: exit, description: no number, check: 'true', weight: 3}
";

fn measured() -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("GOALS.yaml", GOALS);
    repo.write("coverage", "85.75\n");
    repo.write("size", "90.24\n");
    repo.commit_all("first");
    repo
}

#[test]
fn thresholds_with_headroom_are_shown_and_only_with_apply_written() {
    let repo = measured();
    assert_snapshot!(repo.answer(&["ratchet"]), @r#"
    goal         threshold  actual  headroom in %  new
    coverage  ≥  80         85.75   7.2            85
    size      ≤  100        90.24   9.8            90.3
    failing   ≥  60         50                     stays: it fails
    near      ≥  100        101     1.0            stays: little headroom
    2 thresholds can be tightened: `evolve ratchet --apply` writes that
    "#);
    assert_eq!(repo.read("GOALS.yaml"), GOALS);
    let mode = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(repo.path("GOALS.yaml"), mode).unwrap();
    let said = repo.answer(&["ratchet", "--apply"]);
    assert_snapshot!(said.lines().last().unwrap_or_default(), @"2 thresholds tightened in GOALS.yaml; commit it to have it count");
    let expected = GOALS
        .replace("  80    #", "  85    #")
        .replace("100.0}}", "90.3}}");
    assert_eq!(repo.read("GOALS.yaml"), expected);
    let mode = std::fs::metadata(repo.path("GOALS.yaml"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_snapshot!(repo.answer(&["ratchet", "--apply"]), @r#"
    goal         threshold  actual  headroom in %  new
    coverage  ≥  85         85.75   0.9            stays: little headroom
    size      ≤  90.3       90.24   0.1            stays: little headroom
    failing   ≥  60         50                     stays: it fails
    near      ≥  100        101     1.0            stays: little headroom
    nothing to tighten: no threshold has more than 3 % headroom, of coverage 3 points
    "#);
    assert_eq!(repo.read("GOALS.yaml"), expected);
}

#[test]
fn who_would_hold_a_time_to_one_measurement_is_cautioned() {
    let repo = TestRepo::empty();
    let goals = "goals:
  - {id: test-time, description: d, check: echo 8.123, weight: 3, continuous: {direction: at-most, threshold: 10}}
  - {id: build-time, description: d, check: echo 5, weight: 3, continuous: {direction: at-most, threshold: 10, tolerance: 1}}
  - {id: warnings, description: d, check: echo 5, weight: 3, continuous: {direction: at-most, threshold: 10}}
";
    repo.write("GOALS.yaml", goals);
    repo.commit_all("first");
    assert_snapshot!(repo.answer(&["ratchet"]), @r#"
    goal           threshold  actual  headroom in %  new
    test-time   ≤  10         8.123   18.8           8.2
    build-time  ≤  10         5       50.0           5
    warnings    ≤  10         5       50.0           5
    caution of test-time: a time, measured once, without a tolerance; a slow run would fail it (`tolerance` in GOALS.yaml lets that pass)
    3 thresholds can be tightened: `evolve ratchet --apply` writes that
    "#);
}

#[test]
fn a_threshold_that_is_shared_stays_and_the_others_are_tightened() {
    let repo = measured();
    let shared = GOALS
        .replace("  80    #", "  &much 80    #")
        .replace("threshold: 60", "threshold: *much");
    repo.write("GOALS.yaml", &shared);
    let said = repo.answer(&["ratchet", "--apply"]);
    assert_snapshot!(said, @r#"
    goal         threshold  actual  headroom in %  new
    size      ≤  100        90.24   9.8            90.3
    coverage  ≥  80         85.75   7.2            stays: it is shared with other goals
    failing   ≥  80         50                     stays: it fails
    near      ≥  100        101     1.0            stays: little headroom
    1 threshold tightened in GOALS.yaml; commit it to have it count
    "#);
    let expected = shared.replace("100.0}}", "90.3}}");
    assert_eq!(repo.read("GOALS.yaml"), expected);
}

#[test]
fn numbers_that_nobody_writes_out_are_shown_short_and_left_alone() {
    let repo = TestRepo::empty();
    let goals = "goals:
  - {id: far, description: d, check: echo 5, weight: 3, continuous: {direction: at-most, threshold: 1e300}}
  - {id: huge, description: d, check: echo 2e300, weight: 3, continuous: {direction: at-least, threshold: 1}}
  - {id: over, description: d, check: echo 1e300, weight: 3, continuous: {direction: at-most, threshold: 1.5e300}}
";
    repo.write("GOALS.yaml", goals);
    repo.commit_all("first");
    assert_snapshot!(repo.answer(&["ratchet", "--apply"]), @r#"
    goal     threshold  actual  headroom in %  new
    far   ≤  1e300      5       100.0          5
    huge  ≥  1          2e300   > 9999         stays: it is too large to be written out
    over  ≤  1.5e300    1e300   33.3           stays: it is too large to be written out
    1 threshold tightened in GOALS.yaml; commit it to have it count
    "#);
    assert_eq!(
        repo.read("GOALS.yaml"),
        goals.replace("threshold: 1e300", "threshold: 5")
    );
}

#[test]
fn progress_is_shown_as_it_is_asked_for() {
    let repo = measured();
    repo.evolve(&["ratchet", "--progress=plain", "--jobs=1"])
        .expect(0);
    let refused = repo.evolve(&["ratchet", "--progress=live"]).expect(2);
    assert!(
        refused.stderr.contains("--progress live needs a terminal"),
        "{}",
        refused.stderr
    );
}

#[test]
fn what_changed_while_the_goals_were_measured_is_not_overwritten() {
    let repo = measured();
    let changing = GOALS.replace(
        "check: cat size",
        "check: 'cat size; echo \"# mine\" >>GOALS.yaml'",
    );
    repo.write("GOALS.yaml", &changing);
    let said = repo.evolve(&["ratchet", "--apply"]).expect(2);
    let told =
        "error: GOALS.yaml is left as it is: somebody changed it meanwhile\nhint: run it again\n";
    let warned = "warning: while the checks ran, 1 tracked file changed, of which 1 had changes that were not committed: GOALS.yaml; ";
    assert!(
        said.stderr.starts_with(warned) && said.stderr.ends_with(told),
        "{}",
        said.stderr
    );
    assert_eq!(repo.read("GOALS.yaml"), changing + "# mine\n");
}

#[test]
fn the_goalposts_are_not_moved_under_a_loop_at_work() {
    let repo = measured().with_out();
    repo.agent_does(&["touch $OUT/at-work; until [ -e $OUT/go ]; do sleep 0.05; done"]);
    let run = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("at-work");
    let said = repo.evolve(&["ratchet", "--apply"]).expect(5);
    assert!(
        said.stderr.contains("the loop is at work here"),
        "{}",
        said.stderr
    );
    std::fs::write(repo.out("go"), "").unwrap();
    crate::harness::finish(run).expect(0);
    assert_eq!(repo.read("GOALS.yaml"), GOALS);
}

#[test]
fn nothing_is_written_over_a_cycle_that_was_cut_short_and_waits_to_be_settled() {
    let repo = measured().with_out();
    repo.agent_does(&["echo agents >>GOALS.yaml; echo $$ >\"$OUT/pid\"; sleep 300"]);
    let mut child = repo.spawn_run(&["--max-cycles=1"]);
    pid_in(&repo.out("pid"));
    child.kill().unwrap();
    child.wait().unwrap();
    let left = repo.read("GOALS.yaml");
    for words in [
        &["ratchet", "--apply"][..],
        &["init", "--add", "--write"],
        &["search", "init"],
    ] {
        let said = repo.error(3, words);
        assert!(said.contains("waits to be settled"), "{words:?}: {said}");
    }
    assert_eq!(repo.read("GOALS.yaml"), left);
    assert!(!repo.has("SEARCH.yaml"));
    repo.cycle("true");
    repo.evolve(&["ratchet", "--apply"]).expect(0);
    assert!(repo.read("GOALS.yaml").contains("threshold:   85"));
}

#[test]
fn what_a_killed_command_left_beside_the_goals_is_removed_by_the_next_and_nothing_else() {
    let gone = output(Command::new("sh").args(["-c", "printf %x $$"])).stdout;
    let gone = String::from_utf8(gone).unwrap();
    let alive = format!("{:x}", std::process::id());
    let repo = measured();
    let left = format!(".GOALS.yaml.{gone}.tmp");
    let others = [
        format!(".GOALS.yaml.{alive}.tmp"),
        format!(".notes.{gone}.tmp"),
        ".GOALS.yaml.mine.tmp".to_owned(),
        format!("GOALS.yaml.{gone}.tmp"),
    ];
    for words in [
        &["ratchet", "--apply"][..],
        &["init", "--add", "--write", "--no-measure"],
        &["--agent=true", "--max-cycles=1"],
    ] {
        for name in others.iter().chain([&left]) {
            repo.write(name, "half\n");
        }
        repo.git(&["add", "GOALS.yaml"]);
        repo.git(&["commit", "-q", "--allow-empty", "-m", "goals"]);
        repo.evolve(words);
        assert!(!repo.has(&left), "{words:?}");
        for name in &others {
            assert!(repo.has(name), "{words:?}: {name}");
        }
    }
}

#[test]
fn a_file_without_thresholds_has_nothing_to_tighten() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    assert_snapshot!(repo.answer(&["ratchet", "--apply"]), @"no goal has a threshold with a direction");
}

#[test]
fn programs_are_told_each_threshold_and_what_becomes_of_it() {
    let repo = measured();
    let told = |arguments: &[&str]| -> serde_json::Value {
        let said = repo
            .evolve(&[&["ratchet", "--json"], arguments].concat())
            .expect(0);
        serde_json::from_str(&said.stdout).unwrap()
    };
    let document = told(&[]);
    assert_eq!(document["applied"], false);
    let of = |number: usize| &document["thresholds"][number];
    assert_eq!(
        *of(0),
        serde_json::json!({
            "goal_id": "coverage", "direction": "at-least", "old": 80.0, "actual": 85.75,
            "headroom_percent": 5.75, "new": 85.0, "stays": null,
        })
    );
    assert_eq!(
        (&of(2)["new"], &of(2)["stays"]),
        (&serde_json::Value::Null, &"it fails".into())
    );
    assert_eq!(repo.read("GOALS.yaml"), GOALS);
    assert_eq!(told(&["--apply"])["applied"], true);
    assert!(repo.read("GOALS.yaml").contains("  85    #"));
    assert_eq!(told(&["--apply"])["applied"], false);
}
