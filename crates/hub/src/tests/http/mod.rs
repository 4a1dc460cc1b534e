//! The hub against servers over HTTP that misbehave: what is sent, what is shown, and how often an
//! effect happens.

mod hostile;
mod limits;
mod server;
mod sessions;
mod standing;
mod words;
