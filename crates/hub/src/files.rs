//! Files in a tool's result: images, audio and resources that came as base64. Decoded and checked
//! here, described for the model by kind, size and digest; whoever keeps them does so under that
//! digest. Must not know where they are kept.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use claw_domain::canonical::sha256_hex;
use claw_domain::{escape, image_mime};

/// Of one result. A line of a server is bounded, so this bounds the number of files on the disk,
/// not the memory.
const FILES_MAX: usize = 32;

/// RFC 4648 section 4; some servers leave the padding out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A file that came with a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultFile {
    /// An IANA media type: of an image by its first bytes, otherwise as the server says.
    pub mime: String,
    /// SHA-256, in hexadecimal digits. It is in the result's text, too.
    pub digest: String,
    pub bytes: Vec<u8>,
    /// It is meant for the user, so that no model is shown it.
    pub for_user: bool,
}

/// Takes the files of one result.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) taken: Vec<ResultFile>,
}

impl Files {
    /// Decodes one and gives the line that stands for it in the text. `what` it is, for example
    /// `image`.
    pub(super) fn take(
        &mut self,
        what: &str,
        mime: &str,
        base64: &str,
        bytes_max: usize,
    ) -> String {
        let about = how_long(base64);
        if about > bytes_max {
            return format!(
                "[{what}, {mime}, {about} bytes, left out by claw: more than {bytes_max} bytes]"
            );
        }
        if self.taken.len() >= FILES_MAX {
            return format!(
                "[{what}, {mime}, {about} bytes, left out by claw: more than {FILES_MAX} files in \
                 one result]"
            );
        }
        let Ok(bytes) = BASE64.decode(base64) else {
            return format!("[{what}, {mime}, cannot be read: its base64 is broken]");
        };
        let found = image_mime(&bytes);
        let says_image = mime.starts_with("image/");
        let shown = match found {
            Some(found) if says_image && found != mime => {
                format!("{found} (the server says {mime})")
            }
            None if says_image && !mime.starts_with("image/svg") => {
                format!("{mime} (its bytes are of no known format)")
            }
            _ => mime.to_owned(),
        };
        let digest = sha256_hex(&bytes);
        let line = format!("[{what}, {shown}, {} bytes, sha256 {digest}]", bytes.len());
        let mime = found.filter(|_| says_image).unwrap_or(mime).to_owned();
        self.taken.push(ResultFile { mime, digest, bytes, for_user: false });
        line
    }
}

/// Of a stranger's texts that go into one line: the first characters, without line breaks, and with
/// what cannot be seen spelled out.
pub(super) fn short(text: &str) -> String {
    let one_line = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200);
    escape::visible(&one_line.collect::<String>()).replace("\\\\", "\\")
}

/// A block's or a resource's own text under a key.
pub(super) fn text_of<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// The length of what is encoded (RFC 4648 section 4), without decoding it.
fn how_long(encoded: &str) -> usize {
    encoded.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &str = "iVBORw0KGgo=";

    #[test]
    fn a_file_is_decoded_checked_and_named_by_its_digest() {
        let mut files = Files::default();
        let line = files.take("image", "image/png", PNG, 100);
        let digest = sha256_hex(b"\x89PNG\r\n\x1a\n");
        assert_eq!(line, format!("[image, image/png, 8 bytes, sha256 {digest}]"));
        assert_eq!(
            files.taken[0],
            ResultFile {
                mime: "image/png".into(),
                digest,
                bytes: b"\x89PNG\r\n\x1a\n".into(),
                for_user: false,
            }
        );
        assert!(
            files
                .take("image", "image/jpeg", PNG.trim_end_matches('='), 100)
                .contains("the server says image/jpeg")
        );
        assert_eq!(files.taken[1].mime, "image/png", "the bytes count");
        assert!(files.take("image", "image/png", "AAAA", 100).contains("no known format"));
        assert!(files.take("audio", "audio/wav", "not base64!", 100).contains("base64 is broken"));
        assert!(
            files.take("audio", "audio/wav", "AAAAAAAA", 5).contains("6 bytes, left out by claw")
        );
        assert_eq!(files.taken.len(), 3);
        for _ in 0..100 {
            files.take("audio", "audio/wav", "AAAA", 100);
        }
        assert_eq!(files.taken.len(), FILES_MAX);
    }
}
