//! Runs a bot: takes its updates in, sends what waits for it, keeps its questions in step. Must not
//! know the agents beside it, apart from who is at work.

mod asking;
mod beat;
mod changed_tools;
mod desk;
mod elsewhere;
mod files;
mod group;
mod hands;
mod house;
mod intake;
mod lanes;
mod live;
pub mod member;
mod moves;
mod notify;
mod outgoing;
mod pairing;
mod postman;
mod questions;
mod said;
mod sessions;
mod taps;
mod toast;
mod updates;
mod words;
