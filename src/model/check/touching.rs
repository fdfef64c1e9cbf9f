//! What a check does itself to the files that it runs: `chmod +x x.sh && ./x.sh`. Pure.

use globset::Glob;

use super::call::{Call, stem};
use super::shell::{EACH, UNKNOWN};
use super::walk::calls;

/// Programs that leave a file's bytes as they are and do something to it all the same.
const TOUCHING: [&str; 6] = ["chmod", "chown", "chgrp", "touch", "setfacl", "setfattr"];

/// Says whether `check` itself does something to a file of the repository that leaves its bytes as they are, or may do so.
pub fn touches(check: &str, file: &str) -> bool {
    calls(check).iter().any(|call| {
        let is_touching = |word: &String| TOUCHING.contains(&stem(word).as_str());
        let at = call.words.iter().position(is_touching);
        at.is_some_and(|at| match at {
            0 => names(call, file),
            // `find -exec` and `xargs` find files by themselves.
            _ => true,
        })
    })
}

fn names(call: &Call, file: &str) -> bool {
    call.words[1..].iter().any(|word| {
        if word.contains([UNKNOWN, EACH, '{']) {
            return true;
        }
        if matches!(word.as_str(), "." | "./") {
            let dir = call.dir.as_deref().unwrap_or_default();
            return dir.is_empty() || file.starts_with(&format!("{dir}/"));
        }
        let Some(path) = call.path(word) else {
            return false;
        };
        let glob = Glob::new(&path).map(|glob| glob.compile_matcher());
        path == file
            || file.starts_with(&format!("{}/", path.trim_end_matches('/')))
            || glob.is_ok_and(|glob| glob.is_match(file))
    })
}

#[cfg(test)]
mod tests {
    use super::touches;

    #[test]
    fn what_a_check_does_to_a_file_is_seen_in_its_text() {
        for check in [
            "chmod +x s/x.sh && s/x.sh",
            "chmod 755 ./s/x.sh; s/x.sh",
            "cd s && chmod +x x.sh && ./x.sh",
            "chmod -R +x s; sh s/x.sh",
            "chmod +x s/*.sh && s/x.sh",
            "chmod -R u+x .; sh s/x.sh",
            "chmod +x \"$(pwd)/s/x.sh\" && s/x.sh",
            "for f in s/x.sh; do chmod +x \"$f\"; done; s/x.sh",
            "find s -name '*.sh' -exec chmod +x {} +; s/x.sh",
            "touch s/x.sh",
            "cd s && chmod -R +x . && ./x.sh",
            "echo chmod; s/x.sh",
        ] {
            assert!(touches(check, "s/x.sh"), "{check}");
        }
        for check in [
            "s/x.sh",
            "chmod +x y.sh && s/x.sh",
            "chmod +x t/*.sh && s/x.sh",
            "cd t && chmod -R +x . && ../s/x.sh",
        ] {
            assert!(!touches(check, "s/x.sh"), "{check}");
        }
    }
}
