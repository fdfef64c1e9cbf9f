use super::*;

/// Of a clone that holds everything.
fn in_sight(_: &str) -> bool {
    false
}

fn line(cycle: u64, passing: usize) -> String {
    format!(
        r#"{{"format":1,"cycle":{cycle},"goal_id":null,"result":"idle","commit_sha":"c","reverted_to":null,"goals_passing":{passing},"goals_total":2,"goals_added":0,"timestamp":"t"}}"#
    )
}

fn recording(cycle: u64) -> Written {
    Written {
        commit: format!("commit{cycle}"),
        trailers: Trailers {
            cycle: Some(cycle),
            result: Some("idle".to_owned()),
            ..Trailers::default()
        },
        added: vec![line(cycle, 1)],
        ..Written::default()
    }
}

fn by_hand(added: &[String], lost: &[String]) -> Written {
    Written {
        commit: "by-hand".to_owned(),
        added: added.to_vec(),
        lost: lost.to_vec(),
        ..Written::default()
    }
}

/// The disagreements, as `cycle commit what`.
fn told(now: &[String], written: &[Written]) -> Vec<String> {
    let found = lines(now, written, &Unseen::default(), in_sight).disagreements;
    let shown = |one: &Disagreement| {
        format!(
            "{} {} {}",
            one.cycle.unwrap_or(0),
            one.commit.as_deref().unwrap_or("-"),
            one.what
        )
    };
    found.iter().map(shown).collect()
}

#[test]
fn a_history_whose_lines_were_each_recorded_agrees() {
    let now = [line(1, 1), line(2, 1)];
    let found = lines(
        &now,
        &[recording(1), recording(2)],
        &Unseen::default(),
        in_sight,
    );
    assert_eq!((found.disagreements, found.notes), (vec![], vec![]));
    let recorders: Vec<_> = found.records.iter().map(|(_, place)| *place).collect();
    assert_eq!(recorders, [Some(0), Some(1)]);
}

#[test]
fn each_way_to_forge_a_line_is_named() {
    let (one, two) = (line(1, 1), line(2, 1));
    let changed = line(1, 2);
    let both = [recording(1), recording(2)];
    let with = |last: Written| [both.to_vec(), vec![last]].concat();
    for (now, written, expected) in [
        (
            vec![changed.clone(), two.clone()],
            with(by_hand(
                std::slice::from_ref(&changed),
                std::slice::from_ref(&one),
            )),
            vec!["1 by-hand the record was changed: goals_passing was 1, is 2"],
        ),
        (
            vec![one.clone()],
            with(by_hand(&[], std::slice::from_ref(&two))),
            vec!["2 by-hand the record was removed"],
        ),
        (
            vec![one.clone(), two.clone(), line(3, 1)],
            with(by_hand(&[line(3, 1)], &[])),
            vec!["3 by-hand the record was written by no commit that records its cycle"],
        ),
        (
            vec![one.clone(), two.clone(), one.clone()],
            with(by_hand(std::slice::from_ref(&one), &[])),
            vec!["1 by-hand the record was written by no commit that records its cycle"],
        ),
        (
            vec![two.clone(), one.clone()],
            with(Written {
                is_reordered: true,
                ..by_hand(&[], &[])
            }),
            vec![
                "0 by-hand the order of the records was changed",
                "2 commit2 the numbers do not continue: cycle 2 follows 0",
                "1 commit1 the numbers do not continue: cycle 1 follows 2",
            ],
        ),
        (
            vec![one.clone(), two.clone()],
            with(Written {
                added: vec![],
                ..recording(3)
            }),
            vec!["3 commit3 it says that it records the cycle, and adds no record"],
        ),
        (
            vec![one.clone(), line(4, 1)],
            vec![recording(1), recording(4)],
            vec!["4 commit4 the numbers do not continue: cycle 4 follows 1"],
        ),
        (
            vec![one.clone(), "<<<<<<< HEAD".to_owned()],
            vec![recording(1), by_hand(&["<<<<<<< HEAD".to_owned()], &[])],
            vec!["0 by-hand line 2 of the history is no record: expected value"],
        ),
    ] {
        assert_eq!(told(&now, &written), expected);
    }
}

#[test]
fn what_an_agent_wrote_and_evolve_put_right_is_a_note() {
    let forged = Written {
        is_of_agent: true,
        ..by_hand(&[line(9, 1)], &[line(1, 1)])
    };
    let put_right = Written {
        lost: vec![line(9, 1)],
        added: vec![line(1, 1), line(2, 1)],
        ..recording(2)
    };
    let now = [line(1, 1), line(2, 1)];
    let found = lines(
        &now,
        &[recording(1), forged, put_right],
        &Unseen::default(),
        in_sight,
    );
    assert_eq!(found.disagreements, []);
    assert_eq!(
        found.notes,
        [
            "commit by-hand changed the history; that was put right",
            "commit commit2 put right what nobody had recorded",
        ]
    );
    let harmless = Written {
        is_of_agent: true,
        ..by_hand(&[], &[])
    };
    let found = lines(
        &now,
        &[recording(1), recording(2), harmless],
        &Unseen::default(),
        in_sight,
    );
    assert_eq!((found.disagreements, found.notes), (vec![], vec![]));
    let kept = Written {
        is_of_agent: true,
        ..recording(3)
    };
    let now = [line(1, 1), line(2, 1), line(3, 1)];
    assert_eq!(
        told(&now, &[recording(1), recording(2), kept]),
        ["3 commit3 an agent's commit wrote the record"]
    );
}

#[test]
fn a_merge_that_drops_records_of_one_side_is_named_with_what_to_do() {
    let merge = Written {
        is_merge: true,
        ..by_hand(&[], &[line(2, 2), line(3, 2)])
    };
    let theirs = |cycle| Written {
        commit: format!("theirs{cycle}"),
        added: vec![line(cycle, 2)],
        ..recording(cycle)
    };
    let mut written = vec![recording(1), recording(2), theirs(2), theirs(3), merge];
    let now = [line(1, 1), line(2, 1)];
    let found = lines(&now, &written, &Unseen::default(), in_sight);
    let removed = "the record was removed by a merge, which kept one side of the history";
    assert_eq!(
        told(&now, &written),
        [
            format!("2 by-hand {removed}"),
            format!("3 by-hand {removed}")
        ]
    );
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
    assert!(
        found.notes[0].starts_with("merge by-hand dropped records of the other side: run evolve"),
        "{:?}",
        found.notes
    );
    // What it says to do is enough.
    written.push(by_hand(&[line(2, 2), line(3, 2)], &[]));
    let now = [line(1, 1), line(2, 1), line(2, 2), line(3, 2)];
    assert_eq!(told(&now, &written), Vec::<String>::new());
}

#[test]
fn copies_of_lines_are_told_of_once_and_quickly() {
    const COPIES: usize = 30_000;
    let one = line(1, 1);
    let mut now = vec![one.clone(); COPIES];
    now.extend((2..1000).map(|cycle| line(cycle, 1)));
    let copied = by_hand(&vec![one.clone(); COPIES], &[]);
    let mut written = vec![recording(1), copied];
    written.extend((2..1000).map(recording));
    written.extend((2..1000).map(|cycle| Written {
        commit: format!("again{cycle}"),
        ..recording(cycle)
    }));
    now.extend((2..1000).map(|cycle| line(cycle, 1)));
    let began = std::time::Instant::now();
    let found = lines(&now, &written, &Unseen::default(), in_sight);
    // With a look at each copy for each copy it would be far more.
    assert!(began.elapsed() < std::time::Duration::from_secs(20));
    assert_eq!(
        told(&now, &written),
        ["1 by-hand the record was written by no commit that records its cycle"]
    );
    assert_eq!(
        found.notes,
        [
            "cycles 1, 2, 3, 4, 5 and 994 more are recorded more than once, as after a merge of two branches that both ran"
        ]
    );
}

#[test]
fn a_number_that_two_branches_used_is_a_note_and_what_is_out_of_sight_is_none() {
    let now = [line(1, 1), line(2, 1), line(2, 2), line(3, 1)];
    let other = Written {
        added: vec![line(2, 2)],
        ..recording(2)
    };
    let unseen = Unseen {
        recorded: HashSet::from([line(1, 1)]),
        ..Unseen::default()
    };
    let found = lines(
        &now,
        &[recording(2), other, recording(3)],
        &unseen,
        in_sight,
    );
    assert_eq!(found.disagreements, []);
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
    assert!(found.notes[0].starts_with("cycle 2 is recorded more than once"));
    // What an agent's commit has, which is the oldest that can be seen, nobody may have recorded.
    let unseen = Unseen {
        doubtful: HashSet::from([line(1, 1), line(2, 9)]),
        ..Unseen::default()
    };
    let put_right = Written {
        lost: vec![line(2, 9)],
        ..recording(2)
    };
    let found = lines(&now[..2], &[put_right], &unseen, in_sight);
    assert_eq!(found.disagreements, []);
    let notes = ["commit commit2 put right what nobody had recorded"];
    assert_eq!(found.notes, notes);
}

#[test]
fn a_record_that_was_brought_in_from_out_of_sight_is_a_note_and_a_copy_of_it_is_found() {
    let far = |cycle| line(cycle, 1).replace("\"c\"", "\"far\"");
    let now = [line(1, 1), far(2), line(3, 1)];
    let bringing = Written {
        added: vec![far(2), line(3, 1)],
        ..recording(3)
    };
    let is_far = |commit: &str| commit == "far";
    let found = lines(
        &now,
        &[recording(1), bringing.clone()],
        &Unseen::default(),
        is_far,
    );
    assert_eq!(found.disagreements, []);
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
    assert!(found.notes[0].starts_with("commit commit3 brought in records"));
    let stray = "2 commit3 the record was written by no commit that records its cycle";
    assert_eq!(told(&now, &[recording(1), bringing.clone()]), [stray]);
    let now = [line(1, 1), far(2), line(3, 1), far(2)];
    let copying = by_hand(&[far(2)], &[]);
    let written = [recording(1), bringing, copying];
    let found = lines(&now, &written, &Unseen::default(), is_far);
    assert_eq!(found.disagreements.len(), 1, "{:?}", found.disagreements);
    let agents = Written {
        is_of_agent: true,
        ..by_hand(&[far(2)], &[])
    };
    let now = [line(1, 1), far(2)];
    let found = lines(&now, &[recording(1), agents], &Unseen::default(), is_far);
    assert_eq!(found.disagreements.len(), 1, "{:?}", found.disagreements);
}

#[test]
fn a_record_that_is_a_copy_of_another_cycle_s_is_found() {
    let with = |cycle, result: &str| {
        let line = line(cycle, 1).replace("idle", result);
        let mut written = recording(cycle);
        written.trailers.result = Some(result.to_owned());
        written.added = vec![line.clone()];
        (line, written)
    };
    let ((one, first), (two, second)) = (with(1, "improved"), with(2, "improved"));
    let found = told(&[one.clone(), two], &[first.clone(), second]);
    assert_eq!(found, ["2 commit2 commit_sha is what cycle 1 came to"]);
    let (idle, second) = with(2, "idle");
    assert_eq!(told(&[one, idle], &[first, second]), Vec::<String>::new());
}

#[test]
fn records_that_a_merge_doubled_are_told_of_once_and_a_copy_of_an_agents_is_one_each() {
    let written = |is_of_agent, added: &[String]| {
        let merge = Written {
            is_merge: true,
            is_of_agent,
            ..by_hand(added, &[])
        };
        vec![recording(1), recording(2), merge]
    };
    let both = [line(1, 1), line(2, 1)];
    let now = [both.clone(), both.clone()].concat();
    assert_eq!(
        told(&now, &written(false, &both)),
        [
            "0 by-hand the merge doubled 2 records: run evolve where it ran before, and it takes one of each out again"
        ]
    );
    let stray = "an agent's commit wrote the record";
    assert_eq!(
        told(&now, &written(true, &both)),
        [format!("1 by-hand {stray}"), format!("2 by-hand {stray}")]
    );
    // What nobody recorded is no copy.
    let now = [line(1, 1), line(2, 2), line(2, 2)];
    let made_up = [line(2, 2), line(2, 2)];
    let found = told(&now, &[written(false, &made_up), vec![]].concat());
    assert_eq!(
        found,
        ["2 by-hand the record was written by no commit that records its cycle"]
    );
}
