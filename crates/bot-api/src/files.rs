//! Fetching what people send (Bot API, `getFile` and <https://core.telegram.org/bots/api#file>),
//! over HTTP or from the disk. Owns the limits of a download. Must not know where the bytes go.

use std::time::Duration;

use serde_json::Value;
use teloxide_core::payloads::GetFile;
use teloxide_core::requests::Payload as _;
use teloxide_core::types::FileId;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::fault::{ApiFault, NoAnswer, without_address};
use super::{Api, local_file, wire};

/// A whole download may take this long: 20 MB over a slow line.
const DOWNLOAD_TIME: Duration = Duration::from_secs(600);
/// So long without a byte, and the connection counts as broken.
const SILENCE: Duration = Duration::from_secs(30);

/// Why a file was not fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// More than the limit, in bytes, as was announced or as came.
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
    /// More than a bot may fetch, whatever its own limit (20 MB, Bot API, `getFile`).
    #[error("it is larger than what Telegram hands to bots (20 MB)")]
    TooLargeForBots,
    /// Telegram does not have it, or not for this bot.
    #[error("Telegram does not hand it out any more")]
    Gone,
    #[error(transparent)]
    ApiFault(#[from] ApiFault),
    /// A Bot API server of one's own has it on its disk.
    #[error("the Bot API server has put it at `{path}`, and claw cannot read it there ({why})")]
    Unreadable { path: String, why: String },
    /// It could not be written.
    #[error("it cannot be stored ({0})")]
    Store(String),
}

impl crate::domain::Blamed for FetchError {
    fn blame(&self) -> crate::domain::Blame {
        crate::domain::Blame::Broken
    }
}

impl FetchError {
    /// Whether asking again may help, and after which pause Telegram wants to be asked.
    pub fn may_pass(&self) -> Option<Option<Duration>> {
        match self {
            Self::ApiFault(ApiFault::Wait(pause)) => Some(Some(*pause)),
            Self::ApiFault(ApiFault::Unreachable(_)) => Some(None),
            _ => None,
        }
    }
}

impl Api {
    /// Fetches a file of at most `bytes_max` bytes into `sink`, and returns how many there were.
    pub async fn fetch(
        &self,
        id: &str,
        bytes_max: u64,
        sink: &mut (impl AsyncWrite + Unpin),
    ) -> Result<u64, FetchError> {
        // A server of one's own fetches the whole file from Telegram before it answers.
        let limit = self.bot.has_own_server().then_some(DOWNLOAD_TIME);
        let request = GetFile::new(FileId(id.to_owned()));
        let file = match wire::post(&self.bot, GetFile::NAME, &request, limit).await {
            Ok(file) => file,
            Err(ApiFault::Refused(why)) if why.contains("too big") => {
                return Err(FetchError::TooLargeForBots);
            }
            Err(ApiFault::Refused(_)) => return Err(FetchError::Gone),
            Err(fault) => return Err(fault.into()),
        };
        // Telegram leaves the path out where it has the file no more (Bot API, "File").
        let path = file.get("file_path").and_then(Value::as_str).ok_or(FetchError::Gone)?;
        if self.bot.has_own_server() && path.starts_with('/') {
            let copied = local_file::copy(path, bytes_max, sink).await;
            return copied.map_err(|why| why.of_file(self.bot.without_token(path), bytes_max));
        }
        self.download(path, bytes_max, sink).await
    }

    async fn download(
        &self,
        path: &str,
        bytes_max: u64,
        sink: &mut (impl AsyncWrite + Unpin),
    ) -> Result<u64, FetchError> {
        let unreachable =
            |error: String| ApiFault::Unreachable(NoAnswer::undone(without_address(&error)));
        let sent = self.bot.get_file(path).timeout(DOWNLOAD_TIME).send().await;
        let mut answer = sent.map_err(|error| unreachable(error.to_string()))?;
        match answer.status().as_u16() {
            200 => {}
            // A path is good for an hour (Bot API, `getFile`), so this one is gone for another
            // reason.
            404 | 410 => return Err(FetchError::Gone),
            429 => return Err(ApiFault::Wait(Duration::from_secs(1)).into()),
            status => {
                return Err(
                    ApiFault::Unreachable(NoAnswer::undone(format!("HTTP {status}"))).into()
                );
            }
        }
        let mut bytes = 0;
        loop {
            let piece = tokio::time::timeout(SILENCE, answer.chunk()).await;
            let piece = piece
                .map_err(|_| NoAnswer::undone("the download came to a stop"))
                .map_err(ApiFault::Unreachable)?;
            let Some(piece) = piece.map_err(|error| unreachable(error.to_string()))? else {
                return Ok(bytes);
            };
            bytes += piece.len() as u64;
            if bytes > bytes_max {
                return Err(FetchError::TooLarge(bytes_max));
            }
            sink.write_all(&piece).await.map_err(|error| FetchError::Store(error.to_string()))?;
        }
    }
}
