//! What git says of its settings.

use super::Git;
use crate::error::Result;

/// All settings, in the order in which git reads them: the last one of a name is the one that holds.
#[derive(Debug, Default)]
pub struct Settings(Vec<u8>);

impl Git {
    /// Asks for all settings. Without them an agent's git might push, and not know what the user ignores.
    pub fn all_settings(&self) -> Result<Settings> {
        self.run(&["config", "--list", "-z"]).map(Settings)
    }
}

impl Settings {
    /// Returns the values of settings by their names, as in `core.excludesfile`; one that is a name alone has none.
    pub fn values(
        &self,
        is_meant: impl Fn(&[u8]) -> bool,
    ) -> impl DoubleEndedIterator<Item = &[u8]> {
        let entries = self.0.split(|byte| *byte == 0);
        entries.filter_map(move |entry| {
            let end = entry.iter().position(|byte| *byte == b'\n')?;
            is_meant(&entry[..end]).then_some(&entry[end + 1..])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::repo::Repo;

    #[test]
    fn settings_that_git_cannot_read_are_an_error_and_no_empty_list() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut git = std::process::Command::new("git");
        git.args(["init", "-q"]).current_dir(folder.path());
        assert!(git.status().expect("it runs").success());
        let repo = Repo::discover(folder.path()).expect("a repository");
        assert!(repo.git.all_settings().is_ok());
        std::fs::write(folder.path().join(".git/config"), "[core").expect("written");
        assert!(repo.git.all_settings().is_err());
    }

    #[test]
    fn values_come_in_gits_order_and_a_name_alone_has_none() {
        let said =
            b"core.bare\0core.excludesfile\na\0remote.o.pushurl\nb\nc\0core.excludesfile\n\0";
        let settings = Settings(said.to_vec());
        let of = |name: &'static [u8]| settings.values(move |it| it == name).collect::<Vec<_>>();
        assert_eq!(of(b"core.excludesfile"), [&b"a"[..], b""]);
        assert_eq!(of(b"remote.o.pushurl"), [b"b\nc"]);
        assert!(of(b"core.bare").is_empty());
    }
}
