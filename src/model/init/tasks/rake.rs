//! What rake runs, as a Rakefile has it that sets up well-known tasks, names what they need, or has a shell run a text. Pure.

use std::sync::LazyLock;

use regex::Regex;

/// The tasks that libraries set up: how they are called in a Rakefile, the name that they bear there, and what they run.
const KNOWN: [(&str, &str, &str); 7] = [
    ("RSpec::Core::RakeTask", "spec", "rspec"),
    ("RuboCop::RakeTask", "rubocop", "rubocop"),
    ("Rake::TestTask", "test", "minitest"),
    ("Minitest::TestTask", "test", "minitest"),
    ("Cucumber::Rake::Task", "cucumber", "cucumber"),
    ("Reek::Rake::Task", "reek", "reek"),
    ("YARD::Rake::YardocTask", "yard", "yard doc"),
];

/// A known task that is set up.
static SET_UP: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?P<class>[A-Z][\w:]*)\.(?:new|create)\b(?:\s*\(?\s*[:'\x22](?P<name>\w+))?")
});
/// The head of a task.
static TASK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?:multi)?task\b\s*\(?\s*(?:(?P<key>\w+):\s|:(?P<symbol>\w+)|["'](?P<text>[\w:.-]+)["'])(?P<rest>.*)$"#,
    )
});
/// What a task needs first, wherever its arguments stand.
static NEEDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"^\s*(?P<needs>%[iw]?\[[^\]]*\]|\[[^\]]*\]|:[\w]+|["'][\w:.-]+["'])"#)
});
/// What is run in place, as a text.
static RUNS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?P<by>sh|ruby)\b\s*\(?\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')\s*(?:,\s*verbose:\s*\w+\s*)?\)?$"#,
    )
});
/// What a text has in place of a value.
static VALUE: LazyLock<Regex> = LazyLock::new(|| pattern(r"#\{[^}]*\}"));
/// What does something where the file is read, or says what tasks of others do.
static OWN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:sh|system|exec|FileUtils|Rake::Task)\b|`"));
/// What begins a part that ends with a line of its own.
static BLOCK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\bdo\s*(?:\|[^|]*\|)?\s*$|^(?:if|unless|begin|def|class|module|case|while)\b")
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("BUG: a pattern of ours is no pattern")
}

/// A part of a file that stands at its margin: its first line, and those below up to its end.
struct Part<'f> {
    head: &'f str,
    body: Vec<&'f str>,
}

impl Part<'_> {
    /// Returns the name of the task that it is of.
    fn name(&self) -> Option<&str> {
        if let Some(task) = TASK.captures(self.head) {
            let name = ["key", "symbol", "text"]
                .iter()
                .find_map(|it| task.name(it));
            return name.map(|it| it.as_str());
        }
        self.known().map(|(name, _)| name)
    }

    /// Returns the name of the known task that it sets up, and what that runs.
    fn known(&self) -> Option<(&str, &'static str)> {
        let found = SET_UP.captures(self.head)?;
        let mut all = KNOWN.iter();
        let (_, own, runs) = all.find(|(class, _, _)| *class == &found["class"])?;
        Some((found.name("name").map_or(own, |name| name.as_str()), runs))
    }

    /// Returns what a task runs, one command a line; none where that is not told.
    fn lines(&self) -> Option<Vec<String>> {
        if let Some((_, runs)) = self.known() {
            return Some(vec![runs.to_owned()]);
        }
        let task = TASK.captures(self.head)?;
        let rest = &task["rest"];
        let needs = match (task.name("key"), rest.split_once("=>")) {
            (Some(_), _) => rest,
            (None, Some((_, needs))) => needs,
            (None, None) => "",
        };
        let found = NEEDS.captures(needs);
        let named = found.as_ref().map_or("", |it| &it["needs"]);
        // What it needs may be told by code.
        let is_block = needs.trim_start().starts_with("do") || needs.trim().is_empty();
        if named.is_empty() && !is_block {
            return None;
        }
        let names = named.trim_start_matches(['%', 'i', 'w']);
        let names = names.split(|c: char| !(c.is_alphanumeric() || "_:.-".contains(c)));
        let names = names
            .map(|name| name.trim_matches(':'))
            .filter(|name| !name.is_empty());
        let mut lines: Vec<String> = names.map(|name| format!("rake {name}")).collect();
        let inside = rest
            .split_once('{')
            .and_then(|(_, code)| code.rsplit_once('}'));
        let inside = inside.map(|(code, _)| code);
        let code = self.body.iter().copied().chain(inside);
        for line in code
            .map(str::trim)
            .filter(|it| !it.is_empty() && !it.starts_with('#'))
        {
            let run = RUNS.captures(line)?;
            let text = run.name("double").or(run.name("single"))?.as_str();
            let text = text.replace("\\\"", "\"");
            let by = if &run["by"] == "ruby" { "ruby " } else { "" };
            lines.push(format!("{by}{}", VALUE.replace_all(&text, "$${_}")));
        }
        Some(lines)
    }
}

/// Returns the parts that stand at the margin of a file.
fn parts(file: &str) -> Vec<Part<'_>> {
    let mut parts: Vec<Part> = Vec::new();
    let mut is_open = false;
    for line in file.lines().filter(|it| !it.trim().is_empty()) {
        let is_below = line.starts_with([' ', '\t']);
        match parts.last_mut() {
            Some(_) if is_open && line.trim_end() == "end" => is_open = false,
            Some(part) if is_open || is_below => part.body.push(line),
            Some(_) | None => {
                is_open = BLOCK.is_match(line);
                parts.push(Part {
                    head: line,
                    body: Vec::new(),
                });
            }
        }
    }
    parts
}

/// Returns the names of the tasks that stand at the margin.
pub(super) fn names(file: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in parts(file) {
        let name = part.name().map(str::to_owned);
        names.extend(name.filter(|name| !names.contains(name)));
    }
    names
}

/// Returns what a task runs, be it the default one; none where that is not told, or the file does something where it is read.
pub(super) fn text_of(file: &str, name: &str) -> Option<String> {
    let name = if name.is_empty() { "default" } else { name };
    let parts = parts(file);
    let is_task = |part: &Part| part.name().is_some();
    let is_others = |part: &Part| {
        let words = [
            "namespace ",
            "namespace(",
            "file ",
            "file(",
            "rule ",
            "rule(",
            "desc ",
            "#",
        ];
        words.iter().any(|word| part.head.starts_with(word))
    };
    let does_more = |part: &&Part| {
        let mut lines = std::iter::once(&part.head).chain(&part.body);
        !is_task(part) && !is_others(part) && lines.any(|line| OWN.is_match(line.trim_start()))
    };
    if parts.iter().any(|part| does_more(&part)) {
        return None;
    }
    let mut lines = Vec::new();
    for part in parts.iter().filter(|part| part.name() == Some(name)) {
        lines.extend(part.lines()?);
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_tasks_and_what_needs_them_are_told() {
        let file = "require \"bundler/gem_tasks\"\nRSpec::Core::RakeTask.new(:spec) do |t|\n  t.pattern = 'a'\nend\n\
            RuboCop::RakeTask.new\ntask default: %i[spec rubocop]\ntask :ci => [:default]\ntask :one => :spec\n";
        for (name, expected) in [
            ("", Some("rake spec\nrake rubocop")),
            ("ci", Some("rake default")),
            ("one", Some("rake spec")),
            ("spec", Some("rspec")),
            ("rubocop", Some("rubocop")),
            ("other", None),
        ] {
            assert_eq!(text_of(file, name).as_deref(), expected, "{name}");
        }
        for own in [
            "task :spec do\n  x\nend\n",
            "task spec: NAMES\n",
            "sh 'x'\n",
            "x = `rm y`\n",
            "if a\n  system 'x'\nend\n",
            "Rake::Task['spec'].enhance(['x'])\n",
        ] {
            assert_eq!(text_of(&format!("{file}{own}"), "spec"), None, "{own}");
        }
    }

    #[test]
    fn a_task_is_told_by_its_own_lines_and_not_by_those_of_others() {
        let file = "desc 'x `y`'\ntask :spec => 'pkg:build' do\n  # all\n  sh \"a \\\"#{B} c\\\"\", verbose: false\n  ruby 'd.rb'\nend\n\
            multitask(one: %w[spec two]) { sh('e') }\ntask :two, [:x] => [:spec] do |t, args|\n  run args\nend\n\
            namespace :pkg do\n  task :build do\n    system 'f'\n  end\nend\nfile('g') do\n  `h`\nend\n\
            Rake::TestTask.new('unit') do |t|\n  t.pattern = 'i'\nend\ntask default: []\n";
        assert_eq!(names(file), ["spec", "one", "two", "unit", "default"]);
        for (name, expected) in [
            ("spec", Some("rake pkg:build\na \"${_} c\"\nruby d.rb")),
            ("one", Some("rake spec\nrake two\ne")),
            ("two", None),
            ("unit", Some("minitest")),
            ("pkg:build", None),
            ("", None),
        ] {
            assert_eq!(text_of(file, name).as_deref(), expected, "{name}");
        }
    }
}
