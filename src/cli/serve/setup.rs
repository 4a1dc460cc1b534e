//! `--install` and `--print-config`: which client's file is meant, and what claw's entry in it
//! says.
//! Must not know how a file is changed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::ValueEnum as _;

use super::client_file::{ClientFile, Surroundings, shaped};
use super::entry::Entry;
use super::install;
use crate::cli::args::ClientApp;
use crate::config::{Config, Overrides};
use crate::domain::ClientName;

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
    let entry = shaped(setup.app, &Entry::new(&program, agent.as_deref(), home, &words));
    let file = file_of(&config, setup.app);
    if setup.print {
        return install::print(&file, &entry);
    }
    install::run(file, entry, setup.yes).await
}

/// Clients are told apart by their names, so each has its own.
fn name_of(app: ClientApp) -> String {
    app.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn file_of(config: &Config, app: ClientApp) -> ClientFile {
    let variable = |name: &str| config.env.get(name).map(PathBuf::from);
    let home: &Path = &config.user_home;
    let is_macos = cfg!(target_os = "macos");
    ClientFile::of(app, &Surroundings { home, variable: &variable, is_macos })
}
