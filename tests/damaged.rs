//! A repository that is damaged before `evolve` begins: it says what is broken and how it is mended, and writes nothing of its own there.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::harness::TestRepo;

/// Empties the file of an object, or removes it.
fn object(repo: &TestRepo, name: &str, is_emptied: bool) {
    let id = repo.git(&["rev-parse", name]);
    let (folder, file) = id.trim().split_at(2);
    let file = repo.path(".git/objects").join(folder).join(file);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    match is_emptied {
        true => fs::write(file, "").unwrap(),
        false => fs::remove_file(file).unwrap(),
    }
}

#[test]
fn a_damaged_repository_is_refused_with_what_is_broken_and_the_way_out() {
    type Damage = fn(&TestRepo);
    let damages: [(&str, Damage, &str, &str); 13] = [
        (
            "no index",
            |repo| repo.write(".git/index", ""),
            "is no whole index of git's (0 bytes)",
            "&& git reset`",
        ),
        (
            "half an index",
            |repo| {
                let bytes = fs::read(repo.path(".git/index")).unwrap();
                fs::write(repo.path(".git/index"), &bytes[..bytes.len() / 2]).unwrap();
            },
            "is no whole index of git's",
            "&& git reset`",
        ),
        (
            "no branch",
            |repo| drop(repo.git(&["symbolic-ref", "HEAD", "refs/heads/gone"])),
            "HEAD is on the branch gone, which has no commit",
            "git switch main",
        ),
        (
            "an empty ref",
            |repo| repo.write(".git/refs/heads/main", ""),
            "corrupted loose reference file: refs/heads/main",
            "git update-ref",
        ),
        (
            "a ref to nothing",
            |repo| repo.write(".git/refs/heads/main", &"1".repeat(40)),
            "'refs/heads/main' cannot be peeled",
            "git update-ref",
        ),
        (
            "broken packed refs",
            |repo| {
                repo.git(&["pack-refs", "--all"]);
                repo.write(".git/packed-refs", "junk\n");
            },
            "packed",
            "git fsck",
        ),
        (
            "an empty commit object",
            |repo| object(repo, "HEAD", true),
            "cannot be peeled",
            "git fsck",
        ),
        (
            "an empty tree",
            |repo| object(repo, "HEAD^{tree}", true),
            "cannot read a tree",
            "git fsck --full",
        ),
        (
            "no tree",
            |repo| object(repo, "HEAD^{tree}", false),
            "cannot read a tree: object not found",
            "git fsck --full",
        ),
        (
            "no parent",
            |repo| object(repo, "HEAD^", false),
            "cannot read the parent of HEAD",
            "git fsck --full",
        ),
        (
            "no content of a file",
            |repo| object(repo, "HEAD:more", false),
            "git lacks more, which HEAD has",
            "`git hash-object -w more` gives it back",
        ),
        (
            "an empty object of a file",
            |repo| object(repo, "HEAD:deep/er/file", true),
            "git lacks deep/er/file, which HEAD has",
            "git fsck --full",
        ),
        (
            "no folder",
            |repo| object(repo, "HEAD:deep/er", false),
            "git lacks deep/er/, which HEAD has",
            "git fsck --full",
        ),
    ];
    for (what, damage, said, way_out) in damages {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.write("more", "more\n");
        repo.write("deep/er/file", "file\n");
        repo.commit_all("second");
        damage(&repo);
        repo.agent_does(&["touch a"]);
        for words in [
            &["--max-cycles=1"][..],
            &["--max-cycles=1", "--isolate"],
            &["--dry-run"],
        ] {
            let run = repo.run(words).expect(3);
            let case = format!("{what} {words:?}: {}", run.stderr);
            assert!(run.stderr.contains(said), "{case}");
            assert!(
                run.stderr.contains("\nhint: ") && run.stderr.contains(way_out),
                "{case}"
            );
            assert!(!repo.has(".agents"), "{case}");
        }
        assert_eq!(repo.calls(), 0, "{what}");
        let agent = format!("--agent={}", repo.agent());
        let run = repo.evolve(&["doctor", &agent]).expect(10);
        let is_found = run.stdout.contains(said) || what == "broken packed refs";
        assert!(
            is_found && run.stdout.contains(way_out),
            "{what}: {}",
            run.stdout
        );
        // Whoever only looks may see less, but is told why.
        for words in [&["measure"][..], &["status"], &["history"], &["validate"]] {
            let run = repo.evolve(words);
            let is_told = run.code == 0 || run.code == 3 && run.stderr.contains("\nhint: ");
            assert!(is_told, "{what} {words:?}: {} {}", run.code, run.stderr);
        }
    }
}

#[test]
fn a_damaged_index_is_mended_by_what_the_hint_says() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write("kept", "kept\n");
    repo.commit_all("second");
    repo.write(".git/index", "");
    repo.agent_does(&["touch a"]);
    let run = repo.run(&["--max-cycles=1"]).expect(3);
    let hint = run.stderr.rsplit_once(": `").unwrap().1;
    let command = hint.trim_end().strip_suffix('`').unwrap();
    assert!(
        repo.command("sh")
            .args(["-c", command])
            .status()
            .unwrap()
            .success()
    );
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.read("kept"), "kept\n");
}

#[test]
fn what_git_lacks_of_a_file_is_given_back_by_what_the_hint_says() {
    for is_emptied in [false, true] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.write("the only", "only here\n");
        repo.commit_all("second");
        object(&repo, "HEAD:the only", is_emptied);
        repo.agent_does(&["echo written over >'the only'; touch a"]);
        let run = repo.run(&["--max-cycles=1"]).expect(3);
        assert_eq!(repo.read("the only"), "only here\n");
        let hint = run.stderr.split('`').nth(1).unwrap();
        let mut shell = repo.command("sh");
        assert!(
            shell.args(["-c", hint]).status().unwrap().success(),
            "{hint}"
        );
        repo.run(&["--max-cycles=1"]).expect(0);
    }
}

#[test]
fn a_partial_clone_lacks_what_it_may() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write("more", "more\n");
    repo.commit_all("second");
    repo.git(&["config", "remote.origin.promisor", "true"]);
    repo.git(&["config", "remote.origin.url", "/nowhere"]);
    object(&repo, "HEAD:more", false);
    let run = repo.evolve(&["--dry-run"]);
    assert!(!run.stderr.contains("git lacks"), "{}", run.stderr);
}
