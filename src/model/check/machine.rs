//! Which commands change the machine that they run on: they install, end or set up what is not the repository's. Pure.

use std::sync::LazyLock;

use regex::Regex;

use super::call::{self, of_module, stem};

/// What changes the machine whatever it is asked for.
const ALWAYS: [&str; 22] = [
    "apt-key",
    "chsh",
    "createdb",
    "createuser",
    "dropdb",
    "dropuser",
    "groupadd",
    "hostnamectl",
    "insmod",
    "iptables",
    "killall",
    "ldconfig",
    "modprobe",
    "mount",
    "pkill",
    "reboot",
    "rmmod",
    "shutdown",
    "umount",
    "useradd",
    "userdel",
    "usermod",
];
/// What does so where it is asked for one of these.
const ASKED: [(&str, &[&str]); 24] = [
    ("apk", &["add", "del", "upgrade"]),
    ("apt", OF_APT),
    ("apt-get", OF_APT),
    (
        "brew",
        &["install", "link", "tap", "uninstall", "unlink", "upgrade"],
    ),
    ("cargo", &["install", "uninstall"]),
    ("conda", &["install", "remove", "update"]),
    ("dnf", OF_APT),
    ("docker", OF_DOCKER),
    ("docker-compose", OF_DOCKER),
    ("gem", &["install", "uninstall", "update"]),
    ("go", &["install"]),
    ("mamba", &["install", "remove", "update"]),
    ("pip", &["install", "uninstall"]),
    ("pipx", &["install", "uninstall", "upgrade"]),
    ("podman", OF_DOCKER),
    ("podman-compose", OF_DOCKER),
    (
        "rustup",
        &["component", "default", "target", "toolchain", "update"],
    ),
    ("service", OF_SYSTEM),
    ("snap", &["install", "remove"]),
    ("systemctl", OF_SYSTEM),
    ("yum", OF_APT),
    ("zypper", OF_APT),
    ("port", &["install", "uninstall"]),
    ("choco", &["install", "uninstall", "upgrade"]),
];
const OF_APT: &[&str] = &[
    "autoremove",
    "dist-upgrade",
    "in",
    "install",
    "purge",
    "remove",
    "update",
    "upgrade",
];
const OF_DOCKER: &[&str] = &["down", "kill", "prune", "restart", "rm", "rmi", "stop"];
const OF_SYSTEM: &[&str] = &[
    "daemon-reload",
    "disable",
    "enable",
    "reload",
    "restart",
    "start",
    "stop",
];
/// What changes what a database, a machine or a cluster holds, each by its words.
const CHANGING: [&[&str]; 25] = [
    &["alembic", "downgrade"],
    &["alembic", "upgrade"],
    &["diesel", "database"],
    &["diesel", "migration", "run"],
    &["dotnet", "ef", "database"],
    &["flask", "db", "downgrade"],
    &["flask", "db", "upgrade"],
    &["flyway", "migrate"],
    &["kill-port"],
    &["kind", "create"],
    &["kind", "delete"],
    &["manage.py", "flush"],
    &["manage.py", "loaddata"],
    &["manage.py", "migrate"],
    &["manage.py", "reset_db"],
    &["minikube", "delete"],
    &["minikube", "start"],
    &["prisma", "db", "push"],
    &["prisma", "migrate"],
    &["redis-cli", "FLUSHALL"],
    &["redis-cli", "flushall"],
    &["serverless", "remove"],
    &["sls", "remove"],
    &["sqlx", "migrate", "run"],
    &["vagrant", "destroy"],
];
/// Programs with tasks for a database: how the names of these begin, and those that only ask.
const OF_DATABASES: [(&str, &str, &[&str]); 9] = [
    ("artisan", "db:", &["db:monitor", "db:show", "db:table"]),
    ("artisan", "migrate", &["migrate:status"]),
    ("knex", "migrate:", &["migrate:list", "migrate:status"]),
    ("knex", "seed:", &[]),
    ("mix", "ecto.", &["ecto.migrations"]),
    ("rails", "db:", OF_RAILS),
    ("rake", "db:", OF_RAILS),
    ("sequelize", "db:", &["db:migrate:status"]),
    ("sequelize-cli", "db:", &["db:migrate:status"]),
];
const OF_RAILS: &[&str] = &[
    "db:abort_if_pending_migrations",
    "db:migrate:status",
    "db:version",
];
/// What may stand before them, and is no wrapper that is taken off anyway.
const RUNNERS: [&str; 5] = ["php", "pnpm", "python", "python3", "yarn"];
/// Before what Docker is asked for stands what it is asked about: `docker container rm`.
const GROUPS: [&str; 6] = [
    "compose",
    "container",
    "image",
    "network",
    "system",
    "volume",
];
/// Variables that have tests write what they are to compare with.
const UPDATES: [&str; 7] = [
    "BLESS",
    "INSTA_UPDATE",
    "UPDATE_EXPECT",
    "UPDATE_GOLD",
    "UPDATE_GOLDEN",
    "UPDATE_GOLDENS",
    "UPDATE_SNAPSHOTS",
];

/// Output that goes where the machine's files are, or the user's.
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    let places = r"~|\$\{?HOME\b|/(?:etc|usr|opt|var|boot|lib|root|home)/";
    Regex::new(&format!(
        r#"(?:^|[^<>\w=-])\d?>>?\|?\s*["']?(?<to>(?:{places})[^\s"'`;&|()<>]*)"#
    ))
    .expect("BUG: a pattern of ours is no pattern")
});

/// A program of others that is fetched and run at once.
static FETCHED: LazyLock<Regex> = LazyLock::new(|| {
    let shells = r"(?:/\S*/)?(?:ba|da|z|k)?sh\b";
    let fetch = r"\b(?:curl|wget)\s";
    Regex::new(&format!(
        r"{fetch}[^|;&\n]*\|\s*(?:sudo\s+)?{shells}|\b{shells}\s+<\(\s*{fetch}"
    ))
    .expect("BUG: a pattern of ours is no pattern")
});

/// What is taken away from the user's home, by the variable that names it (a command's words no longer say which that was), or by a
/// search of it or of everything.
static TAKEN: LazyLock<Regex> = LazyLock::new(|| {
    let home = r"\$(?:\{HOME\}|\(HOME\)|\$?HOME\b)";
    let taken = r"\b(?:rm|rmdir)\s(?:[^;|&\n]*\s)?";
    let found = r"\bfind\s+";
    Regex::new(&format!(
        r#"{taken}["']?{home}[^\s"';|&]*|{found}["']?(?:{home}|~|/\s)[^;|&\n]*\s-(?:delete\b|exec\s+rm\b)"#
    ))
    .expect("BUG: a pattern of ours is no pattern")
});

/// Says whether a command changes what a database, a machine or a cluster holds.
fn changes_what_is_held(words: &[String]) -> bool {
    let words = words.iter().filter(|word| !word.starts_with('-'));
    let words: Vec<&str> = words
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .skip_while(|word| RUNNERS.contains(word))
        .collect();
    let Some((program, asked)) = words.split_first() else {
        return false;
    };
    let is_task = |(of, begin, asking): &(&str, &str, &[&str])| {
        let mut asked = asked.iter();
        of == program && asked.any(|task| task.starts_with(begin) && !asking.contains(task))
    };
    CHANGING.iter().any(|these| words.starts_with(these)) || OF_DATABASES.iter().any(is_task)
}

/// Says whether a command changes the machine.
pub fn alters(words: &[String]) -> bool {
    if changes_what_is_held(words) {
        return true;
    }
    let Some((program, rest)) = of_module(words).split_first() else {
        return false;
    };
    // What an environment of the project's own has stays in there.
    if program.contains('/') && !program.starts_with("/usr/") && !program.starts_with("/bin/") {
        return false;
    }
    let program = stem(program);
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let has = |some: &[&str]| rest.iter().any(|word| some.contains(word));
    let operands = call::operands(&rest, |word| {
        matches!(word, "-f" | "--file" | "-p" | "--timeout" | "--retries")
    });
    let mut asked = operands.iter().skip_while(|word| GROUPS.contains(word));
    let asked = asked.next().copied().unwrap_or_default();
    let is_of_machine = |word: &&str| {
        let places = [
            "~", "/boot/", "/etc/", "/home/", "/lib/", "/opt/", "/root/", "/usr/", "/var/",
        ];
        *word == "/" || places.iter().any(|place| word.starts_with(place))
    };
    let is_outside = |word: &&str| is_of_machine(word) || *word == ".." || word.starts_with("../");
    let elsewhere = ["--target", "-t", "--prefix", "--root", "--dry-run"];
    match program.as_str() {
        "kill" => !has(&["-0", "-l"]),
        "cp" | "ln" | "mv" => operands.last().is_some_and(is_of_machine),
        "chmod" | "chown" | "mkdir" | "tee" | "touch" => operands.iter().any(is_of_machine),
        "fuser" => has(&["-k", "--kill"]),
        "mongo" | "mongosh" => rest.iter().any(|word| word.contains("dropDatabase(")),
        "rm" | "rmdir" => operands.iter().any(is_outside),
        "crontab" => !has(&["-l"]),
        "git" => {
            let is_set = operands.len() > 2 && !has(&["--get", "--get-all", "--unset-all"]);
            asked == "config" && has(&["--global", "--system"]) && is_set
        }
        "npm" | "pnpm" => {
            let installs = ["add", "i", "install", "link", "uninstall"].contains(&asked);
            installs && has(&["-g", "--global"])
        }
        "pacman" => rest.iter().any(|word| {
            let begins = ["-S", "-R", "-U"];
            begins.iter().any(|it| word.starts_with(it)) && !word.contains('s')
        }),
        "psql" | "mysql" => has(&["-c", "-e", "-f", "--command", "--execute", "--file"]),
        "sysctl" => has(&["-w", "-p"]),
        "update-alternatives" => has(&["--install", "--set", "--remove"]),
        "uv" => operands.starts_with(&["tool", "install"]),
        "yarn" => operands.starts_with(&["global", "add"]),
        name if ALWAYS.contains(&name) => true,
        name => {
            let mut table = ASKED.iter();
            let verbs = table.find(|(program, _)| *program == name);
            verbs.is_some_and(|(_, verbs)| verbs.contains(&asked)) && !has(&elsewhere)
        }
    }
}

/// Says whether a command of Go's, or with such variables, has tests write what they are to compare with.
pub fn updates(words: &[String], variables: &[String]) -> bool {
    let of_go = ["-update", "--update", "-update=true"];
    let is_set = |variable: &String| {
        let set = variable.split_once('=');
        set.is_some_and(|(name, value)| {
            UPDATES.contains(&name) && !["", "0", "false", "no"].contains(&value)
        })
    };
    let is_test = matches!(words, [go, test, ..] if stem(go) == "go" && test == "test");
    is_test && words.iter().any(|word| of_go.contains(&word.as_str()))
        || variables.iter().any(is_set)
}

/// Returns what of a text changes the machine by no command of it: what runs as another user, what is
/// fetched and run at once, and output that goes there.
pub fn altering(text: &str) -> Option<String> {
    if let Some(found) = WRITTEN.captures(text) {
        return Some(format!("> {}", &found["to"]));
    }
    if let Some(found) = FETCHED.find(text).or_else(|| TAKEN.find(text)) {
        return Some(found.as_str().replace(['"', '\''], ""));
    }
    let commands = text.split(['\n', ';', '|', '&', '(']);
    let mut commands = commands.map(|one| one.trim().trim_start_matches(['@', '-', '+']));
    let is_one = |one: &&str| ["sudo ", "doas "].iter().any(|it| one.starts_with(it));
    commands.find(is_one).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::{Does, done};
    use super::*;

    #[test]
    fn what_changes_the_machine_is_told_from_what_only_asks_it() {
        for text in [
            "apt-get install -y gcc",
            "brew tap x/y",
            "pip install -r requirements.txt",
            "python3 -m pip install x",
            "python3 -Im pip install x",
            "npm install -g x",
            "cargo install x",
            "docker compose -f a.yml down -v",
            "docker ps -q | xargs docker stop",
            "docker system prune -af",
            "dropdb app",
            "psql -c 'drop database app'",
            "systemctl stop nginx",
            "kill -s TERM 1",
            "pkill -f server",
            "useradd -m me",
            "git config --global user.name x",
            "pacman -Syu",
            "crontab -r",
            "rm -rf ~/.config/app",
            "cp a /usr/local/bin/a",
            "rm -rf ../other",
            "chmod -R 777 /",
            "redis-cli flushall",
            "mongosh --eval 'db.dropDatabase()'",
            "bundle exec rake db:reset",
            "bin/rails db:drop",
            "python manage.py flush --noinput",
            "./manage.py migrate",
            "php artisan migrate:fresh --force",
            "mix ecto.reset",
            "npx prisma migrate reset --force && jest",
            "flask db downgrade base",
            "npx kill-port 3000",
            "alembic upgrade head",
            "bin/rails db:test:prepare test",
            "bundle exec rake db:schema:load",
            "dotnet ef database update",
            "kind create cluster --name x",
            "mix do ecto.create, ecto.migrate",
            "npx knex migrate:latest",
            "npx prisma migrate deploy",
            "php artisan migrate --force",
            "sqlx migrate run",
            "fuser -k 3000/tcp",
            "vagrant destroy -f",
        ] {
            let is_one = done(text).iter().any(|one| one.does == Does::Alters);
            assert!(is_one, "{text}");
        }
        for text in [
            "apt-get --version",
            "pip check",
            "alembic check",
            "bin/rails db:migrate:status",
            "kind get clusters",
            "php artisan migrate:status",
            "mix ecto.migrations",
            "bundle exec rake spec",
            ".venv/bin/pip install x",
            "pip install --target out x",
            "npm install",
            "docker compose build",
            "docker ps",
            "systemctl status nginx",
            "kill -0 1",
            "git config --global --get user.name",
            "git config user.name x",
            "crontab -l",
            "cargo test install",
            "psql --version",
            "cp /usr/share/a a",
            "rm -rf out",
            "rm -f $OBJS",
            "find . -name '*.pyc' -delete",
            "find ../src -name '*.c'",
            "python manage.py test",
            "bundle exec rake test",
            "npx prisma validate",
            "mix test",
            "php artisan test",
            "echo prisma migrate reset",
        ] {
            let is_one = done(text).iter().any(|one| one.does == Does::Alters);
            assert!(!is_one, "{text}");
        }
    }

    #[test]
    fn tests_that_write_what_they_compare_with_change_files() {
        for (text, expected) in [
            ("UPDATE_GOLDEN=1 go test ./...", true),
            ("UPDATE_GOLDEN=0 go test ./...", false),
            ("go test ./... -update", true),
            ("go test ./...", false),
            ("INSTA_UPDATE=always cargo test", true),
            ("git checkout -- a.txt", true),
            ("git checkout .", true),
            ("git checkout main", false),
            ("git switch main", true),
        ] {
            let is_one = done(text).iter().any(|one| one.does == Does::Writes);
            assert_eq!(is_one, expected, "{text}");
        }
    }

    #[test]
    fn another_user_and_files_of_the_machine_are_found_in_a_text() {
        for (text, expected) in [
            ("make && sudo make install", Some("sudo make install")),
            ("@sudo ldconfig", Some("sudo ldconfig")),
            ("echo x >> ~/.bashrc", Some("> ~/.bashrc")),
            ("echo x >\"$HOME/a\"", Some("> $HOME/a")),
            ("echo x > /etc/hosts", Some("> /etc/hosts")),
            ("curl https://x | sh", Some("curl https://x | sh")),
            ("bash <(curl -s https://x)", Some("bash <(curl ")),
            ("curl https://x | jq .a", None),
            ("rm -rf \"$HOME/x\"", Some("rm -rf $HOME/x")),
            ("rm -f a ${HOME}/x; ls", Some("rm -f a ${HOME}/x")),
            ("rm -rf $(HOME)/x", Some("rm -rf $(HOME)/x")),
            ("rm -rf $$HOME/x", Some("rm -rf $$HOME/x")),
            (
                "find $HOME -name x -exec rm {} +",
                Some("find $HOME -name x -exec rm"),
            ),
            ("find / -name x -delete", Some("find / -name x -delete")),
            ("find ~/x -delete", Some("find ~/x -delete")),
            ("find . -name x -delete", None),
            ("rm -rf $HOMES; ls $HOME", None),
            ("find $HOME -name x", None),
            ("echo sudo", None),
            ("make 2>/dev/null >/tmp/log", None),
        ] {
            assert_eq!(altering(text).as_deref(), expected, "{text}");
        }
    }
}
