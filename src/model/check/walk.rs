//! The programs that shell text calls, and the folder that each is called in. Pure.

use super::call::{Call, run_by_node, stem};
use super::code::{Code, Walked};
use super::path::{ROOT, join, word_in};
use super::places::Places;
use super::programs::{self, is_shell, reads_stdin, scan};
use super::shell::{self, Command, EACH, Item, NEXT, PRINTED, SELF, UNKNOWN, is_assignment};
use super::{BUILTINS, Instead};

mod turns;
mod unwrap;
mod words;
mod wrappers;

pub use unwrap::is_for_all;
use unwrap::{Inner, codes_of_git, handed_by_git, packages, sent_to};
use words::{
    copies, each_in, filtered, filters, is_change, known, named_by, printed_in,
    reads_into_variables, shell_code, shows, text_of,
};
pub use words::{is_literal, places};
use wrappers::{Wrapper, wrappers};

/// How often code inside code (`sh -c "sh -c …"`) is looked into.
const MAX_NESTING: usize = 8;

/// How many words of what goes through a pipe are remembered.
const MOST_PIPED: usize = 64;

/// How long a text may be that is printed and read as code.
const LONGEST_PRINTED: usize = 4096;

/// What stands in a call for a command of the shell that reads a file into variables.
pub const READ: &str = "read";

/// How often a command of a loop is taken with another value of its variable, in all.
const MAX_TURNS: usize = 1024;

/// Commands of the shell that may set variables for all that follows.
const SETTING: &[&str] = &[
    ".", "alias", "declare", "eval", "export", "local", "read", "readonly", "source", "trap",
    "typeset", "unset",
];

/// Returns the programs that a check calls.
pub fn calls(check: &str) -> Vec<Call> {
    Code::of_check(check).walk().calls
}

impl Code {
    /// Returns the programs that the code calls.
    pub fn calls(&self) -> &[Call] {
        &self.walked().calls
    }

    /// Returns what a walk through the code finds. Many ask that of the same code, and there is one walk.
    pub fn walked(&self) -> &Walked {
        self.walked.get_or_init(|| self.walk())
    }

    /// Says whether the code may have functions, which are called elsewhere than where they stand.
    fn has_functions(&self) -> bool {
        let mut words = self.text.split_whitespace();
        let dense: String = words.clone().collect();
        dense.contains("()") || words.any(|word| word == "function")
    }

    fn walk(&self) -> Walked {
        let mut walk = Walk {
            calls: Vec::new(),
            handed_on: Vec::new(),
            computes: false,
            piped: None,
            printed: Vec::new(),
            found: Vec::new(),
            dirs: vec![self.dir.clone()],
            nesting: 0,
            turns: 0,
            script: self.script.clone(),
            places: self.places.clone(),
            set: Some(Vec::new()),
            sets_for_all: self.has_functions(),
            arguments: Vec::new(),
            pushed: Vec::new(),
            left: None,
            comes_from_outside: false,
            looked_for: Vec::new(),
            turns_of_loops: Vec::new(),
            loop_at: 0,
            wrappers: Vec::new(),
        };
        walk.text(&self.text);
        Walked {
            calls: walk.calls,
            handed_on: walk.handed_on,
            computes: walk.computes,
            comes_from_outside: walk.comes_from_outside,
            looked_for: walk.looked_for,
        }
    }
}

/// Goes through shell text, following `cd`.
struct Walk {
    calls: Vec<Call>,
    /// See `Walked`.
    handed_on: Vec<Call>,
    /// See `Walked`.
    computes: bool,
    /// The words of the commands whose output goes into the next one.
    piped: Option<Vec<String>>,
    /// The texts that these commands print as they stand.
    printed: Vec<String>,
    /// Where the files lie whose names these are, as far as that is told.
    found: Vec<String>,
    /// The directory of each open subshell, the innermost last; never empty. One that begins with a slash lies outside.
    dirs: Vec<Option<String>>,
    nesting: usize,
    turns: usize,
    /// Whose text this is.
    script: Option<String>,
    /// Where programs and modules are looked for.
    places: Places,
    /// The variables that are set for the command that is looked at and for nothing else; none where that is not known.
    set: Option<Vec<String>>,
    /// What came before may have set variables for all that follows.
    sets_for_all: bool,
    /// What stands behind the code that is looked into next: its `$0`, and the rest.
    arguments: Vec<String>,
    /// What `pushd` left.
    pushed: Vec<Option<String>>,
    /// What the last `cd` left.
    left: Option<String>,
    /// See `Walked`.
    comes_from_outside: bool,
    /// See `Walked`.
    looked_for: Vec<Instead>,
    /// The patterns that loops go through, as they are written.
    turns_of_loops: Vec<String>,
    /// How many subshells were open at the last loop.
    loop_at: usize,
    /// The functions that run what they are handed.
    wrappers: Vec<Wrapper>,
}

impl Walk {
    fn text(&mut self, text: &str) {
        if self.nesting >= MAX_NESTING {
            return;
        }
        self.nesting += 1;
        self.wrappers.extend(wrappers(text));
        let open = self.dirs.len();
        let arguments = std::mem::take(&mut self.arguments);
        let root = self.places.root.clone();
        let given = shell::Given {
            arguments: &arguments,
            home: root.home(),
            is_read: self.nesting > 1,
        };
        for item in shell::items_given(text, &given) {
            match item {
                Item::Open => self.dirs.push(self.place()),
                Item::Close if self.dirs.len() > open => {
                    self.dirs.pop();
                }
                Item::Close => {}
                Item::Command(command) => self.turns_of(command),
            }
        }
        self.dirs.truncate(open);
        self.nesting -= 1;
    }

    /// Reads code that runs in a shell of its own.
    fn inner_text(&mut self, text: &str) {
        let script = self.script.take();
        self.dirs.push(self.place());
        self.text(text);
        self.dirs.pop();
        self.script = script;
    }

    /// Puts the script's path where a word has a mark for it, and one below the root for what leads there from outside.
    fn placed(&mut self, word: &str) -> String {
        let word = self.with_script(word);
        let place = self.dirs.last().and_then(Option::as_deref);
        let placed = self.places.root.placed(place, &word);
        self.comes_from_outside |= placed.is_some();
        placed.unwrap_or(word)
    }

    fn with_script(&self, word: &str) -> String {
        match (&self.script, word.strip_prefix(SELF)) {
            (Some(script), Some(rest)) => format!("{ROOT}{script}{rest}"),
            (Some(script), None) if Places::concern(word) => {
                word.replace(SELF, &format!("{ROOT}{script}"))
            }
            _ if word.contains(EACH) => UNKNOWN.to_string(),
            _ => word.replace(SELF, "$"),
        }
    }

    /// Returns the directory where it is known.
    fn place(&self) -> Option<String> {
        self.dirs.last().cloned().flatten()
    }

    /// Returns the directory below the root.
    fn dir(&self) -> Option<String> {
        self.place().filter(|dir| !dir.starts_with('/'))
    }

    /// Returns the directory that a program or a `cd` goes to.
    fn place_of(&self, to: &str) -> Option<String> {
        self.places.root.go(self.place().as_deref(), to)
    }

    /// Takes a command once for each value of a loop's variable.
    fn turns_of(&mut self, command: Command) {
        let is_each = |word: &String| word.contains(EACH);
        let values = command.words.iter().find_map(|word| each_in(word));
        let Some(values) = values.filter(|all| self.turns + all.len() <= MAX_TURNS) else {
            return self.in_each_folder(command);
        };
        // Into which folder is told apart where something is called there.
        if is_change(&command.words) {
            return self.command(command);
        }
        self.turns += values.len();
        let whole = format!("{EACH}{}{EACH}", values.join(&NEXT.to_string()));
        for value in values {
            let mut one = command.clone();
            for word in one.words.iter_mut().filter(|word| is_each(word)) {
                *word = word.replace(&whole, &value);
            }
            self.in_each_folder(one);
        }
    }

    /// Takes a command once for each folder that a loop's `cd` goes to.
    fn in_each_folder(&mut self, command: Command) {
        let dir = self.dir();
        let folders = dir.as_deref().and_then(each_in);
        let is_change = is_change(&command.words);
        let (Some(dir), Some(folders)) = (dir, folders.filter(|_| !is_change)) else {
            return self.command(command);
        };
        if self.turns + folders.len() > MAX_TURNS {
            return;
        }
        self.turns += folders.len();
        let whole = format!("{EACH}{}{EACH}", folders.join(&NEXT.to_string()));
        for folder in folders {
            let to = match folder.starts_with(['/', '~', ROOT]) {
                true => folder,
                false => dir.replace(&whole, &folder),
            };
            self.comes_from_outside |= to.starts_with(['/', '~']);
            self.dirs.push(self.places.root.go(Some(""), &to));
            self.in_each_folder(command.clone());
            self.dirs.pop();
        }
    }

    fn command(&mut self, command: Command) {
        let piped = self.piped.take();
        let printed = std::mem::take(&mut self.printed);
        let found = std::mem::take(&mut self.found);
        // To which folders a loop goes is told apart where something is called there.
        let keeps = is_change(&command.words);
        let mut words = Vec::new();
        for word in &command.words {
            let is_program = words.is_empty() && !word.contains('/');
            words.push(match keeps && word.contains(EACH) {
                true => word.replace(SELF, "$"),
                false if is_program => self.with_script(word),
                false => self.placed(word),
            });
        }
        self.note_turns(&command.words, &words);
        let is_set = |word: &String| is_assignment(word) && word.contains(UNKNOWN);
        self.computes |= words.iter().any(is_set)
            || matches!(words[0].as_str(), "for" | "mapfile" | "read" | "readarray")
            || words.get(1).is_some_and(|word| word == "read");
        if let Some(file) = command
            .stdin
            .as_ref()
            .filter(|_| reads_into_variables(&words))
        {
            let words = vec![READ.to_owned(), self.placed(file)];
            self.handed_on.push(Call::of(self.dir(), words));
        }
        let mut inner = self.unwrapped(words);
        inner.found = found;
        let places = inner.places.take();
        if inner.words.is_empty() {
            // An assignment without a command lasts.
            self.places = places.unwrap_or_else(|| std::mem::take(&mut self.places));
            self.sets_for_all = true;
            return;
        }
        let open = self.dirs.len();
        self.dirs.extend(inner.dir.take());
        let before = places.map(|places| std::mem::replace(&mut self.places, places));
        let set = std::mem::replace(&mut self.set, inner.set.take());
        self.bare(command, inner, piped, printed);
        self.set = set;
        if let Some(before) = before {
            self.places = before;
        }
        self.dirs.truncate(open);
    }

    /// Takes a command with nothing before it.
    fn bare(
        &mut self,
        command: Command,
        inner: Inner,
        mut piped: Option<Vec<String>>,
        printed: Vec<String>,
    ) {
        let Inner { words, is_fed, .. } = inner;
        self.sets_for_all |= SETTING.contains(&words[0].as_str());
        let variables = self.set.clone().filter(|_| !self.sets_for_all);
        self.hand_on(&command, &words, piped.as_ref(), &inner.found);
        if command.is_piped {
            let own = text_of(&words).filter(|text| text.len() <= LONGEST_PRINTED);
            self.printed = printed
                .iter()
                .cloned()
                .chain(own)
                .take(MOST_PIPED)
                .collect();
        }
        let mut stdin = command.stdin.as_ref().map(|word| self.placed(word));
        let has_no_file = stdin.is_none();
        let lists = inner.lists.into_iter().chain(stdin.take_if(|_| is_fed));
        let lists: Vec<String> = lists.collect();
        if !lists.is_empty() {
            piped.get_or_insert_default().extend_from_slice(&lists);
        }
        let has_place = words[1..].iter().any(|word| word == "{}");
        let is_handed = has_place || is_fed && !inner.is_placed;
        let handed = is_handed.then_some(inner.found);
        self.looked_for(&words[0]);
        self.listed(&words);
        let call = |walk: &mut Walk, words| {
            let call = Call::of(walk.dir(), known(words)).with(&walk.places);
            walk.push(Call {
                stdin,
                text: command.text.clone(),
                is_verbatim: command.is_verbatim,
                piped: piped.unwrap_or_default(),
                lists,
                is_fed,
                brought_by: inner.brought_by.clone(),
                is_batch: inner.is_batch,
                handed,
                variables,
                ..call
            });
        };
        let name = stem(&words[0]);
        match name.as_str() {
            "cd" | "pushd" => {
                let from = self.place();
                self.change_dir(&words);
                if name == "pushd" && self.pushed.len() < MAX_TURNS {
                    self.pushed.push(from);
                }
            }
            "popd" => {
                if let (Some(dir), Some(last)) = (self.pushed.pop(), self.dirs.last_mut()) {
                    *last = dir;
                }
            }
            "export" | "declare" | "typeset" | "readonly" => {
                for word in &words[1..] {
                    let dir = self.dir();
                    self.places.learn(word, dir.as_deref());
                    self.preload(word);
                }
                call(self, words);
            }
            "alias" => {
                let values = words[1..].iter().filter_map(|word| word.split_once('='));
                values.for_each(|(_, code)| self.inner_text(code));
                call(self, words);
            }
            "eval" => self.code(&words[1..].join(" "), false),
            "trap" => {
                if let Some(code) = words.get(1) {
                    self.inner_text(code);
                }
            }
            "find" => self.found(&words),
            name if is_shell(name) => match (shell_code(&words), &command.text) {
                (Some((code, arguments)), _) => {
                    for file in scan(&words, &programs::SHELL).files {
                        self.imply(vec![".".to_owned(), file]);
                    }
                    self.arguments = arguments;
                    self.code(&code, true);
                }
                (None, Some(text)) if reads_stdin(&words) => {
                    let text = text.clone();
                    self.inner_text(&text);
                }
                (None, _) => {
                    let reads = reads_stdin(&words) && has_no_file;
                    call(self, words);
                    for text in printed.iter().filter(|_| reads) {
                        self.inner_text(text);
                    }
                }
            },
            _ => {
                if matches!(name.as_str(), "make" | "gmake") {
                    for word in &words[1..] {
                        self.preload(word);
                    }
                }
                let target = sent_to(&words);
                let is_below = |dir: &String| !dir.starts_with('/');
                let dir = target.map(|to| self.place_of(to).filter(is_below));
                for package in packages(&words) {
                    let to = self.place_of(&package).filter(is_below);
                    let other = Call::of(to, words.clone()).with(&self.places);
                    self.calls.push(other.implied());
                }
                for code in codes_of_git(&words) {
                    // They run in the root.
                    self.dirs.push(self.dir().map(|_| String::new()));
                    self.inner_text(&code);
                    self.dirs.pop();
                }
                if let Some((name, _)) = run_by_node(&words) {
                    self.imply(["npm", "run", name].map(str::to_owned).to_vec());
                }
                if let Some(handed) = handed_by_git(&words) {
                    self.nested(handed.to_vec());
                }
                let wrapper = self.wrappers.iter().find(|one| one.name == words[0]);
                let handed = wrapper.and_then(|one| words.get(1 + one.taken..));
                if let Some(handed) = handed.filter(|words| !words.is_empty()) {
                    self.nested(handed.to_vec());
                }
                call(self, words);
                if let (Some(dir), Some(call)) = (dir, self.calls.last_mut()) {
                    call.dir = dir;
                }
            }
        }
    }

    /// Adds what runs the words of a list that stands in the place of a script: `sh $(cat LIST)`.
    fn listed(&mut self, words: &[String]) {
        if !words.iter().any(|word| word.contains(PRINTED)) {
            return;
        }
        let mut scripts = Call::of(self.dir(), words.to_vec()).scripts();
        scripts.extend(words.first().cloned());
        for list in scripts.iter().filter_map(|word| printed_in(word)) {
            let words = vec!["sh".to_owned()];
            let call = Call::of(self.dir(), words).with(&self.places);
            self.calls.push(Call {
                piped: vec![list.to_owned()],
                lists: vec![list.to_owned()],
                is_fed: true,
                ..call.implied()
            });
        }
    }

    fn push(&mut self, call: Call) {
        let together = self.together(&call);
        self.calls.push(Call { together, ..call });
    }

    /// Adds what a program is that is looked for in folders of the repository.
    fn looked_for(&mut self, command: &str) {
        if command.contains(['/', '$', '`']) || BUILTINS.contains(&command) {
            return;
        }
        for folder in self.places.programs.clone() {
            self.imply(vec![word_in(&folder, command)]);
            let found = join(&folder, command).map(|path| Instead {
                path,
                of: command.to_owned(),
            });
            let found = found.filter(|one| !self.looked_for.contains(one));
            let has_room = self.looked_for.len() < MAX_TURNS;
            self.looked_for.extend(found.filter(|_| has_room));
        }
    }

    /// Remembers what goes on from a command, and where.
    fn hand_on(
        &mut self,
        command: &Command,
        words: &[String],
        piped: Option<&Vec<String>>,
        found: &[String],
    ) {
        let is_copy = words.first().is_some_and(|word| copies(&stem(word)));
        let calls =
            |word: &String| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
        let is_find = words.first().is_some_and(|word| stem(word) == "find");
        let is_search = is_find && words.iter().any(calls);
        if command.hands_on && !words.is_empty() || is_copy || is_search {
            self.handed_on.push(Call::of(self.dir(), words.to_vec()));
        }
        if command.is_piped {
            let mut all = piped.cloned().unwrap_or_default();
            match words.first().map(|word| stem(word)).as_deref() {
                Some("find") => all.extend_from_slice(places(words)),
                // By themselves, the names in the folder.
                Some("ls") if words[1..].iter().all(|word| word.starts_with('-')) => {
                    all.push("*".to_owned());
                }
                Some(name) if filters(name) => {
                    all.extend(command.stdin.as_ref().map(|word| self.placed(word)));
                    all.extend(filtered(words).cloned());
                }
                Some(name) if shows(name) => {
                    all.extend(words.iter().skip(1).cloned());
                    all.extend(command.stdin.as_ref().map(|word| self.placed(word)));
                }
                Some(_) | None => {}
            }
            all.truncate(MOST_PIPED);
            self.piped = Some(all);
            self.found = named_by(words, found);
        }
    }

    /// Reads code that is handed on as a word; what `$(cat FILE)` put there is the code of that file.
    fn code(&mut self, code: &str, is_inner: bool) {
        let mut rest = String::new();
        for (at, part) in code.split(PRINTED).enumerate() {
            match at % 2 {
                0 => rest.push_str(part),
                _ => {
                    let shell = if is_inner { "sh" } else { "." };
                    let words = vec![shell.to_owned(), part.to_owned()];
                    self.push(Call::of(self.dir(), words).with(&self.places));
                }
            }
        }
        match is_inner {
            true => self.inner_text(&rest),
            false => self.text(&rest),
        }
    }

    fn change_dir(&mut self, words: &[String]) {
        let target = words[1..]
            .iter()
            .find(|word| !matches!(word.as_str(), "-P" | "-L" | "--" | "-e" | "-n"));
        let dir = match target.map(String::as_str) {
            Some("-") => self.left.clone(),
            Some(target) => self.place_of(target),
            None => self.place_of("~"),
        };
        self.left = self.place();
        if let Some(last) = self.dirs.last_mut() {
            *last = dir;
        }
    }

    /// Takes the commands that `find` is told to run.
    fn found(&mut self, words: &[String]) {
        let mut rest = words;
        while let Some(at) = rest
            .iter()
            .position(|word| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
        {
            rest = &rest[at + 1..];
            let end = rest
                .iter()
                .position(|word| matches!(word.as_str(), ";" | "+"));
            let (command, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.piped = Some(places(words).to_vec());
            self.found = places(words).to_vec();
            self.nested(command.to_vec());
            self.piped = None;
            self.found.clear();
            rest = after;
        }
    }

    fn nested(&mut self, words: Vec<String>) {
        if self.nesting < MAX_NESTING {
            self.nesting += 1;
            self.command(Command::of(words));
            self.nesting -= 1;
        }
    }
}
