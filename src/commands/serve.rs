//! `claw serve`: an MCP server on standard input and output, which a client starts. Owns
//! what answers behind it where no gateway runs. Standard output belongs to MCP. Must
//! not know what is asked.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

use claw_cli::args::ServeArgs;
use claw_cli::fail::{self, UserError};
use claw_cli::out;
use claw_core::app::App;
use claw_core::config::{Config, Overrides};
use claw_core::domain::ClientName;
use claw_core::domain::canonical::hex;
use claw_door_mcp::door::Serves;
use claw_door_mcp::front::backend::{Backends, Here};
use claw_door_mcp::front::stdio;
use claw_door_mcp::http::Http;
use claw_door_mcp::serving::Serving;
use claw_door_mcp::socket::{Hello, SOCKET};

/// What a client is called that was given no name.
const CLIENT: &str = "stdio";
/// Between the front and the agent in one process so many bytes may be on their way.
const DUPLEX_BYTES: usize = 64 * 1024;
/// A front is known by so many random bytes.
const FRONT_BYTES: usize = 16;

pub async fn run(overrides: Overrides, wanted: ServeArgs) -> anyhow::Result<ExitCode> {
    if let Some(address) = wanted.http {
        return over_http(overrides, address, wanted.tools).await;
    }
    let client = ClientName::new(wanted.client.as_deref().unwrap_or(CLIENT))?;
    let config = Config::load(overrides.clone())?;
    if config.is_behind_itself() {
        return Err(UserError::because(
            "this claw was started by itself: one of the servers in mcp.json leads back to `claw \
             serve` of the same home; take that entry out",
        ));
    }
    let mut front = [0_u8; FRONT_BYTES];
    getrandom::fill(&mut front)
        .map_err(|error| UserError::because(format!("the system gives no randomness: {error}")))?;
    let hello = Hello::new(client, wanted.tools, hex(&front));
    let backends = Backends {
        socket: config.home.path().join(SOCKET),
        hello: hello.clone(),
        here: Box::new(move || Box::pin(open_here(overrides.clone(), hello.clone()))),
        line_bytes_max: usize::try_from(config.serve.body_bytes_max).unwrap_or(usize::MAX),
    };
    drop(config);
    if std::io::stdin().is_terminal() {
        out::err_line(
            "claw: a client starts this and speaks MCP with it here; `claw serve --install CLIENT` \
             sets one up. Ctrl-D ends it.",
        );
    }
    stdio::run(&backends, Box::pin(told_to_end()?)).await?;
    Ok(ExitCode::from(fail::DONE))
}

/// Somebody wants the process to end.
fn told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Serves clients with tokens until somebody wants it to end.
async fn over_http(
    overrides: Overrides,
    address: SocketAddr,
    tools: bool,
) -> anyhow::Result<ExitCode> {
    if !address.ip().is_loopback() {
        return Err(UserError::because(format!(
            "others can reach {address} without TLS; use 127.0.0.1, and a reverse proxy in front \
             of it"
        )));
    }
    let ends = told_to_end()?;
    let http = Http::bind(address).await.map_err(|error| {
        UserError::because(format!("{address} cannot be used: {error}; name another port"))
    })?;
    let (app, serving) = open(overrides, Serves::All).await?;
    out::err_line(&format!(
        "claw: MCP clients with a token are served at {}; `claw clients add NAME` makes a token, \
         Ctrl-C ends this.",
        http.url()
    ));
    let beside = beside(&app);
    tokio::select! {
        () = http.serve(serving.clone(), tools) => {}
        () = ends => {}
    }
    serving.wind_down().await;
    beside.iter().for_each(JoinHandle::abort);
    app.close().await;
    Ok(ExitCode::from(fail::DONE))
}

/// The agent in this process, with its door open.
async fn open(overrides: Overrides, serves: Serves) -> anyhow::Result<(Arc<App>, Arc<Serving>)> {
    let app = Arc::new(App::open(Config::load(overrides)?)?);
    claw_cli::tell_migration(&app.store);
    claw_cli::undo::finish_cut(&app, |line| out::err_line(&format!("claw: {}", out::clean(line))))
        .await;
    for notice in app.warnings.iter().chain(&app.config.notices) {
        out::err_line(&format!("claw: {}", out::clean(notice)));
    }
    let context = app.door_context(app.agents()).await?;
    Ok((app, Serving::start(context, serves)))
}

/// What an open home needs beside its door.
fn beside(app: &Arc<App>) -> [JoinHandle<()>; 2] {
    [claw_cli::retention::begin(app.clone()), claw_cli::follow_settings::begin(app.clone())]
}

/// An agent in this process, for this client alone.
async fn open_here(overrides: Overrides, hello: Hello) -> anyhow::Result<Here> {
    let (app, serving) = open(overrides, Serves::Only(hello.client.clone())).await?;
    if let Err(why) = app.clients.is_welcome(&hello.client) {
        serving.wind_down().await;
        app.close().await;
        return Err(UserError::because(why.to_string()));
    }
    let (stream, ours) = tokio::io::duplex(DUPLEX_BYTES);
    serving.answer(hello, None, ours);
    let beside = beside(&app);
    let close = async move {
        serving.wind_down().await;
        beside.iter().for_each(JoinHandle::abort);
        app.close().await;
    };
    Ok(Here { stream, close: Box::pin(close) })
}
