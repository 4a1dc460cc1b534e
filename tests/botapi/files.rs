//! Files that were sent, by users and by the bot: kept, described by `getFile`, downloaded. Owns
//! them. Must not know messages.

use std::collections::BTreeMap;

use axum::body::Bytes;
use serde_json::{Value, json};

use super::params::Params;
use super::refusal::Refusal;
use super::world::World;

/// Bots may download no more.
pub const DOWNLOAD_BYTES_MAX: u64 = 20 << 20;

struct Stored {
    path: String,
    bytes: Bytes,
    /// May be more than there are bytes, so that a test can have a large file without its weight.
    size: u64,
}

#[derive(Default)]
pub struct Files {
    by_id: BTreeMap<String, Stored>,
    by_path: BTreeMap<String, String>,
}

impl Files {
    /// Its new `file_id`. `folder` is what the real server uses in paths: `documents`, `photos`,
    /// `voice`.
    pub fn add(&mut self, folder: &str, name: &str, bytes: Bytes, size: u64) -> String {
        let number = self.by_id.len();
        let ending =
            name.rsplit_once('.').map_or(String::new(), |(_, ending)| format!(".{ending}"));
        let (id, path) =
            (format!("BQACAgIAAxkBAAI{number:06}"), format!("{folder}/file_{number}{ending}"));
        self.by_path.insert(path.clone(), id.clone());
        self.by_id.insert(id.clone(), Stored { path, bytes, size });
        id
    }

    pub fn bytes(&self, id: &str) -> Option<&Bytes> {
        self.by_id.get(id).map(|stored| &stored.bytes)
    }

    /// What stands at a path of a download.
    pub fn at(&self, path: &str) -> Option<Bytes> {
        self.by_path.get(path).and_then(|id| self.bytes(id)).cloned()
    }
}

/// The part of the id that is the same for all bots.
pub fn unique_id(file_id: &str) -> String {
    format!("AgAD{}", file_id.trim_start_matches("BQACAgIAAxkBAAI"))
}

pub fn get_file(world: &World, params: &Params) -> Result<Value, Refusal> {
    let id = params.text("file_id");
    if id.is_empty() {
        return Err(Refusal::bad("file_id not specified"));
    }
    let stored = world.files.by_id.get(&id).ok_or_else(|| Refusal::bad("invalid file_id"))?;
    if stored.size > DOWNLOAD_BYTES_MAX {
        return Err(Refusal::bad("file is too big"));
    }
    let (unique, size, path) = (unique_id(&id), stored.size, &stored.path);
    Ok(json!({"file_id": id, "file_unique_id": unique, "file_size": size, "file_path": path}))
}
