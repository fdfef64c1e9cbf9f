//! Scripts that check: `scripts/check-*.sh`; and what any script comes to as a goal. Pure.

use super::super::called::Task;
use super::super::known;
use super::super::offer::{Proposal, Role, script_tells_nothing, slug, tells_nothing};
use super::super::plainly::called_plainly;
use super::super::writers;
use super::super::{Found, Look, split};
use super::TaskFiles;
use crate::model::{check, text};

fn is_script(path: &str) -> bool {
    let (folder, name) = split(path);
    folder == "scripts" && name.starts_with("check-") && name.ends_with(".sh")
}

/// Proposes each script that checks: `scripts/check-*.sh`.
pub(super) fn propose(look: &dyn Look, files: &TaskFiles, found: &mut Found) {
    let all: Vec<&String> = look.files().iter().filter(|path| is_script(path)).collect();
    if !all.is_empty() {
        found.kinds.push("scripts/check-*.sh".to_owned());
    }
    for path in all {
        let stem = split(path).1.trim_end_matches(".sh");
        match goal(look, files, path, (Role::Structure, &slug(stem))) {
            Ok(goal) => found.proposals.push(goal),
            Err(why) => found.leave_out(format!("{path}: {why}")),
        }
    }
}

/// Makes a goal of a script, by its role and its id, or says why it makes none.
pub(super) fn goal(
    look: &dyn Look,
    files: &TaskFiles,
    path: &str,
    (role, id): (Role, &str),
) -> Result<Proposal, String> {
    let texts_of = |task: &Task| files.texts_of("", task);
    let body = look.read(path).unwrap_or_default();
    let run = called_plainly(&body);
    let tells_nothing = || match check::is_shells(path, &body) {
        true => script_tells_nothing(&run, &texts_of),
        false => tells_nothing(&run, &texts_of),
    };
    let why = writers::of_script(path, &run, &texts_of);
    if let Some(why) = why.or_else(|| tells_nothing().map(str::to_owned)) {
        return Err(why);
    }
    let word = text::shell_word(path);
    let check = match (look.is_executable(path), body.lines().next()) {
        (true, Some(line)) if line.starts_with("#!") => match word.contains('/') {
            true => word,
            false => format!("./{word}"),
        },
        (_, Some(line)) if line.starts_with("#!") && line.contains("bash") => {
            format!("bash {word}")
        }
        (_, _) => format!("sh {word}"),
    };
    let says = purpose(&body).unwrap_or_else(|| finds_nothing(path));
    let goal = Proposal::new(role, id, "", check)
        .says(says)
        .seen_in(path)
        .same_as(&[path]);
    Ok(match known::strange_script(look, &texts_of, path, &run) {
        Some(why) => goal.lacks(why),
        None => goal,
    })
}

/// Returns what should hold of a script that says nothing of itself.
pub(super) fn finds_nothing(path: &str) -> String {
    format!("{path} finds nothing")
}

/// Returns what a script says of itself: the first comment below its first line.
fn purpose(body: &str) -> Option<String> {
    let comments = body.lines().take(20).filter(|line| !line.starts_with("#!"));
    let mut comments = comments.filter_map(|line| line.strip_prefix('#'));
    let first = comments.find(|line| line.chars().filter(|c| c.is_alphabetic()).count() > 8)?;
    let first = first.trim_matches(['#', ' ', '\t', '-', '=']);
    let is_note = first.starts_with("shellcheck") || first.to_lowercase().contains("copyright");
    (!is_note && !first.is_empty()).then(|| first.to_owned())
}
