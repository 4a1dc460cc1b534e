//! A PDF as `read_file` gives it: its text by pages. Owns the range of pages and what is said of a
//! file that has no text. How a PDF is read is `pdf`'s.

use std::io::{Seek as _, SeekFrom};

use claw_kit::counted::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Output, Reply};
use crate::args::Limits;
use crate::cancel::Cancel;
use crate::error::{Result, ToolError};
use crate::pdf::{self, Page, Pages, Stopped};

/// Which pages are wanted: the first and the last, counted from 1.
pub type PageRange = (u64, u64);

/// Which pages of a PDF `content` holds.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PagesTold {
    first: u64,
    last: u64,
    pub total: u64,
}

/// An open file that begins as a PDF does.
pub struct PdfFile {
    pub file: cap_std::fs::File,
    pub path: String,
    pub size_bytes: u64,
}

/// The range, if the file may be read by it.
///
/// # Errors
/// It is no range.
pub fn range(start: Option<u64>, end: Option<u64>) -> Result<Option<PageRange>> {
    if start.is_none() && end.is_none() {
        return Ok(None);
    }
    let (first, last) = (start.unwrap_or(1), end.unwrap_or(u64::MAX));
    if first == 0 || last < first {
        return Err(ToolError::BadArguments(format!(
            "pages {first} to {last} are no range: pages count from 1, and end_page is not before start_page."
        )));
    }
    Ok(Some((first, last)))
}

impl PdfFile {
    /// # Errors
    /// The file is too large, encrypted, damaged, has no such page, or none of the pages has text.
    pub fn read(
        self,
        range: Option<PageRange>,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<Reply<Output>> {
        let Self { mut file, path, size_bytes } = self;
        if size_bytes > limits.pdf_bytes_max {
            return Err(ToolError::TooLarge {
                path,
                size_bytes,
                limit_bytes: limits.pdf_bytes_max,
                instead: "Its text is not read. Ask its owner for a smaller PDF, or for a part of it.",
            });
        }
        let (first, last) = range.unwrap_or((1, u64::MAX));
        // Its beginning was looked at already.
        file.seek(SeekFrom::Start(0)).map_err(|error| ToolError::io("read", &path, &error))?;
        let read = pdf::read(file.into_std(), (first, last), limits, cancel)?
            .map_err(|error| ToolError::io("start the reader of PDFs for", &path, &error))?;
        check(&read, first, &path, limits)?;
        let total = read.total;
        let end = last.min(total);
        let last_read = read.pages.last().map_or(first, |page| page.number);
        let next = (last_read < end).then_some(last_read + 1);
        let mut text = Vec::new();
        for page in &read.pages {
            text.push(heading(page, total, &path));
            text.extend((!page.text.is_empty()).then(|| page.text.clone()));
        }
        text.extend(next.map(|next| more(&read, next, end, &path, limits)));
        let page_cut = read.pages.iter().any(|page| page.cut);
        let texts: Vec<String> = read.pages.into_iter().map(|page| page.text).collect();
        let structured = Output {
            path,
            content: texts.join("\u{c}"),
            size_bytes,
            pages: Some(PagesTold { first, last: last_read, total }),
            page_cut,
            next_start_page: next,
            ..Output::default()
        };
        Ok(Reply::of_text(text, structured))
    }
}

/// Whether there is text to give.
fn check(read: &Pages, first: u64, path: &str, limits: &Limits) -> Result<()> {
    let Pages { total, .. } = *read;
    let seconds = limits.pdf_time_ms_max.div_ceil(1000);
    let why = match read.stopped {
        Some(Stopped::Encrypted) => format!(
            "`{path}` is an encrypted PDF that opens with a password alone. Ask its owner for a copy without one."
        ),
        Some(Stopped::Invalid) => format!(
            "`{path}` begins like a PDF and is none that can be read: no page was found in it. It is damaged or cut off. \
             Ask its owner for another copy."
        ),
        Some(Stopped::Time) if read.pages.is_empty() => format!(
            "`{path}` could not be read within {seconds} s: page {first} or the list of pages takes too long. \
             Try another page with start_page, or ask its owner for another copy."
        ),
        Some(Stopped::Died) if read.pages.is_empty() => format!(
            "`{path}` could not be read: its reader was ended at page {first}. The page needs more memory or time than it \
             may have, or the file is made or damaged so that it breaks readers. Try another page with start_page."
        ),
        _ if total == 0 => format!("`{path}` is a PDF without pages."),
        _ if first > total => {
            let pages = if total == 1 { "1 page".to_owned() } else { format!("{total} pages") };
            return Err(ToolError::BadArguments(format!(
                "`{path}` has {pages}, so there is no page {first}."
            )));
        }
        None if read.pages.iter().all(|page| page.text.is_empty()) => {
            return Err(no_text(read, path));
        }
        _ => return Ok(()),
    };
    Err(ToolError::Refused(why))
}

/// A scan, as far as one can tell: pages without any character.
fn no_text(read: &Pages, path: &str) -> ToolError {
    let (first, last) = (
        read.pages.first().map_or(1, |page| page.number),
        read.pages.last().map_or(1, |page| page.number),
    );
    let which = if first == 1 && last == read.total {
        format!(
            "`{path}` is a PDF without text ({last} {})",
            if last == 1 { "page" } else { "pages" }
        )
    } else {
        format!("pages {first}–{last} of `{path}` hold no text")
    };
    ToolError::Refused(format!(
        "{which}. It is probably a scan: pictures of pages. A program for OCR can add the text, for example `ocrmypdf`."
    ))
}

/// A block of its own before the text of a page, so that no page can pass for the next one.
fn heading(page: &Page, total: u64, path: &str) -> String {
    let number = page.number;
    if page.text.is_empty() {
        return format!(
            "[page {number} of {total} of `{path}`: no text; a picture, a scan, or empty]"
        );
    }
    let mut notes = String::new();
    if page.unknown > 0 {
        let are = if page.unknown == 1 { "is" } else { "are" };
        let unknown = counted(page.unknown, "character");
        notes = format!("; {unknown} without a letter {are} shown as \u{fffd}");
    }
    if page.cut {
        notes.push_str("; its end is missing, it is longer than a reply");
    }
    format!("[page {number} of {total} of `{path}`{notes}]")
}

/// What follows the last page that was read.
fn more(read: &Pages, next: u64, end: u64, path: &str, limits: &Limits) -> String {
    let why = match read.stopped {
        Some(Stopped::Time) => {
            format!("reading stopped after {} s", limits.pdf_time_ms_max.div_ceil(1000))
        }
        Some(Stopped::Died) => format!(
            "page {next} could not be read: it needs more memory or time than it may have, or is damaged. Pages after it may be"
        ),
        _ => "there is more".to_owned(),
    };
    let ask = if read.stopped == Some(Stopped::Died) { (next + 1).min(end) } else { next };
    format!("[{why}; ask for pages {ask}–{end} of `{path}` with start_page and end_page]")
}
