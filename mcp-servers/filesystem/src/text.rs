//! Whether bytes are text, and what they are if not. Pure. Must not know files.

/// How much of the beginning decides whether bytes are binary, as git and grep do it.
const PROBE_BYTES: usize = 8 * 1024;

/// A NUL byte near the beginning means binary.
pub fn looks_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(PROBE_BYTES).any(|byte| *byte == 0)
}

/// The media type of an image that models can see, by its first bytes.
pub fn image(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Whether a file begins as a PDF does.
pub fn is_pdf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"%PDF-")
}

const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or a document, jar or package in that format)"),
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
    (b"BZh", "bzip2-compressed data"),
    (b"\xfd7zXZ\0", "xz-compressed data"),
    (b"\x7fELF", "an ELF program or library"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\0asm", "a WebAssembly module"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "an MP3 audio file"),
    (b"\xff\xfe", "UTF-16 text (little endian)"),
    (b"\xfe\xff", "UTF-16 text (big endian)"),
];

/// A guess, with its article, at what bytes that are not UTF-8 text are.
pub fn guess(bytes: &[u8]) -> &'static str {
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return "a WebP image";
    }
    if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return what;
    }
    let probe = &bytes[..bytes.len().min(PROBE_BYTES)];
    let control = probe
        .iter()
        .filter(|byte| **byte < 0x20 && !matches!(**byte, b'\n' | b'\r' | b'\t'))
        .count();
    if control == 0 {
        "text in another encoding than UTF-8 (perhaps Latin-1)"
    } else {
        "binary data"
    }
}

/// Up to `bytes_max` bytes of `text`, cut between two characters.
pub fn head(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_guessed_from_their_first_bytes() {
        assert_eq!(guess(b"\x89PNG\r\n\x1a\n...."), "a PNG image");
        assert_eq!(guess(b"RIFF....WEBPVP8 "), "a WebP image");
        assert!(guess(b"gr\xfc\xdfe\n").contains("Latin-1"));
        assert_eq!(guess(b"\x01\x02\xff"), "binary data");
        assert!(looks_binary(b"a\0b") && !looks_binary(b"ab"));
    }

    #[test]
    fn a_head_ends_between_characters() {
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("aé", 9), "aé");
    }
}
