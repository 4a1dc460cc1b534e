//! `read_files`: the texts of several files in one call. Owns the bound on all of them together and
//! what is told of each; how one file is read is `read_file`'s.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read_file::{self, Wanted};
use super::{About, Effect, Image, Reply, ToolDef, Workspace, on_workspace};
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};

/// Files of one call.
const FILES_MAX: usize = 50;

pub fn tool() -> ToolDef {
    About {
        name: "read_files",
        title: "Read several files",
        description: "Reads several files of the workspace in one call, each from its beginning, as read_file does. A file that cannot \
                      be read is told by itself, and the others are read all the same. All of them together have the limit of \
                      one reply: what does not fit is named, and read_file reads it.",
        effect: Effect::ReadOnly,
    }
    .tool(on_workspace(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The files, relative to the workspace, in the order in which they are read.
    #[schemars(length(min = 1, max = 50))]
    paths: Vec<String>,
    /// Put its number and a tab before each line. The numbers are not part of the file. Default:
    /// false.
    #[serde(default)]
    line_numbers: bool,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// One entry for each of `paths`, in their order.
    files: Vec<FileResult>,
    /// How many of them could not be read, or did not fit.
    failed: usize,
}

/// The result for one file: its text, or why there is none.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(inline)]
struct FileResult {
    path: String,
    /// The text from the first line on, without numbers; empty for an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// Missing if the file is so large that its lines were not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
    /// Where read_file goes on, if the file did not fit to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_start_line: Option<u64>,
    /// Pages of a PDF, whose text `content` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_pages: Option<u64>,
    /// Where read_file goes on, if not all pages of a PDF fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_start_page: Option<u64>,
    /// The media type, if the file is an image, which then is in the content of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'static str>,
    /// Why the file was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

fn run(workspace: &Workspace, input: Input, cancel: &Cancel) -> Result<Reply<Output>> {
    if input.paths.is_empty() || input.paths.len() > FILES_MAX {
        return Err(ToolError::BadArguments(format!("paths must hold 1 to {FILES_MAX} paths.")));
    }
    let mut room = Room::of(workspace);
    let (mut text, mut images, mut files) = (Vec::new(), Vec::new(), Vec::new());
    for path in &input.paths {
        match room.read(path, input.line_numbers, cancel) {
            Ok(mut one) => {
                text.push(heading(&one.structured));
                text.append(&mut one.text);
                images.append(&mut one.images);
                files.push(read(one.structured));
            }
            Err(ToolError::Cancelled) => return Err(ToolError::Cancelled),
            Err(error) => {
                let error = error.to_string();
                text.push(format!("[`{path}` was not read: {error}]"));
                files.push(FileResult {
                    path: path.clone(),
                    error: Some(error),
                    ..FileResult::default()
                });
            }
        }
    }
    let failed = files.iter().filter(|file| file.error.is_some()).count();
    if failed == files.len() {
        return Err(ToolError::Refused(format!("No file was read.\n{}", text.join("\n"))));
    }
    Ok(Reply { text, images, structured: Output { files, failed } })
}

/// What is left of the limits of one reply.
struct Room {
    left: Workspace,
    reply_bytes_max: u64,
}

impl Room {
    fn of(workspace: &Workspace) -> Self {
        let reply_bytes_max = workspace.limits.read_reply_bytes_max;
        Self { left: workspace.clone(), reply_bytes_max }
    }

    /// # Errors
    /// The file cannot be read, or nothing of it fits beside the files before it.
    fn read(
        &mut self,
        path: &str,
        line_numbers: bool,
        cancel: &Cancel,
    ) -> Result<Reply<read_file::Output>> {
        let wanted = Wanted::from_the_beginning(&self.left.limits, line_numbers);
        let one = read_file::read(&self.left, path, wanted, cancel)?;
        // A line or page that a whole reply would hold is not cut in the middle.
        let cut = one.structured.line_cut || one.structured.page_cut;
        if cut && self.left.limits.read_reply_bytes_max < self.reply_bytes_max {
            return Err(ToolError::Refused(format!(
                "the files before it fill the {} bytes of one reply. Read it with read_file.",
                self.reply_bytes_max
            )));
        }
        let taken: usize = one.text.iter().map(String::len).sum();
        let pictures = one.images.iter().map(|image: &Image| image.bytes.len()).sum::<usize>();
        let limits = &mut self.left.limits;
        limits.read_reply_bytes_max = limits.read_reply_bytes_max.saturating_sub(taken as u64);
        limits.image_bytes_max = limits.image_bytes_max.saturating_sub(pictures as u64);
        Ok(one)
    }
}

/// A block of its own before the text of a file, so that no file can pass for the next one.
fn heading(file: &read_file::Output) -> String {
    let lines = match file.total_lines {
        _ if file.image.is_some() => return format!("[file `{}`]", file.path),
        _ if file.pages.is_some() => "PDF".to_owned(),
        Some(1) => "1 line".to_owned(),
        Some(lines) => format!("{lines} lines"),
        None => format!("{} bytes", file.size_bytes),
    };
    format!("[file `{}`: {lines}]", file.path)
}

fn read(file: read_file::Output) -> FileResult {
    FileResult {
        path: file.path,
        content: Some(file.content),
        total_lines: file.total_lines,
        size_bytes: Some(file.size_bytes),
        next_start_line: file.next_start_line,
        total_pages: file.pages.as_ref().map(|pages| pages.total),
        next_start_page: file.next_start_page,
        image: file.image,
        error: None,
    }
}
