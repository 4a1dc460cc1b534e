//! Which variables of the environment hold secrets, by their names. Must not know how a secret is
//! kept out of text.

use super::env::Env;
use crate::domain::secret::{is_secret_name, password_in};

/// Names and values of all secrets in the environment: by the name's ending, and every URL that
/// carries a password (`DATABASE_URL=postgres://me:password@host/db`), of which the password counts
/// on its own, too.
pub fn secret_values(env: &Env) -> Vec<(String, String)> {
    let mut secrets = Vec::new();
    for (name, value) in env.iter().filter(|(_, value)| !value.trim().is_empty()) {
        if is_secret_name(name) {
            secrets.push((name.to_owned(), value.to_owned()));
        }
        secrets
            .extend(password_in(value).into_iter().map(|part| (name.to_owned(), part.to_owned())));
    }
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_a_secret_on_its_own() {
        let env: Env = [
            ("DATABASE_URL", "postgres://me:p4ss:w0rd@db/x"),
            ("PLAIN_URL", "https://host/a@b:c"),
            ("USER_URL", "https://me@host/"),
            ("A_TOKEN", "t0ken-value"),
            ("EMPTY_TOKEN", " "),
            ("https_proxy", "me:pr0xy-word@proxy.lan:3128"),
        ]
        .into_iter()
        .collect();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            secret_values(&env),
            [
                pair("A_TOKEN", "t0ken-value"),
                pair("DATABASE_URL", "p4ss:w0rd"),
                pair("DATABASE_URL", "postgres://me:p4ss:w0rd@db/x"),
                pair("https_proxy", "pr0xy-word"),
                pair("https_proxy", "me:pr0xy-word@proxy.lan:3128")
            ]
        );
    }
}
