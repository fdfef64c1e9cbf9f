//! What `go vet` prints: `path:line:column: message` a line, below a line for each package; what does not compile is
//! marked with `vet:`. Pure.

use std::sync::LazyLock;

use regex::Regex;

use crate::model::sweep::Finding;

static LINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:vet: )?(\S.*?\.go):(\d+):(?:\d+:)? (.+)$")
        .expect("BUG: the pattern is invalid")
});

/// Reads the output.
pub fn read(output: &str) -> Vec<Finding> {
    let finding = |line: &str| {
        let found = LINE.captures(line)?;
        Some(Finding {
            file: found[1].to_owned(),
            line: found[2].parse().ok()?,
            rule: String::new(),
            message: found[3].to_owned(),
        })
    };
    output.lines().filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_1_19_is_read() {
        let text = include_str!("../../../../tests/sweep_outputs/go_vet.txt");
        let shown: Vec<_> = read(text)
            .iter()
            .map(|one| format!("{}:{} {}", one.file, one.line, one.message))
            .collect();
        assert_eq!(
            shown,
            [
                "sub/s.go:5 self-assignment of x to x",
                "./main.go:6 fmt.Printf format %d has arg \"x\" of wrong type string",
                "./main.go:8 unreachable code",
            ]
        );
    }

    #[test]
    fn what_does_not_compile_is_found_too() {
        let found = read("# example.com/x/sub\nvet: sub/s.go:3:9: expected ')', found '{'\n");
        assert_eq!((found[0].file.as_str(), found[0].line), ("sub/s.go", 3));
    }
}
