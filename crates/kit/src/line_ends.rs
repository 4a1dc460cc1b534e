//! How the lines of a text end. Pure. Must not know whose text it is.

/// Every line feed has a carriage return before it, and there is one at least.
pub fn are_crlf(text: &str) -> bool {
    let mut before = 0;
    let mut any = false;
    for byte in text.bytes() {
        if byte == b'\n' {
            if before != b'\r' {
                return false;
            }
            any = true;
        }
        before = byte;
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_feed_alone_is_enough_to_be_another_text() {
        for crlf in ["a\r\n", "\r\n", "a\r\nb", "a\r\r\n\r\n"] {
            assert!(are_crlf(crlf), "{crlf:?}");
        }
        for other in ["", "a", "a\r", "\n", "\na\r\n", "a\r\nb\n"] {
            assert!(!are_crlf(other), "{other:?}");
        }
    }
}
