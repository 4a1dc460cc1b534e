//! A session with the scripted model, a real gate and a real server: what a person sees, what is on
//! the disk, and what really ran.

pub(crate) mod rig;
mod staging;

mod actions;
mod budget;
mod clients;
mod compactions;
mod heartbeats;
mod jobs;
mod kills;
mod long_talk;
mod personas;
mod questions;
mod stops;
mod turns;
mod undo;
