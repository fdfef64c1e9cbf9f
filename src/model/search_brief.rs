//! What the agent of an attempt is told. Of code it is told nothing but where its parents' is. Pure.

use minijinja::{Environment, UndefinedBehavior, context};

use crate::model::lineage::{Attempt, Direction, Id, Lineage, Proposal, Word};
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
            Some(context! { id, ending, score => score(id), summary => summary.map(one_line) })
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
        lens => proposal.lens.as_deref().map(one_line),
        objective => request.objective.as_deref().map(one_line),
        direction,
        fitness => one_line(&request.fitness),
        baseline => known(0),
        best => standing.best,
        best_score => known(standing.best),
        files => list(&request.files),
        frozen => list(&request.frozen),
        gates => request.gates.iter().map(|gate| one_line(gate)).collect::<Vec<_>>(),
        parents, siblings, instructions,
    };
    let text = environment
        .render_str(include_str!("search_brief.md.j2"), values)
        .expect("BUG: the brief's template is broken");
    mask::secrets(&text)
}

fn one_line(words: &str) -> String {
    text::cut(&text::clean_line(words), WORDS).to_string()
}

fn list(paths: &[String]) -> String {
    let quoted: Vec<String> = paths
        .iter()
        .map(|path| format!("`{}`", one_line(path)))
        .collect();
    quoted.join(", ")
}
