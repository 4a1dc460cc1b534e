//! The address at which the browser of a login has ended, found in what a person has sent, also
//! where a program has broken it over lines or put blanks into it. Pure. Must not know where logins
//! are kept.

use claw_domain::login_answer::{Compact, LOGIN_HOST, LOGIN_PATH};
use reqwest::Url;

use super::flow::parameter;

/// Of an address; what is longer answers nothing.
const ADDRESS_BYTES_MAX: usize = 16 * 1024;
/// Places at which an address may be broken.
const BREAKS_MAX: usize = 64;
/// What a program or a person may write around an address.
const AROUND: &[char] = &['<', '>', '"', '\'', '`', '(', ')', '[', ']', ',', '.', ';', '!'];

/// What is known of the answer to a login that is under way.
#[derive(Clone)]
pub(super) struct Expected {
    pub state: String,
    pub issuer: Option<String>,
}

/// An address that was found, or a part of one.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Found {
    /// `None` for a part without its beginning.
    pub address: Option<String>,
    pub state: String,
    /// What stands before it.
    pub before: String,
    /// Something that is not of the address stands behind it.
    pub has_more: bool,
}

/// The first address in a text that answers a login, one of these or another one.
pub(super) fn find(text: &str, expected: &[Expected]) -> Option<Found> {
    let compact = Compact::of(text);
    let words = compact.text();
    let mut heads = words.match_indices(LOGIN_HOST).filter_map(|(from, host)| {
        let rest = words.get(from + host.len()..)?;
        let port = rest.bytes().take_while(u8::is_ascii_digit).count();
        let query = rest.get(port..)?.strip_prefix(LOGIN_PATH)?.strip_prefix('?')?;
        (1..=5).contains(&port).then_some((from, words.len() - query.len()))
    });
    let whole = heads.find_map(|head| at(&compact, text, head, expected));
    whole.or_else(|| part(text, expected))
}

/// The address whose host and query begin here.
fn at(
    compact: &Compact,
    text: &str,
    (from, query): (usize, usize),
    expected: &[Expected],
) -> Option<Found> {
    let words = compact.text();
    let run = words.get(query..)?.bytes().take_while(|byte| is_of_url(*byte)).count();
    let ends: Vec<usize> = (query + 1..query + run)
        .filter(|place| compact.is_broken_before(*place))
        .take(BREAKS_MAX)
        .chain([query + run])
        .collect();
    let until = |end: usize| words.get(from..end).and_then(answer);
    let of_one = |state: &str| expected.iter().find(|one| one.state == state);
    let is_one = |end: &usize| until(*end).is_some_and(|(_, state)| of_one(&state).is_some());
    let shortest = ends.iter().position(is_one);
    let mut last = shortest.or_else(|| ends.iter().position(|end| until(*end).is_some()))?;
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
    Some(Found { address: Some(address), state, before, has_more })
}

/// A part of an answer, whose beginning came by itself. The link of a login holds its `state`, too,
/// and is none.
fn part(text: &str, expected: &[Expected]) -> Option<Found> {
    if text.contains("code_challenge") {
        return None;
    }
    let ends = |c: char| !c.is_ascii() || !is_of_url(c as u8) || "&?".contains(c);
    let states = || text.split(ends).filter_map(|piece| piece.strip_prefix("state="));
    let state = &expected.iter().find(|one| states().any(|state| state == one.state))?.state;
    let has_more = text.split_whitespace().count() > 1;
    Some(Found { address: None, state: state.clone(), before: String::new(), has_more })
}

/// The text as an address that answers a login, with its `state`. A code without a state is
/// nobody's, and stays secret all the same.
fn answer(text: &str) -> Option<(String, String)> {
    let address = format!("http://{}", text.trim_end_matches(AROUND));
    let url = Url::parse(&address).ok().filter(|_| address.len() <= ADDRESS_BYTES_MAX)?;
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
        }]
    }

    fn found(text: &str) -> Option<Found> {
        find(text, &expected())
    }

    #[track_caller]
    fn is_found(text: &str, address: &str) -> Found {
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
        // Of no login that is known.
        let other = "http://127.0.0.1:1/callback?code=c1";
        assert_eq!(is_found(other, other).state, "");
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
