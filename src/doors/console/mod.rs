//! The console door: what a person at a terminal types and sees. Owns the look of text, questions
//! and running calls, the line editor and the loop that joins them, and what connects it with a
//! session. Must not know: model, hub, SQL.
//!
//! [`chat::run`] is the way in to the screen: it turns typed lines into [`chat::ConsoleEvent`]s and
//! shows every [`chat::ConsoleShow`]. [`run`] joins it with the house.

pub mod chat;
pub mod clean;
mod diff;
pub mod editor;
mod markdown;
pub mod paint;
mod postman;
mod progress;
pub mod question;
pub mod run;
pub mod screen;
mod staged;
mod staged_list;
mod state;
pub mod stream;
pub mod style;
mod table;
mod wrap;
