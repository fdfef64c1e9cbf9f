//! A search: what it is asked for, its lineage of attempts, what an attempt is told, how its score is read, and what views show.
//! What is tried next is decided in `crate::search`.

pub mod brief;
pub mod call;
pub mod editable;
pub mod file;
pub mod lens;
pub mod lineage;
pub mod score;
pub mod view;
