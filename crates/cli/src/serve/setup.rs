//! `--install` and `--print-config`: which client's file is meant, and what claw's entry in it
//! says.
//! Must not know how a file is changed.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::ValueEnum as _;

use super::client_file::{ClientFile, shaped};
use super::entry::Entry;
use super::install;
use crate::args::ClientApp;
use crate::config::{Config, Overrides};
use crate::domain::ClientName;
use crate::fail::UserError;
use crate::model::key_variables;
use crate::out;

/// The variables beside a provider's key that choose the model.
const CHOOSING: [&str; 4] = ["CLAW_AGENT", "CLAW_MODEL", "CLAW_BASE_URL", "OLLAMA_HOST"];

/// What is to be written, and how.
pub struct Setup {
    pub app: ClientApp,
    /// Only print it.
    pub print: bool,
    /// Without asking.
    pub yes: bool,
    /// What claw is to call the client; its own name otherwise.
    pub client: Option<String>,
    /// Offer the tools of claw's servers, too.
    pub tools: bool,
}

pub async fn run(overrides: Overrides, setup: Setup) -> anyhow::Result<ExitCode> {
    let agent = overrides.agent.clone();
    let config = Config::load(overrides)?;
    let program = std::env::current_exe().context("claw cannot find its own program")?;
    let home = config.env.get("CLAW_HOME").map(|_| config.home.root());
    let client = ClientName::new(setup.client.unwrap_or_else(|| name_of(setup.app)))?;
    let tools = setup.tools.then(|| "--tools".to_owned());
    let words: Vec<String> =
        ["--client".to_owned(), client.as_str().to_owned()].into_iter().chain(tools).collect();
    let program = program.to_str().ok_or_else(|| {
        UserError::because(format!(
            "the path of this program, {}, is no UTF-8 text, so no client's configuration can \
             name it; move the program to another folder",
            out::clean(&program.display().to_string())
        ))
    })?;
    let entry = shaped(setup.app, &Entry::new(program, agent.as_deref(), home, &words));
    let file = ClientFile::of_config(&config, setup.app);
    if setup.print {
        return install::print(&file, &entry);
    }
    let note = about_the_model(&config, file.client)?;
    install::run(file, entry, note.as_deref(), setup.yes).await
}

/// A client that starts claw gives it little of this environment, and a model may be chosen there.
fn about_the_model(config: &Config, client: &str) -> anyhow::Result<Option<String>> {
    let written = crate::config::read_if_there(&config.home.claw_toml())?.unwrap_or_default();
    let section = &config.model;
    // A key that stands in the file itself needs no variable.
    let keys = key_variables().filter(|key| section.api_key.is_none() || written.contains(key));
    let names = CHOOSING.into_iter().chain(keys);
    let names: Vec<&str> = names.filter(|name| config.env.get(name).is_some()).collect();
    if !names.is_empty() {
        return Ok(Some(format!(
            "{client} does not have the variables of this shell. What your model needs of {} has \
             to stand in claw.toml: `claw init` puts it there.",
            names.join(", ")
        )));
    }
    let is_chosen =
        section.agent.is_some() || section.base_url.is_some() || section.api_key.is_some();
    let demo = "No model is set up yet, so claw's built-in demo answers: `claw init` sets one up.";
    Ok((!is_chosen).then(|| demo.to_owned()))
}

/// Clients are told apart by their names, so each has its own.
fn name_of(app: ClientApp) -> String {
    app.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
