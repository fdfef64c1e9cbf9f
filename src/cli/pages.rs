//! The pages of `evolve help` about what commands have in common.

/// Each page: the word that asks for it, what it is about, its text.
pub const PAGES: [(&str, &str, &str); 5] = [
    (
        "goals",
        "what GOALS.yaml may hold",
        include_str!("help/goals.txt"),
    ),
    (
        "agents",
        "who is handed a fix, and how",
        include_str!("help/agents.txt"),
    ),
    (
        "searching",
        "what SEARCH.yaml may hold, and how a search goes",
        include_str!("help/searching.txt"),
    ),
    (
        "exit-codes",
        "what evolve ends with",
        include_str!("help/exit-codes.txt"),
    ),
    (
        "files",
        "what evolve reads and writes, and where",
        include_str!("help/files.txt"),
    ),
];

/// What has a shell complete words; the name of another one goes in its place.
pub const COMPLETIONS: &str = "source <(evolve completions bash)";

/// Returns the list of pages, to stand below the help of the whole.
pub fn list_of_pages() -> String {
    let line = |(name, about, _): &(&str, &str, &str)| format!("  evolve help {name:<12}{about}\n");
    let lines: String = PAGES.iter().map(line).collect();
    format!(
        "Pages:\n{lines}\nFor your shell:\n  {COMPLETIONS}   completions, for zsh and fish, too\n  evolve man --out DIR                manual pages\n"
    )
}
