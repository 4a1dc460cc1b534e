//! The hub against small misbehaving servers (`tests/support/stranger.rs`), over real processes and
//! pipes.

mod rig;

mod calls;
mod eras;
mod foreign_bytes;
mod http;
mod life;
mod starts;
mod transports;
mod traps;
