//! What stays installed when a change of what a project needs is undone: git holds neither `node_modules` nor `.venv`. Pure.

use crate::model::text;

/// How the note begins that says so.
pub const AGAIN: &str = "what is installed may be what the undone change asked for: ";

/// How many files are named.
const SHOWN: usize = 3;

/// Files that say what is to be installed, and what installs it again, as far as one command does.
const FILES: [(&str, &str); 20] = [
    ("package-lock.json", "npm ci"),
    ("npm-shrinkwrap.json", "npm ci"),
    ("yarn.lock", "yarn install"),
    ("pnpm-lock.yaml", "pnpm install"),
    ("bun.lock", "bun install"),
    ("bun.lockb", "bun install"),
    ("uv.lock", "uv sync"),
    ("poetry.lock", "poetry install"),
    ("pdm.lock", "pdm sync"),
    ("Pipfile.lock", "pipenv sync"),
    ("Gemfile.lock", "bundle install"),
    ("composer.lock", "composer install"),
    ("mix.lock", "mix deps.get"),
    ("package.json", ""),
    ("pyproject.toml", ""),
    ("setup.py", ""),
    ("setup.cfg", ""),
    ("Pipfile", ""),
    ("Gemfile", ""),
    ("composer.json", ""),
];

/// Returns how what these files say is installed again, where an undo brought them back; none if none of them says that.
pub fn again(files: &[String]) -> Option<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut changed: Vec<String> = Vec::new();
    for file in files {
        let name = file.rsplit('/').next().unwrap_or(file);
        let is_requirements = name.starts_with("requirements") && name.ends_with(".txt");
        let command = match FILES.iter().find(|(known, _)| *known == name) {
            Some((_, "")) => None,
            Some((_, command)) => Some(format!("`{command}`")),
            None if is_requirements => Some(format!("`pip install -r {file}`")),
            None => continue,
        };
        changed.push(file.clone());
        commands.extend(command);
    }
    commands.dedup();
    let way = match commands.is_empty() {
        true => String::new(),
        false => format!(" ({})", commands.join(", ")),
    };
    let touched = (!changed.is_empty()).then(|| text::some_of(&changed, SHOWN))?;
    Some(format!(
        "{AGAIN}it touched {touched}; install again what is there now{way}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_touched_of_it_is_named_with_the_way_to_install_it() {
        let of = |files: &str| again(&files.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(of("src/a.js Cargo.lock requirements.md"), None);
        for (files, expected) in [
            (
                "a.js package.json package-lock.json",
                "it touched package.json, package-lock.json; install again what is there now (`npm ci`)",
            ),
            (
                "dev/requirements-dev.txt",
                "it touched dev/requirements-dev.txt; install again what is there now (`pip install -r dev/requirements-dev.txt`)",
            ),
            (
                "pyproject.toml",
                "it touched pyproject.toml; install again what is there now",
            ),
        ] {
            assert_eq!(of(files), Some(format!("{AGAIN}{expected}")));
        }
    }
}
