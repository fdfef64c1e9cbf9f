//! Files of git that say of objects what is not so: a graph that gives a commit other parents, packs and lists of packs that
//! give an id another content. An agent can write them with the right digests all over, and git believes them.

mod by_checks;

use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest, Sha1};

use crate::harness::{EVOLVE_PID, TestRepo, output};

/// The part of a graph that says that a commit has no parent, or no second one.
const NONE: u32 = 0x7000_0000;

fn bytes_of(id: &str) -> Vec<u8> {
    let digits = id.as_bytes().chunks(2);
    digits
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn ended(mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = Sha1::digest(&bytes);
    bytes.extend_from_slice(&digest);
    bytes
}

/// For each first byte, how many ids begin with that or a lower one.
fn fan(ids: &[Vec<u8>]) -> Vec<u8> {
    let up_to = |byte: u8| ids.iter().filter(|id| id[0] <= byte).count() as u32;
    (0..=255u8)
        .flat_map(|byte| up_to(byte).to_be_bytes())
        .collect()
}

/// Puts parts behind a head and a table of where each begins.
fn in_chunks(head: Vec<u8>, chunks: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let mut place = (head.len() + 12 * (chunks.len() + 1)) as u64;
    let mut bytes = head;
    for (name, chunk) in chunks {
        bytes.extend_from_slice(&name[..]);
        bytes.extend_from_slice(&place.to_be_bytes());
        place += chunk.len() as u64;
    }
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&place.to_be_bytes());
    for (_, chunk) in chunks {
        bytes.extend_from_slice(chunk);
    }
    ended(bytes)
}

/// A graph of two commits, given with their trees, in which the second is the child of the first.
fn graph(parent: [&str; 2], child: [&str; 2]) -> Vec<u8> {
    let mut commits = [(parent, 1u32), (child, 2)];
    commits.sort();
    let ids: Vec<_> = commits.iter().map(|(it, _)| bytes_of(it[0])).collect();
    let place = |id: &str| ids.iter().position(|it| *it == bytes_of(id)).unwrap() as u32;
    let mut data = Vec::new();
    for ([_, tree], generation) in commits {
        let parent = if generation == 2 {
            place(parent[0])
        } else {
            NONE
        };
        data.extend(bytes_of(tree));
        for number in [parent, NONE, generation << 2, 1_700_000_000 + generation] {
            data.extend_from_slice(&number.to_be_bytes());
        }
    }
    let chunks = [
        (b"OIDF", fan(&ids)),
        (b"OIDL", ids.concat()),
        (b"CDAT", data),
    ];
    in_chunks(b"CGPH\x01\x01\x03\x00".to_vec(), &chunks)
}

/// A pack of one blob and an index that calls it by the id of another; its name is first.
fn pack(id: &str, content: &str) -> (String, Vec<u8>, Vec<u8>) {
    let mut pack = [&b"PACK"[..], &2u32.to_be_bytes(), &1u32.to_be_bytes()].concat();
    let place = pack.len() as u32;
    assert!(content.len() < 16, "the length fits into the first byte");
    pack.push(3 << 4 | content.len() as u8);
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    packed.write_all(content.as_bytes()).unwrap();
    pack.extend(packed.finish().unwrap());
    let mut check = flate2::Crc::new();
    check.update(&pack[place as usize..]);
    let pack = ended(pack);
    let trailer = &pack[pack.len() - 20..];
    let ids = [bytes_of(id)];
    let index = [
        &b"\xfftOc\0\0\0\x02"[..],
        &fan(&ids),
        &ids[0],
        &check.sum().to_be_bytes(),
        &place.to_be_bytes(),
        trailer,
    ];
    (
        format!("pack-{}", hex(trailer)),
        pack.clone(),
        ended(index.concat()),
    )
}

/// A list of the only pack that is there, in which one object is where another is.
fn list_of_packs(repo: &TestRepo, lie: &str, other: &str) -> Vec<u8> {
    let index = sh(repo, "ls .git/objects/pack/*.idx").trim().to_owned();
    let shown = sh(repo, &format!("git show-index <{index}"));
    let mut found: Vec<(Vec<u8>, u32)> = shown
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            let place = words.next().unwrap().parse().unwrap();
            (bytes_of(words.next().unwrap()), place)
        })
        .collect();
    let place = |id: &str| found.iter().position(|it| it.0 == bytes_of(id)).unwrap();
    let (lie, other) = (place(lie), place(other));
    found[lie].1 = found[other].1;
    let ids: Vec<_> = found.iter().map(|it| it.0.clone()).collect();
    let mut name = index.rsplit('/').next().unwrap().as_bytes().to_vec();
    name.push(0);
    name.resize(name.len().next_multiple_of(4), 0);
    let places = found
        .iter()
        .flat_map(|it| [0, it.1])
        .flat_map(u32::to_be_bytes);
    let chunks = [
        (b"PNAM", name),
        (b"OIDF", fan(&ids)),
        (b"OIDL", ids.concat()),
        (b"OOFF", places.collect()),
    ];
    in_chunks(b"MIDX\x01\x01\x04\x00\0\0\0\x01".to_vec(), &chunks)
}

#[track_caller]
fn sh(repo: &TestRepo, script: &str) -> String {
    let done = output(repo.command("sh").args(["-ec", script]));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{script}: {said}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// A repository with a file of the user's and another one that an agent would like to be in its place.
fn repository() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("user", 1)]).with_out();
    repo.write("user", "precious\n");
    repo.write("other", "EVIL\n");
    repo.commit_all("user");
    // The dates of commits here are of no time in which a collection would keep them.
    repo.git(&["config", "gc.reflogExpire", "never"]);
    repo.git(&["config", "gc.reflogExpireUnreachable", "never"]);
    repo
}

/// Leaves a graph for the agent to take that makes a commit without parents the child of the branch's. Returns that commit.
fn with_graph(repo: &TestRepo) -> String {
    let orphan = sh(
        repo,
        "touch a; git add a; tree=$(git write-tree); echo orphan | git commit-tree $tree; git rm -qf a",
    );
    let (orphan, start) = (orphan.trim(), repo.head());
    let tree = |commit: &str| repo.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
    let forged = graph([&start, &tree(&start)], [orphan, &tree(orphan)]);
    fs::write(repo.out("graph"), forged).unwrap();
    orphan.to_owned()
}

/// The ways to put the graph where git looks for it: as one file, and as a part of a chain.
const GRAPHS: [&str; 2] = [
    "rm -f $o/info/commit-graph; cp \"$OUT/graph\" $o/info/commit-graph",
    "mkdir -p $o/info/commit-graphs; n=$(tail -c20 \"$OUT/graph\" | od -An -tx1 | tr -d ' \\n'); cp \"$OUT/graph\" $o/info/commit-graphs/graph-$n.graph; echo $n >$o/info/commit-graphs/commit-graph-chain",
];

/// Sets `$o` to the folder of objects.
const OBJECTS: &str = "o=$(git rev-parse --git-path objects)";

fn is_ancestor(repo: &TestRepo, ancestor: &str) -> bool {
    let asked = format!(
        "git -c core.commitGraph=false merge-base --is-ancestor {ancestor} main && echo yes || true"
    );
    sh(repo, &asked) == "yes\n"
}

#[test]
fn a_graph_of_the_agents_does_not_make_an_orphan_the_child_of_the_users_commit() {
    for (script, before, arguments) in [
        (GRAPHS[0], "true", &[][..]),
        (GRAPHS[1], "true", &[]),
        // The one that was there is open, and is written to in place.
        (
            "chmod u+w $o/info/commit-graph; cat \"$OUT/graph\" >$o/info/commit-graph",
            "git commit-graph write --reachable",
            &[],
        ),
        (
            GRAPHS[0],
            "git commit-graph write --reachable",
            &["--isolate"],
        ),
        (GRAPHS[0], "true", &["--isolate"]),
        (GRAPHS[1], "true", &["--isolate"]),
    ] {
        let repo = repository();
        sh(&repo, before);
        let (start, orphan) = (repo.head(), with_graph(&repo));
        repo.agent_does(&[&format!(
            "{OBJECTS}; git reset -q --hard {orphan}; {script}"
        )]);
        let run = repo.run(&[&["--max-cycles=1"], arguments].concat());
        assert_eq!(run.code, 0, "{arguments:?} {script}: {}", run.stderr);
        assert_eq!(repo.each("result"), ["regressed"], "{arguments:?} {script}");
        assert!(is_ancestor(&repo, &start), "{arguments:?} {script}");
        assert!(!is_ancestor(&repo, &orphan), "{arguments:?} {script}");
        assert_eq!(repo.status(), Vec::<String>::new());
        repo.git(&["fsck", "--strict"]);
    }
}

#[test]
fn a_graph_that_was_forged_before_evolve_was_killed_is_not_believed_afterwards() {
    let repo = repository();
    let (start, orphan) = (repo.head(), with_graph(&repo));
    repo.cycle(&format!(
        "{OBJECTS}; git reset -q --hard {orphan}; {}; kill -9 {EVOLVE_PID}; sleep 60",
        GRAPHS[0]
    ));
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert!(is_ancestor(&repo, &start));
    assert!(!is_ancestor(&repo, &orphan));
}

#[test]
fn a_commit_that_only_a_forged_graph_leads_to_is_kept() {
    let repo = repository();
    let theirs = sh(
        &repo,
        "echo theirs | git commit-tree HEAD^{tree}; git update-ref refs/remotes/origin/feat $(echo theirs | git commit-tree HEAD^{tree})",
    );
    let theirs = repo.git(&["rev-parse", theirs.trim().lines().next().unwrap()]);
    let tip = repo.git(&["rev-parse", "refs/remotes/origin/feat"]);
    assert_eq!(tip, theirs);
    let work = sh(
        &repo,
        "touch a; git add a; tree=$(git write-tree); git rm -qf a; echo work | git commit-tree -p HEAD $tree",
    );
    let tree = |commit: &str| repo.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
    let forged = graph([&theirs, &tree(&theirs)], [work.trim(), &tree(work.trim())]);
    fs::write(repo.out("graph"), forged).unwrap();
    repo.cycle(&format!(
        "{OBJECTS}; git reset -q --hard {work}; git update-ref -d refs/remotes/origin/feat; {}",
        GRAPHS[0].trim()
    ))
    .expect(0);
    let refs = repo.git(&["for-each-ref", "--format=%(objectname)"]);
    assert!(refs.lines().any(|id| id == theirs), "{refs}");
}

/// Leaves a pack for the agent to take that gives the user's file another content.
fn with_pack(repo: &TestRepo, content: &str) -> String {
    let id = repo.git(&["rev-parse", "HEAD:user"]);
    let (name, pack, index) = pack(&id, content);
    fs::write(repo.out("forged.pack"), pack).unwrap();
    fs::write(repo.out("forged.idx"), index).unwrap();
    name
}

const PUT_PACK: &str = "for e in pack idx; do cp \"$OUT/forged.$e\" $o/pack/$n.$e; done";

#[track_caller]
fn assert_precious(repo: &TestRepo, what: &str) {
    assert_eq!(repo.read("user"), "precious\n", "{what}");
    assert_eq!(repo.git(&["show", "HEAD:user"]), "precious", "{what}");
    assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
    repo.git(&["fsck", "--full", "--strict"]);
}

#[test]
fn a_pack_that_gives_a_file_of_the_users_another_content_goes_to_the_quarantine() {
    for arguments in [&[][..], &["--isolate"]] {
        let repo = repository();
        let name = with_pack(&repo, "EVIL\n");
        repo.agent_does(&[&format!(
            "{OBJECTS}; n={name}; git rm -q user; echo x >x; git add x; git commit -qm bad; {PUT_PACK}"
        )]);
        repo.run(&[&["--max-cycles=1"], arguments].concat())
            .expect(0);
        assert_eq!(repo.each("result"), ["regressed"]);
        assert_precious(&repo, "undone");
        let notes = repo.newest()["notes"].to_string();
        for kind in ["pack", "idx"] {
            let file = format!(".git/objects/pack/{name}.{kind}");
            assert!(
                notes.contains(&format!("moved out of the way: {file}")),
                "{notes}"
            );
            assert!(!repo.has(&file));
        }
        let kept = sh(
            &repo,
            &format!("find .git/evolve/quarantine -name {name}.pack"),
        );
        assert_ne!(kept, "");
    }
}

#[test]
fn a_pack_that_was_forged_before_evolve_was_killed_does_not_reach_the_undo() {
    let repo = repository();
    let name = with_pack(&repo, "EVIL\n");
    repo.cycle(&format!(
        "{OBJECTS}; n={name}; echo changed >user; {PUT_PACK}; kill -9 {EVOLVE_PID}; sleep 60"
    ));
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_precious(&repo, "after the kill");
}

#[test]
fn a_pack_that_gives_a_file_the_content_that_a_goal_wants_meets_no_goal() {
    let repo = TestRepo::with_goals(
        "  - {id: good, description: d, check: grep -q good user, weight: 5}\nevolve: {measure: clean}\n",
    )
    .with_out();
    repo.write("user", "precious\n");
    repo.commit_all("user");
    let name = with_pack(&repo, "good\n");
    repo.cycle(&format!(
        "{OBJECTS}; n={name}; echo x >x; git add x; git commit -qm x; {PUT_PACK}"
    ))
    .expect(0);
    assert_ne!(repo.each("result"), ["improved"]);
    assert_precious(&repo, "measured in a clean copy");
}

#[test]
fn an_index_that_is_exchanged_for_one_of_an_agents_making_is_put_back() {
    let repo = repository();
    sh(
        &repo,
        "git gc -q; find .git/objects -type f -exec touch -d '1 hour ago' {} +",
    );
    let index = sh(&repo, "ls .git/objects/pack/*.idx").trim().to_owned();
    let before = fs::read(repo.path(&index)).unwrap();
    let place = |id: &str| {
        let ids = &before[8 + 1024..];
        ids.chunks(20).position(|it| it == bytes_of(id)).unwrap()
    };
    let count = u32::from_be_bytes(before[8 + 1020..8 + 1024].try_into().unwrap()) as usize;
    let [user, other] = ["HEAD:user", "HEAD:other"].map(|it| place(&repo.git(&["rev-parse", it])));
    let mut forged = before[..before.len() - 20].to_vec();
    let checks = 8 + 1024 + 20 * count;
    for table in [checks, checks + 4 * count] {
        let lie: [u8; 4] = forged[table + 4 * other..][..4].try_into().unwrap();
        forged[table + 4 * user..][..4].copy_from_slice(&lie);
    }
    fs::write(repo.out("idx"), ended(forged)).unwrap();
    repo.cycle(&format!(
        "git rm -q user; git commit -qm bad; rm -f {index}; cp \"$OUT/idx\" {index}"
    ))
    .expect(3);
    assert_eq!(fs::read(repo.path(&index)).unwrap(), before);
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_precious(&repo, "put back");
}

#[test]
fn a_list_of_packs_that_gives_a_file_another_content_is_removed() {
    let repo = repository();
    sh(&repo, "git gc -q");
    let id = |file: &str| repo.git(&["rev-parse", &format!("HEAD:{file}")]);
    let forged = list_of_packs(&repo, &id("user"), &id("other"));
    fs::write(repo.out("midx"), forged).unwrap();
    repo.cycle(&format!(
        "{OBJECTS}; cp \"$OUT/midx\" $o/pack/multi-pack-index; git update-index --assume-unchanged user; rm user; echo x >x; git add x; git commit -qm bad"
    ))
    .expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert_precious(&repo, "undone");
    assert!(!repo.has(".git/objects/pack/multi-pack-index"));
}

#[test]
fn what_an_agent_puts_beside_a_pack_of_the_users_is_removed() {
    let repo = repository();
    sh(&repo, "git gc -q; rm -f .git/objects/pack/*.rev");
    repo.cycle(&format!(
        "{OBJECTS}; p=$(ls $o/pack/*.pack); for e in rev bitmap mtimes; do echo lie >${{p%.pack}}.$e; done; touch a"
    ))
    .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.newest().get("notes"), None, "{}", repo.newest());
    let left = sh(
        &repo,
        "ls .git/objects/pack | grep -v 'pack$\\|idx$' || true",
    );
    assert_eq!(left, "");
    assert_precious(&repo, "kept");
}

#[test]
fn a_pack_in_a_submodule_that_gives_its_file_another_content_goes_to_the_quarantine() {
    let repo = repository();
    sh(
        &repo,
        "export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=o GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=o
         git init -q \"$OUT/lib\"; cd \"$OUT/lib\"; echo precious >l; git add l; git commit -qm l; cd - >/dev/null
         git -c protocol.file.allow=always submodule -q add \"$OUT/lib\" sub; git commit -qm sub",
    );
    let id = repo.git(&["-C", "sub", "rev-parse", "HEAD:l"]);
    let (name, pack, index) = pack(&id, "EVIL\n");
    fs::write(repo.out("forged.pack"), pack).unwrap();
    fs::write(repo.out("forged.idx"), index).unwrap();
    repo.cycle(&format!(
        "n={name}; o=.git/modules/sub/objects; mkdir -p $o/pack; {PUT_PACK}; echo lie >$o/info/commit-graph; echo changed >sub/l; git rm -q user; git commit -qm bad"
    ))
    .expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    sh(&repo, "cd sub; git checkout -q .; git fsck --full --strict");
    assert_eq!(repo.read("sub/l"), "precious\n");
    assert!(!repo.has(".git/modules/sub/objects/info/commit-graph"));
    assert_precious(&repo, "undone");
}

#[test]
fn folders_of_objects_that_came_as_links_are_moved_away_and_nothing_behind_them_is_touched() {
    let repo = repository();
    let id = repo.git(&["rev-parse", "HEAD:user"]);
    let name = with_pack(&repo, "EVIL\n");
    fs::create_dir_all(repo.out("objects/pack")).unwrap();
    fs::create_dir_all(repo.out("objects/info")).unwrap();
    for kind in ["pack", "idx"] {
        let to = repo.out(&format!("objects/pack/{name}.{kind}"));
        fs::copy(repo.out(&format!("forged.{kind}")), to).unwrap();
    }
    fs::write(repo.out("objects/info/alternates"), "/elsewhere\n").unwrap();
    fs::write(repo.out("objects/info/commit-graph"), "theirs").unwrap();
    // A folder that is not there yet when the agent comes, by the first digits of an id.
    let free = "for n in $(seq 0 255); do free=$(printf %02x $n); [ -e $o/$free ] || break; done";
    let before = crate::harness::files_below(&repo.out("objects"));
    repo.cycle(&format!(
        "{OBJECTS}; git rm -q user; git commit -qm bad; rm -rf $o/pack $o/info; for d in pack info; do ln -s \"$OUT/objects/$d\" $o/$d; done; {free}; ln -s \"$OUT/objects\" $o/$free"
    ))
    .expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert_eq!(crate::harness::files_below(&repo.out("objects")), before);
    let links = sh(&repo, "find .git/objects -type l");
    assert_eq!(links, "", "{id}");
    assert_precious(&repo, "undone");
}

#[test]
fn what_gits_own_maintenance_makes_stays_whole_and_is_told_to_nobody() {
    for (user, agent) in [
        ("true", "git gc -q"),
        (
            "git gc -q",
            "git repack -qadf --write-midx; git commit-graph write --reachable --split",
        ),
        (
            "git repack -qad --write-midx --write-bitmap-index; git commit-graph write --reachable",
            "git repack -qd; git multi-pack-index write",
        ),
        (
            "git commit-graph write --reachable --split",
            "git maintenance run --task=gc --quiet",
        ),
    ] {
        let repo = repository();
        sh(&repo, user);
        let before = repo.git(&["log", "--format=%H %T"]);
        for (number, script) in ["touch a", "rm a"].into_iter().enumerate() {
            repo.cycle(&format!(
                "git commit -q --allow-empty -m e; echo {number} >n; git add n; git commit -qm n; {agent}; {script}"
            ))
            .expect(0);
            assert_eq!(
                repo.newest().get("notes"),
                None,
                "{agent}: {}",
                repo.newest()
            );
            assert_precious(&repo, agent);
            if number == 0 {
                repo.git(&["rm", "-q", "a"]);
                repo.git(&["commit", "-qm", "a is wanted again"]);
            }
        }
        assert_eq!(repo.each("result")[0], "improved", "{agent}");
        let after = repo.git(&["log", "--format=%H %T"]);
        assert!(after.ends_with(&before), "{agent}: {after}");
        sh(
            &repo,
            "git multi-pack-index verify; git commit-graph verify",
        );
        assert!(!repo.has(".git/evolve/quarantine"), "{agent}");
    }
}
