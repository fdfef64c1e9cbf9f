//! Ways to call programs that are known by which they do more than look, check or build: they write, or run what they are given. Pure.

use std::sync::LazyLock;

use regex::Regex;

use crate::model::check;

/// Options by which a program does more, with a value or without.
const OPTIONS: &[(&[&str], &[&str])] = &[
    (&["ava"], &["--update-snapshots", "-u"]),
    (&["cargo"], &["--config"]),
    (
        &["curl"],
        &["--config", "--remote-name", "--remote-name-all"],
    ),
    (&["cypress"], &["--record"]),
    (&["playwright"], &["--update-snapshots", "-u"]),
    (&["find"], &["-fls", "-fprint", "-fprint0", "-fprintf"]),
    (
        &["git"],
        &["--exec-path", "--ext-diff", "--open-files-in-pager"],
    ),
    (
        &["go"],
        &[
            "--exec",
            "--toolexec",
            "--vettool",
            "-exec",
            "-toolexec",
            "-vettool",
            "-w",
        ],
    ),
    (&["gotestsum"], &["--post-run-command"]),
    (&["mypy"], &["--install-types"]),
    (&["phpstan"], &["--generate-baseline", "-b"]),
    (&["psalm"], &["--alter", "--set-baseline"]),
    (
        &["py.test", "pytest"],
        &[
            "--force-regen",
            "--inline-snapshot=create",
            "--inline-snapshot=fix",
            "--inline-snapshot=update",
        ],
    ),
    (&["rg"], &["--pre"]),
    (
        &["rubocop"],
        &[
            "--auto-correct",
            "--auto-gen-config",
            "--autocorrect",
            "--autocorrect-all",
            "-A",
            "-a",
        ],
    ),
    (&["ruff"], &["--add-noqa"]),
    (&["gsed", "sed"], &["--in-place"]),
    (&["tsc"], &["--init"]),
];
/// First words by which a program does more.
const ASKED: &[(&str, &[&str])] = &[
    ("cargo", &["audit fix"]),
    ("coverage", &["erase"]),
    ("golangci-lint", &["cache", "custom", "migrate"]),
    ("mix", &["credo gen.config"]),
    ("vale", &["sync"]),
];
/// Options whose value is a file that is written.
const OUTPUTS: &[(&[&str], &[&str])] = &[
    (&["bandit"], &["--output", "-o"]),
    (&["cppcheck", "flake8"], &["--output-file"]),
    (&["curl"], &["--output", "-o"]),
    (&["eslint"], &["--output-file", "-o"]),
    (&["git"], &["--output"]),
    (&["go"], &["-o"]),
    (&["ruff"], &["--output-file", "-o"]),
    (&["sort"], &["--output", "-o"]),
    (&["tree"], &["-o"]),
];
/// What git may be told for one call and runs nothing by.
const OF_GIT: &[&str] = &[
    "advice.",
    "color.",
    "column.",
    "core.autocrlf=",
    "core.eol=",
    "core.filemode=",
    "core.quotepath=",
    "core.safecrlf=",
    "core.whitespace=",
    "log.",
    "safe.",
];

/// What of awk's prints where everybody may, and what of its text begins no command.
static SPARED: LazyLock<Regex> = LazyLock::new(|| {
    let stream = r#">\s*"/dev/std(?:err|out)"|\|\s*"cat 1>&2""#;
    let text = r#""(?:[^"\\]|\\.)*""#;
    let pattern = r"(?:^|[(,~!{;&|\n])\s*/(?:[^/\\\n]|\\.)*/";
    Regex::new(&format!(r"{stream}|{text}|{pattern}|\|\|"))
        .expect("BUG: a pattern of ours is no pattern")
});
/// What awk runs, or writes to a file.
static ACTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\bsystem\s*\(|\||\bprintf?\b(?:\([^)]*\)|[^;}\n(])*>")
        .expect("BUG: a pattern of ours is no pattern")
});

/// What code of Python's or Perl's calls that runs, writes, deletes or fetches something, or may be any of these.
static CALLS: LazyLock<Regex> = LazyLock::new(|| {
    let words = "chmod|chown|compile|do|eval|exec|fork|getattr|kill|link|makedirs|mkdir|popen|qx|remove|rename|replace|require|rmdir|rmtree|\
        run|shutil|socket|spawn|subprocess|symlink|syscall|sysopen|system|touch|truncate|unlink|urlopen|use|write";
    let opens = r"\bopen(?:\s*\([^()]*(?:\([^()]*\)[^()]*)*,|\s+\w)";
    Regex::new(&format!(r"(?i)\b(?:{words})\w*|__|`|{opens}|\.open\b"))
        .expect("BUG: a pattern of ours is no pattern")
});
/// A path that opens itself to be read.
static OPENS_ITSELF: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\.open\s*\(\s*(?:(?:mode\s*=\s*)?["'][rbt]+["']\s*)?\)"#)
        .expect("BUG: a pattern of ours is no pattern")
});
/// The modules that Python imports.
static IMPORTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:from\s+(?<from>[\w.]+)\s+)?import\s+(?<all>[\w., (*]+)")
        .expect("BUG: a pattern of ours is no pattern")
});

/// Says whether code of Python's or Perl's is known to look only.
pub(super) fn only_reads(code: &str) -> bool {
    const READERS: [&str; 13] = [
        "ast",
        "collections",
        "configparser",
        "csv",
        "glob",
        "itertools",
        "json",
        "os",
        "pathlib",
        "re",
        "sys",
        "tomllib",
        "yaml",
    ];
    let mut modules = IMPORTS.captures_iter(code).flat_map(|found| {
        let all = found.name("from").or(found.name("all"));
        let all = all.map_or("", |all| all.as_str()).split(',');
        all.filter_map(|one| one.trim().split(['.', ' ']).next())
    });
    let calls = OPENS_ITSELF.replace_all(code, "");
    modules.all(|name| READERS.contains(&name)) && !CALLS.is_match(&calls)
}

/// Says whether a program that is known is called in a way by which it does more than look, check or build.
pub(super) fn does_more(name: &str, rest: &[String]) -> bool {
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let operands = check::operands(&words, |_| false);
    let asked = operands.iter().take(2).copied().collect::<Vec<_>>();
    let is_asked = |all: &[&str]| {
        let first = asked.first().copied().unwrap_or_default();
        all.contains(&first) || all.contains(&asked.join(" ").as_str())
    };
    let is_told = |all: &[&str]| {
        let mut words = words.iter().take_while(|word| **word != "--");
        words.any(|word| all.iter().any(|option| is_option(word, option)))
    };
    let by_option = OPTIONS
        .iter()
        .any(|(names, all)| names.contains(&name) && is_told(all));
    let by_word = ASKED.iter().any(|(it, all)| *it == name && is_asked(all));
    by_option
        || by_word
        || match name {
            "awk" | "gawk" | "mawk" | "nawk" => codes(&words, &["-F", "-v", "-f"], &[])
                .iter()
                .any(|code| awk_acts(code)),
            "git" => git_runs(&words),
            "hatch" | "poetry" => asked.first() == Some(&"version") && asked.len() > 1,
            "protoc" => words.iter().any(|word| makes_code(word)),
            "gsed" | "sed" => codes(&words, &["-f", "-l"], &["-e", "--expression"])
                .iter()
                .any(|code| sed_acts(code)),
            _ => false,
        }
}

/// Returns the call of npx up to the option behind which it takes code in place of a program.
pub(super) fn code_for_packages(check: &str) -> Option<String> {
    let words: Vec<&str> = check.split_whitespace().collect();
    let mut places = 0..words.len();
    places.find_map(|at| {
        let is_it =
            matches!(words[at], "bunx" | "npx") || at > 0 && words[at - 1..=at] == ["npm", "exec"];
        let mut options = words[at + 1..]
            .iter()
            .take_while(|word| word.starts_with('-'));
        let code = options.position(|word| *word == "-c" || is_option(word, "--call"))?;
        is_it.then(|| words[at..=at + 1 + code].join(" "))
    })
}

/// Says whether a variable has programs run what it names.
pub(super) fn steers(name: &str) -> bool {
    const NAMES: [&str; 4] = ["BASH_ENV", "ENV", "LD_PRELOAD", "PATH"];
    let is_runner = name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER");
    NAMES.contains(&name) || is_runner
}

/// Returns the files that a program is told to write.
pub(super) fn outputs(name: &str, rest: &[String]) -> Vec<String> {
    let options = OUTPUTS.iter().find(|(names, _)| names.contains(&name));
    let options = options.map(|(_, all)| *all).unwrap_or_default();
    let mut found = Vec::new();
    let mut words = rest.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let Some(option) = options.iter().find(|option| word.starts_with(**option)) else {
            continue;
        };
        let value = &word[option.len()..];
        match (value, value.strip_prefix('=')) {
            ("", _) => found.extend(words.next().cloned()),
            (_, Some(value)) => found.push(value.to_owned()),
            // Of a letter the value may stand close behind it; Go's flags are words.
            (value, None) if !option.starts_with("--") && name != "go" => {
                found.push(value.to_owned());
            }
            (_, None) => {}
        }
    }
    if matches!(name, "json.tool" | "uniq") {
        let words: Vec<&str> = rest.iter().map(String::as_str).collect();
        let operands = check::operands(&words, |word| matches!(word, "-f" | "-s" | "-w"));
        found.extend(operands.get(1).map(|word| (*word).to_owned()));
    }
    found
}

/// Says whether a word is an option, be its value behind it.
fn is_option(word: &str, option: &str) -> bool {
    let rest = word.strip_prefix(option);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Says whether the compiler of protocols is told to write code: `--go_out=.`.
fn makes_code(word: &str) -> bool {
    let option = word.split('=').next().unwrap_or_default();
    option.starts_with("--") && option.ends_with("_out")
}

/// Says whether git is told to run something, or by its settings may.
fn git_runs(words: &[&str]) -> bool {
    let own = words.iter().take_while(|word| word.starts_with('-'));
    let is_grep = words.contains(&"grep");
    let opens = |word: &&str| is_grep && word.starts_with("-O");
    let is_spared = |setting: &str| {
        let setting = setting.to_lowercase();
        OF_GIT.iter().any(|it| setting.starts_with(it))
    };
    let mut pairs = words.windows(2);
    let sets = pairs.any(|pair| pair[0] == "-c" && pair[1].contains('=') && !is_spared(pair[1]));
    let by_env = own.clone().any(|word| word.starts_with("--config-env"));
    sets || by_env || words.iter().any(opens)
}

/// Returns the code that a program is given by options, else as the first word.
fn codes<'w>(words: &[&'w str], takes: &[&str], by: &[&str]) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut first = None;
    let mut has_code = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let is_by = by.iter().find(|option| word.starts_with(**option));
        // The letter may stand behind others: `-ne CODE`.
        let is_last = word.starts_with('-')
            && !word.starts_with("--")
            && by
                .iter()
                .any(|option| option.len() == 2 && word.len() > 2 && word.ends_with(&option[1..]));
        match is_by {
            Some(_) if is_last => found.extend(words.next()),
            Some(option) if word.len() == option.len() => found.extend(words.next()),
            Some(option) => found.push(word[option.len()..].trim_start_matches('=')),
            None if is_last => found.extend(words.next()),
            None if takes.contains(word) => {
                has_code |= *word == "-f";
                words.next();
            }
            None if word.starts_with('-') && word.len() > 1 => has_code |= word.starts_with("-f"),
            None => first = first.or(Some(*word)),
        }
    }
    if found.is_empty() && !has_code {
        found.extend(first);
    }
    found
}

/// Says whether a program of awk's runs commands or writes files.
fn awk_acts(code: &str) -> bool {
    // What a pattern begins behind stays.
    let rest = SPARED.replace_all(code, |found: &regex::Captures| match &found[0] {
        "||" => " ".to_owned(),
        text if text.starts_with(['"', '>']) || text.contains("cat 1>&2") => " ".to_owned(),
        text => text.split('/').next().unwrap_or_default().to_owned(),
    });
    ACTS.is_match(&rest)
}

/// Says whether a script of sed's runs commands or writes files: `e`, `w`, `W`, and these behind `s`.
fn sed_acts(code: &str) -> bool {
    let mut chars = code.chars().peekable();
    loop {
        while chars
            .next_if(|c| c.is_whitespace() || ";{}!,+~$IM".contains(*c) || c.is_ascii_digit())
            .is_some()
        {}
        let Some(c) = chars.next() else { return false };
        match c {
            '/' => pass_by(&mut chars, '/'),
            '\\' => {
                if let Some(end) = chars.next() {
                    pass_by(&mut chars, end);
                }
            }
            's' | 'y' => {
                let Some(end) = chars.next() else {
                    return false;
                };
                pass_by(&mut chars, end);
                pass_by(&mut chars, end);
                while let Some(flag) = chars.next_if(|c| c.is_alphanumeric()) {
                    if c == 's' && "ew".contains(flag) {
                        return true;
                    }
                }
            }
            'e' | 'w' | 'W' => return true,
            // What stands behind is text, or a file that is read.
            'a' | 'i' | 'c' | 'r' | 'R' | '#' => while chars.next_if(|c| *c != '\n').is_some() {},
            ':' | 'b' | 't' | 'T' => while chars.next_if(|c| !";\n}".contains(*c)).is_some() {},
            _ => {}
        }
    }
}

/// Passes by a part up to its end; what stands behind a backslash is none.
fn pass_by(chars: &mut std::iter::Peekable<std::str::Chars>, end: char) {
    while let Some(c) = chars.next().filter(|c| *c != end) {
        if c == '\\' {
            chars.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_reads_is_told_from_what_may_do_anything() {
        for (code, expected) in [
            ("import json, sys; json.load(open(sys.argv[1]))", true),
            (
                "from pathlib import Path; assert Path('a').read_text()",
                true,
            ),
            ("import sys, yaml; yaml.safe_load(sys.stdin)", true),
            ("from pathlib import Path; Path('a').open().read()", true),
            (
                "from pathlib import Path; Path('a').open('rb').read()",
                true,
            ),
            ("from pathlib import Path; Path('a').open('w')", false),
            ("from pathlib import Path; Path('a').open(mode='r+')", false),
            ("from pathlib import Path; Path('a').open(m)", false),
            ("print if s/:0$//", true),
            ("END { exit 1 if $n > 3 } $n++ if length > 100", true),
            (
                "import json, sys\nwith open('a.json') as f:\n    json.load(f)\nsys.exit(1)\n",
                true,
            ),
            ("from re import (match)", true),
            ("import x", false),
            ("from x import *", false),
            ("from x import (\n    y,\n)", false),
            ("import os; os.system('x')", false),
            ("import os, x", false),
            ("from pathlib import Path; Path('a').write_text('')", false),
            ("open('a', 'w')", false),
            ("open(os.path.join('a', 'b'), 'w')", false),
            ("getattr(os, 'sys' + 'tem')('x')", false),
            ("print `x`", false),
            ("open F, '>x'", false),
            ("__import__('x')", false),
        ] {
            assert_eq!(only_reads(code), expected, "{code}");
        }
    }

    #[test]
    fn what_runs_or_writes_by_its_arguments_is_told_from_what_reads() {
        let all: &[(&[&str], bool)] = &[
            (&["awk", "BEGIN { system(\"rm x\") }"], true),
            (&["awk", "{ print > \"f\" }"], true),
            (&["awk", "{ print $1, $2 >> \"f\" }"], true),
            (&["awk", "{ print | \"sh\" }"], true),
            (&["awk", "-F", ":", "{ \"date\" | getline x }"], true),
            (&["awk", "{ print $1 }"], false),
            (
                &["awk", "-F", ",", "$2 > 80 { print \"a | b > c\" }"],
                false,
            ),
            (&["awk", "/a|b/ { n++ } END { exit n > 0 }"], false),
            (&["awk", "$1 ~ /a|b/ || x { print (a > b) }"], false),
            (&["awk", "{ print \"x\" > \"/dev/stderr\" }"], false),
            (&["awk", "{ while ((getline l < f) > 0) n++ }"], false),
            (&["sed", "-n", "1e rm x", "f"], true),
            (&["sed", "w out", "f"], true),
            (&["sed", "s/a/b/e", "f"], true),
            (&["sed", "-e", "s/a/b/", "-e", "s/c/d/w out"], true),
            (&["sed", "-ne", "/x/w out"], true),
            (&["sed", "--in-place", "s/a/b/", "f"], true),
            (&["sed", "s/were/we/g", "f"], false),
            (&["sed", "-n", "/new/p;s|x|w|"], false),
            (&["sed", "-e", "s#a/e#w#", "f"], false),
            (&["sed", "-E", "$!N;/^e/d;2,5{s/x/y/}", "f"], false),
            (&["sed", "1i where", "f"], false),
            (&["git", "grep", "-Orm", "x"], true),
            (&["git", "-c", "core.pager=rm", "log"], true),
            (&["git", "-c", "color.ui=always", "diff"], false),
            (&["git", "-c", "core.quotePath=off", "ls-files"], false),
            (&["git", "log", "-c"], false),
            (&["go", "test", "-exec", "rm", "./..."], true),
            (&["go", "vet", "-vettool=x", "./..."], true),
            (&["go", "test", "./..."], false),
            (&["gotestsum", "--post-run-command", "rm"], true),
            (&["cargo", "--config", "a.b=1", "test"], true),
            (&["cargo", "audit", "fix"], true),
            (&["cargo", "audit"], false),
            (&["ruff", "check", "--add-noqa"], true),
            (&["poetry", "version", "2.0"], true),
            (&["poetry", "version"], false),
            (&["protoc", "--go_out=.", "a.proto"], true),
            (&["protoc", "-o", "/dev/null", "a.proto"], false),
            (&["golangci-lint", "run"], false),
            (&["golangci-lint", "cache", "clean"], true),
            (&["mix", "credo"], false),
            (&["mix", "credo", "gen.config"], true),
            (&["pytest", "--inline-snapshot=report"], false),
            (&["pytest", "--inline-snapshot=fix"], true),
            (&["tsc", "--noEmit"], false),
        ];
        for (words, expected) in all {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(does_more(&words[0], &words[1..]), *expected, "{words:?}");
        }
    }
}
