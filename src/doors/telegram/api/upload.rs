//! Sending files (Bot API, `sendDocument`, `sendPhoto`). Owns Telegram's limits of an upload. Must
//! not know where the bytes come from.

use std::time::Duration;

use teloxide_core::Bot;
use teloxide_core::net::default_reqwest_settings;
use teloxide_core::payloads::SendDocumentSetters as _;
use teloxide_core::requests::{Request as _, Requester as _};
use teloxide_core::types::InputFile;

use super::Api;
use super::fault::Fault;
use super::place::Place;

/// The largest document, in bytes (Bot API, "Sending files").
pub const DOCUMENT_BYTES_MAX: u64 = 50 << 20;
/// The largest photo, in bytes.
pub const PHOTO_BYTES_MAX: u64 = 10 << 20;
/// An upload may take this long; `teloxide-core` gives other requests 17 s.
const UPLOAD_TIME: Duration = Duration::from_secs(600);

/// A file on its way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    pub name: String,
    pub bytes: Vec<u8>,
    /// Whether it is to be shown as a photo.
    pub photo: bool,
}

/// Whether Telegram shows these bytes as a photo: JPEG, PNG or WebP, and not too large.
pub fn is_photo(bytes: &[u8]) -> bool {
    let picture = bytes.starts_with(b"\xff\xd8\xff")
        || bytes.starts_with(b"\x89PNG\r\n\x1a\n")
        || (bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"));
    picture && bytes.len() as u64 <= PHOTO_BYTES_MAX
}

impl Api {
    /// Sends a file: a photo as a photo, or as a document where Telegram does not take it as one
    /// (too wide, broken), and anything else as a document.
    pub async fn send_upload(&self, to: &Place, upload: Upload) -> Result<i64, Fault> {
        let bot = self.patient()?;
        // Clones of it share the bytes.
        let file = InputFile::memory(upload.bytes).file_name(upload.name);
        if upload.photo {
            let mut request = bot.send_photo(self.chat(to), file.clone());
            request.message_thread_id = to.thread();
            match request.send().await.map_err(Fault::from) {
                Err(Fault::Refused(why)) => {
                    tracing::info!(why, "Telegram refused a photo; it goes as a document")
                }
                sent => return Ok(i64::from(sent?.id.0)),
            }
        }
        // Otherwise Telegram makes of a GIF an animation, and of some names a video.
        let mut request =
            bot.send_document(self.chat(to), file).disable_content_type_detection(true);
        request.message_thread_id = to.thread();
        Ok(i64::from(request.send().await?.id.0))
    }

    /// Made at the first upload, because a client has certificates to load.
    fn patient(&self) -> Result<&Bot, Fault> {
        if let Some(bot) = self.patient.get() {
            return Ok(bot);
        }
        let client = default_reqwest_settings().timeout(UPLOAD_TIME).build();
        let client = client
            .map_err(|error| Fault::Refused(format!("no HTTPS client could be built: {error}")))?;
        let url = self
            .base
            .parse()
            .map_err(|_| Fault::Refused(format!("`{}` is no address", self.base)))?;
        Ok(self.patient.get_or_init(|| Bot::with_client(self.bot.token(), client).set_api_url(url)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_telegram_shows_is_a_photo() {
        for photo in [&b"\xff\xd8\xff\xe0"[..], b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBPVP8 "] {
            assert!(is_photo(photo));
        }
        for other in [&b"GIF89a"[..], b"RIFF\0\0\0\0WAVE", b"<svg/>", b""] {
            assert!(!is_photo(other));
        }
        let mut large = vec![0; PHOTO_BYTES_MAX as usize + 1];
        large[..3].copy_from_slice(b"\xff\xd8\xff");
        assert!(!is_photo(&large));
    }
}
