//! The console as a door: two `claw chat`, each at a pseudo-terminal, read as a terminal shows it.
//! Must not know what is tested.

use std::num::NonZero;

use crate::doors::rig::{Chat, DoorRig, Home, Reply, Skill, words};
use crate::program::eventually;
use crate::pty::Pty;

/// So many rows that nothing scrolls away.
const ROWS: u16 = 2_000;
const COLUMNS: u16 = 100;
/// The second chat's session.
const SECOND: &str = "second";
/// How a question begins and what it ends with, and what stands behind one that is over.
const BEGINS: &str = " ? ";
const ANSWERS: [&str; 2] = ["y yes · n no · ", "y all · n none · "];
const OVER: [&str; 9] = [
    "Allowed: ",
    "Allowed once: ",
    "Denied: ",
    "Allowed all ",
    "Denied all ",
    " was allowed",
    " was denied",
    " has expired",
    " was closed",
];
/// What a person is told who answers faster than anybody reads.
const TOO_SOON: &str = "has only just come up";

pub struct Console {
    home: Home,
    terminals: Vec<Pty>,
}

impl Console {
    fn terminal(&mut self, chat: Chat) -> &mut Pty {
        &mut self.terminals[usize::from(chat == Chat::Second)]
    }

    /// The last question that names `about`, with all that stands below it.
    fn question(&mut self, about: &str) -> Option<String> {
        let shown = self.shown(Chat::First);
        let answers = ANSWERS.iter().filter_map(|answers| shown.rfind(answers)).max()?;
        let from = shown[..answers].rfind(BEGINS)?;
        shown[from..].contains(about).then(|| shown[from..].to_owned())
    }
}

impl DoorRig for Console {
    const LACKS: &'static [(Skill, &'static str)] = &[
        (Skill::Files, "a terminal shows text; the file lies in the workspace already"),
        (
            Skill::AnswerAgain,
            "behind the answer the same key is a message, or answers what is next",
        ),
        (Skill::React, "a terminal has no messages that somebody could react to"),
        (Skill::SurviveABug, "one console is one process, which takes one line at a time"),
    ];

    fn new(home: Home) -> Self {
        Self { home, terminals: Vec::new() }
    }

    fn home(&self) -> &Home {
        &self.home
    }

    fn start(&mut self) {
        for args in [&["chat"][..], &["chat", "--session", SECOND]] {
            let mut terminal = Pty::sized(&self.home.house, args, ROWS, COLUMNS);
            terminal.shows("lists the commands").shows("> ");
            self.terminals.push(terminal);
        }
    }

    fn kill(&mut self) {
        // A terminal that is dropped kills its program and waits for its end.
        self.terminals.clear();
    }

    fn holds_back(&mut self) {
        self.terminal(Chat::First).stops_output();
    }

    fn says(&mut self, chat: Chat, text: &str) {
        self.terminal(chat).types(text);
    }

    fn shown(&mut self, chat: Chat) -> String {
        let [rows, columns] = [ROWS, COLUMNS].map(|size| NonZero::new(size).unwrap());
        let mut screen = vt100::Parser::new(rows, columns, 0);
        screen.process(&self.terminal(chat).bytes());
        words(&screen.screen().contents())
    }

    fn is_open(&mut self, about: &str) -> bool {
        self.question(about).is_some_and(|shown| !OVER.iter().any(|over| shown.contains(over)))
    }

    fn answers(&mut self, about: &str, reply: Reply) {
        let line = match reply {
            Reply::Yes => "y".to_owned(),
            Reply::No => "n".to_owned(),
            Reply::NoBecause(why) => format!("n {why}"),
            Reply::Edits => "e".to_owned(),
        };
        while self.is_open(about) {
            let told = |rig: &mut Self| rig.shown(Chat::First).matches(TOO_SOON).count();
            let before = told(self);
            self.terminal(Chat::First).types(&line);
            eventually("the answer is taken, or was too soon", || {
                told(self) > before || !self.is_open(about)
            });
        }
    }

    fn picks(&mut self, _: &str, number: u32) {
        let taken = format!("Allowed {number}");
        while !self.shown(Chat::First).contains(&taken) {
            let told = |rig: &mut Self| rig.shown(Chat::First).matches(TOO_SOON).count();
            let before = told(self);
            self.terminal(Chat::First).types(&number.to_string());
            eventually("the number is taken, or was too soon", || {
                told(self) > before || self.shown(Chat::First).contains(&taken)
            });
        }
    }

    fn answers_again(&mut self) -> String {
        String::new()
    }

    fn files(&mut self) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }

    fn session(&self, chat: Chat) -> String {
        let name = if chat == Chat::First { "main" } else { SECOND };
        name.to_owned()
    }
}
