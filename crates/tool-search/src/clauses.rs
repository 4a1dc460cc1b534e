//! The parts of a request that may each ask for another tool. Must not know words or tools.

/// Sentences and lines of a text. A dot inside of a number or a name ends nothing.
pub fn clauses(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let ends_here = match c {
            '\n' => true,
            '.' | '!' | '?' | ';' => characters.peek().is_none_or(|(_, next)| next.is_whitespace()),
            '。' | '！' | '？' => true,
            _ => false,
        };
        if ends_here {
            found.extend(text.get(from..at));
            from = at + c.len_utf8();
        }
    }
    found.extend(text.get(from..));
    found.retain(|part| !part.trim().is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_and_lines_are_told_apart_and_numbers_stay_whole() {
        let text = "Send a mail to a.b@c.de. What is 3.5 km in miles?\nThen stop";
        assert_eq!(
            clauses(text),
            ["Send a mail to a.b@c.de", " What is 3.5 km in miles", "Then stop"]
        );
        assert_eq!(clauses(" \n."), [""; 0]);
    }
}
