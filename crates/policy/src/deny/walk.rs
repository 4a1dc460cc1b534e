//! Goes through a text that was read, into every group, substitution and nested text, and asks each
//! program's rule. Owns the rules about pipelines and functions. Must not know the rules of single
//! programs.

use std::cell::Cell;
use std::path::PathBuf;

use super::pipes::{
    downloads, has_incoming_download, reads_program_from_stdin, runs_stdin, word_downloads,
};
use super::read::{STEPS_MAX, read};
use super::shell::{Pipeline, RedirectKind, Script, Simple, Stage, VARIABLE, Word};
use super::wrappers::{
    SHELLS, ShellInput, Started, has_process_input, joined, shell_input, started,
};
use super::{Denial, Finding, disks, paths, programs};
use crate::Facts;

/// How deep texts may hold texts (`sh -c "sh -c …"`).
const TEXTS_DEPTH_MAX: u32 = 8;

pub(super) struct Walk<'a> {
    pub(super) facts: &'a Facts<'a>,
    steps: Cell<u32>,
    depth: u32,
    unreadable: bool,
    denied: Option<Denial>,
    /// The folder that a `cd` in the text led to; `None` while it is the tool's own.
    pub(super) cwd: Option<PathBuf>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(facts: &'a Facts<'a>) -> Self {
        Self {
            facts,
            steps: Cell::new(STEPS_MAX),
            depth: 0,
            unreadable: false,
            denied: None,
            cwd: None,
        }
    }

    pub(super) fn finish(self) -> Finding {
        match self.denied {
            Some(denial) => Finding::Denied(denial),
            None if self.unreadable => Finding::Unreadable,
            None => Finding::Clear,
        }
    }

    /// The first reason is the one that is told.
    pub(super) fn deny(&mut self, rule: &str, why: &str, instead: &str) {
        self.denied.get_or_insert_with(|| Denial::new(rule, why, instead));
    }

    /// A whole shell text.
    pub(super) fn text(&mut self, text: &str) {
        if self.depth >= TEXTS_DEPTH_MAX {
            self.unreadable = true;
            return;
        }
        match read(text, &self.steps, self.depth) {
            Ok(script) => {
                self.depth += 1;
                self.script(&script);
                self.depth -= 1;
            }
            Err(_) => self.unreadable = true,
        }
    }

    /// A list of words that no shell reads.
    pub(super) fn literal_argv(&mut self, argv: &[String]) {
        let words = argv.iter().map(|text| Word { quoted: true, ..Word::literal(text) }).collect();
        self.simple(&Simple { words, ..Simple::default() });
    }

    fn script(&mut self, script: &Script) {
        for pipeline in &script.pipelines {
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let before = self.cwd.clone();
        let mut fetched = false;
        let mut copies_of_itself = 0;
        for (index, stage) in pipeline.stages.iter().enumerate() {
            fetched |= has_incoming_download(stage);
            if fetched && runs_stdin(stage) {
                self.deny_pipe_to_shell();
            }
            if index > 0 && is_shell_on_stdin(stage) {
                let written = pipeline.stages.get(index - 1).and_then(echoed);
                if let Some(text) = written {
                    self.text(&text);
                }
            }
            copies_of_itself += usize::from(is_itself(stage));
            self.stage(stage);
            fetched |= downloads(stage);
        }
        if copies_of_itself > 1 || (copies_of_itself == 1 && pipeline.background) {
            self.deny_fork_bomb();
        }
        // Each stage of a pipe, and what runs in the background, has a folder of its own.
        if pipeline.stages.len() > 1 || pipeline.background {
            self.cwd = before;
        }
    }

    fn stage(&mut self, stage: &Stage) {
        match stage {
            Stage::Simple(simple) => self.simple(simple),
            Stage::Group { script, redirects, subshell } => {
                let before = self.cwd.clone();
                self.script(script);
                if *subshell {
                    self.cwd = before;
                }
                for redirect in redirects {
                    self.word(&redirect.word);
                }
            }
            Stage::Function { name, body } => {
                if calls_itself_without_end(name, body) {
                    self.deny_fork_bomb();
                }
                let before = self.cwd.take();
                self.stage(body);
                self.cwd = before;
            }
        }
        self.redirects(stage);
    }

    fn redirects(&mut self, stage: &Stage) {
        for redirect in stage.redirects() {
            if redirect.kind == RedirectKind::Output && disks::is_block_device(&redirect.word.text)
            {
                self.deny_raw_disk();
            }
            if redirect.kind == RedirectKind::Output
                && redirect.word.text.ends_with("/sysrq-trigger")
            {
                programs::deny_shutdown(self);
            }
        }
    }

    fn word(&mut self, word: &Word) {
        for nested in &word.nested {
            let before = self.cwd.clone();
            self.script(&nested.script);
            self.cwd = before;
        }
    }

    pub(super) fn simple(&mut self, simple: &Simple) {
        for word in simple.all_words() {
            self.word(word);
        }
        let words: Vec<Word> = simple.words.iter().flat_map(Word::braces_expanded).collect();
        let started = started(&words);
        self.nested_texts(simple, &started);
        if let Some(first) = started.argv.first()
            && word_downloads(first)
        {
            self.deny_pipe_to_shell();
        }
        programs::judge(self, &started);
        if let Some(folder) = self.changed_folder(&started) {
            self.cwd = folder;
        }
    }

    /// Texts and files that the program will run as shell or interpreter.
    fn nested_texts(&mut self, simple: &Simple, started: &Started) {
        let program = started.program();
        for word in &started.texts {
            if word_downloads(word) {
                self.deny_pipe_to_shell();
            }
            self.text(&word.to_source());
        }
        let runs_files = SHELLS.contains(&program)
            || matches!(program, "source" | ".")
            || super::pipes::is_interpreter(program);
        if !runs_files {
            return;
        }
        // An interpreter gets a download as its program only in these two places.
        let code = started
            .args()
            .iter()
            .position(|word| matches!(word.text.as_str(), "-c" | "-e" | "-E" | "-r"));
        let code =
            code.and_then(|at| started.args().get(at + 1)).filter(|word| word_downloads(word));
        let file = match shell_input(started.args()) {
            ShellInput::File(word) if SHELLS.contains(&program) => Some(word),
            _ => started.args().iter().find(|word| !word.text.starts_with('-')),
        };
        let file = file.filter(|word| has_process_input(word) && word_downloads(word));
        if code.is_some() || file.is_some() {
            self.deny_pipe_to_shell();
        }
        if !reads_program_from_stdin(started) {
            return;
        }
        for redirect in &simple.redirects {
            if redirect.kind != RedirectKind::Output && word_downloads(&redirect.word) {
                self.deny_pipe_to_shell();
            }
            if redirect.kind == RedirectKind::Text && SHELLS.contains(&program) {
                self.text(&redirect.word.to_source());
            }
        }
    }

    fn changed_folder(&self, started: &Started) -> Option<Option<PathBuf>> {
        if !matches!(started.program(), "cd" | "pushd") {
            return None;
        }
        let to = started.args().iter().find(|word| !word.text.starts_with('-') || word.text == "-");
        Some(match to {
            None => Some(self.facts.user_home.to_path_buf()),
            Some(word) => paths::resolve(&word.text, self.facts, self.cwd.as_deref())
                .map(|target| target.path),
        })
    }

    pub(super) fn deny_raw_disk(&mut self) {
        let instead = "write to a file inside the workspace, for example an image file";
        self.deny("raw-disk", "this writes straight onto a disk or another block device", instead);
    }

    fn deny_pipe_to_shell(&mut self) {
        let instead = "download it to a file in the workspace, read it, then run that file as a \
            step of its own";
        self.deny("pipe-to-shell", "this runs a download without anybody having seen it", instead);
    }

    pub(super) fn deny_fork_bomb(&mut self) {
        let instead = "start a fixed number of jobs and wait for them";
        self.deny("fork-bomb", "this starts copies of itself without end", instead);
    }
}

fn is_shell_on_stdin(stage: &Stage) -> bool {
    match stage {
        Stage::Simple(simple) => {
            let started = started(&simple.words);
            SHELLS.contains(&started.program()) && runs_stdin(stage)
        }
        Stage::Group { .. } | Stage::Function { .. } => false,
    }
}

/// What `echo` or `printf` writes, as far as it is plain text; the body of `cat <<EOF` as well.
fn echoed(stage: &Stage) -> Option<String> {
    let Stage::Simple(simple) = stage else { return None };
    let started = started(&simple.words);
    match started.program() {
        "echo" | "printf" => {
            let skipped = started
                .args()
                .iter()
                .take_while(|word| matches!(word.text.as_str(), "-e" | "-n" | "-en"));
            let words = started.args().get(skipped.count()..).unwrap_or_default();
            Some(joined(words).to_source().replace("\\n", "\n"))
        }
        "cat" => simple
            .redirects
            .iter()
            .find(|redirect| redirect.kind == RedirectKind::Text)
            .map(|redirect| redirect.word.to_source()),
        _ => None,
    }
}

/// `$0`, the running script itself.
fn is_itself(stage: &Stage) -> bool {
    let Stage::Simple(simple) = stage else { return false };
    let itself = format!("{VARIABLE}0{VARIABLE}");
    started(&simple.words)
        .argv
        .first()
        .is_some_and(|word| word.text.trim_start_matches("./") == itself)
}

/// A function that pipes itself into itself, or starts itself in the background without an argument
/// that could end it.
fn calls_itself_without_end(name: &str, body: &Stage) -> bool {
    let Stage::Group { script, .. } = body else { return false };
    script.pipelines.iter().any(|pipeline| {
        let calls = |stage: &&Stage| matches!(stage, Stage::Simple(simple) if simple.words.first().is_some_and(|w| w.text == name));
        let count = pipeline.stages.iter().filter(calls).count();
        let bare = pipeline.stages.iter().any(|stage| {
            matches!(stage, Stage::Simple(simple) if simple.words.len() == 1 && simple.words.iter().all(|w| w.text == name))
        });
        let within = pipeline.stages.iter().any(|stage| calls_itself_without_end(name, stage));
        count > 1 || (bare && pipeline.background) || within
    })
}
