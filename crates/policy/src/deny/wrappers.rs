//! Programs that run another program, and shells that run a text: what is really started by a list
//! of words. Must not know what is denied.

use super::shell::{NestedKind, Word};

/// What a list of words starts, with all wrappers taken off.
#[derive(Debug, Default)]
pub(super) struct Started {
    /// The program's name without its folder, and its arguments. Empty where nothing is started.
    pub(super) argv: Vec<Word>,
    /// Words that are run as shell text (`sh -c`, `eval`, `env -S`, `su -c`).
    pub(super) texts: Vec<Word>,
    /// `xargs` stands before the program, so that its input becomes arguments.
    pub(super) by_xargs: bool,
}

impl Started {
    pub(super) fn program(&self) -> &str {
        self.argv.first().map_or("", |word| basename(&word.text))
    }

    pub(super) fn args(&self) -> &[Word] {
        self.argv.get(1..).unwrap_or_default()
    }
}

/// A program that runs the rest of its words.
struct Wrapper {
    name: &'static str,
    /// Short options that take a value.
    short: &'static str,
    /// Long options that take their value as the next word.
    long: &'static [&'static str],
    /// Words before the program that are neither option nor assignment.
    positional: usize,
}

const fn wrapper(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    positional: usize,
) -> Wrapper {
    Wrapper { name, short, long, positional }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        "ughpCDRrtTU",
        &["--user", "--group", "--host", "--prompt", "--chdir", "--chroot"],
        0,
    ),
    wrapper("doas", "uC", &[], 0),
    wrapper("pkexec", "", &["--user"], 0),
    wrapper("run0", "u", &["--user"], 0),
    wrapper("env", "uC", &["--unset", "--chdir"], 0),
    wrapper("nohup", "", &[], 0),
    wrapper("setsid", "", &[], 0),
    wrapper("nice", "n", &["--adjustment"], 0),
    wrapper("ionice", "cnpPu", &["--class", "--classdata"], 0),
    wrapper("chrt", "T", &[], 1),
    wrapper("taskset", "", &[], 1),
    wrapper("time", "fo", &["--format", "--output"], 0),
    wrapper("timeout", "sk", &["--signal", "--kill-after"], 1),
    wrapper("gtimeout", "sk", &["--signal", "--kill-after"], 1),
    wrapper("stdbuf", "ioe", &["--input", "--output", "--error"], 0),
    wrapper(
        "xargs",
        "IJRnPLdEsa",
        &["--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-lines"],
        0,
    ),
    wrapper("parallel", "jIna", &["--jobs", "--arg-file"], 0),
    wrapper("builtin", "", &[], 0),
    wrapper("exec", "a", &[], 0),
    wrapper("busybox", "", &[], 0),
    wrapper("toybox", "", &[], 0),
    wrapper("chroot", "", &["--userspec", "--groups"], 1),
    wrapper("unshare", "SGR", &[], 0),
    wrapper("nsenter", "tSG", &["--target"], 0),
    wrapper("flock", "wE", &["--timeout"], 1),
    wrapper("watch", "n", &["--interval"], 0),
    wrapper("strace", "eopPuE", &[], 0),
    wrapper("caffeinate", "tw", &[], 0),
    wrapper("chronic", "", &[], 0),
    wrapper("systemd-run", "puM", &["--property", "--unit", "--uid", "--gid"], 0),
];

pub(super) const SHELLS: &[&str] =
    &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash"];

/// More wrappers than this around one program are not looked through.
const WRAPPERS_DEPTH_MAX: usize = 16;

pub(super) fn basename(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

/// Takes the wrappers off.
pub(super) fn started(words: &[Word]) -> Started {
    let mut out = Started::default();
    let mut rest = words;
    for _ in 0..WRAPPERS_DEPTH_MAX {
        let Some((first, args)) = rest.split_first() else { return out };
        let name = basename(&first.text);
        if name == "command" {
            // `command -v NAME` only asks where it is.
            if args.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) {
                return out;
            }
            rest = after_options(args, "", &[]);
            continue;
        }
        if name == "env" {
            out.texts.extend(split_string(args));
        }
        if matches!(name, "su" | "runuser" | "script" | "flock") {
            out.texts.extend(value_of(args, 'c', "--command"));
        }
        let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else { break };
        out.by_xargs |= name == "xargs";
        let mut inner = after_options(args, wrapper.short, wrapper.long);
        while inner.first().is_some_and(|word| is_assignment(&word.text)) {
            inner = inner.get(1..).unwrap_or_default();
        }
        rest = inner.get(wrapper.positional..).unwrap_or_default();
        if name == "watch" && !rest.is_empty() {
            out.texts.push(joined(rest));
            return out;
        }
    }
    out.argv = rest.to_vec();
    match out.program() {
        "eval" => out.texts.push(joined(out.args())),
        "trap" => out.texts.extend(out.args().first().cloned()),
        shell if SHELLS.contains(&shell) => {
            if let ShellInput::Text(word) = shell_input(out.args()) {
                out.texts.push(word.clone());
            }
        }
        _ => {}
    }
    out
}

/// Where a shell takes its commands from.
#[derive(Debug)]
pub(super) enum ShellInput<'w> {
    Text(&'w Word),
    File(&'w Word),
    Stdin,
}

pub(super) fn shell_input(args: &[Word]) -> ShellInput<'_> {
    let mut wants_text = false;
    let mut from_stdin = false;
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        match text {
            "--" => {
                if let Some(word) = rest.next() {
                    return file_or_text(word, wants_text, from_stdin);
                }
            }
            "--rcfile" | "--init-file" | "-o" | "+o" | "-O" | "+O" => drop(rest.next()),
            _ if text.starts_with("--") => {}
            "-" => {}
            _ if text.starts_with(['-', '+']) => {
                wants_text |= text.contains('c');
                from_stdin |= text.contains('s');
                // `-eo pipefail`: the option's name is the next word.
                if text.ends_with('o') {
                    rest.next();
                }
            }
            _ => return file_or_text(word, wants_text, from_stdin),
        }
    }
    ShellInput::Stdin
}

fn file_or_text(word: &Word, wants_text: bool, from_stdin: bool) -> ShellInput<'_> {
    if wants_text {
        ShellInput::Text(word)
    } else if from_stdin || is_stdin(&word.text) {
        ShellInput::Stdin
    } else {
        ShellInput::File(word)
    }
}

pub(super) fn is_stdin(path: &str) -> bool {
    matches!(path, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// The words behind the options. A value may be attached (`-n5`, `--user=x`) or be the next word.
fn after_options<'w>(args: &'w [Word], short: &str, long: &[&str]) -> &'w [Word] {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        at += 1;
        let takes_next = if text.starts_with("--") {
            long.contains(&text)
        } else {
            // The first letter that takes a value takes the rest of the cluster, or the next word.
            let letters = text.get(1..).unwrap_or_default();
            letters
                .find(|c| short.contains(c))
                .is_some_and(|position| position + 1 == letters.len())
        };
        at += usize::from(takes_next);
    }
    args.get(at..).unwrap_or_default()
}

/// The value of `-S`, `-vS` or `--split-string` of `env`.
fn split_string(args: &[Word]) -> Option<Word> {
    value_of(args, 'S', "--split-string")
}

fn value_of(args: &[Word], short: char, long: &str) -> Option<Word> {
    for (index, word) in args.iter().enumerate() {
        let text = word.text.as_str();
        if text == long
            || (text.starts_with('-') && !text.starts_with("--") && text.ends_with(short))
        {
            return args.get(index + 1).cloned();
        }
        if let Some(value) = text.strip_prefix(long).and_then(|rest| rest.strip_prefix('=')) {
            return Some(Word { text: value.to_owned(), ..word.clone() });
        }
        if short == 'S'
            && let Some(value) = text.strip_prefix("-S").filter(|value| !value.is_empty())
        {
            return Some(Word { text: value.to_owned(), ..word.clone() });
        }
    }
    None
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Words joined by blanks into one, as `eval` does.
pub(super) fn joined(words: &[Word]) -> Word {
    Word {
        text: words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "),
        nested: words.iter().flat_map(|word| word.nested.clone()).collect(),
        quoted: true,
    }
}

/// Whether a word is or holds `<( … )`.
pub(super) fn has_process_input(word: &Word) -> bool {
    word.nested.iter().any(|nested| nested.kind == NestedKind::ProcessInput)
}
