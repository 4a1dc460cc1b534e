//! The chain over a real hub with a real server (`tests/support/stranger.rs`), which keeps an
//! account of every effect.

pub(crate) mod rig;

mod answers;
mod clients;
mod grants;
mod late;
mod pins;
mod results;
mod rounds;
mod settling;
mod shells;
mod staged_actions;
mod trust;
mod verdicts;
