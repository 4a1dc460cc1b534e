//! What looks like a secret, by its name and by its shape. Pure. Must not know where a text comes
//! from or how it is kept out of sight.
//!
//! Too little leaks a token; too much ruins every text, because each value is masked wherever it
//! appears. So a name counts (`API_TOKEN`), else the shape of random letters and digits; paths,
//! switches, numbers and common words never do.

/// A name that ends like this (digits behind it not counted) is that of a secret.
const ENDINGS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "_PASS",
    "_PWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "_PAT",
    "_AUTH",
    "AUTHORIZATION",
    "BEARER",
    "_DSN",
    "COOKIE",
];

/// Of providers who mark their tokens.
const BEGINNINGS: &[&str] = &[
    "sk-",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "eyJ",
    "hf_",
    "npm_",
    "pypi-",
    "AIza",
    "pk_",
    "rk_",
    "whsec_",
];

/// What stands in the place of a secret and is none, or is one that every other text holds.
const COMMON: &[&str] = &[
    "password",
    "changeme",
    "postgres",
    "undefined",
    "disabled",
    "required",
    "optional",
    "localhost",
    "anonymous",
    "username",
    "development",
    "production",
    "automatic",
    "available",
    "default",
    "internal",
    "external",
    "filesystem",
    "standard",
];

/// Between the words of a text, also of one in JSON (`{"Authorization": "Bearer …"}`).
const BETWEEN: [char; 12] = [' ', '\t', '\n', '"', '\'', '{', '}', '[', ']', ',', ';', '\\'];

/// Shorter values are never masked, in bytes: each of their appearances would be.
pub const SECRET_BYTES_MIN: usize = 8;

/// Shorter runs of letters and digits are names and versions, in bytes.
const RANDOM_RUN_MIN: usize = 12;

/// Whether a variable, a header or an option of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.trim_start_matches('-').replace('-', "_").to_ascii_uppercase();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    ENDINGS.iter().any(|ending| name.ends_with(ending))
        || name == "AUTH"
        || name == "DSN"
        || name == "PAT"
        || name == "PASS"
}

/// Whether a part of a value that stands behind this word is a password: `Password=…;` in the
/// connection strings of databases. The words of other secrets are common before what is none.
fn is_password_word(word: &str) -> bool {
    const WORDS: [&str; 5] = ["PASSWORD", "PASSWD", "PASSPHRASE", "PWD", "PASS"];
    let word = word.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    WORDS.iter().any(|one| word.eq_ignore_ascii_case(one))
}

/// The secrets in the value of a variable, an option or a header of this name: the whole, or a part
/// that is one by itself.
pub fn in_named<'v>(name: &str, value: &'v str) -> Vec<&'v str> {
    let value = value.trim();
    let mut found = in_value(value);
    if is_secret_name(name) && !is_plain(value) && !found.contains(&value) {
        found.push(value);
        // `Bearer TOKEN`, `Basic …`; a server may send the token on by itself.
        found.extend(
            value.split_once(' ').map(|(_, token)| token.trim()).filter(|token| !is_plain(token)),
        );
    }
    found
}

/// The secrets in a value of which nothing is known.
pub fn in_value(value: &str) -> Vec<&str> {
    if let Some(user) = user_info(value) {
        return match password_in(value) {
            // `https://TOKEN@host`
            found if found.is_empty() && is_random(user) => vec![user, value],
            found => found,
        };
    }
    if value.contains("://") {
        return in_address(value);
    }
    // A path names a secret's file at most.
    let is_bare = |word: &&str| !word.starts_with(['/', '~', '.']) && is_random(word);
    let mut found: Vec<&str> = if value.contains(BETWEEN) {
        let words = value.split(|c| BETWEEN.contains(&c) || matches!(c, '=' | ':'));
        words.filter(is_bare).collect()
    } else {
        Some(value).filter(is_bare).into_iter().collect()
    };
    let pairs = value.split(BETWEEN).filter_map(|pair| pair.split_once('='));
    let passwords = pairs.filter(|(word, _)| is_password_word(word)).map(|(_, password)| password);
    for password in passwords.filter(|password| !is_plain(password)) {
        if !found.contains(&password) {
            found.push(password);
        }
    }
    found
}

/// What a shell reads as more than a word. A text with one of these may be code, which a person has
/// to see.
const CODE: [char; 14] = ['$', '`', ';', '|', '&', '<', '>', '(', ')', '{', '}', '"', '\'', '\\'];

/// How a header says what kind of token follows.
const SCHEMES: &[&str] = &["bearer", "basic", "token", "apikey", "bot"];

/// Whether a text is one word without a sign that means something to a shell or to a manifest:
/// nothing that is run hides in it.
pub fn is_one_word(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || c.is_control() || CODE.contains(&c))
}

/// The secrets in the arguments of a program: `--token VALUE`, `--token=VALUE`, `NAME=VALUE`,
/// `Header: VALUE`, and what looks like one by itself. Code behind `NAME=` is none.
pub fn in_arguments(arguments: &[String]) -> Vec<&str> {
    in_each_argument(arguments).into_iter().flatten().collect()
}

/// The same, for each argument those that stand in it.
pub fn in_each_argument(arguments: &[String]) -> Vec<Vec<&str>> {
    let mut all = Vec::new();
    let mut named_before = None;
    for argument in arguments {
        let split = argument.split_once('=').or_else(|| argument.split_once(": "));
        let split = split.filter(|(name, _)| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        });
        let mut found = match (named_before.take(), split) {
            (Some(name), None) => in_one_word(name, argument),
            (_, Some((name, value))) => in_one_word(name, value),
            (None, None) => in_value(argument),
        };
        found.retain(|secret| is_one_word(secret));
        all.push(found);
        if argument.starts_with('-') && split.is_none() {
            named_before = Some(argument.as_str());
        }
    }
    all
}

/// Of several words none is a secret because of the name before them.
fn in_one_word<'v>(name: &str, value: &'v str) -> Vec<&'v str> {
    let token = token_in(value);
    if token.contains(char::is_whitespace) { in_value(token) } else { in_named(name, token) }
}

/// Behind `Bearer` and its like. What stands behind any other word may be a program.
fn token_in(value: &str) -> &str {
    let parts = value.trim().split_once(' ');
    parts
        .filter(|(scheme, _)| SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()))
        .map_or(value, |(_, token)| token.trim())
}

/// The password of an address that holds one, and the address; else nothing.
pub fn password_in(value: &str) -> Vec<&str> {
    let password =
        user_info(value).and_then(|user| user.split_once(':')).map(|(_, password)| password);
    password
        .filter(|password| !password.is_empty())
        .map_or_else(Vec::new, |password| vec![password, value])
}

/// `user:password` of `scheme://user:password@host` (RFC 3986 section 3.2.1); proxies are written
/// without a scheme, too.
fn user_info(value: &str) -> Option<&str> {
    let authority = match value.split_once("://") {
        Some((scheme, rest)) => {
            let fits = !scheme.is_empty()
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
            fits.then(|| rest.split(['/', '?', '#']).next().unwrap_or_default())?
        }
        // `user:password@host:8080`, and no address of mail.
        None => {
            let (user_info, host) = value.rsplit_once('@')?;
            let is_proxy =
                user_info.contains(':') && !value.contains(char::is_whitespace) && !host.is_empty();
            return (is_proxy && !host.contains(['/', '@', ','])).then_some(user_info);
        }
    };
    Some(authority.rsplit_once('@')?.0)
}

/// In a URL without a user: what a query calls a secret, and parts of the path that are random.
fn in_address(value: &str) -> Vec<&str> {
    let (place, query) = value.split_once('?').unwrap_or((value, ""));
    let queried = query.split(['&', '#']).filter_map(|pair| pair.split_once('='));
    let mut found: Vec<&str> = queried.flat_map(|(name, value)| in_named(name, value)).collect();
    let path = place
        .split_once("://")
        .and_then(|(_, rest)| rest.split_once('/'))
        .map_or("", |(_, path)| path);
    found.extend(path.split('/').filter(|part| is_random(part)));
    found
}

/// A value that is no secret even under the name of one.
fn is_plain(value: &str) -> bool {
    let is_short = value.len() < SECRET_BYTES_MIN;
    let is_number = value.parse::<f64>().is_ok() && value.len() < RANDOM_RUN_MIN;
    let is_path = value.starts_with("~/")
        || value.starts_with("./")
        || value.starts_with('/') && !is_random(value);
    let lower = value.to_ascii_lowercase();
    is_short || is_number || is_path || COMMON.contains(&lower.as_str()) || lower.starts_with("${")
}

/// Known by its beginning, or by a long run of letters and digits in turn: no name, version, date
/// or word looks so.
fn is_random(value: &str) -> bool {
    if BEGINNINGS.iter().any(|beginning| {
        value.starts_with(beginning) && value.len() >= beginning.len() + RANDOM_RUN_MIN
    }) {
        return true;
    }
    value
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|run| run.len() >= RANDOM_RUN_MIN && turns(run) >= 3)
}

/// How often a run goes from letters to digits and back, or from small letters to capitals behind
/// the first of a word.
fn turns(run: &str) -> usize {
    let class = |byte: &u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let bytes = run.as_bytes();
    let changes = bytes
        .windows(2)
        .filter(|pair| matches!(pair, [one, other] if class(one).0 != class(other).0))
        .count();
    let capitals = bytes
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_uppercase() && b.is_ascii_uppercase()));
    let mixed =
        bytes.iter().any(u8::is_ascii_lowercase) && bytes.iter().any(u8::is_ascii_uppercase);
    changes + if mixed { capitals.count() } else { 0 }
}

#[cfg(test)]
mod tests;
