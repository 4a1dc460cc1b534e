//! What a command that somebody waits for has said, and what is said of it: for the result, and on
//! the way. Must not know how it is run.

use crate::capture::Capture;
use crate::network::HostAccount;
use crate::obeyed::ObeyedEnd;
use crate::progress::Progress;
use crate::run::Sink;
use crate::shell_end::ShellEnd;

/// The output of a command that somebody waits for.
pub struct CommandOutput {
    pub capture: Capture,
    pub progress: Option<Progress>,
    pub notes: Vec<String>,
    pub network: Option<Vec<HostAccount>>,
    pub shell: ShellEnd,
    pub obeyed: ObeyedEnd,
}

impl Sink for CommandOutput {
    fn account(&mut self, hosts: Vec<HostAccount>) {
        self.network = Some(hosts);
    }

    fn shell_ended(&mut self, end: ShellEnd) {
        self.shell = end;
    }

    fn obeyed_ended(&mut self, end: ObeyedEnd) {
        self.obeyed = end;
    }

    fn note(&mut self, sentence: String) {
        self.notes.push(sentence);
    }

    fn take(&mut self, chunk: &[u8]) {
        self.capture.push(chunk);
        if let Some(progress) = &self.progress {
            progress.push(chunk);
        }
    }
}
