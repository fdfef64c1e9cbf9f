//! Which commands do more than look: they send something away, or start what goes on until somebody ends it. Pure.

use super::call::{self, of_module, stem};

/// What sends something away as the first thing that a program is asked for, and as the name of a task.
const VERBS: [&str; 9] = [
    "deploy",
    "gh-deploy",
    "publish",
    "push",
    "release",
    "unpublish",
    "upload",
    "uploadArchives",
    "yank",
];
/// Programs whose words are files, patterns or code: there a verb asks for nothing.
const OF_WORDS: [&str; 46] = [
    "[",
    "[[",
    "ag",
    "awk",
    "bash",
    "black",
    "cat",
    "cd",
    "chmod",
    "codespell",
    "cp",
    "diff",
    "du",
    "echo",
    "eslint",
    "export",
    "find",
    "flake8",
    "for",
    "grep",
    "head",
    "isort",
    "jest",
    "ls",
    "mkdir",
    "mocha",
    "mv",
    "mypy",
    "node",
    "perl",
    "prettier",
    "printf",
    "pylint",
    "pytest",
    "python",
    "rg",
    "rm",
    "ruby",
    "ruff",
    "set",
    "sh",
    "shellcheck",
    "tar",
    "test",
    "touch",
    "vitest",
];
/// What stands before the verb: `docker compose push`.
const GROUPS: [&str; 14] = [
    "app",
    "buildx",
    "changeset",
    "compose",
    "container",
    "functions",
    "hosting",
    "image",
    "manifest",
    "npm",
    "pages",
    "run",
    "workers",
    "workspaces",
];
/// Programs that send something away, but for what is asked of them here.
const SENDERS: [(&str, &[&str]); 33] = [
    ("ansible-playbook", &["--check", "--syntax-check"]),
    ("aws", &[]),
    ("az", &["bicep"]),
    ("chromatic", &[]),
    ("codecov", &[]),
    ("coveralls", &[]),
    ("gcloud", &[]),
    ("gh-pages", &[]),
    ("ghp-import", &[]),
    (
        "goreleaser",
        &["build", "check", "healthcheck", "--snapshot"],
    ),
    ("kubectl", &["config", "explain", "kustomize", "version"]),
    ("lftp", &[]),
    ("mail", &[]),
    ("netlify", &["build", "dev"]),
    ("np", &[]),
    ("release-it", &[]),
    ("release-plz", &["config"]),
    ("rsync", &[]),
    ("s3cmd", &[]),
    ("scp", &[]),
    ("semantic-release", &[]),
    ("sendmail", &[]),
    ("sftp", &[]),
    ("ssh", &["-V"]),
    ("standard-version", &[]),
    ("surge", &[]),
    ("vercel", &["build", "dev", "pull"]),
    ("wrangler", &["build", "dev", "types"]),
    ("flyctl", &["status"]),
    ("gsutil", &[]),
    ("heroku", &[]),
    ("skopeo", &["inspect"]),
    ("sonar-scanner", &[]),
];
/// What sends something away, or needs the account of somebody, and bears no verb of that meaning.
const ASKED: [(&str, &[&str]); 9] = [
    ("cargo", &["login", "owner"]),
    ("gh", &["api", "issue", "pr", "release", "workflow"]),
    ("helm", &["install", "rollback", "uninstall", "upgrade"]),
    (
        "npm",
        &["adduser", "deprecate", "dist-tag", "login", "owner"],
    ),
    ("pnpm", &["dist-tag", "login"]),
    ("pulumi", &["destroy", "up"]),
    ("terraform", &["apply", "destroy", "import"]),
    ("tofu", &["apply", "destroy", "import"]),
    ("yarn", &["login"]),
];
/// Options that have curl send.
const OF_CURL: [&str; 5] = ["-F", "-T", "-d", "--form", "--upload-file"];
/// What has git change the repository or its index: a check that runs at night must not.
const OF_GIT: [&str; 16] = [
    "add",
    "am",
    "cherry-pick",
    "clean",
    "commit",
    "merge",
    "mv",
    "pull",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "tag",
];
/// Options by which git only lists.
const LISTS: [&str; 9] = [
    "--contains",
    "--list",
    "--merged",
    "--points-at",
    "--sort",
    "--verify",
    "-l",
    "-v",
    "list",
];
/// Programs that serve until somebody ends them.
const SERVERS: [&str; 20] = [
    "air",
    "bacon",
    "browser-sync",
    "daphne",
    "entr",
    "gunicorn",
    "http-server",
    "hypercorn",
    "json-server",
    "live-server",
    "nodemon",
    "redis-server",
    "serve",
    "start-storybook",
    "supervisord",
    "uvicorn",
    "waitress-serve",
    "watchexec",
    "webpack-dev-server",
    "watchman",
];
/// What a program is asked for that serves until somebody ends it.
const SERVES: [(&str, &[&str]); 26] = [
    ("artisan", &["serve"]),
    ("astro", &["dev", "preview"]),
    ("cargo", &["watch"]),
    ("docusaurus", &["serve", "start"]),
    ("flask", &["run"]),
    ("gatsby", &["develop", "serve"]),
    ("gradle", &["bootRun"]),
    ("gradlew", &["bootRun"]),
    ("hugo", &["serve", "server"]),
    ("jekyll", &["s", "serve"]),
    ("mdbook", &["serve", "watch"]),
    ("mkdocs", &["serve"]),
    ("mvn", &["quarkus:dev", "spring-boot:run"]),
    ("mvnw", &["quarkus:dev", "spring-boot:run"]),
    ("next", &["dev", "start"]),
    ("ng", &["serve"]),
    ("nuxt", &["dev", "preview"]),
    ("rails", &["s", "server"]),
    ("skaffold", &["dev"]),
    ("storybook", &["dev"]),
    ("tilt", &["up"]),
    ("trunk", &["serve"]),
    ("vite", &["dev", "preview", "serve"]),
    ("vitepress", &["dev", "preview", "serve"]),
    ("vue-cli-service", &["serve"]),
    ("webpack", &["serve"]),
];
/// Words in the name of a task that says what it looks for, or that it runs tests.
const LOOKS: [&str; 12] = [
    "check", "checks", "diff", "dry", "lint", "notes", "spec", "specs", "test", "tests",
    "validate", "verify",
];

/// Says whether a command sends something away, or somewhere from where others have it.
pub fn sends(words: &[String]) -> bool {
    let words = of_module(words);
    let program = stem(&words[0]);
    let program = program.as_str();
    let all: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let has = |some: &[&str]| all.iter().any(|word| some.contains(word));
    let operands = operands(program, &all);
    let first = operands.first().copied().unwrap_or_default();
    let listed = |table: &[(&str, &'static [&'static str])]| {
        let mut table = table.iter();
        table
            .find(|(name, _)| *name == program)
            .map(|(_, all)| *all)
    };
    let begins = |some: &[&str]| {
        all.iter()
            .any(|word| some.iter().any(|it| word.starts_with(it)))
    };
    match program {
        "git" => return operands.first() == Some(&"push"),
        "curl" => {
            let is_own = all
                .iter()
                .any(|it| it.contains("localhost") || it.contains("127.0.0.1"));
            let asks = all.windows(2).any(|two| {
                ["-X", "--request"].contains(&two[0]) && !["GET", "HEAD"].contains(&two[1])
            });
            return !is_own
                && (asks || has(&OF_CURL) || begins(&["--data", "--json", "-XP", "-XD"]));
        }
        "gradle" | "gradlew" | "mvn" | "mvnw" | "sbt" => {
            let is_sent = |word: &&&str| {
                let task = word.rsplit(':').next().unwrap_or(word);
                let is_release = ["deploy:", "release:", "sonar:"]
                    .iter()
                    .any(|plugin| word.starts_with(plugin));
                let is_published = task.starts_with("publish")
                    && !task.ends_with("Local")
                    && !task.ends_with("MavenLocal");
                VERBS.contains(&task) || is_release || is_published || task == "site-deploy"
            };
            return operands.iter().any(|word| is_sent(&word));
        }
        _ => {}
    }
    if let Some(but) = listed(&SENDERS) {
        return !has(but);
    }
    let is_group = GROUPS.contains(&first);
    let is_packages = matches!(program, "bun" | "lerna" | "npm" | "pnpm" | "yarn");
    let is_asked = listed(&ASKED).is_some_and(|asked| asked.contains(&first));
    let is_verb = !OF_WORDS.contains(&program) && VERBS.contains(&first);
    let is_in_group = is_group && operands.iter().any(|word| VERBS.contains(word));
    let is_published = is_packages && has(&["publish"]);
    is_asked
        || is_verb
        || is_in_group && (program, first) != ("cargo", "run")
        || is_published
        || has(&["--push"])
}

/// Says whether a command starts what goes on until somebody ends it.
pub fn serves(words: &[String]) -> bool {
    let words = of_module(words);
    let program = stem(&words[0]);
    let program = program.as_str();
    let all: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let has = |some: &[&str]| all.iter().any(|word| some.contains(word));
    let operands = operands(program, &all);
    let first = operands.first().copied();
    let asked = SERVES.iter().find(|(name, _)| *name == program);
    match program {
        "docker" | "podman" | "docker-compose" | "podman-compose" => {
            let is_compose = program.ends_with("-compose") || first == Some("compose");
            let begins = ["--exit-code-from", "--abort-on-container-exit"];
            let ends = all
                .iter()
                .any(|word| begins.iter().any(|it| word.starts_with(it)));
            let is_left = first == Some("run") && has(&["-d", "--detach"]);
            is_compose && (has(&["start"]) || has(&["up"]) && !ends) || is_left
        }
        "python" => has(&["runserver"]),
        "http.server" => true,
        "php" => has(&["-S"]) || has(&["artisan"]) && has(&["serve"]),
        "manage.py" => first == Some("runserver"),
        "tsc" => has(&["-w", "--watch"]),
        "tail" => has(&["-f", "-F", "--follow"]),
        "vite" => first.is_none_or(|it| asked.is_some_and(|(_, all)| all.contains(&it))),
        "gradle" | "gradlew" | "mvn" | "mvnw" => asked.is_some_and(|(_, all)| has(all)),
        _ => {
            let is_asked = |(_, all): &(&str, &[&str])| first.is_some_and(|it| all.contains(&it));
            SERVERS.contains(&program) || asked.is_some_and(is_asked)
        }
    }
}

/// Says whether a command of git changes the repository, its index or its working tree.
pub fn is_gits_change(words: &[String]) -> bool {
    let all: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let operands = operands("git", &all);
    let lists = all.iter().any(|word| LISTS.contains(word)) || all == ["tag"];
    let looks = all.contains(&"--check") || all.contains(&"--dry-run") || all.contains(&"-n");
    let is_change = match operands.first() {
        Some(&"checkout") => all.contains(&"--") || all.contains(&"."),
        Some(first) => OF_GIT.contains(first),
        None => false,
    };
    stem(&words[0]) == "git" && is_change && !lists && !looks
}

/// Returns the words that are neither options nor, as far as it is known, their values, nor variables.
fn operands<'w>(program: &str, words: &[&'w str]) -> Vec<&'w str> {
    let takes: &[&str] = match program {
        "git" => &["-C", "-c", "--git-dir", "--work-tree"],
        "cargo" => &["--manifest-path", "-p", "-C", "--config"],
        "make" | "gmake" => &["-C", "-f", "-I", "--directory", "--file"],
        "just" => &["-d", "-f", "--justfile", "--working-directory"],
        "docker" | "docker-compose" | "podman" => &["-f", "--file", "-p", "-H", "--context"],
        "npm" | "pnpm" | "yarn" | "bun" => &["--prefix", "-C", "--dir", "--cwd", "--filter", "-F"],
        _ => &[],
    };
    let mut found = call::operands(words, |word| takes.contains(&word));
    found.retain(|word| !word.contains('='));
    found
}

/// Says whether a task, or a script's file, is called as one that sends something away.
pub fn is_called_a_sender(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let is_made = is_of_release(name);
    words.any(|word| VERBS.contains(&word) && !(is_made && word == "release")) && !only_looks(name)
}

/// Says whether a job is called as one that sends something away.
pub fn is_sending_job(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let verbs = ["deploy", "publish", "release", "upload"];
    let is_made = is_of_release(&name);
    let sends = words.any(|word| {
        let is_one = verbs.iter().any(|verb| word.starts_with(verb));
        is_one && !(is_made && word == "release")
    });
    sends && !only_looks(&name)
}

/// Says whether a name says that something is made as it is for a release, and not that it is released: `build-release`.
fn is_of_release(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let is_first = words.next() == Some("release");
    let does_more = words.any(|word| word == "and") || name.contains(['&', '+']);
    !is_first && !does_more
}

/// Says whether a name says that it is about looking, and about nothing else.
fn only_looks(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let looks = words.clone().any(|word| LOOKS.contains(&word));
    looks && !words.any(|word| word == "and") && !name.contains(['&', '+'])
}

/// Says whether a task is called as one that goes on.
pub fn is_called_a_server(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let goes_on = ["dev", "runserver", "serve", "start", "watch"];
    let is_one = words.next().is_some_and(|word| goes_on.contains(&word));
    is_one && !words.any(|word| LOOKS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::super::{Does, done, is_sending_job};

    fn first(text: &str) -> Does {
        done(text)[0].does
    }

    #[test]
    fn what_sends_something_away_is_told_by_words_and_not_by_letters() {
        for text in [
            "npx gh-pages -d dist",
            "wrangler pages publish",
            "docker buildx build --push -t x .",
            "docker compose -f a.yml push",
            "docker image push x",
            "./gradlew build publish",
            "gradle :app:publishPlugins",
            "mvn -B deploy",
            "mvn release:perform",
            "make publish",
            "just release",
            "npx lerna publish from-git --yes",
            "pnpm -r --filter x publish",
            "yarn npm publish",
            "git -C a push origin main",
            "cargo +nightly publish",
            "poetry run twine upload dist/*",
            "gh pr comment 1 -b x",
            "aws s3 sync . s3://x",
            "A=b sudo rsync -a . h:",
            "mkdocs gh-deploy",
            "hatch publish",
            "terraform apply -auto-approve",
            "curl -X POST https://x",
            "curl --data @f https://x",
            "invoke deploy",
            "python -m twine upload dist/*",
            "python3 -Im twine upload dist/*",
            "cargo workspaces publish",
            "mvn deploy:deploy-file",
            "gsutil cp a b",
        ] {
            assert_eq!(first(text), Does::Sends, "{text}");
        }
        for text in [
            "pytest tests/test_deploy.py",
            "pytest deploy",
            "cargo test --features ssh --all",
            "cargo test push",
            "cargo run push",
            "pnpm --filter @firebase/app test",
            "npm run test -w @vercel/nft",
            "goreleaser check",
            "cargo publish --dry-run",
            "npm publish --dry-run",
            "helm lint charts",
            "kubectl version",
            "terraform plan",
            "go test ./pkg/deploy/...",
            "make -C deploy test",
            "make test-release",
            "git diff --exit-code",
            "grep -rn push src",
            "mvn clean install",
            "gradle publishToMavenLocal",
            "twine check dist/*",
            "docker build -t x .",
            "curl -f https://x",
            "curl -d a http://localhost:1",
        ] {
            assert_ne!(first(text), Does::Sends, "{text}");
        }
    }

    #[test]
    fn what_goes_on_until_somebody_ends_it_is_known() {
        for text in [
            "docker compose up -d",
            "docker-compose -f a.yml up",
            "docker run -d nginx",
            "mdbook serve",
            "flask run",
            "python3 manage.py runserver",
            "python -m http.server 80",
            "./gradlew :app:x bootRun",
            "hugo server",
            "php artisan serve",
            "npx vite",
            "tsc -w",
            "uvicorn a:b",
        ] {
            assert_eq!(first(text), Does::Serves, "{text}");
        }
        for text in [
            "docker compose up --abort-on-container-exit",
            "docker compose build",
            "docker run x",
            "mdbook build",
            "npx vite build",
            "python3 manage.py test",
            "flask db check",
            "hugo",
        ] {
            assert_ne!(first(text), Does::Serves, "{text}");
        }
    }

    #[test]
    fn jobs_that_only_look_are_told_by_a_word_unless_they_do_something_besides() {
        for (name, expected) in [
            ("release", true),
            ("Deployment", true),
            ("pages-deploy", true),
            ("Test and publish", true),
            ("Check + release", true),
            ("test-release", false),
            ("check-release-notes", false),
            ("Upload API tests", false),
            ("build-release", false),
            ("default-build-release", false),
            ("release-build", true),
            ("Build and release", true),
            ("publish-release", true),
            ("push", false),
        ] {
            assert_eq!(is_sending_job(name), expected, "{name}");
        }
    }

    #[test]
    fn what_git_changes_is_told_from_what_it_lists() {
        for (text, expected) in [
            ("git commit -am x", true),
            ("git -c a=b add -A", true),
            ("git tag v1", true),
            ("git tag", false),
            ("git tag --list", false),
            ("git add -n .", false),
            ("git stash list", false),
            ("git diff", false),
        ] {
            assert_eq!(first(text) == Does::Writes, expected, "{text}");
        }
    }
}
