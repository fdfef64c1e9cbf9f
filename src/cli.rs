//! The command line: one short function for each command.

mod arguments;
mod audit;
mod bounds;
mod ci;
mod commands;
mod complete;
mod config;
mod deliver;
mod demo;
mod doctor;
mod headings;
mod help;
mod here;
mod init;
mod inspect;
mod lessons;
mod man;
mod measure;
mod not_utf8;
mod options;
mod pages;
mod past;
mod place;
mod print;
mod ratchet;
mod report;
mod search;
mod start;
mod steer;
mod undo;
mod validate;
mod watch;
mod written;

use std::ffi::OsString;

use clap::CommandFactory;

use crate::effects::{process, sandbox};
use crate::error::Result;
use crate::model::mask;
use crate::model::work::Closed;

use commands::{Command, Demonstration, LessonAction, WorkAction};

pub use arguments::Arguments;
pub use print::{print_error, shown};

/// Answers a shell that asks how a command line may go on, and ends the program then.
pub fn answer_shell() {
    complete::answer(Arguments::command);
}

/// Does what this program asks of itself in another process, where the arguments say so; returns the exit code then.
pub fn hidden(mut arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    let command = arguments.nth(1)?;
    if command == process::SUPERVISE {
        return Some(process::supervise(arguments));
    }
    if command == process::keeper::KEEP {
        return Some(process::keeper::main(arguments));
    }
    (command == sandbox::COMMAND).then(|| sandbox::enter(arguments))
}

/// Does what was asked for; returns the exit code. What could not be written to stdout is an error.
pub fn run(arguments: Arguments) -> Result<u8> {
    process::outlive_size_limit();
    print::ended(answer(arguments))
}

fn answer(arguments: Arguments) -> Result<u8> {
    let Arguments {
        command,
        mut global,
        mut run,
    } = arguments;
    if let Some(command) = &command {
        command.shared().apply(&mut global, &mut run);
    }
    mask::learn(
        std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }),
    );
    global.apply_color();
    if global.verbose > 1 {
        print::trace();
    }
    if let Some(dir) = &global.dir {
        place::go_to(dir, command.is_none() && !run.dry_run)?;
    }
    let annotated = global.clone();
    let answer = match command {
        None if run.dry_run => measure::dry_run(&global, &run),
        None => start::run_loop(&global, &run),
        Some(Command::Init(options)) => init::init(&global, &run, &options),
        Some(Command::Measure {
            ids, json, gate, ..
        }) => measure::measure(&global, &run, &ids, json, gate),
        Some(Command::Validate { json, .. }) => validate::validate(&global, json),
        Some(Command::Status { json, .. }) => inspect::status(&global, json),
        Some(Command::Doctor { json, .. }) => doctor::doctor(&global, &run, json),
        Some(Command::History(options)) => past::history(&global, &options),
        Some(Command::Show(options)) => past::show(&global, &options),
        Some(Command::Report(options)) => report::report(&global, &options),
        Some(Command::Audit {
            json, remeasure, ..
        }) => audit::audit(&global, &run, json, remeasure),
        Some(Command::Undo { cycle, .. }) => start::undo(&global, &run, cycle),
        Some(Command::Ratchet { apply, json, .. }) => ratchet::ratchet(&global, &run, apply, json),
        Some(Command::Work { action: None }) => inspect::work_list(&global, false),
        Some(Command::Work {
            action: Some(WorkAction::List { json }),
        }) => inspect::work_list(&global, json),
        Some(Command::Work {
            action: Some(WorkAction::Add(item)),
        }) => steer::work_add(&global, &item),
        Some(Command::Work {
            action: Some(WorkAction::Drop { items }),
        }) => steer::work_close(&global, &items, Closed::Dropped),
        Some(Command::Work {
            action: Some(WorkAction::Done { items }),
        }) => steer::work_close(&global, &items, Closed::Done),
        Some(Command::Lessons { action: None }) => lessons::list(&global, None, false),
        Some(Command::Lessons {
            action: Some(LessonAction::List { goal, json }),
        }) => lessons::list(&global, goal.as_deref(), json),
        Some(Command::Lessons {
            action: Some(LessonAction::Drop { lesson }),
        }) => lessons::drop(&global, &lesson),
        Some(Command::Search(command)) => search::search(&global, &command),
        Some(Command::Stop(options)) => steer::stop(&global, &options),
        Some(Command::Retry { ids, all, .. }) => steer::retry(&global, &ids, all),
        Some(Command::Schema { name }) => inspect::schema(name.as_deref()),
        Some(Command::Demo { what, keep_in, .. }) => {
            let shown = match what {
                Demonstration::Loop => demo::demo,
                Demonstration::Search => demo::search::demo,
            };
            shown(&global, keep_in.as_deref(), run.progress)
        }
        Some(Command::Help { words }) => help::help(&words),
        Some(Command::Completions { shell }) => {
            print::print(&complete::set_up(shell)?);
            Ok(0)
        }
        Some(Command::Man { out }) => man::man(&global, out.as_deref()),
    };
    answer.inspect_err(|error| ci::annotate(&annotated, error))
}
