//! Which images a model can be shown. Must not know where they come from or where they are kept.

/// The largest image that a model gets to see, in bytes: as base64 it is just below 5 MiB, where
/// the strictest provider ends.
pub const IMAGE_BYTES_MAX: u64 = 3_932_160;

/// The formats that every model with eyes takes, by their first bytes: a name or a sender may claim
/// anything.
pub fn image_mime(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
