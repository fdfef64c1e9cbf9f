//! Behaviour of the program: real repositories, real processes, one scripted agent.

mod harness;

mod agents;
mod attacks;
mod audit;
mod clean;
mod commands;
mod cycle;
mod demo;
mod formats;
mod git_folder;
mod hanging;
mod input;
mod isolate;
mod journal;
mod kill_switch;
mod layers;
mod measuring;
mod objects;
mod others;
mod planted;
mod processes;
mod queue;
mod readings;
mod recovery;
mod refs;
mod sandbox;
mod secrets;
mod selection;
mod slots;
mod stopping;
mod sweep;
mod undo;
mod user_files;
mod verdict;
mod yardstick;
