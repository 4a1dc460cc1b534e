//! The ids of questions: drawn at random, typed by people. Must not know what is asked.

use super::StoreError;
use claw_domain::ApprovalId;

/// Letters and digits that nobody mistakes for one another (Crockford's base 32, lower case).
const ID_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Ten characters of 5 bits each, from the operating system's generator. An id that could be
/// guessed is none, so without randomness nothing is asked.
pub fn new_approval_id<E: std::fmt::Display>(
    fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
) -> Result<ApprovalId, StoreError> {
    let mut bytes = [0_u8; 10];
    fill(&mut bytes).map_err(|error| StoreError::NoRandomness(error.to_string()))?;
    let id = bytes.iter().map(|byte| char::from(ID_ALPHABET[usize::from(byte % 32)])).collect();
    Ok(ApprovalId(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_randomness_there_is_no_id() {
        let ids: std::collections::HashSet<_> =
            (0..100).map(|_| new_approval_id(getrandom::fill).unwrap().0).collect();
        assert!(ids.len() == 100 && ids.iter().all(|id| id.len() == 10), "{ids:?}");
        let refused = new_approval_id(|_| Err("no entropy")).unwrap_err();
        assert!(refused.to_string().contains("no entropy"), "{refused}");
    }
}
