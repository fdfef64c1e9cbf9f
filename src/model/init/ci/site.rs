//! The site of the documentation that a step of CI builds: a goal builds it into a folder that is nobody's, in place of one of the
//! repository's, whose files an agent may commit. Pure.

use std::sync::LazyLock;

use regex::Regex;

use super::same;
use crate::model::check;
use crate::model::init::{Look, first_of, join};
use crate::model::recipes::MAKEFILES;

/// A folder that is nobody's.
const NOBODYS: &str = "\"$(mktemp -d)\"";
/// How a goal for MkDocs names it.
const OF_MKDOCS: &str = "--site-dir \"$(mktemp -d)\"";
/// What MkDocs is told of where it builds to, and of how much it says.
static MANNER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"\s(?:(?:--site-dir|-d)[ =](?:"\$\(mktemp -d\)"|[\w./-]+)|--clean\b|-c\b|--quiet\b|-q\b|--verbose\b|-v\b)"#,
    )
    .expect("BUG: a pattern of ours is no pattern")
});
/// What Sphinx is called with where all of that stands there as it is.
static SPHINX: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?m)(?:(?:^|[\s/])sphinx-build|\s-m[ \t]+sphinx)(?<rest>(?:[ \t]+[^\s;&|<>()$`'"\\#]+)+)[ \t]*(?:$|[;&|])"#,
    )
    .expect("BUG: a pattern of ours is no pattern")
});
/// A word.
static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\S+").expect("BUG: a pattern of ours is no pattern"));
/// A call of make behind which nothing else is run.
static MAKE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:^|[\s;&|])g?make(?:[ \t]+(?:[^\s;&|<>()$`'"\\#]|"[^"$`\\]*")+)+\s*$"#)
        .expect("BUG: a pattern of ours is no pattern")
});
/// Options of Sphinx whose value is the next word.
const TAKES: [&str; 17] = [
    "--builder",
    "--conf-dir",
    "--define",
    "--doctree-dir",
    "--html-define",
    "--jobs",
    "--tag",
    "--warning-file",
    "-A",
    "-D",
    "-M",
    "-b",
    "-c",
    "-d",
    "-j",
    "-t",
    "-w",
];
/// Those of them whose value is a folder that it writes to.
const WRITES: [&str; 2] = ["--doctree-dir", "-d"];
/// Options of Sphinx that say how it goes about its work, and not what is made, or what is wrong; with a value or without.
const OF_SPHINX: [&str; 18] = [
    "--builder",
    "--color",
    "--doctree-dir",
    "--fail-on-warning",
    "--fresh-env",
    "--jobs",
    "--keep-going",
    "--quiet",
    "-E",
    "-M",
    "-T",
    "-W",
    "-a",
    "-b",
    "-d",
    "-j",
    "-q",
    "-v",
];
/// What the Makefile that Sphinx writes can be asked for.
const TARGETS: [&str; 9] = [
    "dirhtml",
    "doctest",
    "dummy",
    "epub",
    "html",
    "linkcheck",
    "man",
    "singlehtml",
    "text",
];

/// Says whether the goal with this check is one for MkDocs or Sphinx that tells all that a step's tells, and leaves no site among the
/// files.
pub(super) fn leaves_none(look: &dyn Look, check: &str, step: &str) -> bool {
    let plainly = |check: &str| MANNER.replace_all(check, "").into_owned();
    let own = plainly(check);
    let is_of_mkdocs = || same::is_run_by(&plainly(step), std::iter::once(&*own));
    let is_of_sphinx = || {
        let source = pages_of(look, check);
        source.is_some() && source == pages_of(look, step)
    };
    check.contains(OF_MKDOCS) && is_of_mkdocs() || check.contains(NOBODYS) && is_of_sphinx()
}

/// Returns a step's check as one that has Sphinx build into a folder that is nobody's, unless something else goes by what it builds.
pub(super) fn elsewhere(look: &dyn Look, check: &str) -> String {
    let mut done = String::new();
    let mut from = 0;
    for found in SPHINX.captures_iter(check) {
        let Some(rest) = found.name("rest") else {
            continue;
        };
        for (at, folder) in written(rest.as_str()) {
            if is_named_once(check, folder) {
                let at = rest.start() + at;
                done.push_str(&check[from..at]);
                done.push_str(NOBODYS);
                from = at + folder.len();
            }
        }
    }
    done.push_str(&check[from..]);
    match MAKE.is_match(&done) && made(look, &done).is_some() {
        true => format!("{} BUILDDIR={NOBODYS}", done.trim_end()),
        false => done,
    }
}

/// Returns the folders to which Sphinx writes, called with these words, each with its place.
fn written(text: &str) -> Vec<(usize, &str)> {
    let mut words = WORD
        .find_iter(text)
        .map(|word| (word.start(), word.as_str()));
    let (mut all, mut operands) = (Vec::new(), 0);
    while let Some((at, word)) = words.next() {
        if TAKES.contains(&word) {
            let value = words.next();
            all.extend(value.filter(|_| WRITES.contains(&word)));
        } else if !word.starts_with('-') {
            operands += 1;
            all.extend((operands == 2).then_some((at, word)));
        }
    }
    all.retain(|(_, folder)| !folder.starts_with("/tmp"));
    all
}

/// Says whether a folder, or what lies in it, is named but once in a text.
fn is_named_once(text: &str, folder: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || "\"'`=:;,&|()<>".contains(c);
    let plainly = |word: &str| {
        word.trim_start_matches("./")
            .trim_end_matches('/')
            .to_owned()
    };
    let folder = plainly(folder);
    let is_it = |word: &&str| {
        let word = plainly(word);
        let rest = word.strip_prefix(&folder);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    text.split(is_end).filter(is_it).count() == 1
}

/// Returns the folder of the sources of which a check builds pages of HTML with Sphinx, and does nothing else that tells anything.
fn pages_of(look: &dyn Look, check: &str) -> Option<String> {
    let all = check::done(check);
    let mut calls = all
        .iter()
        .filter(|one| !matches!(one.words[0].as_str(), "cd" | "mktemp"));
    let one = calls.next().filter(|_| calls.next().is_none())?;
    let dir = one.dir.as_deref()?;
    let is_it = |word: &String| word.rsplit('/').next() == Some("sphinx-build");
    let Some(at) = one.words.iter().position(is_it) else {
        let made = made(look, check).filter(|made| made.target == "html" && made.is_plain);
        return made.map(|made| made.source);
    };
    let mut words = one.words[at + 1..].iter();
    let mut source = None;
    while let Some(word) = words.next() {
        let is_option = word.starts_with('-');
        if is_option && !is_manner(word) {
            return None;
        }
        let value = words
            .as_slice()
            .first()
            .filter(|_| TAKES.contains(&word.as_str()));
        if value.is_some() {
            words.next();
        }
        let is_builder = ["--builder", "-M", "-b"].contains(&word.as_str());
        match value {
            Some(value) if is_builder && value != "html" => return None,
            Some(_) => {}
            None if is_option => {}
            None => source = source.or_else(|| check::join(dir, word)),
        }
    }
    source
}

/// Says whether an option of Sphinx says only how it goes about its work.
fn is_manner(word: &str) -> bool {
    let is_joined = word.starts_with("-j") || word.starts_with("--jobs=");
    is_joined || word == "-bhtml" || OF_SPHINX.contains(&word)
}

/// What make is called for.
struct Made {
    /// The folder of the sources.
    source: String,
    target: String,
    /// Sphinx is told nothing that the goal for its pages does not tell it.
    is_plain: bool,
}

/// Returns what make is called for, where that is one target of a Makefile that Sphinx wrote.
fn made(look: &dyn Look, check: &str) -> Option<Made> {
    let all = check::done(check);
    let is_make = |one: &&check::Done| matches!(one.words[0].as_str(), "make" | "gmake");
    let mut calls = all.iter().filter(is_make);
    let one = calls.next().filter(|_| calls.next().is_none())?;
    let dir = one.dir.clone()?;
    let (mut target, mut is_plain) = (None, true);
    let mut words = one.words[1..].iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-C" | "--directory" => drop(words.next()),
            word if TARGETS.contains(&word) && target.is_none() => target = Some(word.to_owned()),
            word if word.starts_with("BUILDDIR=$") => {}
            word if word.starts_with("SPHINXOPTS=") || word.starts_with("O=") => {
                let (_, options) = word.split_once('=')?;
                is_plain &= options.split_whitespace().all(is_manner);
            }
            "-s" | "--silent" => {}
            _ => return None,
        }
    }
    let text = look.read(&join(&dir, first_of(look, &dir, &MAKEFILES)?))?;
    let is_sphinxs = text.contains("BUILDDIR") && text.contains("SPHINXBUILD");
    let has_config = |folder: &String| look.has(&join(folder, "conf.py"));
    let sources = [dir.clone(), join(&dir, "source")];
    let source = sources
        .into_iter()
        .find(has_config)
        .filter(|_| is_sphinxs)?;
    Some(Made {
        source,
        target: target?,
        is_plain,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::init::tests::Files;

    /// What sphinx-quickstart writes.
    const MAKEFILE: &str = "SPHINXOPTS ?=\nSPHINXBUILD ?= sphinx-build\nSOURCEDIR = .\nBUILDDIR = _build\n\
        %: Makefile\n\t@$(SPHINXBUILD) -M $@ \"$(SOURCEDIR)\" \"$(BUILDDIR)\" $(SPHINXOPTS) $(O)\n";

    fn files() -> Files {
        Files::of(&[
            ("Makefile", "BUILDDIR = out\nhtml:\n\tcc x.c\n"),
            ("docs/Makefile", MAKEFILE),
            ("docs/conf.py", ""),
            ("doc/Makefile", MAKEFILE),
            ("doc/source/conf.py", ""),
        ])
    }

    #[test]
    fn the_same_build_leaves_no_site_where_it_is_built_elsewhere() {
        let own = "mkdocs build --strict --site-dir \"$(mktemp -d)\"";
        let sphinx = "sphinx-build -W -q docs \"$(mktemp -d)\"";
        let locked = "uv run --locked sphinx-build -W -q doc/source \"$(mktemp -d)\"";
        for (check, step, expected) in [
            (own, "mkdocs build --strict", true),
            (own, "mkdocs build", true),
            (own, "mkdocs build -q --clean --strict -d public/docs", true),
            (own, "mkdocs build --site-dir=site --strict", true),
            (own, "mkdocs build --strict -f docs/mkdocs.yml", false),
            (own, "mkdocs build --strict\nhtmltest site", false),
            (own, "cd docs && mkdocs build", false),
            (own, "mkdocs gh-deploy", false),
            ("mkdocs build --strict", "mkdocs build --strict", false),
            (
                "uv run --locked mkdocs build --strict --site-dir \"$(mktemp -d)\"",
                "uv run mkdocs build --strict",
                true,
            ),
            (sphinx, "sphinx-build docs docs/_build", true),
            (
                sphinx,
                "sphinx-build -b html -W --keep-going -j auto -d docs/_build/trees docs/ docs/_build/html",
                true,
            ),
            (sphinx, "cd docs && sphinx-build -M html . _build", true),
            (sphinx, "make -C docs html", true),
            (
                sphinx,
                "cd docs\nmake html SPHINXOPTS=\"-W --keep-going\"",
                true,
            ),
            (locked, "uv run sphinx-build doc/source out", true),
            (locked, "make -C doc html O=-W", true),
            (sphinx, "sphinx-build doc docs/_build", false),
            (sphinx, "sphinx-build -b linkcheck docs docs/_build", false),
            (sphinx, "sphinx-build -n docs docs/_build", false),
            (
                sphinx,
                "sphinx-build -D language=de docs docs/_build",
                false,
            ),
            (sphinx, "sphinx-build docs out && htmltest out", false),
            (sphinx, "make -C docs linkcheck", false),
            (sphinx, "make -C docs html SPHINXOPTS=-n", false),
            (sphinx, "make -C docs html check", false),
            (sphinx, "make html", false),
            ("sphinx-build -W docs out", "sphinx-build docs out", false),
        ] {
            assert_eq!(
                leaves_none(&files(), check, step),
                expected,
                "{check}: {step}"
            );
        }
    }

    #[test]
    fn sphinx_builds_into_a_folder_that_is_nobodys() {
        for (step, expected) in [
            ("sphinx-build docs docs/_build", "sphinx-build docs @"),
            ("python -m sphinx -n docs out", "python -m sphinx -n docs @"),
            (
                "cd docs && python -m pip list\nuv run sphinx-build -n -b html -d _build/trees . _build/html a.rst",
                "cd docs && python -m pip list\nuv run sphinx-build -n -b html -d @ . @ a.rst",
            ),
            (
                "sphinx-build -b html docs a; sphinx-build -b linkcheck docs b",
                "sphinx-build -b html docs @; sphinx-build -b linkcheck docs @",
            ),
            (
                "make -C docs linkcheck",
                "make -C docs linkcheck BUILDDIR=@",
            ),
            (
                "make -C docs html SPHINXOPTS=-n",
                "make -C docs html SPHINXOPTS=-n BUILDDIR=@",
            ),
            (
                "cd doc && make html SPHINXOPTS=\"-W\"",
                "cd doc && make html SPHINXOPTS=\"-W\" BUILDDIR=@",
            ),
        ] {
            let expected = expected.replace('@', NOBODYS);
            assert_eq!(elsewhere(&files(), step), expected, "{step}");
        }
        for step in [
            "sphinx-build docs out && htmltest ./out/",
            "sphinx-build docs out\ntest -e out/index.html",
            "sphinx-build docs \"$OUT\"",
            "sphinx-build docs /tmp/out",
            "sphinx-build docs",
            "sphinx-build docs `mktemp -d`",
            "echo sphinx-builder docs out",
            "make html",
            "make -C docs clean html",
            "make -C docs html && htmltest docs/_build",
            "make -C docs html BUILDDIR=x",
        ] {
            assert_eq!(elsewhere(&files(), step), step);
        }
    }
}
