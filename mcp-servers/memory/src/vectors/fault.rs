//! Why an endpoint gave no vectors. Must not know how it is asked.

use std::time::Duration;

/// Why there are no vectors. Each is a sentence without the text of a note and without the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub sentence: String,
    /// How long the endpoint wants to be left alone.
    pub retry_after: Option<Duration>,
    /// A text was refused, not the request.
    pub is_of_input: bool,
}

impl Fault {
    pub fn of(sentence: String) -> Self {
        Self { sentence, retry_after: None, is_of_input: false }
    }
}
