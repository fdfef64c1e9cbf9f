//! Digests of text, in lower-case hex. Pure.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of `bytes`.
pub fn full(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The SHA-256 of bytes that come in parts.
#[derive(Default)]
pub struct Parts(Sha256);

impl Parts {
    /// Adds the next part.
    pub fn add(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// Returns the digest of all of them.
    pub fn full(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Returns the first 64 bits of the SHA-256 of `parts`, each with its length, so that no two lists collide by joining.
pub fn short(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hex(&hasher.finalize()[..8])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
