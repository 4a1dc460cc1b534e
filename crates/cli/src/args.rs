//! The command line as it is typed. Owns names, helps and defaults; must not know what a command
//! does.

mod artifacts;
mod audit;
mod clients;
mod mcp;
mod memory;
mod modes;
mod persona;
mod schedule;
mod serve;
mod service;
mod sessions;
mod tools;

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::{help, open};
use crate::domain::TurnId;

pub use artifacts::ArtifactsAction;
pub use audit::AuditAction;
pub use clients::ClientsAction;
pub use mcp::{McpAction, TrustArg};
pub use memory::MemoryAction;
pub use modes::{GivenMode, ModeArg};
pub use persona::PersonaAction;
pub use schedule::{AddArgs, ScheduleAction};
pub use serve::{ClientApp, ServeArgs};
pub use service::ServiceAction;
pub use sessions::SessionsAction;
pub use tools::ToolsAction;

/// A personal agent that asks before it acts.
#[derive(Debug, Parser)]
#[command(
    name = "claw",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = help::TOPICS
)]
pub struct Cli {
    /// The folder that the tools work in [default: workspace in the home]
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The model that answers, as its provider names it [default: what CLAW_MODEL, claw.toml or a
    /// key says, the first of them]
    #[arg(long, global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// Which agent, as `[agents.NAME]` in claw.toml names it [default: main; for gateway and doctor
    /// all of them]
    #[arg(long, global = true, value_name = "NAME")]
    pub agent: Option<String>,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Set up a model and a Telegram bot, question by question; again to change them
    Init,
    #[command(flatten)]
    AtHome(AtHome),
    /// The stop switch: block every call at once, end what runs
    Panic {
        #[arg(value_enum)]
        what: PanicWhat,
        #[command(flatten)]
        json: Json,
    },
    /// Run the Telegram door until stopped (TELEGRAM_BOT_TOKEN, CLAW_ALLOWED_CHATS)
    Gateway,
    /// Be an MCP server on stdin and stdout, for a desktop client that starts it
    Serve(ServeArgs),
    /// Run one of claw's own tool servers on stdin and stdout
    Server {
        /// bash, filesystem, memory or scheduler
        name: String,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        rest: Vec<OsString>,
    },
    /// Check the home, the store, the box, the servers and the model
    Doctor {
        /// Offer to repair what can be repaired without losing anything; each repair asks first
        #[arg(long)]
        repair: bool,
        /// Repair all of it without asking (needs --repair)
        #[arg(long, requires = "repair")]
        yes: bool,
        #[command(flatten)]
        json: Json,
    },
    /// Write what claw knows into one file, also while claw runs: store, settings, persona, notes,
    /// jobs and artifacts
    Backup {
        /// A new file; nothing is overwritten
        file: PathBuf,
        #[command(flatten)]
        json: Json,
    },
    /// Make a home from a backup, where there is none yet
    Restore {
        /// What `claw backup` wrote
        file: PathBuf,
        #[command(flatten)]
        json: Json,
    },
    /// Print a script that completes claw's commands in a shell
    Completions {
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the man page, or write one for each command
    Man {
        /// Write claw.1 and a page for each command into this folder
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// The gateway as a service of yours: systemd, or launchd on macOS
    Service {
        #[command(subcommand)]
        action: ServiceAction,
    },
    /// Say how this claw is updated, or whether there is a newer version. Changes nothing
    ///
    /// Exit codes with --check: 0 this is the newest version, 5 there is a newer one, 1 it could
    /// not be found out, 2 no address is set.
    Update {
        /// Ask the address in claw.toml, `[update] url`, which version is the newest
        #[arg(long)]
        check: bool,
    },
    /// Show a page of the manual, what a command takes, or this list
    Help {
        /// A page, such as guide, or a command, such as `memory add`
        #[arg(value_name = "TOPIC")]
        words: Vec<String>,
    },
}

/// What is done in a home whose settings are right. The others look after themselves.
#[derive(Debug, Subcommand)]
pub enum AtHome {
    /// Talk to claw in this terminal
    Chat {
        #[command(flatten)]
        session: SessionArg,
        #[command(flatten)]
        place: PlaceArg,
        /// What runs without a question in this conversation, as `/mode` sets it
        #[arg(long, value_name = "MODE")]
        mode: Option<ModeArg>,
    },
    /// Be the agent of an editor (Zed, JetBrains, Neovim): the Agent Client Protocol on stdin and
    /// stdout
    Acp,
    /// Ask once: the reply on stdout, everything else on stderr
    ///
    /// Exit codes: 0 done, 1 broken, 2 a mistake in what was typed or configured, 3 a call waits
    /// for an answer, 4 the model is unavailable, 130 stopped.
    Ask {
        /// What to ask; `-` or nothing reads standard input, up to 4 MiB. What is piped in beside a
        /// text is quoted behind it, up to 256 KiB. Behind `--` words may begin with a dash
        text: Vec<String>,
        #[command(flatten)]
        session: SessionArg,
        #[command(flatten)]
        place: PlaceArg,
        /// Wait until no turn is open in the session, instead of joining it
        #[arg(long)]
        own_turn: bool,
        /// What runs without a question until this command ends
        #[arg(long, value_name = "MODE")]
        mode: Option<ModeArg>,
        /// Print reply, calls and usage as one JSON object
        #[arg(long)]
        json: bool,
    },
    /// The servers and how many tools each has, or the tools of one; show and accept what changed
    ///
    /// Without a server: one line for each. `--json` lists every tool in both cases.
    Tools {
        #[command(subcommand)]
        action: Option<ToolsAction>,
        /// Start this one alone and list its tools
        server: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// The servers of mcp.json: list, add, remove or test one, import those of other programs
    Mcp {
        #[command(subcommand)]
        action: Option<McpAction>,
        #[command(flatten)]
        json: Json,
    },
    /// List the calls that wait for an answer
    Approvals {
        /// Show all of this one
        id: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Allow a waiting call and carry its turn on, or confirm what a tool has staged
    Approve {
        /// From `claw approvals`
        id: String,
        /// Allow it for longer than this once
        #[arg(long = "for", value_name = "HOW_LONG")]
        term: Option<For>,
        /// Allow the same file tool for every path at or below this one (needs --for)
        #[arg(long, value_name = "PATH", requires = "term")]
        below: Option<String>,
        /// Allow writing, editing and moving files at or below this path; `.` is all of the
        /// workspace (needs --for)
        #[arg(long, value_name = "PATH", requires = "term", conflicts_with = "below")]
        edits_below: Option<String>,
        /// Allow any command of this program and subcommand, such as 'cargo test', with known
        /// options and plain words (needs --for)
        #[arg(long, value_name = "WORDS", requires = "term", conflicts_with_all = ["below", "edits_below"])]
        command: Option<String>,
        /// Allow any command that reaches these hosts of the question and nothing else of the
        /// network, such as 'crates.io,static.crates.io' (needs --for)
        #[arg(long, value_name = "HOSTS", value_delimiter = ',', requires = "term", conflicts_with_all = ["below", "edits_below", "command"])]
        hosts: Vec<String>,
        /// Give the session the mode that lets it through: edits or work
        #[arg(long, value_name = "MODE", conflicts_with_all = ["term", "below", "edits_below", "command", "hosts"])]
        mode: Option<GivenMode>,
        /// Press this one of several buttons that a tool has staged, counted from one
        #[arg(long, value_name = "NUMBER", conflicts_with_all = ["term", "below", "edits_below", "command", "hosts", "mode"])]
        button: Option<NonZeroU32>,
        /// Answer a server that asks for a value in the middle of its call
        #[arg(long, value_name = "TEXT", conflicts_with_all = ["term", "below", "edits_below", "command", "hosts", "mode", "button"])]
        value: Option<String>,
        #[command(flatten)]
        json: Json,
    },
    /// Deny a waiting call and carry its turn on, or cancel what a tool has staged
    Deny {
        /// From `claw approvals`
        id: String,
        /// A word to the model
        words: Vec<String>,
        /// Deny it now and whenever these arguments come again
        #[arg(long, conflicts_with = "words")]
        never: bool,
        #[command(flatten)]
        json: Json,
    },
    /// List or revoke what was allowed or forbidden for longer
    Grants {
        #[command(subcommand)]
        action: Option<GrantsAction>,
        #[command(flatten)]
        json: Json,
    },
    /// List the MCP clients that call claw, make a token for one, or revoke one
    Clients {
        #[command(subcommand)]
        action: Option<ClientsAction>,
        #[command(flatten)]
        json: Json,
    },
    /// What is remembered: list, show, add, edit, forget, restore, check or import notes
    Memory {
        #[command(subcommand)]
        action: Option<MemoryAction>,
        #[command(flatten)]
        json: Json,
    },
    /// What comes when: list, show, add, cancel, pause, resume or run jobs, and their history
    Schedule {
        #[command(subcommand)]
        action: Option<ScheduleAction>,
        #[command(flatten)]
        json: Json,
    },
    /// Show the persona's files, list what they were before, or put that back
    Persona {
        #[command(subcommand)]
        action: Option<PersonaAction>,
        #[command(flatten)]
        json: Json,
    },
    /// List, show or remove what was put aside: long results, earlier parts of conversations
    Artifacts {
        #[command(subcommand)]
        action: Option<ArtifactsAction>,
        #[command(flatten)]
        json: Json,
    },
    /// Show what ran without a question in the last 24 hours, and by what
    Digest {
        #[command(flatten)]
        json: Json,
    },
    /// List what is open to commands, or open something for a time
    Open {
        /// `ssh-agent` or `docker`, each use of which is asked about, or a folder,
        /// which every command reads
        #[arg(value_name = "NAME|FOLDER", value_parser = open::what)]
        what: Option<open::What>,
        /// Let commands also change the folder, from the level `write` on
        #[arg(long, requires = "what")]
        write: bool,
        /// For how long, such as 30m, 1h or 2d, at most 7d
        #[arg(long = "for", value_name = "TIME", default_value = open::TIME_DEFAULT, value_parser = open::time)]
        time: Duration,
        #[command(flatten)]
        json: Json,
    },
    /// Close what `claw open` has opened
    Close {
        /// What to close
        #[arg(value_name = "NAME|FOLDER", value_parser = open::what)]
        what: open::What,
        #[command(flatten)]
        json: Json,
    },
    /// Put back the files that a turn has changed, as they were before it; asks first
    ///
    /// Exit codes: 0 done, 2 there is no such turn or it goes on, 3 it was shown and nobody said
    /// yes, 1 broken.
    Undo {
        /// The turn, such as main:12 [default: the newest one that changed files in the workspace]
        turn: Option<TurnId>,
        /// List the turns that changed files
        #[arg(long, conflicts_with_all = ["turn", "redo", "yes"])]
        list: bool,
        /// Take the newest undo back
        #[arg(long, conflicts_with = "turn")]
        redo: bool,
        /// Do it without asking
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        json: Json,
    },
    /// The story of every call, and the proof that nothing in it was changed
    Audit {
        #[command(subcommand)]
        action: Option<AuditAction>,
        /// Go on as new rows come
        #[arg(long)]
        follow: bool,
        /// Each row by itself, as it is kept, instead of one line a call; `--json` always gives
        /// rows
        #[arg(long)]
        rows: bool,
        /// How many of the newest calls, or rows
        #[arg(long, default_value_t = 100, value_name = "NUMBER")]
        limit: u32,
        #[command(flatten)]
        json: Json,
    },
    /// List, show, replay, export or import sessions
    Sessions {
        #[command(subcommand)]
        action: Option<SessionsAction>,
        #[command(flatten)]
        json: Json,
    },
}

impl Command {
    /// Whether it runs on with nobody in front of it.
    pub fn runs_unwatched(&self) -> bool {
        matches!(self, Self::Gateway | Self::Serve(_))
    }

    /// Whether its input may still be waited for when all is done.
    pub fn leaves_its_input(&self) -> bool {
        matches!(self, Self::Serve(_))
    }

    /// Whether it is told secrets that no redactor knows yet, so that nothing may be logged.
    pub fn hears_new_secrets(&self) -> bool {
        matches!(self, Self::Init)
    }
}

#[derive(Debug, Args)]
pub struct SessionArg {
    /// Which conversation [default: main; in a repository, or with -C, the one of the folder]
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
}

#[derive(Debug, Args)]
pub struct PlaceArg {
    /// Work in this folder, or in the repository that holds it [default: the repository here, if
    /// there is one, else the configured workspace]
    #[arg(short = 'C', value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct Json {
    /// One JSON object a line
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum For {
    #[value(name = "10m")]
    TenMinutes,
    Session,
    Always,
}

#[derive(Debug, Subcommand)]
pub enum GrantsAction {
    List,
    /// Take one back
    Revoke {
        id: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PanicWhat {
    On,
    Off,
    Status,
}
