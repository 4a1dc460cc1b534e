//! An error as an editor shows it: a code of JSON-RPC, and a sentence for the person. Must not know
//! which request it answers.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema;

/// JSON-RPC 2.0, 5.1.
const INVALID_PARAMS: i32 = -32602;
const INTERNAL: i32 = -32603;
/// ACP: there is no such resource.
const NOT_FOUND: i32 = -32002;

/// The request cannot be carried out as it is.
pub fn refused(sentence: impl Into<String>) -> Error {
    schema::Error::new(INVALID_PARAMS, sentence).into()
}

/// Something of claw's is broken.
pub fn broken(error: impl std::fmt::Display) -> Error {
    schema::Error::new(INTERNAL, error.to_string()).into()
}

/// One sentence for a name that never was and for one that is not this door's.
pub fn no_conversation(name: &str) -> Error {
    let shown = crate::domain::escape::visible(name);
    let text =
        format!("There is no conversation `{shown}` open here; open it again, or start one.");
    schema::Error::new(NOT_FOUND, text).into()
}
