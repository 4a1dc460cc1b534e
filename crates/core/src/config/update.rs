//! The `[update]` section of `claw.toml`: where it is told which version is the newest. Must not
//! know how that is asked.

use serde::Deserialize;

/// `[update]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UpdateSection {
    /// The whole address, `https://…`, or `http://` on this machine. Without it nobody is asked.
    pub url: Option<String>,
}

impl UpdateSection {
    /// # Errors
    /// What is wrong with the address, as a sentence. Its text is not repeated: it may hold a
    /// password.
    pub(super) fn check(&self) -> Result<(), String> {
        let Some(text) = &self.url else { return Ok(()) };
        let Ok(url) = reqwest::Url::parse(text) else {
            return Err("`update.url` is no address".to_owned());
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err("`update.url` must not hold a user name or password".to_owned());
        }
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let local = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        match url.scheme() {
            "https" => Ok(()),
            "http" if local => Ok(()),
            _ => Err("`update.url` must begin with https:// (http:// is for this machine alone)"
                .to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_that_nobody_can_change_on_the_way_is_taken() {
        let check = |url: &str| UpdateSection { url: Some(url.to_owned()) }.check();
        for good in [
            "https://example.org/x",
            "http://127.0.0.1:9/x",
            "http://[::1]:9/",
            "http://localhost/",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "http://example.org",
            "http://127.0.0.1@example.org/",
            "ftp://x",
            "x",
            "https://a:b@example.org/",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
