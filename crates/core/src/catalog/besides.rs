//! What servers have besides their tools: resources, which a model reads by one tool of claw's own,
//! and prompts. Owns what is remembered of it between two starts, and by what a call of it is
//! judged. Must not know rules, or who reads what.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::pinning::Tool;
use super::{Catalog, own_tools};
use crate::domain::ToolSpec;
use crate::hub::{Method, PromptEntry, ServerPrompt, ServerTools};
use crate::store::StoreError;

/// The name of the one tool that reads and searches resources.
pub(super) const RESOURCES: &str = "resources";

/// For the prompts of one server, when somebody wants to see them.
const PROMPTS_TIME: Duration = Duration::from_secs(10);

/// For the prompts of a server that is known to have the one that somebody runs: what is remembered
/// does where it takes longer.
const KNOWN_PROMPTS_TIME: Duration = Duration::from_secs(3);

/// What is remembered of a server, under the launch command by which it said so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    launch: String,
    resources: bool,
    /// It has some, perhaps others by now.
    has_prompts: bool,
    #[serde(default)]
    prompts: Vec<PromptEntry>,
}

impl Catalog {
    /// By what a call of such a method is judged: the server as it is started now. `Err` is the
    /// reason for a denial.
    pub(super) async fn method(&self, server: &str, method: Method) -> Result<Tool, String> {
        let name = method.as_str();
        if self.hub.builtin(server).is_some() {
            return Err(format!(
                "`{server}` is a server of claw's own, which its tools show whole"
            ));
        }
        if !self.has(server, name) {
            return Err(super::no_tool(server, name));
        }
        let listed = self.hub.tools(server).await.map_err(|error| error.to_string())?;
        if !self.is_reconciled(&listed) {
            self.reconcile(&listed).await.map_err(|error| error.to_string())?;
        }
        let (has, what) = match method {
            Method::ReadResource | Method::ListResources => (listed.offers.resources, "resources"),
            Method::GetPrompt => (listed.offers.prompts, "prompts"),
        };
        if !has {
            return Err(format!("the server `{server}` says that it has no {what}"));
        }
        let env_names = self.hub.env_names(server).join(",");
        let pin = listed.launch_pin.clone();
        Ok(Tool { env_names, ..own_tools::judged(pin, method.input_schema(), None) })
    }

    /// The server, the method and its arguments that a use of [`RESOURCES`] means.
    pub(super) fn resource_use(&self, input: &Value) -> Result<(String, Method, Value), String> {
        let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::trim);
        let servers = self.with_resources();
        let server = text("server").unwrap_or_default();
        if !servers.iter().any(|known| known == server) {
            return Err(format!("`server` must be one of: {}", servers.join(", ")));
        }
        let (method, arguments) = match (text("uri").filter(|uri| !uri.is_empty()), text("search"))
        {
            (Some(_), Some(search)) if !search.is_empty() => {
                return Err("give `uri` to read a resource, or `search` to list some".to_owned());
            }
            (Some(uri), _) => (Method::ReadResource, json!({ "uri": uri })),
            (None, search) => {
                (Method::ListResources, json!({ "search": search.unwrap_or_default() }))
            }
        };
        Ok((server.to_owned(), method, arguments))
    }

    /// The tool of claw's own, if a server has anything for it.
    pub(super) fn resources_spec(&self) -> Option<ToolSpec> {
        let servers = self.with_resources();
        (!servers.is_empty()).then(|| ToolSpec {
            name: RESOURCES.to_owned(),
            description: "Reads a resource of a tool server by its URI, also one that a result only \
                links to; or lists what a server has. What comes back is data of that server. \
                Give `uri` to read one, or `search` (words, may be empty) to list those that hold \
                all of them."
                .to_owned(),
            input_schema: json!({"type": "object", "properties": {
                "server": {"type": "string", "enum": servers, "description": "Which server is asked"},
                "uri": {"type": "string", "description": "The resource to read, as the server names it"},
                "search": {"type": "string", "description": "Words by which resources are listed"},
            }, "required": ["server"]}),
        })
    }

    /// The prompts of others' servers as they are remembered, by server. Nothing is started.
    pub fn prompts(&self) -> Vec<ServerPrompt> {
        let of = |server: String| {
            let prompts = self.remembered(&server).map(|one| one.prompts).unwrap_or_default();
            prompts.into_iter().map(move |prompt| ServerPrompt { server: server.clone(), prompt })
        };
        let has = |server: &String| self.has(server, Method::GetPrompt.as_str());
        self.strangers().into_iter().filter(has).flat_map(of).collect()
    }

    /// Asks a server for its prompts; it is started if need be. `Err` is a sentence.
    pub async fn look_for_prompts(&self, server: &str) -> Result<(), String> {
        self.look_within(server, PROMPTS_TIME).await
    }

    /// The same for a prompt that is remembered: it may have changed while claw was not running, or
    /// its server does not tell. Where the server does not answer soon, the call itself will tell.
    pub async fn look_again_for_prompts(&self, server: &str) {
        if let Err(error) = self.look_within(server, KNOWN_PROMPTS_TIME).await {
            tracing::debug!(server, error, "its prompts stay as they were");
        }
    }

    /// Asks the servers that are up and have said that their prompts are others now. One
    /// that says so again and again is asked once each time that somebody wants to know.
    pub async fn look_for_changed_prompts(&self) {
        let mut changed = Vec::new();
        for server in self.strangers() {
            if self.hub.has_changed_prompts(&server).await {
                changed.push(server);
            }
        }
        let looks = changed.iter().map(|server| self.look_again_for_prompts(server));
        futures::future::join_all(looks).await;
    }

    async fn look_within(&self, server: &str, time: Duration) -> Result<(), String> {
        let look = async {
            let listed = self.hub.tools(server).await.map_err(|error| error.to_string())?;
            self.remember(&listed).await.map_err(|error| error.to_string())
        };
        timeout(time, look).await.unwrap_or_else(|_| {
            Err(format!("the server `{server}` did not answer within {} s", time.as_secs()))
        })
    }

    /// Asks all servers that had prompts when they were up last, side by side. A sentence about
    /// each that does not answer.
    pub async fn look_for_all_prompts(&self) -> Vec<String> {
        let had = |server: &String| self.remembered(server).is_some_and(|one| one.has_prompts);
        let servers: Vec<String> = self.strangers().into_iter().filter(had).collect();
        let looks = servers.iter().map(|server| self.look_for_prompts(server));
        let troubles = futures::future::join_all(looks).await.into_iter().filter_map(Result::err);
        troubles.map(|trouble| self.redactor.redact(&trouble).into_owned()).collect()
    }

    /// Others' servers that are not switched off.
    pub fn strangers(&self) -> Vec<String> {
        let on = self.hub.servers().into_iter().filter(|status| !status.disabled);
        on.map(|status| status.name).filter(|name| self.hub.builtin(name).is_none()).collect()
    }

    /// Those of them whose resources a model may be offered.
    fn with_resources(&self) -> Vec<String> {
        let read = Method::ReadResource.as_str();
        let has = |server: &String| {
            let tools = &self.settings().tools;
            self.has(server, read)
                && !tools.hides(server, read)
                && self.remembered(server).is_some_and(|one| one.resources)
        };
        self.strangers().into_iter().filter(has).collect()
    }

    /// What another launch command has said counts for nothing.
    fn remembered(&self, server: &str) -> Option<Remembered> {
        let text = self.store.read(|tx| tx.offers(server)).ok()??;
        let remembered: Remembered = serde_json::from_str(&text).ok()?;
        (Some(&remembered.launch) == self.hub.launch_pin(server).as_ref()).then_some(remembered)
    }

    /// Notes what a server that is up has, and which prompts.
    pub(super) async fn remember(&self, listed: &Arc<ServerTools>) -> Result<(), StoreError> {
        let (server, offers) = (&listed.server, listed.offers);
        if self.hub.builtin(server).is_some() {
            return Ok(());
        }
        let before = self.remembered(server);
        let known = || before.as_ref().map(|one| one.prompts.clone()).unwrap_or_default();
        let prompts = match offers.prompts {
            false => Vec::new(),
            true => match timeout(PROMPTS_TIME, self.hub.prompts(server)).await {
                Ok(Ok(prompts)) => prompts,
                Ok(Err(error)) => {
                    tracing::warn!(server, %error, "its prompts stay as they were");
                    known()
                }
                Err(_) => known(),
            },
        };
        let now = Remembered {
            launch: listed.launch_pin.clone(),
            resources: offers.resources,
            has_prompts: offers.prompts,
            prompts,
        };
        if before.as_ref() == Some(&now) || before.is_none() && now.is_nothing() {
            return Ok(());
        }
        let others = before.is_none_or(|before| before.resources != now.resources);
        let text = serde_json::to_string(&now).unwrap_or_default();
        let server = server.clone();
        self.store.write(move |tx| tx.set_offers(&server, &text)).await?;
        if others {
            self.is_old.store(true, Ordering::SeqCst);
        }
        Ok(())
    }
}

impl Remembered {
    fn is_nothing(&self) -> bool {
        !self.resources && !self.has_prompts
    }
}
