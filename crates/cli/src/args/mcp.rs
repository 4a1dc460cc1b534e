//! What is typed behind `claw mcp`. Must not know what a command does.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum McpAction {
    /// The servers of mcp.json, without starting one
    List,
    /// Write a server into mcp.json: `add NAME URL`, or `add NAME -- COMMAND ARGS…`
    Add {
        /// What claw is to call it
        name: String,
        /// Where a server is reached over HTTP, such as https://mcp.example/mcp
        #[arg(required_unless_present = "command", conflicts_with = "command")]
        url: Option<String>,
        /// A header for each request to it, such as 'Authorization=Bearer ${TOKEN}'; `${TOKEN}` is
        /// read from claw's environment. More than once for several
        #[arg(long = "header", value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "command")]
        headers: Vec<(String, String)>,
        /// A variable for a server that is started here. More than once for several
        #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "url")]
        env: Vec<(String, String)>,
        /// The command that starts a server here, behind `--`
        #[arg(last = true)]
        command: Vec<String>,
    },
    /// Take a server out of mcp.json
    Remove { name: String },
    /// Log in to a server at a URL, in your browser (OAuth)
    ///
    /// The link is printed. The browser comes back to this machine by itself; from another machine
    /// you paste the address at which it ends. A login that was interrupted goes on with its link.
    Login {
        name: String,
        /// Given by whoever runs the login, where claw cannot register by itself
        #[arg(long, value_name = "ID")]
        client_id: Option<String>,
        /// The variable of claw's environment that holds the secret of that id, where it has one
        #[arg(long, value_name = "VARIABLE", requires = "client_id")]
        client_secret_env: Option<String>,
        /// A right to ask for beside those that the server names. More than once for several
        #[arg(long = "scope", value_name = "NAME")]
        scopes: Vec<String>,
        /// The port of this machine to which the browser comes back [default: 8765, or any that is
        /// free]
        #[arg(long)]
        port: Option<u16>,
        /// Another link, also while an earlier one still counts. Another id, right or port does the
        /// same
        #[arg(long)]
        new: bool,
    },
    /// Forget the login to a server
    Logout { name: String },
    /// What a server says about itself, and how far you trust it; with a word behind it, sets that
    Trust { name: String, level: Option<TrustArg> },
    /// Start or reach a server alone, and list what it offers
    Test { name: String },
    /// Take in the servers that Claude Desktop, Claude Code, VS Code, Cursor and Codex have; shows
    /// each and asks
    ///
    /// Exit codes: 0 done or nothing found, 3 something was shown and nothing was taken in.
    Import {
        /// One file of theirs, instead of all that are there
        file: Option<PathBuf>,
        /// Take in all without asking
        #[arg(long)]
        yes: bool,
    },
}

/// How far a server is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TrustArg {
    /// Nothing of it is offered, and no call of it runs
    Nothing,
    /// Every call asks, unless a rule, a class or a grant of yours says otherwise
    Ask,
    /// The same, but what says that it only reads runs without a question
    Hints,
}

fn pair(text: &str) -> Result<(String, String), String> {
    // Headers are usually copied with a colon.
    let at = text.find(['=', ':']).filter(|at| *at > 0);
    let (name, value) = at.map(|at| text.split_at(at)).ok_or("write NAME=VALUE")?;
    Ok((name.trim().to_owned(), value[1..].trim().to_owned()))
}
