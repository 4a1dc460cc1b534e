//! The catalog: which tools there are, which of them a model is offered, whether each is what it
//! was when the owner accepted it, and what its server says about itself. Must not know rules,
//! questions, or who calls a tool.

mod besides;
mod first_sight;
mod instructions;
mod late;
mod lint;
mod listing;
mod no_such_tool;
mod offered;
mod own_tools;
mod pinning;
mod quarantine;
mod shell;
mod shortened;
mod tool_search;
mod trust;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock as RwLockSync};
use std::time::Duration;

use tokio::sync::RwLock;

pub use first_sight::Summary;
pub use lint::Findings;
pub use offered::{Definition, Offered, ServerSize};
pub use pinning::{Tool, no_tool};
pub use quarantine::{PinAnswer, QuarantineError, ToolChange};
pub use trust::{TrustAnswer, TrustError, Trusted, TrustedBy};

use crate::config::Tools;
use crate::hub::manifest::Manifest;
use crate::hub::{Hub, Replaced, ServerTools};
use crate::redact::Redactor;
use crate::store::Store;
use late::Late;
use listing::Listing;
use offered::Snapshot;

/// The settings of the catalog, in their units.
#[derive(Clone, Debug)]
pub struct CatalogSettings {
    /// How long a request to a model waits, once, for a server whose tools are not known yet.
    pub server_wait: Duration,
    /// The most bytes of what a server says about itself that go to the model.
    pub server_instructions_bytes: usize,
    /// Which tools are there, and which of them models see.
    pub tools: Tools,
    /// Which build of claw this is: its own servers' tools need no yes while it is the same.
    pub program: String,
    /// The first words of a command that acts on this agent.
    pub claw: String,
}

/// One for the whole process, made with the gate.
pub struct Catalog {
    /// A handle; the app closes it last.
    store: Store,
    /// Asked for the tools of its servers. The gate holds it, too.
    hub: Arc<Hub>,
    /// A clone: it learns with all others.
    redactor: Redactor,
    /// Replaced whole when the owner changes them.
    settings: RwLockSync<Arc<CatalogSettings>>,
    /// What models are offered now; made anew when it is asked for and is old.
    snapshot: RwLock<Option<Arc<Snapshot>>>,
    /// The list of each server that was last compared with its pins. Gone with its server.
    reconciled: Mutex<HashMap<String, Arc<ServerTools>>>,
    /// The snapshot is old: settings or servers have changed, or a late server has its tools now.
    is_old: Arc<AtomicBool>,
    /// Lists that were made for windows, the newest last. Old ones go.
    listings: Mutex<Vec<Listing>>,
    /// Who is late; a server leaves it when its tools are there or it has failed.
    late: Late,
}

impl Catalog {
    pub fn new(store: Store, hub: Arc<Hub>, redactor: Redactor, settings: CatalogSettings) -> Self {
        Self {
            store,
            hub,
            redactor,
            settings: RwLockSync::new(Arc::new(settings)),
            snapshot: RwLock::new(None),
            reconciled: Mutex::default(),
            listings: Mutex::default(),
            is_old: Arc::default(),
            late: Late::default(),
        }
    }

    /// The settings of this moment.
    fn settings(&self) -> Arc<CatalogSettings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on these are in force; the next step of any turn has the tools that they leave.
    /// Which build this is stays as it was at the start, also when its file is replaced.
    pub fn set_settings(&self, settings: CatalogSettings) {
        let program = self.settings().program.clone();
        let settings = Arc::new(CatalogSettings { program, ..settings });
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
        self.is_old.store(true, Ordering::SeqCst);
    }

    /// From now on these are the servers. A step that is under way keeps the tools that it was
    /// given, and its calls end where they began; the next step of any turn has those of the new
    /// servers.
    pub fn set_servers(&self, manifest: Manifest) -> Replaced {
        let replaced = self.hub.replace(manifest);
        let others = || replaced.changed.iter().chain(&replaced.removed);
        self.late.forget(others());
        let mut known = self.reconciled.lock().unwrap_or_else(PoisonError::into_inner);
        others().for_each(|server| drop(known.remove(server)));
        drop(known);
        // Behind the servers, so that a list that is being made meanwhile is made again.
        self.is_old.store(true, Ordering::SeqCst);
        replaced
    }

    /// Keeps a sentence for the person, until a door fetches it.
    pub fn tell(&self, notice: String) {
        self.late.tell(notice);
    }
}
