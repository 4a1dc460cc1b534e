//! The console door: what a person at a terminal types and sees. Owns the look of text, questions
//! and running calls, the line editor and the loop that joins them. Must not know: model, gate,
//! hub, SQL, or how a message reaches a session.
//!
//! [`chat::run`] is the way in: it turns typed lines into [`chat::ConsoleEvent`]s and shows every
//! [`chat::ConsoleShow`].

pub mod chat;
pub mod clean;
mod diff;
pub mod editor;
mod markdown;
pub mod paint;
mod progress;
pub mod question;
pub mod screen;
mod staged;
mod staged_list;
mod state;
pub mod stream;
pub mod style;
mod table;
mod wrap;
