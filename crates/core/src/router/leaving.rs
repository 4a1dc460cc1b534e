//! What leaves by a door is cleared of known secrets. Must not know doors, or where a file comes
//! from.

use std::borrow::Cow;

use super::Router;
use crate::redact::Redactor;

/// A known secret is in bytes that are no text: taking it out would break them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldsSecret;

impl Router {
    /// A text with the mark of each known secret in its place.
    pub fn cleared_text(&self, text: &str) -> String {
        self.gate.redactor().redact(text).into_owned()
    }

    /// The bytes of a file as they may leave: a chat is a sink, so no known secret goes into it. In
    /// a text it is replaced by its mark; bytes that are no text would be broken by that, so such a
    /// file stays. What is packed or encrypted is not looked into. Takes as long as reading them.
    ///
    /// # Errors
    /// The bytes are no text, and hold a known secret.
    pub fn cleared_file(&self, bytes: Vec<u8>) -> Result<Vec<u8>, HoldsSecret> {
        cleared(self.gate.redactor(), bytes)
    }
}

fn cleared(redactor: &Redactor, bytes: Vec<u8>) -> Result<Vec<u8>, HoldsSecret> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(match redactor.redact(&text) {
            Cow::Owned(masked) => masked.into_bytes(),
            Cow::Borrowed(_) => text.into_bytes(),
        }),
        Err(binary) if holds_secret(redactor, binary.as_bytes()) => Err(HoldsSecret),
        Err(binary) => Ok(binary.into_bytes()),
    }
}

/// Looks in pieces, because as text a file takes up to three times its room; they overlap by more
/// than any secret is long.
fn holds_secret(redactor: &Redactor, bytes: &[u8]) -> bool {
    const PIECE: usize = 1 << 20;
    const OVERLAP: usize = 16 << 10;
    (0..bytes.len()).step_by(PIECE).any(|start| {
        let end = bytes.len().min(start + PIECE + OVERLAP);
        let text = String::from_utf8_lossy(bytes.get(start..end).unwrap_or_default());
        matches!(redactor.redact(&text), Cow::Owned(_))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_known_secret_leaves_in_a_file() {
        let redactor =
            Redactor::new([("THE_KEY".to_owned(), "hunter2-hunter2".to_owned())]).unwrap();
        let cleared = |bytes: &[u8]| cleared(&redactor, bytes.to_vec());
        let text = cleared(b"key: hunter2-hunter2").unwrap();
        assert!(!String::from_utf8(text).unwrap().contains("hunter2"));
        assert_eq!(cleared(b"\xff\xfe\0hunter2-hunter2"), Err(HoldsSecret));
        assert_eq!(cleared(b"\xff\xfe\0").unwrap(), b"\xff\xfe\0");
        let mut at_the_edge = vec![0xff; (1 << 20) - 7];
        at_the_edge.extend(b"hunter2-hunter2");
        assert_eq!(cleared(&at_the_edge), Err(HoldsSecret));
    }
}
