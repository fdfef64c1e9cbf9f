//! `evolve report`: one page about all of it, well built whatever stands in the ledger, and written without disturbing anybody.

mod page;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use roxmltree::Node;

use page::{assert_well_built, elements, has_class, parsed, text};

use crate::harness::{TestRepo, everything_below};

const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";
/// The most characters that a pull request's text may have on GitHub.
const PULL_REQUEST: usize = 65_536;

/// The page of a repository.
#[track_caller]
fn page(repo: &TestRepo) -> String {
    let page = repo.evolve(&["report", "--out", "-"]).expect(0);
    assert_eq!(page.stderr, "");
    assert_well_built(&page.stdout);
    page.stdout
}

#[test]
fn a_struck_goal_waits_once_though_a_session_ended_for_it_without_a_record() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["true"; 4]);
    repo.run(&[]).expect(11);
    repo.run(&[]).expect(11);
    let words = markdown(&repo);
    assert!(words.contains("one thing waits for you"), "{words}");
    assert!(words.contains("`evolve retry a`"), "{words}");
    assert!(!words.contains("What ended the newest session"), "{words}");
}

#[test]
fn goals_that_came_or_went_since_they_were_measured_are_counted_and_marked() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4)]);
    repo.cycle("touch a").expect(0);
    let words = markdown(&repo);
    let left = "1 of 2 goals pass, and the score went from 0 to 55.56 in 1 cycle; no session is at work (the last one ended: ";
    assert!(words.contains(left), "{words}");
    assert!(words.contains("goes on with 1 failing goal."), "{words}");
    assert!(words.contains("\n1 call of an agent: "), "{words}");
    repo.cycle("touch b").expect(0);
    let goals = repo.read("GOALS.yaml").replace("id: b", "id: renamed");
    repo.write("GOALS.yaml", &goals);
    repo.commit_all("renamed");
    let words = markdown(&repo);
    for said in [
        "1 of 2 goals pass, 1 is not measured yet",
        "| renamed | 4 | not measured |",
        "| b (no goal any more) | 4 | ✓ pass |",
    ] {
        assert!(words.contains(said), "{said}: {words}");
    }
    let html = page(&repo);
    assert!(html.contains("no goal any more"), "{html}");
    let status = repo.answer(&["status"]);
    for said in [
        "goals      2\n",
        ", 1 of 2 goals pass\n",
        "new        renamed — not measured yet",
    ] {
        assert!(status.contains(said), "{said}: {status}");
    }
}

#[track_caller]
fn markdown(repo: &TestRepo) -> String {
    let said = repo.evolve(&["report", "--md"]).expect(0).stdout;
    assert!(said.chars().count() < PULL_REQUEST);
    said
}

/// Each cycle of a page with its words, the newest first.
fn cycles(page: &str) -> Vec<String> {
    let page = parsed(page);
    let inside = page.descendants().filter(|node| has_class(node, "inside"));
    let whole = |node: Node<'_, '_>| {
        let is_whole = |it: &Node<'_, '_>| it.tag_name().name() == "tbody";
        text(node.ancestors().find(is_whole).unwrap())
    };
    inside.map(whole).collect()
}

/// A repository in which cycles of most sorts have been run, with a value, two notes of work and a secret in a log.
fn lived_in() -> TestRepo {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: file a exists, check: test -e a, weight: 5}\n  \
           - {id: readme, description: file readme exists, check: test -e readme, weight: 3}\n  \
           - id: covered\n    description: enough is covered\n    check: cat covered\n    weight: 4\n    \
             continuous: {metric: percent, threshold: 80, direction: at-least}\n",
    );
    repo.write("readme", "");
    repo.write("covered", "55\n");
    repo.write(
        ".agents/rpi/next-work.jsonl",
        "{\"title\":\"say more\",\"severity\":\"high\",\"type\":\"docs\",\"description\":\"in the readme\"}\n\
         {\"title\":\"later\",\"severity\":\"low\",\"type\":\"docs\",\"description\":\"d\",\"target_repo\":\"elsewhere\"}\n",
    );
    repo.commit_all("first");
    repo.agent_does(&[
        "rm readme && touch a",
        "echo token=ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8; exit 3",
        "touch a; printf 'x' >\"$(printf 'caf\\351')\"",
        "echo 85 >covered",
        "echo more >>readme",
    ]);
    repo.run(&[]).expect(0);
    let results = repo.each("result").join(" ");
    assert_eq!(
        results,
        "regressed failed improved improved harvested idle idle idle"
    );
    repo
}

#[test]
fn the_page_tells_of_every_cycle_with_its_brief_its_change_and_its_log() {
    let repo = lived_in();
    let page = page(&repo);
    let verdict =
        "All 3 goals pass, and the score went from 25 to 100 in 8 cycles; nobody is needed.";
    assert!(page.contains(verdict), "{page}");
    let cycles = cycles(&page);
    assert_eq!(cycles.len(), 8);
    let holds = |cycle: usize, words: &[&str]| {
        let told = &cycles[8 - cycle];
        for word in words {
            assert!(
                told.contains(word),
                "{word} is not in cycle {cycle}:\n{told}"
            );
        }
    };
    holds(
        1,
        &[
            "regressed undone",
            "passed before and no longer: readme",
            "2 files, +0 −0, undone",
            "# Task",
        ],
    );
    holds(2, &["failed", "exit 3", "token=***"]);
    holds(
        3,
        &["improved", "passes now: a", "$'caf\\351'", "a: fail → pass"],
    );
    holds(
        4,
        &["covered: fail (55) → pass (85)", "1 file, +1 −1", "covered"],
    );
    holds(5, &["harvested", "next-work:say more"]);
    holds(8, &["idle", "nothing to do"]);
    assert!(page.contains("55 → 85; at least 80"), "{page}");
    assert!(
        page.contains("no goal fails and the queue is empty"),
        "{page}"
    );
    assert!(!page.contains("ghp_"), "a secret is in the page");
    assert!(page.contains(&repo.head()), "HEAD is not in the page");
}

#[test]
fn the_grid_has_each_goal_in_each_cycle_and_marks_the_one_worked_on() {
    let repo = lived_in();
    let page = page(&repo);
    let page = parsed(&page);
    let tables = elements(&page, "table");
    let grid = tables
        .iter()
        .find(|table| has_class(table, "grid"))
        .unwrap();
    let rows = grid
        .descendants()
        .filter(|node| node.tag_name().name() == "tr");
    let rows: BTreeMap<String, String> = rows
        .map(|row| {
            let head = row.first_element_child().unwrap();
            let cells = row.children().filter(|node| node.tag_name().name() == "td");
            let cells = cells.map(|cell| match has_class(&cell, "chosen") {
                true => format!("[{}]", text(cell).replace(" worked on", "")),
                false => text(cell),
            });
            (text(head), cells.collect())
        })
        .collect();
    for (head, cells) in [
        ("What became of the cycle", "○↶!▲▲◆···"),
        ("a weight 5", "✗[✓][✗][✓]✓✓✓✓✓"),
        ("readme weight 3", "✓✗✓✓✓✓✓✓✓"),
        ("covered weight 4", "✗✗✗✗[✓]✓✓✓✓"),
    ] {
        assert_eq!(rows[head], cells, "{head}");
    }
}

#[test]
fn the_short_text_has_the_goals_as_they_are_after_an_undo() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: file a exists, check: test -e a, weight: 5}\n  \
           - {id: readme, description: file readme exists, check: test -e readme, weight: 3}\n",
    );
    repo.write("readme", "");
    repo.commit_all("first");
    repo.agent_does(&["rm readme && touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    let said = markdown(&repo);
    assert!(said.contains("1 of 2"), "{said}");
    assert!(said.contains("| a | 5 | ✗ fail |"), "{said}");
    assert!(said.contains("| readme | 3 | ✓ pass |"), "{said}");
}

#[test]
fn a_goal_that_nobody_gets_on_with_waits_for_a_person_with_the_way_on() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["echo 'no way' >\"$EVOLVE_GIVE_UP\""]);
    repo.run(&[]).expect(11);
    let page = page(&repo);
    for words in [
        "You are needed.",
        "a was declined by the agent",
        "no way",
        "evolve retry a",
    ] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
    let short = markdown(&repo);
    assert!(
        short.contains("- **a was declined by the agent**: no way — "),
        "{short}"
    );
    assert!(short.contains("`evolve retry a`\n"), "{short}");
}

#[test]
fn what_ended_the_newest_session_waits_for_a_person_where_no_goal_does() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let commit = "env -u GIT_REFLOG_ACTION git commit -q --allow-empty -m mine";
    repo.agent_does(&[commit, "touch a"]);
    repo.run(&[]).expect(11);
    for page in [page(&repo), markdown(&repo)] {
        for words in [
            "You are needed.",
            "one thing waits for you",
            "somebody else committed",
        ] {
            assert!(page.contains(words), "{words} is not in\n{page}");
        }
        assert!(!page.contains("nobody is needed"), "{page}");
    }
    repo.run(&["--max-cycles=1"]).expect(0);
    let page = markdown(&repo);
    assert!(page.contains("nobody is needed"), "{page}");
}

/// Text that would be markup, a link, a person, a colour or a secret, were it not for those who draw it.
const HOSTILE: &str = "<script>alert(1)</script>\"><img src=x onerror=alert(1)>&amp; @team #1 `x` {{ 7*7 }} \u{1b}[31mred \u{202e}ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

/// A record as somebody else may have written it.
fn record(cycle: usize, words: &str) -> String {
    serde_json::json!({
        "format": 1, "cycle": cycle, "goal_id": words, "result": "failed", "commit_sha": words, "reverted_to": null,
        "goals_passing": 0, "goals_total": 1, "goals_added": 0, "timestamp": words, "score_before": 50.0,
        "score_after": 1e300, "newly_failing": [words], "newly_passing": [words], "reason": words, "session": words,
        "agent": {"name": words, "status": words, "exit": 1, "duration_s": -1.0, "tokens": 1, "cost_usd": 0.1},
        "notes": [words]
    })
    .to_string()
}

fn snapshot(words: &str, value: f64) -> String {
    serde_json::json!({
        "format": 1, "cycle": 1, "timestamp": words, "cycle_start_sha": words, "goals_digest": words, "score": 50.0,
        "goals_passing": 0, "goals_total": 1,
        "goals": [{"id": words, "result": "fail", "weight": 5, "value": value, "threshold": -1e300, "duration_s": 0.0,
            "attempts": 1, "output_tail": words}]
    })
    .to_string()
}

#[test]
fn words_of_others_stay_words_in_every_place() {
    let repo = TestRepo::empty();
    repo.write(
        "GOALS.yaml",
        "goals: [{id: a, description: '<script>d</script>', check: ls, weight: 1}]\n",
    );
    repo.commit_all("first");
    // The second number is there twice, as after a merge.
    let records = [record(1, HOSTILE), record(2, HOSTILE), record(2, HOSTILE)];
    repo.write(
        HISTORY,
        &format!("{}\nno record\u{7}<b>\n", records.join("\n")),
    );
    for (name, value) in [
        ("0-baseline", 1e308),
        ("1", -1e308),
        ("1-post", 2.0),
        ("2", 3.0),
    ] {
        repo.write(
            &format!(".agents/evolve/fitness-{name}.json"),
            &snapshot(HOSTILE, value),
        );
    }
    let item =
        serde_json::json!({"title": HOSTILE, "type": HOSTILE, "source": HOSTILE, "failures": 3});
    let open = serde_json::json!({"title": format!("{HOSTILE} too"), "severity": HOSTILE});
    repo.write(".agents/rpi/next-work.jsonl", &format!("{item}\n{open}\n"));
    repo.write(".agents/evolve/STOP", HOSTILE);
    repo.write(
        ".agents/evolve/session-summary.md",
        &format!("- ended: {HOSTILE}\n"),
    );
    let page = page(&repo);
    let short = markdown(&repo);
    assert_eq!(cycles(&page).len(), 3);
    assert!(
        text(parsed(&page).root_element()).contains("<script>alert(1)</script>"),
        "{page}"
    );
    let hidden = ["ghp_", "\u{1b}", "\u{202e}", "\u{7}"];
    for part in hidden.iter().chain(&["<script", "<img"]) {
        assert!(!page.contains(part), "{part:?} is in\n{page}");
    }
    // In Markdown a stroke in front of it takes the meaning away from a character.
    let plain = short.replace("\\<", "");
    for part in hidden.iter().chain(&["<script", "<img", "@team", "#1"]) {
        assert!(!plain.contains(part), "{part:?} is in\n{short}");
    }
}

#[test]
fn a_long_history_makes_a_page_of_a_few_megabytes_and_a_short_text() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let long = "a long reason with a / in it ".repeat(100);
    let records: Vec<String> = (1..=3_000)
        .map(|cycle| {
            let words = if cycle > 2_900 { &long } else { "short" };
            let mut record: serde_json::Value =
                serde_json::from_str(&record(cycle, words)).unwrap();
            record["session"] = "s-1".into();
            record.to_string()
        })
        .collect();
    repo.write(HISTORY, &(records.join("\n") + "\n"));
    let logs = repo.private().join("logs/s-1");
    fs::create_dir_all(&logs).unwrap();
    for cycle in 2_901..=3_000 {
        fs::write(logs.join(format!("{cycle}-brief.txt")), "/".repeat(200_000)).unwrap();
        fs::write(
            logs.join(format!("{cycle}-agent.log")),
            "<b>".repeat(200_000),
        )
        .unwrap();
    }
    let page = page(&repo);
    assert!(page.len() < 4_000_000, "{}", page.len());
    assert!(page.contains("Left out: 2900 older cycles"));
    assert!(page.contains("the report would be too large"));
    let short = markdown(&repo);
    assert!(short.contains("\nand 29"), "{short}");
}

#[test]
fn a_report_writes_its_file_in_one_step_and_nothing_else() {
    let repo = lived_in();
    let before = everything_below(&repo.root());
    repo.evolve(&["report", "--out", "-"]).expect(0);
    repo.evolve(&["report", "--md"]).expect(0);
    assert_eq!(everything_below(&repo.root()), before);
    let said = repo.answer(&["report"]);
    assert_eq!(
        said,
        "All 3 goals pass, and the score went from 25 to 100 in 8 cycles; nobody is needed.\n[root]/.git/evolve/report.html\n"
    );
    let mut after = everything_below(&repo.root());
    let file = repo.private().join("report.html");
    assert_well_built(&fs::read_to_string(&file).unwrap());
    assert!(after.remove(&file).is_some());
    assert_eq!(after, before);
    assert_eq!(repo.evolve(&["-q", "report"]).expect(0).stdout, "");
    repo.evolve(&["report", "--md", "--out", "../agent/r.md"])
        .expect(0);
    assert!(repo.said("r.md").starts_with("## evolve report: repo\n"));
    repo.evolve(&["report", "-o", "/proc/nowhere/r.html"])
        .expect(1);
}

#[test]
fn a_report_in_the_middle_of_a_cycle_disturbs_nobody() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let program = repo.program().display().to_string();
    repo.cycle(&format!(
        "'{program}' report >\"$PWD/a\" && '{program}' report --md >/dev/null"
    ))
    .expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record}");
    assert_eq!(record.get("notes"), None, "{record}");
    assert!(repo.read("a").contains(".git/evolve/report.html"));
    assert!(repo.private().join("report.html").is_file());
    repo.cycle("exit 0").expect(0);
    assert!(repo.private().join("report.html").is_file());
    assert_eq!(repo.evolve(&["audit"]).expect(0).stderr, "");
}

#[test]
fn nothing_leads_a_report_out_of_its_places() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    fs::write(repo.out("1-agent.log"), "from elsewhere\n").unwrap();
    fs::create_dir_all(repo.private().join("logs")).unwrap();
    let elsewhere = format!(
        "../../../../{}",
        repo.outside().file_name().unwrap().display()
    );
    repo.write(
        HISTORY,
        &format!("{}\n{}\n", record(1, &elsewhere), record(1, "linked")),
    );
    std::os::unix::fs::symlink(repo.outside(), repo.private().join("logs/linked")).unwrap();
    std::os::unix::fs::symlink(repo.out("victim"), repo.private().join("report.html")).unwrap();
    assert!(!page(&repo).contains("from elsewhere"));
    repo.evolve(&["report"]).expect(0);
    assert!(!repo.out("victim").exists(), "a link was followed");
    assert!(
        repo.private()
            .join("report.html")
            .symlink_metadata()
            .unwrap()
            .is_file()
    );
}

#[test]
fn before_the_first_cycle_the_page_says_so() {
    let repo = TestRepo::empty();
    let page = page(&repo);
    for words in [
        "No cycle has been recorded yet",
        "there is no GOALS.yaml",
        "no commit yet",
    ] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
    assert!(markdown(&repo).contains("No cycle has been recorded yet.\n"));
    let wanting = TestRepo::with_files_wanted(&[("a", 5)]);
    let said = wanting.answer(&["report"]);
    assert!(
        said.starts_with("No cycle has been recorded yet; nobody is needed.\n"),
        "{said}"
    );
    assert_well_built(&wanting.evolve(&["report", "--out", "-"]).expect(0).stdout);
    let text = markdown(&wanting);
    assert!(text.contains("| a | 5 | not measured |  |\n"), "{text}");
    assert!(text.ends_with("</details>\n"), "{text}");
}

#[test]
fn without_a_repository_there_is_no_report() {
    let repo = TestRepo::empty();
    let outside = repo.outside().display().to_string();
    let run = repo.evolve(&["-C", &outside, "report"]).expect(3);
    assert!(
        run.stderr.contains("is not in a git repository"),
        "{}",
        run.stderr
    );
    let conflict = repo.evolve(&["report", "--open", "--md"]).expect(2);
    assert!(
        conflict.stderr.contains("cannot be used with"),
        "{}",
        conflict.stderr
    );
    repo.evolve(&["report", "--open", "--out", "-"]).expect(2);
}

#[test]
fn the_page_is_opened_with_what_the_desktop_has_for_it() {
    let mut repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.installs("xdg-open");
    let out = repo.out("opened");
    fs::write(
        repo.out("agent"),
        format!("echo \"$1\" >'{}'\n", out.display()),
    )
    .unwrap();
    let said = repo.answer(&["report", "--open"]);
    assert!(said.ends_with("[root]/.git/evolve/report.html\n"), "{said}");
    repo.wait_for("opened");
    crate::harness::wait_until("the path is written", || {
        repo.said("opened").ends_with('\n')
    });
    let opened = repo.said("opened");
    assert!(
        opened
            .trim()
            .as_bytes()
            .ends_with(b"/.git/evolve/report.html"),
        "{opened}"
    );
    fs::remove_file(repo.out("bin/xdg-open")).unwrap();
    let run = repo.evolve(&["report", "--open"]).expect(1);
    assert!(
        run.stderr
            .starts_with("error: nothing here opens a web page\nhint: the report is there"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("open "), "{}", run.stderr);
    let path = repo.private().join("report.html");
    assert!(!path.as_os_str().as_bytes().is_empty() && path.is_file());
}

#[test]
fn no_page_is_written_over_the_goals_and_what_git_and_evolve_keep() {
    let repo = TestRepo::with_number("1");
    repo.write(
        "GOALS.yaml",
        "goals:\n  - {id: a, description: a, check: test -e a, weight: 5}\n",
    );
    repo.write("other.yaml", &repo.read("GOALS.yaml"));
    repo.write("SEARCH.yaml", "fitness: sh score.sh\nfiles: [x]\n");
    repo.commit_all("more");
    std::os::unix::fs::symlink("GOALS.yaml", repo.path("link")).unwrap();
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let before = crate::harness::files_below(&repo.root());
    let places = [
        "GOALS.yaml",
        "./none/../GOALS.yaml",
        "link",
        "SEARCH.yaml",
        ".git/config",
        ".git/evolve/search/1/lineage.jsonl",
        ".agents/evolve/none/page",
    ];
    for words in [
        &["search", "export", "--out"][..],
        &["search", "report", "--out"],
        &["report", "--out"],
        &["measure", "--junit"],
        &["--max-cycles=1", "--agent=true", "--junit"],
    ] {
        for place in places {
            let said = repo.error(2, &[words, &[place]].concat());
            assert!(said.contains("is not written over"), "{words:?}: {said}");
        }
    }
    let said = repo.error(2, &["report", "--goals=other.yaml", "--out=other.yaml"]);
    assert!(said.contains("the goals are there"), "{said}");
    assert_eq!(crate::harness::files_below(&repo.root()), before);
    repo.evolve(&["search", "export", "--out=new/lineage.jsonl"])
        .expect(0);
    assert!(repo.has("new/lineage.jsonl"));
}
