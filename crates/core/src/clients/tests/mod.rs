//! Clients over a real gate with a real server (`tests/support/stranger.rs`), which keeps an
//! account of every effect.

mod calls;
mod known;
mod others;
mod proposals;
mod reading;
mod rig;
