//! The other ways in which one value may be written. Must not know which values are secret.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// The value itself first, then its other forms.
pub(super) fn of(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned(), in_json(value, false), in_json(value, true)];
    forms.extend([in_url(value, true), in_url(value, false)]);
    for before in 0..3 {
        forms.push(in_base64(value, before, |bytes| STANDARD_NO_PAD.encode(bytes)));
        forms.push(in_base64(value, before, |bytes| URL_SAFE_NO_PAD.encode(bytes)));
    }
    forms.dedup();
    forms
}

/// RFC 8259 section 7, with or without the optional escape of `/` and of everything that is not
/// ASCII.
fn in_json(value: &str, all_optional: bool) -> String {
    let quoted = serde_json::Value::String(value.to_owned()).to_string();
    let inner =
        quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    if !all_optional {
        return inner.to_owned();
    }
    let mut out = String::new();
    for c in inner.chars() {
        match c {
            '/' => out.push_str("\\/"),
            c if c.is_ascii() => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out
}

/// RFC 3986 section 2.1: everything but the unreserved characters, with either case of digits.
fn in_url(value: &str, upper: bool) -> String {
    let mut out = String::new();
    for byte in value.bytes() {
        let _ = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                write!(out, "{}", char::from(byte))
            }
            _ if upper => write!(out, "%{byte:02X}"),
            _ => write!(out, "%{byte:02x}"),
        };
    }
    out
}

/// RFC 4648: the characters that do not depend on what stands before and behind the value, if
/// `before` bytes (modulo 3) stand before it, as in `user:secret` of HTTP's Basic scheme.
fn in_base64(value: &str, before: usize, encode: impl Fn(&[u8]) -> String) -> String {
    let mut bytes = vec![0_u8; before];
    bytes.extend_from_slice(value.as_bytes());
    let encoded = encode(&bytes);
    let first = [0, 2, 3].get(before).copied().unwrap_or(0);
    let whole = bytes.len() * 8 / 6;
    encoded.get(first..whole).unwrap_or_default().to_owned()
}
