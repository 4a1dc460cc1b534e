//! Logs: tracing to stderr, and one file for each server's stderr. A log is a sink, so every line
//! is redacted before it is written. Must not know what is logged.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::Directive;

use crate::hub::LogSink;
use crate::redact::{RedactError, Redactor};

/// A server's log starts anew at this size; the one before is kept beside it.
const SERVER_LOG_BYTES_MAX: u64 = 1024 * 1024;

static REDACTOR: OnceLock<Redactor> = OnceLock::new();

/// Sends tracing to stderr, by a filter such as `info` or `claw=debug`; `error` by default.
///
/// Two libraries are held down whatever it says: one logs whole messages of servers, the other
/// whole bodies of providers.
pub fn init(wanted: Option<&str>) {
    let mut filter =
        EnvFilter::try_new(wanted.unwrap_or("error")).unwrap_or_else(|_| EnvFilter::new("error"));
    for quiet in ["rmcp=error", "genai=off"] {
        if let Ok(directive) = quiet.parse::<Directive>() {
            filter = filter.add_directive(directive);
        }
    }
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(|| Redacted)
        .init();
}

/// From here on the known secrets are masked in every line.
pub fn keep_secrets(redactor: &Redactor) {
    // Only tests open more than one home in a process; the first one's secrets are then the ones
    // that are masked.
    let _ = REDACTOR.set(redactor.clone());
}

/// Secrets that became known later, of any agent of this process.
///
/// # Errors
/// All of them together cannot be compiled.
pub fn learn_secrets(secrets: &[(String, String)]) -> Result<(), RedactError> {
    REDACTOR.get().map_or(Ok(()), |redactor| redactor.learn(secrets.iter().cloned()))
}

/// Stderr behind the redactor. Tracing writes a whole line at a time.
struct Redacted;

impl Write for Redacted {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let shown = REDACTOR.get().map_or_else(|| text.clone(), |redactor| redactor.redact(&text));
        io::stderr().lock().write_all(shown.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

/// Keeps what each server writes to its stderr in `logs/SERVER.log`, redacted, bounded, owner-only.
pub fn server_log(logs: PathBuf, redactor: Redactor) -> LogSink {
    let open: Mutex<BTreeMap<String, ServerLog>> = Mutex::default();
    Arc::new(move |server, line| {
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        let log = open.entry(server.to_owned()).or_insert_with(|| ServerLog::at(&logs, server));
        if let Err(error) = log.append(&redactor.redact(line)) {
            tracing::warn!(server, %error, "what the server said could not be kept");
        }
    })
}

struct ServerLog {
    path: PathBuf,
    file: Option<File>,
}

impl ServerLog {
    fn at(logs: &Path, server: &str) -> Self {
        Self {
            path: logs.join(format!("{}.log", crate::hub::names::safe_name(server))),
            file: None,
        }
    }

    fn append(&mut self, line: &str) -> io::Result<()> {
        if self
            .file
            .as_ref()
            .is_some_and(|file| file.metadata().is_ok_and(|meta| meta.len() > SERVER_LOG_BYTES_MAX))
        {
            self.file = None;
            std::fs::rename(&self.path, self.path.with_extension("log.old"))?;
        }
        let file = match &mut self.file {
            Some(file) => file,
            slot => slot
                .insert(OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?),
        };
        writeln!(file, "{} {line}", jiff::Timestamp::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_log_holds_no_secret_and_starts_anew_when_it_is_full() {
        let dir = tempfile::tempdir().unwrap();
        let redactor = Redactor::new([("KEY".to_owned(), "s3cr3t-value".to_owned())]).unwrap();
        let log = server_log(dir.path().to_owned(), redactor);
        log("a/b", "the key is s3cr3t-value");
        let text = std::fs::read_to_string(dir.path().join("a_b.log")).unwrap();
        assert!(text.contains("the key is [redacted:KEY]"), "{text}");
        for _ in 0..12 {
            log("a/b", &"x".repeat(100_000));
        }
        assert!(dir.path().join("a_b.log.old").exists());
        assert!(
            std::fs::metadata(dir.path().join("a_b.log")).unwrap().len() < SERVER_LOG_BYTES_MAX
        );
    }
}
