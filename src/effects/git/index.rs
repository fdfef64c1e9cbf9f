//! How git's index begins and ends.

use sha1::{Digest, Sha1};

/// How every index begins.
const BEGIN: &[u8] = b"DIRC";
/// How many bytes the digest has with which it ends.
const DIGEST: usize = 20;

/// Says whether these are the bytes of a whole index. Git may leave the digest out, as zeros.
pub fn is_index(bytes: &[u8]) -> bool {
    let Some(end) = bytes.len().checked_sub(DIGEST) else {
        return false;
    };
    let (all, digest) = bytes.split_at(end);
    let is_digest = || Sha1::digest(all).as_slice() == digest;
    all.starts_with(BEGIN) && (digest.iter().all(|byte| *byte == 0) || is_digest())
}
