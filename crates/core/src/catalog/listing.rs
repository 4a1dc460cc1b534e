//! Which tools stand in a request where a model is not offered all of them: claw's own, the tool
//! that finds others, and those that the window has loaded, in this order. Owns when that is so.
//! Must not know logs or models.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::offered::{Offered, Snapshot};
use super::{Catalog, instructions, tool_search};
use crate::domain::{LoadedBy, LoadedTools, PromptTools, ToolFinder, ToolRoom, ToolSpec};
use crate::hub::names::offered_name;
use crate::store::now_ms;

/// How long ago a tool may have been called that was used lately.
const LATELY: Duration = Duration::from_secs(7 * 24 * 3600);
/// Estimated tokens of the definitions of tools that were used lately.
const LATELY_TOKENS_MAX: u64 = 4_000;
/// Lists that are kept: as many as sessions whose windows are kept.
const LISTINGS_KEPT: usize = 8;

/// A list that was made, and of what. Held by the catalog; the oldest goes.
pub(super) struct Listing {
    snapshot: Arc<Snapshot>,
    finder: ToolFinder,
    loaded: LoadedTools,
    offered: Offered,
}

/// What has to be loaded before the next request of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    pub by: LoadedBy,
    /// By their offered names.
    pub tools: Vec<String>,
}

impl Catalog {
    /// What has to be loaded before the next request of a window. `loaded` is what the window has,
    /// `message` what a person has written and no model has answered.
    pub async fn to_load(
        &self,
        room: &ToolRoom,
        loaded: Option<&LoadedTools>,
        message: Option<&str>,
    ) -> Option<Load> {
        if room.finder == ToolFinder::Nobody {
            return None;
        }
        let snapshot = self.snapshot().await;
        if loaded.is_none() && !snapshot.is_over(room) {
            return None;
        }
        let message = message.filter(|_| room.finder == ToolFinder::Claw);
        let found = message.map(|text| snapshot.names_found(text, room.suggested_max));
        let found = found.unwrap_or_default();
        let Some(loaded) = loaded else {
            return Some(begin(self.used_lately(&snapshot, room), &found));
        };
        let new: Vec<String> =
            found.into_iter().filter(|name| !loaded.all.contains(name)).collect();
        let count = snapshot.own_count() + loaded.all.len() + new.len();
        let tokens =
            snapshot.own_tokens() + snapshot.tokens_of(&loaded.all) + snapshot.tokens_of(&new);
        if count > room.tools_max || tokens > room.tokens_max {
            let mut anew = new.clone();
            anew.extend(loaded.newest.iter().cloned());
            let anew = begin(self.used_lately(&snapshot, room), &anew);
            if anew.tools.len() < loaded.all.len() {
                return Some(anew);
            }
        }
        (!new.is_empty()).then_some(Load { by: LoadedBy::Message, tools: new })
    }

    /// The tools for a model of whose window these are loaded; all of them where nothing is.
    pub async fn offered_of(&self, room: &ToolRoom, loaded: Option<&LoadedTools>) -> Offered {
        let listed = loaded.filter(|_| room.finder != ToolFinder::Nobody);
        let Some(loaded) = listed else { return self.offered().await };
        let snapshot = self.snapshot().await;
        let notices = self.take_notices();
        let mut listings = self.listings.lock().unwrap_or_else(PoisonError::into_inner);
        let known = listings.iter().find(|known| {
            Arc::ptr_eq(&known.snapshot, &snapshot)
                && known.finder == room.finder
                && known.loaded == *loaded
        });
        if let Some(known) = known {
            return Offered { notices, ..known.offered.clone() };
        }
        let bytes_max = self.settings().server_instructions_bytes;
        let offered = snapshot.listed(room.finder, loaded, bytes_max);
        listings.retain(|known| Arc::ptr_eq(&known.snapshot, &snapshot));
        if listings.len() >= LISTINGS_KEPT {
            listings.remove(0);
        }
        let (finder, loaded) = (room.finder, loaded.clone());
        listings.push(Listing { snapshot, finder, loaded, offered: offered.clone() });
        Offered { notices, ..offered }
    }

    /// The tools of other servers that were called lately, as far as there is room, the last one
    /// first.
    fn used_lately(&self, snapshot: &Snapshot, room: &ToolRoom) -> Vec<String> {
        let since = now_ms() - i64::try_from(LATELY.as_millis()).unwrap_or_default();
        // More than fit, because some are claw's own or gone.
        let most = u32::try_from(room.used_lately_max.saturating_mul(4)).unwrap_or(u32::MAX);
        let used = self.store.read(|tx| tx.used_since(since, most)).unwrap_or_default();
        let mut left = LATELY_TOKENS_MAX.min(room.tokens_max / 2);
        let mut names = Vec::new();
        for (server, tool) in used {
            let name = offered_name(&server, &tool);
            let Some(known) = snapshot.tool(&name).filter(|known| !known.own) else { continue };
            if names.len() < room.used_lately_max && known.tokens <= left {
                left -= known.tokens;
                names.push(name);
            }
        }
        names
    }
}

fn begin(mut tools: Vec<String>, more: &[String]) -> Load {
    for name in more {
        if !tools.contains(name) {
            tools.push(name.clone());
        }
    }
    Load { by: LoadedBy::Begin, tools }
}

impl Snapshot {
    /// Whether a model is not offered all of them at once. Where all are claw's own there is
    /// nothing to leave out.
    fn is_over(&self, room: &ToolRoom) -> bool {
        let has_others = self.tools.iter().any(|tool| !tool.own);
        has_others && (self.specs.len() > room.tools_max || self.tokens() > room.tokens_max)
    }

    fn own_tokens(&self) -> u64 {
        self.tools.iter().filter(|tool| tool.own).map(|tool| tool.tokens).sum()
    }

    fn tokens_of(&self, offered: &[String]) -> u64 {
        offered.iter().filter_map(|name| self.tool(name)).map(|tool| tool.tokens).sum()
    }

    fn own_count(&self) -> usize {
        self.tools.iter().filter(|tool| tool.own).count()
    }

    /// The tools of other servers that fit a text, by name. A search that fails finds none: a turn
    /// is not held up by it.
    fn names_found(&self, text: &str, most: usize) -> Vec<String> {
        let found = self.others_found(text, most).unwrap_or_else(|error| {
            tracing::warn!(%error, "no tools were looked up for a message");
            Vec::new()
        });
        let specs = found.into_iter().filter_map(|place| self.specs.get(place));
        specs.map(|spec| spec.name.clone()).collect()
    }

    /// The places of the tools of other servers that fit a text, the best first. Claw's own stand
    /// in each list anyway. An error is half a sentence.
    pub(super) fn others_found(&self, text: &str, most: usize) -> Result<Vec<usize>, String> {
        let is_other = |place: &usize| self.tools.get(*place).is_some_and(|tool| !tool.own);
        let found = self.search(text, most + self.own_count())?;
        Ok(found.into_iter().filter(is_other).take(most).collect())
    }

    fn listed(&self, finder: ToolFinder, loaded: &LoadedTools, bytes_max: usize) -> Offered {
        let of =
            |own: bool| self.specs.iter().zip(&self.tools).filter(move |(_, tool)| tool.own == own);
        let mut specs: Vec<ToolSpec> = of(true).map(|(spec, _)| spec.clone()).collect();
        // What is no tool of any server stands behind those, and is claw's own, too.
        specs.extend(self.specs.iter().skip(self.tools.len()).cloned());
        if finder == ToolFinder::Model {
            specs.push(tool_search::spec(self));
        }
        for name in &loaded.all {
            specs.extend(
                of(false).find(|(spec, _)| spec.name == *name).map(|(spec, _)| spec.clone()),
            );
        }
        let begins = |server: &str| {
            let tools = loaded.begin.iter().filter_map(|name| self.tool(name));
            tools.into_iter().any(|tool| tool.server == server)
        };
        let said: Vec<_> = self.said.iter().filter(|(server, _)| begins(server)).cloned().collect();
        Offered {
            specs: specs.into(),
            instructions: instructions::quoted(&said, bytes_max).into(),
            known: PromptTools { count: self.specs.len() as u64, tokens: self.tokens() },
            ..Offered::default()
        }
    }
}
