//! Where the repository lies on the machine: what an absolute path into it stands for, and one that climbs out of it and comes
//! back. Pure.

use std::sync::Arc;

use super::path::{LONGEST, ROOT, join, word_in};
use super::shell::{PRINTED, UNKNOWN};

/// The absolute paths by which the root is known; none where that does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    names: Arc<[String]>,
    /// What `~` and `$HOME` stand for.
    home: Option<Arc<str>>,
    modules: Arc<[String]>,
}

impl Root {
    /// Takes the root's names and the user's home, all of them absolute.
    pub fn of(names: &[String], home: Option<&str>) -> Root {
        let names = names.iter().map(|name| plain(name));
        Root {
            names: names.collect(),
            home: home.map(|home| plain(home).into()),
            modules: Arc::default(),
        }
    }

    /// Returns the same where the environment has modules taken from folders below the root first.
    #[must_use]
    pub fn with_modules(self, folders: Vec<String>) -> Root {
        Root {
            modules: folders.into(),
            ..self
        }
    }

    /// Returns the folders below the root from which the environment has modules taken first.
    pub fn modules(&self) -> &[String] {
        &self.modules
    }

    /// Returns what `$HOME` stands for, if that is known.
    pub fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    /// Says whether a word names something in the user's home.
    pub fn is_at_home(&self, word: &str) -> bool {
        self.home().is_some_and(|home| below(home, word).is_some())
    }

    /// Returns a word with each path in it that leads to the repository by way of what lies around it as one below the root, as seen
    /// from a folder; none if there is no such path. A folder that begins with a slash lies outside.
    pub fn placed(&self, from: Option<&str>, word: &str) -> Option<String> {
        if self.names.is_empty() {
            return None;
        }
        let placed = |path: &str| self.found(from, path).map(|path| marked(&path));
        if let Some(word) = placed(word) {
            return Some(word);
        }
        // The value of an option or of a variable: `--file=/there/repo/x`, `-C/there/repo`, `PATH=/there/repo/bin:$PATH`.
        let parts = word.split_inclusive(['=', ':', PRINTED]);
        let parts = parts.map(|part| {
            let end = part.trim_end_matches(['=', ':', PRINTED]).len();
            let (path, mark) = part.split_at(end);
            let is_option = path.starts_with('-') && path.as_bytes().get(2) == Some(&b'/');
            let (option, path) = path.split_at(if is_option { 2 } else { 0 });
            let path = placed(path).unwrap_or_else(|| path.to_owned());
            format!("{option}{path}{mark}")
        });
        let parts: String = parts.collect();
        (parts != word).then_some(parts)
    }

    /// Returns a path below the root as seen from a folder there; none for one that leads elsewhere.
    pub fn path(&self, from: &str, path: &str) -> Option<String> {
        self.go(Some(from), path).filter(|it| !it.starts_with('/'))
    }

    /// Returns where one is in `to` when coming from a folder: below the root, or outside with a slash at the beginning.
    pub fn go(&self, from: Option<&str>, to: &str) -> Option<String> {
        let inside = match (from, to.starts_with(ROOT)) {
            (_, true) => join("", to),
            (Some(from), false) if !from.starts_with('/') && !to.starts_with('~') => join(from, to),
            (Some(_) | None, false) => None,
        };
        inside.or_else(|| {
            let found = self.found(from, to);
            found.or_else(|| self.absolute(from, to).into_iter().next())
        })
    }

    /// Returns the path below the root for one that leads there by way of what lies around it.
    fn found(&self, from: Option<&str>, path: &str) -> Option<String> {
        let paths = self.absolute(from, path).into_iter();
        let mut found = paths.filter_map(|path| self.names.iter().find_map(|it| below(it, &path)));
        found.next()
    }

    /// Returns the absolute paths that one may stand for that is not known to stay in the repository.
    fn absolute(&self, from: Option<&str>, path: &str) -> Vec<String> {
        let (from, path) = match path.strip_prefix(ROOT) {
            Some(path) => (Some(""), path),
            None => (from, path),
        };
        let of_home = path.strip_prefix('~');
        let of_home = of_home.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match (from, of_home) {
            _ if path.is_empty() || path.starts_with(UNKNOWN) => Vec::new(),
            _ if path.len() + from.map_or(0, str::len) > LONGEST => Vec::new(),
            (_, Some(rest)) => {
                let home = self.home().into_iter();
                home.map(|home| plain(&format!("{home}{rest}"))).collect()
            }
            _ if path.starts_with('/') => vec![plain(path)],
            (None, None) => Vec::new(),
            (Some(from), None) if from.starts_with('/') => vec![plain(&format!("{from}/{path}"))],
            (Some(from), None) if join(from, path).is_some() => Vec::new(),
            (Some(from), None) => {
                let names = self.names.iter();
                names
                    .map(|name| plain(&format!("{name}/{from}/{path}")))
                    .collect()
            }
        }
    }
}

/// Returns the word for a path below the root.
fn marked(path: &str) -> String {
    word_in("", path)
}

/// Returns an absolute path without `.`, `..` and a slash at its end.
fn plain(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Returns what of an absolute path comes after a folder.
fn below(folder: &str, path: &str) -> Option<String> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(rest.to_owned()),
        None => rest.is_empty().then(String::new),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Code, runs_in};
    use super::*;

    /// The files that a check runs in the repository `/home/me/work/repo`, which is `/there` too.
    fn run_by(check: &str) -> String {
        let names = ["/home/me/work/repo", "/there/"].map(str::to_owned);
        let root = Root::of(&names, Some("/home/me"));
        let code = Code::of_check(check).at(&root);
        runs_in(&code, &|_| true).join(" ")
    }

    #[test]
    fn a_path_from_outside_into_the_repository_is_one_below_its_root() {
        for (check, expected) in [
            ("sh /home/me/work/repo/check.sh", "check.sh"),
            ("/home/me/work/repo/check.sh", "check.sh"),
            ("/there/t/../check.sh", "check.sh"),
            ("//there/./check.sh", "check.sh"),
            ("cd /there && ./check.sh", "check.sh"),
            ("(cd /there/t; sh check.sh)", "t/check.sh"),
            ("../repo/check.sh", "check.sh"),
            ("cd t && ../../../work/repo/check.sh", "check.sh"),
            ("cd .. && repo/check.sh", "check.sh"),
            ("cd .. && sh repo/t/check.sh", "t/check.sh"),
            (
                "cd ../.. && cd work && cd repo/t && ./check.sh",
                "t/check.sh",
            ),
            ("cd / && home/me/work/repo/check.sh", "check.sh"),
            ("$HOME/work/repo/check.sh", "check.sh"),
            ("sh \"${HOME}/work/repo/check.sh\"", "check.sh"),
            ("~/work/repo/check.sh", "check.sh"),
            ("cd && work/repo/check.sh", "check.sh"),
            ("cd ~/work && repo/check.sh", "check.sh"),
            ("cd t && cd - && ./check.sh", "check.sh"),
            ("cd /tmp; cd -; ./check.sh", "check.sh"),
            ("pushd .. && popd && ./check.sh", "check.sh"),
            ("R=/there; sh \"$R/check.sh\"", "check.sh"),
            ("sh -c '/there/check.sh'", "check.sh"),
            ("sh </there/check.sh", "check.sh"),
            ("eval \"$(cat /there/check.sh)\"", "check.sh"),
            ("cat /there/check.sh | sh", "check.sh"),
            (
                "for f in /there/a.sh /there/b.sh; do sh $f; done",
                "a.sh b.sh",
            ),
            (
                "for d in /there/a t; do (cd $d && ./x.sh); done",
                "a/x.sh t/x.sh",
            ),
            ("env -C /there/t ./check.sh", "t/check.sh"),
            ("make -f/there/t/x.mk", "t/x.mk"),
            ("make --file=/there/t/x.mk", "t/x.mk"),
            ("PATH=/there/tools:$PATH check", "tools/check"),
            ("PATH=/there:$PATH check", "check"),
            ("find /there/t -name '*.sh' -exec sh {} \\;", "t"),
        ] {
            let found = run_by(check);
            let is_in = |path: &str| found.split(' ').any(|one| one == path);
            assert!(expected.split(' ').all(is_in), "{check}: {found}");
        }
    }

    #[test]
    fn what_lies_elsewhere_is_none_of_the_repositorys() {
        for check in [
            "/home/me/work/repo2/check.sh",
            "sh /home/me/check.sh",
            "../other/check.sh",
            "cd .. && ./check.sh",
            "cd /tmp && ./check.sh",
            "$HOME/.cargo/bin/cargo test",
            "cd t && cd - && cd .. && sh check.sh",
        ] {
            assert_eq!(run_by(check), "", "{check}");
        }
    }
}
