//! What single words of a command tell. Pure.

use super::super::call::stem;
use super::super::programs::{self, scan};
use super::super::shell::{EACH, NEXT, PRINTED};

/// Returns words with the mark for what is not known where a file's content is.
pub fn known(words: Vec<String>) -> Vec<String> {
    let parts = |word: &String| word.split(PRINTED).map(str::to_owned).collect::<Vec<_>>();
    let shown = |word: String| match parts(&word).as_slice() {
        [_] => word,
        parts => parts
            .iter()
            .step_by(2)
            .cloned()
            .collect::<Vec<_>>()
            .join("$"),
    };
    words.into_iter().map(shown).collect()
}

/// Says whether a word stands for itself alone: it has no mark, pattern or expansion.
pub fn is_literal(word: &str) -> bool {
    !word.contains(|c: char| c.is_control() || "$`~*?[{".contains(c))
}

/// Returns the file whose content a word is.
pub fn printed_in(word: &str) -> Option<&str> {
    let word = word.strip_prefix("./").unwrap_or(word);
    let file = word.strip_prefix(PRINTED)?.strip_suffix(PRINTED)?;
    (!file.contains(PRINTED)).then_some(file)
}

/// Says whether a command changes the folder.
pub fn is_change(words: &[String]) -> bool {
    matches!(first_of(words), Some("cd" | "pushd" | "popd"))
}

/// Returns the command behind the reserved words.
pub fn first_of(words: &[String]) -> Option<&str> {
    let before = [
        "do", "then", "else", "if", "while", "until", "!", "{", "command", "builtin",
    ];
    let mut words = words.iter().map(String::as_str);
    words.find(|word| !before.contains(word))
}

/// Returns the values that a loop's variable in `word` takes.
pub fn each_in(word: &str) -> Option<Vec<String>> {
    let (_, rest) = word.split_once(EACH)?;
    let (values, _) = rest.split_once(EACH)?;
    Some(values.split(NEXT).map(str::to_owned).collect())
}

/// Returns the places in which `find` is to look.
pub fn places(words: &[String]) -> &[String] {
    let is_place = |word: &&String| !word.starts_with(['-', '(', '!']);
    let count = words.iter().skip(1).take_while(is_place).count();
    &words[1..=count]
}

/// Returns where the files lie whose names a command hands on: those that it lists itself, or passes on of these places.
pub fn named_by(words: &[String], found: &[String]) -> Vec<String> {
    match words.first().map(|word| stem(word)).as_deref() {
        Some("find" | "ls") => places(words).to_vec(),
        Some("egrep" | "fgrep" | "grep" | "head" | "sort" | "tail" | "uniq") => found.to_vec(),
        Some(_) | None => Vec::new(),
    }
}

/// Says whether a program prints the content of files, or their names, as they are.
pub fn shows(name: &str) -> bool {
    matches!(
        name,
        "cat" | "ls" | "printf" | "echo" | "git" | "head" | "tail" | "sort"
    )
}

/// Says whether a program prints what it reads, or most of it, changed maybe.
pub fn filters(name: &str) -> bool {
    matches!(
        name,
        "awk"
            | "base"
            | "cut"
            | "dos2unix"
            | "egrep"
            | "envsubst"
            | "expand"
            | "fgrep"
            | "gawk"
            | "grep"
            | "gunzip"
            | "gzip"
            | "iconv"
            | "m"
            | "mawk"
            | "openssl"
            | "sed"
            | "tac"
            | "tee"
            | "tr"
            | "uniq"
            | "xz"
            | "xzcat"
            | "zcat"
    )
}

/// Returns the file that such a program reads by its name: its last operand, which may be no expression.
pub fn filtered(words: &[String]) -> Option<&String> {
    let expressions = match stem(words.first()?).as_str() {
        "openssl" | "tee" | "tr" => return None,
        "awk" | "egrep" | "fgrep" | "gawk" | "grep" | "mawk" | "sed" => 1,
        _ => 0,
    };
    let operands = words[1..].iter().filter(|word| !word.starts_with('-'));
    operands
        .skip(expressions)
        .last()
        .filter(|word| is_literal(word))
}

/// Returns the text that `echo` or `printf` prints, where a shell could make something of it.
pub fn text_of(words: &[String]) -> Option<String> {
    let is_option = |word: &&String| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.chars().all(|c| "neE".contains(c))
    };
    let text = match words.first().map(|word| stem(word)).as_deref() {
        Some("echo") => {
            let rest = words[1..].iter().skip_while(is_option);
            rest.cloned().collect::<Vec<_>>().join(" ")
        }
        Some("printf") => {
            let mut rest = words[1..].iter().filter(|word| *word != "--");
            let format = rest.next()?;
            let mut parts = format.split("%s");
            let mut text = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                text.extend(rest.next().map(String::as_str));
                text.push_str(part);
            }
            rest.for_each(|word| text.push_str(&format!("\n{word}")));
            text
        }
        Some(_) | None => return None,
    };
    Some(text.replace("\\n", "\n"))
}

/// Says whether a command of the shell sets variables to what it reads.
pub fn reads_into_variables(words: &[String]) -> bool {
    matches!(first_of(words), Some("read" | "mapfile" | "readarray"))
}

/// Says whether a program puts files elsewhere.
pub fn copies(name: &str) -> bool {
    matches!(
        name,
        "cp" | "mv" | "ln" | "install" | "rsync" | "tar" | "tee" | "dd"
    )
}

/// Returns the code of `sh -c CODE`, which is the first operand, wherever the `c` stands among the options, and what follows it.
pub fn shell_code(words: &[String]) -> Option<(String, Vec<String>)> {
    let operand = scan(words, &programs::SHELL).operand?;
    let has_code = words[1..operand]
        .iter()
        .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('c'));
    has_code.then(|| (words[operand].clone(), words[operand + 1..].to_vec()))
}
