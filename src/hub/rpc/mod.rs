//! JSON-RPC's meaning: the handshake of both eras, requests and their answers, notifications.

pub(in crate::hub) mod bridge;
pub mod era;
pub(in crate::hub) mod handshake;
