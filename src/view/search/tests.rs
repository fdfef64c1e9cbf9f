use super::*;
use crate::model::git::patch::{FileChange, Patch};
use crate::model::search::view::{Entry, Sampled};
use crate::view::samples;

fn plain(page: &str) -> String {
    anstream::adapter::strip_str(page).to_string()
}

#[test]
fn the_leaderboard_has_the_best_first_and_everything_else_below() {
    let page = plain(&board::page(
        &samples::overview(),
        board::Wanted::default(),
        None,
    ));
    let expected = "\
search 1 · population · higher is better · 2 attempts: 1 accepted, 1 invalid · requests per second
rank  id  score  delta  percent  made                             lens     ending
1     1   2.5    +0.5   +25.0 %  mutation of the baseline         caching  accepted, best  keep what was computed
2     0   2      -      -        -                                         baseline
-     2   -      -      -        crossover of 1 and the baseline           invalid         its last line is no number: \"nan\"

generation  best  mean  best moved  valid and new  attempts
1           2.5   2.5   +0.5        1 of 2         1–2

attempt 1: measured once more: 2.5, the baseline 2

way: the baseline (2) → attempt 1 (2.5)
";
    assert_eq!(page, expected);
}

#[test]
fn what_scores_better_than_the_best_and_was_not_confirmed_says_so_in_its_row() {
    let mut overview = samples::overview();
    overview.rows[1].rank = Some(2);
    overview.rows[0].rank = Some(3);
    let unconfirmed = Row {
        id: 3,
        ending: "unconfirmed",
        rank: Some(1),
        score: Some(2.6),
        best: false,
        new_best: false,
        ..overview.rows[1].clone()
    };
    overview.rows.push(Row {
        id: 4,
        pruned: true,
        ..unconfirmed.clone()
    });
    overview.rows.push(Row {
        id: 5,
        score: Some(2.4),
        ..unconfirmed.clone()
    });
    overview.rows.push(unconfirmed);
    let page = plain(&board::page(&overview, board::Wanted::default(), Some(80)));
    let row = |score: &str| page.lines().find(|line| line.contains(score)).unwrap();
    assert!(row("2.6 ").contains("unconfirmed, maybe luck"), "{page}");
    assert!(row(" 4   2.6 ").contains("unconfirmed, pruned"), "{page}");
    assert!(!row("2.4 ").contains("luck"), "{page}");
    assert_eq!(page.matches("luck").count(), 1, "{page}");
}

#[test]
fn a_long_leaderboard_says_how_many_more_there_are() {
    let mut overview = samples::overview();
    let better = overview.rows[1].clone();
    overview.rows.extend((3..60).map(|id| Row {
        id,
        rank: (id < 40).then_some(id),
        ..better.clone()
    }));
    let short = plain(&board::page(&overview, board::Wanted::default(), Some(80)));
    assert!(
        short.contains("\nand 30 more; --all shows them\n"),
        "{short}"
    );
    let all = board::Wanted {
        all: true,
        chart: true,
    };
    let page = plain(&board::page(&overview, all, Some(80)));
    assert!(!page.contains("more;") && page.contains("┤"), "{page}");
}

#[test]
fn a_narrow_leaderboard_has_the_essentials_and_no_line_that_is_too_long() {
    let mut overview = samples::overview();
    overview.rows[1].lens = Some("data structures: how the data lies in memory".to_owned());
    overview.rows[1].reason = Some("attempt 7 has the same score, and it is newer".to_owned());
    overview.rows[1].pruned = true;
    overview.rows[1].best = false;
    let wanted = board::Wanted {
        all: true,
        chart: true,
    };
    for (width, row) in [
        (
            100,
            "1     1   2.5    +0.5   +25.0 %  mutation 0     data structures  accepted, pruned  attempt 7 has…",
        ),
        (
            80,
            "1     1   2.5    +0.5   mutation 0     data structures  accepted, pruned",
        ),
        (60, "1   2.5    +0.5   mutation 0     accepted, pruned"),
        (40, "1   2.5    mutation 0     accepted…"),
    ] {
        let page = plain(&board::page(&overview, wanted, Some(width)));
        assert!(page.lines().any(|line| line == row), "{width}: {page}");
        let is_within = |line: &str| line.chars().count() <= width;
        assert!(page.lines().all(is_within), "{width}: {page}");
    }
}

#[test]
fn the_status_says_what_comes_next_and_what_is_used() {
    let mut overview = samples::overview();
    let expected = "\
search     1 · population · higher is better · seed 7 · since 2026-02-11T21:00:00Z on main
objective  requests per second
fitness    ./bench.sh
state      ended: all attempts are done
baseline   2
best       attempt 1: 2.5, +0.5 (+25.0 %)
           measured once more: 2.5, the baseline 2
way        the baseline (2) → attempt 1 (2.5)
attempts   2 attempts: 1 accepted, 1 invalid
on resume  an agent works on attempt 3, fresh
limits     2 of 2 attempts
           1 of 3 without a new best
           $0.31 of $2.00
cost       1,200 tokens, $0.31
";
    assert_eq!(plain(&status::page(&overview, None, false, None)), expected);
    overview.limits[1].used = Some(7.0);
    let exploring = plain(&status::page(&overview, None, false, None));
    assert!(
        exploring.contains("7 without a new best, exploring after the first 3\n"),
        "{exploring}"
    );
    overview.ended = None;
    overview.ended_words = None;
    overview.can_go_on = true;
    let stopped = plain(&status::page(&overview, None, false, None));
    assert!(
        stopped.contains("`evolve search resume` goes on"),
        "{stopped}"
    );
    let running = status::Running {
        pid: 7,
        since: "2026-02-11T21:00:00Z".to_owned(),
    };
    let running = plain(&status::page(&overview, Some(&running), false, None));
    assert!(running.contains("at work, process 7"), "{running}");
    assert!(running.contains("under way  an agent"), "{running}");
}

#[test]
fn the_final_report_names_winner_way_ending_attempts_cost_and_what_to_do() {
    let mut overview = samples::overview();
    let page = plain(&ended::page(&overview, "all attempts are done", 0, None));
    let expected = "\
ended      all attempts are done
winner     attempt 1: 2.5, +0.5 (+25.0 %), the baseline 2; mutation of the baseline
           keep what was computed
           measured once more: 2.5, the baseline 2
way        the baseline (2) → attempt 1 (2.5)
curve      2 ▁██ 2.5
attempts   2 attempts: 1 accepted, 1 invalid
cost       1,200 tokens, $0.31
next       `evolve search diff 1` shows what it changes
           `evolve search apply` lands it
";
    assert_eq!(page, expected);
    overview.best = 0;
    overview.ended = None;
    overview.can_go_on = true;
    overview.way = vec![0];
    let page = plain(&ended::page(&overview, "KILL", 130, None));
    assert!(
        page.contains("winner     none: nothing is better than the baseline, 2\n"),
        "{page}"
    );
    assert!(
        page.contains("next       `evolve search resume` goes on\n"),
        "{page}"
    );
    assert!(!page.contains("apply"), "{page}");
}

#[test]
fn the_final_report_says_that_nothing_was_tried_where_the_agent_failed_each_time() {
    let mut overview = samples::overview();
    overview.best = 0;
    for row in overview.rows.iter_mut().skip(1) {
        row.ending = "agent failed";
        row.reason = Some("ended with exit 1: no key".to_owned());
    }
    overview.failed_log = Some(".git/evolve/search/1/2/2-agent.log".to_owned());
    let told = |overview: &Overview| plain(&ended::page(overview, "plateau", 0, None));
    let page = told(&overview);
    let agent = "agent      failed each time, so nothing was tried; the last time: ended with exit 1: no key; log: .git/evolve/search/1/2/2-agent.log\n";
    assert!(page.contains(agent), "{page}");
    let next = "next       `evolve search show 2` shows what its agent was told and said\n";
    assert!(page.contains(next), "{page}");
    overview.rows[1].ending = "worse";
    let page = told(&overview);
    assert!(!page.contains("each time"), "{page}");
    overview.rows.truncate(1);
    let page = told(&overview);
    assert!(!page.contains("each time"), "{page}");
}

#[test]
fn one_attempt_is_told_with_why_how_it_was_measured_and_what_it_changes() {
    let overview = samples::overview();
    let sampled = [Sampled {
        purpose: "beside",
        beside: Some(0),
        samples: vec![2.5, 2.6],
        beside_samples: vec![2.0],
        reason: None,
        duration_s: 12.0,
    }];
    let patch = Patch {
        files: vec![FileChange {
            path: "a.rs".to_owned(),
            added: 2,
            removed: 1,
            is_binary: false,
        }],
        ..Patch::default()
    };
    let page = attempt::Page {
        overview: &overview,
        row: &overview.rows[1],
        agent: "claude",
        sampled: &sampled,
        tasks: &[("speed".to_owned(), 2.5)].into(),
        commit: Some("abc"),
        patch: Some(&patch),
        logs: &[".git/evolve/search/1/1/brief.txt".to_owned()],
        brief: None,
        log: None,
        failed: None,
    };
    let expected = "\
attempt 1 · mutation of the baseline · accepted, the best
score          2.5, +0.5 (+25.0 %), rank 1
tasks          speed 2.5
lens           caching
summary        keep what was computed
agent          claude, 1m 01s, 1,200 tokens, $0.31
commit         abc
measured       beside the baseline: 2.5, 2.6 against 2 (12 s)
log            .git/evolve/search/1/1/brief.txt

changed: 1 file, 2 lines added, 1 removed
a.rs  3  ++  -
";
    assert_eq!(plain(&page.text(None)), expected);
    let invalid = attempt::Page {
        row: &overview.rows[2],
        patch: None,
        commit: None,
        ..page
    };
    let text = plain(&invalid.text(Some(60)));
    assert!(
        text.contains("why            its last line is no number: \"nan\""),
        "{text}"
    );
    assert!(
        text.contains("left out       bench.sh (not editable)"),
        "{text}"
    );
}

#[test]
fn the_page_tells_scores_tree_and_attempts_and_escapes_what_others_wrote() {
    let mut overview = samples::overview();
    overview.rows[1].summary = Some("<script>alert(1)</script>".to_owned());
    overview.objective = Some("speed & size".to_owned());
    let entries: Vec<Entry> = overview.rows[1..]
        .iter()
        .map(|row| Entry::new(row, String::new(), Vec::new()).with_brief("be <b>bold</b>"))
        .collect();
    let page = page::html(&page::Material {
        name: "calc",
        overview: &overview,
        entries: &entries,
        provenance: &[("evolve", "0.1.0".to_owned())],
    });
    for words in [
        "<title>calc · search 1 · evolve report</title>",
        "speed &amp; size",
        "From 2 to 2.5 with attempt 1.",
        "id=\"scores-wide-title\"",
        "The way to the best: the baseline (2) → attempt 1 (2.5).",
        "1 attempt from it led no further: 1 invalid (2)",
        "be &lt;b&gt;bold&lt;",
        "<a href=\"#attempt-1\">attempt 1</a>",
    ] {
        assert!(page.contains(words), "{words}\n{page}");
    }
    assert!(!page.contains("<script"), "{page}");
    // Once for wide pages and once for narrow ones.
    assert_eq!(page.matches("class=\"cross\"").count(), 2);
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"),
        "{page}"
    );
}

#[test]
fn nothing_of_a_search_without_a_score_goes_wrong() {
    let mut overview = samples::overview();
    overview.rows = vec![Row::default()];
    overview.curve.clear();
    overview.way = vec![0];
    overview.best = 0;
    overview.baseline = None;
    overview.generations.clear();
    board::page(
        &overview,
        board::Wanted {
            all: true,
            chart: true,
        },
        Some(40),
    );
    status::page(&overview, None, false, None);
    ended::page(&overview, "stopped", 0, None);
    let page = page::html(&page::Material {
        name: "calc",
        overview: &overview,
        entries: &[],
        provenance: &[],
    });
    assert!(page.contains("Nothing has a score yet."), "{page}");
}
