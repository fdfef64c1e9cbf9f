//! Behaviour of the program: real repositories, real processes, one scripted agent.

mod harness;

mod cycle;
mod layers;
