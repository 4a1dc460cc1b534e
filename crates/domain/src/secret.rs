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
    if value.contains(BETWEEN) {
        return value
            .split(|c| BETWEEN.contains(&c) || matches!(c, '=' | ':'))
            .filter(is_bare)
            .collect();
    }
    Some(value).filter(is_bare).into_iter().collect()
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
mod tests {
    use super::*;

    #[test]
    fn names_tell_which_variables_are_secret() {
        for name in [
            "ANTHROPIC_API_KEY",
            "GITHUB_TOKEN",
            "CLIENT_SECRET",
            "DB_PASSWORD",
            "PGPASSWD",
            "AWS_CREDENTIALS",
            "GH_PAT",
            "openai_api_key",
            "API_KEY_2",
            "TOKEN1",
            "SSH_PASSPHRASE",
            "MY_CREDENTIAL",
            "--api-key",
            "X-Api-Key",
            "Authorization",
            "SENTRY_DSN",
            "BASIC_AUTH",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "KEYBOARD",
            "TOKENIZERS_PARALLELISM",
            "KEY_FILE_DIR",
            "SECRETS_PATH",
            "COMPAT",
            "USER",
            "--author",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn what_every_text_holds_is_no_secret() {
        for value in [
            "true",
            "/home/me",
            "/opt/a1b2c3d4e5f6g7/bin",
            "8080",
            "production",
            "gpt-4o-mini-2024-07-18",
            "claude-sonnet-4-20250514",
            "eu-central-1",
            "Europe/Berlin",
            "me@example.org",
            "https://api.example.com/v1/things",
            "db.internal.example.com",
            "getUserByIdAndName",
            "image20240507",
            "a,b,c",
            "~/projects/x1y2z3a4b5c6d7",
            "postgres://localhost/db",
            "a few words, and more of them",
        ] {
            assert_eq!(in_named("SETTING", value), [""; 0], "{value}");
        }
        for value in ["true", "1", "/run/secrets/key", "password", "~/.ssh/id", "${TOKEN}"] {
            assert_eq!(in_named("MY_TOKEN", value), [""; 0], "{value}");
        }
    }

    #[test]
    fn shape_alone_tells_what_is_random() {
        for value in [
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "sk-proj-abcdefghijklmnop",
            "6f1e2d3c4b5a69788796a5b4c3d2e1f0",
            "xoxb-123456789012-abcdefGHIJKL",
        ] {
            assert_eq!(in_named("SETTING", value), [value], "{value}");
        }
    }

    #[test]
    fn a_token_is_found_among_words() {
        let json = r#"{"Authorization": "Bearer ntn_a1b2c3d4e5f6g7h8", "Version": "2022-06-28"}"#;
        assert_eq!(in_named("OPENAPI_MCP_HEADERS", json), ["ntn_a1b2c3d4e5f6g7h8"]);
        assert_eq!(in_named("OPTIONS", "--verbose --key=a1b2c3d4e5f6g7h8"), ["a1b2c3d4e5f6g7h8"]);
    }

    #[test]
    fn addresses_hold_passwords_tokens_and_keys() {
        let cases: [(&str, &[&str]); 6] = [
            ("postgres://me:p4ss:w0rd@db/x", &["p4ss:w0rd", "postgres://me:p4ss:w0rd@db/x"]),
            ("me:p4ssw0rd@proxy.lan:3128", &["p4ssw0rd", "me:p4ssw0rd@proxy.lan:3128"]),
            ("https://a1b2c3d4e5f6g7@host/", &["a1b2c3d4e5f6g7", "https://a1b2c3d4e5f6g7@host/"]),
            ("https://h/p?api_key=opensesame1&x=1", &["opensesame1"]),
            ("https://hooks.h/services/T0/a1b2c3d4e5f6g7", &["a1b2c3d4e5f6g7"]),
            ("https://me@host/", &[]),
        ];
        for (value, expected) in cases {
            assert_eq!(in_value(value), expected, "{value}");
        }
    }

    #[test]
    fn arguments_and_headers_name_their_values() {
        let arguments =
            |list: &[&str]| list.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
        let given = arguments(&[
            "-y",
            "@x/server",
            "--token=opensesame1",
            "--api-key",
            "opensesame2",
            "-e",
            "MY_SECRET=opensesame3",
            "--header",
            "Authorization: Bearer opensesame4",
            "--port",
            "8080",
            "/home/me/project",
            "--verbose",
            "opensesame5",
        ]);
        assert_eq!(
            in_arguments(&given),
            ["opensesame1", "opensesame2", "opensesame3", "opensesame4"]
        );
        assert_eq!(in_named("X-Api-Key", "opensesame6"), ["opensesame6"]);
    }

    /// A server of others is read by a person before it runs: nothing that may be code is masked.
    #[test]
    fn code_is_no_secret_whatever_name_stands_before_it() {
        for code in [
            "API_TOKEN=$(touch /tmp/x); exec python3 srv.py",
            "API_TOKEN=x evilprogram",
            "API_TOKEN={touch,/tmp/x}",
            "API_TOKEN=${AWS_SECRET_ACCESS_KEY}",
            "API_TOKEN=opensesame;reboot",
            "sk-x;touch</tmp/abcdefghijklmnop",
            "x://a:$(reboot)@h",
        ] {
            let given = ["-c".to_owned(), code.to_owned()];
            assert_eq!(in_arguments(&given), [""; 0], "{code}");
        }
        let given = ["--token".to_owned(), "$(reboot)12345".to_owned()];
        assert_eq!(in_arguments(&given), [""; 0]);
    }
}
