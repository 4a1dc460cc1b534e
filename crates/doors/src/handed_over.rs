//! A file of a workspace that leaves by a door: read within its bounds, and without known secrets.
//! Must not know a door, or who links it.

use std::sync::Arc;

use crate::router::{HoldsSecret, Router};
use crate::workspace::{FileToSend, Workspace};

/// The file as it may leave, or half a sentence why it may not.
pub async fn cleared(
    router: &Router,
    workspace: Arc<Workspace>,
    path: &str,
    bytes_max: u64,
) -> Result<FileToSend, String> {
    let (router, path) = (router.clone(), path.to_owned());
    let read = tokio::task::spawn_blocking(move || {
        let given = workspace.give(&path, bytes_max).map_err(|why| why.to_string())?;
        let bytes = router.cleared_file(given.bytes).map_err(|HoldsSecret| {
            "it holds a known secret, which cannot be taken out of a file that is no text"
        })?;
        Ok(FileToSend { bytes, ..given })
    });
    read.await.map_err(|error| error.to_string())?
}
