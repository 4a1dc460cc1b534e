//! `read_file`: the text of a file or of some of its lines. Owns the ranges and the notes about
//! what was left out.

pub(super) mod lines;
pub(super) mod pages;

use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read as _};

use claw_kit::counted::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::lines::Lines;
use self::pages::{PageRange, PagesTold, PdfFile};
use super::{About, Effect, Image, Reply, ToolDef, Workspace, is_false, on_workspace};
use crate::access::Access;
use crate::args::Limits;
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::place::Place;
use crate::resolve::{Last, Missing};
use crate::text;

const BUFFER_BYTES: usize = 64 * 1024;

pub fn tool() -> ToolDef {
    About {
        name: "read_file",
        title: "Read a file",
        description: "Reads a UTF-8 text file of the workspace, or some of its lines. The text comes back exactly as it is in \
                      the file, so that pieces of it can be used as old_text of edit_file. If there is more than fits, a note \
                      says which lines to ask for next. An image (PNG, JPEG, GIF, WebP) comes back as one. A PDF comes back as its text, \
                      page by page. Other binary files are refused with their type and size.",
        effect: Effect::ReadOnly,
    }
    .tool(on_workspace(run))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file, relative to the workspace.
    path: String,
    /// The first line to read; lines count from 1. Default: 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    start_line: Option<u64>,
    /// The last line to read, included. Default: the end of the file.
    #[serde(default)]
    #[schemars(range(min = 1))]
    end_line: Option<u64>,
    /// The first page of a PDF to read; pages count from 1. Default: 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    start_page: Option<u64>,
    /// The last page of a PDF to read, included. Default: the last.
    #[serde(default)]
    #[schemars(range(min = 1))]
    end_page: Option<u64>,
    /// Put its number and a tab before each line. The numbers are not part of the file. Default:
    /// false.
    #[serde(default)]
    line_numbers: bool,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Output {
    pub(super) path: String,
    /// The text of the lines, without numbers; empty for an image. Of a PDF the texts of the pages,
    /// parted by form feeds.
    pub(super) content: String,
    /// The first line in `content`; 0 if the file is empty.
    start_line: u64,
    /// The last line in `content`; 0 if the file is empty.
    end_line: u64,
    /// Missing if the file is so large that its lines were not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_lines: Option<u64>,
    pub(super) size_bytes: u64,
    /// Where to go on reading, if the limit on a reply cut the requested range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_start_line: Option<u64>,
    /// The one line in `content` is longer than a reply, and its end is missing.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) line_cut: bool,
    /// The media type, if the file is an image, which then is in the content of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) image: Option<&'static str>,
    /// Which pages `content` holds, if the file is a PDF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pages: Option<PagesTold>,
    /// The last page in `content` is longer than a reply, and its end is missing.
    #[serde(skip_serializing_if = "is_false")]
    pub(super) page_cut: bool,
    /// Where to go on reading a PDF, if not all pages that were asked for were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_start_page: Option<u64>,
}

/// What of a file is wanted.
pub(super) struct Wanted {
    pub(super) lines: Lines,
    pub(super) line_numbers: bool,
    /// Lines were asked for by number.
    by_lines: bool,
    pages: Option<PageRange>,
}

impl Wanted {
    /// A file from its beginning, whatever it is.
    pub(super) fn from_the_beginning(limits: &Limits, line_numbers: bool) -> Self {
        let lines = Lines::new(1, u64::MAX, limits);
        Self { lines, line_numbers, by_lines: false, pages: None }
    }
}

fn run(workspace: &Workspace, input: Input, cancel: &Cancel) -> Result<Reply<Output>> {
    let first = input.start_line.unwrap_or(1);
    let last = input.end_line.unwrap_or(u64::MAX);
    if first == 0 || last < first {
        let message = format!(
            "lines {first} to {last} are no range: lines count from 1, and end_line is not before start_line."
        );
        return Err(ToolError::BadArguments(message));
    }
    let wanted = Wanted {
        lines: Lines::new(first, last, &workspace.limits),
        line_numbers: input.line_numbers,
        by_lines: input.start_line.is_some() || input.end_line.is_some(),
        pages: pages::range(input.start_page, input.end_page)?,
    };
    read(workspace, &input.path, wanted, cancel)
}

/// What of one file is wanted, as far as the limits of `workspace` let it.
pub(super) fn read(
    workspace: &Workspace,
    path: &str,
    wanted: Wanted,
    cancel: &Cancel,
) -> Result<Reply<Output>> {
    let Wanted { mut lines, line_numbers, by_lines, pages } = wanted;
    let access = Access::new(workspace.root_of(path));
    let place = access.resolve(path, Last::Follow, Missing::Fail)?;
    let (file, metadata) = access.open_file(&place)?;
    let size_bytes = metadata.len();
    let not_text = |bytes: &[u8]| ToolError::NotText {
        path: place.shown.clone(),
        guess: text::guess(bytes).to_owned(),
        size_bytes,
    };
    let fail = |error: io::Error| ToolError::io("read", &place.shown, &error);

    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let probe = reader.fill_buf().map_err(fail)?;
    if let Some(mime) = text::image(probe) {
        return image(&access, &place, reader, size_bytes, mime, workspace.limits.image_bytes_max);
    }
    if text::is_pdf(probe) {
        if by_lines {
            return Err(ToolError::BadArguments(format!(
                "`{}` is a PDF: it is read by pages, with start_page and end_page.",
                place.shown
            )));
        }
        let (file, path) = (reader.into_inner(), access.root.shown(&place.real));
        return PdfFile { file, path, size_bytes }.read(pages, &workspace.limits, cancel);
    }
    if pages.is_some() {
        return Err(ToolError::BadArguments(format!(
            "`{}` is no PDF and has no pages: ask for lines with start_line and end_line.",
            place.shown
        )));
    }
    if text::looks_binary(probe) {
        return Err(not_text(probe));
    }
    lines.read(&mut reader, cancel, &place)?;
    if lines.kept_first == 0 && lines.first > 1 {
        return Err(nothing_there(&place, &lines));
    }
    let mut bytes = std::mem::take(&mut lines.kept);
    if lines.line_cut {
        // Only the cut itself may split a character.
        let valid = std::str::from_utf8(&bytes)
            .map_or_else(|e| (e.error_len().is_none(), e.valid_up_to()), |s| (true, s.len()));
        if valid.0 {
            bytes.truncate(valid.1);
        }
    }
    let content = String::from_utf8(bytes).map_err(|error| not_text(error.as_bytes()))?;
    let output = Output {
        path: access.root.shown(&place.real),
        content,
        start_line: lines.kept_first,
        end_line: lines.kept_last,
        total_lines: lines.reached_end.then_some(lines.number),
        size_bytes,
        next_start_line: lines.next,
        line_cut: lines.line_cut,
        ..Output::default()
    };
    Ok(Reply::of_text(blocks(&output, line_numbers), output))
}

/// The whole image: a part of one is of no use.
fn image(
    access: &Access<'_>,
    place: &Place,
    reader: impl io::Read,
    size_bytes: u64,
    mime: &'static str,
    bytes_max: u64,
) -> Result<Reply<Output>> {
    let mut bytes = Vec::new();
    let read = reader.take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(|error| ToolError::io("read", &place.shown, &error))?;
    if bytes.len() as u64 > bytes_max {
        let path = &place.shown;
        return Err(ToolError::Refused(format!(
            "`{path}` is an image ({mime}) of {size_bytes} bytes, and at most {bytes_max} are given to a model. Make a smaller one."
        )));
    }
    let path = access.root.shown(&place.real);
    let text = vec![format!("[`{path}` is an image: {mime}, {size_bytes} bytes]")];
    let output = Output { path, size_bytes, image: Some(mime), ..Output::default() };
    Ok(Reply { text, images: vec![Image { mime, bytes }], structured: output })
}

fn nothing_there(place: &Place, lines: &Lines) -> ToolError {
    let Lines { number, first, .. } = *lines;
    ToolError::BadArguments(if lines.reached_end {
        let number = counted(number, "line");
        format!("`{}` has {number}, so there is no line {first}.", place.shown)
    } else {
        format!(
            "line {first} of `{}` lies further in than the {} bytes that are looked at ({}). Use search.",
            place.shown,
            lines.scan_bytes_max,
            counted(number, "line")
        )
    })
}

/// The exact text, then a note if there is something to say, as blocks of their own: a note is
/// never taken for text.
fn blocks(output: &Output, numbered: bool) -> Vec<String> {
    if output.start_line == 0 {
        return vec![format!("[`{}` is empty]", output.path)];
    }
    let mut blocks = vec![if numbered { with_numbers(output) } else { output.content.clone() }];
    let total = output
        .total_lines
        .map_or_else(|| "an unknown number of".to_owned(), |total| total.to_string());
    let whole = output.start_line == 1 && output.total_lines == Some(output.end_line);
    let (from, to, path) = (output.start_line, output.end_line, &output.path);
    if output.line_cut {
        let next = output
            .next_start_line
            .map(|next| format!(" The next line is {next}."))
            .unwrap_or_default();
        blocks.push(format!(
            "[line {from} of `{path}` is too long: only its first {} bytes are shown, and read_file cannot show the rest; use search.{next}]",
            output.content.len()
        ));
    } else if let Some(next) = output.next_start_line {
        let until = (to - from + next).min(output.total_lines.unwrap_or(u64::MAX));
        blocks.push(format!(
            "[lines {from}–{to} of {total} in `{path}`; there is more: ask for lines {next}–{until} with start_line and end_line]"
        ));
    } else if !whole {
        blocks.push(format!("[lines {from}–{to} of {total} in `{path}`]"));
    }
    blocks
}

fn with_numbers(output: &Output) -> String {
    let mut text = String::with_capacity(output.content.len() * 2);
    for (number, line) in (output.start_line..).zip(output.content.split_inclusive('\n')) {
        // Writing to a String cannot fail.
        let _ = write!(text, "{number:>6}\t{line}");
    }
    text
}
