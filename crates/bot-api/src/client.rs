//! The HTTP client of all bots, and where the Bot API has one bot: an address that holds its token.
//! Must not know what is asked.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use secrecy::{ExposeSecret as _, SecretString};

use super::fault::ApiFault;

/// The longest wait for a TCP and TLS connection.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// The longest wait for a whole answer, unless a request has a limit of its own.
const ANSWER_TIME: Duration = Duration::from_secs(17);

/// A bot at a server of the Bot API. Cheap to clone: the connections are shared.
#[derive(Clone)]
pub struct Bot {
    client: Client,
    token: SecretString,
    base: String,
}

impl Bot {
    /// # Errors
    /// `base` is no address, or no client can be built. Nothing is asked yet.
    pub fn new(token: &SecretString, base: &str) -> Result<Self, ApiFault> {
        if reqwest::Url::parse(base).is_err() {
            return Err(ApiFault::Refused(format!("`{base}` is no address")));
        }
        let client = client(base.starts_with("http://")).map_err(|error| {
            ApiFault::Refused(format!("no HTTPS client could be built: {error}"))
        })?;
        Ok(Self { client, token: token.clone(), base: base.to_owned() })
    }

    /// A request of a method (Bot API, "Making requests").
    pub(super) fn post(&self, method: &str) -> RequestBuilder {
        let token = self.token.expose_secret();
        self.client.post(format!("{}/bot{token}/{method}", self.base))
    }

    /// A request of a file (<https://core.telegram.org/bots/api#file>).
    pub(super) fn get_file(&self, path: &str) -> RequestBuilder {
        let token = self.token.expose_secret();
        self.client.get(format!("{}/file/bot{token}/{path}", self.base))
    }
}

/// The one client of all bots: each would load all certificates for itself. Plain HTTP needs none,
/// and has a client without them.
fn client(plain: bool) -> Result<Client, reqwest::Error> {
    static SECURE: OnceLock<Client> = OnceLock::new();
    static PLAIN: OnceLock<Client> = OnceLock::new();
    let made = if plain { &PLAIN } else { &SECURE };
    if let Some(client) = made.get() {
        return Ok(client.clone());
    }
    // An error means that the process has a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIME)
        .timeout(ANSWER_TIME)
        .tcp_nodelay(true);
    let builder = if plain { builder.tls_certs_only([]) } else { builder };
    let client = builder.build()?;
    Ok(made.get_or_init(|| client).clone())
}
