//! The gate: every tools/call takes this chain. Must not know MCP or chat.

mod classes;
mod deny;
pub mod permit;
pub mod policy;
mod rules;

pub use classes::Class;
pub use rules::Decision;
