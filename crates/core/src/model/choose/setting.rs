//! Which setting a sentence about a model names: the variable, where variables are read, else the
//! key of the section that it is about. Must not know how a model is picked.

use super::services::Service;
use super::{ChooseError, Selection};
use crate::config::model::Agent;

/// A key of `claw.toml`, as a person is told of it.
pub(super) fn key_of(place: &str, key: &str) -> String {
    format!("`{place} {key}`")
}

impl Selection<'_> {
    pub(super) fn key(&self, key: &str) -> String {
        key_of(self.place, key)
    }

    /// What sets something that is missing beside `asked`: the variable where `asked` is one, else
    /// the key of the section. A section that is not the first, or an agent's own, reads none of
    /// these variables.
    pub(super) fn to_set(&self, variable: &str, key: &str, asked: &str) -> String {
        if asked.starts_with("CLAW_") { variable.to_owned() } else { self.key(key) }
    }

    pub(super) fn no_name(&self, asked: &str) -> ChooseError {
        let name = self.to_set("CLAW_MODEL", "model", asked);
        ChooseError::NoModelName { asked: asked.to_owned(), name }
    }

    /// The same for a server on this machine, which perhaps nobody has started.
    pub(super) async fn no_name_at(&self, url: &str, asked: &str) -> ChooseError {
        match super::probe::why_not_reached(url).await {
            None => self.no_name(asked),
            Some(why) => {
                ChooseError::NoServer { asked: asked.to_owned(), url: url.to_owned(), why }
            }
        }
    }

    pub(super) fn no_key(
        &self,
        agent: Agent,
        asked: &str,
        candidates: &[&'static Service],
    ) -> ChooseError {
        let variables: Vec<&str> =
            candidates.iter().filter_map(|service| service.keys.first().copied()).collect();
        match candidates {
            [only] if agent != Agent::OpenAiCompatible => ChooseError::NoKey {
                asked: asked.to_owned(),
                service: only.name,
                variable: only.keys.first().copied().unwrap_or_default(),
                setting: self.key("api_key"),
            },
            _ => ChooseError::NoCompatible {
                asked: asked.to_owned(),
                address: self.to_set("CLAW_BASE_URL", "base_url", asked),
                variables: variables.join(", "),
            },
        }
    }
}
