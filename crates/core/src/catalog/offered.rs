//! Which tools are offered. They come from the pins in the store, so that claw can answer before
//! slow servers are up. Must not know rules, or which of them a request holds.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use claw_tool_search::{Index, SearchError};
use futures::future::join_all;
use serde_json::{Value, json};

use super::Catalog;
use super::own_tools::OwnTool;
use super::pinning::{title, withheld};
use super::{instructions, shortened};
use crate::domain::{
    CLAW_ITSELF, OwnServerName, PromptPart, PromptTools, TOOL_SEARCH, ToolSpec, definition_bytes,
    definition_tokens,
};
use crate::hub::INSTRUCTIONS;
use crate::hub::names::offered_name;
use crate::store::{PinRow, StoreError};

/// What a model is offered.
#[derive(Clone, Debug, Default)]
pub struct Offered {
    pub specs: Arc<[ToolSpec]>,
    /// Size and digest of this very list, for the account of a request; the first one makes it.
    pub account: Arc<OnceLock<PromptPart>>,
    /// What the servers of these tools say about themselves, quoted for a prompt; may be empty.
    pub instructions: Arc<str>,
    /// All tools that there are, where these are not all of them.
    pub known: PromptTools,
    /// One sentence for each server that is late or failed, or tool that is withheld, told once.
    pub notices: Vec<String>,
}

/// An offered name, its server, the tool's name there, and the definition.
pub type Definition = (String, String, String, Value);

/// The tools that are offered, by the name under which they are, as of one moment.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub(super) specs: Arc<[ToolSpec]>,
    account: Arc<OnceLock<PromptPart>>,
    instructions: Arc<str>,
    /// What is known of each of `specs` beside its definition, in the same order.
    pub(super) tools: Vec<SnapshotTool>,
    /// What servers say about themselves, by server.
    pub(super) said: Vec<(String, String)>,
    /// Finds tools; made when it is first asked.
    index: OnceLock<Result<Index, String>>,
    /// Of the pins that it was made of: another process may have accepted something since.
    version: u64,
    names: BTreeMap<String, (String, String)>,
}

/// A tool beside its definition.
#[derive(Debug)]
pub(super) struct SnapshotTool {
    pub(super) server: String,
    /// Its name there.
    name: String,
    /// What its server calls it for people; may be empty.
    title: String,
    /// It is one of our own server's.
    pub(super) own: bool,
    /// Of its definition, estimated.
    pub(super) tokens: u64,
    /// What a model is offered is less than what its server says.
    shortened: bool,
}

/// How many tools a server has, and what their definitions take of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerSize {
    pub tools: usize,
    /// Estimated, as models are offered them.
    pub tokens: u64,
    /// Tools whose definitions are shortened for models.
    pub shortened: usize,
    /// It is a server of claw's own, whose tools stand in each request.
    pub own: bool,
}

impl Snapshot {
    fn sizes(&self) -> BTreeMap<String, ServerSize> {
        let mut sizes = BTreeMap::<String, ServerSize>::new();
        for tool in &self.tools {
            let size = sizes.entry(tool.server.clone()).or_default();
            size.tools += 1;
            size.tokens += tool.tokens;
            size.shortened += usize::from(tool.shortened);
            size.own |= tool.own;
        }
        sizes
    }

    /// Estimated tokens of all definitions.
    pub(super) fn tokens(&self) -> u64 {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }

    pub(super) fn tool(&self, offered: &str) -> Option<&SnapshotTool> {
        let place = self.specs.iter().position(|spec| spec.name == offered)?;
        self.tools.get(place)
    }

    /// The places of the tools that fit a text, the best first. An error is half a sentence.
    pub(super) fn search(&self, text: &str, most: usize) -> Result<Vec<usize>, String> {
        let index = self.index.get_or_init(|| self.indexed().map_err(|error| error.to_string()));
        let index = index.as_ref().map_err(Clone::clone)?;
        index.search(text, most).map_err(|error| error.to_string())
    }

    fn indexed(&self) -> Result<Index, SearchError> {
        let said: BTreeMap<&str, &str> =
            self.said.iter().map(|(server, words)| (server.as_str(), words.as_str())).collect();
        let tools = self.specs.iter().zip(&self.tools).map(|(spec, tool)| claw_tool_search::Tool {
            offered: spec.name.clone(),
            name: tool.name.clone(),
            title: tool.title.clone(),
            description: spec.description.clone(),
            input_schema: spec.input_schema.clone(),
            server: tool.server.clone(),
            instructions: said.get(tool.server.as_str()).copied().unwrap_or_default().to_owned(),
        });
        Index::of(&tools.collect::<Vec<_>>())
    }
}

impl Catalog {
    /// The tools for a model, with what a person should hear about them and has not heard yet.
    pub async fn offered(&self) -> Offered {
        let snapshot = self.snapshot().await;
        let (specs, instructions) = (snapshot.specs.clone(), snapshot.instructions.clone());
        let account = snapshot.account.clone();
        let known = PromptTools::default();
        Offered { specs, account, instructions, known, notices: self.take_notices() }
    }

    /// The server and tool behind an offered name.
    pub async fn resolve(&self, name: &str) -> Option<(String, String)> {
        match OwnTool::named(name) {
            Some(OwnTool::Search) => Some((CLAW_ITSELF.name.to_string(), TOOL_SEARCH.to_owned())),
            // Which server is meant stands in the arguments.
            Some(OwnTool::Resources) => None,
            None => self.snapshot().await.names.get(name).cloned(),
        }
    }

    /// The offered names of the tools that fit a text, the best first, at most so many. An error is
    /// half a sentence.
    pub async fn found(&self, text: &str, most: usize) -> Result<Vec<String>, String> {
        let snapshot = self.snapshot().await;
        let places = snapshot.search(text, most)?;
        let specs = places.into_iter().filter_map(|place| snapshot.specs.get(place));
        Ok(specs.map(|spec| spec.name.clone()).collect())
    }

    /// By server: its tools and their size, as far as they are offered to models.
    pub async fn sizes(&self) -> BTreeMap<String, ServerSize> {
        self.snapshot().await.sizes()
    }

    /// The same as it was looked at last: no server is started, and nothing is waited for.
    pub fn sizes_known(&self) -> Option<BTreeMap<String, ServerSize>> {
        Some(self.snapshot.try_read().ok()?.as_ref()?.sizes())
    }

    /// How many of these tools, by their offered names, each server has, as it was looked at last.
    pub fn counted_by_server(&self, names: &[String]) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        if let Ok(snapshot) = self.snapshot.try_read()
            && let Some(snapshot) = snapshot.as_ref()
        {
            for tool in names.iter().filter_map(|name| snapshot.tool(name)) {
                *counts.entry(tool.server.clone()).or_default() += 1;
            }
        }
        counts
    }

    pub async fn offered_names(&self) -> Vec<String> {
        self.snapshot().await.names.keys().cloned().collect()
    }

    /// Every tool that is offered, by its offered name: its server, its name there, and its
    /// definition as it was accepted.
    pub async fn definitions(&self) -> Result<Vec<Definition>, StoreError> {
        let snapshot = self.snapshot().await;
        let pins = self.store.read(|tx| tx.pins(None))?;
        let mut raw: BTreeMap<(String, String), Value> =
            pins.into_iter().map(|pin| ((pin.server, pin.tool), pin.raw)).collect();
        let names = snapshot.names.iter();
        Ok(names
            .filter_map(|(name, at)| {
                let (server, tool) = at.clone();
                Some((name.clone(), server, tool, raw.remove(at)?))
            })
            .collect())
    }

    pub(super) async fn snapshot(&self) -> Arc<Snapshot> {
        self.try_failed_again();
        if self.is_old.load(Ordering::SeqCst) {
            // Whoever waits for the lock may be stopped, so nothing waits behind the mark.
            let mut slot = self.snapshot.write().await;
            if self.is_old.swap(false, Ordering::SeqCst) {
                *slot = None;
            }
        }
        // Where it cannot be read, what is there goes on counting; each call reads its own pin.
        let version = self.store.read(|tx| tx.pins_version()).ok();
        let is_new =
            |snapshot: &&Arc<Snapshot>| version.is_none_or(|version| version == snapshot.version);
        if let Some(snapshot) = self.snapshot.read().await.as_ref().filter(is_new) {
            return snapshot.clone();
        }
        let mut slot = self.snapshot.write().await;
        if let Some(snapshot) = slot.as_ref().filter(is_new) {
            return snapshot.clone();
        }
        let snapshot = Arc::new(self.build_snapshot().await);
        *slot = Some(snapshot.clone());
        snapshot
    }

    async fn build_snapshot(&self) -> Snapshot {
        let version = self.store.read(|tx| tx.pins_version()).unwrap_or_default();
        let servers: Vec<String> = self
            .hub
            .servers()
            .into_iter()
            .filter(|status| !status.disabled)
            .map(|status| status.name)
            .filter(|server| self.offers_any(server))
            .collect();
        let listed = join_all(servers.iter().map(|server| self.pinned_tools(server))).await;
        let (mut specs, mut names, mut said) = (Vec::new(), BTreeMap::new(), Vec::new());
        let mut tools = Vec::new();
        for (server, pins) in servers.into_iter().zip(listed) {
            let Some(pins) = pins else { continue };
            self.late.arrived(&server);
            let (before, words) = (specs.len(), instructions::accepted(&pins).map(str::to_owned));
            for pin in pins.into_iter().filter(|pin| self.settings().tools.has(&server, &pin.tool))
            {
                if pin.withheld {
                    self.tell_of_change(&pin).await;
                } else if pin.tool != INSTRUCTIONS && !self.hides(&server, &pin.tool, &pin.raw) {
                    let own = self.hub.builtin(&server).is_some();
                    let mut whole = spec_of(&server, &pin);
                    if self.hub.builtin(&server) == Some(OwnServerName::Bash) {
                        self.describe_shell(&mut whole.input_schema);
                    }
                    let short = (!own).then(|| self.shortened(&whole)).flatten();
                    let (shortened, spec) = (short.is_some(), short.unwrap_or(whole));
                    tools.push(SnapshotTool {
                        server: server.clone(),
                        name: pin.tool.clone(),
                        title: title(&pin.raw).unwrap_or_default(),
                        own,
                        tokens: definition_tokens(spec.bytes()),
                        shortened,
                    });
                    names.insert(spec.name.clone(), (server.clone(), pin.tool));
                    specs.push(spec);
                }
            }
            // Our own servers' words are about what the prompt says already.
            if let Some(words) =
                words.filter(|_| specs.len() > before && self.hub.builtin(&server).is_none())
            {
                said.push((server, words));
            }
        }
        specs.extend(self.resources_spec());
        let instructions =
            instructions::quoted(&said, self.settings().server_instructions_bytes).into();
        Snapshot {
            specs: specs.into(),
            instructions,
            tools,
            said,
            version,
            names,
            ..Snapshot::default()
        }
    }

    fn shortened(&self, whole: &ToolSpec) -> Option<ToolSpec> {
        let bytes = definition_bytes(self.settings().tools.listed.definition_tokens_max);
        shortened::spec(whole, bytes)
    }

    /// The pins of a server, from the store if it was listed under the same launch command before,
    /// else from itself. `None` while it has not listed its tools.
    async fn pinned_tools(&self, server: &str) -> Option<Vec<PinRow>> {
        let told = |error: StoreError| {
            self.late.tell(format!(
                "the tools of the server `{server}` cannot be read ({error}) and are not offered."
            ));
        };
        let known = self.store.read(|tx| Ok((tx.launch(server)?, tx.pins(Some(server))?)));
        let (launch, pins) = known.map_err(told).ok()?;
        let same_launch =
            launch.is_some_and(|(launch, _)| Some(launch) == self.hub.launch_pin(server));
        // Our own servers are this very program: a cached list may be that of an older one.
        if same_launch
            && !pins.is_empty()
            && (self.hub.builtin(server).is_none() || self.same_program(&pins))
        {
            return Some(pins);
        }
        let listed = self.listed_soon(server).await?;
        self.reconcile(&listed).await.map_err(told).ok()
    }

    /// Says once for each change, and not at each start, that a tool is withheld.
    async fn tell_of_change(&self, pin: &PinRow) {
        let Some((new_pin, _)) =
            pin.changed.clone().filter(|(new_pin, _)| pin.told_pin.as_ref() != Some(new_pin))
        else {
            return;
        };
        let (server, tool) = (pin.server.clone(), pin.tool.clone());
        let notice = withheld(&self.settings().claw, &server, &tool, pin.pin.is_empty());
        let (late, sentence) = (self.late.clone(), notice.clone());
        // Told in here, because whoever waits for it may be stopped.
        let noted = self.store.write(move |tx| {
            if tx.set_told(&server, &tool, &new_pin)? {
                late.tell(sentence);
            }
            Ok(())
        });
        // Where that cannot be noted it is better told twice.
        if noted.await.is_err() {
            self.late.tell(notice);
        }
    }

    /// Whether a tool is kept from models: by our configuration, or by its own definition, whose
    /// `_meta.ui.visibility` does not name the model (MCP Apps). Only a staged action reaches it.
    pub fn hides(&self, server: &str, tool: &str, raw: &Value) -> bool {
        let by_itself = match raw.pointer("/_meta/ui/visibility") {
            None | Some(Value::Null) => false,
            Some(Value::Array(who)) => !who.iter().any(|who| who == "model"),
            // What is meant by anything else is not known, so nothing is offered.
            Some(who) => who != "model",
        };
        by_itself || self.settings().tools.hides(server, tool)
    }

    /// Whether our configuration and the owner's word about its server let a tool be there at all.
    pub fn has(&self, server: &str, tool: &str) -> bool {
        self.settings().tools.has(server, tool) && self.offers_any(server)
    }

    /// Whether pins of our own server were taken by this very program.
    pub(super) fn same_program(&self, pins: &[PinRow]) -> bool {
        let by = self.store.read(|tx| tx.pinned_by()).ok().flatten();
        by.as_deref() == Some(self.settings().program.as_str()) && !pins.is_empty()
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
