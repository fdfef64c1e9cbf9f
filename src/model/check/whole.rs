//! Checks that look at everything git tracks, and so at what `evolve` commits below `.agents`. Pure.

use super::call::stem;
use super::walk::calls;

/// The folder of the files that `evolve` commits.
const FOLDER: &str = ".agents";
/// What makes a path of git leave out what it names.
const LEAVES_OUT: [&str; 3] = [":!", ":^", ":(exclude)"];

/// Says whether `check` searches or lists all tracked files with `git grep` or `git ls-files`, those in `.agents` included.
pub fn looks_at_everything(check: &str) -> bool {
    calls(check).iter().any(|call| {
        let is_root = call.dir.as_deref() == Some("");
        is_root && stem(&call.words[0]) == "git" && is_everywhere(&call.words[1..])
    })
}

/// Says whether these arguments of git reach every tracked file.
fn is_everywhere(words: &[String]) -> bool {
    let Some((command, rest)) = words.split_first() else {
        return false;
    };
    let after = rest.iter().position(|word| word == "--");
    let paths = match (command.as_str(), after) {
        ("grep" | "ls-files", Some(at)) => &rest[at + 1..],
        // Without `--`, words that are no options may be paths; `git grep` has its pattern first.
        ("grep", None) if operands(rest) <= 1 => &[],
        ("ls-files", None) if operands(rest) == 0 => &[],
        _ => return false,
    };
    let (left_out, looked_at): (Vec<_>, Vec<_>) = paths
        .iter()
        .partition(|path| LEAVES_OUT.iter().any(|magic| path.starts_with(magic)));
    let is_all = |path: &&String| matches!(path.as_str(), "." | "./" | ":/" | "*");
    !left_out.iter().any(|path| path.contains(FOLDER))
        && (looked_at.is_empty() || looked_at.iter().any(is_all))
}

fn operands(words: &[String]) -> usize {
    words.iter().filter(|word| !word.starts_with('-')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reaches_every_tracked_file_looks_at_everything() {
        let everything = [
            "! git grep -nE 'TODO|FIXME'",
            "git grep -n TODO -- . | wc -l",
            "git grep -nI TODO -- ':!*.md'",
            "git ls-files | wc -l",
            "git ls-files -z | xargs -0 du -ck",
            "cd src && cd .. && git grep TODO",
        ];
        for check in everything {
            assert!(looks_at_everything(check), "{check}");
        }
        let parts = [
            "git grep -n TODO -- src tests",
            "git grep -n TODO src",
            "git grep -n TODO -- . ':!.agents'",
            "git grep -n TODO -- ':(exclude).agents/evolve'",
            "git ls-files '*.rs'",
            "git ls-files -- '*.sh'",
            "cd src && git grep TODO",
            "git status --short",
            "git",
            "grep -r TODO src",
        ];
        for check in parts {
            assert!(!looks_at_everything(check), "{check}");
        }
    }
}
