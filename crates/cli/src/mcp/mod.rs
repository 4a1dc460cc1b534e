//! `claw mcp`: the servers of `mcp.json`, seen, tried, put in and taken out. Must not know how a
//! server is reached.

mod add;
mod callback;
mod entry;
mod found;
mod import;
mod list;
mod login;
mod placed;
mod trust;
mod try_out;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use super::args::McpAction;
use super::fail::UserError;
use crate::app::App;
use crate::durable;
use crate::hub::login::LoginRequest;
use crate::hub::manifest::{self, Expansion};

pub async fn run(app: &App, action: Option<McpAction>, as_json: bool) -> anyhow::Result<ExitCode> {
    match action {
        None | Some(McpAction::List) => list::run(app, as_json),
        Some(McpAction::Add { name, url, headers, env, command }) => {
            let command = placed::from_anywhere(command, Path::new(""));
            add::run(app, &name, entry::typed(url, headers, env, command), as_json)
        }
        Some(McpAction::Remove { name }) => add::remove(app, &name, as_json),
        Some(McpAction::Login { name, client_id, client_secret_env, scopes, port, new }) => {
            let client_secret = login::secret_in(app, client_secret_env.as_deref())?;
            let is_new = new || client_id.is_some() || !scopes.is_empty() || port.is_some();
            let request = LoginRequest { client_id, client_secret, scopes };
            login::run(app, &name, login::Begin { request, port, is_new }, as_json).await
        }
        Some(McpAction::Logout { name }) => login::log_out(app, &name, as_json).await,
        Some(McpAction::Trust { name, level }) => trust::run(app, &name, level, as_json).await,
        Some(McpAction::Test { name }) => try_out::run(app, &name, as_json).await,
        Some(McpAction::Import { file, yes }) => import::run(app, file.as_deref(), yes, as_json),
    }
}

/// Where the servers of this agent stand.
struct File {
    path: std::path::PathBuf,
    text: String,
}

impl File {
    fn read(app: &App) -> anyhow::Result<Self> {
        let path = app.config.home.mcp_json();
        let text = Self::text_of(&path)?;
        Ok(Self { path, text })
    }

    fn text_of(path: &Path) -> anyhow::Result<String> {
        std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
    }

    /// Puts another text in its place, once claw has read it as it would at its start. What was
    /// there stays beside it.
    fn replace(&self, text: &str) -> anyhow::Result<()> {
        if Self::text_of(&self.path)? != self.text {
            let what = format!(
                "{} was changed by somebody else meanwhile, and was left as it is: give the \
                 command again",
                self.path.display()
            );
            return Err(UserError::because(what));
        }
        // Its variables do not matter here.
        manifest::parse(text, &Expansion::default())
            .map_err(|error| UserError::because(error.to_string()))?;
        let copy = self.copy();
        durable::replace(&copy, &self.text, 0o600)
            .with_context(|| format!("{} cannot be written", copy.display()))?;
        durable::replace(&self.path, text, 0o600)
            .with_context(|| format!("{} cannot be written", self.path.display()))
    }

    fn copy(&self) -> std::path::PathBuf {
        self.path.with_extension("json.before")
    }
}
