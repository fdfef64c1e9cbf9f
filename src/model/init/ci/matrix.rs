//! The values of a job's matrix, as far as they stand in its file. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// How many jobs GitHub makes of a matrix.
const MOST_JOBS: usize = 256;
/// What of a matrix is no name of values.
const OWN: [&str; 2] = ["exclude", "include"];

/// What versions are called that have no number.
const CHANNELS: [&str; 8] = [
    "beta", "current", "highest", "latest", "lowest", "lts", "nightly", "stable",
];

/// Names of `matrix.…`, each with its value.
pub(super) type Chosen = Vec<(String, String)>;

/// One job of a matrix: its values, by their names.
type Job<'m> = BTreeMap<&'m str, &'m Value>;

/// Returns the values that are put in for what a text names of a matrix, one way after the other, each once; a single way without any where
/// it names nothing, or what is not told. What a job has no value for is empty.
pub(super) fn ways(job: &Value, text: &str) -> Vec<Chosen> {
    let Some(matrix) = job.pointer("/strategy/matrix").and_then(Value::as_object) else {
        return vec![Chosen::new()];
    };
    let rows = rows(matrix, "include");
    let keys = matrix.keys().chain(rows.iter().flat_map(|row| row.keys()));
    let is_named = |key: &&String| {
        let words: String = text.split_whitespace().collect();
        let named = words.match_indices("matrix.").any(|(at, begin)| {
            let rest = words[at + begin.len()..].strip_prefix(key.as_str());
            rest.is_some_and(|rest| {
                !rest.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c))
            })
        });
        !OWN.contains(&key.as_str()) && named
    };
    let mut named: Vec<&String> = keys.filter(is_named).collect();
    named.sort();
    named.dedup();
    let value = |job: &Job, key: &String| {
        let text = job
            .get(key.as_str())
            .map_or(Some(""), |value| value.as_str())?;
        (!text.contains("${{")).then(|| (key.clone(), text.to_owned()))
    };
    let chosen = |job: &Job| {
        named
            .iter()
            .map(|key| value(job, key))
            .collect::<Option<Chosen>>()
    };
    let mut ways: Vec<Chosen> = Vec::new();
    for way in jobs(matrix, &rows).iter().filter_map(chosen) {
        let is_elsewhere = way.iter().any(|(_, value)| is_another_system(value));
        if !is_elsewhere && !ways.contains(&way) {
            ways.push(way);
        }
    }
    match ways.is_empty() {
        true => vec![Chosen::new()],
        false => ways,
    }
}

/// Returns the jobs of a matrix; none where its values are not told. A row of `include` adds its values to each job of which it changes no
/// value that the matrix itself gives, and is a job of its own where there is none such (GitHub's page on running variations of jobs).
fn jobs<'m>(matrix: &'m Map<String, Value>, rows: &[&'m Map<String, Value>]) -> Vec<Job<'m>> {
    let own = matrix
        .iter()
        .filter(|(key, _)| !OWN.contains(&key.as_str()));
    let own: Vec<(&String, &Value)> = own.collect();
    let mut jobs: Vec<Job> = match own.is_empty() {
        true => Vec::new(),
        false => vec![Job::new()],
    };
    for (key, values) in &own {
        let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
        let longer = jobs.iter().flat_map(|job| {
            let with = |value| {
                let mut job = job.clone();
                job.insert(key.as_str(), value);
                job
            };
            values.iter().map(with).collect::<Vec<_>>()
        });
        jobs = longer.take(MOST_JOBS).collect();
    }
    let fits = |job: &Job, row: &Map<String, Value>| {
        row.iter()
            .all(|(key, value)| job.get(key.as_str()) == Some(&value))
    };
    let excluded = self::rows(matrix, "exclude");
    jobs.retain(|job| !excluded.iter().any(|row| fits(job, row)));
    let product = jobs.len();
    for row in rows {
        let is_own = |key: &str| own.iter().any(|(own, _)| *own == key);
        let mut is_added = false;
        for job in &mut jobs[..product] {
            let mut given = row.iter().filter(|(key, _)| is_own(key));
            if given.all(|(key, value)| job.get(key.as_str()) == Some(&value)) {
                job.extend(row.iter().map(|(key, value)| (key.as_str(), value)));
                is_added = true;
            }
        }
        if !is_added && jobs.len() < MOST_JOBS {
            jobs.push(
                row.iter()
                    .map(|(key, value)| (key.as_str(), value))
                    .collect(),
            );
        }
    }
    jobs
}

/// Returns the rows of `include` or `exclude`.
fn rows<'m>(matrix: &'m Map<String, Value>, key: &str) -> Vec<&'m Map<String, Value>> {
    let rows = matrix.get(key).and_then(Value::as_array);
    let rows = rows.into_iter().flatten();
    rows.filter_map(Value::as_object).collect()
}

/// Returns what the ways have in common that differ in versions only; none where there is one way.
pub(super) fn choice(place: &str, chosen: &Chosen) -> Option<String> {
    (!chosen.is_empty()).then(|| format!("{place}: {}", words(chosen)))
}

/// Returns the values that are no versions.
pub(super) fn words(chosen: &Chosen) -> String {
    let is_version = |value: &str| {
        let is_numbered = value.contains(|c: char| c.is_ascii_digit());
        is_numbered || value.split('/').any(|part| CHANNELS.contains(&part))
    };
    let words = chosen.iter().map(|(_, value)| value.as_str());
    let words: Vec<&str> = words.filter(|value| !is_version(value)).collect();
    words.join(" ")
}

/// Says whether a name is that of another system, or of a machine with one.
pub(super) fn is_another_system(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("windows") || name.contains("macos")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_for_what_is_named() {
        for (matrix, text, expected) in [
            (
                r#"{"py": ["3.1", "3.2"], "os": ["x"]}"#,
                "t ${{ matrix.py }}",
                "py=3.1|py=3.2",
            ),
            (r#"{"py": ["3.1"]}"#, "t ${{ matrix.python }}", ""),
            (
                r#"{"a": ["1", "2"], "b": ["3"]}"#,
                "${{matrix.a}}${{matrix.b}}",
                "a=1 b=3|a=2 b=3",
            ),
            (
                r#"{"include": [{"e": "a", "x": "1"}, {"e": "b"}]}"#,
                "${{ matrix.e }}",
                "e=a|e=b",
            ),
            (
                r#"{"os": ["windows-latest", "ubuntu-latest"]}"#,
                "${{ matrix.os }}",
                "os=ubuntu-latest",
            ),
            (
                r#"{"a": ["1", "2"], "b": ["3", "4"], "exclude": [{"a": "1", "b": "4"}]}"#,
                "${{matrix.a}}${{matrix.b}}",
                "a=1 b=3|a=2 b=3|a=2 b=4",
            ),
            (
                r#"{"include": [{"rust": "1.51", "args": "--skip x"}, {"rust": "stable"}]}"#,
                "cargo test ${{ matrix.args }}",
                "args=--skip x|args=",
            ),
            (
                r#"{"py": ["3.1", "3.2"], "include": [{"py": "3.2", "args": "-x"}, {"py": "3.3"}]}"#,
                "${{ matrix.py }} ${{ matrix.args }}",
                "args= py=3.1|args=-x py=3.2|args= py=3.3",
            ),
            (
                r#"{"py": ["3.1", "3.2"], "include": [{"args": "-x"}]}"#,
                "${{ matrix.args }}",
                "args=-x",
            ),
            (
                r#"{"py": "${{ fromJson(x) }}", "os": ["y"]}"#,
                "${{ matrix.os }}",
                "",
            ),
            (r#"{"a": ["${{ x }}"]}"#, "${{ matrix.a }}", ""),
        ] {
            let matrix: Value = serde_json::from_str(matrix).unwrap();
            let job = serde_json::json!({"strategy": {"matrix": matrix}});
            let ways = ways(&job, text);
            let pair = |(name, value): &(String, String)| format!("{name}={value}");
            let shown = |way: &Chosen| way.iter().map(pair).collect::<Vec<_>>().join(" ");
            let shown: Vec<String> = ways.iter().map(shown).collect();
            assert_eq!(shown.join("|"), expected, "{matrix} {text}");
        }
        let chosen = |value: &str| vec![("a".to_owned(), value.to_owned())];
        assert_eq!(choice("p", &chosen("py39")), choice("p", &chosen("py310")));
        assert_eq!(choice("p", &chosen("stable")), choice("p", &chosen("1.80")));
        assert_ne!(choice("p", &chosen("lint")), choice("p", &chosen("docs")));
        assert_eq!(choice("p", &Chosen::new()), None);
    }
}
