//! Findings about the agent programs. Pure.

use super::login::Login;
use super::{ANSWER_SECONDS, About, Answer, Finding, Level};
use crate::error::Error;
use crate::model::mask;
use crate::model::text::clean_line;

/// How much of what a program says of its version is shown, in characters.
const VERSION: usize = 60;

/// An agent program that is installed.
#[derive(Clone, Debug)]
pub struct AgentSeen {
    /// The word that chooses it.
    pub name: String,
    /// Where its program is.
    pub program: String,
    /// What it says of its version; none if it was not asked: a program that nobody knows could start to work.
    pub version: Option<Answer>,
    /// What can be told of its login.
    pub login: Login,
}

/// What was seen of agents.
#[derive(Clone, Debug)]
pub struct AgentsSeen {
    /// The one that a run would call, by its name or command line, and whether nobody named it; else why there is none.
    pub chosen: Result<(String, bool), Error>,
    /// Those that are installed, in the order in which they are looked for.
    pub installed: Vec<AgentSeen>,
    /// Those that are not.
    pub missing: Vec<String>,
}

/// Says which agent would be called, and which there are. `is_untold`: nobody named one, but a file that may do so
/// could not be read, which is a finding of its own.
pub fn agents(seen: &AgentsSeen, is_untold: bool) -> Vec<Finding> {
    let chosen = match &seen.chosen {
        _ if is_untold => Finding::note(
            About::Agents,
            "which one would be called cannot be told: a file that may name it cannot be read",
        ),
        Ok((name, true)) => Finding::ok(
            About::Agents,
            format!("{name} would be called: the first that is installed"),
        ),
        Ok((name, false)) => Finding::ok(About::Agents, format!("{name} would be called")),
        Err(error) => Finding::of_error(About::Agents, error),
    };
    let of_chosen = seen.chosen.as_ref().ok().map(|(name, _)| name.as_str());
    let installed = seen.installed.iter();
    let installed = installed.map(|one| installed_one(one, of_chosen == Some(one.name.as_str())));
    let names = seen.missing.join(", ");
    // Where none is installed, what to install is said already.
    let is_told = names.is_empty() || chosen.hints.iter().any(|hint| hint.contains(&names));
    let missing = (!is_told).then(|| Finding::ok(About::Agents, format!("not installed: {names}")));
    std::iter::once(chosen)
        .chain(installed)
        .chain(missing)
        .collect()
}

fn installed_one(seen: &AgentSeen, is_chosen: bool) -> Finding {
    let (version, is_odd) = match &seen.version {
        None => (String::new(), false),
        Some(Answer::Said(words)) => (format!(" {}", version_in(words, &seen.name)), false),
        Some(Answer::Failed(why)) => {
            let why = mask::line(why, VERSION);
            (format!(" (`--version` failed: {why})"), true)
        }
        Some(Answer::Silent) => {
            let silent = format!(" (`--version` had not answered after {ANSWER_SECONDS} s)");
            (silent, true)
        }
    };
    let login = match &seen.login {
        Login::Found(at) => format!(", logged in ({at})"),
        Login::NotFound(_) => ", no login found".to_owned(),
        Login::Unknown => String::new(),
    };
    let message = format!("{}{version} at {}{login}", seen.name, seen.program);
    let needs_login = match &seen.login {
        Login::NotFound(traces) if is_chosen => Some(*traces),
        Login::NotFound(_) | Login::Found(_) | Login::Unknown => None,
    };
    let level = match is_odd || needs_login.is_some() {
        true => Level::Note,
        false => Level::Ok,
    };
    let mut finding = Finding::new(About::Agents, level, message);
    if is_odd {
        let program = &seen.program;
        finding = finding.hint(format!("try it by hand: `{program} --version`"));
    }
    if let Some(traces) = needs_login {
        let of_env = traces.variables.first().copied().unwrap_or_default();
        finding = finding.hint(format!(
            "run `{}` once and log in, or set {of_env}; a login in a key chain is not seen here",
            traces.program
        ));
    }
    finding
}

/// Returns what a program says of its version, in one line and without its own name in front.
fn version_in(words: &str, name: &str) -> String {
    let line = words.lines().map(clean_line).find(|line| !line.is_empty());
    let line = line.unwrap_or_else(|| "of unknown version".to_owned());
    let bare = line.strip_prefix(name).map(str::trim_start);
    mask::line(
        bare.filter(|bare| !bare.is_empty()).unwrap_or(&line),
        VERSION,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use crate::model::doctor::traces_of;

    fn seen(version: Option<Answer>, login: Login) -> AgentsSeen {
        AgentsSeen {
            chosen: Ok(("claude".to_owned(), true)),
            installed: vec![AgentSeen {
                name: "claude".to_owned(),
                program: "/bin/claude".to_owned(),
                version,
                login,
            }],
            missing: vec!["codex".to_owned(), "pi".to_owned()],
        }
    }

    #[test]
    fn an_agent_is_told_with_its_version_and_login() {
        let said = Answer::Said("\nclaude 2.1 (Claude Code)\nmore".to_owned());
        let login = Login::Found("ANTHROPIC_API_KEY".to_owned());
        let found = agents(&seen(Some(said), login), false);
        let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "claude would be called: the first that is installed",
                "claude 2.1 (Claude Code) at /bin/claude, logged in (ANTHROPIC_API_KEY)",
                "not installed: codex, pi",
            ]
        );
        assert!(found.iter().all(|one| one.level == Level::Ok));
    }

    #[test]
    fn one_that_hangs_or_has_no_login_is_a_note_with_what_to_do() {
        let traces = traces_of("claude").expect("known");
        let found = agents(&seen(Some(Answer::Silent), Login::NotFound(traces)), false);
        assert_eq!(found[1].level, Level::Note);
        assert_eq!(
            found[1].message,
            "claude (`--version` had not answered after 2 s) at /bin/claude, no login found"
        );
        assert_eq!(found[1].hints.len(), 2);
        let mut other = seen(None, Login::NotFound(traces));
        other.chosen = Ok(("./fix.sh".to_owned(), false));
        assert_eq!(
            agents(&other, false)[1].level,
            Level::Ok,
            "it is not called"
        );
    }

    #[test]
    fn without_an_agent_the_loop_could_not_run() {
        let none = AgentsSeen {
            chosen: Err(Error::new(Kind::Agent, "none is installed").hint("install one of a, b")),
            installed: Vec::new(),
            missing: vec!["a".to_owned(), "b".to_owned()],
        };
        let found = agents(&none, false);
        assert_eq!(found[0].level, Level::Problem);
        assert_eq!(found[0].hints, ["install one of a, b"]);
        assert_eq!(found.len(), 1, "the hint names those that are missing");
    }

    #[test]
    fn which_one_would_be_called_is_not_told_where_what_may_name_it_cannot_be_read() {
        let traces = traces_of("claude").expect("known");
        let found = agents(&seen(None, Login::NotFound(traces)), true);
        assert_eq!(found[0].level, Level::Note);
        let message =
            "which one would be called cannot be told: a file that may name it cannot be read";
        assert_eq!(found[0].message, message);
    }
}
