//! Files, and what else messages hold, through the whole program: `claw gateway` as a process, a
//! strict stand-in for the Bot API, and others for a model that can see and for a server that
//! listens.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod coming;
mod going;
mod newer;
mod replied;
mod rig;
mod told;
