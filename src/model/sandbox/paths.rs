//! The paths that a user or a preset names for the sandbox, as absolute ones. Pure.

use std::path::PathBuf;

/// What paths may start with.
#[derive(Clone, Debug, Default)]
pub struct Home {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Variables of the environment that name folders.
    pub variables: Vec<(String, PathBuf)>,
}

/// Where the folders of the XDG base directory specification are unless a variable says otherwise.
const XDG: [(&str, &str); 4] = [
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

impl Home {
    /// Returns what a variable names; unset ones name nothing, but for those that have a place by convention.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        let set = self.variables.iter().find(|(known, _)| known == name);
        if let Some((_, path)) = set.filter(|(_, path)| path.is_absolute()) {
            return Some(path.clone());
        }
        let (_, usual) = XDG.iter().find(|(known, _)| *known == name)?;
        Some(self.home.as_ref()?.join(usual))
    }
}

/// Returns the absolute path that `entry` names: `/…`, `~/…` or `$NAME/…`; none if it names a variable that is not set. One that
/// is relative is an error in words.
pub fn expand(entry: &str, home: &Home) -> Result<Option<PathBuf>, String> {
    let (first, rest) = entry.split_once('/').unwrap_or((entry, ""));
    let base = match first {
        "" if entry.starts_with('/') => Some(PathBuf::from("/")),
        "~" => home.home.clone(),
        name if name.starts_with('$') && name.len() > 1 => home.folder(&name[1..]),
        _ => return Err("write an absolute path, or one that starts with ~/ or $NAME/".to_owned()),
    };
    if rest.split('/').any(|part| part == "..") {
        return Err("write the path without ..".to_owned());
    }
    Ok(base.map(|base| match rest {
        "" => base,
        rest => base.join(rest),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_starts_at_the_root_at_home_or_at_a_variable() {
        let home = Home {
            home: Some("/home/u".into()),
            variables: vec![("CODEX_HOME".to_owned(), "/data/codex".into())],
        };
        let path =
            |entry| expand(entry, &home).map(|path| path.map(|path| path.display().to_string()));
        let some = |path: &str| Ok(Some(path.to_owned()));
        assert_eq!(path("/var/cache/x/"), some("/var/cache/x/"));
        assert_eq!(path("~/.cache/x"), some("/home/u/.cache/x"));
        assert_eq!(path("$CODEX_HOME"), some("/data/codex"));
        assert_eq!(path("$XDG_CACHE_HOME/x/"), some("/home/u/.cache/x/"));
        assert_eq!(path("$OTHER/x"), Ok(None));
        for wrong in ["cache", "./cache", "", "$", "~/../x", "~other/x"] {
            assert!(path(wrong).is_err(), "{wrong}");
        }
    }
}
