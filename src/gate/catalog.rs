//! Which tools are offered. They come from the pins in the store, so that claw can answer before slow servers are up. Must
//! not know rules.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use super::Gate;
use super::pinning::withheld;
use crate::domain::ToolSpec;
use crate::hub::ServerTools;
use crate::hub::names::offered_name;
use crate::store::PinRow;

/// How long a model waits for a server whose tools are not known yet. One that needs longer goes on starting meanwhile, and
/// its tools join at a later step.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a model is offered.
#[derive(Clone, Debug, Default)]
pub struct Offered {
    pub specs: Arc<[ToolSpec]>,
    /// One sentence for each server that failed or tool that is withheld, told once.
    pub notices: Vec<String>,
}

/// A server that could not be asked for its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTrouble {
    pub server: String,
    pub reason: String,
}

/// The tools that are offered, by the name under which they are.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    specs: Arc<[ToolSpec]>,
    names: BTreeMap<String, (String, String)>,
}

impl Gate {
    /// The tools for a model, with what a person should hear about them. Notices come with the first call only.
    pub async fn offered(&self) -> Offered {
        let (catalog, notices) = self.catalog().await;
        Offered { specs: catalog.specs.clone(), notices }
    }

    /// The server and tool behind an offered name.
    pub async fn resolve(&self, name: &str) -> Option<(String, String)> {
        self.catalog().await.0.names.get(name).cloned()
    }

    pub async fn offered_names(&self) -> Vec<String> {
        self.catalog().await.0.names.keys().cloned().collect()
    }

    async fn catalog(&self) -> (Arc<Catalog>, Vec<String>) {
        if self.catalog_is_old.swap(false, Ordering::SeqCst) {
            *self.catalog.write().await = None;
        }
        if let Some(catalog) = self.catalog.read().await.as_ref() {
            return (catalog.clone(), Vec::new());
        }
        let mut slot = self.catalog.write().await;
        if let Some(catalog) = slot.as_ref() {
            return (catalog.clone(), Vec::new());
        }
        let (catalog, notices) = self.build_catalog().await;
        let catalog = Arc::new(catalog);
        *slot = Some(catalog.clone());
        (catalog, notices)
    }

    async fn build_catalog(&self) -> (Catalog, Vec<String>) {
        let servers: Vec<String> =
            self.hub.servers().into_iter().filter(|status| !status.disabled).map(|status| status.name).collect();
        let listed = join_all(servers.iter().map(|server| self.pinned_tools(server))).await;
        let (mut specs, mut names) = (Vec::new(), BTreeMap::new());
        let mut notices = Vec::new();
        for (server, pins) in servers.into_iter().zip(listed) {
            match pins {
                Ok(pins) => {
                    for pin in pins {
                        if pin.changed.is_some() {
                            notices.push(withheld(&server, &pin.tool));
                        } else {
                            let spec = spec_of(&server, &pin);
                            names.insert(spec.name.clone(), (server.clone(), pin.tool));
                            specs.push(spec);
                        }
                    }
                }
                Err(trouble) => notices.push(format!("{}; its tools are not offered.", trouble.reason)),
            }
        }
        (Catalog { specs: specs.into(), names }, notices)
    }

    /// The pins of a server, from the store if it was listed under the same launch command before, else from itself.
    async fn pinned_tools(&self, server: &str) -> Result<Vec<PinRow>, ServerTrouble> {
        // The reason may quote the server's own last words.
        let trouble = |reason: String| ServerTrouble {
            server: server.to_owned(),
            reason: self.redactor.redact(&reason).into_owned(),
        };
        let known = self.store.read(|tx| Ok((tx.launch(server)?, tx.pins(Some(server))?)));
        let (launch, pins) = known.map_err(|error| trouble(error.to_string()))?;
        let same_launch = launch.is_some_and(|(launch, _)| Some(launch) == self.hub.launch_pin(server));
        // Our own servers are this very program: a cached list may be that of an older one.
        if same_launch && !pins.is_empty() && (self.hub.builtin(server).is_none() || self.same_program(&pins)) {
            return Ok(pins);
        }
        let listed = self.listed_soon(server).await.map_err(trouble)?;
        self.reconcile(&listed).await.map_err(|error| trouble(error.to_string()))
    }

    /// The tools from the server itself, if it has them within [`PATIENCE`].
    async fn listed_soon(&self, server: &str) -> Result<Arc<ServerTools>, String> {
        let (hub, name) = (self.hub.clone(), server.to_owned());
        let mut listing = tokio::spawn(async move { hub.tools(&name).await });
        match tokio::time::timeout(PATIENCE, &mut listing).await {
            Ok(Ok(listed)) => listed.map_err(|error| error.to_string()),
            Ok(Err(error)) => Err(format!("the server `{server}` could not be asked: {error}")),
            Err(_) => {
                let is_old = self.catalog_is_old.clone();
                tokio::spawn(async move {
                    if matches!(listing.await, Ok(Ok(_))) {
                        is_old.store(true, Ordering::SeqCst);
                    }
                });
                let waited = PATIENCE.as_secs();
                Err(format!("the server `{server}` has not started within {waited} s (`claw tools` waits for longer)"))
            }
        }
    }

    /// Whether pins of our own server were taken by this very program.
    pub(super) fn same_program(&self, pins: &[PinRow]) -> bool {
        let by = self.store.read(|tx| tx.pinned_by()).ok().flatten();
        by.as_deref() == Some(self.settings.program.as_str()) && !pins.is_empty()
    }
}

fn spec_of(server: &str, pin: &PinRow) -> ToolSpec {
    let text = |key: &str| pin.raw.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let schema = pin.raw.get("inputSchema").cloned().filter(Value::is_object);
    ToolSpec {
        name: offered_name(server, &pin.tool),
        description: text("description"),
        input_schema: schema.unwrap_or_else(|| json!({"type": "object"})),
    }
}
