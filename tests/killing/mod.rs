//! What both kill rigs are made of: a home whose claw is started and killed, a server whose effects are counted, a model
//! that is a function of what it is sent, a look into the store, and what every log must be like. Must not know who talks to
//! claw, or by which door.
#![allow(dead_code, reason = "each rig uses its own part of this module")]

pub mod effects;
pub mod house;
pub mod log;
pub mod look;
pub mod model;
pub mod points;
pub mod program;
pub mod random;
pub mod verdict;

/// A setting of a rig: a whole number from the environment.
pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Seconds since 1970, for series that nobody wants to repeat yet.
pub fn seed_of_the_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |since| since.as_secs())
}
