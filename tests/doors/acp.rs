//! The door for editors: one `claw acp` with two conversations, in the hands of the protocol's own
//! library, which shows what an editor shows. Must not know what is tested.

use regex::Regex;

use crate::acp_client::{AcpClient, keys};
use crate::doors::rig::{Chat, DoorRig, Home, Reply, Skill, words};
use crate::program::eventually;

pub struct Acp {
    home: Home,
    editor: Option<AcpClient>,
    /// The first chat's conversation, then the second's. They stay over restarts.
    sessions: Vec<String>,
}

impl Acp {
    fn editor(&self) -> &AcpClient {
        self.editor.as_ref().unwrap()
    }

    fn of(&self, chat: Chat) -> String {
        self.sessions[usize::from(chat == Chat::Second)].clone()
    }

    fn answer(&self, about: &str, option: Option<&str>) {
        self.editor().answers(&self.of(Chat::First), about, option);
    }

    /// An answer leaves the editor at once, and counts when claw has read it.
    fn decides(&self, about: &str, option: &str) {
        let decided = || {
            let decided = "SELECT count(*) FROM approvals WHERE state <> 'waiting'";
            self.home.house.db().query_row(decided, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        let before = decided();
        self.answer(about, Some(option));
        eventually("the answer counts", || decided() > before);
    }
}

impl DoorRig for Acp {
    const LACKS: &'static [(Skill, &'static str)] = &[
        (Skill::Files, "an editor has the workspace itself; the protocol hands over no files"),
        (Skill::AnswerAgain, "a request of JSON-RPC is answered once; the dialog is gone with it"),
        (Skill::React, "an editor has no reactions to a message"),
        (
            Skill::SurviveABug,
            "one editor is one process, which carries out one prompt of a conversation at a time",
        ),
    ];

    fn new(home: Home) -> Self {
        Self { home, editor: None, sessions: Vec::new() }
    }

    fn home(&self) -> &Home {
        &self.home
    }

    fn start(&mut self) {
        let editor = AcpClient::start(&self.home.house);
        let cwd = self.home.house.workspace();
        if self.sessions.is_empty() {
            std::fs::create_dir_all(&cwd).unwrap();
            self.sessions = (0..2).map(|_| editor.new_session(&cwd)).collect();
        } else {
            // A conversation in which nothing was said is none that could be opened again.
            self.sessions[..1].iter().for_each(|session| editor.load(session, &cwd).unwrap());
            self.sessions[1] = editor.new_session(&cwd);
        }
        self.editor = Some(editor);
    }

    fn kill(&mut self) {
        self.editor = None;
    }

    fn holds_back(&mut self) {
        self.editor().stops_reading();
    }

    fn says(&mut self, chat: Chat, text: &str) {
        self.editor().prompts(&self.of(chat), text);
    }

    fn shown(&mut self, chat: Chat) -> String {
        let text = self.editor().text(&self.of(chat));
        // As an editor renders it.
        let link = Regex::new(r"\[([^\]\n]+)\]\(([^)\n]+)\)").unwrap();
        words(&link.replace_all(&text, "$1 ($2)").replace("**", "").replace('`', ""))
    }

    fn is_open(&mut self, about: &str) -> bool {
        self.editor().asked(&self.of(Chat::First), about).is_some()
    }

    fn answers(&mut self, about: &str, reply: Reply) {
        match reply {
            Reply::Yes => self.decides(about, "y"),
            Reply::No => self.decides(about, "n"),
            Reply::Edits => self.decides(about, "e"),
            Reply::NoBecause(why) => {
                self.answer(about, None);
                let stays = "The question stays open.";
                eventually("it is told", || self.shown(Chat::First).contains(stays));
                self.says(Chat::First, &format!("no, {why}"));
            }
        }
    }

    fn picks(&mut self, about: &str, number: u32) {
        let key = number.to_string();
        self.answer(about, Some(&key));
        let session = self.of(Chat::First);
        eventually("the others are asked about without it", || {
            let asked = self.editor().asked(&session, about);
            asked.is_some_and(|asked| !keys(&asked).contains(&key))
        });
    }

    fn answers_again(&mut self) -> String {
        String::new()
    }

    fn files(&mut self) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }

    fn session(&self, chat: Chat) -> String {
        self.of(chat)
    }
}
