//! Whether what an authorization server gives out can be kept secret at all: it becomes a pattern
//! that is masked wherever it stands, so a plain word in its place would erase that word from every
//! text. Pure. Must not know whose tokens they are.

use serde_json::Value;

/// Of one token, in bytes.
const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// A token with fewer characters could be guessed, or stand somewhere by chance.
const TOKEN_CHARS_MIN: usize = 16;
/// A code counts once, and for minutes.
const CODE_CHARS_MIN: usize = 10;
/// Where there is no digit in it: words are made of letters.
const LETTERS_MIN: usize = 32;
/// Where there is no letter in it: so are numbers and dates of digits.
const DIGITS_MIN: usize = 20;
/// Different characters.
const DIFFERENT_MIN: usize = 6;

/// The fields of a token answer that are secret (RFC 6749, section 5.1; OpenID Connect Core 1.0).
pub(super) const TOKENS: [&str; 3] = ["access_token", "refresh_token", "id_token"];

/// Why the tokens of this answer cannot be used, as a sentence without its end.
pub(super) fn fault_of_answer(answer: &Value) -> Option<String> {
    TOKENS.iter().find_map(|name| fault(name, answer.get(name)?.as_str()?))
}

/// Why one secret of a stranger cannot be used. Blanks are in no token (RFC 6750, section 2.1);
/// some services have other visible characters in theirs than that section, so these are let pass.
pub(super) fn fault(name: &str, token: &str) -> Option<String> {
    let why = if token.len() > TOKEN_BYTES_MAX {
        "is longer than 16 KiB"
    } else if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        "holds blanks or characters that no token has"
    } else {
        return None;
    };
    Some(format!(
        "the `{name}` that its login gives out {why}, so claw does not use it: tell whoever runs \
         that login"
    ))
}

/// Whether a token can be looked for in texts without hiding what others say. One that is a plain
/// word is used as it is, and not looked for: some logins give out such.
pub(super) fn can_be_known(token: &str) -> bool {
    fault("", token).is_none() && !is_plain(token, TOKEN_CHARS_MIN)
}

/// Whether a code can be looked for in texts without hiding what others say.
pub(super) fn can_be_masked(code: &str) -> bool {
    code.len() <= TOKEN_BYTES_MAX
        && code.bytes().all(|byte| byte.is_ascii_graphic())
        && !is_plain(code, CODE_CHARS_MIN)
}

fn is_plain(secret: &str, chars_min: usize) -> bool {
    let has = |is: fn(&u8) -> bool| secret.bytes().any(|byte| is(&byte));
    let length = secret.len();
    let mut seen = [false; 256];
    secret.bytes().for_each(|byte| seen[usize::from(byte)] = true);
    length < chars_min
        || (!has(u8::is_ascii_digit) && length < LETTERS_MIN)
        || (!has(u8::is_ascii_alphabetic) && length < DIGITS_MIN)
        || seen.iter().filter(|seen| **seen).count() < DIFFERENT_MIN
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_could_erase_the_words_of_others_is_no_token() {
        let long = "a1".repeat(TOKEN_BYTES_MAX);
        for (token, why) in [
            ("must not", "blanks"),
            ("wörter-0123456789-abc", "characters"),
            (long.as_str(), "16 KiB"),
        ] {
            let fault = fault("access_token", token).unwrap_or_default();
            assert!(fault.contains(why), "{token}: {fault}");
        }
        let bad_second =
            json!({"access_token": "acc-1-9d2f4e7a61c05b38", "refresh_token": "my notes"});
        assert!(fault_of_answer(&bad_second).is_some_and(|why| why.contains("`refresh_token`")));
        for word in [
            "workspace",
            "the-owner-has-approved",
            "2026-11-26",
            "HTTP/1.1",
            "1111111111a11111111111",
            "test-client-secret",
            "",
        ] {
            assert_eq!(fault("access_token", word), None, "{word}");
            assert!(!can_be_known(word), "{word}");
        }
        assert!(!can_be_known("must not") && !can_be_known(&long));
    }

    #[test]
    fn the_tokens_of_services_pass() {
        for token in [
            "acc-1-9d2f4e7a61c05b38",
            "gho_16C7e42F292c6912E7710c838347Ae178B4a",
            "ya29.a0AfH6SMBx/abc~def+ghi=_-0",
            "00Dxx0000001gPF!AQEAQMgnSDmFxCQ.i2B0",
            "M.C546_BAY.0.U.-Cl*x!y$Zabc",
            "d9428888-122b-11e1-b85c-61cd3cbb3210",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        ] {
            assert_eq!(fault("access_token", token), None, "{token}");
            assert!(can_be_known(token), "{token}");
        }
        assert!(can_be_masked("code-1-b3c1") && !can_be_masked("workspace"));
    }
}
