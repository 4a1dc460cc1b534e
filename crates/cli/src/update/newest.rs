//! Asks one address for the newest version, and reads the forms in which that is told. Sends
//! nothing but the request. Must not know which version this is.

use std::time::Duration;

use futures::StreamExt as _;
use semver::Version;
use serde_json::Value;

/// The longest wait for the whole answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest answer, in bytes. A crate with a thousand versions has about 500 KB in the index.
const ANSWER_BYTES_MAX: usize = 2 << 20;

/// # Errors
/// Why it is not known, without a full stop.
pub async fn ask(url: &str) -> Result<Version, String> {
    let body = fetch(url).await?;
    read(&body).ok_or_else(|| "the answer names no version in a form that claw knows".to_owned())
}

async fn fetch(url: &str) -> Result<String, String> {
    // An error means that the process has a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Where it would be led to is not where the owner wanted to ask. Registries want to be told who
    // asks.
    let builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(ANSWER_TIMEOUT)
        .user_agent(concat!("claw/", env!("CARGO_PKG_VERSION")));
    // Plain HTTP is on this machine alone (`config/update.rs`), which no proxy can reach.
    let builder =
        if url.starts_with("http://") { builder.no_proxy().tls_certs_only([]) } else { builder };
    let said = |error: reqwest::Error| root_cause(&error.without_url());
    let answer = builder.build().map_err(said)?.get(url).send().await.map_err(said)?;
    let status = answer.status();
    if status.is_redirection() {
        return Err(format!(
            "it leads elsewhere (status {}); set the address that it leads to",
            status.as_u16()
        ));
    }
    if !status.is_success() {
        return Err(format!("status {}", status.as_u16()));
    }
    let mut body = Vec::new();
    let mut stream = answer.bytes_stream();
    while let Some(piece) = stream.next().await {
        body.extend_from_slice(&piece.map_err(said)?);
        if body.len() > ANSWER_BYTES_MAX {
            return Err(format!("the answer has more than {ANSWER_BYTES_MAX} bytes"));
        }
    }
    String::from_utf8(body).map_err(|_| "the answer is no text".to_owned())
}

fn root_cause(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// The three forms: a release of GitHub's API (`tag_name`), a crate of crates.io's API
/// (`crate.max_stable_version`), and a file of a sparse index of cargo (a line of JSON a version,
/// `vers` and `yanked`). Versions before a release do not count.
fn read(body: &str) -> Option<Version> {
    if let Ok(one) = serde_json::from_str::<Value>(body)
        && one.get("vers").is_none()
    {
        let is_draft =
            ["draft", "prerelease"].iter().any(|key| one.get(key) == Some(&Value::Bool(true)));
        let named = one.get("tag_name").or_else(|| one.pointer("/crate/max_stable_version"))?;
        return version(named).filter(|_| !is_draft);
    }
    let lines = body.lines().filter(|line| !line.trim().is_empty());
    let rows = lines.map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>().ok()?;
    let standing = rows.iter().filter(|row| row.get("yanked") != Some(&Value::Bool(true)));
    standing.filter_map(|row| version(row.get("vers")?)).max_by(Version::cmp_precedence)
}

fn version(named: &Value) -> Option<Version> {
    let text = named.as_str()?;
    let version = Version::parse(text.strip_prefix('v').unwrap_or(text)).ok()?;
    version.pre.is_empty().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_an_answer() {
        let is = |body: &str| read(body).map(|version| version.to_string());
        assert_eq!(is(r#"{"tag_name": "v1.2.3", "draft": false}"#).as_deref(), Some("1.2.3"));
        assert_eq!(is(r#"{"crate": {"max_stable_version": "0.10.0"}}"#).as_deref(), Some("0.10.0"));
        let index = "{\"vers\":\"0.9.0\",\"yanked\":false}\n{\"vers\":\"0.10.0\",\"yanked\":false}\n\
                     {\"vers\":\"0.11.0\",\"yanked\":true}\n{\"vers\":\"1.0.0-rc.1\",\"yanked\":false}\n";
        assert_eq!(is(index).as_deref(), Some("0.10.0"));
        assert_eq!(is("{\"vers\":\"0.9.0\"}").as_deref(), Some("0.9.0"));
        for none in
            ["", "[]", "null", "<html>", r#"{"tag_name": "latest"}"#, r#"{"tag_name": 3}"#, "{}\nx"]
        {
            assert_eq!(is(none), None, "{none}");
        }
        assert_eq!(is(r#"{"tag_name": "v2.0.0", "prerelease": true}"#), None);
    }
}
