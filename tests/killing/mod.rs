//! What both kill rigs are made of: a home whose claw is started and killed, a server whose effects
//! are counted, a model that is a function of what it is sent, a look into the store, and what
//! every log must be like. Must not know who talks to claw, or by which door.
#![allow(dead_code, reason = "each rig uses its own part of this module")]

pub mod doubt;
pub mod effects;
pub mod findings;
pub mod house;
pub mod kept;
pub mod lists;
pub mod log;
pub mod look;
pub mod model;
pub mod points;
pub mod program;
pub mod random;
pub mod recalled;
pub mod remembered;
pub mod staged_actions;
pub mod standing;
pub mod strike;
pub mod whole;
pub mod window;

pub use random::{number, seed_of_the_clock};
