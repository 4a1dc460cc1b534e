//! The programs that only read, with the options under which that is true. A small list: what a
//! person would not want to be asked about. Pure. Must not know where a program lies or which files
//! it may be given.
//!
//! **git is not among the programs here but in a table of its own (`GIT`), because git starts what
//! a repository's configuration names: the caller must have looked at that configuration.** Left
//! out on purpose are `less`, `awk`, `xargs`, `env`, `printf` (`-v` evaluates), `test` (`-v`
//! evaluates), `tee`, `tail -f` (never ends), `grep -R` and `ls -L` (follow links), `sort -o`,
//! `--compress-program` and `-T`, `rg --pre`, `-z` and `--hostname-bin`, `find -exec`, `-delete`,
//! `-fprint` and `-L`, `file -m`, `-f` and `-z`, `date -s`, `-f` and `-r`.

use super::ShellStep;
use super::options::{Arguments, Kind, NOTHING, Style, paths};

/// A program that only reads.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    pub name: &'static str,
    /// Bash does it by itself, whatever lies on the search path.
    pub builtin: bool,
    arguments: Arguments,
}

const fn program(name: &'static str, arguments: Arguments) -> Reader {
    Reader { name, builtin: false, arguments }
}

const fn builtin(name: &'static str, arguments: Arguments) -> Reader {
    Reader { name, builtin: true, arguments }
}

/// `-abc` and paths.
const fn on_paths(flags: &'static str, values: &'static [(&'static str, Kind)]) -> Arguments {
    Arguments { flags, values, further: Some(Kind::Path), ..NOTHING }
}

const READERS: &[Reader] = &[
    builtin("cd", Arguments { first: &[Kind::Path], ..NOTHING }),
    builtin("echo", Arguments { style: Style::None, further: Some(Kind::Text), ..NOTHING }),
    builtin("pwd", Arguments { flags: "-L -P", ..NOTHING }),
    builtin("true", NOTHING),
    program("cat", on_paths("-A -b -E -n -s -T -v --number --show-all", &[])),
    program(
        "cut",
        on_paths(
            "-s",
            &[("-b", Kind::Text), ("-c", Kind::Text), ("-d", Kind::Text), ("-f", Kind::Text)],
        ),
    ),
    program("date", Arguments { flags: "-u -R -I", further: Some(Kind::Format), ..NOTHING }),
    program("df", on_paths("-h -H -i -k -l -T", &[])),
    program(
        "du",
        on_paths(
            "-a -b -c -h -k -m -s -x --apparent-size",
            &[("-d", Kind::Number), ("--max-depth", Kind::Number)],
        ),
    ),
    program("file", on_paths("-b -i --brief --mime --mime-type", &[])),
    program("find", FIND),
    program(
        "grep",
        Arguments { flags: GREP_FLAGS, values: GREP_VALUES, digits: true, ..PATTERN_AND_PATHS },
    ),
    program(
        "head",
        Arguments {
            digits: true,
            ..on_paths(
                "-q -v",
                &[
                    ("-c", Kind::Number),
                    ("-n", Kind::Number),
                    ("--lines", Kind::Number),
                    ("--bytes", Kind::Number),
                ],
            )
        },
    ),
    program("ls", on_paths(LS_FLAGS, &[])),
    program("rg", Arguments { flags: RG_FLAGS, values: RG_VALUES, ..PATTERN_AND_PATHS }),
    program(
        "sed",
        Arguments { flags: "-n", first: &[Kind::Lines], further: Some(Kind::Path), ..NOTHING },
    ),
    program(
        "sort",
        on_paths(
            "-b -d -f -h -M -n -r -s -u -V --reverse --unique",
            &[("-k", Kind::Text), ("-t", Kind::Text)],
        ),
    ),
    program(
        "stat",
        on_paths("-t", &[("-c", Kind::Text), ("--format", Kind::Text), ("--printf", Kind::Text)]),
    ),
    program(
        "tail",
        Arguments {
            digits: true,
            ..on_paths(
                "-q -v",
                &[
                    ("-c", Kind::Number),
                    ("-n", Kind::Number),
                    ("--lines", Kind::Number),
                    ("--bytes", Kind::Number),
                ],
            )
        },
    ),
    // The second operand of uniq is written.
    program("uniq", Arguments { flags: "-c -d -i -u", first: &[Kind::Path], ..NOTHING }),
    program("wc", on_paths("-c -L -l -m -w --lines --words --bytes", &[])),
];

const LS_FLAGS: &str = "-1 -A -C -F -R -S -U -X -a -c -d -g -h -i -k -l -n -o -p -q -r -s -t -u -v -x --all --almost-all \
    --color=auto --color=always --color=never --color --full-time --group-directories-first \
    --human-readable --recursive --size --sort=size --sort=time";

/// The pattern comes first, unless an option has given it.
const PATTERN_AND_PATHS: Arguments = Arguments {
    first: &[Kind::Text],
    first_unless: "-e --regexp --files",
    further: Some(Kind::Path),
    ..NOTHING
};

const GREP_FLAGS: &str = "-E -F -G -H -I -L -P -a -b -c -h -i -l -n -o -q -r -s -v -w -x -z --color=auto --color=always \
    --color=never --color --count --fixed-strings --ignore-case --invert-match --line-number \
    --only-matching --recursive --extended-regexp --files-with-matches --word-regexp --with-filename \
    --no-filename";

const GREP_VALUES: &[(&str, Kind)] = &[
    ("-A", Kind::Number),
    ("-B", Kind::Number),
    ("-C", Kind::Number),
    ("-e", Kind::Text),
    ("-m", Kind::Number),
    ("--after-context", Kind::Number),
    ("--before-context", Kind::Number),
    ("--context", Kind::Number),
    ("--exclude", Kind::Text),
    ("--exclude-dir", Kind::Text),
    ("--include", Kind::Text),
    ("--max-count", Kind::Number),
    ("--regexp", Kind::Text),
];

const RG_FLAGS: &str = "-F -H -I -N -P -S -U -c -i -l -n -o -q -s -u -v -w -x --files --files-with-matches --fixed-strings \
    --hidden --ignore-case --line-number --multiline --no-heading --heading --no-ignore --only-matching \
    --smart-case --word-regexp --color=never --color=always --color=auto --stats --vimgrep";

const RG_VALUES: &[(&str, Kind)] = &[
    ("-A", Kind::Number),
    ("-B", Kind::Number),
    ("-C", Kind::Number),
    ("-T", Kind::Text),
    ("-e", Kind::Text),
    ("-g", Kind::Text),
    ("-m", Kind::Number),
    ("-t", Kind::Text),
    ("--glob", Kind::Text),
    ("--max-count", Kind::Number),
    ("--max-depth", Kind::Number),
    ("--regexp", Kind::Text),
    ("--type", Kind::Text),
];

const FIND: Arguments = Arguments {
    style: Style::Whole,
    flags: "-a -empty -not -o -print -print0 -true",
    values: &[
        ("-iname", Kind::Text),
        ("-ipath", Kind::Text),
        ("-maxdepth", Kind::Number),
        ("-mindepth", Kind::Number),
        ("-mmin", Kind::Number),
        ("-mtime", Kind::Number),
        ("-name", Kind::Text),
        ("-newer", Kind::Path),
        ("-path", Kind::Text),
        ("-size", Kind::Number),
        ("-type", Kind::Name),
    ],
    further: Some(Kind::Path),
    ..NOTHING
};

/// git's subcommands that only read, in a repository whose configuration starts nothing.
const GIT: &[(&str, Arguments)] = &[
    (
        "branch",
        Arguments { flags: "-a -r -v -vv --all --list --remotes --show-current", ..NOTHING },
    ),
    (
        "diff",
        Arguments {
            flags: GIT_DIFF_FLAGS,
            values: GIT_VALUES,
            further: Some(Kind::RepoWord),
            ..NOTHING
        },
    ),
    (
        "log",
        Arguments {
            flags: GIT_LOG_FLAGS,
            values: GIT_VALUES,
            digits: true,
            further: Some(Kind::RepoWord),
            ..NOTHING
        },
    ),
    (
        "rev-parse",
        Arguments {
            flags: "--abbrev-ref --short --show-toplevel",
            further: Some(Kind::Ref),
            ..NOTHING
        },
    ),
    (
        "show",
        Arguments {
            flags: GIT_DIFF_FLAGS,
            values: GIT_VALUES,
            further: Some(Kind::RepoWord),
            ..NOTHING
        },
    ),
    (
        "status",
        Arguments {
            flags: "-b -s --branch --long --porcelain --short",
            further: Some(Kind::RepoWord),
            ..NOTHING
        },
    ),
];

/// No `--no-index` (reads any two files), `--ext-diff`, `--textconv`, `--output`,
/// `--show-signature`.
const GIT_DIFF_FLAGS: &str = "-p -w -b --cached --staged --stat --shortstat --numstat --name-only --name-status --summary --patch \
    --no-color --oneline --no-patch --ignore-all-space --word-diff -s";

const GIT_LOG_FLAGS: &str = "-p --all --decorate --graph --merges --name-only --name-status --no-color --no-decorate --no-merges \
    --numstat --oneline --patch --reverse --shortstat --stat --first-parent --follow";

const GIT_VALUES: &[(&str, Kind)] = &[
    ("-n", Kind::Number),
    ("-U", Kind::Number),
    ("--author", Kind::Text),
    ("--format", Kind::LogFormat),
    ("--grep", Kind::Text),
    ("--max-count", Kind::Number),
    ("--pretty", Kind::LogFormat),
    ("--since", Kind::Text),
    ("--until", Kind::Text),
    ("--date", Kind::Name),
];

/// What a step reads, if it is one of these programs and all its arguments are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<'w> {
    pub program: &'static str,
    pub builtin: bool,
    /// The words that name files, as they were written. `-` is the standard input.
    pub paths: Vec<&'w str>,
}

pub fn reading(step: &ShellStep) -> Option<Reading<'_>> {
    if step.program() == "git" {
        let args = step.args();
        let args = args.strip_prefix(&["--no-pager".to_owned()]).unwrap_or(args);
        let (subcommand, args) = args.split_first()?;
        let (_, known) = GIT.iter().find(|(name, _)| name == subcommand)?;
        return paths(known, args).map(|paths| Reading { program: "git", builtin: false, paths });
    }
    let reader = READERS.iter().find(|reader| reader.name == step.program())?;
    if reader.name == "sed" && step.args().first().is_none_or(|word| word != "-n") {
        return None;
    }
    let paths = paths(&reader.arguments, step.args())?;
    Some(Reading { program: reader.name, builtin: reader.builtin, paths })
}
