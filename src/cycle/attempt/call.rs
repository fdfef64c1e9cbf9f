//! The agent's call in a cycle: where it works, what it is told, and what it cost.

use super::Attempt;
use crate::effects::agent::{self, AgentRun, Call, Variable};
use crate::effects::sandbox::Ground;
use crate::effects::workspace::Start;
use crate::effects::{excludes, files, stop};
use crate::error::Result;
use crate::event::Event;
use crate::model::check;
use crate::model::limit;
use crate::model::select::Task;
use crate::model::usage::Usage;
use crate::session::{Progress, Session};

/// The most frozen files that a sandbox is told of one by one.
const FROZEN_MOUNTS: usize = 200;

impl Attempt<'_> {
    /// Returns the agent's place of work; what the checks run stays there as it is, but for the goals, which may grow.
    fn ground(&self, session: &Session) -> Ground {
        let mut ground = session.repo.ground();
        let frozen = self
            .yardstick
            .iter()
            .flat_map(|yardstick| &yardstick.frozen);
        let frozen = frozen.map(|path| session.repo.root.join(path));
        ground.keep.extend(frozen.take(FROZEN_MOUNTS));
        ground
    }

    pub(super) async fn call(
        &self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
    ) -> Result<AgentRun> {
        let again = match progress.refusals {
            0 => String::new(),
            before => format!("-{}", before + 1),
        };
        let log = session
            .logs()
            .join(format!("{}-agent{again}.log", start.cycle));
        let folder = session.logs().join(format!("{}-agent", start.cycle));
        let name = session.agent.name.clone();
        // It can be followed from the start, whenever the agent says its first word.
        files::begin(&log)?;
        let shown = log.strip_prefix(&session.home().root).unwrap_or(&log);
        session.events.send(Event::AgentStarted {
            name,
            log: shown.display().to_string(),
        });
        let (goal_id, checks) = match self.task {
            Task::Goal(id) => {
                let goal = self.goals.find(id);
                (id.as_str(), goal.map(|goal| check::permitted(&goal.check)))
            }
            Task::Item(_) => ("", None),
        };
        let of_git = session.repo.git.all_settings()?;
        let excludes = excludes::write(&session.repo, &of_git, &start.kept)?;
        let ground = self.ground(session);
        let call = Call {
            root: &session.repo.root,
            session: &session.id,
            variables: variables(start, goal_id, agent::git_settings(&of_git, &excludes)),
            checks: &checks.unwrap_or_default(),
            max_cost: limit::left(&session.options.limits, &progress.spent),
            brief: &self.brief,
            brief_file: &self.brief_file,
            log,
            folder: &folder,
            open: &|| session.open(start),
            sandbox: (&session.sandbox, &ground),
            is_kept: false,
        };
        session.stop.note_agent(Some(start.cycle));
        let run = session
            .agent
            .work(&session.measurer.supervisor, &session.events, call)
            .await;
        if let Some(isolation) = &session.isolation {
            let when = stop::while_agent_of(start.cycle);
            session.stop.heed_in_copy(&isolation.slot.root, &when);
        }
        session.stop.note_agent(None);
        let run = run?;
        // What a person asked `evolve` itself to do costs nothing.
        if session.options.errand.is_none() {
            progress.spent.add(Usage {
                tokens: run.report.tokens,
                cost_usd: run.report.cost_usd,
            });
        }
        Ok(run)
    }
}

/// Returns what a cycle's agent is told by variables, beside what its git goes by.
fn variables(start: &Start, goal_id: &str, mut of_git: Vec<Variable>) -> Vec<Variable> {
    of_git.extend([
        ("EVOLVE_CYCLE".into(), start.cycle.to_string().into()),
        ("EVOLVE_GOAL_ID".into(), goal_id.into()),
        // Marks the agent's movements of refs, so that somebody else's are told apart.
        ("GIT_REFLOG_ACTION".into(), start.mark().into()),
    ]);
    of_git
}
