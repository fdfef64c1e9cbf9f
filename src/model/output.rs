//! Folders that tools fill, files that they make, and that git had better not look at. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::record::put_back::{BY_CHECKS, PUT_BACK};
use super::text;

/// How the warning begins.
const UNIGNORED: &str = "git does not ignore ";
/// How many folders it names.
const NAMED: usize = 5;
/// How a note begins that says where something went that stood in the way.
pub const MOVED: &str = "moved out of the way: ";

/// Where nyc keeps what it has covered.
const OF_NYC: &str = ".nyc_output";
/// What they are called, whoever makes them.
const NAMES: [&str; 30] = [
    "target",
    "node_modules",
    ".venv",
    "venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".import_linter_cache",
    ".tox",
    ".nox",
    ".pixi",
    ".eggs",
    ".gradle",
    ".next",
    ".nuxt",
    OF_NYC,
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".dart_tool",
    ".zig-cache",
    ".terraform",
    ".direnv",
    "dist",
    "build",
    "coverage",
    "htmlcov",
    "out",
];

/// Those of them that people keep files of their own in, too.
const SHARED: [&str; 5] = ["target", "dist", "build", "coverage", "out"];
/// What Python makes in the folder of an environment (PEP 405).
const OF_ENVIRONMENT: &str = "/pyvenv.cfg";

/// How the names of files end that tools make beside sources, for themselves: compiled code of Python, objects of libtool, coverage of
/// GCC, builds of TypeScript.
const MADE_ENDS: [&str; 6] = [".pyc", ".pyo", ".lo", ".gcda", ".gcno", ".tsbuildinfo"];
/// What such files are called.
const MADE: [&str; 4] = [".coverage", ".DS_Store", ".eslintcache", ".stylelintcache"];
/// How machine code begins, in the order: ELF, archives of objects, Mach-O (four kinds; more than one in a file, and classes of Java),
/// LLVM's bitcode.
const MACHINE_CODE: [&[u8]; 8] = [
    b"\x7fELF",
    b"!<arch>\n",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"BC\xc0\xde",
];
/// How many bytes of a file tell whether it is machine code.
pub const TELLING: u64 = 8;
/// How the snapshots begin that tests are held against: those of Jest, Vitest and Bun.
const SNAPSHOTS: [&[u8]; 3] = [
    b"// Jest Snapshot v",
    b"// Vitest Snapshot v",
    b"// Bun Snapshot v",
];
/// How the names of such files end.
const SNAPSHOT_END: &str = ".snap";
/// How many bytes of a file tell whether it is a snapshot.
pub const TELLING_OF_SNAPSHOT: u64 = 20;
/// How many files are named that came while goals were measured.
const CAME: usize = 10;

/// Says whether tools make a file, by its name and how it begins: builds and tests leave it, and a commit of it is not what anybody
/// wants, since what they make next differs.
pub fn is_made(path: &str, begin: &[u8]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_coverage = name.starts_with(".coverage.");
    MADE.contains(&name)
        || is_coverage
        || is_of_v8(name)
        || MADE_ENDS.iter().any(|end| name.ends_with(end))
        || !name.ends_with(".deb") && MACHINE_CODE.iter().any(|code| begin.starts_with(code))
}

/// Says whether V8 calls what it has covered so: `coverage-`, the process, the time and a number.
fn is_of_v8(name: &str) -> bool {
    let inside = name.strip_prefix("coverage-");
    let inside = inside.and_then(|name| name.strip_suffix(".json"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    inside.is_some_and(|it| it.split('-').count() == 3 && it.split('-').all(is_number))
}

/// Says whether tools make a file for one run, by its name alone: what is of an earlier one they take away themselves, and would count it
/// with that of a later one.
pub fn is_of_one_run(path: &str) -> bool {
    is_made(path, &[]) || path.split('/').any(|part| part == OF_NYC)
}

/// Says whether a file is what tools leave by the way, by its name alone: it lies in a folder that only tools fill, they make it for
/// themselves, or it is a log.
pub fn is_left_by_the_way(path: &str) -> bool {
    is_of_tools_alone(path) || is_made(path, &[]) || path.ends_with(".log")
}

/// Says whether a file lies in a folder that only tools fill.
pub fn is_of_tools_alone(path: &str) -> bool {
    let mut folders = path.rsplit('/').skip(1);
    folders.any(is_filled_by_tools_alone)
}

/// Says whether a folder of this name is one that only tools fill.
fn is_filled_by_tools_alone(name: &str) -> bool {
    NAMES.contains(&name) && !SHARED.contains(&name)
}

/// Says whether a test runner wrote a file to hold tests against, by its name and how it begins: it is nobody's handiwork, and is
/// renewed by the same program.
pub fn is_snapshot(path: &str, begin: &[u8]) -> bool {
    path.ends_with(SNAPSHOT_END) && SNAPSHOTS.iter().any(|words| begin.starts_with(words))
}

/// Where files are that came while goals were measured after an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// In the tree, beside a change that is kept.
    WithKept,
    /// In the tree, and what they came from is undone.
    WithUndone,
    /// They were in a copy that is made anew, and are gone with it.
    InCopy,
}

/// Returns the words on files that came while goals were measured after an agent, and that no commit holds: on a folder that tools fill
/// as a whole.
pub fn came(files: &[String], place: Came) -> String {
    let mut named: Vec<String> = Vec::new();
    for file in files {
        let folder = folder_of(file).map(|folder| format!("{folder}/"));
        let shown = folder.unwrap_or_else(|| file.clone());
        if !named.contains(&shown) {
            named.push(shown);
        }
    }
    let them = if named.len() == 1 { "it" } else { "them" };
    let mut advice = match place {
        Came::WithKept => vec![format!("commit {them}, or have git ignore {them}")],
        Came::WithUndone => vec![format!("the change is undone: remove {them}")],
        Came::InCopy => Vec::new(),
    };
    if files.iter().any(|file| file.ends_with(SNAPSHOT_END)) && place != Came::WithUndone {
        advice.push("a check with `CI=1` in front writes no snapshot".to_owned());
    }
    let advice = match advice.is_empty() {
        true => String::new(),
        false => format!(" ({})", advice.join("; ")),
    };
    format!(
        "made by a check, or by somebody, while the goals were measured, and in no commit: {}{advice}",
        text::some_of(&named, CAME)
    )
}

/// Returns the words on tracked files that were written to in a copy while the goals were measured, if there are any.
pub fn written_in_copy(files: &[String]) -> Option<String> {
    (!files.is_empty()).then(|| {
        format!(
            "tracked, and written to in the copy while the goals were measured: {} (commit what checks write, or have them compare)",
            text::some_of(files, CAME)
        )
    })
}

/// Returns why a goal fails that passes beside other checks, which write to tracked files in the copy, and not on what is committed.
pub fn met_by_written(reason: Option<String>, files: &[String]) -> String {
    let reason = reason.map_or(String::new(), |reason| format!("{reason}; "));
    format!(
        "{reason}passed beside other checks, which write to {}, and not on what is committed",
        text::some_of(files, NAMED)
    )
}

/// Returns the words on files that tools made, that an agent left and that were not committed.
pub fn left_out(files: &[String]) -> String {
    format!(
        "left out of the commit, as tools made it and git had better ignore it: {}",
        text::some_of(files, NAMED)
    )
}

/// Returns the words on files that an agent left, that checks write anew and that were taken out of the commit of what it left.
pub fn taken_out(files: &[String]) -> String {
    format!(
        "left out of the commit of what the agent left, as checks write it anew and git had better ignore it: {}",
        text::some_of(files, NAMED)
    )
}

/// Returns those of the folders that git neither tracks nor ignores that tools fill, as lines for .gitignore. Each of `untracked` ends
/// with a slash where it is a folder.
pub fn unignored(untracked: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for folder in untracked.iter().filter_map(|path| path.strip_suffix('/')) {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        // Those of Python are everywhere.
        let line = match name.starts_with("__") || name.ends_with("_cache") {
            true => format!("{name}/"),
            false => format!("{folder}/"),
        };
        if NAMES.contains(&name) && !found.contains(&line) {
            found.push(line);
        }
    }
    found
}

/// Says whether a file lies in such a folder.
pub fn is_of_tools(path: &str) -> bool {
    folder_of(path).is_some()
}

/// Returns the folders that tools fill among those that these files lie in, each with a slash at the end.
pub fn folders_of<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for folder in files.filter_map(folder_of) {
        let folder = format!("{folder}/");
        if !found.contains(&folder) {
            found.push(folder);
        }
    }
    found
}

/// Returns the outermost folder of a file that tools fill.
fn folder_of(file: &str) -> Option<&str> {
    let ends = file.match_indices('/').map(|(end, _)| &file[..end]);
    let is_filled = |folder: &&str| NAMES.contains(&folder.rsplit('/').next().unwrap_or(folder));
    ends.into_iter().find(is_filled)
}

/// Returns the folders that only tools fill among those that these files lie in, each with how many of the files.
pub fn filled(files: &[String]) -> BTreeMap<&str, usize> {
    let environments = files
        .iter()
        .filter_map(|it| it.strip_suffix(OF_ENVIRONMENT));
    let environments: BTreeSet<&str> = environments.collect();
    let is_filled = |folder: &str| {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        is_filled_by_tools_alone(name) || environments.contains(folder)
    };
    let mut found = BTreeMap::new();
    for file in files {
        let mut around = file.match_indices('/').map(|(end, _)| &file[..end]);
        if let Some(folder) = around.find(|folder| is_filled(folder)) {
            *found.entry(folder).or_insert(0) += 1;
        }
    }
    found
}

/// Returns the words on such folders, and on files, that a change commits.
pub fn committed(folders: &BTreeMap<&str, usize>, files: &[String]) -> String {
    let named = |(folder, count): (&&str, &usize)| {
        let files = text::count(*count, "file");
        text::clean_line(&format!("{folder}/ ({files})"))
    };
    let folders = folders.iter().map(named);
    let named: Vec<String> = folders.chain(files.iter().cloned()).collect();
    format!(
        "the change commits what tools made, which git had better ignore: {}",
        text::some_of(&named, NAMED)
    )
}

/// Returns the words on folders that git does not ignore, as lines for .gitignore.
pub fn warning(lines: &[String]) -> String {
    let lines = text::clean_line(&text::some_of(lines, NAMED));
    format!(
        "{UNIGNORED}{lines}: what tools put there counts as your files, which are put back after each agent; add to .gitignore: {lines}"
    )
}

/// Returns the lines that such a warning names.
pub fn warned_of(warning: &str) -> impl Iterator<Item = String> + '_ {
    let named = warning.strip_prefix(UNIGNORED);
    let named = named.and_then(|named| named.split_once(": "));
    let lines = named.into_iter().flat_map(|(lines, _)| lines.split(", "));
    lines.map(str::to_owned)
}

/// Returns how a note of a record begins that names files which were put back or moved, where all of them lie in one of these
/// folders (as lines for .gitignore).
pub fn note_on<'a>(note: &'a str, lines: &BTreeSet<String>) -> Option<&'a str> {
    let begin = [MOVED, PUT_BACK, BY_CHECKS];
    let begin = begin.into_iter().find(|begin| note.starts_with(begin))?;
    let (_, names) = note.split_at(begin.len());
    // Behind an arrow stand places in the quarantine, which are absolute.
    let names = names.split(", ").map(|name| name.split(" → ").next());
    let mut names = names.flatten().filter(|name| !name.starts_with('/'));
    let is_in = |name: &str| {
        let folder = folder_of(name).map(|folder| format!("{folder}/"));
        folder.is_some_and(|folder| unignored(&[folder]).iter().all(|line| lines.contains(line)))
    };
    names.all(is_in).then(|| &note[..begin.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_tools_fill_are_lines_for_gitignore() {
        let listed = [
            "target/",
            "Cargo.lock",
            "target",
            "a/__pycache__/",
            "b/__pycache__/",
            "web/node_modules/",
            "src/",
        ];
        let lines = unignored(&listed.map(str::to_owned));
        assert_eq!(lines, ["target/", "__pycache__/", "web/node_modules/"]);
    }

    #[test]
    fn a_file_is_of_tools_below_a_folder_that_they_fill() {
        for (path, expected) in [
            ("target/debug/app", true),
            ("web/node_modules/a.js", true),
            ("target", false),
            ("src/main.c", false),
        ] {
            assert_eq!(is_of_tools(path), expected, "{path}");
        }
    }

    #[test]
    fn what_is_covered_is_of_one_run() {
        for (path, expected) in [
            (".coverage.host.1", true),
            ("coverage/tmp/coverage-12-1796039768473-0.json", true),
            ("a/.nyc_output/processinfo/1.json", true),
            ("build/main.gcda", true),
            ("node_modules/a/index.js", false),
            ("coverage/lcov.info", false),
        ] {
            assert_eq!(is_of_one_run(path), expected, "{path}");
        }
    }

    #[test]
    fn caches_and_logs_are_left_by_the_way_and_tests_are_not() {
        for (path, expected) in [
            ("tests/__pycache__/test_a.cpython-311.pyc", true),
            ("tests/.hypothesis/examples/1", true),
            ("tests/debug.log", true),
            ("tests/.coverage", true),
            ("tests/conftest.py", false),
            ("tests/out/want", false),
            ("tests/skip", false),
        ] {
            assert_eq!(is_left_by_the_way(path), expected, "{path}");
        }
    }

    #[test]
    fn a_file_is_made_by_tools_by_its_name_or_as_machine_code() {
        for (path, begin, expected) in [
            ("a/__pycache__/m.cpython-311.pyc", &b""[..], true),
            (".coverage", b"SQLite f", true),
            ("a/.coverage.host.1", b"", true),
            ("coverage/tmp/coverage-12-1796039768473-0.json", b"{", true),
            ("coverage/coverage-final.json", b"{", false),
            ("coverage-1-2.json", b"{", false),
            ("main.o", b"\x7fELF\x02\x01\x01\0", true),
            ("libx.a", b"!<arch>\n", true),
            ("a.deb", b"!<arch>\n", false),
            ("coverage.xml", b"<?xml ve", false),
            ("chair.obj", b"v 1 0 0\n", false),
            ("logo.png", b"\x89PNG\r\n\x1a\n", false),
            ("main.c", b"int main", false),
        ] {
            assert_eq!(is_made(path, begin), expected, "{path}");
        }
    }

    #[test]
    fn a_snapshot_is_told_by_its_name_and_how_it_begins() {
        let begin = |words: &str| words.bytes().take(TELLING_OF_SNAPSHOT as usize).collect();
        for (path, words, expected) in [
            (
                "t/__snapshots__/a.test.ts.snap",
                "// Vitest Snapshot v1, https://",
                true,
            ),
            ("a.snap", "// Jest Snapshot v1, https://", true),
            ("a.snap", "// Bun Snapshot v1, https://", true),
            ("a.snap", "// my own", false),
            ("a.snap", "", false),
            ("a.snap.md", "// Jest Snapshot v1, https://", false),
        ] {
            let begin: Vec<u8> = begin(words);
            assert_eq!(is_snapshot(path, &begin), expected, "{path}: {words}");
        }
    }

    #[test]
    fn files_that_came_are_named_once_for_each_folder_of_tools_with_what_to_do() {
        let files = ["coverage/a", "coverage/b/c", "a.log"].map(str::to_owned);
        let made =
            "made by a check, or by somebody, while the goals were measured, and in no commit: ";
        let of =
            |files: &[String], place| came(files, place).strip_prefix(made).unwrap().to_owned();
        let both = "coverage/, a.log";
        for (place, advice) in [
            (Came::WithKept, " (commit them, or have git ignore them)"),
            (Came::WithUndone, " (the change is undone: remove them)"),
            (Came::InCopy, ""),
        ] {
            assert_eq!(of(&files, place), format!("{both}{advice}"));
        }
        let snapshot = ["a.snap".to_owned()];
        let way_out = "a check with `CI=1` in front writes no snapshot";
        assert_eq!(
            of(&snapshot, Came::WithKept),
            format!("a.snap (commit it, or have git ignore it; {way_out})")
        );
        assert_eq!(of(&snapshot, Came::InCopy), format!("a.snap ({way_out})"));
    }

    #[test]
    fn files_are_of_the_outermost_folder_that_tools_fill() {
        let files = ["target/debug/build/x", "a/dist/y", "src/build.rs", "target"];
        assert_eq!(folders_of(files.into_iter()), ["target/", "a/dist/"]);
    }

    #[test]
    fn folders_that_only_tools_fill_are_counted_by_their_outermost() {
        let files = [
            "node_modules/a/dist/x.js",
            "node_modules/b/node_modules/c/y.js",
            "env/pyvenv.cfg",
            "env/bin/python",
            "dist/index.js",
            "src/env/a.py",
        ];
        let files = files.map(str::to_owned);
        let filled = filled(&files);
        let expected = [("env", 2), ("node_modules", 2)];
        assert_eq!(filled.clone().into_iter().collect::<Vec<_>>(), expected);
        assert_eq!(
            committed(&filled, &["a.o".to_owned()]),
            "the change commits what tools made, which git had better ignore: env/ (2 files), node_modules/ (2 files), a.o"
        );
    }

    #[test]
    fn only_a_note_all_of_whose_files_lie_in_a_named_folder_is_on_it() {
        let lines: BTreeSet<String> = warned_of(&warning(&["target/".to_owned()])).collect();
        for (note, is_on) in [
            ("moved out of the way: target/a → /q/target/a, /r/a", true),
            ("untracked files put back: target/a, target/b", true),
            ("untracked files put back: target/a, notes", false),
            ("untracked files put back: target/a and 3 more", true),
            ("moved out of the way: dist/a → /q/target/a", false),
            ("something else: target/a", false),
        ] {
            assert_eq!(note_on(note, &lines).is_some(), is_on, "{note}");
        }
    }
}
