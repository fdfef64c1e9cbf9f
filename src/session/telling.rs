//! Tells commands of the user's what became of a cycle and of the session.

use std::path::PathBuf;

use serde_json::Value;

use super::Session;
use crate::effects::clock;
use crate::effects::hook::{self, Hook};
use crate::effects::stop::Halt;
use crate::event::Event;
use crate::model::record::Record;
use crate::model::{mask, text};

/// The commands that are told something, for `sh -c`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hooks {
    /// After each cycle, with its record.
    pub on_cycle: Option<String>,
    /// At the end of the session, with how it ended.
    pub on_end: Option<String>,
}

impl Session {
    /// Has `on_cycle` told of a cycle that was recorded and committed, also where something ended the session meanwhile; but for a
    /// kill.
    pub async fn tell_cycle(&self, record: &Record) {
        let log = self.logs().join(format!("{}-on-cycle.log", record.cycle));
        if let Some(command) = &self.options.hooks.on_cycle {
            let hook = self.hook("on_cycle", command, log);
            let (supervisor, told) = (&self.measurer.supervisor, document(record));
            let failed = match self.stop.halt() {
                None => hook.run(supervisor, told).await,
                Some(Halt::Kill(..)) => None,
                Some(halt) => {
                    let limit = text::duration(hook::LIMIT.as_secs_f64());
                    let way_out = match halt.signal() {
                        Some(_) => "; a second signal does not wait for it",
                        None => "",
                    };
                    let note = format!("on_cycle is told first, which may take {limit}{way_out}");
                    self.events.note(note);
                    hook.run_last(supervisor, told)
                }
            };
            failed.into_iter().for_each(|why| self.events.warn(why));
        }
    }

    /// Has `on_end` told how the session ended: the event as programs that follow are told of it.
    pub fn tell_ending(&self, ended: &Event) {
        let log = self.logs().join("on-end.log");
        if let Some(command) = &self.options.hooks.on_end {
            let hook = self.hook("on_end", command, log);
            let told = ended.line(&clock::timestamp());
            let failed = hook.run_last(&self.measurer.supervisor, format!("{told}\n"));
            failed.into_iter().for_each(|why| self.events.warn(why));
        }
    }

    fn hook<'a>(&'a self, name: &'static str, command: &'a str, log: PathBuf) -> Hook<'a> {
        Hook {
            name,
            command,
            root: &self.home().root,
            fence: &self.measurer.fence,
            log,
            mark: format!("{}/{name}", self.id),
        }
    }
}

/// Returns a record as one line of JSON, with what looks like a secret masked.
fn document(record: &Record) -> String {
    let mut value = serde_json::to_value(record).unwrap_or(Value::Null);
    mask::value(&mut value);
    format!("{value}\n")
}
