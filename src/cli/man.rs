//! `evolve man`: a manual page for each command, made from what the command line is told of.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::cli::arguments::{Arguments, Global};
use crate::cli::print::print;
use crate::effects::files;
use crate::error::{Error, Result};

/// Prints the page of the whole, or writes a page for each command into a folder, which is made if need be.
pub fn man(global: &Global, folder: Option<&Path>) -> Result<u8> {
    let mut command = Arguments::command();
    command.build();
    let Some(folder) = folder else {
        print(&page(&of(command))?);
        return Ok(0);
    };
    files::make_folder(folder)?;
    let mut pages = Vec::new();
    collect(command, &mut pages);
    for one in &pages {
        let path = folder.join(one.get_filename());
        files::deliver(&path, page(one)?.as_bytes())?;
        global.say(&format!("{}\n", path.display()));
    }
    Ok(0)
}

/// Adds the page of a command, then those of the commands below it.
fn collect(command: Command, pages: &mut Vec<Man>) {
    // The library's own `help` repeats all commands below itself.
    let is_repeating = |one: &Command| one.get_name() == "help" && one.has_subcommands();
    let below = command.get_subcommands();
    let below = below.filter(|one| !one.is_hide_set() && !is_repeating(one));
    let below: Vec<Command> = below.cloned().collect();
    pages.push(of(command));
    for one in below {
        collect(one, pages);
    }
}

fn of(command: Command) -> Man {
    let source = format!("evolve {}", env!("CARGO_PKG_VERSION"));
    Man::new(command).source(source)
}

fn page(man: &Man) -> Result<String> {
    let mut page = Vec::new();
    let rendered = man.render(&mut page);
    rendered.map_err(|cause| Error::internal(format!("BUG: {cause}")))?;
    String::from_utf8(page).map_err(|cause| Error::internal(format!("BUG: {cause}")))
}
