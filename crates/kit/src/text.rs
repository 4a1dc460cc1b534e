//! A text of which only the beginning is taken. Must not know where it comes from.

/// The first `bytes_max` bytes as a text, and whether there were more. A character that the cut
/// went through goes whole. `None`: this is no UTF-8.
pub fn beginning(mut bytes: Vec<u8>, bytes_max: usize) -> Option<(String, bool)> {
    let is_cut = bytes.len() > bytes_max;
    bytes.truncate(bytes_max);
    let end = match std::str::from_utf8(&bytes) {
        Ok(text) => text.len(),
        Err(error) if is_cut && error.error_len().is_none() => error.valid_up_to(),
        Err(_) => return None,
    };
    bytes.truncate(end);
    Some((String::from_utf8(bytes).ok()?, is_cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_goes_through_no_character_and_what_is_no_text_is_none() {
        let cut = |bytes: &[u8], max| beginning(bytes.to_vec(), max);
        assert_eq!(cut("aé".as_bytes(), 3), Some(("aé".to_owned(), false)));
        assert_eq!(cut("aéb".as_bytes(), 3), Some(("aé".to_owned(), true)));
        assert_eq!(cut("aéb".as_bytes(), 2), Some(("a".to_owned(), true)));
        // Not cut there: the file itself ends within a character.
        assert_eq!(cut(b"a\xc3", 2), None);
        assert_eq!(cut(b"a\xffbc", 3), None);
    }
}
