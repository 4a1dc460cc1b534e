//! What the gateway needs for files: the workspace, where images for the model are kept, who
//! listens to voice messages. Must not know Telegram.

use std::sync::Arc;

use anyhow::Context as _;
use claw_kit::counted::counted;
use tokio::sync::Semaphore;

use crate::door_context::FileAccess;
use crate::workspace::Workspace;

/// Files that are fetched at the same time; more wait, so that a bot in many groups does not open
/// hundreds of connections.
const DOWNLOADS_AT_ONCE: usize = 8;
/// Files that are sent at the same time. Each is in memory, with up to 50 MiB.
const UPLOADS_AT_ONCE: usize = 2;

/// Lives as long as the bot is at work.
pub(super) struct Files {
    /// The handle of the folder, opened at the start. Whoever hands over a file holds it, too.
    pub(super) workspace: Arc<Workspace>,
    /// What is done with those that come in.
    pub(super) given: FileAccess,
    /// A place for each file that is fetched, and given back with it.
    pub(super) downloads: Semaphore,
    /// The same for each that is sent.
    pub(super) uploads: Semaphore,
}

impl Files {
    pub(super) fn open(given: &FileAccess) -> anyhow::Result<Self> {
        let path = &given.workspace;
        let workspace =
            Workspace::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        Ok(Self {
            workspace: Arc::new(workspace),
            given: given.clone(),
            downloads: Semaphore::new(DOWNLOADS_AT_ONCE),
            uploads: Semaphore::new(UPLOADS_AT_ONCE),
        })
    }
}

/// A size as a person reads it.
pub(super) fn size(bytes: u64) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    match bytes {
        ..KIB => counted(bytes, "byte"),
        KIB..MIB => format!("{} KiB", bytes.div_ceil(KIB)),
        _ if bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        _ => format!("{:.1} MiB", bytes as f64 / MIB as f64),
    }
}
