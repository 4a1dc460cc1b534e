//! The model room: one round-trip to a language model, streamed. Owns the trait, the retries, the
//! picking of a model and what is known about each provider. Must not know what a tool means,
//! sessions, turns, or where a delta is shown.

mod choose;
mod demo;
mod error;
pub mod genai;
mod history;
mod retry;
mod route;
mod scripted;
pub mod transcribe;
mod vision_input;
mod wire_schema;

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::domain::{Block, Finish, Message, ToolSpec, Usage};

pub use choose::{
    Chain, ChooseError, Chosen, ToolsOfModel, Trial, address_of, chain, choose, key_variables,
    usual_model,
};
pub use demo::Demo;
pub use error::ModelError;
pub use retry::{Retry, RetryPolicy};
pub use route::{ChainLink, Route};
pub use scripted::{Script, Scripted};
pub use transcribe::{Transcriber, TranscriptionError};
pub use vision_input::{LoadImage, VisionInput};

/// Everything that a model is told in one round-trip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    pub system: String,
    pub messages: Vec<Message>,
    /// The same for every request until a server changes, and long, so it is shared.
    pub tools: Arc<[ToolSpec]>,
    /// Which model, as the owner has chosen for this conversation; else the one that was picked.
    pub model: Option<String>,
}

/// A piece of a reply while it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    Text(String),
    Reasoning(String),
    /// The attempt broke: everything of this reply that was shown so far is void. `why` is one
    /// sentence.
    Restarted {
        why: String,
    },
}

/// A whole reply. There is none without an explicit finish.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Every tool use in it has an id that is unique within the reply.
    pub blocks: Vec<Block>,
    pub finish: Finish,
    pub usage: Usage,
    pub provider: String,
    pub model: String,
    /// A sentence for the person: why another model than before has answered, and what it cannot
    /// do.
    pub notice: Option<String>,
}

/// Where deltas go. It must return at once.
pub type DeltaSink<'a> = dyn FnMut(Delta) + Send + 'a;

/// A reply that comes. Dropping it cancels the request and closes the connection.
pub type Replying<'a> = BoxFuture<'a, Result<Reply, ModelError>>;

/// A language model, or something that plays one.
pub trait Model: Send + Sync {
    /// Whose wire it is: `claude`, `openai`, `ollama`, `demo`, … Opaque blocks go back only to the
    /// provider that made them.
    fn provider(&self) -> &str;

    /// The model's name as the provider knows it.
    fn model(&self) -> &str;

    /// One round-trip.
    fn reply<'a>(&'a self, request: &'a Request, deltas: &'a mut DeltaSink<'_>) -> Replying<'a>;
}
