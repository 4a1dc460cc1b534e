//! Where a browser ends after a login to a tool server, and which words may hold that address with
//! its code. Must not know whose login it is, or what is done with it.

/// The host of the address, with the sign before its port.
pub const LOGIN_HOST: &str = "127.0.0.1:";
/// What stands in a text instead of the address, before the name of the answer.
pub const LOGIN_MARK: &str = "[login answer ";
/// The path of the address.
pub const LOGIN_PATH: &str = "/callback";

/// Whether a text may hold such an address, also one with blanks in it. Nothing that may is written
/// anywhere before it was looked at.
pub fn may_hold_login_answer(text: &str) -> bool {
    let compact = Compact::of(text);
    compact.text.contains(LOGIN_HOST) && compact.text.contains(LOGIN_PATH)
}

/// A text without its blanks, because mail clients and phones put some into an address.
pub struct Compact {
    text: String,
    /// Where a blank was left out: the place in `text`, and how many bytes are left out until
    /// there.
    left_out: Vec<(usize, usize)>,
}

impl Compact {
    pub fn of(text: &str) -> Self {
        let mut compact = Self { text: String::with_capacity(text.len()), left_out: Vec::new() };
        for (place, c) in text.char_indices() {
            let left_out = place - compact.text.len();
            let known = compact.left_out.last().map_or(0, |(_, bytes)| *bytes);
            if is_blank(c) {
                continue;
            }
            if left_out != known {
                compact.left_out.push((compact.text.len(), left_out));
            }
            compact.text.push(c);
        }
        compact
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a blank stood before this place of the compact text.
    pub fn is_broken_before(&self, place: usize) -> bool {
        self.left_out.binary_search_by_key(&place, |(at, _)| *at).is_ok()
    }

    /// Where in the text what begins at this place of the compact one has stood.
    pub fn place(&self, place: usize) -> usize {
        let behind = self.left_out.partition_point(|(at, _)| *at <= place);
        let bytes = behind.checked_sub(1).and_then(|at| self.left_out.get(at));
        place + bytes.map_or(0, |(_, bytes)| *bytes)
    }
}

/// Also what takes no room: zero-width signs, and the soft hyphen.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' | '\u{AD}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_left_out_and_places_are_known() {
        let text = " ä b\n\u{200B}cd";
        let compact = Compact::of(text);
        assert_eq!(compact.text(), "äbcd");
        for (place, c) in compact.text().char_indices() {
            assert!(text[compact.place(place)..].starts_with(c), "{c}");
        }
        let broken: Vec<bool> = [0, 2, 3, 4].map(|place| compact.is_broken_before(place)).into();
        assert_eq!(broken, [true, true, true, false]);
    }

    #[test]
    fn an_address_may_stand_in_a_text_with_blanks_in_it() {
        assert!(may_hold_login_answer("see 127.0.0 .1:8765/call\nback?code=x"));
        assert!(!may_hold_login_answer("see 127.0.0.2:8765/callback"));
    }
}
