//! What mypy looks at by its configuration, and whether what that imports is there. Pure.

use regex::Regex;
use serde_json::Value;

use super::super::{ini, is_own, is_within, join};
use super::installed::By;
use super::{Project, TESTS_READ, names};

/// The configuration of mypy that counts.
enum Config<'a> {
    Table(&'a Value),
    Text(String),
}

impl Config<'_> {
    /// Returns the values of a key.
    fn values(&self, key: &str) -> Vec<String> {
        match self {
            Config::Text(text) => ini::values(text, "mypy", key)
                .iter()
                .map(|it| it.to_string())
                .collect(),
            Config::Table(table) => match table.get(key) {
                Some(Value::Array(all)) => all.iter().map(plain).collect(),
                Some(value) => vec![plain(value)],
                None => Vec::new(),
            },
        }
    }

    /// Says whether a module of others need not be there.
    fn passes_by(&self, module: &str) -> bool {
        let ignores = self.values("ignore_missing_imports");
        let is_so = |it: &String| matches!(&*it.to_lowercase(), "true" | "1" | "yes" | "on");
        let mut codes = self.values("disable_error_code").into_iter();
        let of_module = match self {
            Config::Table(table) => table.get("overrides").map(Value::to_string),
            Config::Text(text) => {
                let heads = text.lines().filter(|line| line.starts_with("[mypy-"));
                let heads = heads.map(|head| head.replace("[mypy-", " "));
                Some(heads.collect::<Vec<_>>().join("\n"))
            }
        };
        ignores.iter().any(is_so)
            || codes.any(|it| it.contains("import"))
            || of_module.is_some_and(|all| names(&all, module))
    }
}

impl Project<'_> {
    /// Returns the configuration of mypy: the first that there is.
    fn mypy_config(&self) -> Option<Config<'_>> {
        let read = |name: &str| self.look.read(&join(self.home, name));
        let own = ["mypy.ini", ".mypy.ini"].into_iter().find_map(read);
        let own = own.map(Config::Text);
        let own = own.or_else(|| self.tool("mypy").map(Config::Table));
        own.or_else(|| read("setup.cfg").map(Config::Text))
    }

    /// Says whether mypy knows by its configuration what to look at.
    pub(super) fn tells_mypy_files(&self) -> bool {
        const KEYS: [&str; 3] = ["files", "packages", "modules"];
        let config = self.mypy_config();
        config.is_some_and(|config| KEYS.iter().any(|key| !config.values(key).is_empty()))
    }

    /// Returns why types cannot be checked by a command: what it looks at imports a module of others that its Python does not find.
    pub(super) fn lacks_for_types(&self, command: &str) -> Option<String> {
        let program = self.found(By::Mypy)?;
        let config = self.mypy_config();
        let values = |key: &str| config.as_ref().map(|it| it.values(key)).unwrap_or_default();
        let places = match command.strip_prefix("mypy ") {
            Some(places) => places.to_owned(),
            None => values("files").join(" "),
        };
        let places = places.split([' ', ',', '\'', '"']);
        let places: Vec<String> = places
            .map(|it| it.trim_start_matches("./").trim_end_matches('/'))
            .filter(|it| !it.is_empty())
            .map(|it| join(self.home, it.trim_start_matches('.')))
            .map(|it| it.trim_end_matches('/').to_owned())
            .collect();
        let excluded = values("exclude");
        let excluded = excluded.iter().filter_map(|it| Regex::new(it).ok());
        let excluded: Vec<Regex> = excluded.collect();
        let is_meant = |path: &&String| {
            let is_module = path.ends_with(".py") || path.ends_with(".pyi");
            let mut places = places.iter();
            is_module
                && is_own(path)
                && places.any(|it| *path == it || is_within(path, it))
                && !excluded.iter().any(|it| it.is_match(path))
        };
        let files = self.look.files().iter().filter(is_meant);
        let files = files.take(TESTS_READ).cloned().collect();
        let is_lacking = |(module, path): &(String, String)| {
            let passes_by = config.as_ref().is_some_and(|it| it.passes_by(module));
            !passes_by && !self.look.imports(&program, module) && !self.is_ignored(module, path)
        };
        let all = self.imports_from(files);
        let (module, path) = all.iter().find(|one| is_lacking(one))?;
        Some(self.lacking(module, path))
    }

    /// Says whether a file has mypy pass by its import of a module.
    fn is_ignored(&self, module: &str, path: &str) -> bool {
        let text = self.look.read(path).unwrap_or_default();
        let mut lines = text.lines().filter(|line| line.contains("import"));
        lines.any(|line| line.contains("type: ignore") && names(line, module))
    }
}

/// Returns a value as one would type it.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
