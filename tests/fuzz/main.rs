//! Hostile input by the thousand: every format that `evolve` reads, mutated. No panic, no hang, bounded memory.
