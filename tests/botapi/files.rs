//! Files that were sent, by users and by the bot: kept, described by `getFile`, downloaded. Owns
//! them. Must not know messages.

use std::collections::BTreeMap;
use std::path::PathBuf;

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
    /// Where a server in local mode keeps them: it hands out their paths there, and no bytes.
    pub local_folder: Option<PathBuf>,
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
        if self.local_folder.is_some() {
            return None;
        }
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
    if world.files.local_folder.is_none() && stored.size > DOWNLOAD_BYTES_MAX {
        return Err(Refusal::bad("file is too big"));
    }
    let (unique, size, mut path) = (unique_id(&id), stored.size, stored.path.clone());
    if let Some(folder) = &world.files.local_folder {
        let at = folder.join(&world.token).join(&path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        // What stands there stays.
        let _there = std::fs::File::create_new(&at)
            .and_then(|mut file| std::io::Write::write_all(&mut file, &stored.bytes));
        path = at.to_str().unwrap().to_owned();
    }
    Ok(json!({"file_id": id, "file_unique_id": unique, "file_size": size, "file_path": path}))
}
