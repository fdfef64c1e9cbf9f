//! Names of Python's modules, and the files that they stand for.

/// How many packages within each other are followed.
pub const DEEPEST: usize = 16;

/// Returns the files that Python runs for a module: each package on the way to it, and itself.
pub fn files_of(module: &str) -> Vec<String> {
    let is_name = |part: &str| !part.is_empty() && first_part(part) == part;
    let parts: Vec<&str> = module.split('.').collect();
    if !parts.iter().all(|part| is_name(part)) {
        return Vec::new();
    }
    let mut files = Vec::new();
    for count in 1..=parts.len().min(DEEPEST) {
        files.push(format!("{}/__init__.py", parts[..count].join("/")));
    }
    let path = parts.join("/");
    files.push(format!("{path}.py"));
    files.push(format!("{path}/__main__.py"));
    files
}

/// Returns the start of a word up to where a name of Python's ends.
pub fn first_part(word: &str) -> &str {
    let end = word.find(|c: char| !c.is_alphanumeric() && c != '_');
    &word[..end.unwrap_or(word.len())]
}
