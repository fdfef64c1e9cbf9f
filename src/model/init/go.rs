//! Go: it builds, `go vet` and golangci-lint find nothing, tests pass and run enough of it, it is formatted. Pure.

use super::offer::{Proposal, Role};
use super::{Found, Look, Wishes, first_of, homes, is_within, join, split};

const INSTALL: &str = "see https://go.dev/doc/install";
const GOLANGCI: [&str; 4] = [
    ".golangci.yml",
    ".golangci.yaml",
    ".golangci.toml",
    ".golangci.json",
];
/// The profile is a file of nobody's that is gone when the check ends.
const COVERAGE: &str = "profile=$(mktemp) && trap 'rm -f \"$profile\"' EXIT || exit
go test -coverprofile=\"$profile\" ./... && go tool cover -func=\"$profile\"";

/// Proposes goals for each Go module.
pub(super) fn propose(look: &dyn Look, wishes: &Wishes, found: &mut Found) {
    // A module below another one is left out by the upper one's `./...`.
    for home in homes(look, "go.mod", found, &|_| true) {
        found.is_made_with("Go", &home);
        found.is_compiled = true;
        let source = join(&home, "go.mod");
        let goal = |role, id: &str, check: &str| {
            Proposal::new(role, id, &home, check)
                .seen_in(&source)
                .needs(look, "go", INSTALL)
        };
        found.proposals.extend([
            goal(Role::Build, "builds", "go build ./...")
                .says("Every package builds")
                .same_as(&["go build"]),
            goal(Role::Test, "tests-pass", "go test ./...")
                .says("All tests pass")
                .same_as(&["go test"]),
            goal(Role::Lint, "vet-clean", "go vet ./...")
                .says("go vet finds nothing")
                .same_as(&["go vet"]),
            goal(Role::Format, "gofmt-clean", &formatted(look, &home))
                .says("Every file is formatted")
                .same_as(&["gofmt", "gofumpt"])
                .needs(look, "gofmt", INSTALL),
            goal(Role::Coverage, "coverage-floor", COVERAGE)
                .covers(
                    None,
                    wishes.coverage,
                    r"{regex: 'total:\s+\(statements\)\s+([0-9.]+)%'}",
                )
                .same_as(&["-coverprofile", "go tool cover"]),
        ]);
        if let Some(file) = first_of(look, &home, &GOLANGCI) {
            found.proposals.push(
                Proposal::new(Role::Lint, "golangci-clean", &home, "golangci-lint run")
                    .says("golangci-lint finds nothing")
                    .seen_in(join(&home, file))
                    .same_as(&["golangci-lint"])
                    .needs(look, "golangci-lint", "see https://golangci-lint.run"),
            );
        }
    }
}

/// Lists what is not formatted, but for other people's files and those that tests read.
fn formatted(look: &dyn Look, home: &str) -> String {
    let is_others = |path: &&String| {
        let (folder, name) = split(path);
        let mut parts = folder.split('/');
        is_within(path, home)
            && name.ends_with(".go")
            && parts.any(|it| ["vendor", "testdata"].contains(&it))
    };
    match look.files().iter().any(|path| is_others(&path)) {
        true => "! gofmt -l . | grep -vE '(^|/)(vendor|testdata)/'".to_owned(),
        false => "! gofmt -l . | grep .".to_owned(),
    }
}
