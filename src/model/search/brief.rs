//! What the agent of an attempt is told. Of code it is told nothing but where its parents' is. Pure.

use minijinja::{Environment, UndefinedBehavior, context};

use crate::model::lesson::{self, Lesson};
use crate::model::search::lens;
use crate::model::search::lineage::{Attempt, Direction, Id, Lineage, Proposal, Word};
use crate::model::{mask, text};

/// How many earlier attempts from the same parents are listed, the newest.
const SIBLINGS: usize = 30;
/// The longest words of others in a line of a brief, in characters.
const WORDS: usize = 300;

/// How attempts stand, as far as a brief tells of it.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The best attempt.
    pub best: Id,
    /// Ending and score of each attempt that has its ending, the baseline first.
    pub endings: Vec<(&'static str, Option<f64>)>,
}

/// What a brief is made of.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// The search so far.
    pub lineage: &'a Lineage,
    /// What the attempt is to be.
    pub proposal: &'a Proposal,
    /// How the attempts before it stand.
    pub standing: &'a Told,
}

/// Writes the brief. What looks like a secret is masked, and text of others cannot pass for a part of it.
pub fn write(material: &Material<'_>) -> String {
    let Material {
        lineage,
        proposal,
        standing,
    } = *material;
    let request = &lineage.plan.request;
    let score = |id: Id| {
        let ended = standing.endings.get(id as usize);
        ended.and_then(|(_, score)| *score).map(text::number)
    };
    let known = |id: Id| score(id).unwrap_or_else(|| "nothing yet".to_owned());
    let parents: Vec<_> = proposal
        .parents
        .iter()
        .map(|parent| {
            let edited = lineage.attempt(*parent).edited();
            let commit = edited.and_then(|edited| edited.commit.clone());
            let name = match parent {
                0 => "the untouched code".to_owned(),
                id => format!("attempt {id}"),
            };
            context! {
                name, score => known(*parent), commit => commit.unwrap_or_else(|| request.base.clone())
            }
        })
        .collect();
    let is_sibling = |attempt: &&Attempt| {
        let other = attempt.proposal.as_ref();
        other.is_some_and(|other| other.parents == proposal.parents && other.id < proposal.id)
    };
    let siblings = lineage
        .attempts
        .iter()
        .filter(is_sibling)
        .rev()
        .take(SIBLINGS);
    let siblings: Vec<_> = siblings
        .filter_map(|attempt| {
            let id = attempt.proposal.as_ref()?.id;
            let ending = standing.endings.get(id as usize)?.0;
            let summary = attempt
                .edited()
                .and_then(|edited| edited.summary.as_deref());
            let why = attempt.problem().map(one_line);
            Some(context! { id, ending, score => score(id), summary => summary.map(one_line), why })
        })
        .collect();
    let instructions: Vec<String> = lineage
        .notes
        .iter()
        .filter_map(|note| match &note.word {
            Word::Instruction(words) if note.after < proposal.id && !words.trim().is_empty() => {
                Some(one_line(words))
            }
            _ => None,
        })
        .collect();
    let direction = match lineage.plan.direction {
        Direction::Max => "higher",
        Direction::Min => "lower",
    };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let values = context! {
        id => proposal.id,
        operator => proposal.operator.word(),
        lens => proposal.lens.as_deref().map(|it| one_line(lens::name(it))),
        meaning => proposal.lens.as_deref().and_then(lens::meaning).map(one_line),
        lessons => lessons(lineage).iter().map(|one| one_line(one)).collect::<Vec<_>>(),
        objective => request.objective.as_deref().map(one_line),
        direction,
        fitness => one_line(&request.fitness),
        baseline => known(0),
        best => standing.best,
        best_score => known(standing.best),
        files => list(&request.files),
        protect => list(&request.told_protect()),
        frozen => list(&request.told_frozen()),
        gates => request.gates.iter().map(|gate| one_line(gate)).collect::<Vec<_>>(),
        parents, siblings, instructions,
    };
    let text = environment
        .render_str(include_str!("brief.md.j2"), values)
        .expect("BUG: the brief's template is broken");
    mask::secrets(&text)
}

/// How many lessons a search keeps; what agents learn later is not taken in.
const LESSONS: usize = 500;

/// Returns what of an agent's words in attempt `id` is not known yet, as it is kept.
pub fn learned(known: &[Lesson], id: Id, written: &str) -> Vec<String> {
    let room = LESSONS.saturating_sub(known.len());
    let taken = lesson::taken_in(written, known, "search", id, "");
    taken.into_iter().take(room).map(|one| one.text).collect()
}

/// Returns the lessons that agents are told: the newest, as far as there is room.
pub fn lessons(lineage: &Lineage) -> Vec<String> {
    let known = known(lineage);
    let told = lesson::relevant(&known, &[], "search");
    told.into_iter().map(|one| one.text.clone()).collect()
}

/// Returns what agents left, in the order of their attempts.
pub fn known(lineage: &Lineage) -> Vec<Lesson> {
    let edits = lineage.attempts.iter().enumerate();
    let edits =
        edits.flat_map(|(id, attempt)| attempt.edits.iter().map(move |edited| (id, edited)));
    let lesson = |(id, text): (usize, &String)| Lesson {
        format: 1,
        goal_id: "search".to_owned(),
        cycle: id as u64,
        timestamp: String::new(),
        text: text.clone(),
        dropped: false,
    };
    edits
        .flat_map(|(id, edited)| edited.lessons.iter().map(move |text| (id, text)))
        .map(lesson)
        .collect()
}

fn one_line(words: &str) -> String {
    mask::line(words, WORDS)
}

fn list(paths: &[String]) -> String {
    let quoted: Vec<String> = paths
        .iter()
        .map(|path| format!("`{}`", one_line(path)))
        .collect();
    quoted.join(", ")
}

/// A search of nothing much.
#[cfg(test)]
pub fn sample() -> Lineage {
    use crate::model::search::lineage::{Plan, Request, Strategy};
    Lineage::new(Plan {
        format: 1,
        strategy: Strategy::Climb,
        direction: Direction::Max,
        repeats: 3,
        agents: 1,
        until: None,
        seed: 1,
        stale: None,
        max_attempts: None,
        lenses: Vec::new(),
        has_holdout: false,
        content: "c0".to_owned(),
        request: Request {
            base: "base".to_owned(),
            fitness: "./bench.sh".to_owned(),
            files: vec!["a".to_owned()],
            ..Request::default()
        },
    })
}

/// An edit of nothing.
#[cfg(test)]
pub fn edited() -> crate::model::search::lineage::Edited {
    crate::model::search::lineage::Edited {
        status: crate::model::search::lineage::Status::Unchanged,
        content: None,
        commit: None,
        summary: None,
        reason: None,
        lessons: Vec::new(),
        left_out: Vec::new(),
        duration_s: 0.0,
        tokens: None,
        cost_usd: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::search::lineage::{Edited, Entry, Operator};

    #[test]
    fn lessons_are_kept_once_and_the_newest_are_told() {
        let mut lineage = sample();
        for id in 1..=40 {
            let proposal = Proposal {
                id,
                operator: Operator::Fresh,
                parents: vec![0],
                lens: None,
            };
            lineage.take(Entry::Attempt(proposal)).unwrap();
            let written = format!("tables are fast\n{{\"text\": \"lesson {id}\"}}\n\n");
            let lessons = learned(&known(&lineage), id, &written);
            assert_eq!(lessons.len(), if id == 1 { 2 } else { 1 }, "{lessons:?}");
            let edited = Edited {
                lessons,
                ..edited()
            };
            lineage.take(Entry::Edit { id, edited }).unwrap();
        }
        let told = lessons(&lineage);
        assert_eq!(told[0], "lesson 40");
        assert!(told.len() < 20, "{told:?}");
        let long: String = (0..600).map(|n| format!("another {n}\n")).collect();
        assert_eq!(
            learned(&known(&lineage), 41, &long).len(),
            20,
            "so many of one attempt"
        );
    }
}
