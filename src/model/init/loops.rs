//! Whether a loop of the shell goes on where what it runs fails, so that what any turn but the last finds is lost; be it in a function.
//! What cannot be told so is taken to be right. Pure.

mod pieces;
mod straight;

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::called::AROUND;
use super::checkers::is_checker;
use crate::model::check::program_name;
use pieces::{End, Piece, pieces};
pub(super) use straight::ends_well_anyway;

/// Programs that check what they are given, or run what does, beside those that are known to do nothing else.
const CHECKS: [&str; 34] = [
    "[", "[[", "bash", "bundle", "cargo", "cmp", "dash", "diff", "egrep", "fgrep", "gmake", "go",
    "grep", "just", "ksh", "make", "node", "npm", "npx", "perl", "php", "pnpm", "poetry", "python",
    "python3", "rake", "rg", "ruby", "sh", "test", "uv", "xmllint", "yarn", "zsh",
];
/// What ends a loop, or what it is in, by what it found.
const ENDS: [&str; 5] = ["break", "exec", "exit", "kill", "return"];

/// What has a shell stop at the first failure.
static STOPS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)(?:^|[;&|{(]|\bthen|\bdo)[ \t]*set[ \t]+(?:-[a-zA-Z]*[ \t]+)*(?:-[a-zA-Z]*e|-[a-zA-Z]*o[ \t]+errexit)")
        .expect("BUG: a pattern of ours is no pattern")
});
/// The first line of a script whose shell does so.
static STOPPING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^#!\S+(?:[ \t]+\S+)*?[ \t]-[a-zA-Z]*e")
        .expect("BUG: a pattern of ours is no pattern")
});
/// A value that is set.
static SETS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:(?:local|declare|export|typeset)[ \t]+)?(?<name>\w+)(?<more>\+)?=(?<value>.*)")
        .expect("BUG: a pattern of ours is no pattern")
});
/// What is written to a file, and not to nowhere or where the rest goes.
static WRITES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r">\s*(?<to>[^\s>&|;()]+)").expect("BUG: a pattern of ours is no pattern")
});

/// A shell's construct that is open.
enum Open {
    Loop(Loop),
    /// A choice, and whether what comes is what it asks.
    Choice {
        asks: bool,
    },
    /// A group, or the body of the function of this name; what was found before it.
    Group {
        function: Option<String>,
        found: usize,
        /// What ended the command before it.
        before: End,
    },
}

/// A loop that is open.
#[derive(Default)]
struct Loop {
    /// What comes is its head.
    is_head: bool,
    /// It goes through one word alone.
    is_of_one: bool,
    /// It ends, or remembers, by what it finds.
    keeps: bool,
    /// The first check whose failure it passes by, and whether that is turned round, so that no shell stops at it.
    lost: Option<(String, bool)>,
    found: usize,
}

/// A check whose failure a loop passes by.
struct Lost {
    command: String,
    is_turned: bool,
    function: Option<String>,
}

/// What is known of a function.
#[derive(Default)]
struct Function {
    checks: bool,
    keeps: bool,
    /// It is called where its failure is asked for, so that no shell stops within it.
    is_asked: bool,
    /// What it prints is for another command.
    prints: bool,
}

/// Says whether a script has its shell stop at the first failure.
pub(super) fn stops(script: &str) -> bool {
    STOPPING.is_match(script) || STOPS.is_match(script)
}

/// Returns the first check of a script in a loop that goes on where it fails, be its shell one that stops at failures.
pub(super) fn passed_by(script: &str, is_strict: bool) -> Option<String> {
    let mut reading = Reading::default();
    for piece in pieces(script) {
        reading.take(piece);
    }
    let Reading {
        found, functions, ..
    } = reading;
    let counts = |one: &&Lost| {
        let function = one.function.as_ref().and_then(|name| functions.get(name));
        let of_function = |is_so: fn(&Function) -> bool| function.is_some_and(is_so);
        let stops = is_strict && !one.is_turned && !of_function(|it| it.is_asked);
        let is_printed = one.function.as_ref().is_some_and(|name| {
            let called = format!("$({name}");
            script.contains(&called) || script.contains(&format!("`{name}"))
        });
        !stops && !of_function(|it| it.prints) && !is_printed
    };
    found.iter().find(counts).map(|one| one.command.clone())
}

/// The same of the text of a task, of which a shell of its own runs each line, unless one of them speaks for all.
pub(super) fn passed_by_lines(text: &str) -> Option<String> {
    let is_script = |line: &str| line.starts_with("#!") || line.starts_with("set -");
    match text.lines().any(is_script) {
        true => passed_by(text, stops(text)),
        false => {
            let text = text.replace("\\\n", " ");
            text.lines().find_map(|line| passed_by(line, stops(line)))
        }
    }
}

/// A script as far as it is read.
#[derive(Default)]
struct Reading {
    open: Vec<Open>,
    found: Vec<Lost>,
    functions: HashMap<String, Function>,
    /// The function whose body comes.
    named: Option<String>,
    /// What the last command ended with.
    before: End,
}

impl Reading {
    fn take(&mut self, piece: Piece) {
        let mut rest = piece.text.trim();
        let mut is_turned = false;
        while !rest.is_empty() {
            let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let behind = behind.trim_start();
            match word {
                "for" | "select" => {
                    let words = behind.split_whitespace().skip(2);
                    let words: Vec<&str> = words.collect();
                    let is_many = |word: &str| word.contains(['*', '$', '?', '{', '`', '[']);
                    self.begin(Loop {
                        is_of_one: words.len() == 1 && !is_many(words[0]),
                        found: self.found.len(),
                        ..Loop::default()
                    });
                    break;
                }
                "while" | "until" => self.begin(Loop {
                    is_head: true,
                    found: self.found.len(),
                    ..Loop::default()
                }),
                "do" => {
                    if let Some(Open::Loop(open)) = self.open.last_mut() {
                        open.is_head = false;
                    }
                }
                "done" => {
                    self.end_loop(behind, piece.end);
                    break;
                }
                "if" => self.open.push(Open::Choice { asks: true }),
                "case" => {
                    self.open.push(Open::Choice { asks: false });
                    break;
                }
                "then" | "else" => self.asks(false),
                "elif" => self.asks(true),
                "fi" | "esac" => {
                    if let Some(Open::Choice { .. }) = self.open.last() {
                        self.open.pop();
                    }
                    break;
                }
                "function" => {
                    let (name, behind) = behind
                        .split_once(char::is_whitespace)
                        .unwrap_or((behind, ""));
                    self.named = Some(name.trim_end_matches("()").to_owned());
                    rest = behind.trim_start();
                    continue;
                }
                "{" | "(" => {
                    let function = self.named.take();
                    let found = self.found.len();
                    // What begins the list before it is asked of the first group alone.
                    let before = std::mem::take(&mut self.before);
                    self.open.push(Open::Group {
                        function,
                        found,
                        before,
                    });
                }
                "}" | ")" => {
                    self.end_group(behind, piece.end);
                    break;
                }
                "!" => is_turned = true,
                name if name.ends_with("()") => {
                    self.named = Some(name.trim_end_matches("()").to_owned());
                }
                _ => {
                    self.command(rest, is_turned, piece.end);
                    break;
                }
            }
            rest = behind;
        }
        self.before = piece.end;
    }

    fn begin(&mut self, open: Loop) {
        self.open.push(Open::Loop(open));
    }

    fn asks(&mut self, now: bool) {
        if let Some(Open::Choice { asks }) = self.open.last_mut() {
            *asks = now;
        }
    }

    /// Returns the name of the function whose body this is.
    fn function(&self) -> Option<String> {
        self.open.iter().rev().find_map(|open| match open {
            Open::Group { function, .. } => function.clone(),
            Open::Loop(_) | Open::Choice { .. } => None,
        })
    }

    fn command(&mut self, text: &str, is_turned: bool, end: End) {
        let word = text.split_whitespace().next().unwrap_or_default();
        let name = program_name(word.trim_matches(['"', '\'']));
        let is_asked = self.open.iter().any(|open| match open {
            Open::Choice { asks } => *asks,
            Open::Loop(open) => open.is_head,
            Open::Group { .. } => false,
        });
        let is_list = matches!(end, End::And | End::Or);
        let is_within = |end: End| {
            self.open.iter().any(|open| match open {
                Open::Group { before, .. } => *before == end,
                Open::Loop(_) | Open::Choice { .. } => false,
            })
        };
        let is_handler = self.before == End::Or || is_within(End::Or);
        let is_after = self.before == End::And || is_within(End::And);
        let own = self.functions.get_mut(name).map(|function| {
            function.is_asked |= is_asked || is_list || is_turned;
            function.prints |= end == End::Pipe || writes(text);
            (function.checks, function.keeps)
        });
        let is_check = match own {
            Some((checks, _)) => checks,
            None => is_turned || is_check(word, name),
        };
        let is_result = is_after || is_handler || self.is_chosen();
        let keeps = ENDS.contains(&name)
            || writes(text)
            || sets(text, is_result)
            || own.is_some_and(|(_, keeps)| keeps)
            // What is not told apart here may do so.
            || is_handler && own.is_none() && !AROUND.contains(&name);
        if let Some(function) = self.function() {
            let function = self.functions.entry(function).or_default();
            function.checks |= is_check;
            function.keeps |= keeps;
        }
        let is_lost = is_check && !is_asked && !is_handler && end == End::Line;
        let mut innermost = true;
        for open in self.open.iter_mut().rev() {
            match open {
                Open::Loop(open) if !open.is_head => {
                    open.keeps |= keeps;
                    if is_lost && innermost {
                        let mark = if is_turned { "! " } else { "" };
                        let command = || (format!("{mark}{text}"), is_turned);
                        open.lost.get_or_insert_with(command);
                    }
                    innermost = false;
                }
                Open::Group {
                    function: Some(_), ..
                } => break,
                Open::Loop(_) | Open::Choice { .. } | Open::Group { .. } => {}
            }
        }
    }

    /// Says whether what comes runs by what a choice was told.
    fn is_chosen(&self) -> bool {
        matches!(self.open.last(), Some(Open::Choice { asks: false }))
    }

    fn end_loop(&mut self, rest: &str, end: End) {
        let Some(Open::Loop(open)) = self.open.pop_if(|open| matches!(open, Open::Loop(_))) else {
            return;
        };
        if end == End::Pipe || writes(rest) {
            self.found.truncate(open.found);
            return;
        }
        if let Some((command, is_turned)) = open.lost.filter(|_| !open.keeps && !open.is_of_one) {
            let function = self.function();
            self.found.push(Lost {
                command,
                is_turned,
                function,
            });
        }
    }

    fn end_group(&mut self, rest: &str, end: End) {
        let is_group = |open: &mut Open| matches!(open, Open::Group { .. });
        if let Some(Open::Group {
            found, function, ..
        }) = self.open.pop_if(is_group)
        {
            if function.is_none() && (end == End::Pipe || writes(rest)) {
                self.found.truncate(found);
            }
            if let Some(name) = function {
                self.functions.entry(name).or_default();
            }
        }
    }
}

fn is_check(word: &str, name: &str) -> bool {
    let is_called_by_value = word.trim_start_matches('"').starts_with('$');
    is_called_by_value || word.contains('/') || CHECKS.contains(&name) || is_checker(name)
}

/// Says whether a command writes to a file what may be looked at later.
fn writes(text: &str) -> bool {
    let mut all = WRITES.captures_iter(text);
    all.any(|it| !it["to"].starts_with("/dev/"))
}

/// Says whether a command remembers what was found: as the result of another one, or beside what it knew before.
fn sets(text: &str, is_result: bool) -> bool {
    let counts = text.starts_with("((") || text.starts_with("let ");
    counts
        || SETS.captures(text).is_some_and(|set| {
            let value = &set["value"];
            let own = &set["name"];
            let mentions =
                value.contains(&format!("${own}")) || value.contains(&format!("${{{own}"));
            is_result || set.name("more").is_some() || mentions || value.contains("$?")
        })
}
