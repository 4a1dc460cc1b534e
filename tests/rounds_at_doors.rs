//! What a server asks in the middle of its call, at each door: a line at the console, buttons and
//! replies in Telegram, also over a kill of the gateway, and a page that nobody opens. The ways of
//! the gate are in `rounds.rs`, an editor's in `acp/rounds.rs`.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::botapi::Message;
use crate::program::{House, Running, SERVER_WAIT, eventually, example, outcomes};
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

/// Somebody reads a question before he answers it; dates of messages are whole seconds.
const READING: Duration = Duration::from_secs(2);
/// What desktops open pages with.
const OPENERS: [&str; 8] = [
    "xdg-open",
    "open",
    "gio",
    "sensible-browser",
    "x-www-browser",
    "www-browser",
    "wslview",
    "firefox",
];

/// A house with the server that asks, and a model that calls this tool of it once.
pub struct Asking {
    pub house: House,
    _model: Threaded,
}

impl Asking {
    pub fn new(era: &str, tool: &str) -> Self {
        Self::with(era, tool, |house| house)
    }

    fn with(era: &str, tool: &str, change: impl FnOnce(House) -> House) -> Self {
        let call = Call::new("a", &format!("tickets__{tool}"), r#"{"to": "Rome"}"#);
        let answers = [Answer::Turn(Turn::calls(&[call])), Answer::text("That is all.")];
        let model = Threaded::start(Wire::OpenAi, answers);
        let house = change(House::at("openai-compatible", &model.base_url));
        house.write("claw.toml", SERVER_WAIT);
        house.write(
            "policy.toml",
            "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n",
        );
        let entry = json!({"command": example("asking-server"), "args": [era, record(&house)]});
        house.write("mcp.json", &json!({"mcpServers": {"tickets": entry}}).to_string());
        Self { house, _model: model }
    }
}

fn record(house: &House) -> PathBuf {
    house.user_home().join("record")
}

/// What the server has done, in its own words.
pub fn effects(house: &House) -> Vec<String> {
    let text = fs::read_to_string(record(house)).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix("effect ")).map(str::to_owned).collect()
}

/// Where the screen breaks a line is of no interest here.
fn one_line(text: &str) -> String {
    text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Types a line once the console has asked for it.
#[track_caller]
fn gives(chat: &mut Running, asked: &str, line: &str) {
    eventually(&format!("`{asked}` is shown: {}", chat.out()), || {
        one_line(&format!("{}\n{}", chat.out(), chat.err())).contains(asked)
    });
    chat.types(format!("{line}\n").as_bytes());
}

#[test]
fn a_form_is_filled_in_line_by_line_at_the_console() {
    let rounds: &[(&str, &str)] = &[("asks for “sure”", "yes"), ("asks for “name”", "Anna")];
    for (era, more) in [("modern", rounds), ("legacy", &[])] {
        let asking = Asking::new(era, "book");
        let house = &asking.house;
        let mut chat = house.start(&["chat"]);
        chat.types(b"book it\n");
        gives(&mut chat, "tickets/book asks for “Seats” (1 of 2)", "12");
        gives(&mut chat, "That does not fit: “Seats” takes a whole number from 1 to 9.", "3");
        gives(&mut chat, "asks for “class” (2 of 2)", "business");
        for (asked, line) in more {
            gives(&mut chat, asked, line);
        }
        eventually("the turn goes on", || chat.out().contains("That is all."));
        chat.types(b"/quit\n");
        let ran = chat.ends().expect(0);
        for said in ["Answered “Seats”: 3", "Business"] {
            assert!(one_line(&format!("{}{}", ran.out, ran.err)).contains(said), "{said}: {ran:?}");
        }
        let done = effects(house);
        assert!(done.len() == 1 && done[0].contains("\"seats\":3"), "{era}: {done:?}");
        assert!(era == "modern" || done[0].contains("\"class\":\"biz\""), "{done:?}");
        let results = outcomes(&house.events("main"));
        assert!(results[0].to_string().contains("booked {"), "{era}: {results:?}");
        house.is_whole();
    }
}

#[test]
fn some_of_several_a_default_and_what_is_left_out_are_lines_at_the_console() {
    for era in ["modern", "legacy"] {
        let asking = Asking::new(era, "extras");
        let house = &asking.house;
        let mut chat = house.start(&["chat"]);
        chat.types(b"book it\n");
        gives(&mut chat, "asks for “Bags” (1 of 3)", "default");
        let listed = "At most 2 numbers from 1 to 3, with blanks between — 1 “Meal”, \
            2 “Window”, 3 “Bike”; may be left out";
        gives(&mut chat, listed, "1 2 3");
        gives(&mut chat, "That does not fit: “Extras” takes at most 2 numbers", "1 3");
        gives(&mut chat, "asks for “Remark” (3 of 3)", "skip");
        eventually("the turn goes on", || chat.out().contains("That is all."));
        chat.types(b"/quit\n");
        let ran = chat.ends().expect(0);
        for said in
            ["Answered “Bags”: 2", "Answered “Extras”: “Meal”, “Bike”", "Left out: “Remark”"]
        {
            assert!(one_line(&format!("{}{}", ran.out, ran.err)).contains(said), "{said}: {ran:?}");
        }
        let done = effects(house);
        assert_eq!(done, [r#""Rome" {"bags":2,"extras":["m","b"]}"#], "{era}");
        house.is_whole();
    }
}

/// The bot, its owner, and the server that asks.
fn chat(asking: Asking) -> (Rig, Threaded) {
    let Asking { house, _model } = asking;
    (Rig::with(house), _model)
}

impl Rig {
    /// The open question about this, on record, and read.
    fn asked(&self, what: &str) -> Message {
        let asked = self.telegram.wait_for(what, |world| {
            let mut asked = world
                .messages(self.anna.private())
                .filter(|message| message.button("✖ Decline").is_some());
            asked.find(|message| message.text.contains(what)).cloned()
        });
        eventually("it is on record", || {
            let known = format!("SELECT count(*) FROM posted WHERE message = {}", asked.id);
            self.number(&known) == 1
        });
        self.telegram.let_pass(READING);
        asked
    }

    fn replies(&self, to: &Message, text: &str) {
        self.anna.writes(self.anna.private()).reply_to(to.id).text(text).send();
    }
}

#[test]
fn some_of_several_a_default_and_what_is_left_out_are_buttons_and_replies_in_telegram() {
    let (rig, _model) = chat(Asking::new("modern", "extras"));
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "book it");
    let bags = rig.asked("asks for “Bags” (1 of 3)");
    assert!(bags.button("Take 2").is_some(), "{:?}", bags.labels());
    assert!(bags.button("Leave it out").is_none(), "it is needed: {:?}", bags.labels());
    rig.anna.taps_on(bags.chat, bags.id, "Take 2");
    rig.wait_edited(&bags, "Answered “Bags”: 2");
    let extras = rig.asked("asks for “Extras” (2 of 3)");
    for shown in ["1 “Meal”, 2 “Window”, 3 “Bike”", "may be left out"] {
        assert!(extras.text.contains(shown), "{shown}: {}", extras.text);
    }
    assert!(extras.button("Leave it out").is_some(), "{:?}", extras.labels());
    rig.replies(&extras, "1 2 3");
    rig.telegram.wait_for_text(rig.anna.id, "That does not fit: “Extras” takes at most 2 numbers");
    rig.replies(&extras, "1 3");
    rig.wait_edited(&extras, "Answered “Extras”: “Meal”, “Bike”");
    let remark = rig.asked("asks for “Remark” (3 of 3)");
    rig.anna.taps_on(remark.chat, remark.id, "Leave it out");
    rig.wait_edited(&remark, "Left out: “Remark”");
    rig.telegram.wait_for_text(rig.anna.id, "That is all.");
    assert_eq!(effects(&rig.house), [r#""Rome" {"bags":2,"extras":["m","b"]}"#]);
    rig.wait_handled();
    rig.wait_delivered();
    rig.stop(gateway);
}

/// The gateway is killed while a button waits, and while a reply does; the messages of before go on
/// counting.
#[test]
fn a_form_that_is_open_in_telegram_is_filled_in_after_the_gateway_was_killed() {
    let (rig, _model) = chat(Asking::new("modern", "book"));
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "book it");
    let seats = rig.asked("asks for “Seats” (1 of 2)");
    rig.replies(&seats, "3");
    let class = rig.asked("asks for “class” (2 of 2)");
    rig.telegram.wait_all_confirmed();
    rig.kill(gateway);
    let gateway = rig.house.start(&["gateway"]);
    let tap = rig.anna.taps_on(class.chat, class.id, "“Business”");
    assert_eq!(rig.telegram.wait_answered(&tap).0, "Answered.");
    rig.wait_edited(&class, "Business");
    let sure = rig.asked("asks for “sure”");
    rig.telegram.wait_all_confirmed();
    rig.kill(gateway);
    let gateway = rig.house.start(&["gateway"]);
    rig.anna.taps_on(sure.chat, sure.id, "Yes");
    rig.wait_edited(&sure, "yes");
    let name = rig.asked("asks for “name”");
    rig.telegram.wait_all_confirmed();
    rig.kill(gateway);
    let gateway = rig.house.start(&["gateway"]);
    rig.replies(&name, "Anna");
    rig.telegram.wait_for_text(rig.anna.id, "That is all.");
    // A second tap finds nothing open.
    let done = effects(&rig.house);
    assert!(done.len() == 1 && done[0].contains("Anna") && done[0].contains('3'), "{done:?}");
    rig.wait_handled();
    rig.wait_delivered();
    let events = rig.house.events(&rig.session(&rig.anna));
    let results = outcomes(&events);
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0].to_string().contains("booked"), "{results:?}");
    rig.stop(gateway);
}

/// A page on this machine, and a desktop whose programs for opening one are watched.
struct Page {
    site: TcpListener,
    url: String,
    opened: PathBuf,
}

impl Page {
    /// The house's server asks for this page to be opened.
    fn at(era: &str) -> (Asking, Self) {
        let site = TcpListener::bind("127.0.0.1:0").unwrap();
        site.set_nonblocking(true).unwrap();
        let url = format!("http://{}/order?id=7", site.local_addr().unwrap());
        let mut opened = PathBuf::new();
        let asking = Asking::with(era, "page", |house| {
            opened = house.user_home().join("opened");
            let bin = house.user_home().join("bin");
            fs::create_dir(&bin).unwrap();
            for name in OPENERS {
                let program = bin.join(name);
                let script = format!("#!/bin/sh\necho {name} >> {}\n", opened.display());
                claw_test_kit::write_program(&program, &script);
            }
            let path = format!("{}:/usr/bin:/bin", bin.display());
            let browser = bin.join("firefox");
            house
                .with("PATH", &path)
                .with("BROWSER", browser.to_str().unwrap())
                .with("DISPLAY", ":0")
        });
        fs::write(record(&asking.house).with_extension("page"), &url).unwrap();
        (asking, Self { site, url, opened })
    }

    #[track_caller]
    fn is_untouched(&self) {
        let came = self.site.accept();
        assert!(came.is_err(), "somebody has opened {}: {came:?}", self.url);
        let opened = fs::read_to_string(&self.opened).unwrap_or_default();
        assert_eq!(opened, "", "a program for opening pages was started");
    }
}

#[test]
fn a_page_is_shown_with_its_host_and_never_opened_at_the_console_or_by_a_command() {
    for era in ["modern", "legacy"] {
        let (asking, page) = Page::at(era);
        let mut chat = asking.house.start(&["chat"]);
        chat.types(b"pay for it\n");
        gives(&mut chat, "asks you to open a page on 127.0.0.1", "?");
        let shown = |chat: &Running| one_line(&format!("{}{}", chat.out(), chat.err()));
        eventually("it is shown whole", || shown(&chat).contains(&page.url));
        assert!(shown(&chat).contains("claw does not open it"), "{}", shown(&chat));
        let listed = asking.house.claw(&["approvals"]).expect(0).out;
        assert!(listed.contains("asks you to open a page on 127.0.0.1"), "{listed}");
        page.is_untouched();
        chat.types(b"done\n");
        eventually("the turn goes on", || chat.out().contains("That is all."));
        chat.types(b"/quit\n");
        chat.ends().expect(0);
        page.is_untouched();
        let results = outcomes(&asking.house.events("main"));
        assert!(results[0].to_string().contains("accept"), "{results:?}");
        asking.house.is_whole();
    }
}

#[test]
fn a_page_is_shown_in_telegram_without_a_preview_and_never_opened() {
    let (asking, page) = Page::at("modern");
    let (rig, _model) = chat(asking);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "pay for it");
    let asked = rig.asked("asks you to open a page on 127.0.0.1");
    assert!(asked.text.contains(&page.url), "{}", asked.text);
    rig.anna.taps_on(asked.chat, asked.id, "Done");
    rig.telegram.wait_for_text(rig.anna.id, "That is all.");
    rig.wait_handled();
    rig.wait_delivered();
    // Telegram's own machines would open it for a preview.
    let mut with_link = 0;
    for call in rig.telegram.calls() {
        let is_shown = call.is("sendMessage") || call.is("editMessageText");
        if is_shown && call.params.to_string().contains(&page.url) {
            assert_eq!(call.params["link_preview_options"]["is_disabled"], true, "{call:?}");
            with_link += 1;
        }
    }
    assert!(with_link > 0, "the address was not sent");
    page.is_untouched();
    let results = outcomes(&rig.house.events(&rig.session(&rig.anna)));
    let heard = r#"page: {\"action\":\"accept\"}"#;
    assert!(results[0].to_string().contains(heard), "{results:?}");
    rig.stop(gateway);
}

#[test]
fn a_page_that_was_not_opened_is_declined_to_its_server() {
    let (asking, page) = Page::at("modern");
    let id = asking.house.ask_parks("pay for it");
    page.is_untouched();
    asking.house.claw(&["deny", &id]).expect(0);
    let results = outcomes(&asking.house.events("main"));
    assert!(results[0].to_string().contains("decline"), "{results:?}");
    page.is_untouched();
}

/// What was answered before a kill is answered, and the rest is given elsewhere.
#[test]
fn a_console_that_is_killed_in_the_middle_of_a_form_loses_no_answer_that_it_had() {
    let asking = Asking::new("modern", "book");
    let house = &asking.house;
    let mut chat = house.start(&["chat"]);
    chat.types(b"book it\n");
    gives(&mut chat, "asks for “Seats” (1 of 2)", "3");
    gives(&mut chat, "asks for “class” (2 of 2)", "");
    chat.signal(Signal::KILL);
    drop(chat);
    let id = house.waiting();
    for value in ["eco", "yes"] {
        house.claw(&["approve", &house.waiting(), "--value", value]).expect(3);
    }
    assert_ne!(house.waiting(), id);
    house.claw(&["approve", &house.waiting(), "--value", "Anna"]).expect(0);
    let done = effects(house);
    assert!(done.len() == 1 && done[0].contains("\"seats\":3"), "{done:?}");
    house.is_whole();
}
