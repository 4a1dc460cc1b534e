//! The command line: one file a command. Here and in the doors is the only printing. Must not know how a room works.

mod approvals;
pub mod args;
mod ask;
mod ask_person;
mod audit;
mod backup;
mod chat;
mod doctor;
mod explain;
pub mod fail;
mod follow;
mod gateway;
mod grants;
mod init;
mod interrupt;
mod manual;
mod new_file;
mod out;
mod panic;
mod postman;
mod replay;
mod retention;
pub mod server;
mod service;
mod sessions;
mod staged;
pub mod supervise;
mod tools;
mod transfer;
mod turn_report;
mod turn_sum;
mod update;
mod whose;

use std::process::ExitCode;
use std::sync::Arc;

use crate::app::App;
use crate::config::{self, Config, Overrides};
use crate::desk::when;
use crate::domain::{Answer, Scope, SessionId, Term};
use crate::store::Store;
use args::{AuditAction, Cli, Command, For, GrantsAction, PanicWhat, SessionsAction, ToolsAction};

/// Carries out a command line. `Server` never comes here: a server starts before there is a runtime.
pub async fn run(cli: Cli) -> ExitCode {
    match dispatch(cli).await {
        Ok(code) => code,
        Err(error) => fail::report(&error),
    }
}

async fn dispatch(cli: Cli) -> anyhow::Result<ExitCode> {
    let overrides = Overrides { workspace: cli.workspace, model: cli.model, agent: cli.agent };
    let all = matches!(
        cli.command,
        Command::Backup { .. }
            | Command::Restore { .. }
            | Command::Service { .. }
            | Command::Init
            | Command::Update { .. }
    );
    if all && overrides.agent.is_some() {
        return Err(fail::UserError::because("this command is about all agents; leave out `--agent`"));
    }
    // What has to work without a home, or when a setting in it is wrong.
    match &cli.command {
        Command::Doctor { json, repair, yes } => {
            return doctor::run(overrides, doctor::Wanted { as_json: json.json, repair: *repair, yes: *yes }).await;
        }
        Command::Backup { file, json } => return backup::run(&config::locate_home()?, file, json.json),
        Command::Restore { file, json } => return backup::restore::run(&config::locate_home()?, file, json.json).await,
        Command::Completions { shell } => return manual::completions(*shell),
        Command::Man { dir } => return manual::man(dir.as_deref()),
        Command::Service { action } => return service::run(overrides, action),
        Command::Gateway => return gateway::run(overrides).await,
        Command::Init => return init::run().await,
        Command::Update { check } => return update::run(*check).await,
        Command::Panic { what: PanicWhat::On, json } => return panic::on(overrides, json.json).await,
        _ => {}
    }
    let mut app = App::open(Config::load(overrides.clone())?)?;
    tell_migration(&app.store);
    if overrides.agent.is_none()
        && let Some(agent) = whose::other_agent(&app, &cli.command)?
    {
        app.close().await;
        app = App::open(Config::load(Overrides { agent: Some(agent), ..overrides })?)?;
    }
    let app = Arc::new(app);
    let done = command(&app, cli.command).await;
    app.close().await;
    done
}

/// What opening the store has changed is said once, by the command that came first.
pub(crate) fn tell_migration(store: &Store) {
    if let Some(migrated) = store.migrated() {
        out::err_line(&format!("claw: {}.", out::clean(&migrated.to_string())));
    }
}

async fn command(app: &Arc<App>, command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Chat { session } => chat::run(app.clone(), SessionId::new(session.session)?).await,
        Command::Ask { text, session, json } => {
            ask::run(app, ask::Ask { text: text.join(" "), session: SessionId::new(session.session)?, json }).await
        }
        Command::Server { name, rest } => Ok(server::run(&name, &rest)),
        Command::Tools { action, json } => match action {
            None => tools::list(app, None, json.json).await,
            Some(ToolsAction::List { server }) => tools::list(app, server.as_deref(), json.json).await,
            Some(ToolsAction::Diff) => tools::diff(app, json.json).await,
            Some(ToolsAction::Accept { what }) => tools::accept(app, &what, json.json).await,
        },
        Command::Approvals { json } => approvals::list(app, json.json),
        Command::Approve { id, button: Some(number), json, .. } => {
            let answer = Answer::Press { index: number.get() - 1 };
            approvals::answer(app, &id, answer, json.json).await
        }
        Command::Approve { id, term, below, command, button: None, json } => {
            approvals::answer(app, &id, allow(term, below, command), json.json).await
        }
        Command::Deny { id, words, never, json } => {
            let word = (!words.is_empty()).then(|| words.join(" "));
            let answer = if never { Answer::Never } else { Answer::Deny { word } };
            approvals::answer(app, &id, answer, json.json).await
        }
        Command::Grants { action, json } => match action {
            None | Some(GrantsAction::List) => grants::list(app, json.json),
            Some(GrantsAction::Revoke { id }) => grants::revoke(app, &id, json.json).await,
        },
        Command::Audit { action, follow, limit, json } => match action {
            None | Some(AuditAction::List) => audit::list(app, limit, follow, json.json).await,
            Some(AuditAction::Verify) => audit::verify(app, json.json),
            Some(AuditAction::Explain { id }) => explain::run(app, &id, json.json),
        },
        Command::Sessions { action, json } => match action {
            None | Some(SessionsAction::List) => sessions::list(app, json.json),
            Some(SessionsAction::Show { name }) => sessions::show(app, &name, json.json),
            Some(SessionsAction::Export { name, out }) => transfer::export(app, &name, out.as_deref()),
            Some(SessionsAction::Import { file, name }) => transfer::import(app, &file, name, json.json).await,
            Some(SessionsAction::Replay { name }) => replay::run(app, name.as_deref(), json.json),
        },
        Command::Doctor { .. }
        | Command::Gateway
        | Command::Backup { .. }
        | Command::Restore { .. }
        | Command::Completions { .. }
        | Command::Service { .. }
        | Command::Update { .. }
        | Command::Init
        | Command::Man { .. } => Ok(ExitCode::from(fail::DONE)),
        Command::Panic { what, json } => match what {
            PanicWhat::On => panic::set(app, true, json.json).await,
            PanicWhat::Off => panic::set(app, false, json.json).await,
            PanicWhat::Status => panic::status(app, json.json),
        },
    }
}

fn allow(term: Option<For>, below: Option<String>, command: Option<String>) -> Answer {
    let term = match term {
        None => Term::Once,
        Some(For::TenMinutes) => Term::TenMinutes,
        Some(For::Session) => Term::Session,
        Some(For::Always) => Term::Always,
    };
    let scope = match (below, command) {
        (Some(path), _) => Scope::Below { path },
        (None, Some(command)) => Scope::Command { words: command.split_whitespace().map(str::to_owned).collect() },
        (None, None) => Scope::Exact,
    };
    Answer::Allow { term, scope }
}
