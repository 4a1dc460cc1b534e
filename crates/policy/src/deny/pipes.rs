//! Which parts of a shell text fetch something from the network, and which run what comes in on
//! their standard input. Must not know other dangers.

use super::shell::{NestedKind, RedirectKind, Script, Simple, Stage, Word};
use super::wrappers::{SHELLS, ShellInput, Started, is_stdin, shell_input, started};

const DOWNLOADERS: &[&str] = &[
    "curl",
    "wget",
    "wget2",
    "fetch",
    "http",
    "https",
    "xh",
    "xhs",
    "aria2c",
    "lynx",
    "lwp-request",
    "lwp-download",
    "GET",
];

pub(super) const INTERPRETERS: &[&str] = &[
    "python",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "osascript",
    "Rscript",
    "tclsh",
];

/// `python3.12` is `python`.
pub(super) fn is_interpreter(program: &str) -> bool {
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&stem)
}

pub(super) fn script_downloads(script: &Script) -> bool {
    script.pipelines.iter().flat_map(|pipeline| &pipeline.stages).any(downloads)
}

/// Whether the stage's output may come from the network.
pub(super) fn downloads(stage: &Stage) -> bool {
    match stage {
        Stage::Simple(simple) => {
            DOWNLOADERS.contains(&started(&simple.words).program())
                || simple.all_words().any(word_downloads)
        }
        Stage::Group { script, .. } => script_downloads(script),
        Stage::Function { .. } => false,
    }
}

/// Whether a substitution in the word fetches something.
pub(super) fn word_downloads(word: &Word) -> bool {
    let incoming = |kind| kind != NestedKind::ProcessOutput;
    word.nested.iter().any(|nested| incoming(nested.kind) && script_downloads(&nested.script))
}

/// Whether something fetched within the stage's own words can reach its input or its program: `tee
/// >(sh) <(curl …)`.
pub(super) fn has_incoming_download(stage: &Stage) -> bool {
    match stage {
        Stage::Simple(simple) => {
            DOWNLOADERS.contains(&started(&simple.words).program()) && feeds_a_runner(simple)
                || feeds_a_runner(simple) && simple.all_words().any(word_downloads)
        }
        Stage::Group { .. } | Stage::Function { .. } => false,
    }
}

/// Whether the stage, or a process that it feeds, executes what comes in.
pub(super) fn runs_stdin(stage: &Stage) -> bool {
    match stage {
        Stage::Simple(simple) => simple_runs_stdin(simple) || feeds_a_runner(simple),
        Stage::Group { script, .. } => script_runs_stdin(script),
        Stage::Function { .. } => false,
    }
}

fn script_runs_stdin(script: &Script) -> bool {
    script.pipelines.iter().filter_map(|pipeline| pipeline.stages.first()).any(runs_stdin)
}

fn feeds_a_runner(simple: &Simple) -> bool {
    let mut nested = simple.all_words().flat_map(|word| &word.nested);
    nested
        .any(|nested| nested.kind == NestedKind::ProcessOutput && script_runs_stdin(&nested.script))
}

fn simple_runs_stdin(simple: &Simple) -> bool {
    let elsewhere = |kind| matches!(kind, RedirectKind::Input | RedirectKind::Text);
    if simple.redirects.iter().any(|redirect| elsewhere(redirect.kind)) {
        return false;
    }
    let started = started(&simple.words);
    if started.by_xargs {
        return xargs_runs_input(&started);
    }
    reads_program_from_stdin(&started)
}

pub(super) fn reads_program_from_stdin(started: &Started) -> bool {
    let (program, args) = (started.program(), started.args());
    if SHELLS.contains(&program) {
        return matches!(shell_input(args), ShellInput::Stdin) && !asks_for_help(args);
    }
    if matches!(program, "source" | ".") || program == "su" {
        return args.first().is_some_and(|word| is_stdin(&word.text)) && program != "su";
    }
    is_interpreter(program) && args.first().is_none_or(|word| is_stdin(&word.text))
}

fn asks_for_help(args: &[Word]) -> bool {
    args.iter().any(|word| matches!(word.text.as_str(), "--version" | "--help"))
}

/// `xargs sh -c` and `xargs -I{} sh -c '{}'` run their input; `xargs sh -c 'echo "$0"'` does not.
fn xargs_runs_input(started: &Started) -> bool {
    if !SHELLS.contains(&started.program())
        || !started.args().iter().any(|word| is_text_option(&word.text))
    {
        return false;
    }
    match shell_input(started.args()) {
        ShellInput::Text(word) => word.text == "{}" || word.text == "%",
        ShellInput::Stdin => true,
        ShellInput::File(_) => false,
    }
}

fn is_text_option(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.ends_with('c')
}
