//! The gate: every tools/call takes this chain. Must not know MCP or chat.

mod classes;
mod deny;
pub mod permit;
pub mod policy;
pub mod redact;
mod rules;
pub mod shape;

pub use classes::Class;
pub use rules::Decision;
