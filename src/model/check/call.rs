//! One program that is called: the files it runs, and those that steer it. Pure.

use super::Instead;
use super::dotted;
use super::path::{ROOT, join, word_in};
use super::places::Places;
use super::programs::{Options, interpreter, is_shell, reads_stdin, scan, script_by_option};
use super::shell::UNKNOWN;
use super::steering::{Groups, steering};

/// One program that is called, and from where.
#[derive(Debug)]
pub struct Call {
    /// Directory below the root, empty for the root; `None` if it lies outside.
    pub dir: Option<String>,
    /// Program and arguments; never empty.
    pub words: Vec<String>,
    /// The file on its standard input.
    pub stdin: Option<String>,
    /// The text on its standard input.
    pub text: Option<String>,
    /// That text stands there as the program reads it.
    pub is_verbatim: bool,
    /// The words of the commands whose output is its standard input.
    pub piped: Vec<String>,
    /// Files that hold its arguments.
    pub lists: Vec<String>,
    /// Its arguments are what is piped into it, or stands in the files that are.
    pub is_fed: bool,
    /// It gets as many of them at once as there are.
    pub is_batch: bool,
    /// Where the files lie that it is handed besides its words, or in the place of `{}`; empty where that is not told, none where it is
    /// handed none.
    pub handed: Option<Vec<String>>,
    /// The words of its scripts that stand for files of which one may take the others out of the way.
    pub together: Vec<String>,
    /// It does not stand in the text as such.
    pub is_implied: bool,
    /// It stands in front of another command, which it runs.
    pub is_in_front: bool,
    /// What has the program from a place of its own, so that it need not be in PATH.
    pub brought_by: Option<String>,
    /// Where it looks for programs and modules.
    pub places: Places,
    /// The variables that are set for it, each as `NAME=VALUE`; none where that is not known.
    pub variables: Option<Vec<String>>,
}

impl Call {
    /// Makes a call of these words, which are not empty.
    pub fn of(dir: Option<String>, words: Vec<String>) -> Call {
        Call {
            dir,
            words,
            stdin: None,
            text: None,
            is_verbatim: false,
            piped: Vec::new(),
            lists: Vec::new(),
            is_fed: false,
            is_batch: false,
            handed: None,
            together: Vec::new(),
            is_implied: false,
            is_in_front: false,
            brought_by: None,
            places: Places::default(),
            variables: None,
        }
    }

    /// Returns the call as one that looks in these places.
    pub fn with(mut self, places: &Places) -> Call {
        self.places.clone_from(places);
        self
    }

    /// Returns the call as one that does not stand in the text as such.
    pub fn implied(mut self) -> Call {
        self.is_implied = true;
        self
    }

    /// Returns `word` as a path below the root.
    pub fn path(&self, word: &str) -> Option<String> {
        let dir = self.dir.as_deref().or(word.starts_with(ROOT).then_some(""));
        join(dir?, word).filter(|path| !path.is_empty())
    }

    /// Says whether a file below the root holds its arguments.
    pub fn is_list(&self, file: &str) -> bool {
        let mut lists = self.lists.iter().filter_map(|word| self.path(word));
        lists.any(|path| path == file)
    }

    /// Returns the files by which the tool is steered, as they are.
    pub fn steered_by(&self, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
        let there = |group: Vec<String>| group.into_iter().find(|path| is_file(path));
        let groups = self.choices(steering);
        groups.into_iter().filter_map(there).collect()
    }

    /// Returns the paths of files that steer the tool: in each group the first that exists counts.
    pub fn choices(&self, groups: fn(&str, Option<&str>) -> Groups) -> Vec<Vec<String>> {
        let (name, subcommand) = self.steered();
        if matches!(name.as_str(), "make" | "gmake") && !self.scripts().is_empty() {
            return Vec::new();
        }
        let paths = |group: &&[&str]| {
            let there = group.iter().filter_map(|name| self.path(name));
            // Most tools look upwards from where they are started.
            let mut paths: Vec<String> = there.collect();
            for name in group.iter().map(|name| name.to_string()) {
                if !paths.contains(&name) {
                    paths.push(name);
                }
            }
            paths
        };
        // Behind `mise run` stands the name of a task, or a program.
        let by = self.brought_by.as_deref().filter(|by| *by == "mise");
        let tasks = by.map(|by| groups(by, None)).unwrap_or_default();
        let groups = groups(&name, subcommand.as_deref());
        let mut choices: Vec<_> = tasks.iter().chain(groups).map(paths).collect();
        // Of a folder that is run, package.json says which file.
        if runs_packages(&name) {
            let inside =
                subcommand.map(|word| format!("{}/package.json", word.trim_end_matches('/')));
            choices.extend(
                inside
                    .and_then(|word| self.path(&word))
                    .map(|path| vec![path]),
            );
        }
        choices
    }

    /// Returns what is not there and would be taken before a file that is run, with that file.
    pub fn in_front(&self, is_file: &dyn Fn(&str) -> bool) -> Vec<Instead> {
        let mut found = Vec::new();
        for words in self.tried() {
            let paths: Vec<String> = words.iter().filter_map(|word| self.path(word)).collect();
            found.extend(Instead::before_first(&paths, is_file));
        }
        let options = interpreter(&stem(&self.words[0]));
        let code = options.and_then(|options| scan(&self.words, &options).code);
        if let Some(('m', module)) = code {
            let folders = self.dir.iter().chain(&self.places.modules);
            found.extend(dotted::in_front(
                &module,
                folders.cloned().collect(),
                is_file,
            ));
        }
        found
    }

    /// Returns the words that name a file which is run.
    pub fn scripts(&self) -> Vec<String> {
        self.tried().concat()
    }

    /// Returns the words that name a file which is run; together those of which the first one counts that is there.
    fn tried(&self) -> Vec<Vec<String>> {
        let one = |word: String| vec![word];
        let mut scripts = Vec::new();
        let command = self.words[0].as_str();
        // A command without a slash is looked for in PATH, not in the directory.
        if command.contains('/') {
            scripts.push(one(command.to_string()));
        }
        let name = stem(command);
        let words = arguments_of(&name, &self.words);
        if matches!(name.as_str(), "." | "source") {
            scripts.extend(self.words.get(1).map(|word| self.sourced(word)));
        } else if let Some(script) = compiled(&name, words) {
            scripts.push(one(script));
        } else if let Some(options) = script_by_option(&name) {
            for file in scan(words, &options).files {
                match is_from_elsewhere(&file) {
                    true => scripts.extend(self.fed_in().into_iter().map(one)),
                    false => scripts.push(one(file)),
                }
            }
        } else if let Some(options) = interpreter(&name) {
            if only_reads(&name, words, &options) {
                return scripts;
            }
            let found = scan(words, &options);
            let files = found.files.into_iter();
            scripts.extend(files.map(|file| match runs_packages(&name) {
                true => entries(&name, &file),
                false => one(file),
            }));
            let operand = found.operand.map(|at| words[at].as_str());
            let operand = operand.filter(|_| !is_shell(&name) || !reads_stdin(words));
            match (found.code, operand.filter(|word| !is_from_elsewhere(word))) {
                (Some(('m', module)), _) => {
                    scripts.extend(self.files_of(&module).into_iter().map(one));
                }
                (Some(_), _) => {}
                (None, Some(script)) if is_shell(&name) => {
                    let mut words = self.sourced(script);
                    // A shell that is to run a script looks beside it first.
                    words.rotate_right(1);
                    scripts.push(words);
                }
                (None, Some(script)) => scripts.push(entries(&name, script)),
                (None, None) => scripts.extend(self.fed_in().into_iter().map(one)),
            }
        }
        let plugins = self.plugins().into_iter();
        scripts.extend(plugins.flat_map(|it| self.files_of(it)).map(one));
        scripts
    }

    /// Returns the files that Python runs for a module, in the folders where it looks for modules first.
    fn files_of(&self, module: &str) -> Vec<String> {
        let files = dotted::files_of(module);
        let folders = self.places.modules.iter();
        let within = folders.flat_map(|folder| files.iter().map(move |file| word_in(folder, file)));
        within.chain(files.iter().cloned()).collect()
    }

    /// Returns the modules that pytest is told to load before anything else: `-p own.plugin`.
    fn plugins(&self) -> Vec<&str> {
        if !matches!(self.steered().0.as_str(), "pytest" | "py.test") {
            return Vec::new();
        }
        let pairs = self.words.windows(2).filter(|pair| pair[0] == "-p");
        let apart = pairs.map(|pair| pair[1].as_str());
        let joined = self.words.iter().filter_map(|word| word.strip_prefix("-p"));
        let names = apart.chain(joined.filter(|name| !name.is_empty()));
        names.filter(|name| !name.starts_with("no:")).collect()
    }

    /// Returns what a word may stand for that is sourced: without a slash, a file in a folder of PATH, and then one in the folder
    /// of now.
    fn sourced(&self, word: &str) -> Vec<String> {
        let folders = self.places.programs.iter().filter(|_| !word.contains('/'));
        let paths = folders.map(|folder| word_in(folder, word));
        paths.chain([word.to_owned()]).collect()
    }

    /// Returns what comes in on standard input.
    fn fed_in(&self) -> Vec<String> {
        match &self.stdin {
            Some(file) => vec![file.clone()],
            None => self.piped.clone(),
        }
    }

    /// Says whether the call runs something that its text does not name.
    pub fn is_open(&self, computes: bool) -> bool {
        if self.is_implied {
            return false;
        }
        let command = self.words[0].as_str();
        let is_unknown = |word: &str| {
            let is_temporary = ["/tmp/", "/var/tmp/", "/dev/shm/", "~"];
            word.contains([UNKNOWN, '`'])
                || is_temporary.iter().any(|at| word.starts_with(at))
                || self.places.root.is_at_home(word)
        };
        if (command.contains('/') || computes) && is_unknown(command) {
            return true;
        }
        let name = stem(command);
        let words = arguments_of(&name, &self.words);
        if matches!(name.as_str(), "." | "source") {
            return words.get(1).is_some_and(|word| is_unknown(word));
        }
        let Some(options) = interpreter(&name).filter(|it| !only_reads(&name, words, it)) else {
            return false;
        };
        let found = scan(words, &options);
        match (found.code, found.operand.map(|at| words[at].as_str())) {
            (Some(_), _) => false,
            (None, Some(word)) => is_from_elsewhere(word) || is_unknown(word),
            (None, None) => self.stdin.is_none() && self.text.is_none(),
        }
    }

    /// Returns the code among the words or on standard input, with the interpreter that it is for.
    pub fn code(&self) -> Option<(String, String)> {
        let name = stem(&self.words[0]);
        let words = arguments_of(&name, &self.words);
        let found = scan(words, &interpreter(&name)?);
        match found.code {
            Some(('m', _)) => None,
            Some((_, code)) => Some((name, code)),
            None => Some((name, self.text.clone()?)),
        }
    }

    /// Returns the tool whose configuration counts, with its first operand; of `python -m tool` that is the tool.
    pub fn steered(&self) -> (String, Option<String>) {
        let name = stem(&self.words[0]);
        let operand = |words: &[String]| {
            let is_plain = |word: &&String| !word.starts_with(['-', '+']);
            words.iter().skip(1).find(is_plain).cloned()
        };
        match interpreter(&name).map(|options| scan(&self.words, &options).code) {
            Some(Some(('m', module))) => (module, None),
            Some(_) | None => (name, operand(&self.words)),
        }
    }
}

/// Returns the source that a compiler is told to run at once: `go run x.go`, `java X.java`, `ghc -e main x.hs`.
fn compiled(name: &str, words: &[String]) -> Option<String> {
    let has = |option: &str| words[1..].iter().any(|word| word == option);
    let ends = match (name, words.get(1)?.as_str()) {
        ("go", "run") => ".go",
        ("java", _) => ".java",
        ("ghc", _) if has("-e") => ".hs",
        ("runghc" | "runhaskell", _) => ".hs",
        ("kotlinc" | "kotlin", _) if has("-script") => ".kts",
        ("clj" | "clojure", _) => ".clj",
        _ => return None,
    };
    words.iter().find(|word| word.ends_with(ends)).cloned()
}

/// Says whether an operand in a script's place says that it comes from elsewhere: standard input, or the words of another program.
fn is_from_elsewhere(word: &str) -> bool {
    matches!(word, "-" | "{}" | "/dev/stdin")
}

/// Says whether the interpreter is told to look at a script and not to run it.
fn only_reads(name: &str, words: &[String], options: &Options) -> bool {
    let end = scan(words, options).operand.unwrap_or(words.len());
    let mut before = words[1..end].iter();
    let has_letter = |word: &String| {
        let letters = word.strip_prefix('-').filter(|word| !word.starts_with('-'));
        letters.is_some_and(|letters| letters.contains('n'))
    };
    match name {
        name if is_shell(name) => before.any(has_letter),
        "node" | "nodejs" => before.any(|word| word == "-c" || word == "--check"),
        "perl" | "ruby" => before.any(|word| matches!(word.as_str(), "-c" | "-wc" | "-cw")),
        "php" => before.any(|word| word == "-l"),
        _ => false,
    }
}

/// Returns the script of package.json that Node is told to run itself, and what it hands to it: `node --run NAME -- ARGUMENTS`.
pub fn run_by_node(words: &[String]) -> Option<(&str, &[String])> {
    let (program, rest) = words.split_first()?;
    if !matches!(stem(program).as_str(), "node" | "nodejs") {
        return None;
    }
    let end = rest.iter().position(|word| word == "--");
    let (own, handed) = rest.split_at(end.unwrap_or(rest.len()));
    let mut options = own.iter().take_while(|word| word.starts_with('-'));
    let at = options.position(|word| word == "--run" || word.starts_with("--run="))?;
    let name = match own[at].split_once('=') {
        Some((_, name)) => name,
        None => own.get(at + 1)?,
    };
    Some((name, handed.get(1..).unwrap_or_default()))
}

/// Says whether a program runs the entry of a folder that package.json names.
pub fn runs_packages(name: &str) -> bool {
    matches!(name, "node" | "nodejs" | "tsx" | "ts-node")
}

/// What Node puts behind the name of a script, the first one first.
const NODES: &[&str] = &[".js", ".json", ".node"];

/// What runners of TypeScript put there.
const TYPED: &[&str] = &[
    ".tsx", ".jsx", ".ts", ".mjs", ".js", ".cjs", ".mts", ".cts", ".json",
];

/// Returns the files that `word` may stand for in a script's place, in the order in which they are tried: a folder stands for the file
/// in it that is its entry.
fn entries(name: &str, word: &str) -> Vec<String> {
    let folder = word.trim_end_matches('/');
    let mut paths = vec![word.to_owned()];
    let ends = match name {
        "python" | "pypy" if !word.ends_with(".py") => {
            paths.push(format!("{folder}/__main__.py"));
            return paths;
        }
        "node" | "nodejs" => NODES,
        name if runs_packages(name) || name == "bun" => TYPED,
        _ => return paths,
    };
    for name in [folder.to_owned(), format!("{folder}/index")] {
        paths.extend(ends.iter().map(|end| format!("{name}{end}")));
    }
    // What package.json may well name.
    let modules = [".mjs", ".cjs", ".ts"].map(|end| format!("{folder}/index{end}"));
    paths.extend(modules.into_iter().filter(|_| ends == NODES));
    paths
}

/// Returns the arguments to look at for a script: `deno run FILE` and `bun run FILE` have a word in between.
fn arguments_of<'w>(name: &str, words: &'w [String]) -> &'w [String] {
    match (name, words.get(1).map(String::as_str)) {
        ("deno" | "bun", Some("run" | "test")) => &words[1..],
        _ => words,
    }
}

/// Returns the words that are neither options nor their values.
pub fn operands<'w>(words: &[&'w str], takes_value: impl Fn(&str) -> bool) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if takes_value(word) {
            words.next();
        } else if !word.starts_with(['-', '+']) {
            found.push(*word);
        }
    }
    found
}

/// Returns the words from the module on that Python is to run: `python3 -W error -m tox -e a`.
pub fn of_module(words: &[String]) -> &[String] {
    let [python, rest @ ..] = words else {
        return words;
    };
    if !stem(python).starts_with("python") {
        return words;
    }
    let mut rest = rest;
    loop {
        rest = match rest {
            [option, module, ..] if option.starts_with('-') && option.ends_with('m') => {
                let is_plain = !module.is_empty() && !option.starts_with("--");
                return if is_plain { &rest[1..] } else { words };
            }
            [option, _, rest @ ..] if option == "-W" || option == "-X" => rest,
            [option, rest @ ..] if option.starts_with('-') => rest,
            _ => return words,
        };
    }
}

/// Returns the program's name: the last part of its path, without a version at its end.
pub fn stem(command: &str) -> String {
    program_name(command).to_owned()
}

/// The same, of the command's own text.
pub fn program_name(command: &str) -> &str {
    let name = command.rsplit('/').next().unwrap_or(command);
    match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "" => name,
        stem => stem,
    }
}
