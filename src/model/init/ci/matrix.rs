//! The values of a job's matrix, as far as they stand in its file. Pure.

use serde_json::Value;

/// How many ways to put values in are followed.
const MOST: usize = 12;

/// What versions are called that have no number.
const CHANNELS: [&str; 8] = [
    "beta", "current", "highest", "latest", "lowest", "lts", "nightly", "stable",
];

/// Names of `matrix.…`, each with its value.
pub(super) type Chosen = Vec<(String, String)>;

/// Returns the values that are put in for what a text names of a matrix, one way after the other; a single way without any where it
/// names nothing, or what is not told.
pub(super) fn ways(job: &Value, text: &str) -> Vec<Chosen> {
    let Some(matrix) = job.pointer("/strategy/matrix").and_then(Value::as_object) else {
        return vec![Chosen::new()];
    };
    let included = matrix.get("include").and_then(Value::as_array);
    let included = || included.into_iter().flatten().filter_map(Value::as_object);
    let keys = matrix.keys().chain(included().flat_map(|one| one.keys()));
    let is_named = |key: &&String| {
        let words: String = text.split_whitespace().collect();
        let named = words.match_indices("matrix.").any(|(at, begin)| {
            let rest = words[at + begin.len()..].strip_prefix(key.as_str());
            rest.is_some_and(|rest| {
                !rest.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c))
            })
        });
        !["exclude", "include"].contains(&key.as_str()) && named
    };
    let mut named: Vec<&String> = keys.filter(is_named).collect();
    named.sort();
    named.dedup();
    let value = |value: &Value| {
        value
            .as_str()
            .map(str::to_owned)
            .filter(|it| !it.contains("${{"))
    };
    let mut ways = vec![Chosen::new()];
    for key in &named {
        let all = matrix
            .get(*key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let all: Vec<String> = all.filter_map(value).collect();
        let longer = ways.iter().flat_map(|way| {
            let one =
                |value: &String| [way.clone(), vec![((*key).clone(), value.clone())]].concat();
            all.iter().map(one).collect::<Vec<_>>()
        });
        ways = longer.take(MOST).collect();
    }
    let of_one = included().filter_map(|one| {
        let pair = |key: &&String| Some(((*key).clone(), value(one.get(*key)?)?));
        named.iter().map(pair).collect::<Option<Chosen>>()
    });
    ways.extend(of_one.filter(|_| !named.is_empty()));
    ways.retain(|way| !way.iter().any(|(_, value)| is_another_system(value)));
    // Which of several values go together an exclusion may say.
    let is_told = named.len() < 2 || matrix.get("exclude").is_none();
    ways.truncate(MOST);
    match ways.is_empty() || !is_told {
        true => vec![Chosen::new()],
        false => ways,
    }
}

/// Returns what the ways have in common that differ in versions only; none where there is one way.
pub(super) fn choice(place: &str, chosen: &Chosen) -> Option<String> {
    let is_version = |value: &str| {
        let is_numbered = value.contains(|c: char| c.is_ascii_digit());
        is_numbered || value.split('/').any(|part| CHANNELS.contains(&part))
    };
    let words = chosen.iter().map(|(_, value)| value.as_str());
    let words: Vec<&str> = words.filter(|value| !is_version(value)).collect();
    (!chosen.is_empty()).then(|| format!("{place}: {}", words.join(" ")))
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
                r#"{"a": ["1"], "b": ["2"], "exclude": [{"a": "1"}]}"#,
                "${{matrix.a}}${{matrix.b}}",
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
