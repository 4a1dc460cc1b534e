//! Sending files (Bot API, `sendDocument`, `sendPhoto`). Owns Telegram's limits of an upload. Must
//! not know where the bytes come from.

use futures::future::BoxFuture;
use reqwest::multipart::Part;
use serde_json::json;

use super::fault::ApiFault;
use super::place::Place;
use super::{Api, wire};

/// The largest document, in bytes (Bot API, "Sending files").
pub const DOCUMENT_BYTES_MAX: u64 = 50 << 20;
/// The largest photo, in bytes.
pub const PHOTO_BYTES_MAX: u64 = 10 << 20;

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
    pub fn send_upload<'a>(
        &'a self,
        to: &'a Place,
        upload: Upload,
    ) -> BoxFuture<'a, Result<i64, ApiFault>> {
        Box::pin(async move {
            let part = |bytes| Part::bytes(bytes).file_name(upload.name.clone());
            if upload.photo {
                let file = part(upload.bytes.clone());
                match wire::upload(&self.bot, "SendPhoto", self.to(to), "photo", file).await {
                    Err(ApiFault::Refused(why)) => {
                        tracing::info!(why, "Telegram refused a photo; it goes as a document")
                    }
                    sent => return Ok(wire::sent(&sent?)?.message),
                }
            }
            let mut fields = self.to(to);
            // Otherwise Telegram makes of a GIF an animation, and of some names a video.
            fields.insert("disable_content_type_detection".to_owned(), json!(true));
            let file = part(upload.bytes);
            let sent = wire::upload(&self.bot, "SendDocument", fields, "document", file).await?;
            Ok(wire::sent(&sent)?.message)
        })
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
