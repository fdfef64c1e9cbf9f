//! No attempt finds what another one left: neither its agent nor its measurement.

use std::fs;

use crate::harness::{TestRepo, write_program};

/// A repository whose score is what `x` prints.
fn with_program(prints: &str) -> TestRepo {
    let repo = TestRepo::with_number("1");
    repo.write("score.sh", "sh x\n");
    repo.write("x", &format!("echo {prints}\n"));
    repo.commit_all("a program");
    repo
}

#[test]
fn what_an_attempt_leaves_when_it_is_measured_is_not_there_for_the_next() {
    let repo = with_program("1");
    let leaves = "echo 50 >a.ignored; mkdir -p own; echo '*' >own/.gitignore; echo 60 >own/b";
    let finds = "cat a.ignored own/b 2>/dev/null || echo 3";
    repo.attempts(&[
        &format!("cat >x <<'END'\n{leaves}; echo 2\nEND"),
        &format!("echo '{finds}' >x"),
    ]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
}

#[test]
fn an_agent_does_not_find_what_another_one_left() {
    let repo = TestRepo::with_number("1");
    let leaves = "echo 50 >a.ignored; mkdir own; echo '*' >own/.gitignore; echo 60 >own/b";
    repo.attempts(&[
        &format!("{leaves}; echo 2 >x"),
        "cat a.ignored own/b >x 2>/dev/null || echo 3 >x",
        // It fails once; then it is tried once more.
        "if [ -e $OUT/first ]; then cat a.ignored >x 2>/dev/null || echo 4 >x; else touch $OUT/first; echo 70 >a.ignored; exit 1; fi",
    ]);
    repo.search(&["--max-attempts=3"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3", "accepted 4"]);
}

/// What `prepare` makes, which is told of each time, and a score that is there only where all of it is as it was.
const PREPARE: &str = "--prepare=mkdir -p made.ignored/deep/empty; echo 5 >made.ignored/deep/a; ln -s a made.ignored/deep/link; \
     chmod 640 made.ignored/deep/a; mkfifo made.ignored/deep/tube; echo 6 >alone.ignored; echo once >>$OUT/prepared";
const WHOLE: &str = "list() { find *.ignored -printf '%y %m %p %l\\n' | sort; cat made.ignored/deep/link alone.ignored; }\n\
     [ -e $OUT/whole ] || list >$OUT/whole\nlist | cmp -s - $OUT/whole || { list; exit 1; }\nsh x\n";

#[test]
fn what_prepare_made_is_there_for_each_attempt_whatever_the_one_before_did_to_it() {
    for harm in [
        "rm -r made.ignored alone.ignored",
        "rm made.ignored/deep/a",
        "rmdir made.ignored/deep/empty",
        "rm made.ignored/deep/tube; echo 9 >made.ignored/deep/tube",
        "echo 9 >made.ignored/deep/new; echo 9 >new.ignored",
        // As long as it was, and as old.
        "touch -r alone.ignored t.ignored; echo 7 >alone.ignored; touch -r t.ignored alone.ignored",
        "rm -r made.ignored; ln -s $OUT/mine made.ignored",
        "rm -r made.ignored; echo file >made.ignored; rm alone.ignored; mkdir alone.ignored",
        "ln -sf ../../alone.ignored made.ignored/deep/link",
        "chmod 777 made.ignored/deep; chmod 600 made.ignored/deep/a",
        "chmod 0 made.ignored/deep; chmod 0 made.ignored",
        "mv made.ignored/deep/a made.ignored/deep/b",
        "mkfifo made.ignored/deep/pipe; git init -q made.ignored/deep/empty",
    ] {
        let repo = with_program("1");
        repo.write("score.sh", WHOLE);
        repo.commit_all("a score that looks");
        fs::create_dir(repo.out("mine")).unwrap();
        fs::write(repo.out("mine/precious"), "mine").unwrap();
        repo.attempts(&[
            &format!("cat >x <<'END'\n{harm}; echo 2\nEND"),
            "echo echo 3 >x",
        ]);
        let run = repo.search(&["--files=package.json", PREPARE, "--max-attempts=2"]);
        let all = format!("{harm}: {run:?}");
        run.expect(0);
        assert_eq!(repo.endings(), ["accepted 2", "accepted 3"], "{all}");
        assert_eq!(
            fs::read(repo.out("mine/precious")).unwrap(),
            b"mine",
            "{harm}"
        );
        // Where agents work, where is measured, and where the winner's other side is.
        let prepared = repo.said("prepared").lines().count();
        assert_eq!(prepared, 3, "{all}");
    }
}

#[test]
fn what_the_checkout_lends_stays_lent_to_each_attempt() {
    let repo = with_program("1");
    repo.write("data/big.ignored", "7\n");
    repo.write("data/mine", "mine\n");
    repo.commit_all("data");
    repo.attempts(&[
        "echo 'rm -rf data/*.ignored; cp /dev/null data/other.ignored; echo 2' >x",
        "echo 'ls data | grep -q other || cat data/big.ignored' >x",
    ]);
    repo.search(&["--link=data/big.ignored", "--max-attempts=2"])
        .expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 7"]);
    assert_eq!(repo.read("data/big.ignored"), "7\n");
}

#[test]
fn much_that_measuring_leaves_is_told_of_once() {
    let repo = with_program("1");
    repo.write(
        "score.sh",
        "head -c 20000000 /dev/zero >built.ignored; sh x\n",
    );
    repo.commit_all("a build");
    repo.attempts(&["echo echo 2 >x"]);
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    assert_eq!(
        run.stdout.matches("measuring leaves 19 MiB behind").count(),
        1,
        "{run:?}"
    );
    let built = "--prepare=head -c 20000000 /dev/zero >built.ignored";
    let run = repo.search(&["--max-attempts=1", built]).expect(0);
    assert!(!run.stdout.contains("measuring leaves"), "{run:?}");
}

#[test]
fn what_git_looks_past_is_not_there_for_the_next_either() {
    let repo = with_program("1");
    repo.write("src/file", "tracked\n");
    repo.commit_all("a folder");
    let leaves =
        "mkdir -p src/.git; echo 50 >src/.git/a; git init -q src/deep; echo 50 >src/deep/a";
    repo.attempts(&[
        &format!("{leaves}; cat >x <<'END'\n{leaves}; echo 2\nEND"),
        "ls src/.git/a src/deep >$OUT/found; echo 'cat src/.git/a src/deep/a 2>/dev/null || echo 3' >x",
    ]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
    assert_eq!(repo.said("found"), "");
}

#[test]
fn a_submodule_is_what_prepare_made_of_it_for_each_attempt() {
    let repo = with_program("1");
    let inner = repo.outside().join("inner");
    let of = inner.display().to_string();
    repo.git(&["init", "-q", "-b", "main", &of]);
    fs::write(inner.join("weight"), "3\n").unwrap();
    repo.git(&["-C", &of, "add", "weight"]);
    repo.git(&[
        "-C",
        &of,
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@t",
        "commit",
        "-qm",
        "inner",
    ]);
    repo.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &of,
        "sm",
    ]);
    repo.commit_all("a module");
    repo.attempts(&[
        "cat >x <<'END'\necho 50 >sm/weight; echo 9 >sm/new; echo 2\nEND",
        "echo 70 >sm/weight; echo 'ls sm/new 2>/dev/null || cat sm/weight' >x",
        "ls sm/new >$OUT/found; cat sm/weight >>$OUT/found; echo echo 4 >x",
    ]);
    let run = repo.evolve(&["search", "cat sm/weight", "--files=x", "--agent=true"]);
    let said = run.expect(2).stderr;
    assert!(
        said.contains("an empty folder, so sm: if a command needs what is in it, fetch it with --prepare 'git submodule update --init'"),
        "{said}"
    );
    let prepare = "--prepare=git -c protocol.file.allow=always submodule --quiet update --init; echo once >>$OUT/prepared";
    repo.search(&[prepare, "--max-attempts=3"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3", "accepted 4"]);
    assert_eq!(repo.said("found").trim(), "3");
    assert_eq!(repo.said("prepared").lines().count(), 3);
    let lineage = repo.lineage();
    let left_out = |id| lineage.attempt(id).edited().unwrap().left_out.join(" ");
    assert_eq!([1, 2, 3].map(left_out), ["", "sm/", ""]);
}

#[test]
fn patterns_that_name_nothing_but_a_submodule_are_refused() {
    let repo = with_program("1");
    let head = repo.git(&["rev-parse", "HEAD"]);
    let entry = format!("160000,{},sm", head.trim());
    repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
    repo.git(&["commit", "-qm", "a module"]);
    fs::create_dir(repo.path("sm")).unwrap();
    for pattern in ["sm", "sm/**", "sm/a.py"] {
        let run = repo.evolve(&["search", "echo 1", "--files", pattern, "--agent=true"]);
        let said = run.expect(2).stderr;
        assert!(
            said.contains("sm is another repository: run evolve in it"),
            "{said}"
        );
    }
}

#[test]
fn a_prepare_that_removes_the_copy_or_its_git_directory_says_so() {
    for harm in ["rm -rf .git", "cd ..; rm -rf \"$OLDPWD\""] {
        let repo = with_program("1");
        repo.attempts(&["echo echo 3 >x"]);
        let prepare = format!("--prepare={harm}");
        let run = repo.search(&[&prepare, "--max-attempts=1"]);
        let all = format!("{harm}: {run:?}");
        run.expect(2);
        assert!(
            all.contains("removes or replaces the copy, or its .git") && !all.contains("fatal:"),
            "{all}"
        );
    }
}

#[test]
fn each_sample_and_each_gate_begins_in_a_clean_copy() {
    let repo = TestRepo::with_number("5");
    repo.write(
        "score.sh",
        "n=$(cat x); [ -e built.ignored ] || n=$((n + 100)); echo >built.ignored; echo >>score.sh; echo $n\n",
    );
    repo.commit_all("a score that is another one the second time");
    repo.attempts(&["echo 4 >x", "echo 3 >x"]);
    let gate = "--gate=echo >built.ignored";
    repo.search(&["--direction=min", gate, "--max-attempts=2"])
        .expect(0);
    assert_eq!(repo.endings(), ["accepted 104", "accepted 103"]);
}

#[test]
fn traces_are_kept_as_far_as_there_is_room() {
    let repo = TestRepo::with_number("1");
    repo.write(
        "score.sh",
        "head -c 20000000 /dev/zero >$EVOLVE_TRACES/a; mkdir $EVOLVE_TRACES/b; echo small >$EVOLVE_TRACES/b/c; ln -s $OUT/mine $EVOLVE_TRACES/d\n\
         grep -q 3 x && rm -r $EVOLVE_TRACES && ln -s $OUT/mine $EVOLVE_TRACES\ncat x\n",
    );
    repo.commit_all("traces");
    fs::create_dir(repo.out("mine")).unwrap();
    let mine = repo.out("mine/large");
    fs::write(&mine, vec![0; 20_000_000]).unwrap();
    repo.attempts(&["echo 2 >x", "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    let traces = repo.private().join("search/1/1/first-1.traces");
    assert_eq!(fs::read(traces.join("b/c")).unwrap(), b"small\n");
    assert!(!traces.join("a").exists() && !traces.join("d").exists());
    assert_eq!(fs::metadata(mine).unwrap().len(), 20_000_000);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
}

#[test]
fn folders_that_a_measurement_locks_are_opened_again() {
    let repo = with_program("1");
    repo.write("src/file", "tracked\n");
    repo.write("score.sh", "mkdir -p tmp; touch tmp/a; chmod 0 tmp; sh x\n");
    repo.commit_all("folders");
    let locks =
        "rm src/file; echo >src/out; mkdir -p deep/deep; chmod 555 src; chmod 0 deep; echo 2";
    repo.attempts(&[&format!("cat >x <<'END'\n{locks}\nEND"), "echo echo 3 >x"]);
    let repo = repo.by_normal_user();
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
}

#[test]
fn a_folder_that_became_a_link_into_the_checkout_costs_nothing_there() {
    let repo = with_program("1");
    repo.write("src/file", "tracked\n");
    repo.write("sub/deep/file", "tracked\n");
    let root = repo.root().display().to_string();
    repo.write(
        "score.sh",
        &format!("rm -rf src sub; ln -s '{root}' src; ln -s '{root}' sub; sh x\n"),
    );
    repo.commit_all("links");
    let links = format!("rm -rf src sub; ln -s '{root}' src; ln -s '{root}' sub");
    repo.attempts(&[
        &format!("{links}; echo echo 2 >x"),
        &format!("{links}; echo echo 3 >x"),
    ]);
    repo.write("untracked", "mine\n");
    let before = repo.git(&["for-each-ref", "refs/heads"]);
    let prepare = format!("--prepare=echo made >made.ignored; ln -s '{root}' link.ignored");
    for more in [&["--max-attempts=2"][..], &["--max-attempts=2", &prepare]] {
        repo.search(more).expect(0);
        assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
        assert_eq!(repo.git(&["for-each-ref", "refs/heads"]), before);
        assert_eq!(repo.read("untracked"), "mine\n");
        assert_eq!(repo.status(), ["?? untracked"]);
        repo.git(&["fsck", "--strict"]);
    }
}

#[test]
fn no_copy_is_left_once_a_search_is_over_or_its_winner_applied() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    let copies = || -> Vec<String> {
        let all = fs::read_dir(repo.home().join(".cache/evolve")).unwrap();
        let of_each = all.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
        of_each
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with("search-"))
            .collect()
    };
    repo.search(&["--max-attempts=1", "--gate=true"]).expect(0);
    assert_eq!(copies(), Vec::<String>::new());
    repo.write("other", "");
    repo.commit_all("somebody else");
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(copies(), Vec::<String>::new());
}

#[test]
fn each_gate_begins_in_a_clean_copy() {
    let repo = with_program("1");
    repo.write("first.sh", "sh x >/dev/null\n");
    repo.write("second.sh", "! grep -q bad x\n");
    repo.commit_all("gates");
    repo.attempts(&["printf 'echo true >second.sh\\necho 9 # bad\\n' >x"]);
    repo.search(&[
        "--gate=sh first.sh",
        "--gate=sh second.sh",
        "--max-attempts=1",
    ])
    .expect(0);
    assert_eq!(repo.endings(), ["gate failed"]);
}

#[test]
fn an_attributes_file_that_an_attempt_leaves_leads_no_git_to_write_other_bytes() {
    let repo = with_program("1");
    repo.write("limit", "a\nb\nc\n");
    repo.write(
        "score.sh",
        "sh x >&2; echo $(($(cat y) * $(wc -c <limit)))\n",
    );
    repo.write("y", "1\n");
    repo.commit_all("a score that counts bytes");
    let leaves = "echo 'limit text eol=crlf' >.gitattributes; rm limit";
    repo.attempts(&[
        &format!("cat >x <<'END'\n{leaves}\nEND"),
        "echo : >x; echo 2 >y",
        "echo 3 >y",
    ]);
    repo.search(&["--files=y", "--max-attempts=3"]).expect(0);
    assert_eq!(repo.endings(), ["invalid", "accepted 12", "accepted 18"]);
}

/// Commits a score that is at most what a file says that the filter `up` writes.
fn limit_the_score(repo: &TestRepo) {
    repo.write(".gitattributes", "limit filter=up\n");
    repo.write("limit", "10\n");
    repo.write(
        "score.sh",
        "sh x >&2; n=$(cat y) l=$(cat limit); [ $n -gt $l ] && n=$l; echo $n\n",
    );
    repo.write("y", "1\n");
    repo.commit_all("a score with a limit");
}

#[test]
fn what_a_program_of_a_filter_reads_and_an_attempt_changes_writes_no_file_of_another_copy() {
    let repo = with_program("1");
    repo.git(&["config", "filter.up.smudge", "cd z && sh up.sh"]);
    repo.git(&["config", "filter.up.clean", "cat"]);
    repo.write("z/lib.sh", "to=10\n");
    repo.write(
        "z/up.sh",
        "to=10; [ -e lib.sh ] && . ./lib.sh\nsed \"s/10/$to/\"\n",
    );
    limit_the_score(&repo);
    let changes = "echo to=999 >z/lib.sh; rm limit";
    repo.attempts(&[
        &format!("echo 2 >y; echo '{changes}' >x"),
        "echo 200 >y; echo : >x",
    ]);
    let prepares = "--prepare=echo ready >>$OUT/prepared; echo >made.ignored";
    repo.search(&[
        "--files=y",
        "--max-attempts=2",
        prepares,
        "--gate=test -e made.ignored",
    ])
    .expect(0);
    assert_eq!(repo.endings()[1], "accepted 10");
    // Once in each copy: the agent's, the one to measure in, the one beside.
    assert_eq!(repo.said("prepared").lines().count(), 3);
}

#[test]
fn a_program_of_a_filter_that_an_attempt_changes_writes_no_file_of_another_copy() {
    let repo = with_program("1");
    repo.git(&["config", "filter.up.smudge", "./up.sh"]);
    repo.git(&["config", "filter.up.clean", "./up.sh"]);
    write_program(&repo.path("up.sh"), "#!/bin/sh\ncat\n");
    limit_the_score(&repo);
    let changes = "printf '#!/bin/sh\\ncat >/dev/null; echo 999\\n' >up.sh; rm limit";
    repo.attempts(&[
        &format!("echo 2 >y; cat >x <<'END'\n{changes}\nEND"),
        "echo 200 >y; echo : >x",
    ]);
    repo.search(&["--files=y", "--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings()[1], "accepted 10");
}

#[test]
fn what_prepare_changes_is_seen_whatever_the_git_of_its_copy_is_told() {
    for hides in [
        "git update-index --assume-unchanged score.sh",
        "git update-index --skip-worktree score.sh",
        "git config core.fileMode false; git config filter.x.clean 'git show HEAD:score.sh'; echo '* filter=x' >.git/info/attributes",
        "git add score.sh; git -c user.name=a -c user.email=b commit -qm c",
    ] {
        let repo = with_program("1");
        repo.write("package.json", "{}\n");
        repo.write(
            "prepare.sh",
            "sh y; mkdir -p made.ignored; echo 1 >made.ignored/a\n",
        );
        repo.write("y", ":\n");
        repo.commit_all("prepared");
        repo.attempts(&[&format!(
            "echo echo 2 >x; echo '{{ }}' >package.json; cat >y <<'END'\necho echo 500 >score.sh; {hides}\nEND"
        )]);
        repo.search(&[
            "--files=y",
            "--files=package.json",
            "--prepare=sh prepare.sh",
            "--max-attempts=1",
        ])
        .expect(0);
        assert_eq!(repo.endings(), ["invalid"], "{hides}");
    }
}

/// What makes an index say that the file of the first id is that of the second.
const FORGE: &str = "import sys,hashlib
path,old,new=sys.argv[1:]
b=open(path,'rb').read()[:-20].replace(bytes.fromhex(old),bytes.fromhex(new))
open(path,'wb').write(b+hashlib.sha1(b).digest())
";

#[test]
fn an_agent_cannot_make_the_copy_that_is_measured_in_its_own() {
    let repo = TestRepo::with_number("1");
    fs::write(repo.out("forge.py"), FORGE).unwrap();
    let takes_over = "M=$(dirname $PWD)/search-measure-0; o=$(git rev-parse HEAD:score.sh)
cd $M; echo 'echo 99' >score.sh; sleep 1.1; cp -p $M.index $OUT/i; GIT_INDEX_FILE=$OUT/i git update-index score.sh
python3 $OUT/forge.py $OUT/i $(git hash-object score.sh) $o; cat $OUT/i >$M.index; cd - >/dev/null; echo 3 >x";
    repo.attempts(&["echo 2 >x", takes_over, "echo 4 >x"]);
    repo.search(&["--max-attempts=3"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3", "accepted 4"]);
}

#[test]
fn in_a_sandbox_each_measurement_has_a_temporary_folder_and_a_document_of_its_own() {
    let repo = with_program("1");
    repo.write(
        "score.sh",
        "s=$(sh x); echo left >$TMPDIR/left; echo trace >$EVOLVE_TRACES/t; echo '{\"score\": '$s'}' >$EVOLVE_RESULT\n",
    );
    repo.write(
        "SEARCH.yaml",
        "fitness: sh score.sh\nfiles: [x]\nsandbox: {mode: auto, require: true, checks: true}\n",
    );
    repo.commit_all("a score in a document");
    let seen = "[ -e $TMPDIR/left ] && echo 50 || echo";
    repo.attempts(&[
        &format!("echo '{seen} 2' >x"),
        &format!("echo '{seen} 3' >x"),
    ]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
}

#[test]
fn what_is_measured_is_not_told_which_measurement_it_is() {
    let repo = with_program("1");
    repo.attempts(&[
        "echo 'env >&2; case $EVOLVE_RESULT$EVOLVE_TRACES in *hold*) echo 2;; *) echo 9;; esac' >x",
    ]);
    repo.search(&["--holdout=sh score.sh; true", "--max-attempts=1"])
        .expect(0);
    let logs = repo.private().join("search/1/1");
    let log = fs::read_to_string(logs.join("holdout-1.log")).unwrap();
    assert!(
        log.contains("EVOLVE_RESULT=") && !log.contains("holdout"),
        "{log}"
    );
}
