//! Which words of a server ask for a secret. Names of values, their titles and descriptions, and
//! what is said with a form. Pure. Must not know what becomes of such a form.

use serde_json::Value;

use crate::{escape, secret};

/// Beside the endings of [`secret::is_secret_name`]: what a form calls a secret. Compared with the
/// letters and digits of a name or title alone.
const SECRETS: &[&str] = &[
    "password",
    "passwort",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "accesstoken",
    "authtoken",
    "bearertoken",
    "refreshtoken",
    "credential",
    "cardnumber",
    "creditcard",
    "kartennummer",
    "cvv",
    "cvc",
    "iban",
    "pincode",
    "securitycode",
    "otp",
    "onetimecode",
    "verificationcode",
    "seedphrase",
    "recoveryphrase",
    "mnemonic",
    "socialsecurity",
    "ssn",
];
/// Those that are words of other words, too, count as a whole name only.
const WHOLE_NAMES: &[&str] = &["cvv", "cvc", "otp", "ssn", "iban", "pin", "pat", "token", "auth"];
/// Of those, the ones that a message calls a secret with a word of its own.
const SAID_WHOLE: &[&str] = &["cvv", "cvc", "otp", "ssn", "iban", "pin", "token"];
/// With what a message bids a person to give something, in English and German.
const BIDS: &[&str] = &[
    "enter", "type", "paste", "provide", "give", "send", "submit", "share", "supply", "tell",
    "input", "need", "needs", "require", "requires", "what", "what's", "what’s", "gib", "gebe",
    "tippe", "nenne", "wie",
];
/// Just before a bid they turn it round.
const NEVER: &[&str] = &["not", "never", "don't", "don’t", "without", "nie", "niemals", "nicht"];
/// Between a bid and a secret they make it what is spoken of, and not what is to be given.
const SPOKEN_OF: &[&str] = &["reset", "change", "recover", "forgot", "forgotten", "link", "name"];
/// What is bidden comes at most so many words behind.
const WORDS_BETWEEN_MAX: usize = 5;
/// A sentence of so many words that ends with a secret asks for it without a bid: "Your password:".
const WORDS_OF_PROMPT_MAX: usize = 4;
/// A secret has so many words at most.
const WORDS_OF_SECRET_MAX: usize = 3;

/// Whether a value looks like a secret, by its name, its title, its format, or what is said of it.
pub(super) fn is_secret(name: &str, schema: &Value) -> bool {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("format") == "password" || schema.get("writeOnly") == Some(&Value::Bool(true)) {
        return true;
    }
    // Only what is typed can give a secret away.
    if schema.get("enum").is_some() || schema.get("oneOf").is_some() || text("type") == "boolean" {
        return false;
    }
    let named = |name: &str| secret::is_secret_name(&name.replace(' ', "_")) || is_named_so(name);
    named(name) || named(text("title")) || is_said_so(text("description"))
}

fn is_named_so(name: &str) -> bool {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let letters = letters.to_ascii_lowercase();
    let inside = |word: &&&str| !WHOLE_NAMES.contains(word) && letters.contains(**word);
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    SECRETS.iter().any(|word| inside(&word))
        || WHOLE_NAMES.contains(&letters.as_str())
        || words.into_iter().any(|word| WHOLE_NAMES.contains(&word.as_str()))
}

/// In a sentence a word counts if it is asked for, and not if it only comes up.
fn is_said_so(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    ["your password", "your api key", "your token", "your secret", "access token", "card number"]
        .iter()
        .any(|words| lower.contains(words))
}

/// The secret that these words ask for, made visible. One that only comes up in them is none: "we
/// send a link to reset your password" asks for something else.
pub(super) fn asked_for(text: &str) -> Option<String> {
    text.split(['.', '!', '?', ';', '\n']).find_map(|sentence| {
        let words: Vec<String> = sentence.split_whitespace().map(plain).collect();
        let bidden = words.iter().enumerate().filter(|(at, word)| {
            let before = words.get(at.saturating_sub(2)..*at).unwrap_or_default();
            BIDS.contains(&word.as_str()) && !before.iter().any(|it| NEVER.contains(&it.as_str()))
        });
        let is_given = |at: &usize| words.get(*at).is_none_or(|it| !SPOKEN_OF.contains(&&**it));
        let behind =
            bidden.flat_map(|(at, _)| (at + 1..=at + 1 + WORDS_BETWEEN_MAX).take_while(is_given));
        let is_prompt = words.len() <= WORDS_OF_PROMPT_MAX;
        let prompted = (0..words.len()).filter(|_| is_prompt);
        behind
            .map(|at| (at, false))
            .chain(prompted.map(|at| (at, true)))
            .find_map(|(at, to_the_end)| secret_at(&words, at, to_the_end))
    })
}

/// A word as it is compared: small letters, without the marks around it.
fn plain(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// The secret that begins with this word, and ends the sentence if it has `to_the_end`.
fn secret_at(words: &[String], at: usize, to_the_end: bool) -> Option<String> {
    (1..=WORDS_OF_SECRET_MAX).find_map(|count| {
        let said = words.get(at..at + count)?;
        if to_the_end && at + count < words.len() {
            return None;
        }
        let name = said.concat();
        let one = name.strip_suffix('s').unwrap_or(&name);
        // "Tokens" are counted more often than they are asked for.
        let is_secret = SECRETS.contains(&one) || SAID_WHOLE.contains(&name.as_str());
        is_secret.then(|| escape::visible(&said.join(" ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_bids_for_a_secret_is_known() {
        for (message, word) in [
            ("Please type your GitHub password", "password"),
            ("Enter the API key of your account.", "api key"),
            ("To go on I need your one-time PIN", "pin"),
            ("We are nearly there! What is your credit card number?", "credit card"),
            ("Your GitHub password:", "password"),
            ("Password", "password"),
            ("Paste the access tokens here", "access tokens"),
            ("Gib bitte dein Passwort ein", "passwort"),
        ] {
            assert_eq!(asked_for(message).as_deref(), Some(word), "{message}");
        }
        for message in [
            "Where do you want to fly?",
            "We send a link to reset your password. What is your name?",
            "Choose a name. Never enter your password here.",
            "Your password has expired long ago, so pick another way to log in",
            "Type the name of the key signature",
            "Give the number of tokens that a summary may have",
            "",
        ] {
            assert_eq!(asked_for(message), None, "{message}");
        }
    }
}
