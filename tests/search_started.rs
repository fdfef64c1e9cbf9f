//! A search that begins, or does not: what a start that cannot go on says, and that it leaves nothing.

use crate::harness::TestRepo;

#[test]
fn a_strategy_with_options_of_its_own_is_told_where_they_stand() {
    let repo = TestRepo::with_number("1");
    repo.write(
        "SEARCH.yaml",
        "fitness: sh score.sh\nstrategy: {population: {k: 4}}\n",
    );
    let said = repo.error(2, &["search"]);
    let hint = "write strategy: population, and k and generations beside it";
    assert!(said.contains(hint), "{said}");
}
