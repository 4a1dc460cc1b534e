//! The answer to a login that is pasted into a chat: the address at which a browser has ended. It
//! is taken out of the text before anything is written, and lies beside the login until that is
//! finished. Owns that its code is nowhere else. Must not know chats, or who has pasted it.

use std::path::{Path, PathBuf};

use claw_domain::canonical::sha256_hex;
use claw_domain::login_answer::{LOGIN_HOST, LOGIN_MARK, LOGIN_PATH, may_hold_login_answer};
use serde::{Deserialize, Serialize};

use super::address::{self, Expected, FoundAddress};
use super::flow::{Earlier, parameter};
use super::{LoginError, LoginPlace, file, strength};
use crate::Hub;
use crate::manifest::Launch;

/// The ending of the name of the file that holds an address.
pub(super) const KIND: &str = "answer";
/// What a part of an address has that came by itself.
const STATE: &str = "state=";
/// Behind the name of the answer that stands in a text instead of the address.
const MARK_END: &str = "]";
/// Digits of the half of that name that tells the few logins apart that are under way, and of the
/// half that tells apart who has answered the same one.
const HALF_DIGITS: usize = 12;
/// What stands in a text instead of the code of an address that answers no login of claw's.
const CODE_MARK: &str = "[left-out-by-claw]";
/// Behind a text in which that was done.
const CODE_NOTE: &str = "\n\n[note of claw: an address above has the form of an answer to a login. \
    Its code was left out, and nothing else.]";
/// Behind the mark where the message held other words, too.
const MORE: &str = " …";
/// Answers to one login that are kept until they were looked at; the oldest goes. A stranger who
/// knows the login cannot take the place of the owner's by one answer.
const ANSWERS_MAX: usize = 16;

#[derive(Clone, Serialize, Deserialize)]
struct Pasted {
    /// Of the login that it answers.
    state: String,
    address: String,
}

/// A login that a chat has finished.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finished {
    pub server: String,
    pub scopes: Vec<String>,
}

/// The name of the answer that was taken out of a text, and whether something else stands there.
pub fn answer_in(text: &str) -> Option<(&str, bool)> {
    let (before, rest) = text.split_once(LOGIN_MARK)?;
    let (name, after) = rest.split_once(MARK_END)?;
    let is_name =
        name.len() == 2 * HALF_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| (name, !before.trim().is_empty() || !after.trim().is_empty()))
}

/// Whether these words are one address that has the form of an answer to a login, and nothing else.
/// Its code may have been left out before.
pub fn is_answer_alone(words: &str) -> bool {
    let words = words.trim().strip_suffix(CODE_NOTE).unwrap_or(words);
    let words = words.replace(CODE_MARK, "");
    let words = words.trim();
    let host = words.strip_prefix("http://").unwrap_or(words).strip_prefix(LOGIN_HOST);
    let path = host.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let query = path.and_then(|path| path.strip_prefix(LOGIN_PATH)?.strip_prefix('?'));
    query.is_some_and(|query| {
        let is_one =
            |parameter: &str| ["code=", "error="].iter().any(|it| parameter.starts_with(it));
        !query.contains(char::is_whitespace) && query.split('&').any(is_one)
    })
}

fn half(text: &str) -> String {
    sha256_hex(text.as_bytes()).chars().take(HALF_DIGITS).collect()
}

fn name_of(state: &str, address: &str) -> String {
    half(state) + &half(address)
}

/// The secrets of such a file.
pub(super) fn secrets_of(path: &Path) -> Vec<(String, String)> {
    let codes = pasted(path).into_iter().filter_map(|had| parameter(&had.address, "code"));
    let codes = codes.filter(|code| strength::can_be_masked(code));
    codes.map(|code| ("code".to_owned(), code)).collect()
}

/// What cannot be read answers nothing.
fn pasted(path: &Path) -> Vec<Pasted> {
    file::read(path).ok().flatten().unwrap_or_default()
}

impl LoginPlace {
    fn answer_file(&self) -> PathBuf {
        self.shelf.file_of_kind(KIND)
    }

    fn put_answer(&self, state: String, address: String) -> Result<(), String> {
        if let Some(code) = parameter(&address, "code") {
            self.shelf.learn_code(&code)?;
        }
        let mut all = pasted(&self.answer_file());
        all.retain(|had| had.state == state && had.address != address);
        all.drain(..(all.len() + 1).saturating_sub(ANSWERS_MAX));
        all.push(Pasted { state, address });
        file::write(&self.answer_file(), &all)
    }

    fn answer_named(&self, name: &str) -> Option<String> {
        let mut all = pasted(&self.answer_file()).into_iter();
        all.find(|had| name_of(&had.state, &had.address) == name).map(|had| had.address)
    }

    /// What is known of the answer to the login that is under way, and to the last that succeeded.
    /// What cannot be read is of no login that could be finished.
    fn expected(&self) -> Vec<Expected> {
        let pending = self.shelf.pending(self.time).read().ok().flatten();
        let done = self.shelf.read().ok().flatten().and_then(|kept| {
            let (state, redirect) = (kept.login?, kept.redirect);
            Some(Expected { state, issuer: None, redirect, is_done: true })
        });
        pending.map(|pending| pending.expected()).into_iter().chain(done).collect()
    }

    pub(super) fn forget_answer(&self) {
        // What stays there counts for nobody: its code was sent, or its login is over.
        let _ = file::remove(&self.answer_file());
    }
}

impl Hub {
    /// The text with a mark instead of the first address that answers a login that is under way or
    /// has succeeded, and of all that stands behind it, because a code may be broken. The answer is
    /// kept for [`Hub::finish_login`]; one that cannot be kept is as lost as one to no login.
    ///
    /// Of any other address of that form the code alone is left out, and a sentence behind the text
    /// says so. `None` where there is nothing of either.
    pub fn without_login_answer(&self, text: &str) -> Option<String> {
        // Most texts end here.
        if !may_hold_login_answer(text) && !text.contains(STATE) {
            return None;
        }
        let places: Vec<LoginPlace> = self.login_places().collect();
        let known = places.iter().enumerate();
        let known: Vec<(usize, Expected)> = known
            .flat_map(|(nr, place)| place.expected().into_iter().map(move |it| (nr, it)))
            .collect();
        let all: Vec<Expected> = known.iter().map(|(_, expected)| expected.clone()).collect();
        let masked = |text: &str| address::masked(text, CODE_MARK);
        let Some(FoundAddress { address, state, before, has_more }) = address::find(text, &all)
        else {
            return masked(text).map(|masked| masked + CODE_NOTE);
        };
        let name = name_of(&state, address.as_deref().unwrap_or_default());
        let is_of = |one: &Expected| one.state == state && !one.is_done;
        let under_way =
            known.iter().find(|(_, one)| is_of(one)).and_then(|(nr, _)| places.get(*nr));
        if let Some(place) = under_way
            && let Some(address) = address
            && let Err(why) = place.put_answer(state, address)
        {
            tracing::warn!(why, "the answer to a login is lost");
        }
        let before = masked(&before).unwrap_or(before);
        let more = if has_more { MORE } else { "" };
        Some(format!("{before}{LOGIN_MARK}{name}{MARK_END}{more}"))
    }

    /// Forgets an answer that came from somebody who may not answer.
    pub fn forget_login_answer(&self, answer: &str) {
        for place in self.login_places() {
            let (file, before) = (place.answer_file(), pasted(&place.answer_file()));
            let others = before.iter().filter(|had| name_of(&had.state, &had.address) != answer);
            let others: Vec<Pasted> = others.cloned().collect();
            // What stays there counts for nobody: nobody names it again.
            if others.is_empty() && !before.is_empty() {
                let _ = file::remove(&file);
            } else if others.len() < before.len() {
                let _ = file::write(&file, &others);
            }
        }
    }

    /// Finishes the login whose answer has this name. Told again, it says the same of a login that
    /// has succeeded.
    ///
    /// # Errors
    /// No login was begun here that it answers, that login is over, or it has failed.
    pub async fn finish_login(&self, answer: &str) -> Result<Finished, LoginError> {
        let named = |state: &str| answer.starts_with(&half(state));
        let places: Vec<LoginPlace> = self.login_places().collect();
        for place in places {
            let server = place.server.clone();
            // A file that cannot be read is of no login that could be finished.
            let kept = place.shelf.read().ok().flatten();
            if let Some(kept) = kept
                && kept.login.as_deref().is_some_and(named)
            {
                place.forget_answer();
                let scopes = kept.credentials.map(|had| had.granted_scopes).unwrap_or_default();
                return Ok(Finished { server, scopes });
            }
            let pending = place.shelf.pending(place.time).read().ok().flatten();
            let Some(pending) = pending.filter(|pending| named(pending.state())) else { continue };
            let is_part = answer == name_of(pending.state(), "");
            if is_part {
                return Err(LoginError::Part);
            }
            let address = place.answer_named(answer);
            let finished = finish(place.clone(), address).await;
            place.forget_answer();
            return finished.map(|scopes| Finished { server, scopes });
        }
        Err(LoginError::NoSuchLogin)
    }

    /// The servers to which somebody can log in.
    pub fn servers_with_login(&self) -> Vec<String> {
        self.login_places().map(|place| place.server).collect()
    }

    fn login_places(&self) -> impl Iterator<Item = LoginPlace> {
        let names = self.servers().into_iter().filter(|server| !server.disabled);
        names.filter_map(|server| {
            let found = self.get(&server.name)?;
            let is_http = matches!(found.entry.launch, Launch::Http(_));
            is_http.then(|| self.login_place(&server.name).ok())?
        })
    }
}

async fn finish(place: LoginPlace, address: Option<String>) -> Result<Vec<String>, LoginError> {
    match super::flow::resume(place).await? {
        Earlier::UnderWay(login) => match address {
            Some(address) => login.finish(&address).await,
            None => Err(LoginError::Over),
        },
        Earlier::Done(scopes) => Ok(scopes),
        Earlier::Interrupted => Err(LoginError::Interrupted),
        Earlier::Nothing => Err(LoginError::Over),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_back() {
        let name = name_of("s1", "a1");
        assert_ne!(name, name_of("s1", "a2"), "two answers to one login are two");
        assert_eq!(answer_in(&format!("[login answer {name}]")), Some((name.as_str(), false)));
        assert_eq!(answer_in(&format!("hi [login answer {name}]")), Some((name.as_str(), true)));
        for text in ["[login answer x]", "[login answer", "hello"] {
            assert_eq!(answer_in(text), None, "{text}");
        }
    }

    #[test]
    fn an_address_by_itself_is_told_from_words_that_hold_one() {
        let address = "http://127.0.0.1:8765/callback?code=c1&state=s1";
        let masked = address::masked(address, CODE_MARK).unwrap() + CODE_NOTE;
        assert!(masked.contains("?code=[left-out-by-claw]&state=s1\n"), "{masked}");
        for alone in [address, " 127.0.0.1:1/callback?error=no\n", masked.as_str()] {
            assert!(is_answer_alone(alone), "{alone}");
        }
        for words in [
            &format!("why does {address} fail?"),
            &format!("{address} fails"),
            &masked.replace("&state", " &state"),
            "http://127.0.0.1:8765/callback?x=1",
            "127.0.0.1:8765/other?code=1",
        ] {
            assert!(!is_answer_alone(words), "{words}");
        }
    }
}
