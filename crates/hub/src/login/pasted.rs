//! The answer to a login that is pasted into a chat: the address at which a browser has ended. It is
//! taken out of the text before anything is written, and lies beside the login until that is
//! finished. Owns that its code is nowhere else. Must not know chats, or who has pasted it.

use std::path::{Path, PathBuf};

use claw_domain::canonical::sha256_hex;
use claw_domain::login_answer::{LOGIN_HOST, LOGIN_MARK, LOGIN_PATH, may_hold_login_answer};
use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::flow::{Earlier, parameter};
use super::{LoginError, Place, file};
use crate::Hub;
use crate::manifest::Launch;

/// The ending of the name of the file that holds an address.
pub(super) const KIND: &str = "answer";
/// Behind the name of the answer that stands in a text instead of the address.
const MARK_END: &str = "]";
/// Digits of that name. It only has to tell the few logins apart that are under way.
const NAME_DIGITS: usize = 12;
/// Of an address; what is longer answers nothing.
const ADDRESS_BYTES_MAX: usize = 16 * 1024;

#[derive(Serialize, Deserialize)]
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
    let is_name = name.len() == NAME_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| (name, !before.trim().is_empty() || !after.trim().is_empty()))
}

fn name_of(state: &str) -> String {
    sha256_hex(state.as_bytes()).chars().take(NAME_DIGITS).collect()
}

/// A word of a text as an address to which a login sends the browser, with its `state`.
fn address_in(word: &str) -> Option<(String, String)> {
    let at = word.find(LOGIN_HOST)?;
    let address = word.get(at..)?.trim_end_matches(['>', '"', '\'', ')', ']', ',']);
    let address = format!("http://{address}");
    let url = Url::parse(&address).ok().filter(|_| address.len() <= ADDRESS_BYTES_MAX)?;
    let has = |name: &str| url.query_pairs().any(|(key, _)| key == name);
    let is_answer = url.path() == LOGIN_PATH && (has("code") || has("error"));
    let state = parameter(&address, "state").unwrap_or_default();
    is_answer.then_some((address, state))
}

/// The secrets of such a file.
pub(super) fn secrets_of(path: &Path) -> Vec<(String, String)> {
    let pasted: Option<Pasted> = file::read(path).ok().flatten();
    let code = pasted.and_then(|pasted| parameter(&pasted.address, "code"));
    code.map(|code| ("code".to_owned(), code)).into_iter().collect()
}

impl Place {
    fn answer_file(&self) -> PathBuf {
        self.shelf.file_of_kind(KIND)
    }

    fn put_answer(&self, state: String, address: String) -> Result<(), String> {
        if let Some(code) = parameter(&address, "code") {
            self.shelf.learn("code", &code)?;
        }
        file::write(&self.answer_file(), &Pasted { state, address })
    }

    fn answer_to(&self, state: &str) -> Option<String> {
        let pasted: Option<Pasted> = file::read(&self.answer_file()).ok().flatten();
        pasted.filter(|pasted| pasted.state == state).map(|pasted| pasted.address)
    }

    pub(super) fn forget_answer(&self) {
        // What stays there counts for nobody: its code was sent, or its login is over.
        let _ = file::remove(&self.answer_file());
    }
}

impl Hub {
    /// The text with a mark instead of each address that answers a login; `None` where there is no
    /// such address. The answer to a login that is under way is kept for
    /// [`Hub::finish_login`]; one that cannot be kept is as lost as one to no login.
    pub fn without_login_answer(&self, text: &str) -> Option<String> {
        // Most texts end here.
        if !may_hold_login_answer(text) {
            return None;
        }
        let mut cleared = String::with_capacity(text.len());
        let mut found = false;
        for word in text.split_inclusive(char::is_whitespace) {
            let bare = word.trim_end();
            let Some((address, state)) = address_in(bare) else {
                cleared.push_str(word);
                continue;
            };
            found = true;
            let name = name_of(&state);
            cleared.push_str(&format!("{LOGIN_MARK}{name}{MARK_END}"));
            cleared.push_str(word.get(bare.len()..).unwrap_or_default());
            let under_way = self.login_places().find(|place| {
                let pending = place.shelf.pending(place.time).read_for(&state);
                pending.is_ok_and(|pending| pending.is_some())
            });
            if let Some(place) = under_way
                && let Err(why) = place.put_answer(state, address)
            {
                tracing::warn!(why, "the answer to a login is lost");
            }
        }
        found.then_some(cleared)
    }

    /// Finishes the login whose answer has this name. Told again, it says the same of a login that
    /// has succeeded.
    ///
    /// # Errors
    /// No login was begun here that it answers, that login is over, or it has failed.
    pub async fn finish_login(&self, answer: &str) -> Result<Finished, LoginError> {
        let named = |state: &str| name_of(state) == answer;
        let places: Vec<Place> = self.login_places().collect();
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
            let address = place.answer_to(pending.state());
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

    fn login_places(&self) -> impl Iterator<Item = Place> {
        let names = self.servers().into_iter().filter(|server| !server.disabled);
        names.filter_map(|server| {
            let found = self.get(&server.name)?;
            let is_http = matches!(found.entry.launch, Launch::Http(_));
            is_http.then(|| self.login_place(&server.name).ok())?
        })
    }
}

async fn finish(place: Place, address: Option<String>) -> Result<Vec<String>, LoginError> {
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
    fn an_address_is_found_however_it_was_pasted() {
        let right = "http://127.0.0.1:8765/callback?code=c1&state=s1";
        for word in [
            right.to_owned(),
            right.replace("http://", ""),
            format!("<{right}>"),
            format!("{right}&iss=https%3A%2F%2Flogin.example"),
            right.replace("code=c1", "error=access_denied"),
        ] {
            assert_eq!(address_in(&word).unwrap().1, "s1", "{word}");
        }
        for word in [
            "http://127.0.0.1:8765/other?code=c1&state=s1",
            "http://127.0.0.1:8765/callback",
            "https://corp.example/callback?code=c1&state=s1",
        ] {
            assert_eq!(address_in(word), None, "{word}");
        }
        // A code without a state is nobody's, and stays secret all the same.
        assert!(address_in("http://127.0.0.1:1/callback?code=c1").is_some());
    }

    #[test]
    fn a_mark_is_read_back() {
        let name = name_of("s1");
        assert_eq!(answer_in(&format!("[login answer {name}]")), Some((name.as_str(), false)));
        assert_eq!(answer_in(&format!("hi [login answer {name}]")), Some((name.as_str(), true)));
        for text in ["[login answer x]", "[login answer", "hello"] {
            assert_eq!(answer_in(text), None, "{text}");
        }
    }
}
