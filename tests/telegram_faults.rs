//! What Telegram, the disk, the provider and a kill can do to the door: nothing is lost, nothing is
//! spun, and a person hears of what needs one.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Instant;

use crate::botapi::{Call, Fault, Limits, Outcome, User};
use crate::program::{House, eventually, outcomes, said};
use crate::telegram_rig::Rig;

/// Calls that a quiet gateway may make beside those that a test counts: polls that end by
/// themselves, a retry.
const SOME: usize = 12;

impl Rig {
    fn sends_to(&self, chat: i64) -> usize {
        self.telegram.calls_of("sendMessage").iter().filter(|call| call.chat == Some(chat)).count()
    }

    /// The owner asks for a file and allows it; until everything that comes of it is there.
    fn writes_a_file(&self, file: &str) {
        self.anna.says(self.anna.private(), &format!("write {file}: 1"));
        let asked = self.telegram.wait_for(&format!("a question about {file}"), |world| {
            let mut asked = world
                .messages(self.anna.private())
                .filter(|message| message.button("Allow once").is_some());
            asked.find(|message| message.text.contains(file)).cloned()
        });
        let tap = self.anna.taps_on(self.anna.private(), asked.id, "Allow once");
        self.wait_edited(&asked, "ran: ok");
        self.telegram.wait_answered(&tap);
        assert_eq!(self.house.in_workspace(file), "1");
        let turns = |kind: &str| {
            self.number(&format!("SELECT count(*) FROM events WHERE type = 'turn.{kind}'"))
        };
        eventually("the turn ends", || turns("started") == turns("ended"));
        self.wait_delivered();
    }
}

#[test]
fn a_storm_of_429_on_every_method_loses_and_doubles_nothing() {
    let rig = Rig::new();
    let methods = [
        "getMe",
        "getUpdates",
        "setMyCommands",
        "sendMessage",
        "sendChatAction",
        "editMessageText",
        "answerCallbackQuery",
    ];
    for method in methods {
        rig.telegram.fault(Fault::TooMany(1)).on(method).times(2);
    }
    let gateway = rig.start();
    rig.writes_a_file("a.txt");
    rig.wait_handled();
    rig.wait_delivered();
    assert_eq!(
        rig.count(rig.anna.id, "I am claw"),
        1,
        "a refused message has no effect, so nothing comes twice"
    );
    assert_eq!(outcomes(&rig.house.events(&rig.session(&rig.anna))).len(), 1);
    for method in methods {
        let calls = rig.telegram.calls_of(method).len();
        assert!(calls <= SOME + 2, "{calls} calls of {method}");
    }
    rig.stop(gateway);
}

#[test]
fn a_connection_that_breaks_loses_nothing() {
    let rig = Rig::new();
    let gateway = rig.start();
    let broken = |fault: Fault, method: &str| rig.telegram.fault(fault).on(method).times(1);
    for method in ["getUpdates", "answerCallbackQuery", "editMessageText"] {
        broken(Fault::CutBefore, method);
    }
    rig.writes_a_file("before.txt");
    for method in ["getUpdates", "answerCallbackQuery", "editMessageText"] {
        broken(Fault::CutAfter, method);
    }
    rig.writes_a_file("after.txt");
    broken(Fault::CutBefore, "sendMessage");
    rig.anna.says(rig.anna.private(), "/usage");
    rig.telegram.wait_for_text(rig.anna.id, "Today, all sessions");
    rig.wait_delivered();
    assert_eq!(rig.count(rig.anna.id, "Today, all sessions"), 1, "it had no effect");
    let lost = |call: &Call| matches!(&call.outcome, Outcome::Failed(Fault::CutBefore));
    assert_eq!(rig.telegram.calls_of("sendMessage").iter().filter(|call| lost(call)).count(), 1);
    broken(Fault::CutAfter, "sendMessage");
    rig.anna.says(rig.anna.private(), "/model");
    rig.telegram.wait_for_text(rig.anna.id, "The model is");
    rig.wait_delivered();
    let came = rig.count(rig.anna.id, "The model is");
    assert!((1..=2).contains(&came), "the one stated window: at least once, and {came} times here");
    let events = rig.house.events(&rig.session(&rig.anna));
    assert_eq!(said(&events), ["write before.txt: 1", "write after.txt: 1"], "each message once");
    assert!(rig.telegram.calls_of("getUpdates").len() <= 2 * SOME);
    rig.stop(gateway);
}

/// Telegram takes the message and nobody hears of it, again and again.
#[test]
fn what_may_have_arrived_is_seldom_sent_again() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.wait_delivered();
    rig.telegram.fault(Fault::CutAfter).on("sendMessage").always();
    rig.anna.says(rig.anna.private(), "/usage");
    eventually("it is put off", || gateway.err().contains("sent again in 5 s, and may come twice"));
    eventually("for longer", || gateway.err().contains("sent again in 60 s, and may come twice"));
    assert_eq!(rig.count(rig.anna.id, "Today, all sessions"), 2);
    rig.kill(gateway);
    rig.telegram.heal();
    let gateway = rig.house.start(&["gateway"]);
    rig.wait_delivered();
    assert_eq!(rig.count(rig.anna.id, "Today, all sessions"), 3, "and it is not lost");
    rig.stop(gateway);
}

#[test]
fn a_proxy_that_answers_502_is_waited_out() {
    let rig = Rig::new();
    let gateway = rig.start();
    for method in ["sendMessage", "getUpdates", "answerCallbackQuery", "sendChatAction"] {
        rig.telegram.fault(Fault::Status(502)).on(method).times(1);
    }
    rig.writes_a_file("a.txt");
    rig.wait_delivered();
    assert_eq!(
        rig.telegram.calls_of("sendMessage").iter().filter(|call| !Call::took_effect(call)).count(),
        1
    );
    rig.stop(gateway);
}

#[test]
fn odd_updates_hold_up_nothing_and_are_not_asked_for_again() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.telegram.push_malformed_update();
    rig.telegram.push_unknown_update();
    rig.telegram.push_update("callback_query", serde_json::json!({"id": 5}));
    rig.telegram.push_update("my_chat_member", serde_json::json!({"chat": "none"}));
    rig.writes_a_file("a.txt");
    rig.wait_handled();
    assert!(rig.telegram.calls_of("getUpdates").len() <= SOME);
    assert!(rig.telegram.updates().iter().all(|update| update.delivered == 1));
    rig.stop(gateway);
}

#[test]
fn another_poller_is_told_of_once_and_not_raced() {
    let rig = Rig::new();
    let gateway = rig.start();
    // The second poll waits, and brings what is said next.
    rig.telegram.wait_for_calls("getUpdates", 2);
    let description = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
    rig.telegram
        .fault(Fault::Refuse { code: 409, description: description.into() })
        .on("getUpdates")
        .always();
    let before = rig.telegram.calls_of("getUpdates").len();
    let began = Instant::now();
    rig.anna.says(rig.anna.private(), "/usage");
    rig.telegram.wait_for_text(rig.anna.id, "No messages come in: another program polls this bot");
    rig.telegram.wait_for_text(rig.anna.id, "Today, all sessions");
    // Time in which a gateway that spins would poll hundreds of times.
    for _ in 0..5 {
        rig.house.claw(&["sessions"]).expect(0);
    }
    let polls = rig.telegram.calls_of("getUpdates").len() - before;
    // It asks every 30 s.
    let most = 2 + began.elapsed().as_secs() / 30;
    assert!(polls as u64 <= most, "{polls} polls");
    assert_eq!(rig.count(rig.anna.id, "No messages come in"), 1);
    assert_eq!(gateway.err().matches("no messages come in").count(), 1, "{}", gateway.err());
}

/// Two owners, so that one can be told of the other.
fn with_bob() -> (Rig, User) {
    let rig = Rig::new();
    let bob = rig.telegram.user("Bob");
    let house = House::new().with_bot(
        &rig.telegram.token(),
        rig.telegram.url(),
        &format!("{},{}", rig.anna.id, bob.id),
    );
    (Rig { house, ..rig }, bob)
}

#[test]
fn what_a_chat_that_has_blocked_the_bot_should_get_waits_until_it_writes_again() {
    let (rig, bob) = with_bob();
    let gateway = rig.start();
    bob.starts();
    rig.telegram.wait_for_text(bob.id, "I am claw");
    rig.wait_delivered();
    let blocked =
        Fault::Refuse { code: 403, description: "Forbidden: bot was blocked by the user".into() };
    rig.telegram.fault(blocked).on("sendMessage").in_chat(bob.id).always();
    let before = rig.sends_to(bob.id);
    bob.says(bob.private(), "/usage");
    rig.telegram
        .wait_for_text(rig.anna.id, &format!("The chat {} does not let claw write", bob.id));
    eventually("it is on record", || rig.number("SELECT count(*) FROM blocked") == 1);
    assert_eq!(rig.sends_to(bob.id), before + 1);
    rig.stop(gateway);
    let gateway = rig.house.start(&["gateway"]);
    rig.anna.says(rig.anna.private(), "/model");
    rig.telegram.wait_for_text(rig.anna.id, "The model is");
    rig.wait_delivered();
    assert_eq!(rig.sends_to(bob.id), before + 1, "not tried again, also after a restart");
    assert_eq!(rig.count(rig.anna.id, "does not let claw write"), 1);
    rig.telegram.heal();
    bob.says(bob.private(), "/model");
    rig.telegram.wait_for_text(bob.id, "The model is");
    rig.wait_delivered();
    let order: Vec<bool> = rig
        .telegram
        .sent(bob.id)
        .iter()
        .map(|message| message.text.contains("Today, all"))
        .collect();
    assert_eq!(order, [false, true, false], "what had waited comes first");
    assert_eq!(rig.number("SELECT count(*) FROM blocked"), 0);
    rig.stop(gateway);
}

#[test]
fn a_chat_that_says_it_has_blocked_the_bot_is_not_written_to() {
    let (rig, bob) = with_bob();
    let gateway = rig.start();
    bob.starts();
    rig.telegram.wait_for_text(bob.id, "I am claw");
    bob.blocks();
    eventually("it is on record", || rig.number("SELECT count(*) FROM blocked") == 1);
    bob.unblocks();
    eventually("and off it", || rig.number("SELECT count(*) FROM blocked") == 0);
    bob.says(bob.private(), "/usage");
    rig.telegram.wait_for_text(bob.id, "Today, all");
    rig.stop(gateway);
}

#[test]
fn telegrams_limits_are_kept_before_it_has_to_say_so() {
    let rig = Rig::new();
    let people: Vec<User> =
        (0..40).map(|number| rig.telegram.user(&format!("Owner{number}"))).collect();
    let ids: Vec<String> =
        people.iter().chain([&rig.anna]).map(|user| user.id.to_string()).collect();
    let house = House::new().with_bot(&rig.telegram.token(), rig.telegram.url(), &ids.join(","));
    let rig = Rig { house, ..rig };
    rig.telegram.limit(Limits {
        overall_per_s: Some(30),
        in_group_per_min: Some(20),
        in_chat_per_s: None,
    });
    for person in &people {
        person.says(person.private(), "/usage");
        person.says(person.private(), "/model");
    }
    let gateway = rig.start();
    for person in &people {
        rig.telegram.wait_for_text(person.id, "The model is");
    }
    rig.wait_handled();
    rig.wait_delivered();
    let refused =
        rig.telegram.calls_of("sendMessage").into_iter().filter(|call| call.refusal().is_some());
    assert_eq!(refused.count(), 0, "nothing is sent too fast over all");
    assert!(people.iter().all(|person| rig.telegram.sent(person.id).len() == 2));
    rig.stop(gateway);
}

#[test]
fn a_store_that_cannot_be_written_is_told_and_nothing_is_lost() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.wait_handled();
    rig.wait_delivered();
    rig.house
        .db()
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON updates BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END",
        )
        .unwrap();
    rig.anna.says(rig.anna.private(), "/usage");
    rig.telegram.wait_for_text(rig.anna.id, "claw cannot store anything");
    let tried = |err: &str| err.matches("messages could not be stored").count();
    eventually("it is tried again", || tried(&gateway.err()) >= 2);
    rig.house.db().execute_batch("DROP TRIGGER full").unwrap();
    rig.telegram.wait_for_text(rig.anna.id, "Today, all sessions");
    assert_eq!(rig.count(rig.anna.id, "claw cannot store anything"), 1);
    rig.stop(gateway);
}

#[test]
fn after_a_crash_the_owner_hears_what_was_going_on_and_not_after_an_end_in_order() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.wait_delivered();
    rig.stop(gateway);
    let gateway = rig.house.start(&["gateway"]);
    rig.anna.says(rig.anna.private(), "run sleep 600");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    rig.anna.taps_on(rig.anna.private(), asked.id, "Allow once");
    eventually("it runs", || rig.number("SELECT count(*) FROM calls WHERE state = 'started'") == 1);
    rig.kill(gateway);
    let gateway = rig.house.start(&["gateway"]);
    let told = rig.telegram.wait_for_text(rig.anna.id, "claw is back");
    assert!(
        told.text.contains("1 conversation goes on") && told.text.contains("bash/run"),
        "{}",
        told.text
    );
    eventually("the turn ends", || {
        rig.number("SELECT count(*) FROM events WHERE type = 'turn.ended'") == 1
    });
    rig.wait_delivered();
    assert_eq!(rig.count(rig.anna.id, "claw is back"), 1, "after an end in order nothing was said");
    rig.stop(gateway);
}

/// A provider that takes no key.
#[expect(clippy::unwrap_used, reason = "a stand-in that cannot start fails its test")]
fn refuses_every_key() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 65_536];
            let _read = stream.read(&mut request);
            let body = r#"{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}"#;
            let head = "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close\r\n";
            let _gone = write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len());
        }
    });
    url
}

#[test]
fn a_refused_key_is_told_in_the_chat_and_once_to_whoever_can_change_it() {
    let (rig, bob) = with_bob();
    let house = House::at("openai-compatible", &refuses_every_key()).with_bot(
        &rig.telegram.token(),
        rig.telegram.url(),
        &format!("{},{}", rig.anna.id, bob.id),
    );
    let rig = Rig { house, ..rig };
    let gateway = rig.start();
    for text in ["good morning", "are you there?"] {
        bob.says(bob.private(), text);
        rig.telegram.wait_for("an answer to each", |world| {
            let said = world
                .messages(bob.id)
                .filter(|message| message.by_bot && message.text.contains("OPENAI_API_KEY"));
            (said.count() == world.messages(bob.id).filter(|message| !message.by_bot).count())
                .then_some(())
        });
    }
    rig.telegram.wait_for_text(rig.anna.id, "The model cannot be asked");
    rig.wait_delivered();
    assert_eq!(rig.count(rig.anna.id, "OPENAI_API_KEY"), 1);
    rig.stop(gateway);
}

/// Whichever conversation finds it out, the owner hears of it, as text and not as Markdown, and
/// once.
#[test]
fn a_server_that_fails_is_told_to_the_owner_once() {
    let rig = Rig::new();
    let broken = serde_json::json!({"command": "/bin/sh", "args": ["-c", "echo '**cannot** [find](http://x) it' >&2; exit 7"]});
    let filesystem = serde_json::json!({"command": "claw", "args": ["server", "filesystem"]});
    let servers = serde_json::json!({"mcpServers": {"broken": broken, "filesystem": filesystem}});
    rig.house.write("mcp.json", &servers.to_string());
    let told = || rig.count(rig.anna.id, "'broken' did not start");
    for _ in 0..2 {
        let gateway = rig.start();
        for _ in 0..2 {
            let before = rig.count(rig.anna.id, "Listing");
            rig.anna.says(rig.anna.private(), "list");
            eventually("the turn goes on without it", || {
                rig.count(rig.anna.id, "Listing") > before
            });
        }
        eventually("the owner hears of it", || told() == 1);
        rig.stop(gateway);
    }
    assert_eq!(told(), 1, "also by the next start");
    assert_eq!(
        rig.count(rig.anna.id, "**cannot** [find](http://x) it"),
        1,
        "an unknown user's words are no Markdown"
    );
}
