//! `evolve man`: a manual page for each command, made from what the command line is told of.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::cli::arguments::Arguments;
use crate::cli::options::Global;
use crate::cli::pages::PAGES;
use crate::cli::print::print;
use crate::effects::files;
use crate::error::{Error, Result};

/// The page of the whole.
const OF_THE_WHOLE: &str = "evolve.1";

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
    let page = String::from_utf8(page);
    let mut page = page.map_err(|cause| Error::internal(format!("BUG: {cause}")))?;
    page.push_str(&section("EXIT STATUS", "exit-codes"));
    match man.get_filename() == OF_THE_WHOLE {
        true => page.push_str(&section("FILES", "files")),
        false => page.push_str(".SH SEE ALSO\n\\fBevolve\\fR(1), which names all files\n"),
    }
    Ok(page)
}

/// Returns what `evolve help` says on a page as a section, laid out as it is there.
fn section(name: &str, page: &str) -> String {
    let text = PAGES.iter().find(|(known, ..)| *known == page);
    let text = text.map_or("", |(.., text)| text);
    // The first line is the heading there.
    let lines = text.lines().skip(1).skip_while(|line| line.is_empty());
    let lines: String = lines.map(|line| format!("{}\n", roff(line))).collect();
    format!(".SH \"{name}\"\n.nf\n{lines}.fi\n")
}

/// Returns a line of text as one of roff: nothing in it is a request.
fn roff(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line,
    }
}
