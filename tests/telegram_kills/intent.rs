//! What a person means to do about a question, and wants done, drawn by chance. Must not
//! know how it is done.

use crate::killing::random::Random;

/// How the data of the buttons of something staged end.
pub const YES: &str = ":=y";
pub const NO: &str = ":=n";

/// What the tasks have the model do.
pub const STEPS: [&str; 27] = [
    "",
    "ask-a",
    "ask-a",
    "free-a",
    "ask-a,free-b",
    "free-a|ask-b",
    "look-a,ask-b",
    "ask-a,ask-b",
    "ask-a|ask-b",
    "stage-a",
    "batch-a",
    "stage-a|ask-b",
    "make-a",
    "make-a|ask-b,make-c",
    "keep-a",
    "bash-a|free-b",
    "bash-a|file-b",
    "file-a,free-b|bash-c",
    "shell-a,shell-b",
    "shell-a,shell-b,shell-c",
    "shell-a,free-b,shell-c|ask-d",
    "move-a,move-b",
    "move-a,move-b,move-c|move-d",
    "move-a,shell-b,ask-c",
    "move-a|move-b,move-c",
    "note-a",
    "note-a|note-b,ask-c",
];

/// What somebody means to do about a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// A button by its label, or by the end of its data.
    Tap(&'static str),
    /// By way of a menu: first one button, then the other.
    Menu(&'static str, &'static str),
    Word,
    Twice,
    /// Allows and denies at once.
    Both,
    /// The first call of a list by its number, and none of the others.
    First,
    /// All of a list, and a mode.
    Mode,
    /// A mode by a command, which answers what it covers; then a yes to what is left.
    Command,
    Ignore,
}

pub fn plan_for_staged(random: &mut Random) -> Plan {
    match random.below(100) {
        0..55 => Plan::Tap(YES),
        55..70 => Plan::Tap(NO),
        70..80 => Plan::Twice,
        80..90 => Plan::Both,
        _ => Plan::Ignore,
    }
}

pub fn plan_for_list(random: &mut Random) -> Plan {
    match random.below(100) {
        0..30 => Plan::Tap(YES),
        30..40 => Plan::Tap(NO),
        40..65 => Plan::First,
        65..75 => Plan::Mode,
        75..83 => Plan::Command,
        83..86 => Plan::Word,
        86..90 => Plan::Twice,
        90..96 => Plan::Both,
        _ => Plan::Ignore,
    }
}

pub fn plan(random: &mut Random) -> Plan {
    match random.below(100) {
        0..45 => Plan::Tap("Allow once"),
        45..56 => Plan::Tap("Deny"),
        56..60 => Plan::Tap("10 min"),
        60..64 => Plan::Tap("This session"),
        64..69 => Plan::Menu("Always…", "Always: exactly these arguments"),
        69..74 => Plan::Menu("Never…", "Never: exactly these arguments"),
        74..83 => Plan::Word,
        83..88 => Plan::Twice,
        88..93 => Plan::Both,
        _ => Plan::Ignore,
    }
}
