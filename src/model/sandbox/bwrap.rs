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
pub fn bwrap_argv(rules: &[Rule], has_network: bool, is_root: bool) -> Vec<OsString> {
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
    for words in options(argv) {
        if !covered(&words).is_some_and(is_gone) {
            kept.extend(words);
        }
    }
    kept
}

/// Says whether something is covered that others could take away: whatever lies in no folder that is listed, which is laid out anew.
pub fn covers_what_may_go(argv: &[OsString]) -> bool {
    let options: Vec<Vec<OsString>> = options(argv.to_vec()).collect();
    let listed = |folder: &Path| {
        let mut words = options.iter();
        words.any(|words| words[0] == "--remount-ro" && covered(words) == Some(folder))
    };
    let mut covered = options.iter().filter_map(|words| covered(words));
    covered.any(|path| !listed(path) && !path.parent().is_some_and(listed))
}

/// Splits bubblewrap's command line: each option with its values; what it starts is one piece, as its own name is.
fn options(argv: Vec<OsString>) -> impl Iterator<Item = Vec<OsString>> {
    let mut words = argv.into_iter();
    std::iter::from_fn(move || {
        let word = words.next()?;
        let count = match word.to_str() {
            Some("--bind" | "--dev-bind" | "--ro-bind" | "--ro-bind-try") => 2,
            Some("--cap-add" | "--cap-drop" | "--dev" | "--proc" | "--remount-ro" | "--tmpfs") => 1,
            Some("--") => words.len(),
            Some(_) | None => 0,
        };
        Some(
            std::iter::once(word)
                .chain(words.by_ref().take(count))
                .collect(),
        )
    })
}

/// Returns what an option covers.
fn covered(words: &[OsString]) -> Option<&Path> {
    let is_cover = match words.first()?.to_str()? {
        "--tmpfs" | "--remount-ro" => true,
        "--ro-bind" => words.get(1)? == "/dev/null",
        _ => false,
    };
    is_cover.then(|| words.last().map(Path::new))?
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
            let argv = bwrap_argv(rules, true, true);
            [&["bwrap".into()], &argv[..], &started[..]].concat()
        };
        let left = without_gone(argv(&rules), &|path| path.starts_with("/gone"));
        assert_eq!(left, argv(&rules[2..]));
        assert_eq!(without_gone(argv(&rules), &|_| false), argv(&rules));
    }

    #[test]
    fn what_lies_in_a_listed_folder_cannot_be_taken_away_from_under_its_cover() {
        let rule = |path: &str, access| Rule {
            path: path.into(),
            access,
        };
        let listed = [
            rule("/r", Access::Write),
            rule("/tmp", Access::Listed),
            rule("/tmp/a", Access::Entry),
            rule("/tmp/s", Access::Masked),
        ];
        assert!(!covers_what_may_go(&bwrap_argv(&listed, true, false)));
        for (path, access) in [
            ("/tmp/a/s", Access::Masked),
            ("/home/.screen", Access::Hidden),
            ("/home/s", Access::Masked),
        ] {
            let rules = [&listed[..], &[rule(path, access)]].concat();
            assert!(covers_what_may_go(&bwrap_argv(&rules, true, false)));
        }
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
        let argv = bwrap_argv(&rules, false, false);
        let words: Vec<_> = argv.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            words.join(" "),
            "--unshare-pid --unshare-ipc --unshare-net --ro-bind / / --dev /dev --proc /proc --bind /r /r --ro-bind /r/.git/hooks /r/.git/hooks --tmpfs /run/user --"
        );
        let all = bwrap_argv(
            &[rule("/", Access::Write), rule("/dev/kvm", Access::Write)],
            true,
            false,
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
        let argv = bwrap_argv(&listed, true, false);
        let words: Vec<_> = argv.iter().map(|word| word.to_str().unwrap()).collect();
        assert!(words.join(" ").ends_with(
            "--tmpfs /tmp --ro-bind-try /tmp/a /tmp/a --bind /tmp/r /tmp/r --remount-ro /tmp --"
        ));
        assert!(bwrap_argv(&[], true, true).contains(&"CAP_FOWNER".into()));
        assert!(!bwrap_argv(&[], true, true).contains(&"--unshare-net".into()));
    }
}
