//! The tools, one file each, and the one list of them. Owns what all tools share: definition,
//! arguments, reply. Must not know the protocol's messages.

mod apply_patch;
mod delete;
mod edit_file;
mod find;
mod list_dir;
mod move_path;
mod read_artifact;
mod read_file;
mod read_files;
mod search;
mod write_file;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use cap_std::fs::Dir;
use claw_server_kit::tools::{About, Effect};
use rmcp::model::{ContentBlock, JsonObject};

use crate::access::Access;
use crate::args::Limits;
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::root::Root;

type ToolDef = claw_server_kit::tools::ToolDef<Call>;

/// All tools in the order in which they are listed, which never changes between connections.
pub fn all(has_artifacts: bool) -> Vec<ToolDef> {
    let mut tools = vec![
        read_file::tool(),
        read_files::tool(),
        write_file::tool(),
        edit_file::tool(),
        apply_patch::tool(),
        list_dir::tool(),
        find::tool(),
        search::tool(),
        move_path::tool(),
        delete::tool(),
    ];
    tools.extend(has_artifacts.then(read_artifact::tool));
    tools
}

/// What every tool works on, as one call sees it. Cheap to clone.
#[derive(Clone)]
pub struct Workspace {
    /// Shared by all calls.
    roots: Arc<Roots>,
    /// As they were at the start.
    pub limits: Limits,
    /// Names that this one call may not change, as its host says.
    keep_off: Vec<String>,
}

/// The same for all calls, from the start of the server to its end.
struct Roots {
    /// By its handle, as all of them, which stays open until the end.
    workspace: Root,
    /// Roots whose files are named by their absolute paths.
    further: Vec<Root>,
    /// Where the host keeps what it has put aside, if it has said so.
    artifacts: Option<Dir>,
    /// Held by a call while it changes something.
    mutation: Mutex<()>,
}

impl Workspace {
    /// `workspace` is where relative paths lead.
    pub fn new(
        workspace: Root,
        further: Vec<Root>,
        artifacts: Option<Dir>,
        limits: Limits,
    ) -> Self {
        let roots = Arc::new(Roots { workspace, further, artifacts, mutation: Mutex::new(()) });
        Self { roots, limits, keep_off: Vec::new() }
    }

    /// The workspace itself, and the roots whose files are named by their absolute paths.
    pub fn roots(&self) -> (&Root, &[Root]) {
        (&self.roots.workspace, &self.roots.further)
    }

    /// The folder of what the host has put aside.
    pub fn artifacts(&self) -> Option<&Dir> {
        self.roots.artifacts.as_ref()
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

/// What one call works on.
pub struct Call {
    pub workspace: Workspace,
    pub cancel: Cancel,
}

/// What a tool does, as the list of tools holds it.
fn on_workspace<I, O>(
    run: fn(&Workspace, I, &Cancel) -> Result<Reply<O>>,
) -> impl Fn(&Call, I) -> Result<claw_server_kit::tools::Reply<O>> {
    move |call, input| {
        let reply = run(&call.workspace, input, &call.cancel)?;
        let images = reply
            .images
            .into_iter()
            .map(|image| ContentBlock::image(BASE64.encode(image.bytes), image.mime));
        let content = reply.text.into_iter().map(ContentBlock::text).chain(images).collect();
        let structured = reply.structured;
        Ok(claw_server_kit::tools::Reply { content, structured, meta: JsonObject::new() })
    }
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
