//! The estimates that criterion leaves below `target/criterion`, in nanoseconds. Pure.

use std::path::PathBuf;

use super::{Report, json, time};

/// Which estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// The mean.
    #[default]
    Mean,
    /// The median.
    Median,
    /// The slope of the regression, which is the figure that criterion prints where it has one.
    Slope,
}

/// The words for it, which are those of the file.
pub const WORDS: &[(&str, Of)] = &[
    ("mean", Of::Mean),
    ("median", Of::Median),
    ("slope", Of::Slope),
];

/// The most bytes of a folder's name; criterion cuts there.
const LONGEST: usize = 64;
/// The most slashes of an id that are told apart.
const SLASHES: usize = 6;

/// Returns the files where the estimates of a benchmark may lie, the likeliest first. In the id that criterion prints a
/// slash either separates group, function and input, each with a folder, or it is a part of their names, and then an
/// underscore stands in its place.
pub fn files(benchmark: &str) -> Vec<PathBuf> {
    let parts: Vec<&str> = benchmark.split('/').collect();
    let slashes = (parts.len() - 1).min(SLASHES);
    let file = |joined: usize| {
        let mut names = vec![parts[0].to_owned()];
        for (index, part) in parts[1..].iter().enumerate() {
            let is_joined = index < slashes && joined & (1 << index) != 0;
            match names.last_mut() {
                Some(last) if is_joined => *last = format!("{last}_{part}"),
                Some(_) | None => names.push((*part).to_owned()),
            }
        }
        let folders: PathBuf = names.iter().map(|name| folder(name)).collect();
        PathBuf::from("target/criterion")
            .join(folders)
            .join("new/estimates.json")
    };
    (0..1 << slashes).map(file).collect()
}

/// Returns the name of a folder as criterion makes it.
fn folder(name: &str) -> String {
    let special = ['?', '"', '\\', '*', '<', '>', ':', '|', '^'];
    let mut name = name.replace(special, "_");
    let mut end = name.len().min(LONGEST);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    name
}

/// Returns the estimate.
pub fn nanoseconds(of: Of, report: &Report) -> Result<f64, String> {
    let word = WORDS.iter().find(|(_, word)| *word == of);
    let word = word.map_or("", |(word, _)| word);
    let pointer = format!("/{word}/point_estimate");
    let estimate = json::in_report(report, &pointer)?;
    time(estimate, &format!("`{pointer}` of {}", report.quoted()))
}
