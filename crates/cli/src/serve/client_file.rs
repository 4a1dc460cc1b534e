//! Where each client keeps its configuration, and in which shape it has an MCP server there. Must
//! not know how a file is changed, or what claw's entry says.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::entry::Entry;
use crate::args::ClientApp;
use crate::config::Config;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, also with comments and commas at the end.
    Json,
    Toml,
}

/// The file of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFile {
    /// As its maker calls it.
    pub client: &'static str,
    pub path: PathBuf,
    pub format: Format,
    /// The key under which the client has its servers.
    pub servers: &'static str,
    /// What the owner does behind the change.
    pub next: &'static str,
}

/// Whom the paths belong to, and what this environment says of them.
pub struct Surroundings<'a> {
    /// The home of the user.
    pub home: &'a Path,
    pub variable: &'a dyn Fn(&str) -> Option<PathBuf>,
    pub is_macos: bool,
}

impl Surroundings<'_> {
    /// Where desktop programs keep their settings (XDG Base Directory; on macOS the library).
    fn settings(&self) -> PathBuf {
        if self.is_macos { self.home.join("Library/Application Support") } else { self.xdg() }
    }

    /// A relative value is to be ignored, as that specification says.
    fn xdg(&self) -> PathBuf {
        let set = (self.variable)("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
        set.unwrap_or_else(|| self.home.join(".config"))
    }

    /// The folder that a variable names, else this one of the home.
    fn folder(&self, variable: &str, usual: &str) -> PathBuf {
        (self.variable)(variable).unwrap_or_else(|| self.home.join(usual))
    }
}

impl ClientFile {
    /// That of this user.
    pub fn of_config(config: &Config, app: ClientApp) -> Self {
        let variable = |name: &str| config.env.get(name).map(PathBuf::from);
        let (home, is_macos) = (&*config.user_home, cfg!(target_os = "macos"));
        Self::of(app, &Surroundings { home, variable: &variable, is_macos })
    }

    /// As each client documents it.
    pub fn of(app: ClientApp, around: &Surroundings<'_>) -> Self {
        let json = |client, path, servers, next| Self {
            client,
            path,
            format: Format::Json,
            servers,
            next,
        };
        match app {
            ClientApp::ClaudeDesktop => json(
                "Claude Desktop",
                around.settings().join("Claude/claude_desktop_config.json"),
                "mcpServers",
                "Quit Claude Desktop and start it again: it has claw's tools then.",
            ),
            ClientApp::ClaudeCode => json(
                "Claude Code",
                around.folder("CLAUDE_CONFIG_DIR", "").join(".claude.json"),
                "mcpServers",
                "The next session of Claude Code has claw; `/mcp` shows it.",
            ),
            ClientApp::Vscode => json(
                "VS Code",
                around.settings().join("Code/User/mcp.json"),
                "servers",
                "In VS Code, the command `MCP: List Servers` starts claw.",
            ),
            ClientApp::Cursor => json(
                "Cursor",
                around.home.join(".cursor/mcp.json"),
                "mcpServers",
                "Cursor shows claw in its settings, under MCP.",
            ),
            ClientApp::Zed => json(
                "Zed",
                around.zed().join("settings.json"),
                "context_servers",
                "Zed's agent has claw's tools. `claw help editors` says how claw is an agent of Zed.",
            ),
            ClientApp::Codex => Self {
                client: "Codex",
                path: around.folder("CODEX_HOME", ".codex").join("config.toml"),
                format: Format::Toml,
                servers: "mcp_servers",
                next: "The next session of Codex has claw; `/mcp` shows it.",
            },
        }
    }
}

impl Surroundings<'_> {
    /// Zed has its settings at the same place on every system.
    fn zed(&self) -> PathBuf {
        if self.is_macos { self.home.join(".config/zed") } else { self.xdg().join("zed") }
    }
}

/// An entry as this client has it.
pub fn shaped(app: ClientApp, entry: &Entry) -> Value {
    let mut map = Map::new();
    if matches!(app, ClientApp::ClaudeCode | ClientApp::Vscode) {
        map.insert("type".to_owned(), json!("stdio"));
    }
    map.insert("command".to_owned(), json!(entry.program));
    map.insert("args".to_owned(), json!(entry.args));
    if !entry.env.is_empty() {
        let env: Map<String, Value> =
            entry.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        map.insert("env".to_owned(), Value::Object(env));
    }
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(app: ClientApp, is_macos: bool, set: &[(&str, &str)]) -> String {
        let variable = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value))
        };
        let home = Path::new("/home/anna");
        let around = Surroundings { home, variable: &variable, is_macos };
        ClientFile::of(app, &around).path.display().to_string()
    }

    #[test]
    fn each_client_has_its_file_where_its_maker_says() {
        let linux = |app| path_of(app, false, &[]);
        let macos = |app| path_of(app, true, &[]);
        let desktop = "Claude/claude_desktop_config.json";
        let library = "/home/anna/Library/Application Support";
        assert_eq!(linux(ClientApp::ClaudeDesktop), format!("/home/anna/.config/{desktop}"));
        assert_eq!(macos(ClientApp::ClaudeDesktop), format!("{library}/{desktop}"));
        assert_eq!(linux(ClientApp::Vscode), "/home/anna/.config/Code/User/mcp.json");
        assert_eq!(macos(ClientApp::Vscode), format!("{library}/Code/User/mcp.json"));
        for (app, path) in [
            (ClientApp::ClaudeCode, "/home/anna/.claude.json"),
            (ClientApp::Cursor, "/home/anna/.cursor/mcp.json"),
            (ClientApp::Zed, "/home/anna/.config/zed/settings.json"),
            (ClientApp::Codex, "/home/anna/.codex/config.toml"),
        ] {
            assert_eq!((linux(app), macos(app)), (path.to_owned(), path.to_owned()));
        }
    }

    #[test]
    fn variables_that_a_client_reads_move_its_file_and_no_other() {
        let set = [("XDG_CONFIG_HOME", "/x"), ("CODEX_HOME", "/c"), ("CLAUDE_CONFIG_DIR", "/d")];
        for (app, path) in [
            (ClientApp::ClaudeDesktop, "/x/Claude/claude_desktop_config.json"),
            (ClientApp::ClaudeCode, "/d/.claude.json"),
            (ClientApp::Cursor, "/home/anna/.cursor/mcp.json"),
            (ClientApp::Zed, "/x/zed/settings.json"),
            (ClientApp::Codex, "/c/config.toml"),
        ] {
            assert_eq!(path_of(app, false, &set), path);
        }
        let relative = path_of(ClientApp::Zed, false, &[("XDG_CONFIG_HOME", "x")]);
        assert_eq!(relative, "/home/anna/.config/zed/settings.json");
    }
}
