//! The gate: every tools/call takes this chain. Must not know MCP or chat.

pub mod permit;
