//! What an owner names in a message for claw to fetch from a tool server: a resource by
//! `@server:uri`, or a prompt by a command. Owns how that is written in a message and in the log;
//! must not know which servers there are, or how anything is fetched.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One thing that was named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Named {
    Resource {
        server: String,
        uri: String,
    },
    Prompt {
        server: String,
        name: String,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        arguments: BTreeMap<String, String>,
    },
}

impl Named {
    pub fn server(&self) -> &str {
        match self {
            Self::Resource { server, .. } | Self::Prompt { server, .. } => server,
        }
    }
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedState {
    /// A model is given what its server has said.
    Given,
    /// It could not be had.
    Failed,
    /// The server has said that a resource which stands in the window is not that any more.
    Changed,
}

/// So many of one message are fetched.
pub const NAMED_MAX: usize = 8;

/// The resources that a text names, each once, in their order. Only what a person has typed may be
/// read so: what a text quotes from elsewhere names nothing.
///
/// `@name:rest` counts at the beginning of a word, if `rest` is not empty. Quotes, brackets and the
/// end of a sentence behind it are none of it.
pub fn named_in(typed: &str) -> Vec<Named> {
    let mut found = Vec::new();
    for word in typed.split_whitespace() {
        let word = word.trim_start_matches(['(', '[', '{', '"', '\'', '“', '‘', '<', '`']);
        let Some((server, uri)) = word.strip_prefix('@').and_then(|rest| rest.split_once(':'))
        else {
            continue;
        };
        let uri = without_the_end(uri);
        if server.is_empty() || !server.chars().all(of_name) || uri.is_empty() {
            continue;
        }
        let named = Named::Resource { server: server.to_owned(), uri: uri.to_owned() };
        if !found.contains(&named) {
            found.push(named);
        }
    }
    found
}

/// Whether something looks like a URI: a scheme and a colon (RFC 3986, section 3.1).
pub fn is_like_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(of_scheme)
        && !rest.is_empty()
}

fn of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// A URI may end with a bracket that it has opened itself.
fn without_the_end(mut uri: &str) -> &str {
    loop {
        let Some(last) = uri.chars().last() else { return uri };
        let opened_by = match last {
            ')' => Some('('),
            ']' => Some('['),
            '}' => Some('{'),
            _ => None,
        };
        let is_end = match opened_by {
            Some(open) => uri.matches(open).count() < uri.matches(last).count(),
            None => ".,;!?'\"”’>`".contains(last),
        };
        if !is_end {
            return uri;
        }
        uri = uri.get(..uri.len() - last.len_utf8()).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uris(text: &str) -> Vec<String> {
        let told = |named: Named| match named {
            Named::Resource { server, uri } => format!("{server} {uri}"),
            Named::Prompt { .. } => panic!("a text names no prompt"),
        };
        named_in(text).into_iter().map(told).collect()
    }

    #[test]
    fn a_resource_is_named_at_the_beginning_of_a_word() {
        assert_eq!(
            uris("see @docs:file:///a/b.md, and (@git:repo://x/HEAD)!"),
            ["docs file:///a/b.md", "git repo://x/HEAD"]
        );
        assert_eq!(uris("@a.b-c_1:x://y(z) and @a.b-c_1:x://y(z)."), ["a.b-c_1 x://y(z)"]);
        assert_eq!(uris("“@docs:demo://1?a=b&c=d”"), ["docs demo://1?a=b&c=d"]);
        for none in ["me@host:8080", "@docs: hello", "@docs", "@:x", "a @b/c:d://e", "@d:."] {
            assert_eq!(uris(none), Vec::<String>::new(), "{none}");
        }
    }

    #[test]
    fn a_uri_has_a_scheme() {
        assert!(is_like_uri("file:///x") && is_like_uri("a+b:c"));
        assert!(!is_like_uri("readme") && !is_like_uri(":x") && !is_like_uri("1a:x"));
    }
}
