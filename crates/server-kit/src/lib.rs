//! What our tool servers share: how a tool is defined and called, schemas that every host
//! understands, and MCP over standard input and output. Must not know any tool, or claw.

/// A tool server over HTTP, for the conformance suite alone.
#[cfg(feature = "http")]
pub mod http;

/// The tools without a protocol.
pub mod library_result;

/// Schemas in the small part of JSON Schema that every model provider and host understands.
pub mod schema;

/// MCP on a pair of streams, compiled once for all servers.
pub mod serving;

/// What the host says of whoever asks.
pub mod source;

/// MCP over standard input and output, from the first message to the last.
pub mod stdio;

/// A tool: what it is, what it takes and gives, and the list of all of them.
pub mod tools;

use std::io;

/// Why the system refuses, in words for a model.
pub fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotFound => "it does not exist (any more)".to_owned(),
        io::ErrorKind::InvalidFilename => {
            "the name is too long (at most 255 bytes a name, 4096 a path) or not allowed here"
                .to_owned()
        }
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        io::ErrorKind::CrossesDevices => {
            "source and destination are on different file systems".to_owned()
        }
        _ => error.to_string(),
    }
}
