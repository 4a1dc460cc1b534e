//! The tools, one file each, and the one list of them. Owns what all tools share: definition,
//! arguments, reply. Must not know the protocol's messages.

mod forget;
mod link;
mod list;
mod promote;
mod propose;
mod read;
mod recall;
mod restore;
mod schema;
mod shown;
mod supersede;
mod update;

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Result, ToolError};
use crate::memory::Memory;
use crate::note::time;

/// All tools in the order in which they are listed, which never changes between connections.
pub fn all() -> Vec<ToolDef> {
    vec![
        recall::tool(),
        read::tool(),
        list::tool(),
        propose::tool(),
        promote::tool(),
        update::tool(),
        supersede::tool(),
        forget::tool(),
        restore::tool(),
        link::tool(),
    ]
}

/// The notes as all calls share them.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Memory>>);

impl Shared {
    pub fn new(memory: Memory) -> Self {
        Self(Arc::new(Mutex::new(memory)))
    }

    /// Works on the notes as they are now.
    ///
    /// # Errors
    /// The files or the index cannot be read, or what `work` gives.
    pub fn with<T>(&self, work: impl FnOnce(&mut Memory) -> Result<T>) -> Result<T> {
        // A panic of another call leaves nothing half done in here: files and index are brought
        // together again by the next look.
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        memory.fresh()?;
        work(&mut memory)
    }

    /// See [`Memory::look_again`].
    pub fn look_again(&self) {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever asks next hears of it.
        let _ = memory.look_again();
    }
}

/// What a tool gives back: text for a model, and the same for a program.
pub struct Reply<O> {
    pub text: String,
    pub structured: O,
}

/// A tool with its types hidden.
pub struct ToolDef {
    pub tool: Tool,
    #[expect(
        clippy::type_complexity,
        reason = "one closed use; an alias would only move the words"
    )]
    pub run: Box<dyn Fn(&Shared, JsonObject) -> Result<(Reply<Value>, JsonObject)> + Send + Sync>,
}

/// What a tool is and honestly does.
struct About {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
}

/// Everything here stays inside the folders of the notes, so `openWorldHint` is always false.
enum Effect {
    ReadOnly,
    /// Something new, beside what there is.
    Adds,
    /// Changes what is there. `destructive`: what it was is only in the trash afterwards.
    /// `idempotent`: once more changes nothing more.
    Changes {
        destructive: bool,
        idempotent: bool,
    },
}

impl About {
    fn tool<I, O>(self, run: fn(&mut Memory, I) -> Result<Reply<O>>) -> ToolDef
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        self.tool_with_meta(move |memory: &mut Memory, input: I| {
            run(memory, input).map(|reply| (reply, JsonObject::new()))
        })
    }

    /// A tool that says something to the host, too, in `_meta`.
    fn tool_with_meta<I, O>(
        self,
        run: impl Fn(&mut Memory, I) -> Result<(Reply<O>, JsonObject)> + Send + Sync + 'static,
    ) -> ToolDef
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
            Effect::Adds => hints.read_only(false).destructive(false).idempotent(false),
            Effect::Changes { destructive, idempotent } => {
                hints.read_only(false).destructive(destructive).idempotent(idempotent)
            }
        };
        let tool = Tool::new(self.name, self.description, Arc::clone(&input))
            .with_title(self.title)
            .with_annotations(hints)
            .with_raw_output_schema(Arc::new(schema::plain(&schema_for_output::<O>())));
        let run = move |shared: &Shared, arguments: JsonObject| {
            let input = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
                ToolError::BadArguments(format!(
                    "wrong arguments: {error}. The arguments are: {names}."
                ))
            })?;
            let (reply, meta) = shared.with(|memory| run(memory, input))?;
            let structured = serde_json::to_value(reply.structured).map_err(|error| {
                ToolError::Refused(format!("the result cannot be written as JSON: {error}"))
            })?;
            Ok((Reply { text: reply.text, structured }, meta))
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

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A limit of a request, held below the one of the server.
///
/// # Errors
/// Zero, which asks for nothing.
fn limit(asked: Option<u64>, default: u64, max: u64) -> Result<usize> {
    let count = asked.unwrap_or(default).min(max);
    if count == 0 {
        return Err(ToolError::BadArguments("limit must be at least 1.".into()));
    }
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// The time in an argument.
///
/// # Errors
/// It is none.
fn time_of(name: &str, text: Option<&str>) -> Result<Option<i64>> {
    let Some(text) = text else { return Ok(None) };
    time::parse(text).map(Some).ok_or_else(|| {
        ToolError::BadArguments(format!(
            "{name} `{text}` is no date. Write it as 2026-11-23 or 2026-11-23T10:00:00Z."
        ))
    })
}
