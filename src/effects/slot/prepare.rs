//! Makes a slot ready with the user's own command, once, and again when what it depends on changes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use super::{Base, Slot, remove_all};
use crate::effects::files;
use crate::effects::guard::modules::is_checked_out;
use crate::effects::process::{Ending, Job, Stdout, Supervisor, TAIL_BYTES};
use crate::effects::repo::{Entry, Repo, SUBMODULE};
use crate::effects::sandbox::Fence;
use crate::error::{Error, Result};
use crate::model::lent::Led;
use crate::model::{mask, slot, text};

/// How long the command may take.
const TIMEOUT: Duration = Duration::from_secs(3600);
/// The most bytes of its log.
const LOG_LIMIT: u64 = 16 << 20;
/// The most bytes of the file that says what a slot was made ready from.
const STAMP_LIMIT: u64 = 16 << 20;
/// The most bytes of a file that stands for a git directory.
const LEAD_LIMIT: u64 = 1 << 20;

/// What making a slot ready needs.
#[derive(Debug)]
pub struct Preparation<'a> {
    /// The user's repository.
    pub user: &'a Repo,
    /// What the slot is put on.
    pub base: Base<'a>,
    /// Starts and ends the command.
    pub supervisor: &'a Supervisor,
    /// What holds it back, like a check.
    pub fence: &'a Fence,
    /// Where what it prints goes, if it is to be kept.
    pub log: Option<&'a Path>,
    /// The session, which marks its processes.
    pub session: &'a str,
}

/// What making a slot ready came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// It is ready.
    Ready,
    /// It is not, and why.
    Failed(String),
    /// What it is lent leads out of it, so that nothing that is measured there would be its own.
    Astray(Led),
    /// Everything was ended from outside.
    Stopped,
}

impl Slot {
    /// Makes the slot ready, unless it is.
    pub async fn prepare(&self, how: &Preparation<'_>) -> Result<Prepared> {
        if let Some(led) = self.led(how.user) {
            return Ok(Prepared::Astray(led));
        }
        self.lead_python(how.user)?;
        let Some(command) = &self.provisions.prepare else {
            return Ok(Prepared::Ready);
        };
        let inputs = Inputs::of(command, how)?;
        let is_prepared = self.was_prepared_from(&inputs)? && self.emptied()?.is_empty();
        if is_prepared {
            self.lead_nowhere(&inputs.modules)?;
            return Ok(Prepared::Ready);
        }
        self.run_prepare(how, command, &inputs).await
    }

    /// Makes the slot what its commit, what is lent and the command say, and nothing else: whatever else somebody left there
    /// goes, and what the command made is put back as it was. `repo` is that of the slot.
    pub async fn make_clean(&self, repo: &Repo, how: &Preparation<'_>) -> Result<Prepared> {
        if let Some(led) = self.led(how.user) {
            return Ok(Prepared::Astray(led));
        }
        self.lead_python(how.user)?;
        let Some(command) = &self.provisions.prepare else {
            return Ok(Prepared::Ready);
        };
        let inputs = Inputs::of(command, how)?;
        if self.was_prepared_from(&inputs)? && self.put_back(how.user, how.base.commit)? {
            return Ok(Prepared::Ready);
        }
        self.empty(repo)?;
        let prepared = self.run_prepare(how, command, &inputs).await?;
        if prepared == Prepared::Ready {
            self.keep_made(repo)?;
        }
        Ok(prepared)
    }

    fn was_prepared_from(&self, inputs: &Inputs) -> Result<bool> {
        Ok(self.stamped()?.digest == inputs.digest)
    }

    /// Lists the submodules that `prepare` had set up here, and that are not any more.
    pub fn emptied(&self) -> Result<Vec<Vec<u8>>> {
        let mut emptied = self.stamped()?.modules;
        emptied.retain(|module| !is_checked_out(&self.root, module));
        Ok(emptied)
    }

    /// Has `prepare` run anew, with these submodules as a checkout leaves them: what is in them goes.
    pub fn unprepare(&self, modules: &[Vec<u8>]) -> Result<()> {
        files::remove(&self.stamp())?;
        for module in modules {
            let folder = self.root.join(OsStr::from_bytes(module));
            if files::is_beneath(&self.root, module) && folder.exists() {
                remove_all(&folder)?;
                files::make_folder(&folder)?;
            }
        }
        Ok(())
    }

    /// Has git take submodules for ones that are not set up where their git directories went with the slot's: a `.git` file that leads to
    /// one which is gone ends any git at the root, and a link that leads nowhere is no `.git` to it. That they were set up stays known.
    fn lead_nowhere(&self, modules: &[Vec<u8>]) -> Result<()> {
        for module in modules {
            let path = [&module[..], b"/.git"].concat();
            let place = self.root.join(OsStr::from_bytes(&path));
            let is_file = fs::symlink_metadata(&place).is_ok_and(|meta| meta.is_file());
            if !is_file || !files::is_beneath(&self.root, &path) {
                continue;
            }
            let text = files::read_bounded(&place, LEAD_LIMIT).ok().flatten();
            let to = text.as_deref().and_then(|it| it.strip_prefix(b"gitdir: "));
            let Some(to) = to.map(|to| OsStr::from_bytes(to.trim_ascii_end())) else {
                continue;
            };
            if !place.with_file_name(to).exists() {
                files::remove(&place)?;
                symlink(to, &place).map_err(|cause| Error::io("link", &place, cause))?;
            }
        }
        Ok(())
    }

    /// Reads what the slot was made ready from, and which submodules were set up then.
    fn stamped(&self) -> Result<Inputs> {
        let stamp = files::read_bounded(&self.stamp(), STAMP_LIMIT)?.unwrap_or_default();
        let mut parts = stamp.split(|byte| *byte == 0);
        let digest = parts.next().unwrap_or_default();
        Ok(Inputs {
            digest: String::from_utf8_lossy(digest).into_owned(),
            modules: parts.map(<[u8]>::to_vec).collect(),
        })
    }

    fn stamp_ready(&self, inputs: &Inputs) -> Result<()> {
        let set_up = inputs.modules.iter().map(Vec::as_slice);
        let set_up = set_up.filter(|module| is_checked_out(&self.root, module));
        let parts: Vec<&[u8]> = std::iter::once(inputs.digest.as_bytes())
            .chain(set_up)
            .collect();
        files::replace(&self.stamp(), &parts.join(&0))
    }

    async fn run_prepare(
        &self,
        how: &Preparation<'_>,
        command: &str,
        inputs: &Inputs,
    ) -> Result<Prepared> {
        // Git does not set up one whose git directory went with the slot's.
        self.unprepare(&inputs.modules)?;
        let ran = how
            .supervisor
            .run(Job {
                argv: how
                    .fence
                    .around(["sh", "-c", command].map(Into::into).to_vec()),
                folder: Some(self.root.clone()),
                env: how.fence.env.clone(),
                stdin: None,
                log: how.log.map(Path::to_owned),
                log_limit: LOG_LIMIT,
                timeout: TIMEOUT,
                idle_timeout: None,
                tail_limit: TAIL_BYTES,
                stdout: Stdout::Merged,
                mark: format!("{}/prepare", how.session),
            })
            .await;
        let why = match ran.ending {
            Ending::Exited(_) if !self.is_whole() => {
                "removes or replaces the copy, or its .git".to_owned()
            }
            Ending::Exited(0) => match self.stray_files(how)?.as_slice() {
                [] => {
                    // The command may have installed what is there into what is lent.
                    if let Some(led) = self.led(how.user) {
                        return Ok(Prepared::Astray(led));
                    }
                    self.lead_nowhere(&inputs.modules)?;
                    self.stamp_ready(inputs)?;
                    return Ok(Prepared::Ready);
                }
                strays => format!(
                    "changes or leaves files that git does not ignore: {}",
                    strays.join(", ")
                ),
            },
            Ending::Stopped => return Ok(Prepared::Stopped),
            Ending::Exited(code) => format!("ended with exit {code}"),
            Ending::Signalled(number) => format!("was ended by signal {number}"),
            Ending::TimedOut | Ending::Idle => {
                let limit = humantime::format_duration(TIMEOUT);
                format!("timed out after {limit}")
            }
            Ending::NotStarted(why) => format!("could not be started: {why}"),
        };
        let said = mask::secrets(&text::clean(&String::from_utf8_lossy(&ran.tail)));
        let said = said.trim_end().lines().next_back().unwrap_or_default();
        let said = match said.is_empty() {
            true => String::new(),
            false => format!(": {}", text::cut(said, 200)),
        };
        let line = text::cut(&mask::secrets(&text::clean_line(command)), 60);
        Ok(Prepared::Failed(format!(
            "a copy of the repository cannot be made ready: prepare ({line}) {why}{said}"
        )))
    }

    /// Lists what differs from the commit and is not ignored, at most a few. What the command ran may be an agent's: nothing in
    /// the slot's `.git` is believed.
    fn stray_files(&self, how: &Preparation<'_>) -> Result<Vec<String>> {
        let git = self.remake_git_dir(how.user, how.base)?.git;
        // What the command made of submodules is nothing that git may look into.
        let changes = ["--no-renames", "--ignore-submodules=dirty"];
        let listed = git.run(&[&["status", "--porcelain=v1", "-z"][..], &changes].concat())?;
        let entries = listed.split(|byte| *byte == 0);
        let paths = entries.filter_map(|entry| entry.get(3..));
        Ok(paths
            .take(5)
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect())
    }
}

/// What a slot is made ready from.
struct Inputs {
    /// The digest of what the command depends on.
    digest: String,
    /// The submodules of the commit; of a slot that is ready those that were set up.
    modules: Vec<Vec<u8>>,
}

impl Inputs {
    fn of(command: &str, how: &Preparation<'_>) -> Result<Inputs> {
        let tracked = how.user.files_of(how.base.commit)?;
        let shown = |(path, entry): (Vec<u8>, Entry)| {
            let text = String::from_utf8_lossy(&path).into_owned();
            (path, text, entry)
        };
        let (modules, files): (Vec<_>, Vec<_>) = tracked
            .into_iter()
            .map(shown)
            .partition(|(_, _, entry)| entry.mode == SUBMODULE);
        fn ids(list: &[(Vec<u8>, String, Entry)]) -> impl Iterator<Item = (&str, &str)> {
            list.iter().map(|(_, text, entry)| (&**text, &*entry.id))
        }
        Ok(Inputs {
            digest: slot::inputs(command, ids(&files), ids(&modules)),
            modules: modules.into_iter().map(|(path, _, _)| path).collect(),
        })
    }
}
