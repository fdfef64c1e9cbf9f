//! Lenses: genuinely different axes along which an agent may vary code, by what is to get better. A lens has a name, which
//! boards show, and behind a colon what it means, for the brief. Pure.

/// What is to get better, the words by which that is told, and the lenses for it.
type Kind = (&'static [&'static str], &'static [&'static str]);

/// The built-in lenses by the kind of objective: speed, size, robustness, quality; the last are for any.
const KINDS: [Kind; 5] = [
    (
        &[
            "speed",
            "fast",
            "faster",
            "time",
            "latency",
            "throughput",
            "ops",
            "bench",
            "benchmark",
            "perf",
            "performance",
            "slow",
            "quick",
            "ms",
            "ns",
            "second",
            "duration",
            "qps",
            "hyperfine",
        ],
        &[
            "algorithm: less work by another method",
            "data structure: what the data is kept in",
            "caching: nothing computed twice",
            "loop structure: order, fusion, early exit",
            "memory layout: locality, allocations, copies",
            "parallelism: several things at once",
            "simplification: what can be left out",
            "specialisation: the common case first",
        ],
    ),
    (
        &[
            "size",
            "bytes",
            "lines",
            "small",
            "smaller",
            "short",
            "simple",
            "simplicity",
            "complexity",
            "wc",
            "memory",
            "footprint",
            "loc",
        ],
        &[
            "elimination: what nobody needs",
            "decomposition: parts that can be shared",
            "library: what the standard library does already",
            "rewrite: the same in fewer ideas",
            "data instead of code: tables for branches",
            "representation: a denser form",
        ],
    ),
    (
        &[
            "robust",
            "robustness",
            "crash",
            "fuzz",
            "fail",
            "failure",
            "reliable",
            "reliability",
            "resilience",
            "error",
            "panic",
        ],
        &[
            "error paths: what happens when something fails",
            "input validation: what must not get in",
            "retry strategy: what is tried again, when and how often",
            "fallback design: what is done instead",
            "limits: sizes, depths, times",
            "invariants: what always holds, checked",
            "concurrency: what can happen in another order",
        ],
    ),
    (
        &[
            "accuracy",
            "accurate",
            "quality",
            "score",
            "precision",
            "recall",
            "correct",
            "correctness",
            "loss",
            "eval",
            "evaluate",
            "predict",
            "prediction",
            "f1",
            "auc",
            "bleu",
        ],
        &[
            "algorithm: another method",
            "representation: other features of the input",
            "edge cases: what is got wrong now",
            "parameters: constants and thresholds",
            "combination: several methods together",
            "validation: reject what cannot be right",
            "error handling: what is lost where something fails",
        ],
    ),
    (
        &[],
        &[
            "algorithm: another method",
            "data structure: what the data is kept in",
            "simplification: what can be left out",
            "inversion: the problem from its other end",
            "parameters: constants and thresholds",
            "decomposition: other parts, other borders",
        ],
    ),
];

/// Returns the name of a lens: what stands before the colon.
pub fn name(lens: &str) -> &str {
    lens.split_once(':').map_or(lens, |(name, _)| name).trim()
}

/// Returns what a lens means, if it says so.
pub fn meaning(lens: &str) -> Option<&str> {
    let (_, meaning) = lens.split_once(':')?;
    Some(meaning.trim()).filter(|meaning| !meaning.is_empty())
}

/// Returns the built-in lenses for an objective, or where that tells nothing, or there is none, for a fitness command.
pub fn built_in(objective: Option<&str>, fitness: &str) -> Vec<String> {
    let kind = objective.and_then(kind_of).or_else(|| kind_of(fitness));
    let (_, lenses) = kind.unwrap_or(&KINDS[KINDS.len() - 1]);
    lenses.iter().map(ToString::to_string).collect()
}

/// Returns the lenses that are asked for, each once: a built-in one by its name, with what it means for this objective; what is none is
/// taken as it is.
pub fn asked(names: &[String], objective: Option<&str>, fitness: &str) -> Vec<String> {
    let near = built_in(objective, fitness);
    let far = KINDS
        .iter()
        .flat_map(|kind| kind.1)
        .map(ToString::to_string);
    let known: Vec<String> = near.into_iter().chain(far).collect();
    let mut lenses: Vec<String> = Vec::new();
    for asked in names.iter().map(|name| name.trim()) {
        let is_it = |lens: &&String| name(lens).eq_ignore_ascii_case(asked);
        let lens = known.iter().find(is_it);
        let lens = lens.cloned().unwrap_or_else(|| asked.to_owned());
        if !asked.is_empty() && !lenses.contains(&lens) {
            lenses.push(lens);
        }
    }
    lenses
}

/// Returns the kind that most words of a text are of, the first of equals.
fn kind_of(text: &str) -> Option<&'static Kind> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let count = |kind: &Kind| words.iter().filter(|word| kind.0.contains(word)).count();
    let most = KINDS.iter().map(count).max().filter(|most| *most > 0)?;
    KINDS.iter().find(|kind| count(kind) == most)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn first_of(objective: Option<&str>, fitness: &str) -> String {
        built_in(objective, fitness).remove(0)
    }

    #[test]
    fn the_lenses_fit_what_is_to_get_better() {
        for (objective, fitness, first) in [
            (Some("requests per second: faster"), "./x", "less work"),
            (None, "make bench", "less work"),
            (
                Some("accuracy on the test set"),
                "make bench",
                "another method",
            ),
            (
                Some("the smaller the better"),
                "wc -c < a.py",
                "what nobody needs",
            ),
            (None, "wc -c < a.py", "what nobody needs"),
            (
                Some("no crash under fuzz"),
                "./x",
                "what happens when something fails",
            ),
            (Some("prediction error: accuracy"), "./x", "another method"),
            (Some("sometimes it resizes"), "./stop.sh", "another method"),
        ] {
            assert_eq!(
                meaning(&first_of(objective, fitness)).unwrap()[..8],
                first[..8],
                "{objective:?} {fitness}"
            );
        }
        let general = built_in(None, "./x");
        assert!(general.iter().any(|lens| name(lens) == "inversion"));
    }

    #[test]
    fn each_kind_has_axes_enough_of_different_names_that_say_what_they_mean() {
        for (_, lenses) in KINDS {
            let names: HashSet<&str> = lenses.iter().map(|lens| name(lens)).collect();
            assert_eq!(names.len(), lenses.len());
            assert!(lenses.len() >= 6, "{lenses:?}");
            assert!(lenses.iter().all(|lens| meaning(lens).is_some()));
        }
    }

    #[test]
    fn a_lens_is_asked_for_by_its_name_or_in_words_of_ones_own() {
        let names = ["Caching", "tables: not branches", "caching", " ", "odd"].map(String::from);
        assert_eq!(
            asked(&names, None, "make bench"),
            [
                "caching: nothing computed twice",
                "tables: not branches",
                "odd"
            ]
        );
        let algorithm = ["algorithm".to_owned()];
        assert_eq!(
            asked(&algorithm, Some("faster"), ""),
            ["algorithm: less work by another method"]
        );
        assert_eq!(
            (name("odd"), meaning("odd"), meaning("a: ")),
            ("odd", None, None)
        );
    }
}
