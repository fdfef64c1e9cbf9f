//! `evolve init`: looks at the repository, writes its goals file or proposes what one lacks, and measures at once.

use std::fs::OpenOptions;
use std::io::{BufRead, ErrorKind, IsTerminal, Write};
use std::path::Path;

use clap::Args;

use crate::cli::here::{current_dir, goals_file, refuse_beside_loop};
use crate::cli::measure::measure;
use crate::cli::options::{Global, GoalsOption, JobsOption, RunOptions};
use crate::cli::print::print;
use crate::cli::start;
use crate::effects::files;
use crate::effects::look::{self, Disk};
use crate::effects::program;
use crate::effects::repo::Repo;
use crate::error::{Error, Kind, Result};
use crate::model::goals::{self, Goals};
use crate::model::init::{self, COVERAGE, Found, Wishes};
use crate::model::{output, text};
use crate::session::GoalsFile;
use crate::view::{init as view, width};

/// Options of `evolve init`. Each question has one; where no terminal is, its default counts.
#[derive(Clone, Debug, Args)]
pub(super) struct InitOptions {
    /// Propose the goals that the file lacks; on a terminal, add them where you say so
    #[arg(long)]
    pub(super) add: bool,
    /// With --add: add them without asking; nothing that you wrote in the file changes
    #[arg(long, requires = "add")]
    pub(super) write: bool,
    /// Make goals of what GitHub's workflows and GitLab's jobs run [default: asked, else false]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false", hide_possible_values = true)]
    pub(super) from_ci: Option<bool>,
    /// How many percent of the lines tests should run, where the project does not say [default: asked, else 80]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(super) coverage: Option<f64>,
    /// Measure nothing
    #[arg(long)]
    pub(super) no_measure: bool,
    #[command(flatten)]
    pub(super) file: GoalsOption,
    #[command(flatten)]
    pub(super) checks: JobsOption,
}

/// Reads percent of something, more than none.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches('%').trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 100.0 => Ok(number),
        Ok(_) | Err(_) => Err("write a number from 1 to 100".to_owned()),
    }
}

/// How often a question is asked again before its default counts.
const TRIES: usize = 3;

/// One call of the command.
struct Call<'a> {
    global: &'a Global,
    run: &'a RunOptions,
    options: &'a InitOptions,
    repo: &'a Repo,
    file: &'a GoalsFile,
}

/// Writes the goals file, or adds to it, and measures.
pub fn init(global: &Global, run: &RunOptions, options: &InitOptions) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let file = goals_file(global, &repo)?;
    let call = Call {
        global,
        run,
        options,
        repo: &repo,
        file: &file,
    };
    match options.add {
        true => call.add(),
        false => call.write(),
    }
}

impl Call<'_> {
    fn write(&self) -> Result<u8> {
        if std::fs::symlink_metadata(&self.file.path).is_ok() {
            return Err(is_there(&self.file.shown, &self.option()));
        }
        refuse_beside_loop(self.repo)?;
        let disk = Disk::of(self.repo)?;
        let mut found = self.look(&disk)?;
        let page = init::file(&found, &self.repo.name());
        let goals = understood(&page)?;
        self.note_on_ci(&disk, &goals, &page, &mut found);
        // Looking and answers take a while.
        refuse_beside_loop(self.repo)?;
        create(&self.file.path, page.as_bytes(), &self.file.shown)?;
        let width = width::of_terminal();
        let all = self.global.verbose > 0;
        self.global
            .say(&view::written(&found, &self.file.shown, all, width));
        self.measure(&[], &found)
    }

    /// Proposes what the file lacks, and appends it where that is wished.
    fn add(&self) -> Result<u8> {
        if !self.file.path.exists() {
            return Err(
                Error::usage(format!("there is no {} to add to", self.file.shown))
                    .hint(format!("`evolve init{}` writes one", self.option())),
            );
        }
        if self.options.write {
            refuse_beside_loop(self.repo)?;
            files::remove_temporaries_of(&self.file.path);
        }
        let (goals, _) = self.file.load()?;
        let mut found = self.look(&Disk::of(self.repo)?)?;
        let new = init::missing(&found, &goals);
        let waiting = init::waiting(&found, &goals, &self.text()?, &new);
        let all = [&new[..], &waiting].concat();
        init::leave_untold(&mut found, &goals, &all);
        if all.is_empty() {
            let page = view::lacks(&found, &goals, width::of_terminal());
            self.global
                .tell(&view::complete(&self.file.shown, page.is_empty()));
            self.global.say(&page);
            self.say_of_ci(&found);
            if self.options.write {
                self.append(&goals, &found, &[])?;
            }
            return Ok(0);
        }
        let ids: Vec<String> = new.iter().map(|one| one.id.clone()).collect();
        let (shown, has) = (&self.file.shown, goals.goals.len());
        self.global
            .tell(&view::proposed(new.len(), waiting.len(), shown, has));
        self.global.say(&format!("{}\n", init::goals(&all, "  ")));
        let rest = init::unwritten(&found, &self.text()?, &all);
        let page = view::lacks(&rest, &goals, width::of_terminal());
        if !page.is_empty() {
            self.global
                .say(&format!("{}\n", page.trim_start_matches('\n')));
        }
        self.say_of_ci(&found);
        if !self.options.write && !self.consents()? {
            self.global
                .tell("to add them to the file: the same with --write\n");
            return Ok(0);
        }
        self.append(&goals, &found, &all)?;
        self.global
            .tell(&view::appended(new.len(), waiting.len(), &self.file.shown));
        match ids.is_empty() {
            true => Ok(0),
            false => self.measure(&ids, &found),
        }
    }

    /// Returns the text of the goals file.
    fn text(&self) -> Result<String> {
        let shown = &self.file.shown;
        let bytes = files::read(&self.file.path)
            .map_err(|cause| Error::io("read", &self.file.path, cause))?;
        String::from_utf8(bytes).map_err(|_| Error::usage(format!("{shown} is not UTF-8")))
    }

    /// Names what makes no goal, where steps of CI were asked for, or all of it is.
    fn say_of_ci(&self, found: &Found) {
        let all = self.global.verbose > 0;
        if self.options.from_ci == Some(true) || all {
            let page = view::left_out(found, all, width::of_terminal());
            self.global.say(page.trim_start_matches('\n'));
        }
    }

    /// Appends goals to the file, and brings the reasons up to date of those that are commented out there.
    fn append(&self, goals: &Goals, found: &Found, new: &[init::Proposal]) -> Result<()> {
        let shown = &self.file.shown;
        let (text, changed) = init::with_reasons(&self.text()?, goals, found);
        let whole = match new.is_empty() {
            true => text,
            false => init::appended(&text, goals, new).ok_or_else(|| {
                Error::usage(format!("cannot add to {shown} and leave the rest as it is"))
                    .hint("copy the goals from above to where they belong")
            })?,
        };
        if changed > 0 || !new.is_empty() {
            refuse_beside_loop(self.repo)?;
            files::rewrite(&self.file.path, whole.as_bytes())?;
        }
        self.global.tell(&view::reasons(changed, shown));
        Ok(())
    }

    /// Looks at the repository with the user's wishes: flags, else answers, else what is built in.
    fn look(&self, disk: &Disk) -> Result<Found> {
        let mut wishes = self.wishes();
        let files = init::ci_files(disk);
        let is_open = self.options.from_ci.is_none() && !files.is_empty();
        if is_open && self.asks() {
            let question = format!("Make goals of what {}, too? [y/N] ", that_run(&files));
            wishes.from_ci = ask(&question, false, &yes_or_no)?;
        }
        let mut found = init::propose(disk, &wishes);
        if self.options.coverage.is_none() && self.asks() && found.asks_for_coverage() {
            let question = format!("How many percent of the lines should tests run? [{COVERAGE}] ");
            wishes.coverage = ask(&question, COVERAGE, &percent)?;
            found = init::propose(disk, &wishes);
        }
        found.leave_unread(&|check| program::shell_problem(check).is_none());
        Ok(found)
    }

    /// Returns what the user's flags wish, else what is built in.
    fn wishes(&self) -> Wishes {
        Wishes {
            coverage: self.options.coverage.unwrap_or(COVERAGE),
            from_ci: self.options.from_ci.unwrap_or(false),
        }
    }

    /// Notes of which files of CI goals can be made that the file lacks, where nobody was asked for that.
    fn note_on_ci(&self, disk: &Disk, goals: &Goals, page: &str, found: &mut Found) {
        let files = init::ci_files(disk);
        if files.is_empty() || self.options.from_ci.is_some() || self.asks() {
            return;
        }
        let wishes = Wishes {
            from_ci: true,
            ..self.wishes()
        };
        let mut of_ci = init::propose(disk, &wishes);
        of_ci.leave_unread(&|check| program::shell_problem(check).is_none());
        let files = init::ci_files_with_more(&of_ci, &files, goals, page);
        if !files.is_empty() {
            found.notes.push(format!(
                "`evolve init --add --from-ci{}` makes goals of what {}",
                self.option(),
                that_run(&files)
            ));
        }
    }

    /// Says whether there is somebody to ask.
    fn asks(&self) -> bool {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        is_terminal && !self.global.quiet
    }

    fn consents(&self) -> Result<bool> {
        let question = format!("Add them to {}? [y/N] ", self.file.shown);
        match self.asks() {
            true => ask(&question, false, &yes_or_no),
            false => Ok(false),
        }
    }

    /// Measures the goals, all of them or those with these ids, and says what comes next.
    fn measure(&self, ids: &[String], found: &Found) -> Result<u8> {
        let add = self.path_to_add()?;
        let option = self.option();
        let (goals, _) = self.file.load()?;
        let agent = start::agent(&goals, self.run, &self.repo.root);
        let agent = agent.map(|name| format!("with {name}"));
        let agent = agent.map_err(|why| format!("what a run needs: {why}"));
        let untested = self.untested(ids, found)?;
        let known = |passes| view::Known {
            agent: agent.as_deref().map_err(String::as_str),
            file: add.as_deref(),
            goals: &option,
            passes,
            is_part: !ids.is_empty() && ids.len() < goals.goals.len(),
            is_bare: found.is_bare(),
            is_unknown: found.is_unknown(),
            waits: found.waits_for_a_look(),
            lacking: found.lacking().count(),
            lacks_tools: found.lacking().any(|one| !one.waits_for_a_look()),
            untested: untested.as_ref(),
            shown: &self.file.shown,
        };
        // Nothing would be shown: then nothing is measured either.
        if self.options.no_measure || self.global.quiet {
            self.global
                .say(&view::next(known(None), width::of_terminal()));
            return Ok(0);
        }
        self.global.say(&view::measuring(
            found.is_compiled && !found.is_bare(),
            width::of_terminal(),
        ));
        let global = Global {
            file: GoalsOption {
                goals: self.global.file.goals.clone(),
            },
            ..self.global.clone()
        };
        let code = measure(&global, self.run, ids, false, true)?;
        let passes = code != Kind::Failing.exit_code();
        self.global.say(&view::unignored(
            &self.unignored(found)?,
            width::of_terminal(),
        ));
        self.global
            .say(&view::next(known(Some(passes)), width::of_terminal()));
        Ok(0)
    }

    /// Returns the goal of the project's tests that was written commented out, where no goal runs any. What a file that was there already
    /// says of tests is its own.
    fn untested(&self, added: &[String], found: &Found) -> Result<Option<view::Untested>> {
        if !added.is_empty() {
            return Ok(None);
        }
        let text = self.text()?;
        let of_id = |id: &str| {
            let begin = format!("# - id: {id}");
            let mut lines = text.lines();
            lines.position(|line| line.trim() == begin)
        };
        // The line above says for what it waits.
        Ok(found.untested().and_then(|one| {
            Some(view::Untested {
                id: one.id.clone(),
                line: of_id(&one.id)?,
                waits: one.waits_for_a_look(),
            })
        }))
    }

    /// Returns the folders that tools filled and that git does not ignore, without those that a note named.
    fn unignored(&self, found: &Found) -> Result<Vec<String>> {
        let mut lines = output::unignored(&look::untracked(self.repo)?);
        lines.retain(|line| self.options.add || !found.notes_on(line));
        Ok(lines)
    }

    /// Returns the option that names the file to a command, behind a space; nothing for the one that is meant anyway.
    fn option(&self) -> String {
        match (&self.global.file.goals, self.file.in_repo.as_deref()) {
            (None, _) | (_, Some("GOALS.yaml")) => String::new(),
            (Some(_), _) => format!(" --goals {}", text::shell_word(&self.file.shown)),
        }
    }

    /// Returns how the file is named to git from where the user is; nothing if it lies elsewhere.
    fn path_to_add(&self) -> Result<Option<String>> {
        let here = current_dir()?;
        let is_root = here.canonicalize().is_ok_and(|here| here == self.repo.root);
        Ok(match (&self.file.in_repo, &self.global.file.goals) {
            (None, _) => None,
            (Some(path), None) if !is_root => Some(text::shell_word(format!(":/{path}"))),
            (Some(_), _) => Some(text::shell_word(&self.file.shown)),
        })
    }
}

fn is_there(shown: &str, option: &str) -> Error {
    Error::usage(format!("{shown} is there already")).hint(format!(
        "`evolve init --add{option}` proposes the goals that it lacks; to start anew, move it away"
    ))
}

/// Names files that run something.
fn that_run(files: &[String]) -> String {
    let run = if files.len() == 1 { "runs" } else { "run" };
    format!("{} {run}", text::some_of(files, 2))
}

/// Returns the goals of a page, and refuses to write what could not be read back.
fn understood(page: &str) -> Result<Goals> {
    match goals::read_goals("GOALS.yaml", page.as_bytes()) {
        Ok((goals, _)) => Ok(goals),
        Err(problems) => {
            let error = goals::to_error("GOALS.yaml", &problems);
            Err(Error::internal(format!(
                "BUG: what init would write cannot be read: {error}"
            )))
        }
    }
}

/// Makes a file that must not be there yet; one that could not be written whole is not left.
pub(super) fn create(path: &Path, bytes: &[u8], shown: &str) -> Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = made.map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => is_there(shown, ""),
        _ => Error::io("write", path, cause),
    })?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|cause| {
        let _ = std::fs::remove_file(path);
        Error::io("write", path, cause)
    })
}

/// Asks a question; what is left empty, or never understood, is the default.
pub(super) fn ask<T>(
    question: &str,
    default: T,
    read: &dyn Fn(&str) -> Result<T, String>,
) -> Result<T> {
    for _ in 0..TRIES {
        match answer(question).as_deref() {
            None | Some("") => return Ok(default),
            Some(line) => match read(line) {
                Ok(answer) => return Ok(answer),
                Err(why) => print(&view::again(&why)),
            },
        }
    }
    Ok(default)
}

/// Asks a question and returns the line that is typed; none at the end of what is typed.
pub(super) fn answer(question: &str) -> Option<String> {
    print(question);
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    let count = std::io::stdin().lock().read_line(&mut line);
    if let Ok(0) = count {
        print("\n");
    }
    count
        .is_ok_and(|count| count > 0)
        .then(|| line.trim().to_owned())
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err("write y or n".to_owned()),
    }
}
