//! Names as a model sees them. Owns the mapping from (server, tool) to `server__tool`; must not
//! know catalogs or models.
//!
//! Providers accept ASCII letters, digits, `_` and `-`, at most 64 bytes. A name that already fits
//! is kept as it is. One that has to be changed gets the first eight digits of a digest, so that
//! two different tools never share a name.

pub mod look;

use claw_domain::canonical::sha256_hex;

/// The longest tool name that every provider accepts, in bytes.
pub const OFFERED_NAME_MAX_BYTES: usize = 64;

/// Between the server's and the tool's part.
pub const SEPARATOR: &str = "__";

const DIGEST_DIGITS: usize = 8;

/// `name` with every character outside of ASCII letters, digits, `_` and `-` replaced by `_`.
pub fn safe_name(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    name.chars().map(keep).collect()
}

/// The name under which a server's tool is offered: `server__tool`, ASCII, at most 64 bytes,
/// deterministic.
pub fn offered_name(server: &str, tool: &str) -> String {
    let plain = format!("{server}{SEPARATOR}{tool}");
    // `a_` + `b` and `a` + `_b` would meet, and so would `a__b` + `c` and `a` + `b__c`.
    let splits_uniquely = !server.contains(SEPARATOR) && !server.ends_with('_');
    if splits_uniquely
        && !tool.is_empty()
        && plain.len() <= OFFERED_NAME_MAX_BYTES
        && safe_name(&plain) == plain
    {
        return plain;
    }
    let digest = sha256_hex(format!("{server}\0{tool}"));
    let mut name = safe_name(&plain);
    name.truncate(OFFERED_NAME_MAX_BYTES - DIGEST_DIGITS - 1);
    format!("{name}_{}", digest.get(..DIGEST_DIGITS).unwrap_or(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fitting_name_is_kept() {
        assert_eq!(offered_name("bash", "run"), "bash__run");
    }

    #[test]
    fn names_that_would_meet_are_kept_apart() {
        for (left, right) in
            [(("a_", "b"), ("a", "_b")), (("a__b", "c"), ("a", "b__c")), (("ä", "x"), ("ö", "x"))]
        {
            assert_ne!(
                offered_name(left.0, left.1),
                offered_name(right.0, right.1),
                "{left:?} {right:?}"
            );
        }
        let long = "x".repeat(80);
        assert_ne!(offered_name(&long, "a"), offered_name(&long, "b"));
    }

    proptest! {
        #[test]
        fn always_within_the_providers_limits(server in ".{0,90}", tool in ".{0,90}") {
            let name = offered_name(&server, &tool);
            prop_assert!(!name.is_empty() && name.len() <= OFFERED_NAME_MAX_BYTES);
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        }
    }
}
