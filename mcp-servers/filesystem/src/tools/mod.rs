//! The tools, one file each, and the one list of them. Owns what all tools share: definition,
//! arguments, reply. Must not know the protocol's messages.

mod delete;
mod edit_file;
mod find;
mod list_dir;
mod move_path;
mod read_file;
mod schema;
mod search;
mod write_file;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::access::Access;
use crate::args::Limits;
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::root::Root;

/// All tools in the order in which they are listed, which never changes between connections.
pub fn all() -> Vec<ToolDef> {
    vec![
        read_file::tool(),
        write_file::tool(),
        edit_file::tool(),
        list_dir::tool(),
        find::tool(),
        search::tool(),
        move_path::tool(),
        delete::tool(),
    ]
}

/// What every tool works on, as one call sees it. Cheap to clone.
#[derive(Clone)]
pub struct Workspace {
    roots: Arc<Roots>,
    pub limits: Limits,
    /// Names that this one call may not change, as its host says.
    keep_off: Vec<String>,
}

/// The same for all calls, from the start of the server to its end.
struct Roots {
    workspace: Root,
    /// Roots whose files are named by their absolute paths.
    further: Vec<Root>,
    mutation: Mutex<()>,
}

impl Workspace {
    /// `workspace` is where relative paths lead.
    pub fn new(workspace: Root, further: Vec<Root>, limits: Limits) -> Self {
        let roots = Arc::new(Roots { workspace, further, mutation: Mutex::new(()) });
        Self { roots, limits, keep_off: Vec::new() }
    }

    /// The same for a call that may not change what has such a name.
    pub fn keeping_off(&self, names: Vec<String>) -> Self {
        Self { keep_off: names, ..self.clone() }
    }

    /// The root that a path names, for a tool that changes something.
    pub fn to_change(&self, path: impl AsRef<Path>) -> Access<'_> {
        Access::to_change(self.root_of(path)).keeping_off(&self.keep_off)
    }

    /// The root that a path names: the innermost that an absolute one lies in, by its letters
    /// alone; else the workspace, which then says what is wrong with it.
    pub fn root_of(&self, path: impl AsRef<Path>) -> &Root {
        let (path, roots) = (path.as_ref(), &self.roots);
        let depth = |root: &&Root| {
            let fitting = root.forms.iter().filter(|form| path.starts_with(form));
            fitting.map(|form| form.components().count()).max()
        };
        let inside =
            roots.further.iter().chain([&roots.workspace]).filter(|root| depth(root).is_some());
        inside.max_by_key(depth).unwrap_or(&roots.workspace)
    }

    /// Tools that change something hold this, so that two edits of one file in the same moment both
    /// count.
    pub fn changing(&self) -> MutexGuard<'_, ()> {
        // The lock protects files, not memory: a panic of another call leaves nothing half done in
        // here.
        self.roots.mutation.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a tool gives back: text for a model, block by block, and the same for a program.
pub struct Reply<O> {
    pub text: Vec<String>,
    pub images: Vec<Image>,
    pub structured: O,
}

/// An image for a model that can see.
pub struct Image {
    /// An IANA media type.
    pub mime: &'static str,
    pub bytes: Vec<u8>,
}

impl<O> Reply<O> {
    pub fn of_text(text: Vec<String>, structured: O) -> Self {
        Self { text, images: Vec::new(), structured }
    }
}

/// A tool with its types hidden.
pub struct ToolDef {
    pub tool: Tool,
    #[expect(
        clippy::type_complexity,
        reason = "one closed use; an alias would only move the words"
    )]
    pub run: Box<dyn Fn(&Workspace, JsonObject, &Cancel) -> Result<Reply<Value>> + Send + Sync>,
}

/// What a tool is and honestly does.
struct About {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
}

/// Everything here stays inside the workspace, so `openWorldHint` is always false.
enum Effect {
    ReadOnly,
    /// May change or remove what is there. `idempotent`: once more changes nothing more and does
    /// not fail.
    Destructive {
        idempotent: bool,
    },
}

impl About {
    fn tool<I, O>(self, run: fn(&Workspace, I, &Cancel) -> Result<Reply<O>>) -> ToolDef
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        // The schema of a struct is always an object; the tests list every tool.
        let input = Arc::new(schema::plain(&schema_for_input::<I>().unwrap_or_default()));
        let names = argument_names(&input);
        let hints = ToolAnnotations::new().open_world(false);
        let hints = match self.effect {
            Effect::ReadOnly => hints.read_only(true).destructive(false).idempotent(true),
            Effect::Destructive { idempotent } => {
                hints.read_only(false).destructive(true).idempotent(idempotent)
            }
        };
        let tool = Tool::new(self.name, self.description, Arc::clone(&input))
            .with_title(self.title)
            .with_annotations(hints)
            .with_raw_output_schema(Arc::new(schema::plain(&schema_for_output::<O>())));
        let run = move |workspace: &Workspace, arguments: JsonObject, cancel: &Cancel| {
            let input = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
                ToolError::BadArguments(format!(
                    "wrong arguments: {error}. The arguments are: {names}."
                ))
            })?;
            let reply = run(workspace, input, cancel)?;
            let structured = serde_json::to_value(reply.structured).map_err(|error| {
                ToolError::Refused(format!("the result cannot be written as JSON: {error}"))
            })?;
            Ok(Reply { text: reply.text, images: reply.images, structured })
        };
        ToolDef { tool, run: Box::new(run) }
    }
}

fn argument_names(schema: &JsonObject) -> String {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: Vec<String> = properties
        .into_iter()
        .flatten()
        .map(|(name, _)| {
            let need = if required.contains(&name.as_str()) { "required" } else { "optional" };
            format!("{name} ({need})")
        })
        .collect();
    names.join(", ")
}

fn is_false(value: &bool) -> bool {
    !value
}

/// `.`, the default of every `path` that names a directory to look into.
fn the_root() -> String {
    ".".into()
}

/// A limit of a request, held below the one of the server.
///
/// # Errors
/// Zero, which asks for nothing.
fn limit(asked: Option<u64>, default: u64, limits: &Limits) -> Result<usize> {
    let count = asked.unwrap_or(default).min(limits.list_entries_max);
    if count == 0 {
        return Err(ToolError::BadArguments("limit must be at least 1.".into()));
    }
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// A byte limit as a length in memory.
fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
