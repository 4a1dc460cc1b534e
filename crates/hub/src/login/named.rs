//! The authorization servers that a server's metadata name (RFC 9728). The address of each has to
//! say whose it is, so that what is found there can be held to that. Must not know requests.

use reqwest::Url;
use serde_json::Value;

const WELL_KNOWN: &str = "/.well-known/";
/// The two whose address says whose metadata they are (RFC 8414; OpenID Connect Discovery).
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// The first that says nothing of whose it is, in metadata that lie at `at`: the SDK would take
/// from there whatever issuer calls itself so.
pub(super) fn nameless(at: &Url, metadata: &[u8]) -> Option<String> {
    let metadata: Value = serde_json::from_slice(metadata).ok()?;
    let one = metadata.get("authorization_server").into_iter();
    let several = metadata.get("authorization_servers").and_then(Value::as_array);
    let mut all = one.chain(several.into_iter().flatten()).filter_map(Value::as_str);
    let is_it = |named: &&str| at.join(named.trim()).is_ok_and(|url| is_nameless(url.path()));
    all.find(is_it).map(str::to_owned)
}

fn is_nameless(path: &str) -> bool {
    let is_of = |known: &str| {
        path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    path.contains(WELL_KNOWN) && !is_of(OAUTH) && !is_of(OPENID) && !path.ends_with(OPENID)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_address_that_says_nothing_of_its_issuer_is_found_however_it_is_written() {
        let at = Url::parse("https://mcp.example/meta/prm.json").unwrap();
        let found = |named: &str| {
            let lists = json!({"authorization_servers": ["https://login.example/a", named]});
            let single = json!({"authorization_server": named});
            let [lists, single] =
                [lists, single].map(|it| nameless(&at, it.to_string().as_bytes()).is_some());
            assert_eq!(lists, single, "{named}");
            lists
        };
        for named in [
            "https://login.example/.well-known/login",
            " https://login.example\\.well-known\\login",
            "https://login.example/.well-\tknown/login",
            "/.well-known/login",
            "https://login.example/.well-known/oauth-authorization-server-of-others",
            "https://login.example/a/.well-known/oauth-authorization-server",
            "https://login.example/.well-known/oauth-protected-resource/mcp",
        ] {
            assert!(found(named), "{named}");
        }
        for named in [
            "https://login.example",
            "https://login.example/tenant",
            "https://login.example/.well-known/oauth-authorization-server",
            "https://login.example/.well-known/oauth-authorization-server/tenant",
            "https://login.example/.well-known/openid-configuration/tenant",
            "https://login.example/tenant/.well-known/openid-configuration",
            "https://login.example/tenant?next=/.well-known/login",
        ] {
            assert!(!found(named), "{named}");
        }
        assert_eq!(nameless(&at, b"<html>/.well-known/login"), None);
    }
}
