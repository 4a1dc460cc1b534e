//! The HTTP client of all bots, and where the Bot API has one bot: an address that holds its token.
//! Must not know what is asked.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use secrecy::{ExposeSecret as _, SecretString};

use super::fault::ApiFault;
use super::settings::API;

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
    /// `base` is not at Telegram's own host, but on a Bot API server that the owner runs.
    has_own_server: bool,
}

impl Bot {
    /// # Errors
    /// `base` is no address, or no client can be built. Nothing is asked yet.
    pub fn new(token: &SecretString, base: &str) -> Result<Self, ApiFault> {
        let Ok(address) = reqwest::Url::parse(base) else {
            return Err(ApiFault::Refused(format!("`{base}` is no address")));
        };
        let has_own_server = address.host_str() != API.strip_prefix("https://");
        let client = client(base.starts_with("http://")).map_err(|error| {
            ApiFault::Refused(format!("no HTTPS client could be built: {error}"))
        })?;
        Ok(Self { client, token: token.clone(), base: base.to_owned(), has_own_server })
    }

    pub(super) fn has_own_server(&self) -> bool {
        self.has_own_server
    }

    /// A text that may hold the token, as it may be shown.
    pub(super) fn without_token(&self, text: &str) -> String {
        text.replace(self.token.expose_secret(), "BOT-TOKEN")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telegrams_own_host_is_no_server_of_ones_own() {
        let token = SecretString::from("1:a".to_owned());
        for (base, own) in [
            (API, false),
            ("https://api.telegram.org/", false),
            ("https://API.telegram.org:443", false),
            ("http://127.0.0.1:8081", true),
            ("https://api.telegram.org.example.org", true),
        ] {
            assert_eq!(Bot::new(&token, base).unwrap().has_own_server(), own, "{base}");
        }
        let bot = Bot::new(&token, API).unwrap();
        assert_eq!(bot.without_token("/x/1:a/y"), "/x/BOT-TOKEN/y");
    }
}
