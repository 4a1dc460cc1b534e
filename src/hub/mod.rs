//! The hub.

pub mod manifest;
pub mod names;
