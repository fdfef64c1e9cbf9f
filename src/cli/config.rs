//! The user's own configuration.

use crate::effects::{files, places};
use crate::error::Result;
use crate::model::goals::{self, Settings};

/// The most bytes of the user's configuration that are read.
const CONFIG_LIMIT: u64 = 256 * 1024;

/// Reads the user's `config.yaml`; what does not exist says nothing.
pub fn user_config() -> Result<Settings> {
    let Some(folder) = places::of_user("XDG_CONFIG_HOME", ".config") else {
        return Ok(Settings::default());
    };
    let path = folder.join("evolve/config.yaml");
    let shown = path.display().to_string();
    match files::read_followed(&path, CONFIG_LIMIT)? {
        None => Ok(Settings::default()),
        Some(bytes) => goals::read_config(&shown, &bytes)
            .map_err(|problems| goals::to_error(&shown, &problems)),
    }
}
