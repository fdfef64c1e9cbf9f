//! What rake runs, as a Rakefile has it that sets up well-known tasks and names what they need. Pure.

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
    pattern(r"(?m)^\s*(?P<class>[A-Z][\w:]*)\.(?:new|create)\b(?:\s*\(?\s*:(?P<name>\w+))?")
});
/// A task that only needs others.
static NEEDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)^\s*task\s*\(?\s*:?(?P<name>\w+)(?::|\s*=>)\s*(?P<needs>%[iw]?\[[^\]]*\]|\[[^\]]*\]|:\w+)\s*\)?\s*$",
    )
});
/// What does something of its own.
static OWN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)^\s*(?:sh|system|exec|FileUtils|namespace|file|rule|multitask)\b|^\s*task\b.*\bdo\b|`",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("BUG: a pattern of ours is no pattern")
}

/// Returns what a task runs, be it the default one; none where anything in the file does something of its own.
pub(super) fn text_of(file: &str, name: &str) -> Option<String> {
    if OWN.is_match(file) {
        return None;
    }
    let name = if name.is_empty() { "default" } else { name };
    let known = SET_UP.captures_iter(file).filter_map(|found| {
        let (_, own, runs) = KNOWN
            .iter()
            .find(|(class, _, _)| *class == &found["class"])?;
        let own = found.name("name").map_or(*own, |name| name.as_str());
        (own == name).then(|| (*runs).to_owned())
    });
    let needs = NEEDS
        .captures_iter(file)
        .filter(|found| &found["name"] == name);
    let needs = needs.flat_map(|found| {
        let names = found["needs"]
            .trim_start_matches(['%', 'i', 'w'])
            .to_owned();
        let names = names.split(|c: char| !c.is_alphanumeric() && c != '_');
        let names = names.filter(|name| !name.is_empty());
        names.map(|name| format!("rake {name}")).collect::<Vec<_>>()
    });
    let lines: Vec<String> = needs.chain(known).collect();
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
        for own in ["task :a do\n  x\nend\n", "sh 'x'\n", "x = `rm y`\n"] {
            assert_eq!(text_of(&format!("{file}{own}"), "spec"), None, "{own}");
        }
    }
}
