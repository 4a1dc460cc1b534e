//! The prompts of servers as a client gets them: which there are, and the request for one, which is
//! a call like that of a tool. Must not know MCP's wire, or how a call is judged.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{ClientCall, ClientRefusal, Clients};
use crate::domain::{ClientName, LiveSink, escape};
use crate::hub::Method;

/// A prompt of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientPrompt {
    /// The name under which it is offered: `server__prompt`.
    pub name: String,
    /// What its server says of it. Nothing in a text is invisible; icons are as the server gives
    /// them.
    pub definition: Value,
}

/// Where a client asks for one: its server, its name there, and the arguments it cannot be without.
struct At {
    server: String,
    name: String,
    required: Vec<String>,
}

impl Clients {
    /// The prompts of the servers that the owner lets models use, in an order that depends on their
    /// names alone. No server is started for it.
    pub fn prompts(&self) -> BoxFuture<'_, Vec<ClientPrompt>> {
        Box::pin(async move {
            let catalog = self.shared.gate.catalog();
            catalog.look_for_changed_prompts().await;
            let all = catalog.prompts().into_iter();
            let mut prompts: Vec<ClientPrompt> = all
                .map(|one| ClientPrompt {
                    name: one.offered_name(),
                    definition: serde_json::to_value(&one.prompt).unwrap_or_default(),
                })
                .collect();
            prompts.sort_by(|one, other| one.name.cmp(&other.name));
            prompts
        })
    }

    /// Asks a server for a prompt, by the name under which it is offered or as
    /// `server:prompt`. It is a call of the client from here on: judged, perhaps asked about,
    /// counted, written to the audit.
    pub fn begin_prompt<'a>(
        &'a self,
        client: &'a ClientName,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
        (live, mark): (LiveSink, Option<&'a str>),
    ) -> BoxFuture<'a, Result<ClientCall, ClientRefusal>> {
        Box::pin(async move {
            let At { server, name, required } = self.prompt_at(name).await?;
            let is_missing = |wanted: &&String| arguments.get(*wanted).is_none();
            if let Some(missing) = required.iter().find(is_missing) {
                let (name, missing) = (escape::visible(&name), escape::visible(missing));
                let why = format!("the prompt `{name}` needs the argument `{missing}`");
                return Err(ClientRefusal::Arguments(why));
            }
            let asked = json!({"name": name, "arguments": arguments});
            let method = Method::GetPrompt.as_str().to_owned();
            self.begin_at(client, (server, method), asked, (live, mark)).await
        })
    }

    /// It is looked up at its server again, which may have changed it while claw was not running.
    async fn prompt_at(&self, wanted: &str) -> Result<At, ClientRefusal> {
        let catalog = self.shared.gate.catalog();
        catalog.look_for_changed_prompts().await;
        let find = || {
            catalog.prompts().into_iter().find(|one| {
                one.offered_name() == wanted
                    || wanted.split_once(':') == Some((&*one.server, &*one.prompt.name))
            })
        };
        let none = || ClientRefusal::NoPrompt(escape::visible(wanted));
        catalog.look_again_for_prompts(&find().ok_or_else(none)?.server).await;
        let found = find().ok_or_else(none)?;
        let arguments = found.prompt.arguments.into_iter();
        let required = arguments.filter(|one| one.required).map(|one| one.name).collect();
        Ok(At { server: found.server, name: found.prompt.name, required })
    }
}
