//! The code in the settings of programs that run what these say: tox, pre-commit, task and their like. Each says it behind words of
//! its own; what else stands there (sources, patterns, names) is no code. Pure.

use std::collections::HashSet;

/// How many lines of such a file are read.
const MOST_LINES: usize = 4096;

/// How many bytes are read behind words, of one call and of all in a file: a call may go on over those that follow.
const LONGEST: usize = 4096;
const MOST_READ: usize = 1 << 20;

/// How many commands of a file are followed, and how long all of them may be, in bytes: each is gone through as a shell's code.
const MOST_COMMANDS: usize = 256;
const MOST_BYTES: usize = 64 << 10;

/// What stands first among what is asked of a file that holds code for a program, before the program's name.
pub const CODE: &str = "code";

/// How a program's settings say what is to be run.
struct Form {
    /// Behind these keys.
    keys: &'static [&'static str],
    /// Behind any key of a section whose name begins with one of these.
    sections: &'static [&'static str],
    /// In the strings behind these words, all of which make one command; of a name that ends with a bracket, up to where that closes.
    calls: &'static [&'static str],
    /// What runs the files behind these words.
    by: &'static str,
}

const NONE: Form = Form {
    keys: &[],
    sections: &[],
    calls: &[],
    by: "",
};

/// Returns how the settings of a program say what is to be run, if they do.
fn form(program: &str) -> Option<Form> {
    Some(match program {
        "tox" => Form {
            keys: &["commands", "commands_pre", "commands_post"],
            ..NONE
        },
        "pre-commit" | "pre_commit" | "prek" => Form {
            keys: &["entry"],
            ..NONE
        },
        "lefthook" | "mise" => Form {
            keys: &["run"],
            ..NONE
        },
        "task" => Form {
            keys: &["cmd", "cmds", "sh"],
            ..NONE
        },
        "poe" => Form {
            keys: &["cmd", "shell"],
            sections: &["tool.poe.tasks"],
            ..NONE
        },
        // That of `cargo make`; of cargo itself, the aliases.
        "cargo-make" => Form {
            keys: &["args", "command", "script"],
            ..NONE
        },
        "cargo" => Form {
            sections: &["alias"],
            by: "cargo",
            ..NONE
        },
        "nox" => Form {
            calls: &[".run(", ".run_always("],
            ..NONE
        },
        "invoke" | "inv" | "fab" => Form {
            calls: &[".run(", ".local("],
            ..NONE
        },
        "rake" => Form {
            calls: &["sh(", "sh ", "ruby "],
            ..NONE
        },
        "jest" | "vitest" => Form {
            calls: &[
                "setupFiles",
                "setupFilesAfterEnv",
                "globalSetup",
                "globalTeardown",
            ],
            by: "node",
            ..NONE
        },
        "yarn" => Form {
            keys: &["yarnPath", "path"],
            by: "node",
            ..NONE
        },
        _ => return None,
    })
}

/// Returns what is asked of the file of settings that steers a program, if that holds code for it.
pub fn asked(program: &str, subcommand: Option<&str>, file: &str) -> Option<Vec<String>> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let program = match (program, subcommand) {
        ("cargo", Some("make")) if name == "Makefile.toml" => "cargo-make",
        ("cargo", _) if !file.ends_with(".cargo/config.toml") => return None,
        // Of these, the scripts are asked for.
        ("yarn", _) if name != ".yarnrc.yml" => return None,
        (program, _) => program,
    };
    form(program)?;
    let words = [CODE, program].into_iter().chain(subcommand);
    Some(words.map(str::to_owned).collect())
}

/// Says whether code in a file of settings is asked for.
pub fn is_asked(asked: &[String]) -> bool {
    asked.first().is_some_and(|word| word == CODE)
}

/// The commands in a file of settings, each once.
#[derive(Default)]
pub struct Commands {
    /// Those that are followed.
    pub all: Vec<String>,
    /// There are more.
    pub is_cut: bool,
    seen: HashSet<String>,
    bytes: usize,
}

impl Commands {
    fn add(&mut self, code: &str, by: &str) {
        // What stands for the folder in which the settings lie.
        let here = [
            "{toxinidir}/",
            "{tox_root}/",
            "<rootDir>/",
            "{{.ROOT_DIR}}/",
        ];
        if code.is_empty() || self.seen.contains(code) {
            return;
        }
        self.bytes += code.len();
        if self.all.len() >= MOST_COMMANDS || self.bytes > MOST_BYTES {
            self.is_cut = true;
            return;
        }
        self.seen.insert(code.to_owned());
        let code = here
            .iter()
            .fold(code.to_owned(), |code, it| code.replace(it, "./"));
        self.all.push(match by {
            "" => code,
            by => format!("{by} {code}"),
        });
    }
}

/// Returns the code in a file of settings, if that is what is asked of it.
pub fn code(asked: &[String], text: &str) -> Option<Commands> {
    let [CODE, program, rest @ ..] = &*asked.iter().map(String::as_str).collect::<Vec<_>>() else {
        return None;
    };
    let form = form(program)?;
    let is_wanted = |key: &str| *program != "cargo" || rest.first() == Some(&key);
    let mut found: Vec<String> = Vec::new();
    for (key, code) in behind_keys(&form, text) {
        match found.last_mut() {
            Some(command) if key == "args" => {
                command.push(' ');
                command.push_str(&code.replace('\n', " "));
            }
            _ if is_wanted(&key) => found.push(code),
            _ => {}
        }
    }
    let has_keys = !form.keys.is_empty() || !form.sections.is_empty();
    let mut commands = Commands {
        is_cut: has_keys && text.lines().nth(MOST_LINES).is_some(),
        ..Commands::default()
    };
    for code in &found {
        commands.add(code, form.by);
    }
    let calls = form.calls.iter();
    let calls = calls.flat_map(|call| text.match_indices(call));
    let mut left = MOST_READ;
    for (at, call) in calls {
        let (strings, end) = strings(&text[at + call.len()..], i32::from(call.ends_with('(')));
        match form.by {
            "" => commands.add(&strings.join(" "), ""),
            by => strings.iter().for_each(|code| commands.add(code, by)),
        }
        left = left.saturating_sub(end);
        commands.is_cut |= end >= LONGEST || left == 0;
        if left == 0 {
            break;
        }
    }
    Some(commands)
}

/// Returns the code behind keys, with these: on their lines, and below them.
fn behind_keys(form: &Form, text: &str) -> Vec<(String, String)> {
    if form.keys.is_empty() && form.sections.is_empty() {
        return Vec::new();
    }
    let mut section = "";
    // How far the line of the key is indented behind which code stands.
    let mut open: Option<usize> = None;
    // The quotes that end the text in which a line stands, and whether that is code.
    let mut within: Option<(&str, bool)> = None;
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text.lines().take(MOST_LINES) {
        let bare = line.trim();
        if let Some((quotes, is_code)) = within {
            let ends = bare.ends_with(quotes);
            if let Some((_, code)) = found.last_mut().filter(|_| is_code) {
                code.push('\n');
                code.push_str(bare.strip_suffix(quotes).unwrap_or(bare));
            }
            within = within.filter(|_| !ends);
            continue;
        }
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let header = line.strip_prefix('[').and_then(|it| it.split_once(']'));
        if let Some((name, _)) = header {
            section = name.trim_matches('[');
            open = None;
            continue;
        }
        let item = bare.strip_prefix("- ").unwrap_or(bare);
        let indent = line.len() - line.trim_start().len();
        let is_below = open.is_some_and(|at| indent > at);
        let is_item = open == Some(indent) && bare.starts_with("- ");
        let is_coded = |key: &str| {
            form.keys.contains(&key) || form.sections.iter().any(|it| section.starts_with(it))
        };
        if let Some((key, value)) = key_of(item) {
            let quotes = ["\"\"\"", "'''"].into_iter();
            // That of tox is all of its settings.
            let is_text = |it: &&str| value.matches(it).count() == 1 && key != "legacy_tox_ini";
            let mut begun = quotes.filter(is_text);
            within = begun.next().map(|quotes| (quotes, is_coded(key)));
        }
        let braced = form.keys.iter().filter(|_| item.contains('{'));
        let braced =
            braced.flat_map(|key| in_braces(item, key).map(|code| (key.to_string(), code)));
        let braced: Vec<(String, String)> = braced.collect();
        match key_of(item) {
            _ if !braced.is_empty() => found.extend(braced),
            Some((key, value)) if is_coded(key) => {
                open = Some(indent);
                found.push((key.to_owned(), unquoted(value)));
            }
            // Of a list of commands, one that is no code.
            Some(_) if (is_below || is_item) && !is_assignment(item) => {}
            Some(_) if !is_below && !is_item => open = None,
            _ if is_below || is_item => {
                if let Some((_, code)) = found.last_mut() {
                    if !code.is_empty() {
                        code.push('\n');
                    }
                    code.push_str(&unquoted(item));
                }
            }
            // A list or a text ends where it began.
            _ => open = open.filter(|_| bare.starts_with([']', ')', '}'])),
        }
    }
    found
}

/// Returns the values of a key in braces: `{id: x, entry: sh x.sh}`.
fn in_braces<'t>(line: &'t str, key: &'t str) -> impl Iterator<Item = String> + 't {
    line.match_indices(key).filter_map(move |(at, _)| {
        let before = line[..at].trim_end_matches(['"', '\'', ' ']);
        let rest = &line[at + key.len()..];
        let value = rest.trim_start_matches(['"', '\'']).strip_prefix(':')?;
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let value = match quote {
            Some(quote) => value[1..].split(quote).next(),
            None => value.split([',', '}']).next(),
        };
        let is_key = before.ends_with(['{', ',']);
        value
            .filter(|_| is_key)
            .map(|value| value.trim().to_owned())
    })
}

/// Returns the key of a line with its value: `key: value`, `key = value`.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let end = line.find(|c: char| !c.is_alphanumeric() && !"_-.\"".contains(c))?;
    let (key, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let value = match rest.strip_prefix(':') {
        Some(value) => Some(value).filter(|value| value.is_empty() || value.starts_with(' ')),
        None => rest.strip_prefix('='),
    };
    let key = key.trim_matches('"');
    value
        .filter(|_| !key.is_empty())
        .map(|value| (key, value.trim()))
}

/// Says whether a line sets a variable for a command, as a shell has it.
fn is_assignment(line: &str) -> bool {
    let (name, value) = line.split_once('=').unwrap_or_default();
    !name.is_empty() && !name.contains([' ', ':']) && !value.starts_with(' ')
}

/// Returns a value as code: the words or commands of a list, or what stands within quotes.
fn unquoted(value: &str) -> String {
    let value = value.trim().trim_end_matches(',');
    if value.starts_with(['[', '{']) && !value.starts_with("[[ ") {
        let (strings, _) = strings(value, 0);
        let has_commands = strings.iter().any(|one| one.contains(' '));
        return strings.join(if has_commands { "\n" } else { " " });
    }
    if matches!(value, "|" | "|-" | "|+" | ">" | ">-" | "]" | ")" | "}") {
        return String::new();
    }
    for quote in ["\"\"\"", "'''"] {
        if value.starts_with(quote) || value.ends_with(quote) {
            return value.replace(quote, "");
        }
    }
    let within = |quote: char| {
        let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then(|| inner.to_owned())
    };
    within('"')
        .or_else(|| within('\''))
        .unwrap_or_else(|| value.to_owned())
}

/// Returns the strings in quotes at the start of a text, up to where the brackets close of which so many are open before it, and
/// those that it opens; without any, up to the end of the line. Beside them, how many bytes that took.
pub(super) fn strings(text: &str, mut depth: i32) -> (Vec<&str>, usize) {
    let mut found = Vec::new();
    let mut begun: Option<(char, usize)> = None;
    let mut is_behind = false;
    let mut end = 0;
    for (at, letter) in text.char_indices().take_while(|(at, _)| *at < LONGEST) {
        end = at + letter.len_utf8();
        match (begun, letter) {
            (Some((quote, start)), letter) if letter == quote => {
                found.push(&text[start..at]);
                begun = None;
                is_behind = true;
            }
            (Some(_), _) => {}
            // In JSON, the key itself stands in quotes.
            (None, '"' | '\'') if text[at + 1..].starts_with(':') => {}
            (None, '"' | '\'' | '`') => begun = Some((letter, at + 1)),
            (None, '[' | '(' | '{') => depth += 1,
            (None, ']' | ')' | '}') => {
                depth -= 1;
                if depth <= 0 {
                    break;
                }
            }
            // What follows is another key's.
            (None, ',' | ';') if depth == 0 && is_behind && !text.starts_with(['"', '\'']) => break,
            (None, '\n') if depth == 0 => break,
            (None, _) => {}
        }
    }
    (found, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_in_settings_is_found_and_nothing_else_is() {
        for (program, sub, file, text, expected) in [
            (
                "tox",
                None,
                "tox.ini",
                "[testenv]\ndeps = x\ncommands =\n    sh {toxinidir}/ci/t.sh\n    pytest {posargs}\nskip = a.sh\n",
                "sh ./ci/t.sh\npytest {posargs}",
            ),
            (
                "tox",
                None,
                "tox.ini",
                "[testenv]\ncommands = sh ci/t.sh\n",
                "sh ci/t.sh",
            ),
            (
                "tox",
                None,
                "tox.toml",
                "[env_run_base]\ncommands = [[\"sh\", \"ci/t.sh\"]]\n",
                "sh ci/t.sh",
            ),
            (
                "prek",
                Some("run"),
                ".pre-commit-config.yaml",
                "repos:\n- repo: local\n  hooks:\n  - id: x\n    files: src/app.py\n    entry: ci/t.sh\n    language: script\n  - entry: \"sh ci/u.sh\"\n",
                "ci/t.sh|sh ci/u.sh",
            ),
            (
                "pre-commit",
                None,
                ".pre-commit-config.yaml",
                "repos:\n- {repo: local, hooks: [{id: x, entry: sh ci/t.sh, language: system}]}\n- repo: local\n  hooks:\n  - {id: y, name: entry, entry: \"sh ci/u.sh\", files: a.sh}\n",
                "sh ci/t.sh|sh ci/u.sh",
            ),
            (
                "task",
                Some("test"),
                "Taskfile.yml",
                "tasks:\n  test:\n    sources:\n      - src/a.sh\n    cmds:\n      - sh ci/t.sh\n      - task: other\n      - cmd: ./b.sh\n      - X=1 sh c.sh\n    generates:\n      - d.sh\n",
                "sh ci/t.sh|./b.sh\nX=1 sh c.sh",
            ),
            (
                "mise",
                None,
                "mise.toml",
                "[tools]\nnode = \"20\"\n[tasks.a]\nrun = \"sh a.sh\"\n[tasks.b]\nrun = [\n  \"sh b.sh\",\n  'c.sh x',\n]\nsources = [\"d.sh\"]\n",
                "sh a.sh|sh b.sh\nc.sh x",
            ),
            (
                "poe",
                Some("t"),
                "pyproject.toml",
                "[project]\nname = \"x.sh\"\n[tool.poe.tasks]\nt = \"sh t.sh\"\nu = { shell = \"sh u.sh\" }\n[tool.poe.tasks.v]\ncmd = \"./v.sh\"\n[tool.x]\ny = \"z.sh\"\n",
                "sh t.sh|sh u.sh|./v.sh",
            ),
            (
                "cargo",
                Some("make"),
                "Makefile.toml",
                "[tasks.t]\ncommand = \"sh\"\nargs = [\"ci/t.sh\", \"x\"]\n[tasks.u]\nscript = '''\nsh u.sh\n'''\n",
                "sh ci/t.sh x|\nsh u.sh",
            ),
            (
                "cargo",
                Some("xtask"),
                ".cargo/config.toml",
                "[build]\ntarget = \"x\"\n[alias]\nxtask = \"run -q -p xtask --\"\nb = \"build\"\n",
                "cargo run -q -p xtask --",
            ),
            (
                "nox",
                None,
                "noxfile.py",
                "@nox.session\ndef t(s):\n    s.run('sh',\n      'ci/t.sh')\n    x = 'src/a.sh'\n",
                "sh ci/t.sh",
            ),
            (
                "inv",
                Some("t"),
                "tasks.py",
                "  c.run(\"sh t.sh\")\n",
                "sh t.sh",
            ),
            (
                "rake",
                None,
                "Rakefile",
                "task :t do\n  sh 'ci/t.sh'\nend\n",
                "ci/t.sh",
            ),
            (
                "jest",
                None,
                "package.json",
                "{\"jest\": {\"setupFiles\": [\"<rootDir>/a.js\",\n \"./b.js\"], \"testEnvironment\": \"node\"}, \"main\": \"c.js\"}",
                "node ./a.js|node ./b.js",
            ),
            (
                "vitest",
                None,
                "vitest.config.ts",
                "export default {test:{setupFiles:['./s.ts'],globalSetup:'./g.ts',include:['x.ts']}}",
                "node ./s.ts|node ./g.ts",
            ),
            (
                "yarn",
                Some("lint"),
                ".yarnrc.yml",
                "nodeLinker: node-modules\nyarnPath: .yarn/releases/yarn-4.cjs\nplugins:\n  - path: .yarn/plugins/p.cjs\n    spec: x\n",
                "node .yarn/releases/yarn-4.cjs|node .yarn/plugins/p.cjs",
            ),
        ] {
            let asked = asked(program, sub, file).unwrap();
            let found = code(&asked, text).unwrap();
            assert_eq!(found.all.join("|").trim(), expected, "{program} {file}");
            assert!(!found.is_cut, "{program} {file}");
        }
    }

    #[test]
    fn of_commands_without_end_some_are_followed_and_it_is_known_that_there_are_more() {
        let many = |one: fn(usize) -> String| (0..20_000).map(one).collect::<String>();
        for (program, file, text, count, is_cut) in [
            (
                "jest",
                "jest.config.js",
                many(|_| "setupFiles[\"x.js\",".into()),
                1,
                true,
            ),
            (
                "jest",
                "jest.config.js",
                many(|at| format!("setupFiles: ['{at}.js']\n")),
                MOST_COMMANDS,
                true,
            ),
            (
                "nox",
                "noxfile.py",
                many(|at| format!("s.run('sh', '{at}.sh')\n")),
                MOST_COMMANDS,
                true,
            ),
            (
                "nox",
                "noxfile.py",
                many(|_| "s.run('sh', 'a.sh')\n".into()),
                1,
                false,
            ),
            (
                "task",
                "Taskfile.yml",
                many(|at| format!("cmd: sh {at}.sh\n")),
                MOST_COMMANDS,
                true,
            ),
            (
                "task",
                "Taskfile.yml",
                many(|at| format!("{at}: x\n")),
                0,
                true,
            ),
            (
                "task",
                "Taskfile.yml",
                format!("cmd: {}", many(|at| format!("a{at} "))),
                0,
                true,
            ),
            (
                "rake",
                "Rakefile",
                format!("sh '{}'", many(|at| format!("a{at} "))),
                0,
                true,
            ),
        ] {
            let found = code(&asked(program, None, file).unwrap(), &text).unwrap();
            let start: String = text.chars().take(30).collect();
            assert_eq!((found.all.len(), found.is_cut), (count, is_cut), "{start}");
        }
    }

    #[test]
    fn of_other_programs_and_files_nothing_is_asked() {
        for (program, sub, file) in [
            ("ruff", Some("check"), "pyproject.toml"),
            ("cargo", Some("test"), "Cargo.toml"),
            ("yarn", Some("test"), "package.json"),
            ("make", Some("t"), "Makefile"),
        ] {
            assert_eq!(asked(program, sub, file), None, "{program} {file}");
        }
        assert!(code(&["test".to_owned()], "run: sh t.sh").is_none());
    }
}
