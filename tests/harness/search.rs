//! Searches in test repositories: what is worked on, an agent with a script for each attempt, and what the lineage says.

use std::fs;
use std::path::PathBuf;

use evolve::model::search::lineage::{Entry, Id, Lineage};
use evolve::search::standing::Standing;

use super::{Run, TestRepo};

impl TestRepo {
    /// A repository in which a search can begin: the number is what stands in `x`, and `gate.sh` wants no `bad` in it.
    pub fn with_number(number: &str) -> TestRepo {
        let repo = TestRepo::empty().with_out();
        repo.write("x", &format!("{number}\n"));
        repo.write("score.sh", "cat x\n");
        repo.write("gate.sh", "! grep -q bad x\n");
        repo.write(".gitignore", "*.ignored\n");
        repo.commit_all("first");
        repo
    }

    /// Lets the agent do the n-th of these scripts for attempt n, and the last one for all that follow.
    pub fn attempts(&self, scripts: &[&str]) {
        let folder = self.outside();
        for (index, script) in scripts.iter().enumerate() {
            fs::write(folder.join(format!("attempt-{}", index + 1)), script).unwrap();
        }
        let agent = format!(
            "cat >\"{folder}/brief-$EVOLVE_ATTEMPT\"\nn=$EVOLVE_ATTEMPT\necho $n >>'{folder}/called'\n[ $n -le {last} ] || n={last}\n. \"{folder}/attempt-$n\"\n",
            folder = folder.display(),
            last = scripts.len()
        );
        fs::write(folder.join("agent"), agent).unwrap();
    }

    /// The words with which a search of `x` is begun.
    pub fn search_words(&self, more: &[&str]) -> Vec<String> {
        let agent = format!("--agent={}", self.agent());
        let words = ["search", "sh score.sh", "--files=x", "--seed=1", &agent];
        let all = words.iter().chain(more);
        all.map(|word| (*word).to_owned()).collect()
    }

    /// Searches `x` to the end.
    pub fn search(&self, more: &[&str]) -> Run {
        let words = self.search_words(more);
        self.evolve(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Goes on with the search.
    pub fn resume(&self) -> Run {
        self.evolve(&["search", "resume"])
    }

    /// Leaves an `apply` of the first attempt as one that was killed before the branch moved; returns the commit that it was of.
    pub fn apply_cut_short(&self) -> String {
        let to = self.git(&["rev-parse", "refs/evolve/search/1/1"]);
        let landing =
            serde_json::json!({"branch": "refs/heads/main", "from": self.head(), "to": to});
        fs::write(self.applying(), landing.to_string()).unwrap();
        to
    }

    /// The number of the newest search, whether it began or not.
    pub fn newest_search(&self) -> Option<u64> {
        let all = fs::read_dir(self.private().join("search")).ok()?;
        let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u64>().ok();
        all.flatten().filter_map(number).max()
    }

    /// The file of the lineage of a search.
    pub fn lineage_file(&self, number: u64) -> PathBuf {
        let file = format!("search/{number}/lineage.jsonl");
        self.private().join(file)
    }

    /// The lineage of the newest search.
    pub fn lineage(&self) -> Lineage {
        let file = self.lineage_file(self.newest_search().unwrap());
        let text = fs::read_to_string(file).unwrap();
        let mut entries = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let Some(Entry::Header(plan)) = entries.next() else {
            panic!("a lineage without a header");
        };
        let mut lineage = Lineage::new(*plan);
        entries.for_each(|entry| lineage.take(entry).unwrap());
        lineage
    }

    /// How each attempt ended, and its score, as in `accepted 2`.
    pub fn endings(&self) -> Vec<String> {
        let lineage = self.lineage();
        let standing = Standing::of(&lineage);
        let words = |id: Id| {
            let settled = standing.settled(id);
            let score = settled.score.map(|score| format!(" {score}"));
            format!("{}{}", settled.ending.words(), score.unwrap_or_default())
        };
        (1..standing.len()).map(words).collect()
    }

    /// The file of an attempt, as its commit has it.
    pub fn of_attempt(&self, id: Id, file: &str) -> String {
        self.git(&["show", &format!("refs/evolve/search/1/{id}:{file}")])
    }
}

/// What of an attempt has to be the same whenever a search is gone on with: how it was made, content, samples, ending.
pub fn essence(lineage: &Lineage) -> Vec<String> {
    let standing = Standing::of(lineage);
    let one = |id: Id| {
        let attempt = lineage.attempt(id);
        let outcomes: Vec<_> = attempt
            .measured
            .iter()
            .map(|(what, measured)| (what, &measured.outcome))
            .collect();
        let proposal = &attempt.proposal;
        let settled = (id < standing.len()).then(|| standing.settled(id));
        format!(
            "{proposal:?} {:?} {outcomes:?} {settled:?}",
            lineage.content(id)
        )
    };
    let end = lineage.end.as_ref().map(|end| (end.why, end.best));
    let all = (0..=lineage.newest()).map(one);
    all.chain([format!("{end:?}")]).collect()
}
