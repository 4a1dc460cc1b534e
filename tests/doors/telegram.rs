//! Telegram as a door: the gateway at a stand-in for the Bot API, and two people who may talk to
//! it. Must not know what is tested.

use rustix::process::Signal;

use crate::botapi::{BotApi, Fault, Message, User};
use crate::doors::rig::{Chat, DoorRig, Home, Reply, Skill, words};
use crate::program::{Running, eventually};

const ALLOW: &str = "Allow once";

/// The button that says yes to all that a message asks.
fn yes(message: &Message) -> Option<String> {
    let labels = message.labels().into_iter().flatten();
    let all = ["Allow all ", "Allow the other "];
    labels.into_iter().find(|label| label == ALLOW || all.iter().any(|all| label.starts_with(all)))
}

pub struct Telegram {
    home: Home,
    api: BotApi,
    anna: User,
    bob: User,
    gateway: Option<Running>,
    /// The message that was answered last, and what its button meant.
    answered: Option<(i32, String)>,
}

impl Telegram {
    fn person(&self, chat: Chat) -> &User {
        if chat == Chat::First { &self.anna } else { &self.bob }
    }

    /// A message that can be tapped and is on record, in a state that fits.
    fn question(&self, about: &str, state: &str) -> Option<Message> {
        let sent = self.api.sent(self.anna.id).into_iter();
        let mut open = sent.filter(|one| !one.deleted && yes(one).is_some());
        let on_record = |one: &Message| {
            let posted = "SELECT count(*) FROM posted WHERE message = ";
            self.number(&format!("{posted}{} AND state LIKE '{state}'", one.id)) > 0
        };
        open.find(|one| words(&one.text).contains(about) && on_record(one))
    }

    fn number(&self, sql: &str) -> i64 {
        self.home.house.db().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// A tap that was answered, and the words of the answer.
    fn taps(&mut self, asked: &Message, label: &str) -> String {
        let data = asked.button(label).unwrap().data.clone().unwrap();
        let tap = self.anna.forges_tap(asked.chat, asked.id, &data);
        self.answered = Some((asked.id, data));
        self.api.wait_answered(&tap).0
    }

    /// Taps the question. After a start it is asked again in a new message: whoever tapped the old
    /// one at that very moment reads that its button does nothing, and taps the new one. Returns
    /// the message whose tap counted.
    fn taps_question(
        &mut self,
        about: &str,
        label: impl Fn(&Message) -> Option<String>,
    ) -> Message {
        let mut tapped = None;
        eventually("a tap on the question counts", || {
            let Some(asked) = self.question(about, "open") else { return false };
            let label = label(&asked).unwrap();
            let counts = self.taps(&asked, &label) != "This button does nothing any more.";
            tapped = counts.then_some(asked);
            counts
        });
        tapped.unwrap()
    }
}

impl DoorRig for Telegram {
    const LACKS: &'static [(Skill, &'static str)] = &[];

    fn new(home: Home) -> Self {
        let api = BotApi::start();
        let (anna, bob) = (api.user("Anna"), api.user("Bob"));
        let allowed = format!("{},{}", anna.id, bob.id);
        let Home { house, model } = home;
        let house = house.with_bot(&api.token(), api.url(), &allowed);
        Self { home: Home { house, model }, api, anna, bob, gateway: None, answered: None }
    }

    fn home(&self) -> &Home {
        &self.home
    }

    fn start(&mut self) {
        self.api.heal();
        let before = self.api.calls_of("getUpdates").len();
        self.gateway = Some(self.home.house.start(&["gateway"]));
        self.api.wait_for_calls("getUpdates", before + 1);
    }

    fn kill(&mut self) {
        let gateway = self.gateway.take().unwrap();
        gateway.signal(Signal::KILL);
        // It is waited for.
        drop(gateway);
    }

    /// Without the note, a draft would stay beside the whole: the window that is stated.
    fn notes_what_it_shows(&mut self) {
        eventually("the draft is on record", || self.number("SELECT count(*) FROM drafts") == 1);
    }

    fn holds_back(&mut self) {
        for method in ["sendMessage", "editMessageText"] {
            self.api.fault(Fault::Hang).on(method).always();
        }
    }

    fn says(&mut self, chat: Chat, text: &str) {
        let person = self.person(chat);
        person.says(person.private(), text);
    }

    fn shown(&mut self, chat: Chat) -> String {
        let sent = self.api.sent(self.person(chat).id).into_iter();
        let texts = sent.filter(|one| !one.deleted).map(|one| one.text);
        words(&texts.collect::<Vec<_>>().join("\n"))
    }

    fn is_open(&mut self, about: &str) -> bool {
        self.question(about, "%").is_some()
    }

    fn answers(&mut self, about: &str, reply: Reply) {
        match reply {
            Reply::Yes => _ = self.taps_question(about, yes),
            Reply::Edits => {
                self.taps_question(about, |_| Some("This session: all edits".to_owned()));
            }
            Reply::No => {
                self.taps_question(about, |asked| {
                    let no = ["Deny", "None", "None of the others"];
                    let no = no.into_iter().find(|no| asked.button(no).is_some());
                    no.map(str::to_owned)
                });
            }
            Reply::NoBecause(word) => {
                let why = "Deny and say why".to_owned();
                let asked = self.taps_question(about, |_| Some(why.clone()));
                let asks_why = self.api.wait_for_text(self.anna.id, "Denied once you have replied");
                eventually("a reason is waited for", || {
                    self.number("SELECT count(*) FROM posted WHERE state = 'why'") == 1
                });
                self.anna.writes(self.anna.private()).reply_to(asks_why.id).text(word).send();
                self.api.wait_for("the question is over", |world| {
                    world.message(asked.chat, asked.id)?.labels().is_empty().then_some(())
                });
            }
        }
    }

    fn picks(&mut self, about: &str, number: u32) {
        let mut found = None;
        eventually("the list is on record and open", || {
            found = self.question(about, "open");
            found.is_some()
        });
        let asked = found.unwrap();
        if asked.button("Choose…").is_some() {
            self.taps(&asked, "Choose…");
        }
        let label = format!("✓ {number}");
        let chosen = self.api.wait_for("the numbers", |world| {
            let message = world.message(asked.chat, asked.id)?;
            message.button(&label).is_some().then(|| message.clone())
        });
        self.taps(&chosen, &label);
        self.api.wait_for("the message shows what was chosen", |world| {
            let message = world.message(asked.chat, asked.id)?;
            message.text.contains(&format!("✅ {number}.")).then_some(())
        });
    }

    fn reacts(&mut self, about: &str, yes: bool) {
        let mut found = None;
        eventually("the question is on record and open", || {
            found = self.question(about, "open");
            found.is_some()
        });
        let asked = found.unwrap();
        self.anna.reacts(asked.chat, asked.id, &[if yes { "👍" } else { "👎" }]).unwrap();
    }

    fn answers_again(&mut self) -> String {
        let (message, data) = self.answered.clone().unwrap();
        let tap = self.anna.forges_tap(self.anna.private(), message, &data);
        self.api.wait_answered(&tap).0
    }

    fn undoes_one_file(&mut self) {
        let anna = self.anna.private();
        self.api.wait_for_button(anna, "Undo 1 file");
        self.api.wait_answered(&self.anna.taps(anna, "Undo 1 file"));
        self.api.wait_for_button(anna, "Undo");
        self.api.wait_answered(&self.anna.taps(anna, "Undo"));
    }

    fn takes_back(&mut self, grant: i64) {
        let (anna, label) = (self.anna.private(), format!("Take grant {grant} back"));
        self.api.wait_for_button(anna, &label);
        let told = self.api.wait_answered(&self.anna.taps(anna, &label)).0;
        assert_eq!(told, format!("Grant {grant} is taken back."));
    }

    fn files(&mut self) -> Vec<(String, Vec<u8>)> {
        let sent = self.api.sent(self.anna.id).into_iter().filter_map(|one| one.media);
        sent.map(|media| (media.name, self.api.file(&media.file_id))).collect()
    }

    fn session(&self, chat: Chat) -> String {
        format!("telegram.{}.{}", self.api.bot_id(), self.person(chat).id)
    }
}
