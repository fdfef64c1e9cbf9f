use nix::unistd::{Uid, User};

use super::*;

#[test]
fn a_kill_file_that_is_removed_as_fast_as_possible_is_seen_each_of_a_hundred_times() {
    for round in 0..100 {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("KILL");
        let stop = Stop::of(vec![file.clone()]);
        fs::write(&file, "enough").expect("a file");
        fs::remove_file(&file).expect("removed");
        let words = "it was taken away again at once".to_owned();
        let seen = stop.look_for_kill();
        assert_eq!(seen, Some(Halt::Kill(file, words)), "round {round}");
    }
}

#[test]
fn a_kill_is_seen_whatever_ended_everything_before_and_the_first_stays_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("KILL");
    let stop = Stop::of(vec![file.clone()]);
    stop.set(Halt::Signal(15));
    assert_eq!(stop.killed_at(), None);
    fs::write(&file, "").expect("a file");
    assert_eq!(stop.look_for_kill(), Some(Halt::Signal(15)));
    assert!(stop.killed_at().is_some());
}

#[test]
fn a_kill_that_is_seen_again_and_again_is_acknowledged_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("KILL");
    fs::write(&file, "").expect("a file");
    let stop = Stop::of(vec![file]);
    let (tell, told) = mpsc::channel();
    stop.on_kill(move |_| tell.send(()).expect("a listener"));
    stop.look_for_kill();
    let first = stop.killed_at();
    assert!(first.is_some());
    stop.look_for_kill();
    assert_eq!(stop.killed_at(), first);
    // Whoever acknowledges lets go of its end of the channel with the rest.
    drop(stop);
    assert_eq!(told.iter().count(), 1);
}

#[test]
fn an_acknowledgement_that_hangs_does_not_hold_up_the_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("KILL");
    let stop = Stop::of(vec![file.clone()]);
    stop.on_kill(|_| thread::sleep(Duration::from_secs(300)));
    fs::write(&file, "").expect("a file");
    let began = Instant::now();
    assert!(stop.look_for_kill().is_some());
    assert!(began.elapsed() < Duration::from_secs(100));
}

#[test]
fn a_folder_in_which_nothing_can_be_looked_for_any_more_is_a_kill() {
    type Attack = fn(&Path);
    let attacks: [(&str, Attack); 4] = [
        ("removed", |folder| fs::remove_dir(folder).expect("removed")),
        ("moved", |folder| {
            fs::rename(folder, folder.with_extension("x")).expect("moved");
        }),
        ("made a file", |folder| {
            fs::remove_dir(folder).expect("removed");
            fs::write(folder, "").expect("a file");
        }),
        ("made a loop of links", |folder| {
            fs::remove_dir(folder).expect("removed");
            std::os::unix::fs::symlink(folder, folder).expect("a link");
        }),
    ];
    for (what, attack) in attacks {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("evolve");
        fs::create_dir(&folder).expect("a folder");
        let stop = Stop::of(vec![folder.join("KILL")]);
        assert_eq!(stop.look_for_kill(), None, "{what}");
        attack(&folder);
        let halt = stop.look_for_kill();
        assert!(matches!(halt, Some(Halt::Kill(..))), "{what}: {halt:?}");
    }
}

#[test]
fn a_stop_file_that_was_there_for_a_moment_is_remembered_with_whose_time_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("STOP");
    for (cycle, expected) in [
        (None, "it was taken away again"),
        (
            Some(7),
            "it was taken away again (written while the agent of cycle 7 ran)",
        ),
    ] {
        let stop = Stop::of(Vec::new());
        stop.watch_for_stop(&file);
        assert_eq!(stop.asked_to_stop(), None);
        stop.note_agent(cycle);
        fs::write(&file, "enough").expect("a file");
        fs::remove_file(&file).expect("removed");
        stop.note_agent(None);
        assert_eq!(stop.asked_to_stop().as_deref(), Some(expected));
    }
}

/// Longer than anything takes that does happen.
const LONG: Duration = Duration::from_secs(100);

#[test]
fn a_kill_file_is_named_and_what_it_says_if_it_says_anything() {
    let reason = |words: &str| Halt::Kill("/k".into(), words.to_owned()).reason();
    assert_eq!(reason(""), "KILL file /k");
    assert_eq!(reason("enough"), "KILL file /k: enough");
}

#[test]
fn kill_files_are_looked_at_without_being_asked_and_whoever_wants_to_know_is_told_each_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("KILL");
    let stop = Stop::of(vec![file.clone()]);
    assert_eq!(stop.kill_files(), std::slice::from_ref(&file));
    let (tell, looked) = mpsc::channel();
    stop.on_look(move || {
        let _ = tell.send(());
    });
    let watcher = stop.clone();
    thread::spawn(move || watcher.keep_looking());
    for _ in 0..2 {
        looked.recv_timeout(LONG).expect("a look");
    }
    assert_eq!(stop.halt(), None);
    fs::write(&file, "enough").expect("a file");
    let began = Instant::now();
    while stop.killed_at().is_none() {
        assert!(began.elapsed() < LONG, "nobody looked");
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(stop.halt(), Some(Halt::Kill(file, "enough".to_owned())));
}

#[test]
fn whoever_waits_for_an_end_or_for_a_kill_goes_on_with_the_first_one_and_not_before() {
    use tokio::time::timeout;

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("KILL");
    let stop = Stop::of(vec![file.clone()]);
    let short = Duration::from_millis(20);
    let waiting = async {
        assert!(timeout(short, stop.halted()).await.is_err());
        stop.set(Halt::Signal(2));
        timeout(LONG, stop.halted()).await.expect("an end");
        assert!(timeout(short, stop.killed()).await.is_err());
        fs::write(&file, "").expect("a file");
        stop.look_for_kill();
        timeout(LONG, stop.killed()).await.expect("a kill");
    };
    runtime().block_on(waiting);
}

#[test]
fn the_sessions_time_is_what_was_said_last_and_ends_it() {
    let stop = Stop::unwatched();
    let (hour, short) = (Duration::from_secs(3600), Duration::from_millis(20));
    let waiting = async {
        assert_eq!(stop.remaining(), None);
        stop.after(Some(short));
        stop.after(Some(hour));
        let left = stop.remaining().expect("a limit");
        assert!(left <= hour && left > hour - LONG, "{left:?}");
        tokio::time::sleep(short * 4).await;
        assert_eq!(stop.halt(), None);
        stop.after(None);
        assert_eq!(stop.remaining(), None);
        stop.after(Some(short));
        let halted = tokio::time::timeout(LONG, stop.halted());
        halted.await.expect("an end");
        assert_eq!(stop.halt(), Some(Halt::MaxTime(short)));
        assert_eq!(stop.remaining(), Some(Duration::ZERO));
    };
    runtime().block_on(waiting);
}

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().expect("a runtime")
}

#[test]
fn a_stop_file_that_stays_is_remembered_with_what_it_said_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("STOP");
    let stop = Stop::unwatched();
    assert_eq!(stop.asked_to_stop(), None);
    stop.watch_for_stop(&file);
    assert_eq!(stop.asked_to_stop(), None);
    fs::write(&file, "enough\n").expect("a file");
    assert_eq!(stop_file(&file).as_deref(), Some("enough"));
    assert_eq!(stop.asked_to_stop().as_deref(), Some("enough"));
    fs::write(&file, "no, go on").expect("a file");
    assert_eq!(stop.asked_to_stop().as_deref(), Some("enough"));
}

#[test]
fn the_home_that_the_system_knows_of_is_looked_at_whatever_the_environment_says() {
    let user = User::from_uid(Uid::current()).ok().flatten();
    let file = user.map(|user| user.dir.join(".config/evolve/KILL"));
    let files = kill_files().expect("kill files");
    assert!(file.is_none_or(|file| files.contains(&file)), "{files:?}");
}

#[test]
fn a_second_signal_waits_for_what_must_not_be_cut_off_and_neither_longer_nor_for_ever() {
    let waited = || {
        let begun = Instant::now();
        Uncut::wait_for_all();
        begun.elapsed()
    };
    // Other tests lock an index meanwhile, for moments.
    let is_short = |time: Duration| time < UNCUT_LIMIT;
    let held = Duration::from_millis(200);
    let ends = (0..5).any(|_| {
        let uncut = Uncut::begin();
        let ending = thread::spawn(move || {
            thread::sleep(held);
            drop(uncut);
        });
        let time = waited();
        ending.join().unwrap();
        assert!(time > held / 2, "{time:?}");
        is_short(time)
    });
    assert!(ends);
    let _uncut = Uncut::begin();
    assert!(!is_short(waited()));
}
