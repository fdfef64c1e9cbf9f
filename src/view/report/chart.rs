//! Where the lines and dots of a chart lie: numbers in, coordinates out. The template draws them.

use serde::Serialize;

use crate::model::report::{Curve, Series, Tone};
use crate::model::search::view::{Digits, Overview, name};
use crate::model::text::number;

/// A chart, in the units of its own view box.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// Where the plot begins and ends: left, right, top, bottom.
    pub frame: [f64; 4],
    /// The line of what was measured.
    pub line: String,
    /// The line of what that was held against; empty without one.
    pub threshold: String,
    /// Marks of the vertical axis.
    pub levels: Vec<Mark>,
    /// Marks of the horizontal axis.
    pub cycles: Vec<Mark>,
    /// What stands out on the line.
    pub dots: Vec<Dot>,
}

/// A mark of an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// Where it is along its axis.
    pub at: f64,
    /// What stands there.
    pub label: String,
}

/// A point that stands out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dot {
    /// Where it is.
    pub x: f64,
    /// Where it is.
    pub y: f64,
    /// What it means to the eye.
    pub tone: Tone,
    /// It is drawn as a cross: a change that was undone.
    pub is_cross: bool,
    /// What it is, in words.
    pub words: String,
}

/// For how wide a page a chart is drawn: text in it is as large as it is beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Room {
    /// A desk's.
    Wide,
    /// A phone's.
    Narrow,
}

impl Room {
    /// Returns the plot of values in `range`, with room for labels of so many characters on its left.
    fn plot(self, label: usize, range: (f64, f64), count: usize) -> Plot {
        let left = (label as f64 * LETTER + 2.0 * GAP).max(38.0);
        let (size, labels) = match self {
            Room::Wide => ((860.0, 250.0), 8),
            Room::Narrow => ((360.0, 230.0), 5),
        };
        let (width, height) = size;
        Plot {
            size,
            frame: [left.min(width / 2.0), width - 12.0, 14.0, height - 32.0],
            range,
            count,
            labels,
        }
    }
}

/// How wide a character of a label is at most, and how far labels keep from what is beside them.
const LETTER: f64 = 8.0;
const GAP: f64 = 6.0;
/// How many labels the horizontal axis of a small chart has at most.
const LABELS: usize = 8;
/// With more points than this only the line is drawn.
const DOTS: usize = 120;
/// With more attempts of a search than this only new bests are dots.
const ATTEMPTS: usize = 400;

/// Returns the chart of the score over all cycles; none without a score.
pub fn of_scores(curve: &Curve, room: Room) -> Option<Chart> {
    let plot = room.plot("100".len(), (0.0, 100.0), curve.points.len());
    let scores = curve.points.iter().map(|point| point.score);
    let mut dots = Vec::new();
    for (index, point) in curve.points.iter().enumerate() {
        let dot = |score: f64, tone: Tone, is_cross: bool| Dot {
            x: plot.x(index),
            y: plot.y(score),
            tone,
            is_cross,
            words: point.words.clone(),
        };
        let tone = match point.tone {
            Tone::Good => Tone::Good,
            Tone::Bad | Tone::Odd | Tone::Faint => Tone::Faint,
        };
        dots.push(dot(point.score, tone, false));
        dots.extend(point.undone.map(|score| dot(score, Tone::Bad, true)));
    }
    if !has_dots(curve) {
        dots.clear();
    }
    let names: Vec<u64> = curve.points.iter().map(|point| point.cycle).collect();
    (!curve.points.is_empty()).then(|| Chart {
        line: plot.steps(scores.map(Some)),
        threshold: String::new(),
        levels: plot.levels(&[0.0, 25.0, 50.0, 75.0, 100.0]),
        cycles: plot.labels(&names),
        dots,
        ..plot.empty()
    })
}

/// Says whether cycles stand out on the line of the score.
pub fn has_dots(curve: &Curve) -> bool {
    curve.points.len() <= DOTS
}

/// Returns the chart of a goal's measured values.
pub fn of_values(series: &Series) -> Chart {
    let thresholds = || series.values.iter().map(|value| value.threshold);
    let all = series.values.iter().map(|value| value.value);
    let all: Vec<f64> = all.chain(thresholds().flatten()).collect();
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let plot = Plot {
        size: (360.0, 150.0),
        frame: [12.0, 348.0, 22.0, 118.0],
        range: roomy(low, high),
        count: series.values.len(),
        labels: LABELS,
    };
    let names: Vec<u64> = series.values.iter().map(|value| value.cycle).collect();
    let last = series.values.len().saturating_sub(1);
    let newest = series.values.last().map(|value| Dot {
        x: plot.x(last),
        y: plot.y(value.value),
        tone: match series.result {
            "pass" => Tone::Good,
            "fail" => Tone::Bad,
            _ => Tone::Odd,
        },
        is_cross: false,
        words: format!("{} in cycle {}", number(value.value), value.cycle),
    });
    Chart {
        line: plot.straight(series.values.iter().map(|value| value.value)),
        threshold: plot.steps(thresholds()),
        levels: Vec::new(),
        cycles: plot.labels(&names),
        dots: newest.into_iter().collect(),
        ..plot.empty()
    }
}

/// Returns the chart of a search: what each attempt scored, and the best so far. What is worse than the worst of `range` is drawn
/// there.
pub fn of_attempts(
    overview: &Overview,
    range: Option<(f64, f64)>,
    digits: &Digits,
    room: Room,
) -> Option<Chart> {
    let (worst, best) = range?;
    let points = &overview.curve;
    let (low, high) = (worst.min(best), worst.max(best));
    let levels = match low < high {
        true => vec![low, low / 2.0 + high / 2.0, high],
        false => vec![low],
    };
    let widest = levels
        .iter()
        .map(|level| digits.show(*level).chars().count());
    let plot = room.plot(widest.max().unwrap_or(0), roomy(low, high), points.len());
    let mut dots = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let row = overview.row(point.id);
        let is_best = row.is_some_and(|row| row.new_best || row.is_baseline());
        if points.len() > ATTEMPTS && !is_best {
            continue;
        }
        let ending = row.map_or("", |row| row.ending);
        let score = point
            .score
            .map_or(String::new(), |score| format!(" {}", digits.show(score)));
        dots.push(Dot {
            x: plot.x(index),
            y: point.score.map_or(plot.frame[3], |score| plot.y(score)),
            tone: if is_best { Tone::Good } else { Tone::Faint },
            is_cross: point.score.is_none(),
            words: format!("{}: {ending}{score}", name(point.id)),
        });
    }
    let names: Vec<u64> = points.iter().map(|point| point.id).collect();
    let level = |level: &f64| Mark {
        at: plot.y(*level),
        label: digits.show(*level),
    };
    Some(Chart {
        line: plot.steps(points.iter().map(|point| point.best)),
        levels: levels.iter().map(level).collect(),
        cycles: plot.labels(&names),
        dots,
        ..plot.empty()
    })
}

/// Returns a range with some room around it; never an empty one.
fn roomy(low: f64, high: f64) -> (f64, f64) {
    let room = (high - low) * 0.08;
    match room > 0.0 && room.is_finite() {
        true => (low - room, high + room),
        false => (low - 1.0, high + 1.0),
    }
}

/// Where values lie on a chart.
struct Plot {
    size: (f64, f64),
    frame: [f64; 4],
    range: (f64, f64),
    count: usize,
    /// How many labels the horizontal axis has at most.
    labels: usize,
}

impl Plot {
    fn empty(&self) -> Chart {
        Chart {
            width: self.size.0,
            height: self.size.1,
            frame: self.frame,
            line: String::new(),
            threshold: String::new(),
            levels: Vec::new(),
            cycles: Vec::new(),
            dots: Vec::new(),
        }
    }

    fn x(&self, index: usize) -> f64 {
        let [left, right, ..] = self.frame;
        let share = match self.count {
            0 | 1 => 0.5,
            count => index as f64 / (count - 1) as f64,
        };
        tenth(left + share * (right - left))
    }

    fn y(&self, value: f64) -> f64 {
        let [.., top, bottom] = self.frame;
        let (low, high) = self.range;
        let share = (value - low) / (high - low);
        // A range beyond all numbers has no places in it.
        let share = if share.is_finite() { share } else { 0.5 };
        tenth(bottom - share.clamp(0.0, 1.0) * (bottom - top))
    }

    /// Returns a line that stays on a level until the next; where there is no value it is interrupted.
    fn steps(&self, values: impl Iterator<Item = Option<f64>>) -> String {
        let (mut path, mut is_down) = (String::new(), false);
        for (index, value) in values.enumerate() {
            let Some(value) = value else {
                is_down = false;
                continue;
            };
            let (x, y) = (self.x(index), self.y(value));
            let part = match is_down {
                true => format!("H{x}V{y}"),
                false => format!("M{x} {y}"),
            };
            path.push_str(&part);
            is_down = true;
        }
        // A single level is a line all the same.
        if self.count == 1 && is_down {
            let [left, right, ..] = self.frame;
            path = path.replacen(&format!("M{}", self.x(0)), &format!("M{left}"), 1);
            path.push_str(&format!("H{right}"));
        }
        path
    }

    /// Returns a line from value to value.
    fn straight(&self, values: impl Iterator<Item = f64>) -> String {
        let points = values.enumerate().map(|(index, value)| {
            let letter = if index == 0 { 'M' } else { 'L' };
            format!("{letter}{} {}", self.x(index), self.y(value))
        });
        points.collect()
    }

    fn levels(&self, levels: &[f64]) -> Vec<Mark> {
        let mark = |level: &f64| Mark {
            at: self.y(*level),
            label: number(*level),
        };
        levels.iter().map(mark).collect()
    }

    /// Returns labels for some of the cycles, the last one included.
    fn labels(&self, names: &[u64]) -> Vec<Mark> {
        let every = names.len().div_ceil(self.labels).max(1);
        let last = names.len().saturating_sub(1);
        let is_shown = |index: usize| (last - index).is_multiple_of(every);
        let shown = names
            .iter()
            .enumerate()
            .filter(|(index, _)| is_shown(*index));
        shown
            .map(|(index, name)| Mark {
                at: self.x(index),
                label: match name {
                    0 => "start".to_owned(),
                    name => name.to_string(),
                },
            })
            .collect()
    }
}

/// Rounds to what can be seen.
fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::report::{Point, Value};

    fn point(cycle: u64, score: f64, undone: Option<f64>) -> Point {
        Point {
            cycle,
            score,
            undone,
            tone: Tone::Good,
            words: String::new(),
        }
    }

    #[test]
    fn the_score_goes_in_steps_and_an_undone_change_is_a_cross() {
        let curve = Curve {
            points: vec![
                point(0, 0.0, None),
                point(1, 50.0, Some(25.0)),
                point(2, 100.0, None),
            ],
            each: 1,
            words: String::new(),
        };
        let chart = of_scores(&curve, Room::Wide).unwrap();
        assert_eq!(chart.line, "M38 218H443V116H848V14");
        let crosses: Vec<_> = chart.dots.iter().filter(|dot| dot.is_cross).collect();
        assert_eq!(
            (crosses.len(), crosses[0].x, crosses[0].y),
            (1, 443.0, 167.0)
        );
        let labels: Vec<_> = chart
            .cycles
            .iter()
            .map(|mark| mark.label.as_str())
            .collect();
        assert_eq!(labels, ["start", "1", "2"]);
        assert_eq!(of_scores(&Curve::default(), Room::Wide), None);
    }

    #[test]
    fn every_coordinate_is_a_number_within_the_chart_whatever_the_values() {
        let series = |values: &[(f64, Option<f64>)]| Series {
            goal: "g".into(),
            metric: String::new(),
            direction: "",
            values: values
                .iter()
                .map(|(value, threshold)| Value {
                    cycle: 1,
                    value: *value,
                    threshold: *threshold,
                })
                .collect(),
            now: String::new(),
            result: "pass",
            words: String::new(),
        };
        for values in [
            &[(1.0, None)][..],
            &[(1.0, Some(1.0)), (1.0, Some(1.0))],
            &[(f64::MAX, Some(f64::MIN)), (0.0, None)],
            &[(-1e-300, Some(1e-300))],
        ] {
            let chart = of_values(&series(values));
            let numbers = format!("{} {}", chart.line, chart.threshold);
            let numbers = numbers.split(|c: char| "MLHV ".contains(c));
            for number in numbers.filter(|word| !word.is_empty()) {
                let number: f64 = number.parse().unwrap();
                assert!((0.0..=360.0).contains(&number), "{values:?}: {number}");
            }
        }
    }
}
