//! What gave way to goals, and to which: the lines that say so go by the ids that are written in the end. Pure.

use super::Found;
use super::offer::{Proposal, TOLD};
use super::same::GAVE_WAY;

/// What is said behind the id of a goal by what calls the same, be it with other words.
pub(super) const MAY: &str = " may tell the same";

/// What gave way to goals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GaveWay {
    /// Which line of what is left out says so.
    line: usize,
    what: String,
    /// The ids of the goals.
    by: Vec<String>,
    how: &'static str,
    /// The check of what gave way, where it was a goal.
    pub(super) check: Option<String>,
}

impl GaveWay {
    /// Returns the line that says so.
    pub(super) fn shown(&self) -> String {
        let how = match (self.by.len(), self.how) {
            (1, how) => how,
            (_, MAY) => MAY,
            (_, _) => " tell the same",
        };
        format!("{}: {}{how}", self.what, self.by.join(", "))
    }
}

impl Found {
    /// Leaves out what goals tell, which are named by their ids.
    pub(super) fn leave_told(
        &mut self,
        what: impl Into<String>,
        by: Vec<String>,
        how: &'static str,
    ) {
        let one = GaveWay {
            line: self.left_out.len(),
            what: what.into(),
            by,
            how,
            check: None,
        };
        self.left_out.push(one.shown());
        self.gave_way.push(one);
    }

    /// Leaves out a goal that another one of this id tells.
    pub(super) fn leave_goal_told(&mut self, goal: Proposal, by: &str, how: &'static str) {
        self.leave_told(goal.source, vec![by.to_owned()], how);
        if let Some(last) = self.gave_way.last_mut() {
            last.check = Some(goal.check);
        }
    }

    /// Has what gave way to a goal, which is no more or has another id, give way to these; says whether anything did.
    pub(super) fn hands_on(&mut self, gone: &str, by: &[String], is_of_ci: bool) -> bool {
        let mut is_any = false;
        for one in &mut self.gave_way {
            let Some(at) = one.by.iter().position(|id| id == gone) else {
                continue;
            };
            is_any = true;
            one.by.splice(at..=at, by.iter().cloned());
            let mut seen = Vec::new();
            one.by.retain(|id| {
                let is_new = !seen.contains(id);
                seen.push(id.clone());
                is_new
            });
            if one.how == GAVE_WAY && !is_of_ci {
                one.how = TOLD;
            }
            self.left_out[one.line] = one.shown();
        }
        is_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gave_way_to_a_goal_that_gives_way_itself_names_the_goals_that_are_written() {
        let mut found = Found::default();
        found.leave_out("x: y");
        found.leave_told("Makefile: a", vec!["a".to_owned()], GAVE_WAY);
        found.leave_told("Makefile: b", vec!["b".to_owned()], MAY);
        assert!(found.hands_on("a", &["c".to_owned()], true));
        assert_eq!(found.left_out[1], "Makefile: a: c of CI tells the same");
        assert!(found.hands_on("c", &["d".to_owned()], false));
        assert_eq!(found.left_out[1], "Makefile: a: d tells the same");
        let both = ["d", "e"].map(str::to_owned);
        assert!(found.hands_on("d", &both, false) && found.hands_on("b", &both, false));
        assert!(!found.hands_on("z", &both, false));
        assert_eq!(
            found.left_out,
            [
                "x: y",
                "Makefile: a: d, e tell the same",
                "Makefile: b: d, e may tell the same"
            ]
        );
    }
}
