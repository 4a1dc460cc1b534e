//! Looks for model servers on this machine. Owns how an Ollama and a llama.cpp server are
//! recognised, and that looking is quick. Asks loopback addresses only, unless a person named
//! another one.

use std::time::Duration;

use futures::StreamExt as _;
use serde_json::Value;

use crate::model::genai::plain_client;

pub(super) const OLLAMA: &str = "http://127.0.0.1:11434/";
pub(super) const LLAMA_CPP: &str = "http://127.0.0.1:8080/";

const CONNECT: Duration = Duration::from_millis(150);
const WHOLE: Duration = Duration::from_millis(800);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The name of the first model of an Ollama at `base`; `Some(None)` if it is one and has no models.
pub(super) async fn ollama(base: &str) -> Option<Option<String>> {
    let answer = get(base, "api/tags").await?;
    let models = answer.get("models")?.as_array()?;
    let name = models.first().and_then(|first| first.get("name").or_else(|| first.get("model")));
    Some(name.and_then(Value::as_str).map(str::to_owned))
}

/// The name of the model of a llama.cpp server at `base`. Port 8080 is popular: what does not say
/// that it is one is none.
pub(super) async fn llama_cpp(base: &str) -> Option<String> {
    let models = get(base, "v1/models").await?;
    let first = models.pointer("/data/0")?;
    let says_so = first.get("owned_by").and_then(Value::as_str) == Some("llamacpp");
    if !says_so {
        get(base, "props").await?.get("default_generation_settings")?;
    }
    Some(first.get("id")?.as_str()?.to_owned())
}

/// Why no connection to `base` comes about. `None`: there is one, whatever it says.
pub(super) async fn why_not_reached(base: &str) -> Option<String> {
    let client = plain_client(CONNECT, WHOLE).ok()?;
    let error = client.get(base).send().await.err().filter(reqwest::Error::is_connect)?;
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let why = cause.to_string();
    // Without the number that the system gives it.
    Some(why.split(" (os error").next().unwrap_or(&why).to_lowercase())
}

/// `None` for everything that is not a small JSON document in time.
async fn get(base: &str, path: &str) -> Option<Value> {
    let client = plain_client(CONNECT, WHOLE).ok()?;
    let response = client.get(format!("{base}{path}")).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(piece) = stream.next().await {
        body.extend_from_slice(&piece.ok()?);
        if body.len() > ANSWER_BYTES_MAX {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}

/// `OLLAMA_HOST` as Ollama itself reads it: with or without scheme and port; an address to listen
/// on everywhere means here.
pub(super) fn ollama_host(text: &str) -> Option<String> {
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let with_host = with_scheme.replacen("://:", "://127.0.0.1:", 1);
    let mut url = reqwest::Url::parse(&with_host).ok()?;
    if matches!(url.host_str(), Some("0.0.0.0" | "[::]")) {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    let authority = with_host.split("://").nth(1)?.split('/').next()?;
    let names_port =
        authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if !names_port && url.scheme() == "http" {
        url.set_port(Some(11434)).ok()?;
    }
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_host_as_people_set_it() {
        for (text, url) in [
            ("127.0.0.1", "http://127.0.0.1:11434/"),
            ("127.0.0.1:9", "http://127.0.0.1:9/"),
            ("0.0.0.0", "http://127.0.0.1:11434/"),
            ("0.0.0.0:80", "http://127.0.0.1/"),
            (":1234", "http://127.0.0.1:1234/"),
            ("localhost", "http://localhost:11434/"),
            ("[::1]:5", "http://[::1]:5/"),
            ("http://box.lan:11434", "http://box.lan:11434/"),
            ("https://box.lan", "https://box.lan/"),
        ] {
            assert_eq!(ollama_host(text).as_deref(), Some(url), "{text}");
        }
        assert_eq!(ollama_host("http://"), None);
    }
}
