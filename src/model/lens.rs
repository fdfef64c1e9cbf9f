//! Lenses: genuinely different axes along which an agent may vary code, by what is to get better. Pure.

/// What is to get better, the words by which that is told, and the lenses for it.
type Kind = (&'static [&'static str], &'static [&'static str]);

/// The built-in lenses by the kind of objective; the last are for any.
const KINDS: [Kind; 5] = [
    (
        &[
            "speed",
            "fast",
            "time",
            "latency",
            "throughput",
            "ops",
            "bench",
            "perf",
            "slow",
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
            "simple",
            "complexity",
            "wc ",
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
        &["robust", "error", "crash", "fuzz", "fail", "reliab"],
        &[
            "error paths: what happens when something fails",
            "input validation: what must not get in",
            "limits: sizes, depths, times",
            "fallback: what is done instead",
            "invariants: what always holds, checked",
            "concurrency: what can happen in another order",
        ],
    ),
    (
        &[
            "accuracy",
            "quality",
            "score",
            "precision",
            "recall",
            "correct",
            "loss",
            "eval",
        ],
        &[
            "algorithm: another method",
            "representation: other features of the input",
            "edge cases: what is got wrong now",
            "parameters: constants and thresholds",
            "combination: several methods together",
            "validation: reject what cannot be right",
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

/// Returns the built-in lenses for an objective, or a fitness command, in words.
pub fn built_in(objective: &str) -> Vec<String> {
    let words = objective.to_lowercase();
    let fits = |kind: &&Kind| kind.0.iter().any(|word| words.contains(word));
    let kind = KINDS.iter().find(fits).unwrap_or(&KINDS[KINDS.len() - 1]);
    kind.1.iter().map(ToString::to_string).collect()
}
