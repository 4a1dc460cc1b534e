//! Cutting strangers' texts to a length. Must not know what they say.

/// The longest head of `text` within `bytes_max` that keeps characters whole.
pub(super) fn cut(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len())).rev().find(|index| text.is_char_boundary(*index));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}
