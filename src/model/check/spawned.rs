//! What scripts of other languages than the shell's have run: command lines and lists of words that stand in the call itself, in
//! quotes. What is put together elsewhere is not found. Pure.

use crate::model::text;

/// What stands before a command, for each language by the end of its scripts' names and by what their first line calls. The names are
/// those of the languages' own libraries: `subprocess` and `os`, `node:child_process`, `Kernel` of Ruby, and the built-in ones.
const CALLS: &[(&[&str], &str, &[&str])] = &[
    (
        &[".py"],
        "python",
        &[
            "run(",
            "call(",
            "check_call(",
            "check_output(",
            "Popen(",
            "getoutput(",
            "getstatusoutput(",
            "os.system(",
            "os.popen(",
            "create_subprocess_shell(",
        ],
    ),
    (
        &[".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"],
        "node",
        &[
            "exec(",
            "execSync(",
            "execFile(",
            "execFileSync(",
            "spawn(",
            "spawnSync(",
            "fork(",
        ],
    ),
    (
        &[".rb"],
        "ruby",
        &["system(", "system ", "exec(", "exec ", "spawn(", "spawn "],
    ),
    (
        &[".pl", ".t"],
        "perl",
        &["system(", "system ", "exec(", "exec "],
    ),
    (
        &[".php"],
        "php",
        &[
            "shell_exec(",
            "exec(",
            "system(",
            "passthru(",
            "popen(",
            "proc_open(",
        ],
    ),
    (&[".lua"], "lua", &["os.execute(", "io.popen("]),
];

/// The most commands of one script that are looked at.
const MOST: usize = 64;

/// Returns the commands that a script has run, as a shell's text each.
pub fn spawned(file: &str, script: &str) -> Vec<String> {
    let first = script.lines().next().unwrap_or_default();
    let is_for = |(ends, name, _): &&(&[&str], &str, &[&str])| {
        ends.iter().any(|end| file.ends_with(end))
            || first.starts_with("#!") && first.contains(name)
    };
    let Some((_, name, calls)) = CALLS.iter().find(is_for) else {
        return Vec::new();
    };
    let own = match *name {
        "python" => "python3",
        name => name,
    };
    let begins = calls.iter().flat_map(|call| {
        let places = script.match_indices(call);
        // `rerun(` is no `run(`.
        let is_whole =
            |at: usize| !script[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let places = places.filter(move |(at, _)| is_whole(*at));
        places.map(|(at, found)| (at + found.len(), found == "fork("))
    });
    let mut begins: Vec<(usize, bool)> = begins.collect();
    begins.sort_unstable();
    let commands = begins.into_iter().filter_map(|(at, is_own)| {
        let command = command(&script[at..], own)?;
        Some(match is_own {
            true => format!("{own} {command}"),
            false => command,
        })
    });
    commands.take(MOST).collect()
}

/// Returns the command that the arguments of a call begin with: a line in quotes, a list of words, or a program with its list.
fn command(arguments: &str, own: &str) -> Option<String> {
    let mut rest = arguments.trim_start();
    if let Some(list) = rest.strip_prefix('[') {
        return list_of(list, own);
    }
    let line = interpreter(&mut rest, own).or_else(|| taken(&mut rest))?;
    let further = rest.trim_start().strip_prefix(',').map(str::trim_start);
    let Some(further) = further else {
        return Some(line);
    };
    // Node's list of arguments, or the further words of a program in Ruby or Perl.
    let words = match further.strip_prefix('[') {
        Some(list) => list_of(list, own),
        None if further.starts_with(['\'', '"']) => list_of(further, own),
        None => return Some(line),
    };
    let words = words.unwrap_or_default();
    Some(format!("{} {words}", text::shell_word(&line)))
}

/// Returns the words of a list up to the first one that is none in quotes; the interpreter that runs the script counts as one.
fn list_of(list: &str, own: &str) -> Option<String> {
    let mut words = Vec::new();
    let mut rest = list.trim_start();
    while let Some(word) = interpreter(&mut rest, own).or_else(|| taken(&mut rest)) {
        words.push(text::shell_word(word));
        match rest.trim_start().strip_prefix(',') {
            Some(behind) => rest = behind.trim_start(),
            None => break,
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}

/// Takes what stands for the interpreter that runs the script off the beginning; returns how that is called.
fn interpreter(rest: &mut &str, own: &str) -> Option<String> {
    let words = ["sys.executable", "process.execPath", "RbConfig.ruby", "$^X"];
    let behind = words.iter().find_map(|word| rest.strip_prefix(word))?;
    *rest = behind;
    Some(own.to_owned())
}

/// Takes what stands in quotes off the beginning; nothing that holds what is put in only then.
fn taken(rest: &mut &str) -> Option<String> {
    let quote = rest.chars().next().filter(|c| "'\"`".contains(*c))?;
    let (inside, behind) = rest[1..].split_once(quote)?;
    let is_literal = !inside.contains(['\n', '\\']) && !inside.contains("${");
    *rest = behind;
    (is_literal && !inside.is_empty()).then(|| inside.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_where_they_stand_in_the_call_itself() {
        for (file, script, commands) in [
            ("a.py", "os.system('sh t/a.sh')", vec!["sh t/a.sh"]),
            (
                "a.py",
                "subprocess.run(\n    ['sh', 't/a b.sh', name],\n    check=True)",
                vec!["sh 't/a b.sh'"],
            ),
            (
                "a.py",
                "check_output([sys.executable, \"t/a.py\", *rest])",
                vec!["python3 t/a.py"],
            ),
            (
                "a.py",
                "subprocess.run('sh t/a.sh', shell=True)",
                vec!["sh t/a.sh"],
            ),
            (
                "a.py",
                "subprocess.run(f't/{name}.sh'); rerun('x'); run()",
                vec![],
            ),
            ("a", "#!/usr/bin/env python3\ncall(['t/a'])", vec!["t/a"]),
            (
                "a.js",
                "execSync('sh t/a.sh', {stdio: 'inherit'})",
                vec!["sh t/a.sh"],
            ),
            ("a.mjs", "spawnSync('sh', ['t/a.sh', x])", vec!["sh t/a.sh"]),
            ("a.ts", "fork('./t/a.js')", vec!["node ./t/a.js"]),
            (
                "a.js",
                "execFileSync(process.execPath, ['t/a.js'])",
                vec!["node t/a.js"],
            ),
            ("a.js", "exec(`sh ${name}`)", vec![]),
            (
                "a.rb",
                "system 'sh', 't/a.sh'\nsystem(\"make -s x\")",
                vec!["sh t/a.sh", "make -s x"],
            ),
            (
                "a.php",
                "<?php passthru('sh t/a.sh', $code);",
                vec!["sh t/a.sh"],
            ),
            ("a.lua", "os.execute('sh t/a.sh')", vec!["sh t/a.sh"]),
            (
                "a.pl",
                "system('sh', 't/a.sh') == 0 or die;",
                vec!["sh t/a.sh"],
            ),
            ("a.sh", "run('x')", vec![]),
            ("a.py", "run('", vec![]),
            ("a.py", "run(['", vec![]),
        ] {
            assert_eq!(spawned(file, script), commands, "{script}");
        }
    }
}
