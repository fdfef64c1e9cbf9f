//! `evolve` keeps a git repository healthy while nobody is watching. So far: its decisions and formats.

#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod error;

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
