//! Whose calls a standing answer covers, over the whole program: those of the owner who has given
//! it, and neither what they pass on, nor another owner's, nor a job's. What reaches a client of
//! claw is in `serve_tools.rs`.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;

use crate::botapi::{Message, User};
use crate::jobs_rig::{JobsRig as _, jobs_of, schedule};
use crate::program::{Running, SERVER_WAIT};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use serde_json::json;

/// Anna has said always to a call, which her next one shows. The model makes it once more, for
/// whoever speaks then, and says `Third.` when it knows what became of it.
struct Granted {
    rig: Rig,
    /// An owner, too.
    carl: User,
    gateway: Running,
}

fn writes() -> Answer {
    let arguments = json!({"path": "a.txt", "content": "1"}).to_string();
    Answer::Turn(Turn::calls(&[Call::new("1", "filesystem__write_file", &arguments)]))
}

/// The question that a person's chat shows.
fn asked(rig: &Rig, who: &User) -> Message {
    rig.telegram.wait_for("a question about the file", |world| {
        let mut asked = world.messages(who.id).filter(|one| one.button("Allow once").is_some());
        asked.find(|message| message.text.contains("a.txt")).cloned()
    })
}

impl Granted {
    fn new() -> Self {
        let said = ["First.", "Second.", "Third."].map(Answer::text);
        let rig = Rig::new(said.into_iter().flat_map(|said| [writes(), said]));
        let carl = rig.telegram.user("Carl");
        let owners = [rig.anna.id, carl.id];
        let toml = format!("{SERVER_WAIT}[telegram]\nallowed_chats = {owners:?}\n");
        rig.house.write("claw.toml", &toml);
        let gateway = rig.house.start_for_listed_chats();
        rig.says("write it");
        let question = asked(&rig, &rig.anna);
        rig.telegram.wait_answered(&rig.anna.taps_on(question.chat, question.id, "Always…"));
        let always = rig.telegram.wait_for("what always can mean", |world| {
            let labels = world.message(question.chat, question.id)?.labels().concat();
            labels.into_iter().find(|label| label.starts_with("Always: exactly"))
        });
        rig.anna.taps_on(question.chat, question.id, &always);
        rig.hears("First.");
        rig.wait_edited(&question, "a.txt");
        let granted = Self { rig, carl, gateway };
        granted.takes_back();
        granted.rig.says("write it again");
        granted.rig.hears("Second.");
        granted.takes_back();
        granted
    }

    /// The file was written, and is not there any more.
    #[track_caller]
    fn takes_back(&self) {
        assert_eq!(self.rig.house.in_workspace("a.txt"), "1");
        fs::remove_file(self.rig.house.workspace().join("a.txt")).unwrap();
    }

    /// This person is asked, and says no: nothing has run. What the question says.
    #[track_caller]
    fn asks(self, who: &User) -> String {
        let question = asked(&self.rig, who);
        who.taps_on(question.chat, question.id, "Deny");
        self.rig.telegram.wait_for_text(who.id, "Third.");
        assert_eq!(self.rig.house.in_workspace("a.txt"), "");
        drop(self.gateway);
        let grants = self.rig.house.claw(&["grants", "--json"]).expect(0).rows();
        assert_eq!(grants.len(), 1, "{grants:?}");
        self.rig.house.is_whole();
        question.text
    }
}

#[test]
fn an_always_does_not_cover_what_its_owner_passes_on() {
    let granted = Granted::new();
    let anna = granted.rig.anna.clone();
    anna.writes(anna.private()).forwarded_from("Bob").text("write it").send();
    let said = granted.asks(&anna);
    assert!(said.contains("Asked for in words that are not the owner's own"), "{said}");
}

#[test]
fn an_always_of_one_owner_does_not_cover_another_one() {
    let granted = Granted::new();
    let carl = granted.carl.clone();
    carl.says(carl.private(), "write it");
    granted.asks(&carl);
}

#[test]
fn an_always_of_an_owner_does_not_cover_a_job_in_their_chat() {
    let granted = Granted::new();
    let (anna, session) = (granted.rig.anna.clone(), granted.rig.session());
    // Its own time is far away.
    let act = json!({"text": "Write it.", "cron": "0 0 29 2 *", "session": session});
    let job = schedule(&granted.rig.house, act);
    jobs_of(&granted.rig.house).fire(&job).unwrap();
    let said = granted.asks(&anna);
    assert!(said.contains("Job 1 “Write it.”"), "{said}");
}
