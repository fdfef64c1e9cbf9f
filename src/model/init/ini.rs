//! Values of files with sections: tox.ini, setup.cfg and their like. Pure.

/// Says whether the head of a section names one: `[testenv:{fmt,format}]` is two of them.
fn is_head_of(line: &str, section: &str) -> bool {
    let Some(head) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return false;
    };
    let (head, _) = head;
    let braces = head.split_once('{').and_then(|(before, rest)| {
        let (inside, behind) = rest.split_once('}')?;
        Some((before, inside, behind))
    });
    match braces {
        Some((before, inside, behind)) => {
            let mut all = inside.split(',').map(str::trim);
            all.any(|one| format!("{before}{one}{behind}") == section)
        }
        None => head == section,
    }
}

/// Returns the lines of a value: what stands behind its key, and what is indented below.
pub(super) fn values<'t>(file: &'t str, section: &str, key: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    let (mut is_section, mut is_value) = (false, false);
    for line in file.lines().filter(|line| !line.trim().is_empty()) {
        let is_below = line.starts_with([' ', '\t']);
        let line = line.trim();
        if line.starts_with(['#', ';']) {
            continue;
        }
        let value = match line.split_once('=') {
            Some((name, value)) if !is_below && name.trim() == key => Some(value.trim()),
            _ => None,
        };
        match (line.starts_with('['), value) {
            _ if is_below && is_value => found.push(line),
            (true, _) => (is_section, is_value) = (is_head_of(line, section), false),
            (false, Some(value)) if is_section => {
                is_value = true;
                found.extend(Some(value).filter(|value| !value.is_empty()));
            }
            (false, _) => is_value = false,
        }
    }
    found
}

/// Returns the keys of a section.
pub(super) fn keys<'t>(file: &'t str, section: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut is_section = false;
    for line in file.lines() {
        if line.starts_with('[') {
            is_section = is_head_of(line.trim(), section);
        }
        let is_key = is_section && !line.starts_with([' ', '\t', '#', ';', '[']);
        let key = line.split_once('=').map(|(key, _)| key.trim());
        found.extend(key.filter(|key| is_key && !key.is_empty()));
    }
    found
}
