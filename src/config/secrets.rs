//! Which variables of the environment hold secrets, by their names. Must not know how a secret is kept out of text.

use super::env::Env;

/// A variable whose name ends like this (digits behind it not counted) holds a secret.
const ENDINGS: &[&str] =
    &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "_PAT"];

/// Names and values of all secrets in the environment: by the name's ending, and every URL that carries a password
/// (`DATABASE_URL=postgres://me:password@host/db`), of which the password counts on its own, too.
pub fn secret_values(env: &Env) -> Vec<(String, String)> {
    let mut secrets = Vec::new();
    for (name, value) in env.iter().filter(|(_, value)| !value.trim().is_empty()) {
        if is_secret_name(name) {
            secrets.push((name.to_owned(), value.to_owned()));
        }
        if let Some(password) = password_in_url(value) {
            secrets.push((name.to_owned(), password.to_owned()));
            secrets.push((name.to_owned(), value.to_owned()));
        }
    }
    secrets
}

pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The password of `scheme://user:password@host` (RFC 3986 section 3.2.1), if there is one.
fn password_in_url(value: &str) -> Option<&str> {
    let (scheme, rest) = value.split_once("://")?;
    let scheme_fits = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) && !scheme.is_empty();
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user_info, _) = authority.rsplit_once('@')?;
    let (_, password) = user_info.split_once(':')?;
    (scheme_fits && !password.is_empty()).then_some(password)
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
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in
            ["PATH", "HOME", "KEYBOARD", "TOKENIZERS_PARALLELISM", "KEY_FILE_DIR", "SECRETS_PATH", "COMPAT", "USER"]
        {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn a_password_in_a_url_is_a_secret_on_its_own() {
        let env: Env = [
            ("DATABASE_URL", "postgres://me:p4ss:w0rd@db/x"),
            ("PLAIN_URL", "https://host/a@b:c"),
            ("USER_URL", "https://me@host/"),
            ("A_TOKEN", "t0ken-value"),
            ("EMPTY_TOKEN", " "),
        ]
        .into_iter()
        .collect();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            secret_values(&env),
            [
                pair("A_TOKEN", "t0ken-value"),
                pair("DATABASE_URL", "p4ss:w0rd"),
                pair("DATABASE_URL", "postgres://me:p4ss:w0rd@db/x")
            ]
        );
    }
}
