//! SIGKILL at any point of a whole cycle, then the next start recovers.
