//! The programs that can be granted by program and subcommand, and the options that such a grant
//! covers. Pure. Must not know who granted what.
//!
//! Only what stands here can be granted this way. Whoever reads a list of dangerous options is
//! always one release late, so each subcommand has a list of known ones instead; what a program is
//! told beyond them is asked about: `git -c`, `--exec-path`, `--upload-pack`, `cargo --config`,
//! `make SHELL=…`, `npm --script-shell`. Shells, interpreters and wrappers have no subcommand and
//! are not here: `npx`, `cargo xtask`, `go run`, `git submodule foreach`, `rebase --exec`. What a
//! granted program then starts (tests, build scripts, hooks) is the workspace's own code, in the
//! box.

use super::options::{Arguments, Kind, NOTHING, Rest, Style, paths};
use super::{Joint, ShellStep};

/// A subcommand as it is written: one word, or several (`npm run build`, where the last one is any
/// name).
struct Subcommand {
    words: &'static [&'static str],
    /// The word behind them belongs to the grant, whatever it is called: the script's name, the
    /// target's.
    and_a_name: bool,
    arguments: Arguments,
}

const fn of(words: &'static [&'static str], arguments: Arguments) -> Subcommand {
    Subcommand { words, and_a_name: false, arguments }
}

const fn named(words: &'static [&'static str], arguments: Arguments) -> Subcommand {
    Subcommand { words, and_a_name: true, arguments }
}

const CARGO_FLAGS: &str = "-q -r -v -vv --all --all-features --all-targets --benches --bins --doc \
    --examples --frozen --keep-going --lib --locked --no-default-features --no-deps \
    --no-fail-fast --no-run --offline --quiet --release --tests --verbose --workspace";

const CARGO_VALUES: &[(&str, Kind)] = &[
    ("-F", Kind::Text),
    ("-j", Kind::Number),
    ("-p", Kind::Ref),
    ("--bench", Kind::Name),
    ("--bin", Kind::Name),
    ("--color", Kind::Name),
    ("--example", Kind::Name),
    ("--exclude", Kind::Ref),
    ("--features", Kind::Text),
    ("--jobs", Kind::Number),
    ("--message-format", Kind::Name),
    ("--package", Kind::Ref),
    ("--profile", Kind::Name),
    ("--test", Kind::Name),
];

const CARGO: Arguments = Arguments { flags: CARGO_FLAGS, values: CARGO_VALUES, ..NOTHING };
/// A filter of test names, and what the tests' own program is told.
const CARGO_TEST: Arguments = Arguments { first: &[Kind::Text], rest: Rest::Anything, ..CARGO };
const GO: Arguments = Arguments {
    style: Style::Whole,
    flags: "-race -short -v -x",
    values: GO_VALUES,
    further: Some(Kind::Ref),
    ..NOTHING
};
const GO_VALUES: &[(&str, Kind)] = &[
    ("-bench", Kind::Text),
    ("-count", Kind::Number),
    ("-run", Kind::Text),
    ("-timeout", Kind::Name),
];
const NPM: Arguments =
    Arguments { flags: "-s --silent --if-present", rest: Rest::Anything, ..NOTHING };

const TABLE: &[(&str, &[Subcommand])] = &[
    (
        "cargo",
        &[
            of(&["bench"], CARGO_TEST),
            of(&["build"], CARGO),
            of(&["check"], CARGO),
            of(&["clippy"], Arguments { rest: Rest::Lints, ..CARGO }),
            of(&["doc"], CARGO),
            of(&["fmt"], Arguments { flags: "--all --check -q -v", ..NOTHING }),
            of(&["run"], Arguments { rest: Rest::Anything, ..CARGO }),
            of(&["test"], CARGO_TEST),
            of(&["tree"], CARGO),
        ],
    ),
    (
        "git",
        &[
            of(
                &["add"],
                Arguments { flags: "-A -u -v --all", further: Some(Kind::RepoWord), ..NOTHING },
            ),
            of(&["branch"], Arguments { flags: "-a -r -v -vv --list --show-current", ..NOTHING }),
            of(
                &["commit"],
                Arguments {
                    flags: "-a -q -s -v --all --quiet --signoff",
                    values: &[("-m", Kind::Text), ("--message", Kind::Text)],
                    further: Some(Kind::RepoWord),
                    ..NOTHING
                },
            ),
            of(
                &["diff"],
                Arguments {
                    flags: GIT_DIFF,
                    digits: false,
                    further: Some(Kind::RepoWord),
                    ..NOTHING
                },
            ),
            of(
                &["fetch"],
                Arguments {
                    flags: "-p -q -v --all --prune --tags",
                    further: Some(Kind::Ref),
                    ..NOTHING
                },
            ),
            of(
                &["log"],
                Arguments {
                    flags: "-p --all --decorate --graph --oneline --reverse --stat --name-only",
                    values: &[
                        ("-n", Kind::Number),
                        ("--author", Kind::Text),
                        ("--since", Kind::Text),
                        ("--until", Kind::Text),
                    ],
                    digits: true,
                    further: Some(Kind::RepoWord),
                    ..NOTHING
                },
            ),
            of(
                &["pull"],
                Arguments {
                    flags: "-q -v --ff-only --rebase",
                    further: Some(Kind::Ref),
                    ..NOTHING
                },
            ),
            of(
                &["push"],
                Arguments { flags: "-q -u -v --set-upstream", further: Some(Kind::Ref), ..NOTHING },
            ),
            of(&["show"], Arguments { flags: GIT_DIFF, further: Some(Kind::RepoWord), ..NOTHING }),
            of(&["stash", "list"], NOTHING),
            of(
                &["status"],
                Arguments {
                    flags: "-b -s --branch --porcelain --short",
                    further: Some(Kind::RepoWord),
                    ..NOTHING
                },
            ),
        ],
    ),
    ("go", &[of(&["build"], GO), of(&["test"], GO), of(&["vet"], GO)]),
    (
        "make",
        &[named(
            &[],
            Arguments { flags: "-B -k -n -s", values: &[("-j", Kind::Number)], ..NOTHING },
        )],
    ),
    (
        "npm",
        &[
            of(&["ci"], Arguments { flags: "-s --silent", ..NOTHING }),
            of(&["install"], Arguments { flags: "-s --silent", ..NOTHING }),
            named(&["run"], NPM),
            of(&["test"], NPM),
        ],
    ),
    (
        "pnpm",
        &[
            of(&["install"], Arguments { flags: "-s --frozen-lockfile", ..NOTHING }),
            named(&["run"], NPM),
            of(&["test"], NPM),
        ],
    ),
];

const GIT_DIFF: &str =
    "-p -w -b --cached --name-only --name-status --numstat --oneline --staged --stat";

/// The program and the words behind it that a grant for this command would name, if it can be
/// granted so.
pub fn words_of(steps: &[ShellStep]) -> Option<Vec<String>> {
    let [step] = steps else { return None };
    if step.joint != Joint::Start {
        return None;
    }
    let (_, subcommands) = TABLE.iter().find(|(program, _)| *program == step.program())?;
    subcommands.iter().find_map(|subcommand| {
        let args = step.args();
        let fixed = args.get(..subcommand.words.len())?;
        if !fixed.iter().zip(subcommand.words).all(|(word, known)| word == known) {
            return None;
        }
        let named = subcommand.words.len() + usize::from(subcommand.and_a_name);
        let name = args.get(fixed.len()..named)?;
        if !name.iter().all(|word| is_target(word)) {
            return None;
        }
        paths(&subcommand.arguments, args.get(named..)?)?;
        step.words.get(..=named).map(<[String]>::to_vec)
    })
}

/// A script's or a target's name: nothing that could be an option or an assignment.
fn is_target(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && word.chars().all(plain)
}

#[cfg(test)]
mod tests;
