//! The HTTP side: paths, tokens, faults, records, answers. Owns the server. Must not know what a
//! method does.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use axum::routing::any;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::Shared;
use super::calls::Outcome;
use super::cut::{Line, Lines};
use super::faults::Fault;
use super::params::Params;
use super::polling;
use super::refusal::Refusal;
use super::{files, methods};

pub async fn serve(shared: Arc<Shared>, started: Sender<String>, ended: oneshot::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new().fallback(any(handle)).with_state(shared.clone());
    let service = app.into_make_service_with_connect_info::<Line>();
    let server = tokio::spawn(axum::serve(Lines { listener, shared }, service).into_future());
    started.send(url).unwrap_or_default();
    let _dropped = ended.await;
    server.abort();
}

/// A call on record. If it is dropped without an end, its client is gone.
struct Running {
    shared: Arc<Shared>,
    number: Option<usize>,
    /// Whether the result is a list of updates, of which the record keeps the ids alone.
    polls: bool,
    ended: bool,
}

impl Running {
    fn end(mut self, outcome: Outcome) {
        self.ended = true;
        self.shared.change(|world| world.calls.end(self.number, outcome));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.shared.change(|world| world.calls.end(self.number, Outcome::Abandoned));
        }
    }
}

async fn handle(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(line): ConnectInfo<Line>,
    request: Request,
) -> Response {
    let path = decoded(request.uri().path());
    let (is_file, rest) = match (path.strip_prefix("/file/bot"), path.strip_prefix("/bot")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => return refused(&Refusal::new(404, "Not Found")),
    };
    let Some((token, target)) = rest.split_once('/') else {
        return refused(&Refusal::new(404, "Not Found"));
    };
    if !token.contains(':') || token.starts_with('0') {
        return refused(&Refusal::new(401, "Unauthorized: invalid token specified"));
    }
    if token != shared.world().token {
        return refused(&Refusal::new(401, "Unauthorized"));
    }
    let method = if is_file { "download" } else { target.trim_matches('/') };
    let params = match Params::read(request).await {
        Ok(params) => params,
        Err(refusal) => return refused(&refusal),
    };
    let (number, fault) = shared.change(|world| {
        let fault = world.faults.pick(method, params.chat());
        (world.calls.begin(method, &params), fault)
    });
    let call = Running {
        shared: shared.clone(),
        number,
        polls: method.eq_ignore_ascii_case("getUpdates"),
        ended: false,
    };
    if let Some(fault) = &fault
        && let Some(answer) = instead(fault, &line).await
    {
        call.end(Outcome::Failed(fault.clone()));
        return answer;
    }
    if is_file {
        let found = shared.world().files.at(target);
        call.end(Outcome::Done(Value::Null));
        if fault == Some(Fault::CutAfter) {
            line.cut();
        }
        return found.map_or_else(
            || refused(&Refusal::new(404, "Not Found")),
            |bytes| answer(StatusCode::OK, "application/octet-stream", Body::from(bytes)),
        );
    }
    let result = run(&shared, method, &params).await;
    finish(call, result, fault, &line).await
}

/// teloxide escapes the slashes within a file's path.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let code =
            escaped.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn run(shared: &Arc<Shared>, method: &str, params: &Params) -> Result<Value, Refusal> {
    let method = method.to_ascii_lowercase();
    if method == "getupdates" {
        return polling::get_updates(shared, params).await;
    }
    shared.change(|world| methods::run(world, &method, params))
}

/// The answer of a fault that comes before the effect, if it answers.
async fn instead(fault: &Fault, line: &Line) -> Option<Response> {
    match fault {
        Fault::TooMany(seconds) => Some(refused(&Refusal::too_many(*seconds))),
        Fault::Refuse { code, description } => Some(refused(&Refusal::new(*code, description))),
        Fault::Status(code) => {
            let status = StatusCode::from_u16(*code).unwrap();
            let page = format!(
                "<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>\r\n"
            );
            Some(answer(status, "text/html", Body::from(page)))
        }
        Fault::CutBefore => {
            line.cut();
            Some(answer(StatusCode::OK, "text/plain", Body::empty()))
        }
        Fault::Hang => std::future::pending().await,
        Fault::Delay(time) => {
            tokio::time::sleep(*time).await;
            None
        }
        Fault::CutAfter | Fault::HangAfter | Fault::Garbage => None,
    }
}

async fn finish(
    call: Running,
    result: Result<Value, Refusal>,
    fault: Option<Fault>,
    line: &Line,
) -> Response {
    let result = match result {
        Ok(result) => result,
        Err(refusal) => {
            let response = refused(&refusal);
            call.end(Outcome::Refused { code: refusal.code, description: refusal.description });
            return response;
        }
    };
    let kept = if call.polls { polling::ids(&result) } else { result.clone() };
    match fault {
        Some(Fault::CutAfter) => {
            line.cut();
            call.end(Outcome::CutAfter(kept));
        }
        Some(Fault::HangAfter) => {
            call.end(Outcome::CutAfter(kept));
            return std::future::pending().await;
        }
        Some(Fault::Garbage) => {
            call.end(Outcome::CutAfter(kept));
            return answer(StatusCode::OK, "application/json", Body::from("{\"ok\":true,\"resu"));
        }
        _ => call.end(Outcome::Done(kept)),
    }
    answer(
        StatusCode::OK,
        "application/json",
        Body::from(json!({"ok": true, "result": result}).to_string()),
    )
}

fn refused(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.code).unwrap();
    let mut response = answer(status, "application/json", Body::from(refusal.body().to_string()));
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

fn answer(status: StatusCode, kind: &'static str, body: Body) -> Response {
    Response::builder().status(status).header(header::CONTENT_TYPE, kind).body(body).unwrap()
}
