//! Logins to servers over HTTP: OAuth 2.1 with PKCE as MCP wants it, by `rmcp`, which finds the
//! authorization server (RFC 9728, RFC 8414), registers claw there, binds each token to the server
//! (RFC 8707) and checks who has answered (RFC 9207). Owns where its requests may go, and where the
//! tokens lie. Must not know browsers or terminals.

mod address;
mod bearer;
mod client;
mod file;
mod flow;
mod kept;
mod named;
mod pasted;
mod pending;
mod revoke;
mod strength;
mod under_way;
mod words;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::transport::auth::{
    AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
};

use crate::Hub;
use crate::manifest::{HttpLaunch, Launch};
use crate::settings::HubSettings;
use crate::transport::http::address::Destination;
pub(crate) use bearer::Bearer;
use client::Client;
pub use flow::{Earlier, LoginRequest};
use kept::Shelf;
pub use kept::secrets_in;
pub use pasted::{Finished, answer_in, is_answer_alone};
pub use revoke::{LoggedOut, Revoked};
pub use under_way::LoginUnderWay;

/// The port of the loopback interface to which a browser comes back, where nothing else is said. A
/// login that allows exact addresses alone can be told of it.
pub const PORT: u16 = 8765;

/// Why there is no login. Each says the next step.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error("mcp.json has no server `{0}`")]
    UnknownServer(String),
    #[error("{0}")]
    NoLogin(String),
    /// What came back is not from the login that claw began.
    #[error(
        "this is not the answer to this login: its `state` is another one, so that somebody else \
         may have begun it; open the link above, and paste the address to which it leads"
    )]
    OtherState,
    /// Its answer came too late, or another claw was quicker.
    #[error(
        "this login is over: it took too long, it was finished elsewhere, or another one was begun \
         since; log in again"
    )]
    Over,
    /// What came back is from no login that claw has begun and that still counts.
    #[error(
        "the address answers no login that claw is waiting for: that login is over, or somebody \
         else has begun it; nothing was sent anywhere"
    )]
    NoSuchLogin,
    /// A program or a person has sent it in pieces.
    #[error(
        "this is only a part of the address, and nothing was sent anywhere; the link still counts: \
         send the whole address in one message"
    )]
    Part,
    #[error("the login was interrupted after its code was sent, and a code is sent once")]
    Interrupted,
    #[error("the login was refused: {0}")]
    Refused(String),
    #[error("{0}")]
    Broken(String),
}

impl claw_domain::Blamed for LoginError {
    fn blame(&self) -> claw_domain::Blame {
        match self {
            Self::UnknownServer(_)
            | Self::NoLogin(_)
            | Self::OtherState
            | Self::Part
            | Self::Over
            | Self::NoSuchLogin => claw_domain::Blame::User,
            Self::Refused(_) | Self::Broken(_) | Self::Interrupted => claw_domain::Blame::Broken,
        }
    }
}

/// A server to which a login belongs.
#[derive(Clone)]
pub(super) struct LoginPlace {
    server: String,
    /// The first words of a command.
    claw: String,
    entry: Destination,
    shelf: Shelf,
    client: Client,
    /// Of a document at an address of the owner's, where there is one. It is claw's
    /// client id there.
    client_metadata_url: Option<String>,
    /// How long a login may take.
    time: Duration,
}

impl LoginPlace {
    fn new(server: &str, launch: &HttpLaunch, settings: &HubSettings) -> Result<Self, String> {
        let folder = settings.logins.as_ref().ok_or("no logins are kept here")?;
        let entry = Destination::new(&launch.url, &launch.private_hosts)?;
        let shelf = Shelf::new(folder, server, entry.url.as_str(), settings.secrets.clone());
        let client = Client {
            entry: entry.clone(),
            private_hosts: launch.private_hosts.clone(),
            times: settings.times,
            lookup: settings.lookup.clone(),
        };
        let time = settings.login_time;
        let client_metadata_url = launch.client_metadata_url.clone();
        let (server, claw) = (server.to_owned(), settings.claw.clone());
        Ok(Self { server, claw, entry, shelf, client, client_metadata_url, time })
    }

    /// The command that logs in.
    fn command(&self) -> String {
        format!("{} mcp login {}", self.claw, self.server)
    }

    /// What the server says to a request without a token (RFC 9728, 5.1). The request has no
    /// effect, whoever answers it.
    async fn challenge(&self) -> Result<Option<String>, LoginError> {
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
        let answer = self.client.post(self.entry.url.as_str(), list).await;
        let answer = answer.map_err(|error| LoginError::Broken(error.to_string()))?;
        let is_refused = answer.status() == http::StatusCode::UNAUTHORIZED;
        let challenges = answer.headers().get_all(http::header::WWW_AUTHENTICATE);
        let mut texts = challenges.iter().filter_map(|value| value.to_str().ok());
        let bearer = texts.find(|text| text.trim().to_ascii_lowercase().starts_with("bearer"));
        Ok(bearer.filter(|_| is_refused).map(str::to_owned))
    }

    /// Whom the server trusts now. `None`: it does not say, and the SDK's guess, which is the
    /// server itself, is nobody that it has named.
    async fn trusted(
        &self,
        manager: &AuthorizationManager,
    ) -> Result<Option<AuthorizationMetadata>, LoginError> {
        // Some servers say how to log in only to those who ask for something.
        let challenge = self.challenge().await?;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await;
        let found = found.map_err(|error| LoginError::Broken(words::of_error(&error)))?;
        let is_guessed = found.source == AuthorizationMetadataSource::LegacyEndpointFallback;
        Ok((!is_guessed).then_some(found.metadata))
    }

    async fn manager(&self) -> Result<AuthorizationManager, LoginError> {
        let client = Arc::new(self.client.clone());
        AuthorizationManager::new_with_oauth_http_client(self.entry.url.clone(), client)
            .await
            .map_err(|error| LoginError::Broken(words::of_error(&error)))
    }
}

/// What goes with the requests of a connection; `None` where the entry has a token of its own.
pub(super) fn bearer(
    server: &str,
    launch: &HttpLaunch,
    settings: &HubSettings,
) -> Option<Arc<Bearer>> {
    if has_token(launch) {
        return None;
    }
    let place = LoginPlace::new(server, launch, settings).ok()?;
    Some(Arc::new(Bearer { place, refused: Mutex::default() }))
}

fn has_token(launch: &HttpLaunch) -> bool {
    launch.headers.keys().any(|name| name.trim().eq_ignore_ascii_case("authorization"))
}

impl Hub {
    /// Begins a login to a server over HTTP: asks who it trusts, and registers claw there. The
    /// browser is to come back to `redirect`, an address of this machine.
    ///
    /// # Errors
    /// A server that has no login, or whose metadata lead where claw does not go.
    pub async fn begin_login(
        &self,
        server: &str,
        redirect: &str,
        request: &LoginRequest,
    ) -> Result<LoginUnderWay, LoginError> {
        flow::begin(self.login_place(server)?, redirect, request).await
    }

    /// The login to a server that a claw before this one has begun, if it still counts.
    ///
    /// # Errors
    /// A server that has no login, or trusts another one by now.
    pub async fn earlier_login(&self, server: &str) -> Result<Earlier, LoginError> {
        flow::resume(self.login_place(server)?).await
    }

    /// Forgets the login to a server, after its authorization server was told that the tokens are
    /// no longer used. They are forgotten also where it cannot be told, and so is a login that is
    /// under way.
    ///
    /// # Errors
    /// An unknown server, or a file that cannot be removed.
    pub async fn log_out(&self, server: &str) -> Result<LoggedOut, LoginError> {
        let place = self.login_place(server)?;
        place.shelf.pending(place.time).remove().map_err(LoginError::Broken)?;
        place.forget_answer();
        // A file that cannot be read holds nothing to tell, and is removed all the same.
        let revoked = match place.shelf.read() {
            Ok(Some(_)) => {
                // Nobody renews in between: a new token would stay alive.
                let _lock = place.shelf.lock().await.map_err(LoginError::Broken)?;
                let revoked = match place.shelf.read().map_err(LoginError::Broken)? {
                    Some(kept) => revoke::revoke(&place, &kept).await,
                    None => Revoked::NotOffered,
                };
                let was_there = place.shelf.remove().map_err(LoginError::Broken)?;
                return Ok(LoggedOut { was_there, revoked });
            }
            Ok(None) => Revoked::NotOffered,
            Err(why) => Revoked::No(why),
        };
        let was_there = place.shelf.remove().map_err(LoginError::Broken)?;
        Ok(LoggedOut { was_there, revoked })
    }

    /// Whether there is a login to a server, for the URL of its entry.
    pub fn is_logged_in(&self, server: &str) -> bool {
        self.login_place(server).is_ok_and(|place| place.shelf.is_there())
    }

    fn login_place(&self, server: &str) -> Result<LoginPlace, LoginError> {
        let found = self.get(server).ok_or_else(|| LoginError::UnknownServer(server.to_owned()))?;
        match &found.entry.launch {
            Launch::Http(launch) if has_token(launch) => Err(LoginError::NoLogin(format!(
                "the entry `{server}` has a header `Authorization` of its own, which is sent \
                 instead of a login: take it out first"
            ))),
            Launch::Http(launch) => LoginPlace::new(server, launch, &self.settings)
                .map_err(|why| LoginError::NoLogin(format!("the server `{server}`: {why}"))),
            Launch::Stdio(_) => Err(LoginError::NoLogin(format!(
                "the server `{server}` is started here, and claw logs in to servers at a URL \
                 alone: give it what it needs in `env`"
            ))),
            Launch::Unusable { reason } => {
                Err(LoginError::NoLogin(format!("the server `{server}` cannot be used: {reason}")))
            }
        }
    }
}
