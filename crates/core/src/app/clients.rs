//! Makes the room of MCP clients. Must not know what a client does.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::LiveSettings;
use crate::clients::{Clients, ClientsParts};
use crate::config::Config;
use crate::gate::Gate;
use crate::session::Ending;
use crate::store::Store;

pub(super) fn clients(
    config: &Config,
    (store, gate): (&Store, &Arc<Gate>),
    settings: &Arc<RwLock<Arc<LiveSettings>>>,
    ending: &Ending,
) -> Clients {
    let settings = settings.clone();
    let serve = move || settings.read().unwrap_or_else(PoisonError::into_inner).serve.clone();
    Clients::new(ClientsParts {
        store: store.clone(),
        gate: gate.clone(),
        locks: config.home.locks(),
        tokens: config.home.client_tokens(),
        zone: config.zone.clone(),
        settings: Arc::new(serve),
        call_time: Duration::from_secs(config.limits.turn_time_s),
        ending: ending.clone(),
    })
}
