//! `evolve` keeps a git repository healthy while nobody is watching. So far: its decisions and formats, and everything that
//! touches the outside.

#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod error;
pub mod event;

/// Decisions and formats. Pure: nothing here reads a file, starts a program or asks for the time.
pub mod model {
    pub mod brief;
    pub mod check;
    pub mod digest;
    pub mod duration;
    pub mod gate;
    pub mod goals;
    pub mod ledger;
    pub mod lesson;
    pub mod mask;
    pub mod measuring;
    pub mod reading;
    pub mod record;
    pub mod schema;
    pub mod select;
    pub mod snapshot;
    pub mod status;
    pub mod strikes;
    pub mod summary;
    pub mod text;
    pub mod trajectory;
    pub mod work;
    pub mod yardstick;
}

/// Everything that touches the outside: processes, git, files, signals, the clock.
pub mod effects {
    pub mod agent;
    pub mod clock;
    pub mod context;
    pub mod excludes;
    pub mod files;
    pub mod git;
    pub mod journal;
    pub mod keep;
    pub mod ledger;
    pub mod lock;
    pub mod measure;
    pub mod proc_table;
    pub mod process;
    pub mod quarantine;
    pub mod repo;
    pub mod stop;
    pub mod workspace;
}
