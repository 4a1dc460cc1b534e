//! What the host opens to one call, and what it keeps it off, beside its arguments, which are a
//! model's words. Must not know how a command gets it.

use std::path::{Path, PathBuf};

use rmcp::ErrorData;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;

use crate::openings::{FolderOfCall, Openings};
use crate::services::{Closings, Service, ServiceUse};

/// Services of the owner's, by name.
const OPENED: &str = "claw/opened";
/// Folders of the owner's.
const FOLDERS: &str = "claw/folders";
/// What other programs obey on sight, by name. This server has that list itself, so that it counts
/// whether any is named.
const KEEP_OFF: &str = "claw/keep_off";

/// What is open to one call.
pub struct OpenedToCall {
    pub services: Vec<ServiceUse>,
    /// Beside those of the server, with what is said of those that cannot be opened.
    pub folders: (Openings, Vec<String>),
    /// Whether it must leave what is obeyed on sight as it is, whatever its level.
    pub keep_off: bool,
}

impl OpenedToCall {
    /// `open` is open to every call.
    ///
    /// # Errors
    /// What this server does not know: the host means something else than it would get.
    pub fn read(
        meta: &JsonObject,
        open: &[Service],
        closings: &Closings,
        (workspace, protect): (&Path, &[PathBuf]),
    ) -> Result<Self, ErrorData> {
        let named: Vec<Service> = list(meta, OPENED)?;
        let services = open.iter().copied().chain(named);
        let services = services.map(|service| closings.begin(service)).collect();
        let folders: Vec<FolderOfCall> = list(meta, FOLDERS)?;
        let keep_off = !list::<String>(meta, KEEP_OFF)?.is_empty();
        let folders = Openings::of_call(&folders, workspace, protect);
        Ok(Self { services, folders, keep_off })
    }
}

fn list<T: DeserializeOwned>(meta: &JsonObject, key: &str) -> Result<Vec<T>, ErrorData> {
    let Some(value) = meta.get(key) else { return Ok(Vec::new()) };
    serde_json::from_value(value.clone()).map_err(|error| {
        let text = format!("`_meta` holds a `{key}` that this server does not know: {error}");
        ErrorData::invalid_params(text, None)
    })
}
