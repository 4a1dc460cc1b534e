//! The process that reads a PDF: closes itself in, reads standard input, says what it finds on
//! standard output, and ends. Must not know paths, tools or who listens.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use hayro_font::hayro_syntax::{LoadPdfError, Pdf};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::ReaderMessage;
use super::page::Reader;
use crate::args::Limits;

/// Reads the PDF at standard input from a page on. Whoever has enough ends this process.
///
/// Exit code 0 when all was said, 1 when the process could not close itself in, or nobody listens.
pub fn main(first_page: u64, limits: &Limits) -> ExitCode {
    match close_in(limits).and_then(|()| tell(first_page, limits)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// A file that was made to do harm can take no more than this, whatever the code that reads it
/// does: no file can be opened or written, no core is left, memory and time end.
fn close_in(limits: &Limits) -> io::Result<()> {
    let bound = |resource, value| {
        let value = Some(value);
        setrlimit(resource, Rlimit { current: value, maximum: value }).map_err(io::Error::from)
    };
    // Nobody reads on for a server that is gone. The thread that started this process waits for it.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    bound(Resource::Core, 0)?;
    bound(Resource::Fsize, 0)?;
    bound(Resource::Nofile, 0)?;
    bound(Resource::Cpu, limits.pdf_time_ms_max.div_ceil(1000).max(1))?;
    // Apple's kernel refuses bounds on address space; time and processes hold there all the same.
    match bound(Resource::As, limits.pdf_memory_bytes_max) {
        Err(_) if cfg!(target_vendor = "apple") => Ok(()),
        bounded => bounded,
    }
}

fn tell(first_page: u64, limits: &Limits) -> io::Result<()> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(limits.pdf_bytes_max).read_to_end(&mut bytes)?;
    let pdf = match Pdf::new(bytes) {
        Ok(pdf) => pdf,
        Err(LoadPdfError::Decryption(_)) => return say(&ReaderMessage::Encrypted),
        Err(LoadPdfError::Invalid) => return say(&ReaderMessage::Invalid),
    };
    let pages = pdf.pages();
    say(&ReaderMessage::Pages(pages.len() as u64))?;
    let text_bytes_max = usize::try_from(limits.read_reply_bytes_max).unwrap_or(usize::MAX);
    let reader = Reader::new();
    for (number, page) in (1u64..).zip(pages.iter()) {
        if number >= first_page {
            say(&ReaderMessage::Page(reader.page(number, page, text_bytes_max)))?;
        }
    }
    say(&ReaderMessage::End)
}

/// Each line leaves at once: what was read before a bad page is not lost with it.
fn say(message: &ReaderMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}
