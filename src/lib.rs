//! `evolve` keeps a git repository healthy while nobody is watching: it measures every goal of `GOALS.yaml`, lets an
//! external agent fix the worst failing one, measures everything again, and keeps the change only if nothing got worse.
//!
//! How a cycle flows, each step one function that calls no earlier step:
//!
//! ```text
//! start    workspace.begin          the commit and the content an undo goes back to
//! before   choose::measure_first    fitness-N.json
//! choice   select                   the heaviest failing goal, or a work item, and why          (pure)
//!          sweep_if_due             where no goal fails, once a week: new work items
//! brief    brief::write             what the agent is told                                      (pure)
//! run      agent.work               supervised, bounded, logged, its stream read; `call` waits where it could not run
//! stock    workspace.take_stock     leftovers committed, the change listed, the yardstick held against it
//! after    attempt.measure_after    the user's untracked files and evolve's own back; fitness-N-post.json; what newly fails once more, alone
//! verdict  gate::judge              keep or undo, and why                                       (pure)
//! settled  settle::settle           nothing, or one undo commit with the start's content
//! record   settle::record           one line of cycle-history.jsonl, committed
//! ```
//!
//! Folders are layers, and a test reads the sources to see that the arrows hold: all may use `error` and `model`; `model`
//! uses only `model`; `search` and `event` use `model`; `effects` uses `model` and `event`; `view` uses `model` and `event`; `session`
//! uses `model`, `effects` and `event`, and is used by `cycle`, `engine` and `cli`; these use everything but `view`, which
//! only `cli` uses.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cli;
pub mod cycle;
pub mod engine;
pub mod error;
pub mod event;
pub mod search;
pub mod session;

/// Decisions and formats. Pure: nothing here reads a file, starts a program or asks for the time.
pub mod model {
    pub mod aftermath;
    pub mod agent;
    pub mod audit;
    pub mod brief;
    pub mod check;
    pub mod compiled;
    pub mod counted;
    pub mod digest;
    pub mod doctor;
    pub mod duration;
    pub mod emptied;
    pub mod exact;
    pub mod figures;
    pub mod gate;
    pub mod git;
    pub mod goals;
    pub mod growth;
    pub mod init;
    pub mod installed;
    pub mod lack;
    pub mod leads;
    pub mod ledger;
    pub mod lent;
    pub mod lesson;
    pub mod limit;
    pub mod mask;
    pub mod measuring;
    pub mod output;
    pub mod ratchet;
    pub mod reading;
    mod recipes;
    pub mod record;
    pub mod report;
    pub mod sandbox;
    pub mod schema;
    pub mod search;
    pub mod select;
    pub mod silenced;
    pub mod since;
    pub mod slot;
    pub mod snapshot;
    pub mod status;
    pub mod strikes;
    pub mod summary;
    pub mod sweep;
    pub mod table;
    pub mod text;
    pub mod told;
    pub mod trajectory;
    pub mod unrecorded;
    pub mod usage;
    pub mod validation;
    pub mod work;
    pub mod yardstick;
}

/// Everything that touches the outside: processes, git, files, signals, the clock.
pub mod effects {
    pub mod agent;
    pub mod audit;
    pub mod changed;
    pub mod clock;
    pub mod context;
    pub mod descriptors;
    pub mod doctor;
    pub mod ended;
    pub mod exchanged;
    pub mod excludes;
    pub mod files;
    pub mod git;
    pub mod gitfile;
    pub mod guard;
    pub mod hook;
    pub mod instead;
    pub mod isolation;
    pub mod journal;
    pub mod keep;
    pub mod led;
    pub mod ledger;
    pub mod lock;
    pub mod logs;
    pub mod look;
    pub mod measure;
    pub mod mirror;
    pub mod modes;
    pub mod near;
    pub mod papers;
    pub mod parallel;
    pub mod pause;
    pub mod pipes;
    pub mod places;
    pub mod plugins;
    pub mod private;
    pub mod proc_table;
    pub mod process;
    pub mod program;
    pub mod quarantine;
    pub mod repo;
    pub mod report;
    pub mod reports;
    pub mod sandbox;
    pub mod search;
    pub mod slot;
    pub mod stop;
    pub mod sweep;
    pub mod unrecorded;
    pub mod watch;
    pub mod within;
    pub mod workspace;
}

/// Listens and draws; a run does not know whether anybody does.
pub mod view {
    pub mod audit;
    pub mod board;
    pub mod cycle;
    pub mod doctor;
    pub mod echo;
    pub mod github;
    pub mod history;
    pub mod init;
    pub mod json;
    pub mod junit;
    pub mod lessons;
    pub mod live;
    pub mod outputs;
    pub mod plain;
    pub mod ratchet;
    pub mod report;
    pub mod search;
    pub mod search_question;
    pub mod snippet;
    pub mod status;
    pub mod style;
    pub mod tables;
    pub mod validation;
    pub mod width;

    #[cfg(test)]
    mod samples;
}
