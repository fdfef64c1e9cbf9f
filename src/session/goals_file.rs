//! The file that the goals are read from.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::effects::repo::Repo;
use crate::effects::{files, program};
use crate::error::{Error, Result, Spot};
use crate::model::goals::{self, Goal, Goals, Unread};
use crate::model::snapshot::{CheckResult, Snapshot};
use crate::model::text;

/// The file's name where none is named.
const NAME: &str = "GOALS.yaml";

/// Where the goals are read from.
#[derive(Clone, Debug)]
pub struct GoalsFile {
    /// The file.
    pub path: PathBuf,
    /// Its path below the repository's root; none if it lies elsewhere.
    pub in_repo: Option<String>,
    /// Its name in messages, as the user would write it.
    pub shown: String,
    /// What was read last.
    last: Arc<Mutex<Option<Read>>>,
}

/// The bytes of a goals file, and what they say.
#[derive(Debug)]
struct Read {
    bytes: Vec<u8>,
    goals: Goals,
    warnings: Vec<Spot>,
}

impl GoalsFile {
    /// A file that is named.
    pub fn new(path: PathBuf, in_repo: Option<String>, shown: String) -> GoalsFile {
        GoalsFile {
            path,
            in_repo,
            shown,
            last: Arc::default(),
        }
    }

    /// The file that is meant where none is named: GOALS.yaml in the root.
    pub fn of_root(repo: &Repo) -> GoalsFile {
        GoalsFile::new(repo.root.join(NAME), Some(NAME.to_owned()), NAME.to_owned())
    }

    /// The same file in another working tree.
    #[must_use]
    pub fn at(self, path: PathBuf) -> GoalsFile {
        GoalsFile { path, ..self }
    }

    /// Reads the goals; every problem of the file is reported at once. Returns beside them what is worth
    /// a warning. Bytes that were read before are not read through once more.
    pub fn load(&self) -> Result<(Goals, Vec<Spot>)> {
        self.refuse_link()?;
        let bytes = match std::fs::metadata(&self.path) {
            Ok(meta) if meta.is_file() && meta.len() > goals::MAX_BYTES as u64 => {
                return Err(Error::usage(format!(
                    "{}: {} bytes are more than the {} that are read",
                    self.shown,
                    meta.len(),
                    goals::MAX_BYTES
                ))
                .hint("keep goals short; a long check can be a script of its own"));
            }
            Ok(meta) if meta.is_file() => {
                files::read(&self.path).map_err(|cause| Error::io("read", &self.path, cause))?
            }
            Ok(_) => {
                return Err(Error::usage(format!("{} is no plain file", self.shown))
                    .hint("put the goals into a plain file, or name one with --goals"));
            }
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
                if self.shown != NAME {
                    return Err(self.not_there());
                }
                let error =
                    Error::usage(format!("No goals to measure: there is no {}", self.shown));
                let error = match self.elsewhere() {
                    Some(hint) => error.hint(hint),
                    None => error,
                };
                return Err(error.hint("`evolve init` looks at this repository and writes one; `evolve demo` shows a run"));
            }
            Err(cause) => return Err(Error::io("read", &self.path, cause)),
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let read = match last.take().filter(|read| read.bytes == bytes) {
            Some(read) => read,
            None => self.parse(bytes)?,
        };
        let read = last.insert(read);
        Ok((read.goals.clone(), read.warnings.clone()))
    }

    fn parse(&self, bytes: Vec<u8>) -> Result<Read> {
        let read = goals::read_goals(&self.shown, &bytes);
        let (goals, warnings) = read.map_err(|problems| goals::to_error(&self.shown, &problems))?;
        Ok(Read {
            bytes,
            goals,
            warnings: goals::to_spots(&self.shown, &warnings),
        })
    }

    /// Refuses commands of the file that the shell cannot read; each is pointed to.
    pub fn refuse_unread(&self, goals: &Goals) -> Result<()> {
        let settings = &goals.settings;
        let prepare = settings.prepare.as_deref().map(|it| ("prepare", it));
        let named = prepare.into_iter().chain(settings.hooks());
        let named = named.map(|(key, command)| (None, key, command));
        let checks = goals.goals.iter().enumerate();
        let checks = checks.map(|(at, goal)| (Some(at), "check", goal.check.as_str()));
        self.refuse(&checks.chain(named).filter_map(unread).collect::<Vec<_>>())
    }

    /// Refuses checks that failed because the shell cannot read them: no agent could mend that, as it may not touch the file. Asks the
    /// shell about those alone that ended as such a check does.
    pub fn refuse_failed_unread(&self, goals: &Goals, snapshot: &Snapshot) -> Result<()> {
        let has_failed = |goal: &Goal| {
            let measured = snapshot.find(&goal.id);
            measured.is_some_and(|it| it.result == CheckResult::Fail && it.exit == Some(UNREAD))
        };
        let checks = goals.goals.iter().enumerate();
        let checks = checks.filter(|(_, goal)| has_failed(goal));
        let checks = checks.map(|(at, goal)| (Some(at), "check", goal.check.as_str()));
        self.refuse(&checks.filter_map(unread).collect::<Vec<_>>())
    }

    fn refuse(&self, unread: &[Unread]) -> Result<()> {
        if unread.is_empty() {
            return Ok(());
        }
        let bytes =
            files::read(&self.path).map_err(|cause| Error::io("read", &self.path, cause))?;
        let problems = goals::unread_problems(&bytes, unread);
        Err(goals::to_error(&self.shown, &problems))
    }

    /// Returns what to say of a file that may have been meant where none is named: one called nearly so in the root, or one in the
    /// caller's folder or above it.
    fn elsewhere(&self) -> Option<String> {
        let root = self.path.parent()?;
        let beside = std::fs::read_dir(root).ok()?.flatten();
        let mut names = beside.filter_map(|entry| entry.file_name().into_string().ok());
        let is_near = |name: &String| {
            let plain = name.to_ascii_lowercase();
            name != NAME && (plain == "goals.yaml" || plain == "goals.yml")
        };
        let here = std::env::current_dir().ok()?;
        let is_file = |name: &String| root.join(name).is_file();
        if let Some(name) = names.find(|name| is_near(name) && is_file(name)) {
            let path = match here == root {
                true => name.clone(),
                false => root.join(&name).display().to_string(),
            };
            return Some(format!(
                "is {name} meant? Rename it, or name it: `--goals {}`",
                text::shell_word(&path)
            ));
        }
        let mut above = here.ancestors().take_while(|folder| *folder != root);
        let folder = above.find(|folder| folder.join(NAME).is_file())?;
        let below = folder.strip_prefix(root).ok()?.join(NAME);
        let below = text::clean_line(&below.to_string_lossy());
        Some(format!(
            "the one in the root is read, not {below}, unless it is named with `--goals`: its commands run in the root then"
        ))
    }

    /// The error of naming a file that is not there: what may have been meant lies beside it.
    fn not_there(&self) -> Error {
        let shown = &self.shown;
        let error = Error::usage(format!(
            "No goals to measure: there is no {shown} (--goals)"
        ));
        let folder = self.path.parent();
        let beside = folder.and_then(|folder| std::fs::read_dir(folder).ok());
        let names = beside.into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let is_yaml = |name: &String| name.ends_with(".yaml") || name.ends_with(".yml");
        let names: Vec<String> = names.filter(is_yaml).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let name = self.path.file_name().and_then(|name| name.to_str());
        let near = name.and_then(|name| goals::nearest(name, &known));
        let near = near.or(known.contains(&NAME).then_some(NAME));
        let found = match (near, folder) {
            (Some(near), _) => format!("did you mean {near}, which lies in the same folder?"),
            (None, Some(folder)) if !folder.is_dir() => {
                format!("there is no folder {} either", folder.display())
            }
            (None, _) => format!(
                "`evolve init --goals {}` writes one",
                text::shell_word(shown)
            ),
        };
        error
            .hint(found)
            .hint("a path counts from the current directory; without --goals it is GOALS.yaml in the repository's root")
    }

    /// Refuses a goals file that is there and not in a commit's tree (exit 3).
    pub fn refuse_uncommitted(&self, repo: &Repo, tree: &str) -> Result<()> {
        let Some(path) = &self.in_repo else {
            return Ok(());
        };
        if !self.path.exists() || repo.has_file(tree, path)? {
            return Ok(());
        }
        let shown = &self.shown;
        Err(Error::unsafe_repo(format!(
            "{shown} is not committed, so an undo could not bring it back"
        ))
        .hint(format!(
            "commit it first: `git add {} && git commit -m 'goals'`",
            text::shell_word(shown)
        )))
    }

    /// Refuses a link in the repository: it would freeze the link, and an agent could move the goalposts behind it.
    fn refuse_link(&self) -> Result<()> {
        let is_link = || std::fs::symlink_metadata(&self.path).is_ok_and(|meta| meta.is_symlink());
        match self.in_repo.is_some() && is_link() {
            true => Err(
                Error::usage(format!("{} is a link, no plain file", self.shown))
                    .hint("put the goals into the file itself, or name the other one with --goals"),
            ),
            false => Ok(()),
        }
    }
}

/// The exit code of a shell that cannot read what it is to run.
const UNREAD: i32 = 2;

fn unread((goal, key, command): (Option<usize>, &'static str, &str)) -> Option<Unread> {
    let why = program::shell_problem(command)?;
    Some(Unread { goal, key, why })
}
