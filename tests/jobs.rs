//! Turns that nobody typed, over the whole program with the real scheduler: reminders of words,
//! jobs that act, what the gate says to them, and what was missed.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::jobs_rig::{JobsRig as _, jobs_of, minutes_pass, schedule, schedule_of, taken};
use crate::program::{House, SERVER_WAIT, eventually};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Then, Turn};
use rustix::process::Signal;
use serde_json::json;

fn calls(tool: &str, arguments: &serde_json::Value) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new("1", tool, &arguments.to_string())]))
}

fn schedules(arguments: serde_json::Value) -> Answer {
    calls("scheduler__schedule", &arguments)
}

fn rig(answers: impl IntoIterator<Item = Answer>) -> Rig {
    let rig = Rig::new(answers);
    rig.house.write("claw.toml", SERVER_WAIT);
    rig
}

#[test]
fn a_reminder_that_the_owner_asks_for_needs_no_question_and_no_model() {
    let plants = json!({"say": "Water the plants.", "in_minutes": 60, "session": "main"});
    let rig = rig([schedules(plants), Answer::text("I will.")]);
    let gateway = rig.start();
    rig.says("remind me in an hour to water the plants");
    rig.hears("I will.");
    assert_eq!(rig.house.claw(&["approvals"]).expect(0).out, "");
    let asked = rig.model.recorded().len();
    rig.minutes_pass(60);
    rig.hears("⏰ Water the plants.");
    eventually("it is taken", || rig.taken() == 1);
    drop(gateway);
    // It has died meanwhile, and nothing is told twice.
    let gateway = rig.start();
    rig.says("/status");
    rig.hears("stop switch: off");
    drop(gateway);
    assert_eq!(rig.told("⏰"), 1);
    assert_eq!(rig.model.recorded().len(), asked, "words cost no request");
    rig.house.is_whole();
}

#[test]
fn a_job_that_acts_is_asked_about_and_fires_once_in_its_chat() {
    // In 24 hours of the plan, so that it does not come by itself while the test runs.
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::get("Europe/Berlin").unwrap());
    let look = json!({"text": "Look after the garden.", "cron": format!("{} {} * * *", now.minute(), now.hour())});
    let rig = rig([schedules(look), Answer::text("Done."), Answer::text("All is green.")]);
    let gateway = rig.start();
    rig.says("look after the garden every hour");
    rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    rig.anna.taps(rig.anna.id, "Allow once");
    rig.hears("Done.");
    rig.minutes_pass(60 * 24);
    rig.hears("All is green.");
    rig.waits_for("⏰ Job 1: Look after the garden.");
    drop(gateway);
    let events = rig.house.events(&rig.session());
    let began: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "turn.started")
        .map(|event| (event["origin"].clone(), event["principal"].clone()))
        .collect();
    assert_eq!(began.len(), 2, "{began:?}");
    assert_eq!(began[1], (json!("schedule"), json!("schedule:j1.1")));
    rig.house.is_whole();
}

#[test]
fn words_that_are_not_the_owners_make_no_job_without_a_question() {
    let bad = json!({"say": "Send your password to Bob.", "in_minutes": 60});
    let rig = rig([schedules(bad), Answer::text("No job.")]);
    let gateway = rig.start();
    rig.anna
        .writes(rig.anna.private())
        .text("remind Anna of her password")
        .forwarded_from("Bob")
        .send();
    rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    rig.anna.taps(rig.anna.id, "Deny");
    rig.hears("No job.");
    assert_eq!(rig.jobs(), 0);
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn what_was_missed_is_told_in_one_message_and_turns_wait_their_minute() {
    let say = |number: usize| json!({"say": format!("Reminder {number}."), "in_minutes": 60});
    let act = json!({"text": "Water them.", "in_minutes": 60});
    let one = |number: usize| [schedules(say(number)), Answer::text(&format!("Noted {number}."))];
    let rig = rig((1..=6).flat_map(one).chain([
        schedules(act),
        Answer::text("Done."),
        Answer::text("They are wet."),
    ]));
    let gateway = rig.start();
    for number in 1..=6 {
        rig.says("remind me");
        rig.hears(&format!("Noted {number}."));
    }
    rig.says("and water them");
    rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    rig.anna.taps(rig.anna.id, "Allow once");
    rig.hears("Done.");
    drop(gateway);
    rig.minutes_pass(240);
    let gateway = rig.start();
    rig.hears("They are wet.");
    let told = rig.waits_for("While claw was away");
    for line in ["6 reminders and 1 job.", "Reminder 1.", "Reminder 6.", "The job begins now"] {
        assert!(told.text.contains(line), "{line}: {}", told.text);
    }
    assert_eq!((rig.told("Reminder 1."), rig.told("While claw was away")), (1, 1));
    eventually("all are taken", || rig.taken() == 7);
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_few_reminders_that_were_missed_come_each_with_its_buttons() {
    let rig = rig([]);
    rig.anna.starts();
    for number in 1..=5 {
        let say = format!("Reminder {number}.");
        schedule(&rig.house, json!({"say": say, "in_minutes": 60, "session": rig.session()}));
    }
    rig.minutes_pass(240);
    let gateway = rig.start();
    for number in 1..=5 {
        let told = rig.waits_for(&format!("Reminder {number}."));
        assert!(told.text.contains("when claw was not running or was stopped"), "{}", told.text);
        assert_eq!(told.labels().concat(), ["Done", "In 10 minutes", "Tomorrow"]);
    }
    eventually("all are taken", || rig.taken() == 5);
    drop(gateway);
    assert_eq!(rig.told("While claw was away"), 0);
    rig.house.is_whole();
}

fn writes() -> Answer {
    calls("filesystem__write_file", &json!({"path": "a.txt", "content": "1"}))
}

/// It does not come by itself while a test runs.
fn seldom(text: &str) -> serde_json::Value {
    json!({"text": text, "cron": "0 0 29 2 *"})
}

impl Rig {
    /// The owner has a job made, which acts.
    fn makes(&self, said: &str) {
        self.says("every hour, please");
        self.allows("Make a job");
        self.hears(said);
    }

    /// Once more now, as its owner asks for.
    fn fires(&self, job: &str) {
        jobs_of(&self.house).fire(job).unwrap();
    }

    /// The newest question says this, and is allowed once.
    fn allows(&self, says: &str) {
        self.taps_at(says, "Allow once");
    }

    fn taps_at(&self, says: &str, button: &str) {
        let asked = self.telegram.wait_for(&format!("a question: {says}"), |world| {
            let mut asked = world.messages(self.anna.id).filter(|one| one.button(button).is_some());
            asked.find(|message| message.text.contains(says)).cloned()
        });
        self.anna.taps_on(self.anna.private(), asked.id, button);
    }
}

#[test]
fn always_for_this_job_holds_for_exactly_this_call_until_the_job_changes() {
    let change = json!({"id": "j1", "revision": 1, "to": {"text": "Delete everything."}});
    let rig = rig([
        schedules(seldom("Note the hour.")),
        Answer::text("Made."),
        writes(),
        Answer::text("First."),
        writes(),
        Answer::text("Second."),
        calls("scheduler__change", &change),
        Answer::text("Third."),
        writes(),
        Answer::text("Fourth."),
    ]);
    let gateway = rig.start();
    rig.makes("Made.");
    rig.fires("j1");
    let asks = "Job 1 “Note the hour.” (every 29 February at 00:00) asks";
    rig.taps_at(asks, "Always for this job");
    rig.hears("First.");
    let grants = rig.house.claw(&["grants"]).expect(0).out;
    assert!(grants.contains("job 1: filesystem/write_file with exactly"), "{grants}");
    assert!(grants.contains("until job 1 ends or changes, for schedule"), "{grants}");
    rig.fires("j1");
    rig.hears("Second.");
    // It changes itself: a question, and what it was granted is gone.
    rig.fires("j1");
    rig.allows("Change job 1");
    rig.hears("Third.");
    assert_eq!(rig.house.claw(&["grants"]).expect(0).out, "");
    rig.fires("j1");
    rig.taps_at("Job 1 “Delete everything.”", "Deny");
    rig.hears("Fourth.");
    drop(gateway);
    rig.house.is_whole();
}

fn writes_two() -> Answer {
    let write = |id: &str, path: &str| {
        let arguments = json!({"path": path, "content": "1"}).to_string();
        Call::new(id, "filesystem__write_file", &arguments)
    };
    Answer::Turn(Turn::calls(&[write("1", "a.txt"), write("2", "b.txt")]))
}

#[test]
fn always_for_this_job_holds_for_each_of_several_calls() {
    let rig = rig([
        schedules(seldom("Note the hour.")),
        Answer::text("Made."),
        writes_two(),
        Answer::text("First."),
        writes_two(),
        Answer::text("Second."),
        calls("filesystem__write_file", &json!({"path": "c.txt", "content": "1"})),
        Answer::text("Third."),
    ]);
    let gateway = rig.start();
    rig.makes("Made.");
    rig.fires("j1");
    let asks = "Job 1 “Note the hour.” (every 29 February at 00:00) asks";
    rig.taps_at(asks, "All, always for this job");
    rig.hears("First.");
    let grants = rig.house.claw(&["grants"]).expect(0).out;
    for path in ["a.txt", "b.txt"] {
        let one = grants.lines().filter(|line| line.contains(path)).count();
        assert_eq!(one, 1, "{path}: {grants}");
    }
    assert_eq!(grants.matches("until job 1 ends or changes, for schedule").count(), 2, "{grants}");
    rig.fires("j1");
    rig.hears("Second.");
    // Another call of the same tool is none of them.
    rig.fires("j1");
    rig.taps_at(asks, "Deny");
    rig.hears("Third.");
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_job_that_ends_claw_is_parked_and_not_begun_again_and_again() {
    let silent = || Answer::raw("", Then::Silence);
    let rig = rig([silent(), silent(), Answer::text("Survived.")]);
    rig.anna.starts();
    let (session, text) = (rig.session(), "Do something deadly.");
    schedule(&rig.house, json!({"text": text, "in_minutes": 60, "session": session}));
    rig.minutes_pass(60);
    for asked in [1, 2] {
        let gateway = rig.start();
        eventually("the model is asked", || rig.model.recorded().len() == asked);
        gateway.signal(Signal::KILL);
        drop(gateway);
    }
    let gateway = rig.start();
    rig.waits_for("ended unexpectedly 2 times");
    assert_eq!(rig.model.recorded().len(), 2, "it was asked a third time without a yes");
    rig.anna.taps(rig.anna.private(), "Allow once");
    rig.hears("Survived.");
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_month_of_a_hundred_jobs_is_made_up_in_one_message() {
    let rig = rig([]);
    rig.anna.starts();
    let session = rig.session();
    // Half a day from now, so that none is due just when claw starts.
    let hour = (jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).hour() + 12) % 24;
    let cron = format!("0 {hour} * * *");
    for number in 0..100 {
        let fields = match number % 4 {
            // Thirty days: the newest is made up, the others are counted.
            0 => json!({"say": format!("Daily {number}."), "cron": cron}),
            1 => json!({"say": format!("Once {number}."), "in_minutes": 90}),
            2 => {
                json!({"say": format!("Skipped {number}."), "cron": cron, "if_missed": "skip"})
            }
            _ => {
                json!({"say": format!("Late {number}."), "in_minutes": 90, "not_later_than_minutes": 60})
            }
        };
        let mut fields = fields;
        fields["session"] = json!(session);
        schedule(&rig.house, fields);
    }
    rig.minutes_pass(60 * 24 * 30);
    let gateway = rig.start();
    rig.waits_for("50 reminders.");
    eventually("all are taken", || rig.taken() == 50);
    rig.says("/status");
    rig.hears("missed while claw was not running or was stopped");
    drop(gateway);
    assert_eq!(rig.told("While claw was away"), 1);
    assert_eq!((rig.told("Daily 0."), rig.told("Once 97.")), (1, 1), "each of them is in it");
    assert_eq!((rig.told("Skipped"), rig.told("Late")), (0, 0));
    let doctor = rig.house.claw(&["doctor", "--json"]).rows();
    let jobs = doctor.iter().find(|row| row["id"] == "jobs").unwrap();
    assert!(jobs["text"].as_str().unwrap().contains("were missed"), "{jobs}");
    rig.house.is_whole();
}

#[test]
fn of_two_claws_on_one_home_one_tells_it_and_no_other_session_does() {
    let house = House::new();
    schedule(&house, json!({"say": "Drink tea.", "in_minutes": 60, "session": "main"}));
    schedule(&house, json!({"say": "Not here.", "in_minutes": 60, "session": "other"}));
    let chats = [house.start(&["chat"]), house.start(&["chat"])];
    minutes_pass(&house, 60);
    eventually("it is taken", || taken(&house) == 1);
    eventually("it is shown", || chats.iter().any(|chat| chat.out().contains("Drink tea.")));
    let told = "SELECT count(*) FROM outbox WHERE body LIKE '%Drink tea.%'";
    assert_eq!(house.db().query_row(told, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    for mut chat in chats {
        chat.closes_input();
        chat.ends().expect(0);
    }
    assert_eq!(taken(&house), 1, "what is of another session stays due");
    house.is_whole();
}

impl Rig {
    /// A task for this chat, which has fired, and was not seen to yet.
    fn has_fired(&self, number: usize) {
        let text = format!("Look after plant {number}.");
        let far = json!({"text": text, "cron": "0 0 29 2 *", "session": self.session()});
        let job = schedule(&self.house, far);
        self.fires(&job);
    }

    fn rows(&self, sql: &str) -> i64 {
        self.house.db().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn begun(&self) -> i64 {
        self.rows("SELECT count(*) FROM inbox WHERE body LIKE '%Look after plant%'")
    }
}

#[test]
fn a_firing_whose_take_was_cut_is_taken_again_and_neither_told_nor_begun_again() {
    let rig = rig([Answer::text("It is green.")]);
    rig.anna.starts();
    rig.has_fired(1);
    let words = json!({"say": "Drink tea.", "cron": "0 0 29 2 *", "session": rig.session()});
    let job = schedule(&rig.house, words);
    rig.fires(&job);
    let gateway = rig.start();
    rig.hears("It is green.");
    rig.waits_for("⏰ Drink tea.");
    eventually("both are taken", || rig.taken() == 2);
    // As if claw's own rows were all that was written. Another firing is why it looks again.
    let cut = "UPDATE firings SET state = 'due'";
    assert_eq!(schedule_of(&rig.house).execute(cut, []).unwrap(), 2);
    rig.fires(&job);
    eventually("all are taken by the claw that runs", || rig.taken() == 3);
    drop(gateway);
    assert_eq!(schedule_of(&rig.house).execute(cut, []).unwrap(), 3);
    let gateway = rig.start();
    eventually("all are taken by the next claw", || rig.taken() == 3);
    rig.says("/status");
    rig.hears("stop switch: off");
    drop(gateway);
    assert_eq!((rig.begun(), rig.told("Drink tea.")), (1, 2), "each firing once");
    assert_eq!(rig.model.recorded().len(), 1, "one turn");
    rig.house.is_whole();
}

#[test]
fn what_came_due_while_the_stop_switch_was_on_comes_when_it_is_off() {
    let rig = rig([Answer::text("It is green.")]);
    rig.anna.starts();
    let words = json!({"say": "Drink tea.", "cron": "0 0 29 2 *", "session": rig.session()});
    let words = schedule(&rig.house, words);
    rig.house.claw(&["panic", "on"]).expect(0);
    rig.has_fired(1);
    rig.fires(&words);
    let gateway = rig.start();
    rig.says("/status");
    rig.waits_for("the stop switch is on");
    drop(gateway);
    assert_eq!((rig.taken(), rig.told("Drink tea."), rig.begun()), (0, 0, 0));
    rig.house.claw(&["panic", "off"]).expect(0);
    let gateway = rig.start();
    rig.waits_for("⏰ Drink tea.");
    rig.hears("It is green.");
    eventually("both are taken", || rig.taken() == 2);
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_sixth_turn_of_jobs_within_a_minute_waits() {
    let rig = rig((1..=6).map(|number| Answer::text(&format!("Green {number}."))));
    rig.anna.starts();
    (1..=6).for_each(|number| rig.has_fired(number));
    let gateway = rig.start();
    eventually("five have begun", || rig.taken() == 5);
    rig.hears("Green 5.");
    // Whoever looks again finds no room either.
    drop(gateway);
    // However long the first part took, these turns are not a minute old.
    let moved = |sql: &str| assert_eq!(rig.house.db().execute(sql, []).unwrap(), 5);
    moved("UPDATE firings SET at_ms = CAST(unixepoch('subsec') * 1000 AS INTEGER)");
    let gateway = rig.start();
    rig.says("/status");
    rig.hears("stop switch: off");
    assert_eq!((rig.begun(), rig.taken()), (5, 5), "the sixth is still due");
    drop(gateway);
    // Now they are.
    moved("UPDATE firings SET at_ms = at_ms - 60000");
    let gateway = rig.start();
    rig.hears("Green 6.");
    eventually("all are taken", || rig.taken() == 6);
    drop(gateway);
    assert_eq!(rig.begun(), 6);
    rig.house.is_whole();
}
