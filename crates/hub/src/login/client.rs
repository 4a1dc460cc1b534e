//! The requests of a login: to where the metadata of others lead, and by the same address rules as
//! the requests to the server itself. No redirect is followed here. Must not know what is asked.

use std::fmt;
use std::time::Duration;

use futures::StreamExt as _;
use reqwest::Response;
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use tokio::time::timeout;

use super::named::nameless;
use crate::transport::http::Times;
use crate::transport::http::address::{Destination, Lookup};
use crate::transport::http::{client, words};

const ANSWER_BYTES_MAX: usize = 1024 * 1024;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Where the owner has sent claw, and with it where others may send it on to.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) entry: Destination,
    pub(super) private_hosts: Vec<String>,
    pub(super) times: Times,
    pub(super) lookup: Lookup,
}

/// Why there is no answer, in words for the owner.
#[derive(Debug)]
pub(super) struct NoAnswer(String);

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoAnswer {}

impl Client {
    /// The head of the answer to a message to the server itself, without a token. What follows it
    /// may have no end.
    pub(super) async fn post(&self, url: &str, message: &str) -> Result<Response, NoAnswer> {
        let request = http::Request::post(url)
            .header(http::header::CONTENT_TYPE, "application/json")
            .header(http::header::ACCEPT, "application/json, text/event-stream")
            .body(message.as_bytes().to_vec());
        let request = request.map_err(|error| NoAnswer(error.to_string()))?;
        let host = host_of(&request);
        in_time(host, self.send(request)).await.map(|(response, _)| response)
    }

    /// The status of the answer to a request whose answer says nothing else.
    pub(super) async fn status_of(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<http::StatusCode, NoAnswer> {
        let host = host_of(&request);
        in_time(host, self.send(request)).await.map(|(response, _)| response.status())
    }

    async fn send(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<(Response, Destination), NoAnswer> {
        let url = request.uri().to_string();
        let to = self.entry.leads_to(&url, &self.private_hosts).map_err(NoAnswer)?;
        let client = client::client(&to, &self.times, self.lookup.clone(), false);
        let request = reqwest::Request::try_from(request)
            .map_err(|error| NoAnswer(words::root_cause(&error)))?;
        let sent = client.map_err(NoAnswer)?.execute(request).await;
        Ok((sent.map_err(|error| broken(&error, &to))?, to))
    }

    /// The whole answer, in time, however slowly it comes.
    async fn ask_in_time(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<http::Response<Vec<u8>>, NoAnswer> {
        let host = host_of(&request);
        in_time(host, self.ask(request)).await
    }

    async fn ask(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<http::Response<Vec<u8>>, NoAnswer> {
        let (response, to) = self.send(request).await?;
        let mut answer = http::Response::builder().status(response.status());
        if let Some(headers) = answer.headers_mut() {
            headers.clone_from(response.headers());
        }
        let (mut body, mut pieces) = (Vec::new(), response.bytes_stream());
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| broken(&error, &to))?;
            if body.len() + piece.len() > ANSWER_BYTES_MAX {
                let host = to.host();
                return Err(NoAnswer(format!(
                    "`{host}` answers with more than {ANSWER_BYTES_MAX} bytes"
                )));
            }
            body.extend_from_slice(&piece);
        }
        if let Some(named) = nameless(&to.url, &body) {
            return Err(NoAnswer(format!(
                "`{}` names `{named}` for the login, an address that does not say whose login it is",
                to.host()
            )));
        }
        answer.body(body).map_err(|error| NoAnswer(error.to_string()))
    }
}

fn host_of(request: &http::Request<Vec<u8>>) -> String {
    request.uri().host().unwrap_or_default().to_owned()
}

fn broken(error: &reqwest::Error, to: &Destination) -> NoAnswer {
    NoAnswer(words::of_error(error, to))
}

async fn in_time<T>(
    host: String,
    asking: impl Future<Output = Result<T, NoAnswer>>,
) -> Result<T, NoAnswer> {
    timeout(REQUEST_TIMEOUT, asking).await.unwrap_or_else(|_| {
        let limit = REQUEST_TIMEOUT.as_secs();
        Err(NoAnswer(format!("`{host}` did not answer within {limit} s")))
    })
}

impl OAuthHttpClient for Client {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move { Ok(self.ask_in_time(request.request).await?) })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::sync::oneshot;
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::transport::http::address::system_lookup;

    /// Answers one request with a byte each second, without an end. Tells how many it sent until
    /// the other side had gone.
    async fn drips(listener: TcpListener, head: &str, gone: oneshot::Sender<u64>) {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        assert!(stream.read(&mut request).await.unwrap() > 0);
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut sent = 0;
        while stream.write_all(b" ").await.is_ok() {
            sent += 1;
            sleep(Duration::from_secs(1)).await;
        }
        gone.send(sent).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_authorization_server_that_drips_is_left_when_its_time_is_over() {
        let whole = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
        // In the body, and before the head has ended.
        for head in [whole, "HTTP/1.1 200 OK\r\nX-More: "] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/as/token", listener.local_addr().unwrap());
            let (tell, told) = oneshot::channel();
            let dripping = drips(listener, head, tell);
            let client = Client {
                entry: Destination::new(&url, &[]).unwrap(),
                private_hosts: Vec::new(),
                times: Times::new(Duration::from_secs(600)),
                lookup: system_lookup(),
            };
            let asking = async {
                let began = Instant::now();
                let request = http::Request::get(&url).body(Vec::new()).unwrap();
                let failed = client.ask_in_time(request).await.unwrap_err();
                drop(client);
                (failed.to_string(), began.elapsed())
            };
            let ((failed, took), (), sent) = tokio::join!(asking, dripping, told);
            assert_eq!(failed, "`127.0.0.1` did not answer within 30 s");
            assert_eq!(
                took.as_secs(),
                REQUEST_TIMEOUT.as_secs(),
                "by a clock that is not waited for"
            );
            assert!((20..40).contains(&sent.unwrap()), "the connection was closed then");
        }
    }
}
