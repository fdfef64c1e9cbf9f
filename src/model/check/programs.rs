//! What is known of programs: their options, so that the script among the arguments is found. Pure.

/// The options of a program, as far as they decide which of its arguments is what.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Letters that take an argument: the rest of the word, or the next one.
    pub takes: &'static str,
    /// Letters that have the rest of their word as argument, and never the next one.
    pub eats: &'static str,
    /// Letters whose argument is code or a module, so that no script follows.
    pub code: &'static str,
    /// Letters whose argument is a file that is run.
    pub files: &'static str,
    /// Long names of options like `takes`, `code`, `files`.
    pub long_takes: &'static [&'static str],
    /// See above.
    pub long_code: &'static [&'static str],
    /// See above.
    pub long_files: &'static [&'static str],
    /// Options may follow operands, which are no scripts: `make test -f FILE`.
    pub is_mixed: bool,
}

/// What `scan` found among the arguments.
#[derive(Debug, Default)]
pub struct Arguments {
    /// Index of the first operand.
    pub operand: Option<usize>,
    /// Code or module name given by an option, with the option's letter.
    pub code: Option<(char, String)>,
    /// Files given by options.
    pub files: Vec<String>,
}

/// Reads the arguments of a program, its name being the first of `words`.
pub fn scan(words: &[String], options: &Options) -> Arguments {
    let mut found = Arguments::default();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if word == "--" {
            found.operand = found
                .operand
                .or(Some(at + 1).filter(|_| words.len() > at + 1));
            return found;
        }
        let is_option = word.len() > 1 && word.starts_with(['-', '+']);
        if !is_option {
            found.operand = found.operand.or(Some(at));
            if !options.is_mixed {
                return found;
            }
            at += 1;
            continue;
        }
        let next = words.get(at + 1).map(String::as_str);
        let took_next = match word.strip_prefix("--") {
            Some(long) => scan_long(long, next, options, &mut found),
            None => scan_letters(&word[1..], next, options, &mut found),
        };
        at += 1 + usize::from(took_next);
        if found.code.is_some() {
            return found;
        }
    }
    found
}

fn scan_long(long: &str, next: Option<&str>, options: &Options, found: &mut Arguments) -> bool {
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (long, None),
    };
    let argument = value.or(next).unwrap_or("").to_string();
    if options.long_files.contains(&name) {
        found.files.push(argument);
    } else if options.long_code.contains(&name) {
        found.code = Some(('-', argument));
    } else if !options.long_takes.contains(&name) {
        return false;
    }
    value.is_none()
}

fn scan_letters(
    letters: &str,
    next: Option<&str>,
    options: &Options,
    found: &mut Arguments,
) -> bool {
    for (index, letter) in letters.char_indices() {
        let rest = &letters[index + letter.len_utf8()..];
        let argument = || match rest {
            "" => next.unwrap_or("").to_string(),
            rest => rest.to_string(),
        };
        if options.code.contains(letter) {
            found.code = Some((letter, argument()));
        } else if options.files.contains(letter) {
            found.files.push(argument());
        } else if options.eats.contains(letter) {
            return false;
        } else if !options.takes.contains(letter) {
            continue;
        }
        return rest.is_empty();
    }
    false
}

const NONE: Options = Options {
    takes: "",
    eats: "",
    code: "",
    files: "",
    long_takes: &[],
    long_code: &[],
    long_files: &[],
    is_mixed: false,
};

/// The options of a shell; its `-c` is found by `shell_code`, as the code is an operand there.
pub const SHELL: Options = Options {
    takes: "oO",
    long_files: &["rcfile", "init-file"],
    ..NONE
};

/// Says whether `name` is a shell.
pub fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh" | "ash"
    )
}

/// Returns how the interpreter `name` takes its script.
pub fn interpreter(name: &str) -> Option<Options> {
    let options = match name {
        name if is_shell(name) => SHELL,
        "python" | "pypy" => Options {
            takes: "WXQ",
            code: "cm",
            ..NONE
        },
        "node" | "nodejs" | "tsx" | "ts-node" => Options {
            takes: "C",
            code: "ep",
            files: "r",
            long_takes: &["conditions", "test-name-pattern", "test-reporter"],
            long_code: &["eval", "print", "run"],
            long_files: &["require", "import", "loader", "experimental-loader"],
            ..NONE
        },
        "deno" | "bun" => Options {
            takes: "c",
            code: "e",
            long_takes: &["config", "cwd"],
            long_code: &["eval"],
            ..NONE
        },
        "perl" => Options {
            takes: "I",
            eats: "MmixFDC",
            code: "eE",
            ..NONE
        },
        "ruby" => Options {
            takes: "rIC",
            eats: "iFKWxT",
            code: "e",
            ..NONE
        },
        "php" => Options {
            takes: "dctSz",
            code: "rBRE",
            files: "f",
            ..NONE
        },
        "tclsh" | "wish" | "expect" => Options {
            takes: "e",
            code: "c",
            ..NONE
        },
        "Rscript" | "lua" => Options {
            takes: "l",
            code: "e",
            ..NONE
        },
        _ => return None,
    };
    Some(options)
}

/// Returns how `name` takes a script by an option alone; its operands are none.
pub fn script_by_option(name: &str) -> Option<Options> {
    let options = match name {
        "make" | "gmake" => Options {
            takes: "CIoW",
            files: "f",
            long_takes: &["directory", "include-dir", "old-file", "what-if"],
            long_files: &["file", "makefile"],
            is_mixed: true,
            ..NONE
        },
        "awk" | "gawk" | "mawk" | "nawk" => Options {
            takes: "Fv",
            files: "f",
            long_files: &["file"],
            ..NONE
        },
        "sed" | "gsed" => Options {
            takes: "el",
            eats: "i",
            files: "f",
            long_takes: &["expression", "line-length"],
            long_files: &["file"],
            is_mixed: true,
            ..NONE
        },
        "cmake" => Options {
            takes: "ABCDEGLST",
            files: "P",
            is_mixed: true,
            ..NONE
        },
        "jq" => Options {
            takes: "L",
            files: "f",
            long_files: &["from-file"],
            is_mixed: true,
            ..NONE
        },
        "rake" => Options {
            takes: "CEIRepr",
            files: "f",
            long_takes: &["directory", "libdir", "rakelibdir", "require"],
            long_files: &["rakefile"],
            is_mixed: true,
            ..NONE
        },
        "task" => Options {
            takes: "Cdo",
            files: "t",
            long_takes: &["concurrency", "dir", "output"],
            long_files: &["taskfile"],
            is_mixed: true,
            ..NONE
        },
        "nox" => Options {
            takes: "ekpst",
            files: "f",
            long_files: &["noxfile"],
            is_mixed: true,
            ..NONE
        },
        "doit" | "scons" => Options {
            takes: "Cdj",
            files: "f",
            long_takes: &["dir", "directory"],
            long_files: &["file", "makefile", "sconstruct"],
            is_mixed: true,
            ..NONE
        },
        "snakemake" => Options {
            takes: "cdj",
            files: "s",
            long_takes: &["cores", "directory", "jobs"],
            long_files: &["snakefile"],
            is_mixed: true,
            ..NONE
        },
        "just" | "ninja" | "psql" => Options {
            takes: "CdhjUp",
            files: "f",
            long_files: &["justfile", "file"],
            is_mixed: true,
            ..NONE
        },
        _ => return None,
    };
    Some(options)
}

/// Says whether a shell that is called with these words takes its script from standard input.
pub fn reads_stdin(words: &[String]) -> bool {
    let operand = scan(words, &SHELL).operand;
    let before = words[1..operand.unwrap_or(words.len())].iter();
    let mut letters = before.filter(|word| word.starts_with('-') && !word.starts_with("--"));
    operand.is_none() || letters.any(|word| word.contains('s'))
}

/// Returns how `name` hands on to another command, or to code: its options, and how many operands stand before that command.
pub fn wrapper(name: &str) -> Option<(Options, usize)> {
    let (takes, operands) = match name {
        "exec" => ("a", 0),
        "builtin" | "busybox" | "catchsegv" | "chronic" | "dbus-run-session" | "eatmydata"
        | "fakeroot" | "nohup" | "prlimit" | "rlwrap" | "setarch" | "setsid" | "unbuffer" => {
            ("", 0)
        }
        "time" => ("fo", 0),
        "nice" | "npx" | "bunx" | "uvx" => ("npc", 0),
        "c8" | "nyc" => ("nrx", 0),
        "ionice" => ("cnp", 0),
        "stdbuf" => ("ioe", 0),
        "sudo" => ("ugCDhpRTU", 0),
        "timeout" | "gtimeout" => ("ks", 1),
        "flock" => ("wE", 1),
        "strace" | "ltrace" => ("aeIoOpPsSuUX", 0),
        "valgrind" | "xvfb-run" | "unshare" | "faketime" => ("neflsp", 0),
        "taskset" | "chrt" => ("", 1),
        "caffeinate" => ("tw", 0),
        "doas" => ("uC", 0),
        "watch" => ("nq", 0),
        "direnv" => ("", 2),
        "script" => ("BEIOTmo", 1),
        "su" => ("gGsw", 1),
        "runuser" => ("gGsuw", 0),
        "nix-shell" => ("pAIE", 1),
        "xargs" => ("dEIILnPs", 0),
        _ => return None,
    };
    let takes_code = matches!(name, "script" | "su" | "runuser");
    let options = Options {
        takes,
        long_takes: match name {
            "timeout" | "gtimeout" => &["signal", "kill-after"],
            "nice" => &["adjustment"],
            "xargs" => &["delimiter", "max-args", "max-procs", "max-lines", "replace"],
            _ => &[],
        },
        code: if takes_code { "c" } else { "" },
        long_code: match name {
            "nix-shell" => &["run", "command"],
            _ if takes_code => &["command", "session-command"],
            _ => &[],
        },
        files: if name == "xargs" { "a" } else { "" },
        long_files: if name == "xargs" { &["arg-file"] } else { &[] },
        // Code may follow operands.
        is_mixed: matches!(name, "script" | "su" | "nix-shell"),
        ..NONE
    };
    Some((options, operands))
}
