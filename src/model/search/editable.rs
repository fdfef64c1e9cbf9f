//! Which files attempts may change: those that `--files` names, but for what is frozen. Pure.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::model::{ledger, text};

/// The file that says how git converts others where it writes them: through it a frozen file would be measured as another.
const CONVERSION: &str = ".gitattributes";

/// The editable files.
#[derive(Clone, Debug)]
pub struct Editable {
    wanted: GlobSet,
    /// The patterns as they are: one without a wildcard is a path.
    named: Vec<String>,
    frozen: Vec<String>,
    protected: GlobSet,
}

impl Editable {
    /// Understands the patterns of `--files`; `frozen` are paths that stay as they are, `protect` patterns of such. Says which
    /// pattern is none.
    pub fn of(files: &[String], frozen: &[String], protect: &[String]) -> Result<Editable, String> {
        Ok(Editable {
            wanted: set("--files", files)?,
            named: files.iter().map(|file| plain(file).to_owned()).collect(),
            frozen: frozen.to_vec(),
            protected: set("protect", protect)?,
        })
    }

    /// Says whether attempts may change, make or remove the file at `path`, which is relative to the root.
    pub fn has(&self, path: &str) -> bool {
        let is_own = ledger::is_ledger_path(path.as_bytes());
        !is_own && self.wanted.is_match(path) && !self.is_frozen(path)
    }

    /// Says whether a file that `--files` names is one that `protect` names, too.
    pub fn is_withheld(&self, path: &str) -> bool {
        self.wanted.is_match(path) && self.protected.is_match(path)
    }

    /// Says whether a file stays as it is although `--files` may name it.
    pub fn is_frozen(&self, path: &str) -> bool {
        let is = |other: &String| other == path;
        self.frozen.iter().any(is)
            || self.protected.is_match(path)
            || (is_conversion(path) && !self.is_named(path))
    }

    /// Says whether `--files` names a file without a wildcard.
    pub fn is_named(&self, path: &str) -> bool {
        self.named.iter().any(|named| named == path)
    }

    /// Returns a file that attempts may change and that says how git writes others.
    pub fn conversion(&self) -> Option<&String> {
        conversion(&self.named).filter(|path| self.has(path))
    }
}

/// Returns a pattern that names nothing below the root, if there is one.
pub fn beyond(patterns: &[String]) -> Option<&String> {
    let is_beyond =
        |pattern: &&String| pattern.starts_with('/') || pattern.split('/').any(|part| part == "..");
    patterns.iter().find(is_beyond)
}

/// Returns what of `--files` is a file that says how git writes others.
pub fn conversion(files: &[String]) -> Option<&String> {
    files.iter().find(|file| is_conversion(plain(file)))
}

fn is_conversion(path: &str) -> bool {
    path.rsplit('/').next() == Some(CONVERSION)
}

/// Returns a pattern without what stands for the root.
pub fn plain(pattern: &str) -> &str {
    pattern.strip_prefix("./").unwrap_or(pattern)
}

fn set(name: &str, patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let plain = plain(pattern);
        // A folder stands for what is in it.
        let plain = plain
            .strip_suffix('/')
            .map_or(plain.to_owned(), |folder| format!("{folder}/**"));
        let glob = GlobBuilder::new(&plain).literal_separator(true).build();
        let no_pattern = |cause: globset::Error| {
            format!(
                "{name}: {} is no pattern: {}",
                text::clean_line(pattern),
                cause.kind()
            )
        };
        set.add(glob.map_err(no_pattern)?);
    }
    set.build().map_err(|cause| cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_may_change_but_for_what_is_frozen() {
        let files = ["src/**/*.rs", "./solver.py", "data/"].map(String::from);
        let editable = Editable::of(
            &files,
            &["src/bench.rs".to_owned()],
            &["src/gen/**".to_owned()],
        )
        .unwrap();
        for (path, expected) in [
            ("src/a.rs", true),
            ("src/deep/er/a.rs", true),
            ("src/a.txt", false),
            ("solver.py", true),
            ("sub/solver.py", false),
            ("data/x/y", true),
            ("src/bench.rs", false),
            ("src/gen/a.rs", false),
            (".agents/evolve/STOP", false),
        ] {
            assert_eq!(editable.has(path), expected, "{path}");
            let is_withheld = path == "src/gen/a.rs";
            assert_eq!(editable.is_withheld(path), is_withheld, "{path}");
        }
        let named = ["**", "./sub/.gitattributes"].map(String::from);
        let editable = Editable::of(&named, &[], &[]).unwrap();
        for (path, expected) in [
            ("a", true),
            (".gitattributes", false),
            ("src/.gitattributes", false),
            ("sub/.gitattributes", true),
            ("x.gitattributes", true),
        ] {
            assert_eq!(editable.has(path), expected, "{path}");
        }
        let conversion = Some("sub/.gitattributes".to_owned());
        assert_eq!(editable.conversion(), conversion.as_ref());
        assert!(editable.is_named("sub/.gitattributes") && !editable.is_named("a"));
        assert!(
            Editable::of(&["a[".to_owned()], &[], &[])
                .unwrap_err()
                .starts_with("--files: a[ is no pattern: ")
        );
        let patterns = ["a", "./b..c", "src/../../x"].map(String::from);
        assert_eq!(beyond(&patterns), Some(&patterns[2]));
        assert_eq!(beyond(&["/etc/*".to_owned()]), Some(&"/etc/*".to_owned()));
        assert_eq!(beyond(&patterns[..2]), None);
    }
}
