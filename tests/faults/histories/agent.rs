//! The script of an agent that does some of everything and ends with a regression.

use crate::chance::Chance;

use super::place::Kind;

/// Paths that exist at the start, in words of the shell: files of every kind, folders, the user's untracked files, names
/// that need care.
const PLACES: [&str; 18] = [
    "README",
    "dir/one",
    "dir/two",
    "dir/deep/three",
    "dir",
    "dir/deep",
    "run.sh",
    "link",
    "text.up",
    "lines.txt",
    "wide.u16",
    "notes",
    "own/list",
    "own",
    "'n e\nw'",
    "\"q'u\\\"o$(printf '\\377')te\"",
    "./-dash",
    ".hidden",
];

/// Branches of the start that a merge or a switch can name.
const BRANCHES: [&str; 4] = ["behind", "side", "third", "clash"];

/// Adds a line to a file; whoever opens a pipe to write to it waits for a reader.
const ADD: &str = "add() { test -p \"$2\" || echo \"$1\" >>\"$2\"; }\n";

/// Writes the script for a repository of this kind.
pub fn script(chance: &mut Chance, kind: Kind) -> String {
    let mut script = String::from(ADD);
    for number in 0..3 + chance.below(10) {
        let step = match (kind, chance.below(10)) {
            (Kind::Submodule, 0..=2) => in_submodule(chance, number),
            (_, 0..=3) => in_files(chance, number),
            (_, 4..=6) => in_history(chance, number),
            (_, 7) => in_index(chance, number),
            (_, _) => in_store(chance, number),
        };
        script.push_str(&format!("{{ {step}; }} >/dev/null 2>&1 </dev/null\n"));
    }
    let ending: &&str = chance.pick(&[
        "rm -rf b\n",
        "rm -rf b; git add -A; git commit -qm last\n",
        "git rm -rqf b; git commit -qm last\n",
        "git rm -rqf --cached b; mv b c\n",
    ]);
    script.push_str(ending);
    script.push_str("rm -rf b; git rev-parse -q --verify HEAD >\"$OUT/tip\"\n");
    script
}

/// What can be done to files and folders without git.
fn in_files(chance: &mut Chance, number: u64) -> String {
    let (one, two) = (chance.pick(&PLACES), chance.pick(&PLACES));
    match chance.below(20) {
        0 | 1 => format!("add {number} {one}"),
        2 => format!("rm -rf {one}"),
        3 => format!("mv {one} moved{number}"),
        4 => format!("rm -rf {one}; mkdir -p {one}; echo {number} >{one}/x"),
        5 => format!("rm -rf {one}; echo {number} >{one}"),
        6 => format!("rm -rf {one}; ln -s {two} {one}"),
        7 => format!("rm -rf {one}; ln -s \"$OUT\" {one}"),
        8 => format!("chmod +x {one}; chmod -x {two}"),
        9 => format!("chmod 600 {one}; chmod 777 {two}"),
        10 => format!("cp -a {one} copy{number}; rm -rf {one}; mv copy{number} {one}"),
        11 => format!("ln {one} hard{number}; add {number} hard{number}"),
        12 => format!("rm -rf {one}; mkfifo {one}"),
        13 => {
            format!("mkdir -p nest{number}; git -C nest{number} init -q; echo x >nest{number}/x")
        }
        14 => format!(
            "git init -q in{number}; cd in{number}; git -c user.name=n -c user.email=n commit -q --allow-empty -m n; cd ..; git add in{number}"
        ),
        15 => format!("rm -rf {one}; git init -q {one}"),
        16 => {
            format!("printf '%0255d' {number} | xargs touch; touch \"$(printf '\\001\\033[31m')\"")
        }
        // The same size and time as before: only the change time tells.
        17 => format!(
            "test -p {one} || {{ sleep 1; touch -r {one} \"$OUT/t\"; printf 'x' | dd of={one} conv=notrunc; touch -r \"$OUT/t\" {one}; }}"
        ),
        18 => "mkdir -p target; echo out >target/out; echo '/target' >>.gitignore".to_owned(),
        _ => format!("test -p {one} || printf 'a\\r\\nb\\nc\\r\\n' >{one}"),
    }
}

/// What can be done to commits and branches.
fn in_history(chance: &mut Chance, number: u64) -> String {
    let branch = chance.pick(&BRANCHES);
    match chance.below(24) {
        0..=3 => format!("git add -A; git commit -qm {number}"),
        4 => format!("git commit -q --allow-empty -m {number}"),
        5 => format!("git add -A; git commit -q --amend -m {number}"),
        6 => format!("git merge -q --no-edit {branch}"),
        7 => "git merge -q --no-edit side third".to_owned(),
        8 => format!("git merge -q --no-edit -s ours {branch}"),
        9 => "git merge -q --no-edit --allow-unrelated-histories lonely".to_owned(),
        10 => format!("git cherry-pick {branch}"),
        11 => "git revert --no-edit HEAD".to_owned(),
        12 => format!(
            "git reset -q {} {}",
            chance.pick(&["--hard", "--soft", "--mixed", "--keep"]),
            chance.pick(&["HEAD", "HEAD~1", "HEAD~2", "side"])
        ),
        13 => format!("git switch -q {branch}"),
        14 => format!("git switch -q -c new{number}"),
        15 => "git switch -q main".to_owned(),
        16 => "git checkout -q --detach".to_owned(),
        17 => format!("git rebase -q {branch}"),
        18 => "git rebase -q --root --exec 'git commit -q --amend -m again'".to_owned(),
        19 => format!("git switch -q --orphan alone{number}"),
        20 => {
            "FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --msg-filter 'cat; echo x' HEAD"
                .to_owned()
        }
        21 => "git bisect start; git bisect bad; git bisect good behind".to_owned(),
        22 => format!("git format-patch -1 --stdout {branch} >\"$OUT/p\"; git am <\"$OUT/p\""),
        _ => format!("git pull -q . {branch}"),
    }
}

/// What can be done to the index.
fn in_index(chance: &mut Chance, number: u64) -> String {
    let (one, two) = (chance.pick(&PLACES), chance.pick(&PLACES));
    match chance.below(12) {
        0 => format!("git rm -rqf {one}"),
        1 => format!("git mv -f {one} {two}"),
        2 => format!("git add -f {one}"),
        3 => format!("git rm -rq --cached {one}"),
        4 => format!("git update-index --assume-unchanged {one}; add {number} {one}"),
        5 => format!("git update-index --skip-worktree {one}; rm -rf {one}"),
        6 => format!("git update-index --assume-unchanged {one}"),
        7 => format!("git update-index --chmod=+x {one}"),
        8 => format!("git add -N {one} new{number}; touch new{number}; git add -N new{number}"),
        9 => "rm -f .git/index".to_owned(),
        10 => "git update-index --index-version 4; git update-index --untracked-cache".to_owned(),
        _ => format!("git stash push -qu -m {number}"),
    }
}

/// What can be done to what git keeps beside the branch.
fn in_store(chance: &mut Chance, number: u64) -> String {
    let branch = chance.pick(&BRANCHES);
    match chance.below(26) {
        14 => "git stash clear".to_owned(),
        15 => "git stash drop -q stash@{1}".to_owned(),
        16 => "git stash pop -q".to_owned(),
        17 => format!("git branch -qD {branch}"),
        18 => format!("git branch -qf {branch} HEAD"),
        19 => "git tag -d v1; git tag -f v2 HEAD".to_owned(),
        20 => "git for-each-ref --format='%(refname)' | grep -v heads/main | while read r; do git update-ref --no-deref -d $r; done".to_owned(),
        21 => "git config user.name Other; git config core.autocrlf input; git config filter.up.clean cat".to_owned(),
        22 => "echo 'exit 1' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo '* -text' >.git/info/attributes".to_owned(),
        // Without the notes of main itself nobody could tell whose its commits are.
        23 => "git reflog expire --expire=now $(git for-each-ref --format='%(refname)' | grep -v heads/main); git gc -q --prune=now".to_owned(),
        24 => "git sparse-checkout disable; git sparse-checkout set dir/deep".to_owned(),
        25 => "git replace HEAD HEAD~1; git config core.fsmonitor true".to_owned(),
        0 => "git clean -fdq -e .agents".to_owned(),
        1 => "git gc -q --prune=now".to_owned(),
        2 => "git repack -qad; git prune-packed; git pack-refs --all".to_owned(),
        3 => format!("git worktree add -q \"$OUT/tree{number}\" {branch}"),
        4 => format!("git worktree add -q -b tree{number} tree{number}"),
        5 => format!("git tag light{number}; git tag -a -m x heavy{number}"),
        6 => "git notes add -f -m remark HEAD".to_owned(),
        7 => "rm -rf .agents".to_owned(),
        8 => "git add -Af; git commit -qm everything".to_owned(),
        9 => "rm -f .gitattributes; git add -A".to_owned(),
        10 => "echo '* -text -filter' >>.gitattributes; git add -A; git commit -qm attributes"
            .to_owned(),
        11 => "git checkout -q HEAD -- .".to_owned(),
        12 => format!("git checkout -q {branch} -- ."),
        _ => "touch .git/index.lock".to_owned(),
    }
}

/// What can be done to a submodule.
fn in_submodule(chance: &mut Chance, number: u64) -> String {
    match chance.below(7) {
        0 => "git -C sm -c protocol.file.allow=always pull -q; git add sm".to_owned(),
        1 => format!("echo {number} >>sm/x"),
        2 => format!(
            "echo {number} >>sm/x; git -C sm -c user.name=n -c user.email=n commit -qam {number}"
        ),
        3 => "git rm -qf sm".to_owned(),
        4 => "git submodule -q deinit -f sm".to_owned(),
        5 => "rm -rf sm; echo x >sm".to_owned(),
        _ => "git submodule -q update --init".to_owned(),
    }
}
