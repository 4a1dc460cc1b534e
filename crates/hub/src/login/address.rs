//! The address at which the browser of a login has ended, found in what a person has sent, also
//! where a program has broken it over lines or put blanks into it. Pure. Must not know where logins
//! are kept.

use claw_domain::login_answer::{Compact, LOGIN_HOST, LOGIN_PATH};
use reqwest::Url;

use super::flow::parameter;

/// Of an address, and of what is looked at behind its beginning.
const ADDRESS_BYTES_MAX: usize = 16 * 1024;
/// How many addresses of one text are looked at that may answer a login.
const HEADS_MAX: usize = 8;
/// Places at which an address may be broken.
const BREAKS_MAX: usize = 64;
/// Digits of a port.
const PORT_DIGITS_MAX: usize = 5;
/// What a program or a person may write around an address.
const AROUND: &[char] = &['<', '>', '"', '\'', '`', '(', ')', '[', ']', ',', '.', ';', '!'];

/// What is known of the answer to a login of claw's own.
#[derive(Clone)]
pub(super) struct Expected {
    pub state: String,
    pub issuer: Option<String>,
    /// Where its browser ends, without a query.
    pub redirect: String,
    /// The login has succeeded, and its answer may be told again.
    pub is_done: bool,
}

/// An address that was found, or a part of one.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct FoundAddress {
    /// `None` for a part without its beginning.
    pub address: Option<String>,
    pub state: String,
    /// What stands before it.
    pub before: String,
    /// Something that is not of the address stands behind it.
    pub has_more: bool,
}

/// Where an address begins, and where its query does.
#[derive(Clone, Copy)]
struct Head {
    from: usize,
    query: usize,
}

/// The first address in a text that answers one of these logins.
pub(super) fn find(text: &str, expected: &[Expected]) -> Option<FoundAddress> {
    if expected.is_empty() {
        return None;
    }
    let compact = Compact::of(text);
    let words = compact.text();
    let leads_back = |head: &Head| expected.iter().any(|one| is_at(words, *head, one));
    let mut heads = heads(words).filter(leads_back).take(HEADS_MAX);
    let whole = heads.find_map(|head| at(&compact, text, head, expected));
    whole.or_else(|| part(text, expected))
}

/// The text with `mark` in the place of the code of each address that has the form of an answer to
/// a login. Everything else stays as it is. `None` where there is no such code.
pub(super) fn masked(text: &str, mark: &str) -> Option<String> {
    let compact = Compact::of(text);
    let words = compact.text();
    let mut heads = heads(words).peekable();
    let (mut out, mut copied) = (String::new(), 0);
    while let Some(head) = heads.next() {
        let next = heads.peek().map_or(words.len(), |next| next.from);
        let end = next.min(head.query.saturating_add(ADDRESS_BYTES_MAX));
        for (from, to) in codes(&compact, text, head.query, end) {
            // What is of an address is ASCII.
            let (start, behind) = (compact.place(from), compact.place(to - 1) + 1);
            out.push_str(text.get(copied..start)?);
            out.push_str(mark);
            copied = behind;
        }
    }
    out.push_str(text.get(copied..)?);
    (copied > 0).then_some(out)
}

/// Each place at which such an address begins. The work is that of one look at the text.
fn heads(words: &str) -> impl Iterator<Item = Head> {
    words.match_indices(LOGIN_HOST).filter_map(|(from, host)| {
        let rest = words.get(from + host.len()..)?;
        let digits = rest.bytes().take(PORT_DIGITS_MAX + 1).take_while(u8::is_ascii_digit);
        let port = digits.count();
        let query = rest.get(port..)?.strip_prefix(LOGIN_PATH)?.strip_prefix('?')?;
        let head = Head { from, query: words.len() - query.len() };
        (1..=PORT_DIGITS_MAX).contains(&port).then_some(head)
    })
}

/// Whether the browser of this login ends there.
fn is_at(words: &str, head: Head, login: &Expected) -> bool {
    let address = words.get(head.from..head.query.saturating_sub(1));
    address.is_some() && login.redirect.strip_prefix("http://") == address
}

/// The values of the parameter `code` in the query that begins at `query`.
fn codes(compact: &Compact, text: &str, query: usize, end: usize) -> Vec<(usize, usize)> {
    let words = compact.text();
    let bytes = words.as_bytes();
    // A blank is the end of what is no answer of ours, but for one between two parameters.
    let is_broken = |place: usize| {
        let gap = || text.get(compact.place(place - 1) + 1..compact.place(place));
        compact.is_broken_before(place) && gap().is_none_or(|gap| gap.contains(char::is_whitespace))
    };
    let goes_on = |from: usize, place: usize| {
        let byte = bytes.get(place).copied().unwrap_or(b' ');
        is_of_url(byte) && !b"&#".contains(&byte) && (place == from || !is_broken(place))
    };
    let (mut found, mut from) = (Vec::new(), query);
    loop {
        let to = (from..end).find(|place| !goes_on(from, *place)).unwrap_or(end);
        let value = words.get(from..to).and_then(|parameter| parameter.strip_prefix("code="));
        if let Some(value) = value.map(|value| value.trim_end_matches(AROUND))
            && !value.is_empty()
        {
            let begins = from + "code=".len();
            found.push((begins, begins + value.len()));
        }
        match bytes.get(to) {
            Some(b'&' | b'#') if to < end => from = to + 1,
            _ => return found,
        }
    }
}

/// The address that begins here, if it answers one of these logins.
fn at(compact: &Compact, text: &str, head: Head, expected: &[Expected]) -> Option<FoundAddress> {
    let (words, Head { from, query }) = (compact.text(), head);
    let window = words.get(query..)?.bytes().take(ADDRESS_BYTES_MAX);
    let run = window.take_while(|byte| is_of_url(*byte)).count();
    let window = words.get(query..query + run)?;
    let of_one =
        |state: &str| expected.iter().find(|one| one.state == state && is_at(words, head, one));
    // Nothing is parsed that cannot be the answer.
    if !expected.iter().any(|one| is_at(words, head, one) && window.contains(&one.state)) {
        return None;
    }
    let ends: Vec<usize> = (query + 1..query + run)
        .filter(|place| compact.is_broken_before(*place))
        .take(BREAKS_MAX)
        .chain([query + run])
        .collect();
    let until = |end: usize| words.get(from..end).and_then(answer);
    let is_one = |end: &usize| until(*end).is_some_and(|(_, state)| of_one(&state).is_some());
    let mut last = ends.iter().position(is_one)?;
    while let (Some(end), Some(next)) = (ends.get(last), ends.get(last + 1)) {
        let (address, state) = until(*end)?;
        let segment = words.get(*end..*next)?;
        let issuer = of_one(&state).and_then(|one| one.issuer.as_deref());
        if !goes_on(&address, segment, issuer) || until(*next).is_none() {
            break;
        }
        last += 1;
    }
    let end = *ends.get(last)?;
    let (address, state) = until(end)?;
    let begins = words.get(..from)?.strip_suffix("http://").map_or(from, str::len);
    let before = text.get(..compact.place(begins))?.trim_end_matches(AROUND);
    let after = words.get(end..)?.trim_matches(AROUND);
    let (before, has_more) = (before.to_owned(), !after.is_empty());
    Some(FoundAddress { address: Some(address), state, before, has_more })
}

/// A part of an answer, whose beginning came by itself. The link of a login holds its `state`, too,
/// and is none.
fn part(text: &str, expected: &[Expected]) -> Option<FoundAddress> {
    if text.contains("code_challenge") {
        return None;
    }
    let ends = |c: char| !c.is_ascii() || !is_of_url(c as u8) || "&?".contains(c);
    let states = || text.split(ends).filter_map(|piece| piece.strip_prefix("state="));
    let mut open = expected.iter().filter(|one| !one.is_done);
    let state = &open.find(|one| states().any(|state| state == one.state))?.state;
    let has_more = text.split_whitespace().count() > 1;
    Some(FoundAddress { address: None, state: state.clone(), before: String::new(), has_more })
}

/// The text as an address that answers a login, with its `state`. A code without a state is
/// nobody's, and stays secret all the same.
fn answer(text: &str) -> Option<(String, String)> {
    let text = text.trim_end_matches(AROUND);
    if text.len() > ADDRESS_BYTES_MAX {
        return None;
    }
    let address = format!("http://{text}");
    let url = Url::parse(&address).ok()?;
    let has = |name: &str| url.query_pairs().any(|(key, _)| key == name);
    let state = parameter(&address, "state").unwrap_or_default();
    (url.path() == LOGIN_PATH && (has("code") || has("error"))).then_some((address, state))
}

/// Whether what stands behind a break is of the address. A word that somebody has written behind it
/// is not: it would make another code of the right one.
fn goes_on(address: &str, segment: &str, issuer: Option<&str>) -> bool {
    if segment.contains(['&', '=', '%']) || address.ends_with(['&', '=', '%', '?']) {
        return true;
    }
    let (key, value) =
        address.rsplit(['&', '?']).next().and_then(|last| last.split_once('=')).unwrap_or_default();
    match key {
        // A percent sign may have lost its digits.
        "iss" => issuer.is_some_and(|issuer| {
            let whole = parameter(address, "iss").unwrap_or_default();
            let cut = value.rfind('%').filter(|place| place + 3 > value.len());
            whole != issuer && (cut.is_some() || issuer.starts_with(&whole))
        }),
        "code" => {
            let word = segment.trim_end_matches(AROUND);
            let rest = word.strip_prefix(|c: char| c.is_ascii_uppercase()).unwrap_or(word);
            !rest.bytes().all(|byte| byte.is_ascii_lowercase())
        }
        _ => false,
    }
}

fn is_of_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~%&=+/:@!$*,;?#".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = "http://127.0.0.1:8765/callback?code=code-1-b3C1&state=s1-Ab_9\
                         &iss=https%3A%2F%2Flogin.example%2Fas";

    fn expected() -> Vec<Expected> {
        vec![Expected {
            state: "s1-Ab_9".to_owned(),
            issuer: Some("https://login.example/as".to_owned()),
            redirect: "http://127.0.0.1:8765/callback".to_owned(),
            is_done: false,
        }]
    }

    fn found(text: &str) -> Option<FoundAddress> {
        find(text, &expected())
    }

    #[track_caller]
    fn is_found(text: &str, address: &str) -> FoundAddress {
        let found = found(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(found.address.as_deref(), Some(address), "{text}");
        found
    }

    #[test]
    fn an_address_is_found_however_it_was_pasted() {
        let plain = "http://127.0.0.1:8765/callback?code=c1&state=s1-Ab_9";
        for word in [plain.to_owned(), plain.replace("http://", ""), format!("<{plain}>")] {
            let found = is_found(&word, plain);
            assert_eq!((found.state.as_str(), found.has_more), ("s1-Ab_9", false), "{word}");
            assert_eq!(found.before, "", "{word}");
        }
        is_found(RIGHT, RIGHT);
        let refused = plain.replace("code=c1", "error=access_denied");
        is_found(&format!("  {refused}.\n"), &refused);
        let with_words = is_found(&format!("here: {plain} thanks"), plain);
        assert_eq!((with_words.before.as_str(), with_words.has_more), ("here: ", true));
        for word in [
            "http://127.0.0.1:8765/other?code=c1&state=s1",
            "http://127.0.0.1:8765/callback",
            "https://corp.example/callback?code=c1&state=s1",
        ] {
            assert_eq!(found(word), None);
        }
    }

    #[test]
    fn an_address_of_no_login_that_is_under_way_answers_none() {
        for other in [
            "http://127.0.0.1:1/callback?code=c1",
            "http://127.0.0.1:8765/callback?code=c1",
            "http://127.0.0.1:8765/callback?code=c1&state=s1",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
        // Elsewhere than where its browser ends it is a part at most, and no code is sent.
        let elsewhere = found("http://127.0.0.1:8080/callback?code=c1&state=s1-Ab_9");
        assert!(elsewhere.is_some_and(|found| found.address.is_none()));
        let right = "http://127.0.0.1:8765/callback?code=c2&state=s1-Ab_9";
        let both = format!("http://127.0.0.1:8765/callback?code=c1&state=x 500\n{right}");
        assert!(is_found(&both, right).before.ends_with("state=x 500\n"));
    }

    #[test]
    fn of_other_addresses_the_code_alone_is_left_out() {
        let log = "GET http://127.0.0.1:8080/callback?code=abc&state=xyz 500\ntrace 1\n\n\
                   Please fix it, do NOT delete the database: code=7 stays.";
        let mask = |text: &str| masked(text, "[…]");
        assert_eq!(mask(log), Some(log.replace("code=abc", "code=[…]")));
        for (text, shown) in [
            ("(127.0.0.1:1/callback?code=a-b.c).", "(127.0.0.1:1/callback?code=[…])."),
            ("ä 127.0.0.1:1/callback?s=1&code=é", ""),
            ("127.0.0.1:1/callback?s=1&\ncode=abc def", "127.0.0.1:1/callback?s=1&\ncode=[…] def"),
            ("127.0.0.1:1/callback?s=1#code=abc,", "127.0.0.1:1/callback?s=1#code=[…],"),
            ("127.0.0.1:1/callback?code=a\u{200b}b x", "127.0.0.1:1/callback?code=[…] x"),
            ("127.0.0.1:1/callback?code=", ""),
            ("127.0.0.1:1/callback? and code=abc", ""),
            ("127.0.0.1:1/other?code=abc", ""),
        ] {
            let shown = (!shown.is_empty()).then(|| shown.to_owned());
            assert_eq!(mask(text), shown, "{text}");
            assert_eq!(shown.as_deref().and_then(mask), None, "it is masked once: {text}");
        }
        let two = "127.0.0.1:1/callback?code=a1 and 127.0.0.1:2/callback?x=y&code=b2!";
        let shown = "127.0.0.1:1/callback?code=[…] and 127.0.0.1:2/callback?x=y&code=[…]!";
        assert_eq!(mask(two).as_deref(), Some(shown));
    }

    /// With work that grows as the square of the text none of these would end.
    #[test]
    fn a_long_text_is_looked_at_once() {
        let all = 4 * 1024 * 1024;
        for piece in [
            "127.0.0.1:1/callback?",
            "127.0.0.1:8765/callback?",
            "127.0.0.1:8765/callback?code=c&state=s1-Ab_",
            "127.0.0.1:8765/callback? ",
            "127.0.0.1:7777777777",
        ] {
            let text = piece.repeat(all / piece.len());
            assert_eq!(found(&text), None, "{piece}");
            assert_eq!(masked(&text, "x").is_some(), piece.contains("code"), "{piece}");
        }
        // Not even the right `state` makes it long.
        let text = "127.0.0.1:8765/callback?state=s1-Ab_9 ".repeat(all / 38);
        assert!(found(&text).is_some_and(|found| found.address.is_none()));
    }

    #[test]
    fn an_address_that_is_broken_anywhere_is_whole_again() {
        let other_order = "http://127.0.0.1:8765/callback?iss=https%3A%2F%2Flogin.example%2Fas\
                           &code=a1B2c3D4&state=s1-Ab_9";
        for right in [RIGHT, other_order] {
            for place in 1..right.len() {
                let (one, other) = right.split_at(place);
                for broken in ["\n", "\r\n", " ", "  \n ", "\u{200B}"] {
                    let text = format!("{one}{broken}{other}");
                    let found = is_found(&text, right);
                    assert!(!found.has_more, "{text}");
                    is_found(&format!("{text}\nthanks"), right);
                }
            }
        }
        let code_last = "http://127.0.0.1:8765/callback?state=s1-Ab_9&code=ab12-CD34";
        is_found(&code_last.replace("2-CD", "2-\nCD"), code_last);
        assert!(is_found(&format!("{code_last}\nThanks a lot"), code_last).has_more);
        let each: Vec<String> = RIGHT.chars().map(String::from).collect();
        assert!(found(&each.join(" ")).is_some(), "never a text, however often it is broken");
    }

    #[test]
    fn a_part_that_came_by_itself_is_no_text_either_and_a_link_is() {
        let part = found("b3C1&state=s1-Ab_9&iss=x").unwrap();
        assert_eq!((part.address, part.state.as_str()), (None, "s1-Ab_9"));
        assert_eq!(found("state=s1-Ab_9x"), None);
        let link = "https://login.example/authorize?code_challenge=x&state=s1-Ab_9";
        assert_eq!(found(&format!("this does not open: {link}")), None);
    }
}
