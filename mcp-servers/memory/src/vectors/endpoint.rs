//! An embeddings endpoint: texts go out, vectors come back. Owns HTTP, the key, and the sentence
//! for what goes wrong; must not know notes.
//!
//! Whoever asks blocks; the requests run on a thread of their own, because a caller may stand in a
//! runtime or in none.

use std::sync::mpsc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue, RETRY_AFTER};
use reqwest::{Client, StatusCode, Url};
use tokio::sync::mpsc as jobs;

use super::args::{EmbeddingsArgs, Form};
use super::fault::Fault;
use super::wire;

const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// How long after its time a request is given up by the one who waits.
const GRACE: Duration = Duration::from_millis(200);

/// Requests that wait for the thread.
const JOBS_MAX: usize = 16;

struct Job {
    texts: Vec<String>,
    time: Duration,
    reply: mpsc::SyncSender<Result<Vec<Vec<f32>>, Fault>>,
}

/// Lives as long as the server; its thread ends with it.
pub struct Endpoint {
    jobs: jobs::Sender<Job>,
    /// Where the texts go, without what could be secret in it.
    pub shown: String,
}

/// What the thread holds.
struct Wire {
    client: Client,
    url: Url,
    key: Option<HeaderValue>,
    form: Form,
    model: String,
    shown: String,
    answer_bytes_max: u64,
    /// What its reader sets, to have more.
    answer_bytes_option: String,
}

impl Endpoint {
    /// Reads the key from the environment, unless it is given; asks nothing yet.
    ///
    /// # Errors
    /// One sentence: the address cannot be used.
    pub fn new(args: &EmbeddingsArgs, base: &str, model: &str) -> Result<Self, String> {
        let url = address(base, args)?;
        let shown = shown(&url);
        let given = args.embeddings_key.as_ref().map(|key| key.0.clone());
        let key = match given.or_else(|| std::env::var(&args.embeddings_key_env).ok()) {
            Some(key) if !key.trim().is_empty() => {
                let mut value =
                    HeaderValue::from_str(&format!("Bearer {}", key.trim())).map_err(|_| {
                        format!(
                            "the key in {} cannot be sent: it has characters that no key has",
                            args.embeddings_key_env
                        )
                    })?;
                value.set_sensitive(true);
                Some(value)
            }
            _ => None,
        };
        let client = client(&url).map_err(|error| {
            format!("no connection can be prepared to {shown}: {}", error.without_url())
        })?;
        let wire = Wire {
            client,
            url,
            key,
            form: args.embeddings_form,
            model: model.to_owned(),
            shown: shown.clone(),
            answer_bytes_max: args.embeddings_answer_bytes_max,
            answer_bytes_option: args.named("answer-bytes-max"),
        };
        let (sender, receiver) = jobs::channel(JOBS_MAX);
        std::thread::Builder::new()
            .name("embeddings".to_owned())
            .spawn(move || serve(wire, receiver))
            .map_err(|error| format!("no thread for {shown}: {error}"))?;
        Ok(Self { jobs: sender, shown })
    }

    /// The vectors of some texts, in their order, each of length 1.
    ///
    /// # Errors
    /// There are none within `time`.
    pub fn embed(&self, texts: Vec<String>, time: Duration) -> Result<Vec<Vec<f32>>, Fault> {
        let (reply, answer) = mpsc::sync_channel(1);
        let too_late =
            || Fault::of(format!("{} has not answered within {} ms", self.shown, time.as_millis()));
        self.jobs.try_send(Job { texts, time, reply }).map_err(|_| too_late())?;
        answer.recv_timeout(time + GRACE).unwrap_or_else(|_| Err(too_late()))
    }
}

fn serve(wire: Wire, mut receiver: jobs::Receiver<Job>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // Without a runtime every caller waits its time and hears that nobody has answered.
    let Ok(runtime) = runtime else { return };
    let wire = std::sync::Arc::new(wire);
    runtime.block_on(async {
        while let Some(job) = receiver.recv().await {
            let wire = std::sync::Arc::clone(&wire);
            // A query does not wait behind a batch of notes.
            tokio::spawn(async move {
                let asked = tokio::time::timeout(job.time, wire.ask(&job.texts)).await;
                let done = asked.unwrap_or_else(|_| {
                    let ms = job.time.as_millis();
                    Err(Fault::of(format!("{} has not answered within {ms} ms", wire.shown)))
                });
                // Whoever waited may have given up.
                let _ = job.reply.send(done);
            });
        }
    });
}

impl Wire {
    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Fault> {
        let away = |error: reqwest::Error| {
            Fault::of(format!(
                "{} cannot be reached: {}",
                self.shown,
                innermost(&error.without_url())
            ))
        };
        let mut request =
            self.client.post(self.url.clone()).json(&self.form.request(&self.model, texts));
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.clone());
        }
        let mut response = request.send().await.map_err(away)?;
        let status = response.status();
        let retry_after = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(away)? {
            if (body.len() + chunk.len()) as u64 > self.answer_bytes_max {
                return Err(Fault::of(format!(
                    "the answer of {} is larger than {} bytes ({})",
                    self.shown, self.answer_bytes_max, self.answer_bytes_option
                )));
            }
            body.extend_from_slice(&chunk);
        }
        if status != StatusCode::OK {
            let is_of_input = matches!(status.as_u16(), 400 | 413 | 422);
            return Err(Fault { sentence: self.refusal(status, &body), retry_after, is_of_input });
        }
        self.form.vectors(&body, texts.len()).map_err(|wrong| {
            Fault::of(format!("{} gives no vectors: its answer {wrong}", self.shown))
        })
    }

    fn refusal(&self, status: StatusCode, body: &[u8]) -> String {
        let shown = &self.shown;
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => format!(
                "{shown} refuses the key ({})",
                if self.key.is_some() { status.as_str() } else { "none is set" }
            ),
            StatusCode::TOO_MANY_REQUESTS => format!("{shown} has had too many requests (429)"),
            _ if status.is_redirection() => format!(
                "{shown} points to another address ({}), which is not followed: the notes go only where the configuration says",
                status.as_str()
            ),
            // What an endpoint says may repeat what it was sent, except about the model's name.
            StatusCode::NOT_FOUND => {
                let why = wire::reason(body).map(|why| format!(": {why}")).unwrap_or_default();
                format!("{shown} does not know `{}` (404){why}", self.model)
            }
            _ => format!("{shown} answers with {}", status.as_str()),
        }
    }
}

/// What the system says, which is more telling than the layers around it.
fn innermost(error: &reqwest::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

fn address(base: &str, args: &EmbeddingsArgs) -> Result<Url, String> {
    let option = args.named("url");
    let no_url = |_| format!("{option} is no address; write it as https://HOST/v1");
    let url = Url::parse(base).map_err(no_url)?;
    match url.scheme() {
        "https" => {}
        "http" if args.embeddings_allow_http || is_loopback(&url) => {}
        "http" => {
            return Err(format!(
                "{option} is http:// to another machine, `{}`, so anybody on the way could read the notes. Use https://, or allow it with {}.",
                url.host_str().unwrap_or_default(),
                args.set_to("allow-http", "true")
            ));
        }
        other => return Err(format!("{option} must be http or https, not {other}")),
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(format!(
            "{option} holds a name, a password or a query; put a key into the environment"
        ));
    }
    let path = format!("{}/{}", url.path().trim_end_matches('/'), args.embeddings_form.path());
    let mut url = url;
    url.set_path(&path);
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host_str().unwrap_or_default())
}

fn client(url: &Url) -> reqwest::Result<Client> {
    // An error means that the process has a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIME_MAX)
        .user_agent(concat!("claw-mcp-memory/", env!("CARGO_PKG_VERSION")));
    // A proxy's own loopback is another machine's.
    let builder = if is_loopback(url) { builder.no_proxy() } else { builder };
    // To load the system's certificates takes longer than all else.
    let builder = if url.scheme() == "http" { builder.tls_certs_only([]) } else { builder };
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_go_in_the_clear_only_to_this_machine() {
        for (base, allow, expected) in [
            ("http://127.0.0.1:1/v1/", false, Ok("http://127.0.0.1:1/v1/embeddings")),
            ("http://[::1]:1", false, Ok("http://[::1]:1/embeddings")),
            ("https://api.openai.com/v1", false, Ok("https://api.openai.com/v1/embeddings")),
            ("http://10.0.0.1/v1", true, Ok("http://10.0.0.1/v1/embeddings")),
            ("http://10.0.0.1/v1", false, Err("another machine")),
            ("http://localhost.example.org/v1", false, Err("another machine")),
            ("https://me:pw@example.org/v1", false, Err("password")),
            ("ftp://example.org", false, Err("not ftp")),
            ("example", false, Err("no address")),
        ] {
            let args = EmbeddingsArgs { embeddings_allow_http: allow, ..EmbeddingsArgs::default() };
            match (address(base, &args), expected) {
                (Ok(url), Ok(wanted)) => assert_eq!(url.as_str(), wanted),
                (Err(error), Err(part)) => {
                    assert!(error.contains(part) && !error.contains("pw"), "{error}");
                }
                (got, _) => panic!("{base}: {got:?}"),
            }
        }
    }

    #[test]
    fn a_message_names_what_its_reader_sets() {
        let mut args = EmbeddingsArgs::default();
        let alone = address("http://10.0.0.1/v1", &args).unwrap_err();
        assert!(alone.starts_with("--embeddings-url is http://"), "{alone}");
        assert!(alone.ends_with("allow it with --embeddings-allow-http."), "{alone}");
        args.embeddings_in_claw_toml = true;
        let in_claw = address("http://10.0.0.1/v1", &args).unwrap_err();
        assert!(!in_claw.contains("--embeddings"), "{in_claw}");
        assert!(
            in_claw.contains("`allow_http = true` in `[memory.embeddings]` of claw.toml"),
            "{in_claw}"
        );
        assert!(args.named("answer-bytes-max").contains("mcp.json"));
    }
}
