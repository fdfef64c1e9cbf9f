use super::copy::{FILE_LIMIT, Output, digest_of};
use super::*;
use crate::effects::clock;
use crate::model::yardstick::Protection;
use std::fs::Permissions;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// A working tree, the folder of its copies, and the one that the copies are copied to.
struct Place {
    _all: TempDir,
    root: PathBuf,
    folders: [PathBuf; 2],
    quarantine: Quarantine,
}

impl Place {
    fn with(files: &[(&str, &str)]) -> Place {
        let all = tempfile::tempdir().unwrap();
        let at = |name: &str| all.path().join(name);
        let place = Place {
            root: at("root"),
            folders: [at("copies"), at("mirrored")],
            quarantine: Quarantine::of(&at("private"), "s", 1),
            _all: all,
        };
        fs::create_dir(&place.root).unwrap();
        fs::create_dir(&place.folders[1]).unwrap();
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.file(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    fn keep_again(&self, names: &[&str], last: Option<&Kept>) -> Kept {
        Kept::make(&self.root, &self.folders[0], (paths(names), vec![]), last).unwrap()
    }

    fn keep(&self, names: &[&str]) -> Kept {
        self.keep_again(names, None)
    }

    fn put_back(&mut self, kept: &Kept) -> PutBack {
        kept.put_back(&self.root, &self.folders, &mut self.quarantine)
            .unwrap()
    }

    fn is_output(&self, kept: &Kept, name: &str) -> bool {
        let entry = &kept.untracked[&to_hex(name.as_bytes())];
        outputs::is_output(&self.root, name.as_bytes(), entry, &self.folders)
    }

    fn is_growing(&self, kept: &Kept, name: &str) -> bool {
        let entry = &kept.untracked[&to_hex(name.as_bytes())];
        grown::is_growing(&self.root, name.as_bytes(), entry, &self.folders)
    }
}

fn paths(names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().map(|name| name.as_bytes().to_vec()).collect()
}

fn set_output(kept: &mut Kept, name: &str, output: Output) {
    let entry = kept.untracked.get_mut(&to_hex(name.as_bytes())).unwrap();
    entry.output = Some(output);
}

fn copy_of<'a>(kept: &'a Kept, name: &str) -> &'a str {
    let entry = &kept.untracked[&to_hex(name.as_bytes())];
    entry.copy.as_deref().unwrap()
}

fn large(place: &Place, name: &str) {
    let file = fs::File::create(place.file(name)).unwrap();
    file.set_len(FILE_LIMIT + 1).unwrap();
}

#[test]
fn a_copy_is_used_again_while_nobody_wrote_to_it() {
    let mut place = Place::with(&[("a", "mine")]);
    let first = place.keep(&["a"]);
    let second = place.keep_again(&["a"], Some(&first));
    assert_eq!(copy_of(&first, "a"), copy_of(&second, "a"));
    fs::write(place.folders[0].join(copy_of(&second, "a")), "forged").unwrap();
    let third = place.keep_again(&["a"], Some(&second));
    assert_ne!(copy_of(&second, "a"), copy_of(&third, "a"));
    fs::remove_file(place.folders[0].join(copy_of(&third, "a"))).unwrap();
    fs::write(place.folders[0].join("0-1"), "in the way").unwrap();
    let fourth = place.keep_again(&["a"], Some(&third));
    place.write("a", "changed");
    assert_eq!(place.put_back(&fourth).files, ["a"]);
    assert_eq!(place.read("a"), "mine");
}

/// A program that does something in the place, and goes on holding what it opened.
struct Program(Child);

impl Program {
    fn that(place: &Place, does: &str) -> Program {
        let mut shell = Command::new("sh");
        shell.current_dir(&place.root).stdout(Stdio::piped());
        shell.args(["-c", &format!("{does}; echo; exec sleep 600")]);
        let mut program = shell.spawn().unwrap();
        let mut told = [0];
        program
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut told)
            .unwrap();
        Program(program)
    }
}

/// Waits until what is made now is dated later than what was made before.
fn tick() {
    let now = clock::file_time();
    while clock::file_time() == now {
        std::thread::yield_now();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn what_a_file_in_use_was_before_is_kept_once_and_as_what_it_was() {
    for does in ["exec 3<>a; echo row >&3", "rm a; exec 3>a"] {
        let mut place = Place::with(&[("a", "mine")]);
        fs::set_permissions(place.file("a"), Permissions::from_mode(0o600)).unwrap();
        let kept = place.keep(&["a"]);
        tick();
        let _program = Program::that(&place, does);
        let now = place.read("a");
        for _ in 0..2 {
            assert_eq!(place.put_back(&kept).in_use, ["a"], "{does}");
        }
        assert_eq!(place.read("a"), now);
        let all = place.file("../private/quarantine/s-1");
        assert_eq!(fs::read_to_string(all.join("a")).unwrap(), "mine");
        let mode = fs::metadata(all.join("a")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!all.join("again-2/a").exists());
    }
}

#[test]
fn what_was_put_in_the_place_of_a_file_is_none_that_a_program_has_open() {
    for moves in ["ln -f log a", "mv log a"] {
        let mut place = Place::with(&[("a", "mine"), ("log", "")]);
        let _program = Program::that(&place, "exec 3>log");
        tick();
        let kept = place.keep(&["a"]);
        let _moved = Program::that(&place, moves);
        assert_eq!(place.put_back(&kept).files, ["a"], "{moves}");
        assert_eq!(place.read("a"), "mine", "{moves}");
    }
}

#[test]
fn a_copy_that_somebody_wrote_to_is_not_put_back() {
    let mut place = Place::with(&[("a", "mine"), ("b", "mine, too")]);
    let kept = place.keep(&["a", "b"]);
    let [here, there] = place.folders.clone();
    let (a, b) = (copy_of(&kept, "a"), copy_of(&kept, "b"));
    fs::copy(here.join(a), there.join(a)).unwrap();
    fs::write(here.join(a), "forged").unwrap();
    fs::write(here.join(b), "forged").unwrap();
    fs::write(there.join(b), "forged").unwrap();
    place.write("a", "changed");
    fs::remove_file(place.file("b")).unwrap();
    let put_back = place.put_back(&kept);
    assert_eq!(
        (put_back.files, put_back.lost),
        (vec!["a".into()], vec!["b".into()])
    );
    assert_eq!(place.read("a"), "mine");
    assert!(!place.file("b").exists());
    assert_eq!(digest_of(&place.file("b")), None);
}

#[test]
fn an_output_is_a_file_in_its_own_place() {
    let place = Place::with(&[
        ("d/new", "1"),
        ("d/built", "1"),
        ("d/grown", "one\n"),
        ("other", "1"),
    ]);
    let names = ["d/new", "d/built", "d/grown"];
    let mut kept = place.keep(&names);
    set_output(&mut kept, "d/new", Output::Rewritten);
    set_output(&mut kept, "d/built", Output::Built);
    set_output(&mut kept, "d/grown", Output::Grown);
    for name in names {
        assert!(place.is_output(&kept, name), "{name}");
    }
    fs::rename(place.file("d"), place.file("moved")).unwrap();
    assert!(
        !names.iter().any(|name| place.is_output(&kept, name)),
        "gone"
    );
    symlink("moved", place.file("d")).unwrap();
    assert!(
        !names.iter().any(|name| place.is_output(&kept, name)),
        "behind a link"
    );
    fs::remove_file(place.file("d")).unwrap();
    fs::create_dir(place.file("d")).unwrap();
    for name in names {
        symlink("../other", place.file(name)).unwrap();
    }
    assert!(!place.is_output(&kept, "d/new"), "a link");
    assert!(place.is_output(&kept, "d/built"), "builds make links");
}

#[test]
fn how_a_file_was_written_to_tells_what_it_is_from_then_on() {
    let long = "x".repeat(100);
    let names = [
        "added",
        "shorter",
        "as long",
        "new bytes",
        "as it was",
        "the same again",
        "frozen",
    ];
    let place = Place::with(&names.map(|name| (name, &long[..])));
    let mut before = place.keep(&names);
    before.look(&place.root, None);
    std::thread::sleep(Duration::from_millis(20));
    place.write("added", &format!("{long}y"));
    place.write("shorter", "x");
    place.write("as long", &format!("y{}", &long[1..]));
    place.write("new bytes", &"y".repeat(101));
    place.write("the same again", &long);
    place.write("frozen", "y");
    let mut kept = place.keep(&names);
    kept.note_outputs(&place.root, None, &before, &["frozen".to_owned()]);
    let known = |kept: &Kept, name: &str| {
        let entry = &kept.untracked[&to_hex(name.as_bytes())];
        (entry.output, entry.is_doubtful)
    };
    assert_eq!(known(&kept, "added"), (Some(Output::Grown), false));
    for name in ["shorter", "as long", "new bytes", "the same again"] {
        assert_eq!(known(&kept, name), (None, true), "{name}");
    }
    for name in ["as it was", "frozen"] {
        assert_eq!(known(&kept, name), (None, false), "{name}");
    }
    // What is written to once more is an output; one that was put back to what it held before is not written to.
    kept.look(&place.root, Some(&before));
    std::thread::sleep(Duration::from_millis(20));
    for name in ["added", "new bytes"] {
        let longer = format!("{}z", place.read(name));
        place.write(name, &longer);
    }
    for name in ["shorter", "the same again"] {
        place.write(name, "z");
    }
    place.write("as it was", &long);
    let mut next = Kept::default();
    next.look(&place.root, Some(&kept));
    let mut last = place.keep(&names);
    last.note_outputs(&place.root, Some(&kept), &next, &[]);
    assert_eq!(known(&last, "added"), (Some(Output::Grown), false));
    assert_eq!(known(&last, "new bytes"), (Some(Output::Grown), false));
    for name in ["shorter", "the same again"] {
        assert_eq!(
            known(&last, name),
            (Some(Output::Rewritten), false),
            "{name}"
        );
    }
    assert_eq!(known(&last, "as long"), (None, true));
    assert_eq!(known(&last, "as it was"), (None, false));
    // What grew may turn out to be made anew.
    last.look(&place.root, None);
    place.write("added", "z");
    let mut anew = place.keep(&names);
    anew.note_outputs(&place.root, None, &last, &[]);
    assert_eq!(known(&anew, "added"), (Some(Output::Rewritten), false));
}

#[test]
fn a_log_grows_only_while_somebody_writes_to_it() {
    let mut place = Place::with(&[("log", "one\n"), ("d/log", "one\n")]);
    let kept = place.keep(&["log", "d/log"]);
    let append = |name: &str| {
        fs::OpenOptions::new()
            .append(true)
            .open(place.file(name))
            .unwrap()
    };
    let add = |file: &mut fs::File| std::io::Write::write_all(file, b"two\n").unwrap();
    let (mut log, mut other) = (append("log"), append("d/log"));
    add(&mut log);
    add(&mut other);
    assert!(place.is_growing(&kept, "log") && place.is_growing(&kept, "d/log"));
    fs::rename(place.file("d"), place.file("moved")).unwrap();
    symlink("moved", place.file("d")).unwrap();
    assert!(!place.is_growing(&kept, "d/log"), "behind a link");
    fs::set_permissions(place.file("log"), Permissions::from_mode(0o600)).unwrap();
    assert!(!place.is_growing(&kept, "log"), "another mode");
    fs::set_permissions(
        place.file("log"),
        Permissions::from_mode(kept_mode(&kept, "log")),
    )
    .unwrap();
    let nothing = kept
        .put_back_missing(&place.root, &place.folders, &mut place.quarantine)
        .unwrap();
    assert!(!nothing.files.contains(&"log".to_owned()));
    let earlier = &place.quarantine.earlier;
    assert!(
        !earlier.iter().any(|one| one.starts_with("log")),
        "{earlier:?}"
    );
    drop(log);
    assert!(!place.is_growing(&kept, "log"), "nobody writes any more");
    fs::write(place.file("new"), "one\ntwo\n").unwrap();
    fs::rename(place.file("new"), place.file("log")).unwrap();
    let _log = fs::OpenOptions::new()
        .append(true)
        .open(place.file("log"))
        .unwrap();
    assert!(!place.is_growing(&kept, "log"), "another file");
}

fn kept_mode(kept: &Kept, name: &str) -> u32 {
    kept.untracked[&to_hex(name.as_bytes())].mode().unwrap() & 0o7777
}

#[test]
fn modes_are_given_back_to_files_that_are_still_the_same() {
    let names = ["changed", "as it was", "replaced", "d/behind"];
    let place = Place::with(&names.map(|name| (name, "mine")));
    let set = |name: &str, mode: u32| {
        fs::set_permissions(place.file(name), Permissions::from_mode(mode)).unwrap();
    };
    for name in names {
        set(name, 0o640);
    }
    let kept = place.keep(&names);
    place.write("new", "not mine");
    fs::rename(place.file("new"), place.file("replaced")).unwrap();
    for name in ["changed", "replaced", "d/behind"] {
        set(name, 0o755);
    }
    fs::rename(place.file("d"), place.file("moved")).unwrap();
    symlink("moved", place.file("d")).unwrap();
    assert_eq!(kept.give_modes_back(&place.root), [Path::new("changed")]);
    let mode = |name: &str| fs::metadata(place.file(name)).unwrap().mode() & 0o7777;
    assert_eq!(names.map(mode), [0o640, 0o640, 0o755, 0o755]);
    assert!(kept.give_modes_back(&place.root).is_empty());
}

#[test]
fn what_was_ignored_was_there() {
    let kept = Kept::listed(std::iter::empty(), &paths(&["a.log", "dist/"]));
    for name in ["a.log", "dist/", "dist/x/y"] {
        assert!(
            kept.was_ignored(name.as_bytes()) && kept.was_there(name.as_bytes()),
            "{name}"
        );
    }
    for name in ["a.log2", "a.lo", "distant", "other/a.log"] {
        assert!(!kept.was_there(name.as_bytes()), "{name}");
    }
}

#[test]
fn each_copy_takes_its_room_and_there_is_none_for_what_is_too_large_or_more_than_is_left() {
    let room = 3 * FILE_LIMIT;
    assert_eq!(room_after(room, FILE_LIMIT), Some(2 * FILE_LIMIT));
    assert_eq!(room_after(room, FILE_LIMIT + 1), None);
    assert_eq!(room_after(7, 5), Some(2));
    assert_eq!(room_after(5, 5), Some(0));
    assert_eq!(room_after(4, 5), None);
}

#[test]
fn a_large_file_has_no_copy_and_is_watched() {
    let place = Place::with(&[("small", "1"), ("output", "1")]);
    let names = ["touched", "made anew", "left"];
    names.iter().for_each(|name| large(&place, name));
    let mut kept = place.keep(&["small", "touched", "made anew", "left"]);
    kept.add(paths(&["unknown", "output"]).iter());
    assert_eq!(
        kept.uncopied().collect::<BTreeSet<_>>(),
        paths(&["touched", "made anew", "left", "unknown", "output"])
            .into_iter()
            .collect()
    );
    set_output(&mut kept, "made anew", Output::Rewritten);
    let protected = Protection::of(&["touched".into(), "left".into(), "unknown".into()]);
    std::thread::sleep(Duration::from_millis(20));
    for name in ["touched", "made anew"] {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(place.file(name))
            .unwrap();
        file.set_modified(SystemTime::now()).unwrap();
    }
    place.write("small", "2");
    place.write("output", "2");
    assert_eq!(kept.changed_uncopied(&place.root), ["touched"]);
    kept.note_protected(&protected, &BTreeSet::new(), false);
    assert_eq!(kept.changed_protected(&place.root), paths(&["touched"]));
}

#[test]
fn protected_links_are_links_that_protect_names() {
    let place = Place::with(&[("p/file", "1")]);
    symlink("file", place.file("p/link")).unwrap();
    symlink("p/file", place.file("link")).unwrap();
    let mut kept = place.keep(&["p/file", "p/link", "link"]);
    kept.note_protected(&Protection::of(&["p/**".into()]), &BTreeSet::new(), false);
    assert_eq!(
        kept.protected_links().collect::<Vec<_>>(),
        paths(&["p/link"])
    );
}

#[test]
fn of_what_git_ignores_now_only_what_is_the_users_is_among_it() {
    let place = Place::with(&[
        ("mine", "1"),
        ("built", "1"),
        ("n/.git/HEAD", "1"),
        ("n/a", "1"),
    ]);
    large(&place, "large");
    let mut kept = place.keep(&["mine", "built", "large", "n/"]);
    set_output(&mut kept, "built", Output::Built);
    let ignored = paths(&["mine", "built", "large", "n/"])
        .into_iter()
        .collect();
    assert_eq!(kept.among(&ignored), paths(&["mine", "n/"]));
}

#[test]
fn folders_with_a_repository_of_their_own_are_kept_with_their_empty_ones() {
    let mut place = Place::with(&[("n/.git/HEAD", "1"), ("n/a", "1")]);
    fs::create_dir_all(place.file("n/empty")).unwrap();
    let kept = place.keep(&["n/"]);
    assert_eq!(kept.listed_paths().collect::<Vec<_>>(), paths(&["n/"]));
    assert_eq!(kept.uncopied().collect::<Vec<_>>(), paths(&["n/"]));
    fs::remove_dir_all(place.file("n")).unwrap();
    assert_eq!(
        place.put_back(&kept).files,
        ["n/.git/HEAD", "n/a", "n/empty/"]
    );
    assert!(place.file("n/empty").is_dir());
}

#[test]
fn of_folders_with_a_repository_of_their_own_so_many_files_are_listed() {
    let place = Place::with(&[("n/a", ""), ("n/b", ""), ("n/c", "")]);
    let list = |most| nested::list(&place.root, b"n/", most);
    assert_eq!((list(4).0.len(), list(4).1), (3, true));
    assert_eq!((list(3).0.len(), list(3).1), (3, true));
    assert_eq!((list(2).0.len(), list(2).1), (2, false));
    for folder in ["one", "two"] {
        for number in 0..=nested::MOST / 2 {
            place.write(&format!("{folder}/{number}"), "");
        }
    }
    let mut kept = Kept::default();
    let (found, _) = kept.with_nested(&place.root, paths(&["one/", "two/"]));
    assert_eq!(found.len(), 2 + nested::MOST);
    assert_eq!(kept.too_large, ["two/"]);
}

#[test]
fn what_is_built_is_put_back_with_its_time_and_nothing_else_is() {
    let mut place = Place::with(&[("built", "1"), ("mine", "1"), ("other", "1")]);
    symlink("other", place.file("link")).unwrap();
    let names = ["built", "mine", "link"];
    let old = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    for name in ["built", "mine", "other"] {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(place.file(name))
            .unwrap();
        file.set_modified(old).unwrap();
    }
    let mut kept = place.keep(&names);
    kept.note_built(&["built".into(), "link".into()]);
    for name in names {
        fs::remove_file(place.file(name)).unwrap();
    }
    let file = fs::OpenOptions::new()
        .write(true)
        .open(place.file("other"))
        .unwrap();
    let later = old + Duration::from_secs(5);
    file.set_modified(later).unwrap();
    for name in ["built", "link"] {
        let written_to = WrittenTo::default();
        let folders = (&place.folders[..], &written_to);
        let quarantine = &mut place.quarantine;
        let restored = kept
            .put_back_built(&place.root, name.as_bytes(), folders, quarantine)
            .unwrap();
        assert!(restored == Restored::Back, "{name}");
    }
    assert_eq!(place.put_back(&kept).files, ["mine"]);
    let modified = |name: &str| fs::metadata(place.file(name)).unwrap().modified().unwrap();
    assert_eq!(modified("built"), old);
    assert_ne!(modified("mine"), old);
    assert_eq!(modified("other"), later);
}

#[test]
fn what_is_large_is_not_small_but_for_a_link_to_it() {
    let place = Place::with(&[("small", "1")]);
    large(&place, "large");
    symlink("large", place.file("link")).unwrap();
    let is_small = |name| is_small(&place.root, name);
    assert_eq!(
        ["small", "large", "link", "gone"].map(is_small),
        [true, false, true, false]
    );
}

#[test]
fn what_comes_by_a_pattern_is_known_by_its_real_place() {
    let place = Place::with(&[("out/old.so", "1")]);
    symlink("out", place.file("dist")).unwrap();
    symlink("/", place.file("else")).unwrap();
    let mut kept = Kept::default();
    let patterns = ["dist/*.so", "else/*"].map(str::to_owned);
    kept.note_unbuilt(&place.root, &[], &patterns);
    assert!(kept.unbuilt(&place.root).is_empty());
    assert_eq!(kept.matched, [to_hex(b"out/old.so")]);
    place.write("out/new.so", "1");
    assert_eq!(kept.unbuilt(&place.root), paths(&["out/new.so"]));
}

#[test]
fn what_is_as_it_was_and_what_has_no_copy_is_not_put_back() {
    let mut place = Place::with(&[("a", "mine")]);
    large(&place, "large");
    let kept = place.keep(&["a", "large"]);
    let missing = |place: &mut Place| {
        kept.put_back_missing(&place.root, &place.folders, &mut place.quarantine)
            .unwrap()
    };
    assert_eq!(missing(&mut place), PutBack::default());
    assert!(place.quarantine.earlier.is_empty());
    fs::remove_file(place.file("large")).unwrap();
    fs::remove_file(place.file("a")).unwrap();
    let put_back = missing(&mut place);
    assert_eq!((put_back.files, put_back.lost), (vec!["a".into()], vec![]));
}

#[test]
fn what_this_process_prints_to_is_its_own_output() {
    let id = |number: u32| {
        let meta = fs::metadata(format!("/proc/self/fd/{number}")).unwrap();
        (meta.dev(), meta.ino())
    };
    assert_eq!(own_output(), [id(1), id(2)]);
}

#[test]
fn what_git_ignores_and_only_a_wildcard_protects_is_put_back_with_its_time_and_may_be_written_by_checks()
 {
    let names = ["t/ignored", "t/mine", "t/named", "t/link"];
    let mut place = Place::with(&[("t/ignored", "1"), ("t/mine", "1"), ("t/named", "1")]);
    symlink("mine", place.file("t/link")).unwrap();
    let mut kept = place.keep(&names);
    let protection = Protection::of(&["t/**".into(), "t/named".into()]);
    let ignored = paths(&["t/ignored", "t/named", "t/link"]);
    kept.note_protected(&protection, &ignored.into_iter().collect(), false);
    let before = fs::metadata(place.file("t/ignored")).unwrap();
    for name in ["t/ignored", "t/mine", "t/named"] {
        place.write(name, "2");
    }
    fs::remove_file(place.file("t/link")).unwrap();
    assert_eq!(kept.changed_loose(&place.root), ["t/ignored"]);
    assert_eq!(
        kept.changed_protected(&place.root),
        paths(&["t/link", "t/mine", "t/named"])
    );
    let (root, quarantine) = (&place.root, &mut place.quarantine);
    let folders = (&place.folders[..], &WrittenTo::default());
    kept.put_back_built(root, b"t/ignored", folders, quarantine)
        .unwrap();
    let after = fs::metadata(place.file("t/ignored")).unwrap();
    assert_eq!(place.read("t/ignored"), "1");
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
    // Checks may remove it, too.
    fs::remove_file(place.file("t/ignored")).unwrap();
    place.put_back(&kept);
    assert!(!place.file("t/ignored").exists());
    assert_eq!(place.read("t/named"), "1");
}
