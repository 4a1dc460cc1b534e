//! The arguments of the command line, as they were typed. Owns names, helps and which go together; must not know what a
//! command does.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::domain::SessionId;

/// A personal agent that asks before it acts.
#[derive(Debug, Parser)]
#[command(
    name = "claw",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Cli {
    /// The directory that tools work in [default: CLAW_WORKSPACE or ~/.claw/workspace]
    #[arg(long, global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Talk to claw
    Chat(Chat),
    /// Ask once: the reply on stdout, everything else on stderr
    #[command(
        after_help = "Exit codes: 0 done, 2 user error, 3 waits for an answer (see `claw approvals`), 4 model unavailable."
    )]
    Ask(Ask),
    /// Run one of the built-in MCP servers on stdio
    Server(Server),
    /// List the tools and their servers; accept changed ones
    #[command(args_conflicts_with_subcommands = true)]
    Tools(Tools),
    /// List the calls that wait for an answer
    Approvals(Listing),
    /// Allow a waiting call, and carry its turn on
    Approve(Approve),
    /// Refuse a waiting call, and carry its turn on
    Deny(Deny),
    /// List what is allowed without asking, or revoke it
    #[command(args_conflicts_with_subcommands = true)]
    Grants(Grants),
    /// List what was asked, allowed and done; verify the record
    #[command(args_conflicts_with_subcommands = true)]
    Audit(Audit),
    /// List, show or export sessions
    #[command(args_conflicts_with_subcommands = true)]
    Sessions(Sessions),
    /// Check the model, the servers, the box and the home
    Doctor(Listing),
    /// The stop switch: block every call at once
    Panic(Panic),
}

#[derive(Debug, Args)]
pub struct Chat {
    #[command(flatten)]
    pub session: SessionArg,
}

#[derive(Debug, Args)]
pub struct SessionArg {
    /// The conversation to go on with
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub session: SessionId,
}

#[derive(Debug, Args)]
pub struct Ask {
    /// What to ask; `-`, or nothing with a pipe on stdin, reads it from there
    #[arg(value_name = "TEXT")]
    pub text: Vec<String>,
    #[command(flatten)]
    pub session: SessionArg,
    /// Print reply, calls and usage as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Where the text of `claw ask` comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskText {
    Given(String),
    Stdin,
    /// There is none: a user error.
    Missing,
}

impl Ask {
    /// `piped` says whether stdin is something else than a terminal. Words are joined by single spaces.
    pub fn source(&self, piped: bool) -> AskText {
        match self.text.as_slice() {
            [] if piped => AskText::Stdin,
            [dash] if dash == "-" => AskText::Stdin,
            [] => AskText::Missing,
            words => {
                Some(words.join(" ")).filter(|text| !text.trim().is_empty()).map_or(AskText::Missing, AskText::Given)
            }
        }
    }
}

#[derive(Debug, Args)]
pub struct Server {
    /// Which server: `bash` or `filesystem`
    pub name: String,
    /// Passed on to the server as they are
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, Args)]
pub struct Listing {
    /// One JSON object a line, with an "id"
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Tools {
    #[command(subcommand)]
    pub command: Option<ToolsCommand>,
    /// Only this server's
    pub server: Option<String>,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// Show how quarantined tools differ from what was pinned
    Diff(ToolName),
    /// Accept a quarantined tool as it is now
    Accept(AcceptTool),
}

#[derive(Debug, Args)]
pub struct ToolName {
    /// `SERVER` or `SERVER__TOOL`; all if left out
    pub name: Option<String>,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Debug, Args)]
pub struct AcceptTool {
    /// `SERVER__TOOL`, or `SERVER` for its launch command and all its tools
    pub name: String,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Debug, Args)]
pub struct Approve {
    /// The id that `claw approvals` shows
    pub id: String,
    /// How long the same arguments are allowed [default: this once]
    #[arg(long = "for", value_name = "TERM")]
    pub term: Option<GrantTerm>,
    /// Allow the same file tool for every path at or below this one; needs --for
    #[arg(long, value_name = "PATH", requires = "term")]
    pub below: Option<String>,
    #[command(flatten)]
    pub listing: Listing,
}

/// How long an approval holds beyond the one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GrantTerm {
    /// Ten minutes
    #[value(name = "10m")]
    TenMinutes,
    /// Until the session ends or `/new`
    Session,
    /// Until it is revoked
    Always,
}

#[derive(Debug, Args)]
pub struct Deny {
    /// The id that `claw approvals` shows
    pub id: String,
    /// Refuse these arguments every time they come again
    #[arg(long, conflicts_with = "words")]
    pub never: bool,
    #[command(flatten)]
    pub listing: Listing,
    /// A word to the model: why, or what to do instead
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
}

impl Deny {
    /// The word to the model, if there is one.
    pub fn word(&self) -> Option<String> {
        Some(self.words.join(" ")).filter(|word| !word.trim().is_empty())
    }
}

#[derive(Debug, Args)]
pub struct Grants {
    #[command(subcommand)]
    pub command: Option<GrantsCommand>,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Debug, Subcommand)]
pub enum GrantsCommand {
    /// List them (the default)
    List(Listing),
    /// Take one back
    Revoke(ById),
}

#[derive(Debug, Args)]
pub struct ById {
    /// The id that the list shows
    pub id: String,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Debug, Args)]
pub struct Audit {
    #[command(subcommand)]
    pub command: Option<AuditCommand>,
    #[command(flatten)]
    pub list: AuditList,
}

#[derive(Debug, Clone, Copy, Args)]
pub struct AuditList {
    /// Go on and show new rows as they come
    #[arg(long, short)]
    pub follow: bool,
    /// The newest rows to show; 0 for all
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: u64,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// List the newest rows (the default)
    List(AuditList),
    /// Prove that no row was lost or edited
    Verify(Listing),
}

#[derive(Debug, Args)]
pub struct Sessions {
    #[command(subcommand)]
    pub command: Option<SessionsCommand>,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List them (the default)
    List(Listing),
    /// Show a conversation
    Show(SessionName),
    /// Print all events of a session, one JSON object a line
    Export(ExportSession),
}

#[derive(Debug, Args)]
pub struct SessionName {
    /// The session's name
    pub name: SessionId,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Debug, Args)]
pub struct ExportSession {
    /// The session's name
    pub name: SessionId,
    /// The format is JSON either way
    #[arg(long, hide = true)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Panic {
    /// `on` blocks and ends every call, `off` allows them again, `status` says which
    pub action: PanicAction,
    #[command(flatten)]
    pub listing: Listing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PanicAction {
    On,
    Off,
    Status,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn the_tree_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_of_the_manual_is_understood() {
        for line in [
            "claw chat",
            "claw --workspace /w chat --session work",
            "claw chat --workspace /w",
            "claw ask what is here",
            "claw ask - --json",
            "claw ask",
            "claw server bash --root /x -v",
            "claw tools",
            "claw tools --json bash",
            "claw tools diff",
            "claw tools diff bash --json",
            "claw tools accept bash__run",
            "claw approvals --json",
            "claw approve q1",
            "claw approve q1 --for 10m --json",
            "claw approve q1 --for session --below src",
            "claw deny q1",
            "claw deny q1 --never",
            "claw deny q1 use git instead",
            "claw grants",
            "claw grants list --json",
            "claw grants revoke g1",
            "claw grants --json",
            "claw audit",
            "claw audit --follow --limit 5",
            "claw audit list -f --json",
            "claw audit verify --json",
            "claw sessions",
            "claw sessions show main",
            "claw sessions export main --json",
            "claw sessions --json",
            "claw doctor --json",
            "claw panic on",
            "claw panic status --json",
        ] {
            if let Err(error) = parse(line) {
                panic!("{line}: {error}");
            }
        }
    }

    #[test]
    fn a_mistake_ends_with_code_2() {
        for line in [
            "claw",
            "claw help me",
            "claw chatt",
            "claw chat --session ../x",
            "claw approve",
            "claw approve q1 --for ever",
            "claw approve q1 --below src",
            "claw deny q1 --never words",
            "claw panic",
            "claw panic maybe",
            "claw audit --limit -1",
            "claw tools diff x y",
            "claw grants revoke",
            "claw server",
        ] {
            match parse(line) {
                Err(error) => assert_eq!(error.exit_code(), 2, "{line}"),
                Ok(cli) => panic!("{line}: {cli:?}"),
            }
        }
        assert_eq!(parse("claw --help").unwrap_err().exit_code(), 0);
    }

    #[test]
    fn a_server_gets_the_rest_of_the_line() {
        let Command::Server(server) = parse("claw server bash --root /x --help").unwrap().command else { panic!() };
        assert_eq!(server.args, ["--root", "/x", "--help"]);
    }

    #[test]
    fn the_text_of_ask_has_one_source() {
        let source = |line: &str, piped| match parse(line).unwrap().command {
            Command::Ask(ask) => ask.source(piped),
            other => panic!("{other:?}"),
        };
        assert_eq!(source("claw ask a b", true), AskText::Given("a b".into()));
        assert_eq!(source("claw ask -", false), AskText::Stdin);
        assert_eq!(source("claw ask", true), AskText::Stdin);
        assert_eq!(source("claw ask", false), AskText::Missing);
    }
}
