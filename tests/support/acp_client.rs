//! An editor at `claw acp`, by the protocol's own library: what it was shown, which requests for
//! permission are open, and answers to them. Must not know what is tested.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a test of the whole program starts it")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, InitializeRequest, InitializeResponse, LoadSessionRequest,
    NewSessionRequest, NewSessionResponse, PermissionOption, PromptRequest,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionNotification, StopReason, TextContent, ToolCallContent,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Client, Error, JsonRpcRequest, Lines, on_receive_notification, on_receive_request,
};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::editor_thread::{Asked, Item, Thread};
use crate::program::{House, SOON, eventually};

/// Done in the editor's own loop.
type Act = Box<dyn FnOnce(ConnectionTo<Agent>) + Send>;

type Threads = Arc<Mutex<BTreeMap<String, Thread>>>;

pub struct AcpClient {
    child: Child,
    acts: mpsc::UnboundedSender<Act>,
    threads: Threads,
    /// Nothing more of what the agent writes is read.
    holds: Arc<AtomicBool>,
    /// Every line that the agent has written.
    lines: Arc<Mutex<Vec<String>>>,
    errors: Arc<Mutex<String>>,
    running: Option<JoinHandle<()>>,
    /// Whether a request that was taken back stays open until the person has answered it.
    ignores_withdrawals: Arc<AtomicBool>,
    pub initialized: InitializeResponse,
}

impl AcpClient {
    pub fn start(house: &House) -> Self {
        Self::start_with(house, &["acp"])
    }

    pub fn start_with(house: &House, args: &[&str]) -> Self {
        let mut command = house.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (acts, taken) = mpsc::unbounded_channel();
        let (threads, lines) = (Threads::default(), Arc::default());
        let (holds, errors) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let ignores_withdrawals = Arc::new(AtomicBool::new(false));
        keep_errors(BufReader::new(child.stderr.take().unwrap()), Arc::clone(&errors));
        let pipes = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let seen = Seen { threads: threads.clone(), ignores: ignores_withdrawals.clone() };
        let (held, read) = (holds.clone(), Arc::clone(&lines));
        let running = std::thread::spawn(move || talk(pipes, held, read, seen, taken));
        let initialized = InitializeResponse::new(ProtocolVersion::V1);
        let running = Some(running);
        let mut client = Self {
            child,
            acts,
            threads,
            holds,
            lines,
            errors,
            running,
            ignores_withdrawals,
            initialized,
        };
        client.initialized = client.call(InitializeRequest::new(ProtocolVersion::V1)).unwrap();
        client
    }

    /// The process of the agent.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request and waits for its answer.
    pub fn call<R: JsonRpcRequest + Send + 'static>(&self, request: R) -> Result<R::Response, Error>
    where
        R::Response: Send + 'static,
    {
        let (told, answer) = std::sync::mpsc::channel();
        self.act(Box::new(move |agent| {
            let sent = agent.prepare_request(request).on_receiving_result(async move |result| {
                let _nobody_waits = told.send(result);
                Ok(())
            });
            sent.unwrap();
        }));
        answer.recv_timeout(SOON).unwrap_or_else(|error| panic!("{error}: {}", self.errors()))
    }

    fn act(&self, act: Act) {
        self.acts.send(act).unwrap_or_else(|_| panic!("the agent has ended: {}", self.errors()));
    }

    pub fn new_session(&self, cwd: &Path) -> String {
        self.begins(NewSessionRequest::new(cwd)).unwrap().session_id.to_string()
    }

    pub fn begins(&self, request: NewSessionRequest) -> Result<NewSessionResponse, Error> {
        self.call(request)
    }

    /// Opens a conversation again; what the editor had of it is replaced.
    pub fn load(&self, session: &str, cwd: &Path) -> Result<(), Error> {
        self.threads.lock().unwrap().remove(session);
        self.call(LoadSessionRequest::new(session.to_owned(), cwd)).map(drop)
    }

    /// Sends a prompt, and does not wait for its end.
    pub fn prompts(&self, session: &str, text: &str) {
        self.prompts_with(session, vec![ContentBlock::Text(TextContent::new(text))]);
    }

    pub fn prompts_with(&self, session: &str, content: Vec<ContentBlock>) {
        let (session, threads) = (session.to_owned(), self.threads.clone());
        let shown = content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.clone()),
            _ => None,
        });
        with(&threads, &session, |thread| thread.items.push(Item::Person(shown.collect())));
        self.act(Box::new(move |agent| {
            let request = PromptRequest::new(session.clone(), content);
            let sent = agent.prepare_request(request).on_receiving_result(async move |result| {
                with(&threads, &session, |thread| thread.ends.push(result));
                Ok(())
            });
            sent.unwrap();
        }));
    }

    /// Waits until so many prompts were answered, and gives back how the last one ended.
    #[track_caller]
    pub fn ends(&self, session: &str, count: usize) -> StopReason {
        eventually(&format!("{count} prompts end: {}", self.errors()), || {
            self.thread(session, |thread| thread.ends.len() >= count)
        });
        self.thread(session, |thread| thread.ends[count - 1].clone().unwrap().stop_reason)
    }

    pub fn cancels(&self, session: &str) {
        let session = session.to_owned();
        self.act(Box::new(move |agent| {
            agent.send_notification(CancelNotification::new(session)).unwrap();
        }));
    }

    pub fn thread<T>(&self, session: &str, look: impl FnOnce(&mut Thread) -> T) -> T {
        with(&self.threads, session, look)
    }

    /// Everything that a conversation shows, as one text.
    pub fn text(&self, session: &str) -> String {
        self.thread(session, |thread| {
            let items = thread.items.iter().map(|item| match item {
                Item::Person(text) | Item::Words(text) => text.clone(),
                Item::Call(call) => call_text(&call.title, &call.content),
            });
            items.collect::<Vec<_>>().join("\n")
        })
    }

    /// The open request that names `about`, if there is one.
    pub fn asked(&self, session: &str, about: &str) -> Option<RequestPermissionRequest> {
        self.thread(session, |thread| {
            let open = thread.asked.iter().filter(|one| !one.withdrawn);
            open.map(|one| &one.request).find(|one| request_text(one).contains(about)).cloned()
        })
    }

    #[track_caller]
    pub fn waits_asked(&self, session: &str, about: &str) -> RequestPermissionRequest {
        eventually(&format!("`{about}` is asked about"), || self.asked(session, about).is_some());
        self.asked(session, about).unwrap()
    }

    /// The person picks an option of the newest request that names `about`; `None` dismisses it.
    #[track_caller]
    pub fn answers(&self, session: &str, about: &str, option: Option<&str>) {
        let asked = self.thread(session, |thread| {
            let names = |one: &Asked| request_text(&one.request).contains(about);
            let at = thread.asked.iter().rposition(names).unwrap();
            thread.asked.remove(at)
        });
        asked.responder.respond(chosen(option)).unwrap();
    }

    /// From now on a request that was taken back stays open until the person answers it.
    pub fn ignores_withdrawals(&self) {
        self.ignores_withdrawals.store(true, Ordering::SeqCst);
    }

    pub fn stops_reading(&self) {
        self.holds.store(true, Ordering::SeqCst);
    }

    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    pub fn errors(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    /// The editor leaves in good order; the agent's exit code.
    pub fn leaves(mut self) -> Option<i32> {
        self.end();
        self.child.wait().unwrap().code()
    }

    fn end(&mut self) {
        // The loop of the editor ends with the last act, and closes the agent's input.
        self.acts = mpsc::unbounded_channel().0;
        if let Some(running) = self.running.take() {
            let _panicked = running.join();
        }
    }
}

impl Drop for AcpClient {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ = self.child.wait();
        self.end();
    }
}

fn chosen(option: Option<&str>) -> RequestPermissionResponse {
    let selected = |id: &str| SelectedPermissionOutcome::new(id.to_owned());
    RequestPermissionResponse::new(match option {
        Some(id) => RequestPermissionOutcome::Selected(selected(id)),
        None => RequestPermissionOutcome::Cancelled,
    })
}

/// The ids of what a request offers.
pub fn keys(request: &RequestPermissionRequest) -> Vec<String> {
    let id = |option: &PermissionOption| option.option_id.to_string();
    request.options.iter().map(id).collect()
}

fn request_text(request: &RequestPermissionRequest) -> String {
    let fields = &request.tool_call.fields;
    let title = fields.title.clone().unwrap_or_default();
    call_text(&title, fields.content.as_deref().unwrap_or_default())
}

fn call_text(title: &str, content: &[ToolCallContent]) -> String {
    let parts = content.iter().map(|part| match part {
        ToolCallContent::Content(content) => match &content.content {
            ContentBlock::Text(text) => text.text.clone(),
            _ => String::new(),
        },
        ToolCallContent::Diff(diff) => {
            format!("{}\n{}", diff.old_text.as_deref().unwrap_or_default(), diff.new_text)
        }
        _ => String::new(),
    });
    std::iter::once(title.to_owned()).chain(parts).collect::<Vec<_>>().join("\n")
}

fn with<T>(threads: &Threads, session: &str, look: impl FnOnce(&mut Thread) -> T) -> T {
    look(threads.lock().unwrap().entry(session.to_owned()).or_default())
}

fn keep_errors(mut from: impl std::io::Read + Send + 'static, into: Arc<Mutex<String>>) {
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(size @ 1..) = from.read(&mut piece) {
            into.lock().unwrap().push_str(&String::from_utf8_lossy(&piece[..size]));
        }
    });
}

/// What the editor's loop writes into.
#[derive(Clone)]
struct Seen {
    threads: Threads,
    ignores: Arc<AtomicBool>,
}

/// The editor's own loop, until nobody has anything to do in it any more.
fn talk(
    (stdin, stdout): (ChildStdin, ChildStdout),
    holds: Arc<AtomicBool>,
    lines: Arc<Mutex<Vec<String>>>,
    seen: Seen,
    mut acts: mpsc::UnboundedReceiver<Act>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (send, read) = futures::channel::mpsc::unbounded();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            while holds.load(Ordering::SeqCst) {
                // Until the process is ended, and this thread with the test.
                std::thread::park_timeout(std::time::Duration::from_millis(50));
            }
            let Ok(line) = line else { return };
            lines.lock().unwrap().push(line.clone());
            if send.unbounded_send(Ok(line)).is_err() {
                return;
            }
        }
    });
    let write = futures::sink::unfold(stdin, |mut stdin, line: String| async move {
        stdin.write_all(format!("{line}\n").as_bytes())?;
        stdin.flush()?;
        Ok::<_, std::io::Error>(stdin)
    });
    let (updates, asks) = (seen.threads.clone(), seen);
    let ended = runtime.block_on(
        Client
            .v1()
            .on_receive_notification(
                async move |update: SessionNotification, _| {
                    with(&updates, &update.session_id.to_string(), |it| it.take(update.update));
                    Ok(())
                },
                on_receive_notification!(),
            )
            .on_receive_request(
                async move |request: RequestPermissionRequest, responder, _| {
                    asks.ask(request, responder);
                    Ok(())
                },
                on_receive_request!(),
            )
            .connect_with(Lines::new(Box::pin(write), read), async move |agent| {
                loop {
                    tokio::select! {
                        act = acts.recv() => match act {
                            Some(act) => act(agent.clone()),
                            None => return Ok(()),
                        },
                        () = agent.incoming_closed() => return Ok(()),
                    }
                }
            }),
    );
    // An agent that was killed is no fault of the editor.
    drop(ended);
}

impl Seen {
    fn ask(
        &self,
        request: RequestPermissionRequest,
        responder: Responder<RequestPermissionResponse>,
    ) {
        let session = request.session_id.to_string();
        let call = request.tool_call.tool_call_id.clone();
        let cancellation = responder.cancellation();
        let title = request.tool_call.fields.title.clone().unwrap_or_default();
        with(&self.threads, &session, |thread| {
            thread.show_call(&call.to_string(), title, &request.tool_call.fields);
            thread.asked.push(Asked { request, withdrawn: false, responder });
        });
        let (threads, ignores) = (self.threads.clone(), self.ignores.clone());
        tokio::spawn(async move {
            cancellation.cancelled().await;
            let taken = with(&threads, &session, |thread| {
                let of = |one: &Asked| one.responder.cancellation().is_cancelled();
                let at = thread.asked.iter().position(|one| of(one) && !one.withdrawn)?;
                if ignores.load(Ordering::SeqCst) {
                    thread.asked[at].withdrawn = true;
                    return None;
                }
                Some(thread.asked.remove(at))
            });
            if let Some(asked) = taken {
                let _gone = asked.responder.respond(chosen(None));
            }
        });
    }
}

/// Whether a line is a message of JSON-RPC.
pub fn is_message(line: &str) -> bool {
    let read: Result<Value, _> = serde_json::from_str(line);
    read.is_ok_and(|value| value["jsonrpc"] == "2.0")
}
