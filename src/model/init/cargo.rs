//! Cargo: it builds, its tests pass, clippy and rustdoc have nothing to say, it is formatted; what cargo-deny and coverage say. Pure.

mod calls;
mod doctests;
mod features;

use serde_json::Value;

use calls::Calls;
use doctests::Libraries;
use features::Features;

use super::offer::{Proposal, Role};
use super::{
    Found, Look, Wishes, first_of, has, homes, is_own, is_within, join, split, text_at, toml,
};

const INSTALL: &str = "see https://rustup.rs";
/// How many files are read to tell whether they need a nightly compiler.
const MOST_READ: usize = 200;
/// How many calls of members are made behind each other.
const MOST_APART: usize = 8;

/// One Cargo project.
struct Project<'a> {
    look: &'a dyn Look,
    home: &'a str,
    /// ` --workspace` where there is one.
    all: &'static str,
    /// ` --locked` where Cargo.lock is kept.
    locked: &'static str,
    features: Features,
    libraries: Libraries,
    /// What is tested, as CI has it where that tells.
    tested: Tested,
    source: String,
}

/// What commands build that test and lint a project.
#[derive(Default)]
struct Tested {
    /// Of the whole: the members that are left out, and the features; empty where CI tests members alone.
    whole: Option<(String, String)>,
    /// The same with features where CI tests the whole with its default features, too.
    beside: Option<(String, String)>,
    /// The package in the root of a workspace is tested with its default features, too, and the whole with others.
    has_root_by_default: bool,
    /// Members that are tested apart, for their features: options with a space in front.
    members: Vec<String>,
    /// The members that clippy leaves out, and the features that it is told.
    linted: String,
}

/// Proposes goals for each Cargo project.
pub(super) fn propose(look: &dyn Look, wishes: &Wishes, found: &mut Found) {
    let stands_alone = |folder: &str| has(look, &join(folder, "Cargo.lock"));
    for home in homes(look, "Cargo.toml", found, &stands_alone) {
        let path = join(&home, "Cargo.toml");
        let Some(manifest) = toml(look, &path) else {
            found.leave_out(format!("{path}: it cannot be read"));
            continue;
        };
        let is_workspace = manifest.get("workspace").is_some();
        let features = Features::of(look, &home, &manifest);
        let project = Project {
            look,
            home: &home,
            all: if is_workspace { " --workspace" } else { "" },
            locked: if has(look, &join(&home, "Cargo.lock")) {
                " --locked"
            } else {
                ""
            },
            libraries: Libraries::of(look, &home, &manifest),
            tested: Tested::of(look, &home, &manifest, &features),
            features,
            source: match is_workspace {
                true => format!("{path}, a workspace"),
                false => path,
            },
        };
        found.is_made_with(
            if is_workspace {
                "Cargo (workspace)"
            } else {
                "Cargo"
            },
            &home,
        );
        found.is_compiled = true;
        if home.is_empty() {
            found.name = text_at(&manifest, "/package/name").map(str::to_owned);
        }
        found.proposals.extend(project.checks());
        found.proposals.extend(project.tools());
        found.proposals.push(project.coverage(&manifest, wishes));
    }
}

impl Tested {
    fn of(look: &dyn Look, home: &str, manifest: &Value, features: &Features) -> Tested {
        let is_workspace = manifest.get("workspace").is_some();
        let has_root = is_workspace && manifest.get("package").is_some();
        let calls = Calls::of(look, home, &[&["test"], &["t"], &["nextest", "run"]]);
        let of_clippy = Calls::of(look, home, &[&["clippy"]]);
        let usable = |chosen: &String| {
            let is_all = chosen.contains("--all-features");
            !(chosen.is_empty() || is_all && features.needs_nightly)
        };
        // What CI turns on for some members alone others may not have, or not build with.
        let of_members = || {
            is_workspace
                && features
                    .tested
                    .iter()
                    .any(|it| calls.chooses_for_members(it))
        };
        let by_manifest = match of_members() {
            true => String::new(),
            false => features.of_tests.clone(),
        };
        let own = |widest: Option<(String, String)>| {
            let (left_out, chosen) = widest.unwrap_or_default();
            let chosen = Some(chosen).filter(usable);
            (left_out, chosen.unwrap_or_else(|| by_manifest.clone()))
        };
        let widest = calls.widest(has_root);
        // What is built by default is what users have: features may put other code in its place.
        let by_default = calls.by_default(has_root);
        let is_by_default = by_default.is_some();
        let (whole, beside) = match by_default {
            Some(left_out) => (Some((left_out, String::new())), widest),
            None => (widest, None),
        };
        let is_apart = is_workspace && whole.is_none() && calls.members() >= members(look, home);
        let has_whole = whole.is_some();
        let (left_out, chosen) = own(whole);
        let beside = beside.filter(|(_, of_it)| usable(of_it) && *of_it != chosen);
        let has_root_by_default = has_root
            && has_whole
            && !is_by_default
            && !chosen.is_empty()
            && calls.tests_root_by_default();
        let mut apart = match is_workspace && !chosen.contains("--all-features") {
            true => calls.of_members(),
            false => Vec::new(),
        };
        if !is_apart {
            apart.retain(|options| options.contains("features"));
        }
        apart.truncate(MOST_APART);
        let (left_out_of_lints, of_lints) = own(of_clippy.widest(has_root));
        let linted = left_out_of_lints + &of_lints;
        Tested {
            whole: (!is_apart || apart.is_empty()).then_some((left_out, chosen)),
            beside,
            has_root_by_default,
            members: apart,
            linted,
        }
    }
}

/// Returns how many packages lie in a folder and below it.
fn members(look: &dyn Look, home: &str) -> usize {
    let files = look.files().iter();
    let manifests = files.filter(|path| split(path).1 == "Cargo.toml" && is_own(path));
    let own = manifests.filter(|path| is_within(path, home));
    let has_package = |path: &&String| {
        let manifest = toml(look, path);
        manifest.is_some_and(|it| it.get("workspace").is_none() || it.get("package").is_some())
    };
    own.take(MOST_READ).filter(has_package).count().max(1)
}

impl Project<'_> {
    fn goal(&self, role: Role, id: &str, check: &str) -> Proposal {
        Proposal::new(role, id, self.home, check)
            .seen_in(&self.source)
            .needs(self.look, "cargo", INSTALL)
    }

    /// What Cargo itself tells.
    fn checks(&self) -> Vec<Proposal> {
        let Project { all, locked, .. } = self;
        let Features {
            of_docs, docs_wait, ..
        } = &self.features;
        let linted = &self.tested.linted;
        let (targets, source) = self.linted();
        let formats = if all.is_empty() {
            "cargo fmt --check"
        } else {
            "cargo fmt --all --check"
        };
        let docs = |goal: Proposal| match docs_wait {
            Some(why) => goal.lacks(why),
            None => goal,
        };
        let mut goals = vec![
            self.goal(
                Role::Build,
                "builds",
                &format!("cargo build --quiet{all}{locked}"),
            )
            .says("It builds")
            .same_as(&["cargo build", "cargo check"]),
            self.tests(),
            self.goal(
                Role::Lint,
                "clippy-clean",
                &format!("cargo clippy --quiet{all}{targets}{linted}{locked} -- -D warnings"),
            )
            .seen_in(source)
            .says("Clippy has nothing to say")
            .same_as(&["cargo clippy"])
            .needs(self.look, "cargo-clippy", "rustup component add clippy"),
            docs(self.goal(
                Role::Docs,
                "docs-build",
                &format!(
                    "RUSTDOCFLAGS='-D warnings' cargo doc --quiet{all} --no-deps{of_docs}{locked}"
                ),
            )
            .says("The documentation builds without a warning")
            .same_as(&["cargo doc", "cargo rustdoc"])),
            self.goal(Role::Format, "fmt-clean", formats)
                .says("Every file is formatted")
                .same_as(&["cargo fmt"])
                .needs(self.look, "cargo-fmt", "rustup component add rustfmt"),
        ];
        goals.extend(self.tests_with_features());
        goals.extend(self.doctests());
        goals
    }

    /// Returns which targets clippy looks at, and what the goal is seen in: all of them, or without benches where those alone need what
    /// only a nightly compiler has.
    fn linted(&self) -> (&'static str, String) {
        let pinned = ["rust-toolchain.toml", "rust-toolchain"].map(|name| join(self.home, name));
        let mut pinned = pinned.iter().filter_map(|path| self.look.read(path));
        let all = || (" --all-targets", self.source.clone());
        if pinned.any(|text| text.contains("nightly")) {
            return all();
        }
        let own = self.look.files().iter();
        let own = own.filter(|path| path.ends_with(".rs") && is_within(path, self.home));
        let (benches, others): (Vec<&String>, Vec<&String>) =
            own.partition(|path| path.split('/').any(|part| part == "benches"));
        let is_for_nightly = |path: &&&String| {
            let text = self.look.read(path).unwrap_or_default();
            text.lines().any(|line| line.starts_with("#![feature("))
        };
        let Some(bench) = benches.iter().take(MOST_READ).find(is_for_nightly) else {
            return all();
        };
        // What builds nothing else without it is nightly's as a whole.
        let is_root = |path: &&&String| {
            let is_named = matches!(split(path).1, "lib.rs" | "main.rs");
            let mut folders = path.split('/');
            is_named || folders.any(|part| matches!(part, "bin" | "examples" | "tests"))
        };
        let mut roots = others.iter().filter(is_root).take(MOST_READ);
        if roots.any(|path| is_for_nightly(&path)) {
            return all();
        }
        let has_library = others.iter().any(|path| split(path).1 == "lib.rs");
        let targets = match has_library {
            true => " --lib --bins --tests --examples",
            false => " --bins --tests --examples",
        };
        let source = &self.source;
        let why = format!("{source}, without benches as {bench} needs a nightly compiler");
        (targets, why)
    }

    /// Says whether nextest runs the tests: where the project is set up for it.
    fn has_nextest(&self) -> bool {
        has(self.look, &join(self.home, ".config/nextest.toml")) && self.look.finds("cargo-nextest")
    }

    /// Returns the command that runs tests.
    fn runs_tests(&self) -> &'static str {
        match self.has_nextest() {
            true => "cargo nextest run",
            false => "cargo test --quiet",
        }
    }

    /// Tests with the features with which CI runs them beside those by default.
    fn tests_with_features(&self) -> Option<Proposal> {
        let beside = self.tested.beside.as_ref()?;
        let (features, call) = (&beside.1, self.runs_tests());
        let check = format!("{call}{}{}", self.of_whole(beside), self.locked);
        let goal = self.goal(Role::Test, "tests-pass-with-features", &check);
        Some(
            goal.says(format!("All tests pass with{features}"))
                .same_as(&["cargo test", "cargo nextest", "cargo t "]),
        )
    }

    /// Returns the options of each call that tests what CI tests, with a space in front.
    fn tested(&self) -> Vec<String> {
        let Tested { whole, members, .. } = &self.tested;
        let root = self.tested.has_root_by_default.then(String::new);
        let whole = whole.iter().map(|it| self.of_whole(it));
        let all = root.into_iter().chain(whole);
        all.chain(members.iter().cloned()).collect()
    }

    /// Returns the options that test the whole, with the members that are left out and the features.
    fn of_whole(&self, (left_out, features): &(String, String)) -> String {
        format!("{}{left_out}{features}", self.all)
    }

    /// The examples in the documentation, which nextest does not run.
    fn doctests(&self) -> Option<Proposal> {
        let beside = self.tested.beside.as_ref().map(|it| self.of_whole(it));
        let all = self.tested().into_iter().chain(beside);
        let all = all.filter_map(|some| self.libraries.options(&some));
        let all = all.map(|some| format!("cargo test --doc --quiet{some}{}", self.locked));
        let all: Vec<String> = all.filter(|_| self.has_nextest()).collect();
        let goal = self.goal(Role::Test, "doctests-pass", &all.join(" && "));
        let goal = goal
            .says("The examples in the documentation pass")
            .same_as(&["cargo test --doc"]);
        (!all.is_empty()).then_some(goal)
    }

    /// Tests of all that CI tests.
    fn tests(&self) -> Proposal {
        let (call, locked) = (self.runs_tests(), self.locked);
        let all = self.tested();
        let all: Vec<String> = all.iter().map(|it| format!("{call}{it}{locked}")).collect();
        self.goal(Role::Test, "tests-pass", &all.join(" && "))
            .says("All tests pass")
            .same_as(&["cargo test", "cargo nextest", "cargo t "])
    }

    /// Tools with a configuration of their own.
    fn tools(&self) -> Vec<Proposal> {
        let mut goals = Vec::new();
        if let Some(file) = first_of(self.look, self.home, &["deny.toml", ".cargo/deny.toml"]) {
            let check = "cargo deny check bans licenses sources";
            goals.push(
                self.goal(Role::Structure, "dependencies-allowed", check)
                    .says("Every dependency is one that deny.toml allows")
                    .seen_in(join(self.home, file))
                    .same_as(&["cargo deny", "cargo-deny"])
                    .needs(self.look, "cargo-deny", "cargo install --locked cargo-deny"),
            );
        }
        goals
    }

    /// How much tests run: by the tool that the project is set up for, else by the one that is installed.
    fn coverage(&self, manifest: &Value, wishes: &Wishes) -> Proposal {
        let Project {
            all, locked, look, ..
        } = self;
        let of_whole = self.tested.whole.as_ref();
        let features = of_whole.map_or(String::new(), |(left_out, it)| format!("{left_out}{it}"));
        let settings = first_of(*look, self.home, &["tarpaulin.toml", ".tarpaulin.toml"]);
        let is_tarpaulin =
            settings.is_some() || !look.finds("cargo-llvm-cov") && look.finds("cargo-tarpaulin");
        let below = |path: &str| {
            format!(
                "{{lcov: {}}}",
                super::render::scalar(&join(self.home, path))
            )
        };
        let goal = match is_tarpaulin {
            true => {
                let out = "--skip-clean --target-dir target/tarpaulin --out Lcov --output-dir target/tarpaulin";
                let own = settings.and_then(|file| toml(*look, &join(self.home, file)));
                let own = own.as_ref().and_then(tarpaulin_floor);
                self.goal(
                    Role::Coverage,
                    "coverage-floor",
                    &format!("cargo tarpaulin{all}{features}{locked} {out}"),
                )
                .covers(own, wishes.coverage, &below("target/tarpaulin/lcov.info"))
                .needs(
                    *look,
                    "cargo-tarpaulin",
                    "cargo install --locked cargo-tarpaulin",
                )
            }
            false => {
                let out = "--lcov --output-path target/coverage.info";
                let own = manifest.pointer("/package/metadata/coverage/floor");
                let own = own.and_then(Value::as_f64);
                self.goal(
                    Role::Coverage,
                    "coverage-floor",
                    &format!("cargo llvm-cov --quiet{all}{features}{locked} {out}"),
                )
                .covers(own, wishes.coverage, &below("target/coverage.info"))
                .needs(
                    *look,
                    "cargo-llvm-cov",
                    "cargo install --locked cargo-llvm-cov",
                )
            }
        };
        goal.same_as(&["cargo llvm-cov", "cargo tarpaulin", "cargo-llvm-cov"])
    }
}

/// Returns the floor that a configuration of tarpaulin sets, in whichever profile.
fn tarpaulin_floor(settings: &Value) -> Option<f64> {
    let profiles = settings.as_object()?.values();
    profiles
        .filter_map(|one| one.get("fail-under")?.as_f64())
        .next()
}
