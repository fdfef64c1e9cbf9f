//! Names of Python's modules, and the files that they stand for. Pure.

use super::Instead;
use super::path::join;

/// How many packages within each other are followed.
pub const DEEPEST: usize = 16;

/// How the files end that Python takes for a module, the first one first.
const ENDINGS: [&str; 4] = [".abi3.so", ".so", ".py", ".pyc"];

/// Returns the files that Python runs for a module: each package on the way to it, and itself.
pub fn files_of(module: &str) -> Vec<String> {
    let Some(parts) = parts_of(module) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for count in 1..=parts.len().min(DEEPEST) {
        files.push(format!("{}/__init__.py", parts[..count].join("/")));
    }
    let path = parts.join("/");
    files.push(format!("{path}.py"));
    files.push(format!("{path}/__main__.py"));
    files
}

/// Returns the files of which one makes the folder at `path` a package, the first one first.
pub fn inits_of(path: &str) -> Vec<String> {
    let inits = ENDINGS.iter().map(|end| format!("{path}/__init__{end}"));
    inits.collect()
}

/// Returns what is not there and Python would take before the file that it runs for a module, with that file. It looks in `folders`
/// in turn; for what lies in a package without an `__init__`, in those of its name in all of them.
pub fn in_front(
    module: &str,
    folders: Vec<String>,
    is_file: &dyn Fn(&str) -> bool,
) -> Vec<Instead> {
    let mut missing = Vec::new();
    let found = run_for(module, folders, &mut |path| {
        let is_there = is_file(path);
        if !is_there {
            missing.push(path.to_owned());
        }
        is_there
    });
    let instead = |of: String| {
        let missing = missing.into_iter();
        let found = missing.map(|path| Instead {
            path,
            of: of.clone(),
        });
        found.collect()
    };
    found.map(instead).unwrap_or_default()
}

/// Returns the file that Python runs for a module; `is_file` is asked in the order in which Python looks.
fn run_for(
    module: &str,
    mut folders: Vec<String>,
    is_file: &mut dyn FnMut(&str) -> bool,
) -> Option<String> {
    let parts = parts_of(module).filter(|parts| parts.len() <= DEEPEST)?;
    for (at, part) in parts.iter().enumerate() {
        folders = folders.iter().filter_map(|it| join(it, part)).collect();
        for path in &folders {
            if inits_of(path).iter().any(|file| is_file(file)) {
                folders = vec![path.clone()];
                break;
            }
            let mut modules = ENDINGS.iter().map(|end| format!("{path}{end}"));
            if let Some(file) = modules.find(|file| is_file(file)) {
                return Some(file).filter(|_| at + 1 == parts.len());
            }
        }
    }
    let mut entries = folders.iter().map(|path| format!("{path}/__main__.py"));
    entries.find(|file| is_file(file))
}

/// Returns the names of the packages on the way to a module, and its own; none if it is no name of one.
fn parts_of(module: &str) -> Option<Vec<&str>> {
    let is_name = |part: &str| !part.is_empty() && first_part(part) == part;
    let parts: Vec<&str> = module.split('.').collect();
    parts.iter().all(|part| is_name(part)).then_some(parts)
}

/// Returns the start of a word up to where a name of Python's ends.
pub fn first_part(word: &str) -> &str {
    let end = word.find(|c: char| !c.is_alphanumeric() && c != '_');
    &word[..end.unwrap_or(word.len())]
}
