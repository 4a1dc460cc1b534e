//! Many people write to the bot at the same time: each gets their own answers, in order, and there
//! is room for all of them.

mod botapi;
mod program;

use botapi::{BotApi, User};
use program::{House, eventually, said};

const PEOPLE: usize = 40;
const MESSAGES: usize = 3;

#[test]
fn chats_are_answered_side_by_side_and_each_one_in_order() {
    let telegram = BotApi::start();
    let people: Vec<User> =
        (0..PEOPLE).map(|number| telegram.user(&format!("Person {number}"))).collect();
    let ids: Vec<String> = people.iter().map(|person| person.id.to_string()).collect();
    let house = House::new().with_bot(&telegram.token(), telegram.url(), &ids.join(","));
    for number in 1..=MESSAGES {
        for person in &people {
            person.says(person.private(), &format!("hello {number} from {}", person.id));
        }
    }
    let gateway = house.start(&["gateway"]);
    // The store is there by then.
    telegram.wait_for_calls("getUpdates", 1);
    let heard = |person: &User| {
        let events = house
            .db()
            .prepare("SELECT body FROM events WHERE session = ?1 ORDER BY seq")
            .and_then(|mut query| {
                let session = format!("telegram.{}.{}", telegram.bot_id(), person.id);
                let rows = query.query_map([session], |row| row.get::<_, String>(0))?;
                rows.collect::<Result<Vec<_>, _>>()
            });
        let events: Vec<serde_json::Value> =
            // There is no table before the gateway has made it.
            events.unwrap_or_default().iter().map(|body| serde_json::from_str(body).unwrap()).collect();
        // One that has waited for long carries its time in a line before.
        said(&events)
            .iter()
            .filter_map(|text| text.lines().last().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    for person in &people {
        let wanted: Vec<String> =
            (1..=MESSAGES).map(|number| format!("hello {number} from {}", person.id)).collect();
        eventually("everything that a person wrote is in the log", || {
            heard(person).len() == MESSAGES
        });
        assert_eq!(heard(person), wanted);
    }
    for person in &people {
        telegram.wait_for_text(person.id, "Hello");
    }
    telegram.wait_all_confirmed();
    drop(gateway);
}

/// A login or a service usually gives 1,024, which 300 turns in hand use up.
#[cfg(target_os = "linux")]
#[test]
fn the_gateway_may_open_more_files_than_it_was_given_at_first() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(1_024), ..before }).unwrap();
    let telegram = BotApi::start();
    let house = House::new().with_bot(&telegram.token(), telegram.url(), "1");
    let gateway = house.start(&["gateway"]);
    setrlimit(Resource::Nofile, before).unwrap();
    telegram.wait_for_calls("getUpdates", 1);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", gateway.id())).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let soft: u64 = line.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert_eq!(soft, before.maximum.map_or(16_384, |hard| hard.min(16_384)), "{line}");
}
