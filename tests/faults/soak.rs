//! Many cycles with an agent that misbehaves: nothing grows and nothing is left.
