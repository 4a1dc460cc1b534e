//! Shell texts for bash and claw to read: what they are made of, how bash is watched while it runs
//! them, and what it should have run. Must not know how claw reads.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::path::Path;

use claw_core::policy::shell::{Joint, ShellStep};
use proptest::prelude::*;

/// The programs of the property: each is a recorder, also those that only an attack would start.
pub const STUBS: &[&str] = &[
    "ls", "cat", "git", "cargo", "grep", "head", "evil", "touch", "rm", "sh", "env", "in.d", "g++",
    "7z",
];

/// Writes its name and its arguments, each behind its own count, in one piece.
pub const STUB: &str =
    "#!/bin/bash\nprintf '%s\\0' \"$(($#+1))\" \"${0##*/}\" \"$@\" >> \"$LOG\"\n";

/// Gives each text to bash as the server does, in a folder of its own. A name that is no stub is
/// recorded all the same.
pub const DRIVER: &str = r#"
here="$PWD"
mkdir -p log said
command_not_found_handle() { printf '%s\0' "$#" "$@" >> "$LOG"; }
export -f command_not_found_handle
i=0
while IFS= read -r -d '' text; do
  (cd cwd && LOG="$here/log/$i" PATH="$here/stubs" /bin/bash -c -- "$text") </dev/null >"said/$i" 2>&1
  i=$((i+1))
done < texts
echo "$i texts, traces: $(ls -A cwd | tr '\n' ' ')"
"#;

/// What lies where the texts are run, so that there is something for a glob to find.
pub const FOUND: &[&str] = &["a", "b", "x", "xy", "~"];

/// What is more than a literal word, or looks so.
pub const ATTACKS: &[&str] = &[
    "$(evil)",
    "`evil`",
    "$x",
    "${x}",
    "$HOME",
    "\"$(evil)\"",
    "\"`evil`\"",
    "$'\\x65'",
    "$\"evil\"",
    "*",
    "?",
    "[a-z]*",
    "{a,b}",
    "~",
    "=~",
    ":~",
    "a~",
    "HEAD~1",
    "a^",
    "^",
    "~root",
    "\\",
    "\\ ",
    "\\\n",
    "\n",
    "\t",
    "\r",
    "\u{b}",
    "\u{c}",
    "\u{7f}",
    "\u{0}",
    "\u{a0}",
    "\u{85}",
    "\u{2028}",
    "\u{200b}",
    "\u{feff}",
    "é",
    "#",
    "#evil",
    "!",
    "!!",
    "!evil",
    ">evil",
    "> evil",
    ">>evil",
    "2>&1",
    "&>evil",
    "<evil",
    "<(evil)",
    ">(evil)",
    "<<EOF",
    "<<<evil",
    "&",
    "&evil",
    ";evil",
    "|evil",
    "|&evil",
    ";;",
    "(evil)",
    "()",
    "(",
    ")",
    "{",
    "}",
    "[[",
    "]]",
    "if",
    "then",
    "fi",
    "time",
    "coproc",
    "function",
    "A=b",
    "A=$(evil)",
    "A+=b",
    "A[0]=b",
    "'",
    "\"",
    "''",
    "\"\"",
    "'$(evil)'",
    "'`evil`'",
    "'\\'",
    "\"\\\"",
    "%1",
    "--",
    "-c",
    "=",
    "evil",
    "1>evil",
];

/// A text made of words, mostly plain ones, and joints; `attacks` says how much of it is neither.
pub fn texts() -> impl Strategy<Value = String> {
    let program = proptest::sample::select(STUBS).prop_map(str::to_owned);
    let plain = "[a-zA-Z0-9_./,:=@%+-]{0,6}";
    let single = "'[ -&(-~]{0,8}'";
    let double = "\"[ #%-\\[\\]-_a-~]{0,8}\"";
    let attack = proptest::sample::select(ATTACKS).prop_map(str::to_owned);
    let piece = prop_oneof![6 => plain, 3 => single, 3 => double, 1 => attack];
    let word = proptest::collection::vec(piece, 1..3).prop_map(|pieces| pieces.concat());
    let joint = prop_oneof![
        12 => Just(" ".to_owned()),
        4 => proptest::sample::select(&[" && ", " || ", "; ", " | ", "&&", "||", ";", "|"][..]).prop_flat_map(|joint| {
            proptest::sample::select(STUBS).prop_map(move |program| format!("{joint}{program} "))
        }),
        1 => proptest::sample::select(&["  ", "\t", "\n", "", " & ", "&", " |& ", " \\\n", ";;"][..]).prop_map(str::to_owned),
    ];
    (program, proptest::collection::vec((joint, word), 0..6)).prop_map(|(program, rest)| {
        rest.into_iter().fold(program, |text, (joint, word)| format!("{text}{joint}{word}"))
    })
}

/// Each attack at the beginning, the end and in the middle of a word, alone, behind `=` and `:`,
/// and in both kinds of quotes.
pub fn aimed() -> Vec<String> {
    let places = [
        "ls @",
        "ls x@",
        "ls @x",
        "ls x@y",
        "ls a=@",
        "ls a:@",
        "ls a=b:@/c",
        "ls \"@\"",
        "ls '@'",
        "ls 'x'@",
        "@ ls",
        "ls&&@",
    ];
    ATTACKS.iter().flat_map(|attack| places.map(|place| place.replace('@', attack))).collect()
}

/// What bash runs of these steps when every program succeeds.
pub fn expected(steps: &[ShellStep]) -> Vec<Vec<String>> {
    let mut skips = false;
    let mut ran = Vec::new();
    for step in steps {
        skips = match step.joint {
            Joint::Or => true,
            Joint::Pipe => skips,
            Joint::Start | Joint::And | Joint::Then => false,
        };
        if !skips {
            ran.push(step.words.clone());
        }
    }
    ran.sort();
    ran
}

pub fn recorded(log: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let mut pieces = text.split_terminator('\0').map(str::to_owned);
    let mut ran = Vec::new();
    while let Some(count) = pieces.next() {
        ran.push(pieces.by_ref().take(count.parse().unwrap()).collect());
    }
    ran.sort();
    ran
}
