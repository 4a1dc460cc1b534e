//! Why no model can answer, as sentences that name what to set. Must not know how one is picked.

use crate::config::model::UnknownAgent;

/// Nothing can answer as it was asked for. Each text names the variable or setting to fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChooseError {
    #[error("CLAW_AGENT: {0}")]
    UnknownAgent(#[from] UnknownAgent),
    #[error(
        "{asked} asks for {service}, which needs a key: set {variable}, or {setting} in claw.toml"
    )]
    NoKey { asked: String, service: &'static str, variable: &'static str, setting: String },
    #[error(
        "{asked} asks for an OpenAI-compatible provider: set {address} to a server of your own, \
         or the key of one: {variables}"
    )]
    NoCompatible { asked: String, address: String, variables: String },
    #[error("{asked} is no address that works: {reason}")]
    BaseUrl { asked: String, reason: String },
    #[error("there is no Ollama at {url}: start it, or set {address} to where it is")]
    NoOllama { url: String, address: String },
    #[error(
        "the Ollama at {url} has no models yet: get one with `ollama pull NAME`, or set {name}"
    )]
    NoOllamaModel { url: String, name: String },
    #[error(
        "{asked} points to {url}, and nobody answers there ({why}): start the server, or set \
         {asked} to where it is"
    )]
    NoServer { asked: String, url: String, why: String },
    #[error("{asked} points to a server whose models are not known: set {name}")]
    NoModelName { asked: String, name: String },
    #[error(
        "{asked} names the model `{model}`, but no provider of it: set {agent}, or a key such as \
         ANTHROPIC_API_KEY"
    )]
    ModelWithoutProvider { asked: String, model: String, agent: String },
    #[error("`{place}`: {fault}")]
    Inside { place: String, fault: Box<ChooseError> },
}

impl crate::domain::Blamed for ChooseError {
    fn blame(&self) -> crate::domain::Blame {
        crate::domain::Blame::User
    }
}
