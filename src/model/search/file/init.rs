//! SEARCH.yaml as `evolve search init` writes it: what was found, and a comment for everything else. Pure.

use super::find::Bench;
use crate::model::init::scalar;
use crate::model::search::lineage::Direction;
use crate::model::text;

/// What goes into the file for sure.
#[derive(Clone, Debug, PartialEq)]
pub struct Wishes {
    /// The fitness command.
    pub fitness: String,
    /// Which way its number is better.
    pub direction: Direction,
    /// Nobody said which way that is.
    pub is_guess: bool,
    /// Patterns of the files that attempts may change.
    pub files: Vec<String>,
}

/// Returns a whole file. `benches` are those that were found, `gates` commands with what each was found by.
pub fn file(
    wishes: &Wishes,
    benches: &[Bench],
    gates: &[(String, String)],
    has_goals: bool,
) -> String {
    let mut page = "\
# yaml-language-server: $schema=./schemas/search.schema.json
#
# What `evolve search` makes as good as it can be, and the command that measures it. `evolve search init` wrote it; change what does not
# fit, commit it, then run `evolve search`. Flags go before what stands here; `evolve schema search` prints every key.
# For help in your editor: mkdir -p schemas && evolve schema search >schemas/search.schema.json

# Run by `sh -c` in a copy of each attempt: exit 0, and the last line of stdout is the number. It should be the same for the same code;
# where it is not, what looks better is measured again beside what it has to beat.
"
    .to_owned();
    page.push_str(&format!("fitness: {}\n", scalar(&wishes.fitness)));
    for one in benches.iter().filter(|one| one.command != wishes.fitness) {
        let source = comment(&one.source);
        let missing = one.missing.map_or(String::new(), |program| {
            format!("; not now: {program} is not installed")
        });
        page.push_str(&format!(
            "# {source}{missing}\n# fitness: {}\n",
            comment(&scalar(&one.command))
        ));
    }
    let other = match wishes.direction {
        Direction::Max => "min: the smaller number is better",
        Direction::Min => "max: the larger number is better",
    };
    page.push('\n');
    if let Some(words) = guess(wishes, benches) {
        page.push_str(&format!("# A guess, {words}\n"));
    }
    let objective = match wishes.direction {
        Direction::Max => "more requests per second",
        Direction::Min => "make it faster",
    };
    page.push_str(&format!(
        "direction: {}    # {other}\n# What the number stands for, for the agents.\n# objective: {objective}\n",
        wishes.direction.word()
    ));
    page.push_str("\n# What attempts may change, as patterns. What commands run is never among it, unless it is named without a wildcard.\n");
    match wishes.files.is_empty() {
        true => page.push_str("# files: [src/**]\n"),
        false => page.push_str(&list("files", &wishes.files)),
    }
    page.push_str("\n# What has to pass before an attempt is scored.\n");
    let commands: Vec<String> = gates.iter().map(|(command, _)| command.clone()).collect();
    match commands.is_empty() {
        true => page.push_str("# gates: [make test]\n"),
        false => page.push_str(&list("gates", &commands)),
    }
    if has_goals {
        page.push_str("# goals_as_gates: true    # and the goals of GOALS.yaml that pass on the untouched code\n");
    }
    page.push_str(REST);
    page
}

/// Says why the direction is as it is, where nobody said which way the number is better.
pub fn guess(wishes: &Wishes, benches: &[Bench]) -> Option<String> {
    if !wishes.is_guess {
        return None;
    }
    let taken = benches.iter().find(|one| one.command == wishes.fitness);
    Some(match taken.filter(|one| one.speaks_of_time) {
        Some(one) => format!(
            "because {} speaks of a time: change it where the number is none",
            comment(&one.source)
        ),
        None => {
            "nothing says which way the number is better: change it where less is better".to_owned()
        }
    })
}

const REST: &str = "\
# holdout: ./other-input.sh    # prints a number, too, which a new best may not worsen; agents are not told of it, but have this file (not what `--holdout` says)

# What git ignores is not in a copy: make it, or lend it.
# prepare: npm ci
# link: [node_modules]

# strategy: population    # generations, of which the better half lives on; else climb: vary the best again and again
# k: 4                    # of a population: attempts that live at once
# generations: 10         # of a population: at most so many
# lenses: [caching]       # what agents look at in turn, instead of what fits the objective
# stale: 20               # so many attempts (of a population generations, 3) without a new best are a plateau
# until: 0.95             # ends with this score
# seed: 7                 # all randomness comes from it
# agent: claude           # its name or command line, as for the loop
# sandbox: auto           # how agents and commands are held back
# repeats: 3              # samples of either side that confirm what looks better, where the number is noisy
# agents: 1               # agents at work at once
# benchmarks: 1           # attempts measured at once: more disturb each other
# timeout: 10m            # for each command
# max_attempts: 50
# max_cost: 5             # US dollars, as agents report it
# max_time: 2h
# protect: [data/**]      # never changed, whatever files says
";

fn list(key: &str, values: &[String]) -> String {
    let lines = values
        .iter()
        .map(|value| format!("  - {}\n", scalar(value)));
    format!("{key}:\n{}", lines.collect::<String>())
}

/// Returns text that stays on its line of a comment.
fn comment(text: &str) -> String {
    text::clean_line(text)
}
