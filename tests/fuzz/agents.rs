//! What agents print, in every preset's own stream, wherever the pieces are cut; and what they leave in the outbox's words.

use std::fs;
use std::path::PathBuf;

use chrono::{DateTime, FixedOffset, Utc};
use evolve::model::agent::{self, Finished, Obstacle, Outcome, Preset, Presets, Transcript};
use evolve::model::mask;

use crate::chance::Chance;
use crate::feed::{Format, feed};
use crate::nasty::{self, assert_clean};

const WORDS: &[&str] = &[
    "{\"type\":\"result\"",
    "{\"type\":\"assistant\"",
    "\"is_error\":true",
    "\"is_error\":false",
    "\"usage\":{",
    "\"total_cost_usd\":1e308",
    "\"total_cost_usd\":-1",
    "\"input_tokens\":18446744073709551615",
    "\"output_tokens\":-1",
    "\"message\":{\"content\":[",
    "\"error\":{",
    "\"status\":429",
    "\"permission_denials\":[",
    "rate limit",
    "overloaded",
    "Invalid API key",
    "resets at 3pm",
    "try again in ",
    "99999999999 days",
    "Retry-After: 1e9",
    "2026-02-30T25:61:61Z",
    "9999-12-31 23:59:59",
    "|1770091523",
    "+99:99",
    "jan 32, 9999 at 12:00 am",
    "until feb 29",
    "Cost: $",
    "Tokens: ",
    "\n",
    "\r\n",
    "{\"",
    "\"}",
    "null",
    "[]",
];

fn samples() -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["tests/agent-outputs", "tests/agent-outputs/runs"] {
        let entries = fs::read_dir(folder).expect("the captured outputs are there");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.retain(|path| path.is_file());
    files.sort();
    let mut samples: Vec<_> = files
        .iter()
        .map(|path| fs::read(path).expect("readable"))
        .collect();
    samples.extend(nasty::structures());
    samples
}

#[test]
fn agent_outputs_are_read_alike_wherever_they_are_cut() {
    let presets = Presets::new(&[]);
    let format = Format {
        name: "agent_outputs",
        samples: samples(),
        words: WORDS.to_vec(),
    };
    feed(format, move |input| {
        let mut chance = Chance::of(input.len() as u64);
        let preset = in_turn(&presets, input);
        let whole = read(preset, &[input]);
        let mut pieces = Vec::new();
        let mut rest = input;
        while !rest.is_empty() {
            let most = 1 + chance.below(rest.len() as u64);
            let (piece, after) = rest.split_at(usize::try_from(most).expect("a length"));
            pieces.push(piece);
            rest = after;
        }
        assert_eq!(whole, read(preset, &pieces), "{}", preset.name);
        assert_shown(&whole);
    });
}

/// Returns one of the presets for each input: all of them see hundreds.
fn in_turn<'p>(presets: &'p Presets, input: &[u8]) -> &'p Preset {
    let sum: usize = input.iter().map(|byte| usize::from(*byte)).sum();
    let all = presets.all();
    &all[sum % all.len()]
}

fn read(preset: &Preset, pieces: &[&[u8]]) -> Outcome {
    let mut transcript = Transcript::new(preset);
    for piece in pieces {
        transcript.push(piece);
    }
    let finished = Finished {
        exit: Some(1),
        tail: "",
        usage_file: None,
    };
    transcript.finish(&finished)
}

/// What is told of a run is clean, masked and short.
fn assert_shown(outcome: &Outcome) {
    let activity = &outcome.activity;
    let cannot_run = outcome.cannot_run.as_ref();
    let said = [
        activity.last.as_deref(),
        outcome.failed.as_deref(),
        cannot_run.map(|it| it.message.as_str()),
    ];
    for text in said.into_iter().flatten() {
        assert_clean(text);
        assert!(
            !text.contains('\n') && text.chars().count() <= 2000,
            "{text}"
        );
        assert_eq!(mask::secrets(text), text, "a secret is shown");
    }
    assert!(activity.files.len() <= 200);
    assert!(activity.cost_usd.is_none_or(f64::is_finite));
}

#[test]
fn agent_endings_are_recognised_or_not_and_waits_are_bounded() {
    let presets = Presets::new(&[]);
    let format = Format {
        name: "agent_endings",
        samples: samples(),
        words: WORDS.to_vec(),
    };
    let now: DateTime<Utc> = "2026-02-03T04:05:06Z".parse().expect("a time");
    feed(format, move |input| {
        let text = String::from_utf8_lossy(input);
        let finished = Finished {
            exit: Some(1),
            tail: &text,
            usage_file: Some(&text),
        };
        let preset = in_turn(&presets, input);
        assert_shown(&Transcript::new(preset).finish(&finished));
        for hours in [-12, 0, 14] {
            let zone = FixedOffset::east_opt(hours * 3600).expect("a zone");
            let wait = agent::wait(Obstacle::RateLimited, &text, 1, now.with_timezone(&zone));
            let wait = wait.expect("a limit passes with time");
            assert!((1..=7 * 24 * 3600).contains(&wait.as_secs()), "{wait:?}");
        }
    });
}
