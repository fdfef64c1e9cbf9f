//! Whether a script of JavaScript is known to look only: it takes in nothing but what reads, and calls nothing that writes, runs or
//! fetches. Pure.

use std::sync::LazyLock;

use regex::Regex;

/// Modules that bring nothing that writes without being called by a name that tells.
const READERS: [&str; 13] = [
    "assert",
    "assert/strict",
    "console",
    "crypto",
    "fs",
    "fs/promises",
    "os",
    "path",
    "process",
    "querystring",
    "readline",
    "url",
    "util",
];
/// What it takes in, by the name that stands there.
static TAKEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\b(?:from|import|require)\s*\(?\s*["'](?:node:)?(?<name>[^"'\n]*)["']"#)
        .expect("BUG: a pattern of ours is no pattern")
});
/// What takes in something by a name that only running it tells.
static UNTOLD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\b(?:import|require)\s*\(\s*[^"'\s]|\brequire\b\s*[^(\s]|\bcreateRequire\b"#)
        .expect("BUG: a pattern of ours is no pattern")
});
/// What it prints by.
static PRINTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\bprocess\.std(?:out|err)\.write\b").expect("BUG: a pattern of ours is no pattern")
});
/// What runs, writes, deletes or fetches something, or may be any of these.
static CALLS: LazyLock<Regex> = LazyLock::new(|| {
    let words = "append|chmod|chown|copyFile|cp|createWrite|eval|exec|fetch|fork|Function|kill|lchmod|lchown|link|mkdir|mkdtemp|open|\
        rename|rm|rmdir|spawn|symlink|truncate|unlink|utimes|write";
    let others =
        "Bun|Deno|WebSocket|Worker|XMLHttpRequest|binding|dlopen|globalThis|constructor|__proto__";
    Regex::new(&format!(
        r"\b(?:(?:{words})(?:Sync|File|FileSync|Stream)?|(?:write|append|exec|spawn|open)\w*|{others})\b|\]\s*\("
    ))
    .expect("BUG: a pattern of ours is no pattern")
});

/// Returns what Node takes for a file that is not there by its own name, the first one first: with an ending, and as a folder by what its
/// package names, or its index.
pub(super) fn entries(file: &str, main: Option<&str>) -> Vec<String> {
    let ended = |base: String| ["js", "json", "node"].map(|end| format!("{base}.{end}"));
    let mut all = ended(file.to_owned()).to_vec();
    if let Some(main) = main.map(|main| format!("{file}/{main}")) {
        all.push(main.clone());
        all.extend(ended(main.clone()));
        all.extend(ended(format!("{main}/index")));
    }
    all.extend(ended(format!("{file}/index")));
    all
}

/// Says whether a file by this name holds such a script.
pub(super) fn only_reads(name: &str, text: &str) -> bool {
    let is_one = [".js", ".cjs", ".mjs"]
        .iter()
        .any(|end| name.ends_with(end));
    let mut taken = TAKEN.captures_iter(text);
    let text = PRINTS.replace_all(text, "");
    is_one
        && !text.trim().is_empty()
        && taken.all(|it| READERS.contains(&&it["name"]))
        && !UNTOLD.is_match(&text)
        && !CALLS.is_match(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_takes_in_and_calls_only_what_reads_looks_only() {
        for (text, expected) in [
            (
                "import fs from 'node:fs';\nif (fs.readFileSync('a').length > 9) process.exit(1);",
                true,
            ),
            (
                "const { join } = require(\"path\");\nprocess.stdout.write(join('a', 'b'));",
                true,
            ),
            (
                "import { readFile } from 'fs/promises'\nfor (const it of await readFile('a', 'utf8')) console.log(it.replace(/a/, 'b'))",
                true,
            ),
            ("import fs from 'fs'; fs.writeFileSync('a', 'b')", false),
            ("import fs from 'fs'; fs.rmSync('a')", false),
            ("import { cp } from 'fs'; cp('a', 'b')", false),
            ("import { execSync } from 'node:child_process'", false),
            ("import x from './lib.mjs'", false),
            ("import 'x'", false),
            ("const x = await import(name)", false),
            ("const x = require; x('fs')", false),
            ("import fs from 'fs'; fs['rm' + 'Sync']('a')", false),
            ("await fetch('https://x')", false),
            ("", false),
        ] {
            assert_eq!(only_reads("a.mjs", text), expected, "{text}");
        }
        assert!(!only_reads("a.py", "import 'fs'"));
    }
}
