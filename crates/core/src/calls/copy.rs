//! The copy of a kept file in the workspace, where tools reach it: what is kept in claw's home is
//! closed to all of them. Its name is claw's own, and nothing is replaced. Must not know what a
//! result is.

use std::io;

use tokio::io::AsyncWriteExt as _;

use super::Calls;
use crate::domain::ToolCall;
use crate::hub::names::safe_name;
use crate::workspace::{Put, Workspace};

/// The folder for what comes in from outside, in one for each day, as the files of chats.
const INBOX: &str = "inbox";
/// Of the name, in bytes.
const STEM_BYTES_MAX: usize = 80;
const DIGEST_DIGITS: usize = 12;

/// Where a file comes from, as far as its name says it.
#[derive(Clone, Debug)]
pub(super) struct Whence(String);

impl Whence {
    pub(super) fn of(call: &ToolCall) -> Self {
        let mut stem = safe_name(&format!("{}-{}", call.server, call.tool));
        stem.truncate(STEM_BYTES_MAX);
        Self(stem.trim_start_matches('-').to_owned())
    }

    fn name(&self, digest: &str, mime: &str) -> String {
        let digits = digest.get(..DIGEST_DIGITS).unwrap_or(digest);
        format!("{}-{digits}.{}", self.0, ending(mime))
    }
}

impl Calls {
    /// Puts a copy into the workspace and returns half a sentence about it, for behind a digest.
    pub(super) async fn copied(
        &self,
        whence: &Whence,
        digest: &str,
        mime: &str,
        bytes: &[u8],
    ) -> String {
        match self.copy(whence, digest, mime, bytes).await {
            Ok(path) => format!(", copy: {path}"),
            Err(error) => format!(", no copy in the workspace: {error}"),
        }
    }

    async fn copy(
        &self,
        whence: &Whence,
        digest: &str,
        mime: &str,
        bytes: &[u8],
    ) -> io::Result<String> {
        let workspace = Workspace::open(&self.surroundings.workspace)?;
        let day = jiff::Timestamp::now()
            .to_zoned(self.surroundings.zone.clone())
            .strftime("%Y-%m-%d")
            .to_string();
        match workspace.put(&[INBOX, &day], &whence.name(digest, mime))? {
            Put::Already(path, _) => Ok(path),
            Put::New(mut draft) => {
                draft.sink().write_all(bytes).await?;
                draft.keep().await
            }
        }
    }
}

/// The ending of a file's name by its IANA media type, for those that programs choose by it.
fn ending(mime: &str) -> &'static str {
    let (kind, _) = mime.split_once(';').unwrap_or((mime, ""));
    match kind.trim() {
        "application/json" => "json",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "audio/wav" | "audio/x-wav" => "wav",
        "image/gif" => "gif",
        "image/jpeg" => "jpg",
        "image/png" => "png",
        "image/svg+xml" => "svg",
        "image/webp" => "webp",
        "text/csv" => "csv",
        "text/html" => "html",
        "text/markdown" => "md",
        kind if kind.starts_with("text/") => "txt",
        _ => "bin",
    }
}
