//! The log lines of one server that come as messages, up to a limit. Must not know where they go.

use crate::settings::LogSink;
use crate::text::cut;

/// Of one connection.
pub(crate) const LOG_LINES_MAX: usize = 1000;
const LOG_LINE_BYTES_MAX: usize = 8 * 1024;

/// Where the lines go that a server logs, for one server.
pub(crate) struct ServerLog {
    server: String,
    sink: LogSink,
    /// How many more lines the log takes.
    lines_left: usize,
}

impl ServerLog {
    pub(crate) fn new(server: String, sink: LogSink, lines_max: usize) -> Self {
        Self { server, sink, lines_left: lines_max }
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    pub(super) fn line(&mut self, text: &str) {
        match self.lines_left {
            0 => return,
            1 => (self.sink)(&self.server, "[claw drops further lines of this server]"),
            _ => (self.sink)(&self.server, cut(text, LOG_LINE_BYTES_MAX)),
        }
        self.lines_left -= 1;
    }
}
