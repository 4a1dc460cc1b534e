//! What a door is for a test: a person who writes, reads and answers. Must not know which doors
//! there are, or what is tested.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::program::{House, eventually, outcomes};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

/// Which conversation. Each is a session of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chat {
    First,
    Second,
}

/// What a person answers to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    Yes,
    No,
    NoBecause(&'static str),
    /// Yes, and the mode `edits` for the session.
    Edits,
}

/// What not every door can do. A scene that needs it asks the rig, which has to say why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skill {
    /// Files are handed over, and not only named.
    Files,
    /// An answer can be given once more after it was taken, with [`DoorRig::answers_again`].
    AnswerAgain,
    /// A message is handled apart from the others, so that a bug in one ends with it. The bug is
    /// planted by a variable (`claw_kit::killpoint::bug`).
    SurviveABug,
    /// A message can be answered by a reaction to it.
    React,
    /// What the door shows can be held back on its way to the person, so that the door knows it.
    HoldBack,
}

/// A home at which a door is tried: the house, and the model behind it.
pub struct Home {
    pub house: House,
    pub model: Threaded,
}

/// A door that a scene can use. One rig is one home; nothing runs before [`DoorRig::start`].
pub trait DoorRig: Sized {
    /// What this door cannot do, each with the reason.
    const LACKS: &'static [(Skill, &'static str)];

    /// Lets the door into a home that nothing has run in yet.
    fn new(home: Home) -> Self;

    fn home(&self) -> &Home;

    /// Starts the door, also after a kill, and returns when it takes messages in both chats.
    fn start(&mut self);

    /// Ends the door by SIGKILL, with everything that runs in its process.
    fn kill(&mut self);

    /// Waits until a kill would not make the door forget what it shows. A door that shows drafts
    /// has to note where they stand.
    fn notes_what_it_shows(&mut self) {}

    /// From now until the next start nothing of what the door shows reaches the person, and the
    /// door can tell. Needs [`Skill::HoldBack`].
    fn holds_back(&mut self);

    /// A person writes one message. It need not be taken in when this returns.
    fn says(&mut self, chat: Chat, text: &str);

    /// Everything that the chat shows now, as somebody reads it who looks at it, from the first
    /// message to the last, with every run of white space as one space.
    fn shown(&mut self, chat: Chat) -> String;

    /// Whether the first chat shows a question that names `about` as one that can be answered.
    fn is_open(&mut self, about: &str) -> bool;

    /// A person answers the open question in the first chat that names `about`, and has seen that
    /// the door took it.
    fn answers(&mut self, about: &str, reply: Reply);

    /// A person says yes to one call of the list in the first chat that names `about`, and has seen
    /// that the door took it. Numbers go from one on.
    fn picks(&mut self, about: &str, number: u32);

    /// A person puts a thumb on the open question in the first chat that names `about`, up for yes.
    /// Needs [`Skill::React`].
    fn reacts(&mut self, _about: &str, _yes: bool) {}

    /// Gives the last answer once more, though it was taken. Returns what the person is told.
    /// Needs [`Skill::AnswerAgain`].
    fn answers_again(&mut self) -> String;

    /// A person takes back the one file that the turn of the last answer in the first chat has
    /// changed, by what the door offers under it.
    fn undoes_one_file(&mut self) {
        shows(self, Chat::First, "1 file changed · /undo files");
        self.says(Chat::First, "/undo files");
        shows(self, Chat::First, "yes does it.");
        let shown = self.shown(Chat::First);
        let until = shown.rfind(" yes does it.").unwrap();
        let from = shown[..until].rfind("/undo files ").unwrap();
        self.says(Chat::First, &format!("{} yes", &shown[from..until]));
    }

    /// A person takes back a grant that a digest in the first chat names, by what the door offers
    /// there, and has seen that it was done.
    fn takes_back(&mut self, grant: i64) {
        shows(self, Chat::First, "/grants revoke ID takes a grant back.");
        self.says(Chat::First, &format!("/grants revoke {grant}"));
        shows(self, Chat::First, &format!("Grant {grant} is revoked."));
    }

    /// The files that the first chat was handed, in their order. Needs [`Skill::Files`].
    fn files(&mut self) -> Vec<(String, Vec<u8>)>;

    /// The name of a chat's session, as `claw sessions` lists it.
    fn session(&self, chat: Chat) -> String;
}

/// Why the door cannot do it; `None` if it can.
pub fn lack<R: DoorRig>(skill: Skill) -> Option<&'static str> {
    R::LACKS.iter().find(|(lacking, _)| *lacking == skill).map(|(_, why)| *why)
}

/// Prints what the door cannot do, past the harness, which keeps the words of a test that passes.
pub fn says_what_it_lacks<R: DoorRig>(door: &str) {
    let mut out = std::io::stderr();
    for (skill, why) in R::LACKS {
        assert!(why.split_whitespace().count() > 3, "{door}: {skill:?} is no reason: {why}");
        writeln!(out, "{door}: no {skill:?}, because {why}").unwrap();
    }
}

/// `text` with every run of white space as one space.
pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A command that leaves a line in `effects`: how often it has run can be counted.
pub const EFFECT: &str = "echo once >> effects";

/// The model runs a command.
pub fn runs(command: &str) -> Answer {
    let arguments = json!({"command": command, "needs": "write"}).to_string();
    Answer::Turn(Turn::calls(&[Call::new("call-1", "bash__run", &arguments)]))
}

/// A home whose model gives these answers, behind a door that runs.
pub fn at<R: DoorRig>(answers: impl IntoIterator<Item = Answer>) -> R {
    at_home(home(answers))
}

pub fn home(answers: impl IntoIterator<Item = Answer>) -> Home {
    let model = Threaded::start(Wire::OpenAi, answers);
    Home { house: House::at("openai-compatible", &model.base_url), model }
}

pub fn at_home<R: DoorRig>(home: Home) -> R {
    let mut rig = R::new(home);
    rig.start();
    rig
}

/// Waits until a chat shows `text`.
#[track_caller]
pub fn shows<R: DoorRig>(rig: &mut R, chat: Chat, text: &str) {
    let text = words(text);
    eventually(&format!("{chat:?} shows `{text}`"), || rig.shown(chat).contains(&text));
}

/// Waits until the first chat asks about `about`.
#[track_caller]
pub fn asks<R: DoorRig>(rig: &mut R, about: &str) {
    eventually(&format!("`{about}` is asked about"), || rig.is_open(about));
}

/// Waits until the first chat shows that a question is over.
#[track_caller]
pub fn closes<R: DoorRig>(rig: &mut R, about: &str) {
    eventually(&format!("the question about `{about}` is over"), || !rig.is_open(about));
}

/// How often the first chat shows `text` now.
pub fn count<R: DoorRig>(rig: &mut R, text: &str) -> usize {
    rig.shown(Chat::First).matches(&words(text)).count()
}

/// Waits until nothing of the outbox is left to be shown.
#[track_caller]
pub fn all_is_delivered<R: DoorRig>(rig: &mut R) {
    let unsent = "SELECT count(*) FROM outbox WHERE state <> 'sent'";
    eventually("the outbox is empty", || number(rig, unsent) == 0);
}

pub fn number<R: DoorRig>(rig: &R, sql: &str) -> i64 {
    rig.home().house.db().query_row(sql, [], |row| row.get(0)).unwrap()
}

pub fn effects<R: DoorRig>(rig: &R) -> usize {
    rig.home().house.in_workspace("effects").lines().count()
}

/// The events of a kind in the first chat's log.
pub fn events<R: DoorRig>(rig: &R, kind: &str) -> Vec<Value> {
    let mut events = rig.home().house.events(&rig.session(Chat::First));
    events.retain(|event| event["type"] == kind);
    events
}

/// How many events of a kind the first chat's log has, also while the door writes to it.
pub fn logged<R: DoorRig>(rig: &R, kind: &str) -> usize {
    let session = rig.session(Chat::First);
    let sql =
        format!("SELECT count(*) FROM events WHERE session = '{session}' AND type = '{kind}'");
    usize::try_from(number(rig, &sql)).unwrap()
}

/// Waits until so many turns of the first chat are over.
#[track_caller]
pub fn turns_end<R: DoorRig>(rig: &R, count: usize) {
    eventually(&format!("{count} turns are over"), || logged(rig, "turn.ended") == count);
}

/// What became of the calls in the first chat, as the log says it.
pub fn results<R: DoorRig>(rig: &R) -> String {
    let outcomes = outcomes(&rig.home().house.events(&rig.session(Chat::First)));
    outcomes.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// Waits until the model was asked so often.
#[track_caller]
pub fn wait_model_asked<R: DoorRig>(rig: &R, count: usize) {
    eventually(&format!("the model was asked {count} times"), || {
        rig.home().model.recorded().len() >= count
    });
}
