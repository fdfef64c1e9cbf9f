//! What is known of an attempt, for the program that is the agent: one JSON document beside the brief. Pure.

use serde_json::{Value, json};

use crate::model::mask;
use crate::model::search::brief::{Material, lessons};
use crate::model::search::lens;
use crate::model::search::lineage::{Attempt, Id, Word};

/// Version of the format.
const FORMAT: u32 = 1;

/// Returns the document. The hold-out is not in it: agents are not told of it. What looks like a secret is masked.
pub fn call(material: &Material<'_>, nth: usize) -> Value {
    let Material {
        lineage,
        proposal,
        standing,
    } = *material;
    let (plan, request) = (&lineage.plan, &lineage.plan.request);
    let ended = |id: Id| standing.endings.get(id as usize);
    let one = |id: Id| {
        let edited = lineage.attempt(id).edited();
        let commit = edited.and_then(|edited| edited.commit.as_deref());
        let summary = edited.and_then(|edited| edited.summary.as_deref());
        let shown = (id == 0).then_some(request.base.as_str());
        json!({
            "id": id,
            "commit": commit.or(shown),
            "score": ended(id).and_then(|(_, score)| *score),
            "ending": ended(id).map(|(ending, _)| *ending).filter(|_| id > 0),
            "summary": summary,
            "reason": lineage.attempt(id).problem(),
        })
    };
    let is_sibling = |attempt: &&Attempt| {
        let other = attempt.proposal.as_ref();
        other.is_some_and(|other| other.parents == proposal.parents && other.id < proposal.id)
    };
    let tried = lineage.attempts.iter().filter(is_sibling);
    let tried = tried.filter_map(|attempt| attempt.proposal.as_ref());
    let tried: Vec<Value> = tried.map(|other| one(other.id)).collect();
    let instructions = lineage.notes.iter().filter_map(|note| match &note.word {
        Word::Instruction(words) if note.after < proposal.id => Some(words.as_str()),
        Word::Instruction(_) | Word::Prune(_) | Word::Adjust(_) => None,
    });
    let earlier = lineage.attempt(proposal.id).edits.iter();
    let findings = earlier.filter_map(|edited| edited.reason.as_deref());
    let lens = proposal
        .lens
        .as_deref()
        .map(|lens| json!({"name": lens::name(lens), "meaning": lens::meaning(lens)}));
    let mut document = json!({
        "format": FORMAT,
        "role": "edit",
        "attempt": proposal.id,
        "try": nth + 1,
        "operator": proposal.operator.word(),
        "lens": lens,
        "objective": request.objective,
        "direction": plan.direction.word(),
        "fitness": request.fitness,
        "gates": request.gates,
        "files": request.files,
        "frozen": request.told_frozen(),
        "protect": request.protect,
        "baseline": one(0),
        "best": one(standing.best),
        "parents": proposal.parents.iter().map(|id| one(*id)).collect::<Vec<_>>(),
        "tried": tried,
        "instructions": instructions.collect::<Vec<_>>(),
        "lessons": lessons(lineage),
        "findings": findings.collect::<Vec<_>>(),
    });
    masked(&mut document);
    document
}

/// Masks what looks like a secret in every text.
fn masked(value: &mut Value) {
    match value {
        Value::String(text) => *text = mask::secrets(text),
        Value::Array(list) => list.iter_mut().for_each(masked),
        Value::Object(map) => map.values_mut().for_each(masked),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema;
    use crate::model::search::brief::{self, Told, sample};
    use crate::model::search::lineage::{Edited, Entry, Note, Operator, Proposal, Status};

    #[test]
    fn an_agent_finds_all_that_is_known_but_the_holdout() {
        let mut lineage = sample();
        lineage.plan.request.holdout = Some("./secret-holdout.sh".to_owned());
        let proposal = |id| Proposal {
            id,
            operator: Operator::Mutation,
            parents: vec![0],
            lens: Some("caching: nothing computed twice".to_owned()),
        };
        let edited = Edited {
            status: Status::Changed,
            content: Some("c1".to_owned()),
            commit: Some("k1".to_owned()),
            summary: Some("a table".to_owned()),
            lessons: vec!["sorting is not the bottleneck".to_owned()],
            ..brief::edited()
        };
        for entry in [
            Entry::Attempt(proposal(1)),
            Entry::Edit { id: 1, edited },
            Entry::Note(Note {
                after: 1,
                word: Word::Instruction("leave the parser alone".to_owned()),
            }),
            Entry::Attempt(proposal(2)),
        ] {
            lineage.take(entry).unwrap();
        }
        let material = Material {
            lineage: &lineage,
            proposal: &proposal(2),
            standing: &Told {
                best: 1,
                endings: vec![("accepted", Some(1.0)), ("accepted", Some(2.5))],
            },
        };
        let document = call(&material, 0);
        assert_eq!(schema::check("call", &document), Ok(()));
        assert_eq!(document["lens"]["name"], "caching");
        assert_eq!(document["best"]["score"], 2.5);
        assert_eq!(document["parents"][0]["commit"], "base");
        assert_eq!(document["tried"][0]["summary"], "a table");
        assert_eq!(document["instructions"][0], "leave the parser alone");
        assert_eq!(document["lessons"][0], "sorting is not the bottleneck");
        assert!(!document.to_string().contains("holdout"), "{document}");
        let brief = brief::write(&material);
        assert!(brief.contains("- sorting is not the bottleneck"), "{brief}");
        assert!(
            brief.contains("**caching** (nothing computed twice)"),
            "{brief}"
        );
    }
}
