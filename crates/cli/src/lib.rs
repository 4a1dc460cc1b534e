//! The command line: one file a command. Here and in the doors is the only printing. Must not know
//! how a room works.

mod approval_answers;
mod approvals;
pub mod args;
mod artifacts;
mod ask;
mod ask_person;
mod ask_progress;
mod ask_words;
mod audit;
mod audit_calls;
mod backup;
mod clients;
mod digest;
mod doctor;
mod explain;
pub mod fail;
pub mod follow_settings;
mod gateway;
mod gateway_agent;
mod grants;
mod help;
mod init;
mod interrupt;
mod manual;
mod mcp;
mod memory;
mod mistyped;
mod moment;
mod new_file;
mod open;
mod open_folders;
pub mod out;
mod panic;
mod patience;
mod persona;
mod prompt_report;
mod proof;
mod replay;
pub mod retention;
mod schedule;
mod serve;
pub mod server;
pub mod service;
mod sessions;
mod staged_report;
pub mod supervise;
mod tools;
mod transfer;
mod turn_report;
mod turn_sum;
pub mod undo;
mod update;
mod whose;

use std::ffi::OsString;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use clap::error::ErrorKind;

use crate::app::App;
use crate::config::{Config, MAIN, Overrides, Started};
use crate::domain::{Answer, Mode, Scope, SessionId, Term};
use crate::doors::entry::{DoorEntries, sections_of};
use crate::doors::typed::{self, Typed};
use crate::moment::when;
use crate::store::{AuditHead, Store};
use args::{
    ArtifactsAction, AtHome, AuditAction, Cli, ClientsAction, Command, For, GrantsAction,
    PanicWhat, ServeArgs, SessionArg, SessionsAction, ToolsAction,
};

use claw_bot_api as bot_api;
use claw_core::{
    app, calls, catalog, chat_commands, config, domain, durable, heartbeats, hub, mail, model,
    router, session, store, turn,
};
use claw_doors as doors;
use claw_terminal as terminal;

/// A command on its way to its exit code.
pub type Running = Pin<Box<dyn Future<Output = anyhow::Result<ExitCode>>>>;

/// The commands that open doors. The program hands them in, so that nothing here knows a door, and
/// a change in one compiles nothing here anew.
#[derive(Debug)]
pub struct DoorCommands {
    /// All doors of the program; `claw gateway` runs those that can be run by it.
    pub entries: DoorEntries,
    pub acp: fn(Arc<App>) -> Running,
    pub chat: fn(Arc<App>, SessionId, Option<Mode>) -> Running,
    /// A client that starts it, or clients over HTTP; setting one up is done here.
    pub serve: fn(Overrides, ServeArgs) -> Running,
}

impl DoorCommands {
    /// Those of a program whose doors are run by the gateway alone.
    pub const fn of_gateway(entries: DoorEntries) -> Self {
        fn none() -> Running {
            Box::pin(std::future::ready(Err(fail::UserError::because(
                "this program has no such door; run `gateway`",
            ))))
        }
        Self { entries, acp: |_| none(), chat: |_, _, _| none(), serve: |_, _| none() }
    }
}

/// Reads a command line. `Err` when that was all: help, the version, or a mistake, which was
/// printed.
pub fn parse(arguments: Vec<OsString>) -> Result<Cli, ExitCode> {
    let words: Vec<String> = arguments
        .iter()
        .skip(1)
        .filter_map(|word| word.to_str())
        .filter(|word| !word.starts_with('-'))
        .map(str::to_owned)
        .collect();
    let wrong = arguments
        .iter()
        .skip(1)
        .find(|word| word.to_str().is_none())
        .map(|word| word.display().to_string());
    Cli::try_parse_from(arguments).map_err(|mut error| {
        if let (ErrorKind::InvalidUtf8, Some(word)) = (error.kind(), wrong) {
            return fail::report_own(&fail::UserError::because(format!(
                "the word `{}` of this command line is not UTF-8 text; type it as UTF-8, or give a file as standard input",
                out::clean(&word)
            )));
        }
        let tip = mistyped::tip(&mut error, &words);
        // Help and version go to standard output, and are asked for to be read.
        match error.print() {
            Ok(()) => {
                tip.iter().for_each(|tip| out::err_line(tip));
                ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(fail::BROKEN))
            }
            Err(error) => fail::report_own(&out::Unwritten(error).into()),
        }
    })
}

/// Carries out a command line; [`fail::report`] says what went wrong. `Server` never comes here: a
/// server starts before there is a runtime.
pub fn run(cli: Cli, doors: &'static DoorCommands) -> Running {
    Box::pin(carry_out(cli, doors))
}

async fn carry_out(cli: Cli, doors: &'static DoorCommands) -> anyhow::Result<ExitCode> {
    let started = started(&cli.command)?;
    if started.as_ref().is_some_and(|started| started.is_meant) && cli.workspace.is_some() {
        return Err(fail::UserError::because(
            "`-C` and `--workspace` are both given; leave one out",
        ));
    }
    let overrides = Overrides {
        doors: sections_of(doors.entries),
        workspace: cli.workspace,
        model: cli.model,
        agent: cli.agent,
        started,
    };
    let all = matches!(
        cli.command,
        Command::Backup { .. }
            | Command::Restore { .. }
            | Command::Service { .. }
            | Command::Init
            | Command::Update { .. }
    );
    if all && overrides.agent.is_some() {
        return Err(fail::UserError::because(
            "this command is about all agents; leave out `--agent`",
        ));
    }
    match cli.command {
        // The stop switch also where the home cannot be opened.
        Command::Panic { what, json } => match what {
            PanicWhat::On => panic::on(overrides, json.json).await,
            PanicWhat::Off => panic::off(overrides, json.json).await,
            PanicWhat::Status => panic::status(overrides, json.json).await,
        },
        Command::AtHome(command) => {
            let app = Box::pin(open_for(overrides, &command)).await?;
            let done = Box::pin(at_home(&app, command, doors)).await;
            app.close().await;
            app.leave_windows();
            done
        }
        // What has to work without a home, or when a setting in it is wrong.
        Command::Doctor { json, repair, yes } => {
            doctor::run(overrides, doctor::Wanted { as_json: json.json, repair, yes }).await
        }
        Command::Backup { file, json } => backup::run(&config::locate_home()?, &file, json.json),
        Command::Restore { file, json } => {
            backup::restore::run(&config::locate_home()?, &file, json.json).await
        }
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { dir } => manual::man(dir.as_deref()),
        Command::Help { words } => help::run(&words),
        Command::Service { action } => service::run(overrides, &action),
        Command::Gateway => gateway::run(overrides, doors.entries).await,
        Command::Serve(args) => match serve::setup_of(&args) {
            Some(setup) => Box::pin(serve::set_up(overrides, setup)).await,
            None => (doors.serve)(overrides, args).await,
        },
        Command::Init => init::run(&overrides.doors).await,
        Command::Update { check } => update::run(check, &overrides.doors).await,
        Command::Server { name, rest } => Ok(server::run(&name, &rest)),
    }
}

/// Where a conversation was started; it works in the repository there.
fn started(command: &Command) -> anyhow::Result<Option<Started>> {
    let folder = match command {
        Command::AtHome(AtHome::Chat { place, .. } | AtHome::Ask { place, .. }) => &place.folder,
        Command::AtHome(AtHome::Undo { .. }) => &None,
        _ => return Ok(None),
    };
    Ok(match folder {
        Some(folder) => Some(Started { folder: std::path::absolute(folder)?, is_meant: true }),
        // A folder that was removed is no place to be.
        None => std::env::current_dir().ok().map(|folder| Started { folder, is_meant: false }),
    })
}

/// The session that was named, or that of the folder. It keeps to this workspace from now on.
async fn session(app: &App, named: SessionArg) -> anyhow::Result<SessionId> {
    let of_folder = app.config.session_of_folder.clone();
    let session = SessionId::new(named.session.or(of_folder).unwrap_or_else(|| MAIN.to_owned()))?;
    app.gate.calls().keep_session_here(&session).await?;
    Ok(session)
}

/// The app of the agent and the workspace that a command is about.
async fn open_for(overrides: Overrides, command: &AtHome) -> anyhow::Result<Arc<App>> {
    let mut app = App::open(Config::load(overrides.clone())?)?;
    tell_migration(&app.store);
    if overrides.agent.is_none()
        && let Some(agent) = whose::other_agent(&app, command)?
    {
        app.close().await;
        app = App::open(Config::load(Overrides { agent: Some(agent), ..overrides.clone() })?)?;
    }
    let typed = overrides.workspace.is_some();
    if let Some(workspace) = whose::other_workspace(&app, command, typed)? {
        app.close().await;
        let agent = Some(app.config.agent.name.clone());
        let there = Overrides { agent, workspace: Some(workspace), ..overrides };
        app = App::open(Config::load(there)?)?;
    }
    Ok(Arc::new(app))
}

/// What opening the store has changed is said once, by the command that came first.
pub fn tell_migration(store: &Store) {
    if let Some(migrated) = store.migrated() {
        out::err_line(&format!("claw: {}.", out::clean(&migrated.to_string())));
    }
}

/// Whether turns run in it, or are undone.
fn works_in_turns(command: &AtHome) -> bool {
    matches!(command, AtHome::Acp | AtHome::Chat { .. } | AtHome::Ask { .. } | AtHome::Undo { .. })
}

/// What is done in an open home.
async fn at_home(
    app: &Arc<App>,
    command: AtHome,
    doors: &DoorCommands,
) -> anyhow::Result<ExitCode> {
    if works_in_turns(&command) {
        undo::finish_cut(app, |line| out::err_line(&format!("claw: {}", out::clean(line)))).await;
    }
    match command {
        AtHome::Acp => (doors.acp)(app.clone()).await,
        AtHome::Chat { session, mode, .. } => {
            let session = self::session(app, session).await?;
            (doors.chat)(app.clone(), session, mode.map(Mode::from)).await
        }
        AtHome::Ask { text, session, own_turn, mode, json, .. } => {
            let (session, mode) = (self::session(app, session).await?, mode.map(Mode::from));
            let text = text.join(" ");
            Box::pin(ask::run(app, ask::Ask { text, session, json, own_turn, mode })).await
        }
        AtHome::Tools { action, server, json } => tools(app, action, server, json.json).await,
        AtHome::Mcp { action, json } => mcp::run(app, action, json.json).await,
        AtHome::Approvals { id: None, json } => approvals::list(app, json.json),
        AtHome::Approvals { id: Some(id), json } => approvals::show(app, &id, json.json),
        AtHome::Approve { id, button: Some(number), json, .. } => {
            let answer = Answer::Press { index: number.get() - 1 };
            approvals::answer(app, &id, answer, json.json).await
        }
        AtHome::Approve { id, value: Some(text), json, .. } => {
            approvals::answer(app, &id, approvals::value_of(app, &id, &text)?, json.json).await
        }
        AtHome::Approve { id, term, below, edits_below, command, hosts, mode, json, .. } => {
            let scope = scope(below, edits_below, command, hosts);
            approvals::answer(app, &id, allow(term, scope, mode.map(Mode::from)), json.json).await
        }
        AtHome::Deny { id, words, never, json } => {
            let word = denied_with(&words.join(" "));
            let answer = if never { Answer::Never } else { Answer::Deny { word } };
            approvals::answer(app, &id, answer, json.json).await
        }
        AtHome::Grants { action, json } => match action {
            None | Some(GrantsAction::List) => grants::list(app, json.json),
            Some(GrantsAction::Revoke { id }) => grants::revoke(app, &id, json.json).await,
        },
        AtHome::Clients { action, json } => match action {
            None | Some(ClientsAction::List) => clients::list(app, json.json),
            Some(ClientsAction::Add { name }) => clients::add(app, &name, json.json).await,
            Some(ClientsAction::Revoke { name }) => clients::revoke(app, &name, json.json).await,
        },
        AtHome::Memory { action, json } => memory::run(app, action, json.json).await,
        AtHome::Schedule { action, json } => schedule::run(app, action, json.json).await,
        AtHome::Persona { action, json } => persona::run(app, action, json.json),
        AtHome::Artifacts { action, json } => match action {
            None | Some(ArtifactsAction::List) => artifacts::list(app, json.json),
            Some(ArtifactsAction::Show { name }) => artifacts::show(app, &name, json.json),
            Some(ArtifactsAction::Rm { name }) => artifacts::remove(app, &name, json.json).await,
            Some(ArtifactsAction::Alias { name, alias }) => {
                artifacts::alias(app, &name, alias.as_deref(), json.json).await
            }
        },
        AtHome::Digest { json } => digest::run(app, json.json).await,
        AtHome::Open { what, write, time, json } => open::run(app, what, write, time, json).await,
        AtHome::Close { what, json } => open::close(app, what, json.json).await,
        AtHome::Undo { turn, list, redo, yes, json } => {
            let wanted = undo::Wanted { turn, redo, yes, as_json: json.json };
            if list { undo::list(app, json.json).await } else { undo::run(app, wanted).await }
        }
        AtHome::Audit { action, rows, follow, limit, json } => {
            let listed = audit::Listed { limit, rows, follow, as_json: json.json };
            audit(app, action, listed).await
        }
        AtHome::Sessions { action, json } => sessions(app, action, json.json).await,
    }
}

async fn audit(
    app: &App,
    action: Option<AuditAction>,
    listed: audit::Listed,
) -> anyhow::Result<ExitCode> {
    let as_json = listed.as_json;
    match action {
        None | Some(AuditAction::List) => audit::list(app, listed).await,
        Some(AuditAction::Verify { head }) => {
            let told = head.map(|(number, digest)| AuditHead { number, digest });
            proof::verify(app, told.as_ref(), as_json)
        }
        Some(AuditAction::Head) => proof::head(app, as_json),
        Some(AuditAction::Anchor { accept: true }) => proof::accept(app, as_json).await,
        Some(AuditAction::Anchor { accept: false }) => proof::anchor(app, as_json),
        Some(AuditAction::Explain { id }) => explain::run(app, &id, as_json),
    }
}

async fn sessions(
    app: &App,
    action: Option<SessionsAction>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    match action {
        None | Some(SessionsAction::List) => sessions::list(app, as_json),
        Some(SessionsAction::Show { name, prompt: None }) => sessions::show(app, &name, as_json),
        Some(SessionsAction::Show { name, prompt: Some(turn) }) => {
            prompt_report::run(app, &name, &turn, as_json)
        }
        Some(SessionsAction::Export { name, out }) => transfer::export(app, &name, out.as_deref()),
        Some(SessionsAction::Import { file, name }) => {
            transfer::import(app, &file, name, as_json).await
        }
        Some(SessionsAction::Replay { name }) => replay::run(app, name.as_deref(), as_json),
    }
}

async fn tools(
    app: &App,
    action: Option<ToolsAction>,
    server: Option<String>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    match action {
        None => tools::list(app, server.as_deref(), as_json).await,
        Some(ToolsAction::List { server }) => tools::list(app, server.as_deref(), as_json).await,
        Some(ToolsAction::Diff) => tools::diff(app, as_json).await,
        Some(ToolsAction::Accept { what }) => tools::accept(app, &what, as_json).await,
    }
}

/// The yes that the flags of `claw approve` mean. A mode is for the session.
fn allow(term: Option<For>, scope: Scope, mode: Option<Mode>) -> Answer {
    if let Some(mode) = mode {
        return Answer::Allow { term: Term::Session, scope: Scope::Mode { mode } };
    }
    let term = match term {
        None => Term::Once,
        Some(For::TenMinutes) => Term::TenMinutes,
        Some(For::Session) => Term::Session,
        Some(For::Always) => Term::Always,
    };
    Answer::Allow { term, scope }
}

/// The word of a denial. "no," in front of it is said already.
fn denied_with(words: &str) -> Option<String> {
    let word = match typed::typed(words) {
        Typed::No { word } => word,
        Typed::Yes | Typed::Remark => Some(words.to_owned()),
    };
    word.filter(|word| !word.trim().is_empty())
}

/// What the flags name, which exclude each other.
fn scope(
    below: Option<String>,
    edits_below: Option<String>,
    command: Option<String>,
    hosts: Vec<String>,
) -> Scope {
    match (edits_below, below, command) {
        (Some(path), _, _) => Scope::Files { path },
        (None, Some(path), _) => Scope::Below { path },
        (None, None, Some(command)) => {
            Scope::Command { words: command.split_whitespace().map(str::to_owned).collect() }
        }
        (None, None, None) if !hosts.is_empty() => Scope::Hosts { hosts },
        (None, None, None) => Scope::Exact,
    }
}
