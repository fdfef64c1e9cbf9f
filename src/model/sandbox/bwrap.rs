//! The arguments of bubblewrap. Pure.

use std::ffi::OsString;
use std::path::Path;

use super::{Access, Rule};

/// The capabilities that root keeps inside: what builds and package managers need, nothing that reaches around the rules.
pub const KEPT: [&str; 7] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
];

/// Returns the arguments that start what follows them inside: everything can be read, the rules say what else, processes see
/// only each other. `rules` are in order.
///
/// It keeps to the session and the group it is started in and does not die with its parent: whoever supervises it asks the
/// group to end, waits, and then ends it.
pub fn bwrap_argv(rules: &[Rule], (has_network, is_root): (bool, bool)) -> Vec<OsString> {
    let mut argv: Vec<OsString> = Vec::new();
    let mut add = |words: &[&str]| argv.extend(words.iter().map(Into::into));
    add(&["--unshare-pid", "--unshare-ipc"]);
    if !has_network {
        add(&["--unshare-net"]);
    }
    if is_root {
        add(&["--cap-drop", "ALL"]);
        for capability in KEPT {
            add(&["--cap-add", capability]);
        }
    }
    let is_all = |rule: &&Rule| rule.path == Path::new("/") && rule.access == Access::Write;
    // What is laid over everything comes first.
    add(&[
        match rules.iter().any(|rule| is_all(&rule)) {
            true => "--bind",
            false => "--ro-bind",
        },
        "/",
        "/",
    ]);
    add(&["--dev", "/dev", "--proc", "/proc"]);
    for rule in rules.iter().filter(|rule| rule.path != Path::new("/")) {
        let path = OsString::from(&rule.path);
        match rule.access {
            // Devices are none on a plain mount.
            Access::Write if rule.path.starts_with("/dev") => {
                argv.extend(["--dev-bind".into(), path.clone(), path]);
            }
            Access::Write => argv.extend(["--bind".into(), path.clone(), path]),
            Access::Read => argv.extend(["--ro-bind".into(), path.clone(), path]),
            Access::Entry => argv.extend(["--ro-bind-try".into(), path.clone(), path]),
            Access::Hidden | Access::Listed => argv.extend(["--tmpfs".into(), path]),
            Access::Masked => argv.extend(["--ro-bind".into(), "/dev/null".into(), path]),
        }
    }
    // Once everything is laid out in them.
    let listed = rules.iter().filter(|rule| rule.access == Access::Listed);
    argv.extend(listed.flat_map(|rule| ["--remount-ro".into(), OsString::from(&rule.path)]));
    argv.push("--".into());
    argv
}

/// Leaves out what would cover something that is gone by now, as a socket of another program: in a folder that cannot be written
/// there is nowhere to lay it. `argv` is bubblewrap with its arguments and what it starts.
pub fn without_gone(argv: Vec<OsString>, is_gone: &dyn Fn(&Path) -> bool) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = argv.into_iter();
    while let Some(word) = words.next() {
        let count = match word.to_str() {
            Some("--bind" | "--dev-bind" | "--ro-bind" | "--ro-bind-try") => 2,
            Some("--cap-add" | "--cap-drop" | "--dev" | "--proc" | "--remount-ro" | "--tmpfs") => 1,
            Some("--") => words.len(),
            Some(_) | None => 0,
        };
        let values: Vec<OsString> = words.by_ref().take(count).collect();
        let covers = match word.to_str() {
            Some("--tmpfs" | "--remount-ro") => true,
            Some("--ro-bind") => values.first().is_some_and(|it| it == "/dev/null"),
            Some(_) | None => false,
        };
        let is_gone = |path: &OsString| is_gone(Path::new(path));
        if !covers || !values.last().is_some_and(is_gone) {
            kept.push(word);
            kept.extend(values);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_is_not_covered_and_all_else_stays() {
        let rule = |path: &str, access| Rule {
            path: path.into(),
            access,
        };
        let rules = [
            rule("/gone", Access::Hidden),
            rule("/gone/s", Access::Masked),
            rule("/gone/w", Access::Write),
            rule("/r", Access::Read),
            rule("/s", Access::Masked),
            rule("/there", Access::Hidden),
        ];
        let started = ["sh", "-c", "--tmpfs /gone", "--tmpfs", "/gone"].map(OsString::from);
        let argv = |rules: &[Rule]| {
            let argv = bwrap_argv(rules, (true, true));
            [&["bwrap".into()], &argv[..], &started[..]].concat()
        };
        let left = without_gone(argv(&rules), &|path| path.starts_with("/gone"));
        assert_eq!(left, argv(&rules[2..]));
        assert_eq!(without_gone(argv(&rules), &|_| false), argv(&rules));
    }

    #[test]
    fn rules_become_mounts_in_their_order() {
        let rule = |path: &str, access| Rule {
            path: path.into(),
            access,
        };
        let rules = [
            rule("/r", Access::Write),
            rule("/r/.git/hooks", Access::Read),
            rule("/run/user", Access::Hidden),
        ];
        let argv = bwrap_argv(&rules, (false, false));
        let words: Vec<_> = argv.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            words.join(" "),
            "--unshare-pid --unshare-ipc --unshare-net --ro-bind / / --dev /dev --proc /proc --bind /r /r --ro-bind /r/.git/hooks /r/.git/hooks --tmpfs /run/user --"
        );
        let all = bwrap_argv(
            &[rule("/", Access::Write), rule("/dev/kvm", Access::Write)],
            (true, false),
        );
        let words: Vec<_> = all.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            words.join(" "),
            "--unshare-pid --unshare-ipc --bind / / --dev /dev --proc /proc --dev-bind /dev/kvm /dev/kvm --"
        );
        let listed = [
            rule("/tmp", Access::Listed),
            rule("/tmp/a", Access::Entry),
            rule("/tmp/r", Access::Write),
        ];
        let argv = bwrap_argv(&listed, (true, false));
        let words: Vec<_> = argv.iter().map(|word| word.to_str().unwrap()).collect();
        assert!(words.join(" ").ends_with(
            "--tmpfs /tmp --ro-bind-try /tmp/a /tmp/a --bind /tmp/r /tmp/r --remount-ro /tmp --"
        ));
        assert!(bwrap_argv(&[], (true, true)).contains(&"CAP_FOWNER".into()));
        assert!(!bwrap_argv(&[], (true, true)).contains(&"--unshare-net".into()));
    }
}
