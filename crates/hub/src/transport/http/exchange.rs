//! One request over HTTP with its answer. Owns which answers are refusals, and what is never sent
//! twice. Must not know who waits.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Body, Response, StatusCode, Url};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::body::{Held, OneMessage, Queued};
use super::session::SESSION;
use super::words::{self, Refusal};
use super::{INITIALIZED, Shared};
use crate::transport::{Received, Ticket};

const INITIALIZE: &str = "initialize";
const DISCOVER: &str = "server/discover";
const PING: &str = "ping";
/// Its answer is a stream without an end.
const LISTEN: &str = "subscriptions/listen";
const CALL: &str = "tools/call";
/// Its answer comes when a task of 2025-11-25 has its end.
const RESULT: &str = "tasks/result";

pub(super) const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const REDIRECTS_MAX: usize = 3;
/// Of an answer that is a refusal.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;

/// A message before it is sent.
pub(super) struct Post {
    pub(super) headers: HeaderMap,
    pub(super) bytes: Bytes,
    pub(super) method: String,
    pub(super) ticket: Option<Arc<Ticket>>,
    pub(super) queued: Option<Queued>,
    /// The login's token that was sent with it last.
    pub(super) login: Option<HeaderValue>,
}

/// Why a request has no answer.
pub(super) enum Failure {
    /// Its caller has given up before it was sent.
    GivenUp,
    /// Nothing of it was sent.
    Unreachable(String),
    Broken(String),
    TooLong,
    /// The server has said no.
    Refused(String),
    /// The server does not know the session.
    Forgotten(String),
}

impl Failure {
    pub(super) fn in_words(self) -> String {
        match self {
            Self::GivenUp => "it was given up".to_owned(),
            Self::TooLong => "its answer is too long".to_owned(),
            Self::Unreachable(why)
            | Self::Broken(why)
            | Self::Refused(why)
            | Self::Forgotten(why) => why,
        }
    }
}

impl Shared {
    /// Sends a request and hands over what comes back, in order, to its answer.
    pub(super) async fn ask(
        &self,
        id: i64,
        post: &mut Post,
        taken: &CancellationToken,
    ) -> Result<(), Failure> {
        let is_endless = post.method == LISTEN;
        let _slot = if is_endless { None } else { self.slots.acquire().await.ok() };
        if post.ticket.as_ref().is_some_and(|ticket| ticket.is_revoked()) {
            return Err(Failure::GivenUp);
        }
        let is_long = [CALL, RESULT].contains(&post.method.as_str());
        let limit = if is_long { self.times.call } else { self.times.request };
        let talk = async {
            let response = self.post(post, taken).await?;
            self.read_answer(id, post, response).await
        };
        if is_endless {
            return talk.await;
        }
        timeout(limit, talk).await.unwrap_or_else(|_| {
            Err(Failure::Broken(format!("it did not answer within {} s", limit.as_secs_f32())))
        })
    }

    /// Hands over that there is no answer, and ends the connection where it is of no use any more.
    pub(super) async fn asked(&self, id: i64, method: &str, asked: Result<(), Failure>) {
        self.under_way().remove(&id);
        let Err(failure) = asked else { return };
        let is_first = matches!(method, INITIALIZE | DISCOVER | PING);
        let failed = |reason: &str| Received::Failed { answers: id, reason: reason.to_owned() };
        let refused = |reason: &str| Received::Refused { answers: id, reason: reason.to_owned() };
        let ends = match &failure {
            Failure::GivenUp => return,
            Failure::TooLong => {
                return self.deliver(Received::TooLong { answers: Some(id) }).await;
            }
            Failure::Refused(why) => {
                self.deliver(refused(why)).await;
                return;
            }
            Failure::Forgotten(why) => {
                self.session().forget();
                self.deliver(refused(why)).await;
                true
            }
            Failure::Unreachable(why) => {
                self.deliver(failed(why)).await;
                self.under_way().is_empty()
            }
            Failure::Broken(why) => {
                self.deliver(failed(why)).await;
                is_first && self.under_way().is_empty()
            }
        };
        if ends {
            self.end(failure.in_words());
        }
    }

    /// Sends what has no answer.
    pub(super) async fn tell(&self, post: &mut Post) -> Result<(), Failure> {
        let limit =
            if post.method == INITIALIZED { self.times.request } else { self.times.control };
        let tell = async {
            let response = self.post(post, &CancellationToken::new()).await?;
            if response.status().is_success() {
                self.session().note_answer();
                return Ok(());
            }
            Err(self.refusal(post, response).await)
        };
        let told = timeout(limit, tell).await.unwrap_or_else(|_| {
            Err(Failure::Broken(format!("it did not answer within {} s", limit.as_secs_f32())))
        });
        if let Err(Failure::Forgotten(why)) = &told {
            self.session().forget();
            self.end(why.clone());
        }
        told
    }

    /// A request for the head of an answer. A redirect is followed to the same server alone, and
    /// never with a call.
    async fn post(&self, post: &mut Post, taken: &CancellationToken) -> Result<Response, Failure> {
        let mut renewed = false;
        for _ in 0..=REDIRECTS_MAX {
            let body = OneMessage {
                bytes: Some(post.bytes.clone()),
                ticket: post.ticket.clone(),
                taken: taken.clone(),
                queued: post.queued.take(),
            };
            let url = self.session().url.clone();
            let client = if post.method == CALL { &self.calls } else { &self.client };
            let login = self.login().await?;
            post.login.clone_from(&login);
            let request = client
                .post(url)
                .headers(self.headers.clone())
                .headers(login_header(login.as_ref()))
                .headers(post.headers.clone())
                .header(ACCEPT, BOTH)
                .header(CONTENT_TYPE, JSON)
                .body(Body::wrap(body));
            let response = request.send().await.map_err(|error| {
                let why = words::of_error(&error, &self.destination);
                match &post.ticket {
                    Some(ticket) if ticket.is_revoked() => Failure::GivenUp,
                    _ if taken.is_cancelled() => Failure::Broken(why),
                    _ => Failure::Unreachable(why),
                }
            })?;
            self.session().note_reached();
            // Nothing was done, so that all but a call may be sent again, with a new token.
            if response.status() == StatusCode::UNAUTHORIZED
                && let (Some(bearer), Some(login)) = (&self.bearer, login)
            {
                bearer.refuse(login);
                if !renewed && post.method != CALL {
                    renewed = true;
                    continue;
                }
            }
            match self.led_on(&response).filter(|_| post.method != CALL) {
                Some(url) => self.session().url = url,
                None => return Ok(response),
            }
        }
        Err(Failure::Refused("it sends claw in circles: check the `url` in mcp.json".to_owned()))
    }

    /// The header of the owner's login, renewed where its time is over.
    pub(super) async fn login(&self) -> Result<Option<HeaderValue>, Failure> {
        let Some(bearer) = &self.bearer else { return Ok(None) };
        bearer.header().await.map_err(Failure::Unreachable)
    }

    /// Where the same server wants to have the same request.
    fn led_on(&self, response: &Response) -> Option<Url> {
        let is_kept = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT]
            .contains(&response.status());
        let to = response.headers().get(LOCATION).filter(|_| is_kept)?.to_str().ok()?;
        let from = self.session().url.clone();
        from.join(to).ok().filter(|to| to.origin() == from.origin())
    }

    async fn read_answer(&self, id: i64, post: &Post, response: Response) -> Result<(), Failure> {
        let status = response.status();
        if !status.is_success() {
            return self.read_refusal(id, post, response).await;
        }
        {
            let mut session = self.session();
            session.note_answer();
            if post.method == INITIALIZE {
                session.open(response.headers()).map_err(Failure::Broken)?;
            }
        }
        let kind = content_type(response.headers());
        if kind.starts_with(EVENTS) {
            return self.follow(id, post, response).await;
        }
        if kind.starts_with(JSON) {
            let body = self.read_all(response).await?;
            let message = serde_json::from_slice(&body)
                .map_err(|error| Failure::Broken(format!("its answer is broken JSON ({error})")))?;
            return match self.take(Some((id, post)), named(message, id)).await {
                true => Ok(()),
                false => Err(Failure::Broken("its answer belongs to another request".to_owned())),
            };
        }
        let is_empty = status == StatusCode::ACCEPTED || response.content_length() == Some(0);
        Err(Failure::Broken(match is_empty {
            true => "it took the request and gave no answer".to_owned(),
            false => words::no_message(&kind),
        }))
    }

    /// Hands over one message. True if it is the answer to the request.
    pub(super) async fn take(&self, request: Option<(i64, &Post)>, message: Value) -> bool {
        let answers = |message: &Value, id: i64| {
            message.get("method").is_none() && message.get("id").and_then(Value::as_i64) == Some(id)
        };
        let is_answer = request.is_some_and(|(id, _)| match &message {
            Value::Array(batch) => batch.iter().any(|message| answers(message, id)),
            message => answers(message, id),
        });
        if is_answer && request.is_some_and(|(_, post)| post.method == INITIALIZE) {
            self.session().agree(&message);
        }
        self.deliver(Received::Message(message)).await;
        is_answer
    }

    /// Ends the session, if the server has one.
    pub(super) async fn delete(&self) {
        let mut headers = HeaderMap::new();
        let url = {
            let session = self.session();
            if !session.has_id() {
                return;
            }
            session.add_to(&mut headers);
            session.url.clone()
        };
        // A server may refuse this, and it forgets the session by itself some time.
        let login = self.login().await.unwrap_or_default();
        let request = self.client.delete(url).headers(self.headers.clone()).headers(headers);
        let request = request.headers(login_header(login.as_ref()));
        let _ = request.send().await;
    }

    async fn read_refusal(&self, id: i64, post: &Post, response: Response) -> Result<(), Failure> {
        let status = response.status();
        let is_of_http = matches!(status.as_u16(), 300..=399 | 401 | 403 | 407 | 429);
        let (headers, body) = self.read_beginning(response).await;
        let failure = self.judge(post, status, &headers, &body);
        if matches!(failure, Failure::Forgotten(_)) || is_of_http {
            return Err(failure);
        }
        // The server's own error says more than the status.
        let error = serde_json::from_slice::<Value>(&body).ok().filter(|body| {
            body.get("jsonrpc").is_some() && body.get("error").is_some_and(Value::is_object)
        });
        let Some(error) = error else { return Err(failure) };
        self.take(Some((id, post)), named(error, id)).await;
        Ok(())
    }

    async fn refusal(&self, post: &Post, response: Response) -> Failure {
        let status = response.status();
        let (headers, body) = self.read_beginning(response).await;
        self.judge(post, status, &headers, &body)
    }

    fn judge(&self, post: &Post, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Failure {
        let had_session = post.headers.contains_key(SESSION);
        if had_session && status == StatusCode::NOT_FOUND {
            return forgotten();
        }
        // Some servers say so to a session that they do not know.
        if had_session && status == StatusCode::BAD_REQUEST {
            self.session().doubt();
        }
        let unset = self
            .headers
            .iter()
            .find(|(_, value)| value.to_str().is_ok_and(|value| value.contains("${")));
        let refusal = Refusal {
            status,
            headers,
            body,
            unset: unset.map(|(name, _)| name.as_str()),
            has_token: !self.headers.is_empty(),
            login: self.bearer.as_ref().map(|bearer| bearer.command()),
            had_login: post.login.is_some(),
        };
        if status == StatusCode::FORBIDDEN
            && let (Some(bearer), Some(rights)) = (&self.bearer, refusal.missing_rights())
        {
            bearer.want(&rights);
        }
        let words = refusal.in_words();
        if status.is_server_error() { Failure::Broken(words) } else { Failure::Refused(words) }
    }

    /// What is there of a refusal, as far as it is short and comes soon.
    async fn read_beginning(&self, mut response: Response) -> (HeaderMap, Vec<u8>) {
        let (headers, mut body) = (response.headers().clone(), Vec::new());
        let read = async {
            while let Ok(Some(piece)) = response.chunk().await {
                body.extend_from_slice(&piece);
                if body.len() > REFUSAL_BYTES_MAX {
                    body.clear();
                    return;
                }
            }
        };
        let _ = timeout(self.times.control, read).await;
        (headers, body)
    }

    async fn read_all(&self, mut response: Response) -> Result<Vec<u8>, Failure> {
        let mut held = Held::new(self.held.clone(), self.limits.message_bytes_max);
        let mut body = Vec::new();
        loop {
            let piece = response
                .chunk()
                .await
                .map_err(|error| Failure::Broken(words::of_error(&error, &self.destination)))?;
            let Some(piece) = piece else { return Ok(body) };
            if !held.set(body.len() + piece.len()) {
                return Err(Failure::TooLong);
            }
            body.extend_from_slice(&piece);
        }
    }
}

pub(super) fn login_header(login: Option<&HeaderValue>) -> HeaderMap {
    login.cloned().map(|login| (AUTHORIZATION, login)).into_iter().collect()
}

pub(super) fn content_type(headers: &HeaderMap) -> String {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// An error whose server could not read the id of what it refuses belongs to the only request that
/// it can answer.
fn named(mut message: Value, id: i64) -> Value {
    let is_nameless = message.get("id").is_none_or(|id| !id.is_number());
    if is_nameless && message.get("error").is_some_and(Value::is_object) {
        message["id"] = json!(id);
    }
    message
}

fn forgotten() -> Failure {
    let why = "it does not know claw's session any more; the next call opens a new one";
    Failure::Forgotten(why.to_owned())
}
