//! The events of an answer, or of the stream for what a server says by itself: read to the end, and
//! taken up again behind the last event where a stream broke. Repeats no request. Must not know who
//! waits.

use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use tokio::time::{sleep, timeout};

use super::body::Held;
use super::events::{EventStep, Events};
use super::exchange::{EVENTS, Failure, Post, content_type, login_header};
use super::{Shared, words};
use crate::transport::Received;

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Tries to take a stream up again that brought nothing.
pub(super) const TRIES_MAX: u32 = 5;
/// The longest that a server may tell claw to wait before it asks for a stream again.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Of an event that is no JSON, in characters.
const NO_JSON_CHARS_MAX: usize = 200;

/// Where a stream of events is, for taking it up again.
#[derive(Default)]
pub(super) struct Bookmark {
    pub(super) last: Option<HeaderValue>,
    retry: Option<Duration>,
}

impl Bookmark {
    /// Before the next try, when so many have brought nothing.
    pub(super) fn wait(&self, tries: u32, first: Duration) -> Duration {
        self.retry.unwrap_or(first * 2u32.saturating_pow(tries)).min(WAIT_MAX)
    }
}

/// How reading a stream came to an end.
pub(super) enum Pause {
    Answered,
    TooLong,
    /// `heard` something before it was cut.
    Cut {
        why: String,
        heard: bool,
    },
}

impl Shared {
    /// Reads the events of an answer, and takes the stream up again where it broke, if the server
    /// has said how.
    pub(super) async fn follow(
        &self,
        id: i64,
        post: &Post,
        response: Response,
    ) -> Result<(), Failure> {
        let (mut bookmark, mut tries, mut next) = (Bookmark::default(), 0, Ok(response));
        loop {
            let why = match next {
                Ok(response) => {
                    match self.read_events(response, &mut bookmark, Some((id, post))).await {
                        Pause::Answered => return Ok(()),
                        Pause::TooLong => return Err(Failure::TooLong),
                        Pause::Cut { why, heard } => {
                            tries = if heard { 0 } else { tries };
                            why
                        }
                    }
                }
                Err(Failure::Unreachable(why) | Failure::Broken(why)) => why,
                Err(failure) => return Err(Failure::Broken(failure.in_words())),
            };
            let can_resume = bookmark.last.is_some() && self.session().has_handshake();
            if !can_resume || tries >= TRIES_MAX {
                return Err(Failure::Broken(why));
            }
            sleep(bookmark.wait(tries, self.times.again)).await;
            tries += 1;
            next = self.get(&bookmark).await;
        }
    }

    /// Hands over the messages of a stream, up to the answer to a request or to the end.
    pub(super) async fn read_events(
        &self,
        response: Response,
        bookmark: &mut Bookmark,
        request: Option<(i64, &Post)>,
    ) -> Pause {
        let held = Held::new(self.held.clone(), self.limits.message_bytes_max);
        let mut events = Events::new(response.bytes_stream(), held);
        let mut heard = false;
        loop {
            let event = match events.next().await {
                EventStep::Event(event) => event,
                EventStep::Odd(why) => {
                    self.deliver(Received::NoJson(why)).await;
                    continue;
                }
                EventStep::TooLong => return Pause::TooLong,
                EventStep::Broken(why) => {
                    return Pause::Cut { why: format!("the connection broke ({why})"), heard };
                }
                EventStep::End => {
                    return Pause::Cut { why: "it closed the connection".to_owned(), heard };
                }
            };
            heard = true;
            if let Some(last) = event.id.filter(|id| !id.is_empty()) {
                bookmark.last = HeaderValue::from_str(&last).ok();
            }
            bookmark.retry = event.retry.map(Duration::from_millis).or(bookmark.retry);
            let data = event.data.unwrap_or_default();
            let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
            if !is_message || data.trim().is_empty() {
                continue;
            }
            match serde_json::from_str(&data) {
                Ok(message) => {
                    if self.take(request, message).await {
                        return Pause::Answered;
                    }
                }
                Err(_) => {
                    let text = data.chars().take(NO_JSON_CHARS_MAX).collect();
                    self.deliver(Received::NoJson(text)).await;
                }
            }
        }
    }

    /// A stream that is asked for: a new one, or one that goes on behind the last event. Where
    /// nobody is there, it is unreachable, and broken where somebody is who gives none.
    pub(super) async fn get(&self, bookmark: &Bookmark) -> Result<Response, Failure> {
        let mut headers = HeaderMap::new();
        self.session().add_to(&mut headers);
        headers.extend(bookmark.last.clone().map(|last| (LAST_EVENT, last)));
        let login = self.login().await.map_err(|failure| Failure::Broken(failure.in_words()))?;
        let url = self.session().url.clone();
        let request = self
            .client
            .get(url)
            .headers(self.headers.clone())
            .headers(login_header(login.as_ref()))
            .headers(headers)
            .header(ACCEPT, EVENTS);
        let limit = self.times.control;
        let response = match timeout(limit, request.send()).await {
            Ok(sent) => sent.map_err(|error| {
                let why = words::of_error(&error, &self.destination);
                if error.is_connect() { Failure::Unreachable(why) } else { Failure::Broken(why) }
            })?,
            Err(_) => return Err(Failure::Broken("it did not answer in time".to_owned())),
        };
        // Many servers have no address for this at all. Whether one has forgotten the session is
        // asked before the next message that must not be lost.
        if response.status() == StatusCode::NOT_FOUND {
            self.session().doubt();
        }
        let is_stream = content_type(response.headers()).starts_with(EVENTS);
        if response.status().is_success() && is_stream {
            return Ok(response);
        }
        if response.status().is_server_error() {
            return Err(Failure::Broken(format!("HTTP {}", response.status().as_u16())));
        }
        Err(Failure::Refused(format!("it gives no stream (HTTP {})", response.status().as_u16())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_try_waits_twice_as_long_unless_the_server_has_said_how_long() {
        let first = Duration::from_secs(1);
        let waits = |bookmark: &Bookmark| [0, 1, 2, 3, 4, 5, 60].map(|n| bookmark.wait(n, first));
        let doubled = [1, 2, 4, 8, 16, 32, 60].map(Duration::from_secs);
        assert_eq!(waits(&Bookmark::default()), doubled);
        let told = |retry| Bookmark { last: None, retry: Some(Duration::from_millis(retry)) };
        assert_eq!(waits(&told(250)), [Duration::from_millis(250); 7]);
        assert_eq!(waits(&told(u64::MAX)), [WAIT_MAX; 7], "no server holds claw up for longer");
    }
}
