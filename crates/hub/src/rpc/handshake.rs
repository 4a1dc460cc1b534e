//! The handshake with a server: finds out its era (traps 1 and 2) on raw JSON, before `rmcp` takes
//! over. Must not know processes.
//!
//! A server of unknown era is asked `server/discover`. An error means legacy; one that stays silent
//! is also offered `initialize`, and the answers decide; one that ends is connected to once more
//! by the caller, with `initialize` as the first message. `rmcp`'s own `Auto` has no such second
//! start, waits 10 s on a silent server and then takes a late answer to the probe for a fault.

use std::time::Duration;

use rmcp::model::TASKS_EXTENSION_ID;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::era::{Era, LEGACY_PROTOCOL, LEGACY_PROTOCOLS, MODERN_PROTOCOL};
use super::method_not_found;
use crate::text::cut;
use crate::transport::{Escort, Receive, Received, Transport};
use claw_domain::canonical::sha256_hex;

/// Ids outside of those that `rmcp` counts up from 0, so that a late answer meets no later request.
const DISCOVER_ID: i64 = 2_000_000_001;
const INITIALIZE_ID: i64 = 2_000_000_002;
const DISCOVER_AGAIN_ID: i64 = 2_000_000_003;

/// `UnsupportedProtocolVersionError` of 2026-07-28.
const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
/// Errors of 2026-07-28 that no legacy server sends: a header mismatch, a missing client
/// capability.
const MODERN_REFUSALS: [i64; 2] = [-32020, -32021];
const REASON_BYTES_MAX: usize = 500;
/// What is kept of a server's instructions, in bytes. A model sees less of it
/// (`limits.server_instructions_bytes`).
const INSTRUCTIONS_BYTES_MAX: usize = 64 * 1024;

/// How long a modern answer is held back for the other one, once both questions are out.
const SECOND_ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// What is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// The era is not known.
    Probe,
    Initialize,
    Discover,
}

impl Opening {
    /// What is tried first, and what then if the first one was refused or ended the server. `era`
    /// is that of an earlier connection; `doubted` means that the last start was silent on its
    /// first opening, so the other one goes first.
    pub(crate) fn order(era: Option<Era>, doubted: bool) -> (Self, Self) {
        match (era, doubted) {
            (None, false) => (Self::Probe, Self::Initialize),
            (None, true) | (Some(Era::Legacy), false) | (Some(Era::Modern), true) => {
                (Self::Initialize, Self::Discover)
            }
            (Some(Era::Modern), false) | (Some(Era::Legacy), true) => {
                (Self::Discover, Self::Initialize)
            }
        }
    }
}

/// How claw presents itself to a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Introduction<'a> {
    pub(crate) version: &'a str,
    /// The server may be told where the workspace is.
    pub(crate) roots: bool,
}

/// What both sides agreed upon.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Agreement {
    pub(crate) era: Era,
    pub(crate) protocol: String,
    pub(crate) capabilities: Value,
    /// `instructions` of the first answer: a stranger's words. `None` where there are none.
    pub(crate) instructions: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OpeningError {
    /// The server ended the connection.
    Closed,
    /// The exchange failed, though the connection may last.
    Failed(String),
    /// Nothing came in time.
    Silent,
    /// The server said no.
    Refused(String),
}

/// Makes the handshake. `deadline` bounds the whole; `probe_timeout` is when a silent server is
/// offered `initialize`.
pub(crate) async fn open<R: Receive>(
    receiver: &mut R,
    transport: &dyn Transport,
    opening: Opening,
    claw: Introduction<'_>,
    probe_timeout: Duration,
    deadline: Instant,
) -> Result<Agreement, OpeningError> {
    let (has_initialized, has_asked_again) = (false, false);
    let mut talk = Talk { receiver, transport, claw, has_initialized, has_asked_again };
    match opening {
        Opening::Initialize => talk.initialize(deadline).await,
        Opening::Discover => match talk.discover(deadline).await? {
            Some(agreement) => Ok(agreement),
            None => talk.initialize(deadline).await,
        },
        Opening::Probe => match talk.discover(deadline.min(Instant::now() + probe_timeout)).await {
            Ok(Some(agreement)) => Ok(agreement),
            Ok(None) => talk.initialize(deadline).await,
            Err(OpeningError::Silent) => talk.both(deadline).await,
            Err(error) => Err(error),
        },
    }
}

/// An answer: its `result`, or its `error`.
type RpcAnswer = Result<Value, Value>;

enum Reply {
    Discover(RpcAnswer),
    Initialize(RpcAnswer),
}

enum EraAnswer {
    Modern(Agreement),
    Legacy,
    /// It refused the request, and lists the revision of the request as one that it speaks.
    Again,
}

struct Talk<'a, R> {
    receiver: &'a mut R,
    transport: &'a dyn Transport,
    claw: Introduction<'a>,
    /// `initialize` is out.
    has_initialized: bool,
    /// `server/discover` has gone out a second time.
    has_asked_again: bool,
}

impl<R: Receive> Talk<'_, R> {
    /// Asks for the revisions that the server speaks. `None` means that it is a legacy one.
    async fn discover(&mut self, until: Instant) -> Result<Option<Agreement>, OpeningError> {
        self.send(self.discover_request(DISCOVER_ID))?;
        loop {
            match self.answer(DISCOVER_ID, until).await? {
                Reply::Discover(answer) => match judge_discover(answer)? {
                    EraAnswer::Modern(agreement) => return Ok(Some(agreement)),
                    EraAnswer::Legacy => return Ok(None),
                    EraAnswer::Again => self.discover_again()?,
                },
                Reply::Initialize(_) => return Err(OpeningError::Silent),
            }
        }
    }

    /// A client chooses a revision from the list of a refusal and asks once more (2026-07-28,
    /// `UnsupportedProtocolVersionError`).
    fn discover_again(&mut self) -> Result<(), OpeningError> {
        if std::mem::replace(&mut self.has_asked_again, true) {
            return Err(OpeningError::Refused(format!(
                "it refused protocol {MODERN_PROTOCOL} twice, and lists it as one that it speaks"
            )));
        }
        self.send(self.discover_request(DISCOVER_AGAIN_ID))
    }

    /// The probe is out and unanswered; `initialize` goes out, too. A slow modern server answers
    /// the probe, a legacy one that ignores unknown requests answers `initialize`, a slow legacy
    /// one answers both.
    async fn both(&mut self, deadline: Instant) -> Result<Agreement, OpeningError> {
        self.has_initialized = true;
        self.send(self.initialize_request())?;
        let mut refusal = None;
        let mut modern = None;
        let mut until = deadline;
        loop {
            let reply = match self.either(until).await {
                Err(OpeningError::Silent) if modern.is_some() || refusal.is_some() => break,
                reply => reply?,
            };
            match reply {
                Reply::Initialize(Ok(result)) => return self.finish_initialize(&result),
                Reply::Initialize(Err(error)) => refusal = Some(refused("initialize", &error)),
                Reply::Discover(answer) => match judge_discover(answer)? {
                    EraAnswer::Modern(agreement) => {
                        modern = Some(agreement);
                        until = deadline.min(Instant::now() + SECOND_ANSWER_TIMEOUT);
                    }
                    EraAnswer::Legacy => {}
                    EraAnswer::Again => self.discover_again()?,
                },
            }
            if refusal.is_some() && modern.is_some() {
                break;
            }
        }
        modern.ok_or(refusal.unwrap_or(OpeningError::Silent))
    }

    async fn initialize(&mut self, deadline: Instant) -> Result<Agreement, OpeningError> {
        self.has_initialized = true;
        self.send(self.initialize_request())?;
        match self.answer(INITIALIZE_ID, deadline).await? {
            Reply::Initialize(Ok(result)) => self.finish_initialize(&result),
            Reply::Initialize(Err(error)) => Err(refused("initialize", &error)),
            Reply::Discover(_) => Err(OpeningError::Silent),
        }
    }

    fn finish_initialize(&mut self, result: &Value) -> Result<Agreement, OpeningError> {
        let protocol = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if !LEGACY_PROTOCOLS.contains(&protocol) {
            let spoken = LEGACY_PROTOCOLS.join(", ");
            let text = format!(
                "it answers with protocol `{protocol}`; claw speaks {spoken} and {MODERN_PROTOCOL}"
            );
            return Err(OpeningError::Refused(text));
        }
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        let capabilities = result.get("capabilities").cloned().unwrap_or_default();
        let instructions = instructions(result);
        Ok(Agreement {
            era: Era::Legacy,
            protocol: protocol.to_owned(),
            capabilities,
            instructions,
        })
    }

    fn send(&self, message: Value) -> Result<(), OpeningError> {
        self.transport.send(message, Escort::default()).map_err(|_| OpeningError::Closed)
    }

    /// The answer with this id, whatever else comes before it.
    async fn answer(&mut self, id: i64, deadline: Instant) -> Result<Reply, OpeningError> {
        loop {
            match (id, self.either(deadline).await?) {
                (DISCOVER_ID, reply @ Reply::Discover(_))
                | (INITIALIZE_ID, reply @ Reply::Initialize(_)) => {
                    return Ok(reply);
                }
                _ => {}
            }
        }
    }

    async fn either(&mut self, deadline: Instant) -> Result<Reply, OpeningError> {
        loop {
            match timeout_at(deadline, self.receiver.receive()).await {
                Err(_) => return Err(OpeningError::Silent),
                Ok(Received::End) => return Err(OpeningError::Closed),
                // While `initialize` is out, a probe may fail as it likes.
                Ok(Received::Failed { answers: DISCOVER_ID | DISCOVER_AGAIN_ID, .. })
                    if self.has_initialized => {}
                Ok(Received::Failed { reason, .. }) => return Err(OpeningError::Failed(reason)),
                Ok(Received::Refused { answers, reason }) => {
                    let refused = json!({"id": answers, "error": {"message": reason}});
                    if let Some(reply) = self.sort(refused)? {
                        return Ok(reply);
                    }
                }
                // Greetings on stdout are common and no reason to give up.
                Ok(Received::TooLong { .. } | Received::NoJson(_)) => {}
                Ok(Received::Message(message)) => {
                    if let Some(reply) = self.sort(message)? {
                        return Ok(reply);
                    }
                }
            }
        }
    }

    fn sort(&self, mut message: Value) -> Result<Option<Reply>, OpeningError> {
        let id = message.get("id").cloned().unwrap_or_default();
        if let Some(method) = message.get("method").and_then(Value::as_str) {
            if !id.is_null() {
                self.send(early_request(method, &id))?;
            }
            return Ok(None);
        }
        if let Some(text) = id.as_str().filter(|text| {
            let ours = [DISCOVER_ID, INITIALIZE_ID, DISCOVER_AGAIN_ID];
            ours.map(|id| id.to_string()).contains(&(*text).to_owned())
        }) {
            let fault = format!(
                "it answers with the id \"{text}\", a text, where claw has sent the number \
                 (JSON-RPC 2.0, section 5)"
            );
            return Err(OpeningError::Refused(fault));
        }
        let answer = match message.get_mut("error").map(Value::take) {
            Some(error) if !error.is_null() => Err(error),
            _ => Ok(message.get_mut("result").map(Value::take).unwrap_or_default()),
        };
        Ok(match id.as_i64() {
            Some(DISCOVER_ID | DISCOVER_AGAIN_ID) => Some(Reply::Discover(answer)),
            Some(INITIALIZE_ID) => Some(Reply::Initialize(answer)),
            // A server that could not read the probe may leave the id out of its error.
            None if id.is_null() && answer.is_err() => Some(Reply::Discover(answer)),
            _ => None,
        })
    }

    fn discover_request(&self, id: i64) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN_PROTOCOL,
            "io.modelcontextprotocol/clientInfo": self.client_info(),
            "io.modelcontextprotocol/clientCapabilities": capabilities(Era::Modern, self.claw.roots),
        });
        json!({"jsonrpc": "2.0", "id": id, "method": "server/discover", "params": {"_meta": meta}})
    }

    fn initialize_request(&self) -> Value {
        let params = json!({"protocolVersion": LEGACY_PROTOCOL, "capabilities": capabilities(Era::Legacy, self.claw.roots), "clientInfo": self.client_info()});
        json!({"jsonrpc": "2.0", "id": INITIALIZE_ID, "method": "initialize", "params": params})
    }

    fn client_info(&self) -> Value {
        json!({"name": "claw", "version": self.claw.version})
    }
}

/// What claw can do for a server: ask its owner, by a form or by a page; in the modern era follow
/// what it makes a task of; and before that say where the workspace is, if the entry allows it.
pub(crate) fn capabilities(era: Era, roots: bool) -> Value {
    let mut capabilities = json!({"elicitation": {"form": {}, "url": {}}});
    match era {
        Era::Modern => capabilities["extensions"] = json!({(TASKS_EXTENSION_ID): {}}),
        // The workspace stays the same as long as the process lives.
        Era::Legacy if roots => capabilities["roots"] = json!({"listChanged": false}),
        Era::Legacy => {}
    }
    capabilities
}

/// Before the handshake only a ping gets more than a refusal.
fn early_request(method: &str, id: &Value) -> Value {
    if method == "ping" {
        return json!({"jsonrpc": "2.0", "id": id, "result": {}});
    }
    method_not_found(id, "not before the handshake")
}

/// A result or -32022 means modern; any other error means legacy, but for those that only a modern
/// server knows. So does a result that names no versions: some servers answer whatever they do not
/// know with an empty one.
fn judge_discover(answer: RpcAnswer) -> Result<EraAnswer, OpeningError> {
    let supported = match &answer {
        Ok(result) if result.get("supportedVersions").is_none() => return Ok(EraAnswer::Legacy),
        Ok(result) => result.get("supportedVersions"),
        Err(error) => {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
            if MODERN_REFUSALS.contains(&code) {
                return Err(refused("server/discover", error));
            }
            if code != UNSUPPORTED_PROTOCOL_VERSION {
                return Ok(EraAnswer::Legacy);
            }
            error.pointer("/data/supported")
        }
    };
    let supported: Vec<&str> = supported
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if supported.contains(&MODERN_PROTOCOL) {
        let Ok(result) = &answer else { return Ok(EraAnswer::Again) };
        let capabilities = result.get("capabilities").cloned().unwrap_or_default();
        let (protocol, instructions) = (MODERN_PROTOCOL.to_owned(), instructions(result));
        return Ok(EraAnswer::Modern(Agreement {
            era: Era::Modern,
            protocol,
            capabilities,
            instructions,
        }));
    }
    if supported.iter().any(|version| LEGACY_PROTOCOLS.contains(version)) {
        return Ok(EraAnswer::Legacy);
    }
    let (theirs, ours) = (supported.join(", "), LEGACY_PROTOCOLS.join(", "));
    Err(OpeningError::Refused(format!(
        "it speaks only protocol {theirs}; claw speaks {ours} and {MODERN_PROTOCOL}"
    )))
}

/// The instructions of a server as far as they are kept. The digest of the whole stands for what is
/// not.
fn instructions(result: &Value) -> Option<String> {
    let text = result.get("instructions")?.as_str().filter(|text| !text.trim().is_empty())?;
    let kept = cut(text, INSTRUCTIONS_BYTES_MAX);
    Some(match kept.len() == text.len() {
        true => text.to_owned(),
        false => {
            format!("{kept}\n[cut by claw: {} bytes, sha256 {}]", text.len(), sha256_hex(text))
        }
    })
}

fn refused(method: &str, error: &Value) -> OpeningError {
    let message = error
        .get("message")
        .and_then(Value::as_str)
        .map_or_else(|| error.to_string(), str::to_owned);
    OpeningError::Refused(format!("it refused `{method}`: {}", cut(&message, REASON_BYTES_MAX)))
}
