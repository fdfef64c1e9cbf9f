//! What `evolve validate` comes to: problems of the goals file, what a cycle would freeze, and what is proposed. Pure.

use serde::Serialize;

use super::goals::Goals;
use super::snapshot::FORMAT;
use crate::error::{Error, Spot};

/// All that is found out about a goals file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Validation {
    /// Version of the format.
    pub format: u32,
    /// The goals file, as its user would write it.
    pub file: String,
    /// It can be measured.
    #[serde(rename = "valid")]
    pub is_valid: bool,
    /// What keeps it from being read.
    pub problems: Vec<Problem>,
    /// What keeps nobody from anything.
    pub warnings: Vec<Problem>,
    /// The goals, in the order of the file.
    pub goals: Vec<Weighed>,
    /// Files that no cycle may change.
    pub frozen: Vec<String>,
    /// Files that checks run and that are built, so that they are put back instead.
    pub built: Vec<String>,
    /// The patterns that are protected as well.
    pub protect: Vec<String>,
    /// Those of them that are names of no file yet.
    pub protect_without_file: Vec<String>,
    /// What would do the file good.
    pub proposals: Vec<Proposal>,
}

/// Something wrong, with its place where it has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// 1-based.
    pub line: Option<usize>,
    /// 1-based, in characters.
    pub column: Option<usize>,
}

/// A goal and how much it matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Weighed {
    /// What it is called.
    pub id: String,
    /// From 1 to 10.
    pub weight: u8,
}

/// Something that would do the goals file good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// Why, and where to write it.
    pub message: String,
    /// What to write.
    pub add: String,
}

impl Validation {
    /// Returns what the file itself says.
    pub fn of_goals(file: &str, goals: &Goals) -> Validation {
        let weighed = goals.goals.iter().map(|goal| Weighed {
            id: goal.id.clone(),
            weight: goal.weight,
        });
        Validation {
            is_valid: true,
            goals: weighed.collect(),
            protect: goals.settings.protect.clone(),
            ..Validation::of_nothing(file)
        }
    }

    /// Returns what there is to say of a file that cannot be measured.
    pub fn of_error(file: &str, error: &Error) -> Validation {
        let problems = match error.spots.is_empty() {
            true => vec![Problem {
                hint: (!error.hints.is_empty()).then(|| error.hints.join("; ")),
                ..Problem::from(error.message.clone())
            }],
            false => error.spots.iter().map(Problem::from).collect(),
        };
        Validation {
            problems,
            ..Validation::of_nothing(file)
        }
    }

    fn of_nothing(file: &str) -> Validation {
        Validation {
            format: FORMAT,
            file: file.to_owned(),
            is_valid: false,
            problems: Vec::new(),
            warnings: Vec::new(),
            goals: Vec::new(),
            frozen: Vec::new(),
            built: Vec::new(),
            protect: Vec::new(),
            protect_without_file: Vec::new(),
            proposals: Vec::new(),
        }
    }
}

impl From<&Spot> for Problem {
    fn from(spot: &Spot) -> Problem {
        Problem {
            message: spot.message.clone(),
            hint: (!spot.hint.is_empty()).then(|| spot.hint.clone()),
            line: Some(spot.line),
            column: Some(spot.column),
        }
    }
}

impl From<String> for Problem {
    fn from(message: String) -> Problem {
        Problem {
            message,
            hint: None,
            line: None,
            column: None,
        }
    }
}

impl Proposal {
    /// Proposes to protect what checks, or what prepares for them, lean on without running it; none where there is nothing.
    pub fn to_protect(leaned_on: &[String], with_prepare: bool) -> Option<Proposal> {
        let (them, that_is) = match leaned_on.len() {
            0 => return None,
            1 => ("it", "it is"),
            _ => ("them", "they are"),
        };
        let who = match with_prepare {
            true => "checks and `prepare` lean",
            false => "checks lean",
        };
        let quoted: Vec<String> = leaned_on.iter().map(|path| format!("\"{path}\"")).collect();
        Some(Proposal {
            message: format!(
                "{who} on {} without running {them} directly; to freeze {them} too, add under `evolve:` (or as `product`, if {that_is} what agents work on)",
                leaned_on.join(", ")
            ),
            add: format!("protect: [{}]", quoted.join(", ")),
        })
    }
}
