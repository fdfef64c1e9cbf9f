//! The user's own configuration.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::effects::{files, places};
use crate::error::{Error, Result};
use crate::model::goals::{self, Settings};
use crate::model::text;

/// The most bytes of the user's configuration that are read.
const CONFIG_LIMIT: u64 = 256 * 1024;

/// Refuses a file that is meant to be the configuration and would not be read.
fn refuse_misnamed(path: &Path) -> Result<()> {
    let other = path.with_extension("yml");
    match files::is_there(&other).unwrap_or(false) {
        false => Ok(()),
        true => Err(Error::usage(format!(
            "{} is not read: the configuration is called config.yaml",
            other.display()
        ))
        .hint(format!(
            "mv {} {}",
            text::shell_word(other.as_os_str().as_bytes()),
            text::shell_word(path.as_os_str().as_bytes())
        ))),
    }
}

/// Reads the user's `config.yaml`; what does not exist says nothing.
pub fn user_config() -> Result<Settings> {
    let Some(folder) = places::of_user("XDG_CONFIG_HOME", ".config") else {
        return Ok(Settings::default());
    };
    let path = folder.join("evolve/config.yaml");
    let shown = path.display().to_string();
    match files::read_followed(&path, CONFIG_LIMIT)? {
        None => refuse_misnamed(&path).map(|()| Settings::default()),
        Some(bytes) => goals::read_config(&shown, &bytes)
            .map_err(|problems| goals::to_error(&shown, &problems)),
    }
}
