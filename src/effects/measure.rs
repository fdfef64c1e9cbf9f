//! Runs the checks of goals, several at once, and turns how each ended into a measurement.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;
use tokio::task::LocalSet;

use crate::effects::process::{Ending, Job, Ran, Stdout, Supervisor, TAIL_BYTES};
use crate::effects::reports;
use crate::effects::sandbox::Fence;
use crate::effects::stop::{Halt, Stop};
use crate::effects::{clock, program};
use crate::event::{Event, Events};
use crate::model::goals::{DEFAULT_CHECK_TIMEOUT, Goal, Goals};
use crate::model::measuring::{self, Outcome};
use crate::model::reading::{Reading, Source};
use crate::model::snapshot::Measurement;

/// The most bytes of a check's log.
const LOG_LIMIT: u64 = 16 << 20;
/// The most of what a check prints that is kept for a value.
const OUTPUT_BYTES: usize = 16 << 20;

/// How long a question to a program that checks call may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// What measuring needs, beside the goals.
#[derive(Clone, Debug)]
pub struct Measurer {
    /// Starts and ends the checks.
    pub supervisor: Supervisor,
    /// Ends them all.
    pub stop: Stop,
    /// Who is told.
    pub events: Events,
    /// The root of the repository, where the checks run and reports lie.
    pub root: PathBuf,
    /// How many run at once.
    pub jobs: usize,
    /// The session, which marks their processes.
    pub session: String,
    /// What holds the checks back.
    pub fence: Fence,
}

impl Measurer {
    /// Returns one that measures at another root, held back there.
    #[must_use]
    pub fn at(&self, root: &Path, fence: Fence) -> Measurer {
        Measurer {
            root: root.to_owned(),
            fence,
            ..self.clone()
        }
    }

    /// Measures `chosen` goals and returns one measurement each, in the order given. Those that are expected to take the
    /// longest start first; those that must be alone run after all others.
    pub async fn measure(
        &self,
        goals: &Goals,
        chosen: &[&Goal],
        expected: &HashMap<String, f64>,
        logs: Option<&Path>,
    ) -> Result<Vec<Measurement>, Halt> {
        let (measured, halt) = self.as_far(goals, chosen, expected, logs).await;
        halt.map_or(Ok(measured), Err)
    }

    /// Measures like that; where something ends it, returns what was measured until then, and what ended it.
    pub async fn as_far(
        &self,
        goals: &Goals,
        chosen: &[&Goal],
        expected: &HashMap<String, f64>,
        logs: Option<&Path>,
    ) -> (Vec<Measurement>, Option<Halt>) {
        let order = measuring::order(chosen, expected);
        let slots = Rc::new(Semaphore::new(self.jobs.max(1)));
        let tasks = LocalSet::new();
        let mut running = Vec::new();
        for index in order.together {
            let slot = Rc::clone(&slots);
            let one = self.clone();
            let goal = chosen[index].clone();
            let (timeout, expected_s) = times(goals, &goal, expected);
            let logs = logs.map(Path::to_owned);
            running.push((
                index,
                tasks.spawn_local(async move {
                    let _slot = slot
                        .acquire()
                        .await
                        .expect("BUG: the semaphore is never closed");
                    one.check(&goal, timeout, expected_s, logs.as_deref()).await
                }),
            ));
        }
        let mut results: Vec<Option<Measurement>> = vec![None; chosen.len()];
        tasks
            .run_until(async {
                for (index, task) in running {
                    results[index] = task.await.expect("BUG: a check's task panicked");
                }
            })
            .await;
        for index in order.alone {
            let (timeout, expected_s) = times(goals, chosen[index], expected);
            let measured = self.check(chosen[index], timeout, expected_s, logs);
            results[index] = measured.await;
        }
        (results.into_iter().flatten().collect(), self.stop.halt())
    }

    /// Runs one check; none if everything was ended before it could be.
    async fn check(
        &self,
        goal: &Goal,
        timeout: Duration,
        expected_s: Option<f64>,
        logs: Option<&Path>,
    ) -> Option<Measurement> {
        if self.stop.halt().is_some() {
            return None;
        }
        self.events.send(Event::CheckStarted {
            goal_id: goal.id.clone(),
            expected_s,
        });
        let start = clock::file_time();
        let ran = self.supervisor.run(self.job(goal, timeout, logs)).await;
        if ran.ending == Ending::Stopped {
            return None;
        }
        if !ran.unkillable.is_empty() {
            let pids = &ran.unkillable;
            self.events.warn(format!(
                "the check of {} left processes that could not be ended: {pids:?}",
                goal.id
            ));
        }
        let measurement = self.read_off(goal, &ran, timeout, start);
        self.events.send(Event::CheckFinished {
            measurement: measurement.clone(),
        });
        Some(measurement)
    }

    /// Runs a command where and as checks run; returns its exit code, if it ended with one.
    pub async fn ask(&self, command: &str) -> Option<i32> {
        let job = self.job_of(command, "question");
        let ran = self.supervisor.run(Job {
            timeout: ANSWER_TIMEOUT,
            ..job
        });
        ran.await.ending.exit_code()
    }

    fn job(&self, goal: &Goal, timeout: Duration, logs: Option<&Path>) -> Job {
        let (tail_limit, stdout) = match reading(goal) {
            Some(Reading::LastNumber) => (TAIL_BYTES, Stdout::End),
            Some(Reading::Json { file: None, .. }) => (TAIL_BYTES, Stdout::Start(OUTPUT_BYTES)),
            Some(Reading::Regex(_)) => (OUTPUT_BYTES, Stdout::Merged),
            None
            | Some(
                Reading::Json { file: Some(_), .. }
                | Reading::Lcov { .. }
                | Reading::Cobertura { .. }
                | Reading::Junit { .. }
                | Reading::Sarif { .. }
                | Reading::Hyperfine { .. }
                | Reading::Criterion { .. },
            ) => (TAIL_BYTES, Stdout::Merged),
        };
        Job {
            log: logs.map(|logs| logs.join(format!("{}.log", goal.id))),
            timeout,
            tail_limit,
            stdout,
            ..self.job_of(&goal.check, &format!("check/{}", goal.id))
        }
    }

    /// Returns what runs a command as checks run, without a log.
    fn job_of(&self, command: &str, name: &str) -> Job {
        Job {
            argv: self.fence.around(
                [program::shell(), "-c".as_ref(), command.as_ref()]
                    .map(OsStr::to_owned)
                    .to_vec(),
            ),
            folder: Some(self.root.clone()),
            env: self.fence.env.clone(),
            stdin: None,
            log: None,
            log_limit: LOG_LIMIT,
            timeout: DEFAULT_CHECK_TIMEOUT,
            idle_timeout: None,
            tail_limit: TAIL_BYTES,
            stdout: Stdout::Merged,
            mark: format!("{}/{name}", self.session),
        }
    }

    fn read_off(
        &self,
        goal: &Goal,
        ran: &Ran,
        timeout: Duration,
        start: SystemTime,
    ) -> Measurement {
        let source = reading(goal).map_or(Source::Output, Reading::source);
        let (reports, note) = match reports::read(&self.root, &source, start) {
            Ok(found) => (Ok(found.reports), found.note),
            Err(why) => (Err(why), None),
        };
        measuring::measurement(
            goal,
            &Outcome {
                exit: ran.ending.exit_code(),
                fault: fault(&ran.ending, timeout).as_deref(),
                duration: ran.duration,
                stdout: &String::from_utf8_lossy(&ran.stdout),
                combined: &String::from_utf8_lossy(&ran.tail),
                reports: reports.as_deref().map_err(String::as_str),
                note: note.as_deref(),
            },
        )
    }
}

fn reading(goal: &Goal) -> Option<&Reading> {
    goal.continuous.as_ref().map(|continuous| &continuous.read)
}

/// Returns how long a check may take, and how long it is expected to.
fn times(goals: &Goals, goal: &Goal, expected: &HashMap<String, f64>) -> (Duration, Option<f64>) {
    let limit = goal.timeout.or(goals.settings.timeout);
    let limit = limit.unwrap_or(DEFAULT_CHECK_TIMEOUT);
    (limit, expected.get(&goal.id).copied())
}

/// Says why a check has no exit code.
fn fault(ending: &Ending, timeout: Duration) -> Option<String> {
    match ending {
        Ending::Exited(_) => None,
        Ending::Signalled(number) => Some(format!("ended by signal {number}")),
        Ending::TimedOut | Ending::Idle => Some(format!(
            "timed out after {}",
            humantime::format_duration(timeout)
        )),
        Ending::Stopped => Some("stopped".to_owned()),
        Ending::NotStarted(why) => Some(format!("could not be started: {why}")),
    }
}
