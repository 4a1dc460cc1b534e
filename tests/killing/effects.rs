//! The MCP server whose effects are counted: `append` adds one line to a file and syncs it, `look`
//! changes nothing, `propose` stages calls of `act`, which appends, `keep` answers with more than
//! fits, and `make` writes a file to hand over. It is this test's own binary, started by claw as a
//! child. Here is also how claw's own servers are made to leave effects that can be counted. Must
//! not know claw; it ends by itself when standard input closes.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, ResourceContents};
use rmcp::{ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{kept, remembered};

/// Beside the file of effects: the slow calls that have begun.
pub const BEGUN: &str = "begun";
/// Beside it as well: every call that would have an effect and has come in.
pub const IN_HAND: &str = "in-hand";
/// In the workspace: the effects of commands, one a line.
const OF_COMMANDS: &str = "effects.bash";
/// In the workspace: the effects of the filesystem server, one a file.
const OF_FILES: &str = "effects";
/// In the workspace: the files that are moved there to leave an effect.
const SEEDS: &str = "seeds";
/// One in so many servers leaves somebody behind who has a session of his own.
const LEAVES_ONE_IN: u32 = 4;
const SLOW: Duration = Duration::from_secs(60);

#[derive(Deserialize, JsonSchema)]
struct Id {
    /// Which effect this is.
    id: String,
}

struct Effects {
    file: PathBuf,
    workspace: PathBuf,
}

#[tool_router]
impl Effects {
    /// Appends the id to the file of effects.
    #[tool(annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false))]
    async fn append(&self, Parameters(Id { id }): Parameters<Id>) -> Result<String, String> {
        note(&self.file.with_file_name(IN_HAND), &id).map_err(|error| error.to_string())?;
        if id.starts_with("slow-") {
            // So long that only an end of the call itself keeps the effect from happening.
            add_line(&self.file.with_file_name(BEGUN), &id).map_err(|error| error.to_string())?;
            tokio::time::sleep(SLOW).await;
        }
        // Some calls take a moment before or after their effect, so that a kill can come on either
        // side of it.
        let moment = id.bytes().map(u64::from).sum::<u64>();
        tokio::time::sleep(Duration::from_millis(moment % 4)).await;
        add_line(&self.file, &id).map_err(|error| error.to_string())?;
        tokio::time::sleep(Duration::from_millis(moment / 4 % 4)).await;
        Ok(format!("appended {id}"))
    }

    /// Looks, and changes nothing.
    #[tool(annotations(read_only_hint = true))]
    async fn look(&self, Parameters(Id { id }): Parameters<Id>) -> Result<String, String> {
        Ok(format!("looked at {id}"))
    }

    /// Proposes what `act` would do: one action, or several for an id that begins with `batch-`.
    #[tool(annotations(read_only_hint = true))]
    async fn propose(&self, Parameters(Id { id }): Parameters<Id>) -> CallToolResult {
        let action = |id: &String| json!({"tool": "act", "arguments": {"id": id}, "summary": format!("Do {id}")});
        let actions: Vec<Value> = proposed_by(&id).iter().map(action).collect();
        let said = ContentBlock::text(format!("{id} waits for a yes"));
        CallToolResult::success(vec![said]).with_meta(Some(meta(json!({"claw/actions": actions}))))
    }

    /// Answers with a long text and a file, and changes nothing.
    #[tool(annotations(read_only_hint = true))]
    async fn keep(&self, Parameters(Id { id }): Parameters<Id>) -> CallToolResult {
        let file = BASE64_STANDARD.encode(kept::kept_file(&id));
        let file = ResourceContents::blob(file, format!("file:///{id}.bin"))
            .with_mime_type("application/x-kept");
        CallToolResult::success(vec![
            ContentBlock::text(kept::kept_text(&id)),
            ContentBlock::resource(file),
        ])
    }

    /// Writes a file into the workspace, which is an effect, too.
    #[tool(annotations(read_only_hint = false, destructive_hint = false))]
    async fn make(&self, Parameters(Id { id }): Parameters<Id>) -> Result<String, String> {
        let path = self.workspace.join(kept::made_path(&id));
        let folder = path.parent().map(std::fs::create_dir_all).transpose();
        folder
            .and_then(|_| std::fs::write(&path, kept::made(&id)))
            .map_err(|error| error.to_string())?;
        self.append(Parameters(Id { id })).await
    }

    /// What a tap does: appends the id to the file of effects.
    #[tool(meta = meta(json!({"ui": {"visibility": ["app"]}})), annotations(read_only_hint = false))]
    async fn act(&self, Parameters(id): Parameters<Id>) -> Result<String, String> {
        self.append(Parameters(id)).await
    }
}

#[tool_handler(name = "effects", version = "1.0.0")]
impl ServerHandler for Effects {}

fn meta(value: Value) -> MetaObject {
    serde_json::from_value(value).unwrap_or_default()
}

/// The ids of what a call of `propose` stages, in their order.
pub fn proposed_by(id: &str) -> Vec<String> {
    if id.starts_with("note-") {
        return vec![remembered::kept(id)];
    }
    let of = match id.split_once('-') {
        Some(("batch", _)) => 3,
        Some(("stage", _)) => 1,
        _ => 0,
    };
    (1..=of).map(|number| format!("act-{id}-{number}")).collect()
}

/// How a task's id is called: the offered tool and its arguments.
pub fn call_of(id: &str) -> (&'static str, Value) {
    let named = json!({"id": id});
    match id.split_once('-') {
        Some(("look", _)) => ("effects__look", named),
        Some(("stage" | "batch", _)) => ("effects__propose", named),
        Some(("note", _)) => {
            ("memory__propose", json!({"subject": id, "text": remembered::kept(id)}))
        }
        Some(("keep", _)) => ("effects__keep", named),
        Some(("make", _)) => ("effects__make", named),
        Some(("bash" | "shell", _)) => (
            "bash__run",
            json!({"command": format!("echo {id} >> {OF_COMMANDS}"), "needs": "write"}),
        ),
        Some(("file", _)) => {
            let path = format!("{OF_FILES}/{id}");
            ("filesystem__write_file", json!({"path": path, "content": "an effect\n"}))
        }
        Some(("move", _)) => {
            let (from, to) = (format!("{SEEDS}/{id}"), format!("{OF_FILES}/{id}"));
            ("filesystem__move", json!({"source": from, "destination": to}))
        }
        _ => ("effects__append", named),
    }
}

/// Whether a call with this id asks a person, as the house is furnished.
pub fn asks(id: &str) -> bool {
    ["ask-", "shell-", "move-"].iter().any(|kind| id.starts_with(kind))
}

/// Makes the files that the calls of a task move, before anybody is asked for them.
pub fn sow(workspace: &Path, task: &str) -> std::io::Result<()> {
    let is_part = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    for id in task.split(is_part).filter(|word| word.starts_with("move-")) {
        let (seed, moved) = (workspace.join(SEEDS).join(id), workspace.join(OF_FILES).join(id));
        if !seed.exists() && !moved.exists() {
            std::fs::create_dir_all(workspace.join(SEEDS))?;
            std::fs::create_dir_all(workspace.join(OF_FILES))?;
            std::fs::write(seed, "an effect\n")?;
        }
    }
    Ok(())
}

/// The id in the arguments of a call.
pub fn id_in(arguments: &Value) -> Option<&str> {
    let in_command = || arguments["command"].as_str()?.split_whitespace().nth(1);
    let in_path = || ["path", "destination"].iter().find_map(|name| arguments[*name].as_str());
    let in_path = || in_path()?.rsplit('/').next();
    let noted = || arguments["subject"].as_str();
    arguments["id"].as_str().or_else(in_command).or_else(in_path).or_else(noted)
}

/// Which server a call with this id goes to, as the house is furnished.
pub fn server_of(id: &str) -> &'static str {
    match id.split_once('-') {
        Some(("bash" | "shell", _)) => "bash",
        Some(("file" | "move", _)) => "filesystem",
        Some(("note", _)) => "memory",
        _ if remembered::is_kept(id) => "memory",
        _ => "effects",
    }
}

/// Whether a call with this id leaves an effect of its own.
pub fn has_effect(id: &str) -> bool {
    !id.starts_with("look-") && !id.starts_with("keep-") && proposed_by(id).is_empty()
}

fn add_line(file: &Path, line: &str) -> std::io::Result<()> {
    note(file, line)?.sync_all()
}

/// Adds a line that a kill leaves there, if not a power loss.
fn note(file: &Path, line: &str) -> std::io::Result<std::fs::File> {
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    Ok(file)
}

/// Starts somebody who leaves group and session, as servers do that start a daemon, and never ends.
#[expect(clippy::disallowed_methods, reason = "a stranger's server starts what it likes")]
fn leave_somebody(pids: &Path) -> std::io::Result<()> {
    let mut command = std::process::Command::new("setsid");
    command.args(["sleep", "600"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    add_line(pids, &command.spawn()?.id().to_string())
}

/// Serves until standard input closes. The process id goes into `pids`, for whoever looks for
/// leftovers.
pub async fn serve(file: &Path, pids: &Path) -> anyhow::Result<()> {
    add_line(pids, &std::process::id().to_string())?;
    if std::process::id().is_multiple_of(LEAVES_ONE_IN) {
        leave_somebody(pids)?;
    }
    // As the house is furnished.
    let workspace = file.with_file_name("work");
    Effects { file: file.to_owned(), workspace }
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}

/// How often each effect happened: those in the file, and those in the workspace.
pub fn counted(file: &Path, workspace: &Path) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for file in [file, &workspace.join(OF_COMMANDS)] {
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            *counts.entry(line.to_owned()).or_default() += 1;
        }
    }
    for entry in std::fs::read_dir(workspace.join(OF_FILES)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            counts.insert(name, 1);
        }
    }
    counts
}
