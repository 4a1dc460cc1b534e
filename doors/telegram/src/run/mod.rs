//! Runs a bot: takes its updates in, sends what waits for it, keeps its questions in step. Must not
//! know the agents beside it, apart from who is at work.

mod chat_queue;
mod context;
mod digest_button;
mod door;
mod elsewhere;
mod files;
mod group;
mod handling;
mod heartbeats;
mod intake;
mod jobs;
pub mod member;
mod message_text;
mod message_versions;
mod moves;
mod notify;
mod outgoing;
mod owner_questions;
mod pacing;
mod pairing;
mod question_message;
mod reactions;
mod reminder_button;
mod tap_notice;
mod taps;
mod undo_button;
mod updates;
mod words;
