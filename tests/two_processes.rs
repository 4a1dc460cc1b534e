//! Several processes on one home and one session: nothing is lost, nothing is doubled.

use crate::program::{House, eventually, said};

#[test]
fn two_chats_and_four_asks_on_one_session_lose_nothing() {
    const LINES: usize = 5;
    let house = House::new();
    let mut chats: Vec<_> = (0..2).map(|_| house.start(&["chat"])).collect();
    let mut sent = Vec::new();
    for line in 0..LINES {
        for (chat, running) in chats.iter_mut().enumerate() {
            let text = format!("search chat{chat}line{line}");
            running.types(format!("{text}\n").as_bytes());
            sent.push(text);
        }
    }
    let asks: Vec<_> = (0..4)
        .map(|ask| {
            let text = format!("search ask{ask}");
            let running = house.start(&["ask", &text]);
            sent.push(text);
            running
        })
        .collect();
    for (ask, running) in asks.into_iter().enumerate() {
        let ran = running.ends().expect(0);
        assert!(!ran.out.trim().is_empty(), "ask {ask} got no reply: {ran:?}");
    }
    for chat in chats {
        let ran = chat.ends().expect(0);
        assert!(!ran.out.contains("Error") && !ran.out.contains("error"), "{ran:?}");
    }
    house.claw(&["ask", "list"]).expect(0);
    sent.push("list".to_owned());
    let events = house.events("main");
    let mut heard = said(&events);
    let of_chat =
        |chat: &str| heard.iter().filter(|text| text.contains(chat)).cloned().collect::<Vec<_>>();
    for chat in 0..2 {
        let expected: Vec<String> =
            (0..LINES).map(|line| format!("search chat{chat}line{line}")).collect();
        assert_eq!(of_chat(&format!("chat{chat}")), expected, "out of order");
    }
    heard.sort();
    sent.sort();
    assert_eq!(heard, sent);
    assert_eq!(events.last().unwrap()["type"], "turn.ended");
    house.is_whole();
}

#[test]
fn a_sound_audit_is_called_sound_while_a_chat_writes_to_it() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let mut chat = house.start(&["chat"]);
    let rows = || {
        let sql = "SELECT max(id) FROM audit";
        house.db().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let mut looked_beside = 0;
    for number in 0..10 {
        let before = rows();
        // Each is a turn with a call, and nobody waits for it.
        chat.types(format!("search a{number}\nsearch b{number}\nsearch c{number}\n").as_bytes());
        let (verify, doctor) =
            (house.start(&["audit", "verify", "--json"]), house.start(&["doctor", "--json"]));
        let verified = verify.ends().expect(0).json();
        assert_eq!(verified["ok"], true, "{verified}");
        let found = doctor.ends().rows();
        let audit = found.iter().find(|row| row["id"] == "audit").unwrap();
        assert_eq!(audit["ok"], true, "{audit}");
        looked_beside += usize::from(rows() > before);
    }
    chat.ends().expect(0);
    assert!(looked_beside > 0, "nothing was written meanwhile");
    house.is_whole();
}

#[test]
fn sessions_run_side_by_side() {
    let house = House::new();
    house.claw(&["tools"]).expect(0);
    let names: Vec<String> = (0..6).map(|number| format!("s{number}")).collect();
    let running: Vec<_> = names
        .iter()
        .map(|name| house.start(&["ask", "--session", name, &format!("search {name}")]))
        .collect();
    for (name, one) in names.iter().zip(running) {
        let ran = one.ends().expect(0);
        assert!(ran.out.contains(&format!("`{name}`")), "{ran:?}");
    }
    for name in &names {
        assert_eq!(said(&house.events(name)), [format!("search {name}")]);
    }
    house.is_whole();
}

#[test]
fn a_fresh_home_may_be_opened_by_many_at_once() {
    let house = House::new();
    let first: Vec<_> =
        (0..6).map(|number| house.start(&["ask", &format!("search first{number}")])).collect();
    for one in first {
        one.ends().expect(0);
    }
    assert_eq!(said(&house.events("main")).len(), 6);
    house.is_whole();
}

#[test]
fn what_one_terminal_does_the_other_sees() {
    let house = House::new();
    let mut asking = house.start(&["chat"]);
    asking.types(b"write a.txt: hello\n");
    eventually("the first asks", || asking.out().contains("Create a.txt"));
    let mut other = house.start(&["chat"]);
    eventually("the second asks, too", || other.out().contains("Create a.txt"));
    other.types(b"y\n");
    eventually("it is written", || house.in_workspace("a.txt") == "hello");
    eventually("the first hears of the answer", || asking.out().contains("was allowed once,"));
    eventually("the first has the reply", || asking.out().contains("Created"));
    other.types(b"/quit\n");
    other.ends().expect(0);
    asking.ends().expect(0);
    house.is_whole();
}
