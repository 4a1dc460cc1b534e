//! What is understood behind `/remind`, and what is said where it is not.

use serde_json::{Value, json};

use super::*;

fn fields(words: &str) -> Value {
    let read = read(words).unwrap_or_else(|why| panic!("{words}: {why}"));
    assert_eq!(read.text, "call mum", "{words}");
    Value::Object(read.fields)
}

#[test]
fn a_time_fills_the_fields_of_the_scheduler() {
    for (when, wanted) in [
        ("20m", json!({"in_minutes": 20})),
        ("in 20 minutes", json!({"in_minutes": 20})),
        ("20 min", json!({"in_minutes": 20})),
        ("10s", json!({"in_seconds": 10})),
        ("in 90 seconds", json!({"in_seconds": 90})),
        ("1h30m", json!({"in_minutes": 90})),
        ("2H", json!({"in_minutes": 120})),
        ("in an hour", json!({"in_minutes": 60})),
        ("in 1 hour 30 minutes", json!({"in_minutes": 90})),
        ("in 2 hours and 30 minutes", json!({"in_minutes": 150})),
        ("an hour and 10 min", json!({"in_minutes": 70})),
        ("1h, 5m, 3s", json!({"in_seconds": 3_903})),
        ("9:00", json!({"at_local": "09:00"})),
        ("at 21:05", json!({"at_local": "21:05"})),
        ("9am", json!({"at_local": "09:00"})),
        ("9 pm", json!({"at_local": "21:00"})),
        ("9:30PM", json!({"at_local": "21:30"})),
        ("12am", json!({"at_local": "00:00"})),
        ("12pm", json!({"at_local": "12:00"})),
        ("noon", json!({"at_local": "12:00"})),
        ("tomorrow 9:00", json!({"at_local": "09:00", "date": "tomorrow"})),
        ("tomorrow at 9am", json!({"at_local": "09:00", "date": "tomorrow"})),
        ("9:00 tomorrow", json!({"at_local": "09:00", "date": "tomorrow"})),
        ("9:00 Sunday", json!({"at_local": "09:00", "weekday": "sunday"})),
        ("9am on sun", json!({"at_local": "09:00", "weekday": "sunday"})),
        ("9:00 on 2026-12-24", json!({"at_local": "09:00", "date": "2026-12-24"})),
        ("today, 23:00", json!({"at_local": "23:00", "date": "today"})),
        ("monday 09:00", json!({"at_local": "09:00", "weekday": "monday"})),
        ("on Fri 9:00", json!({"at_local": "09:00", "weekday": "friday"})),
        ("2026-12-24 18:00", json!({"at_local": "18:00", "date": "2026-12-24"})),
        ("every monday 9:00", json!({"cron": "0 9 * * 1"})),
        ("every monday and thursday at 9:30", json!({"cron": "30 9 * * 1,4"})),
        ("every sun, sat 9pm", json!({"cron": "0 21 * * 0,6"})),
        ("every day 7:05", json!({"cron": "5 7 * * *"})),
        ("each weekday at 8:00", json!({"cron": "0 8 * * 1-5"})),
        ("every 2h", json!({"every": "2h"})),
        ("every hour", json!({"every": "1h"})),
        ("every 1 hour 30 minutes", json!({"every": "90m"})),
        ("every 90 minutes", json!({"every": "90m"})),
    ] {
        assert_eq!(fields(&format!("{when} call mum")), wanted, "{when}");
        assert_eq!(fields(&format!("me {when} to call mum")), wanted, "{when}");
    }
}

#[test]
fn the_words_stay_as_they_were_typed() {
    let read = read("20m  Call Mum, to  say\t“hi” at 9:00").unwrap();
    assert_eq!(read.text, "Call Mum, to  say\t“hi” at 9:00");
    assert_eq!(super::read("9:00 monday's list").unwrap().text, "monday's list");
    assert_eq!(super::read("20m m").unwrap().text, "m");
    for (words, when, text) in [
        ("9:00 sun cream", json!({"at_local": "09:00"}), "sun cream"),
        ("9:00 Sat nav update", json!({"at_local": "09:00"}), "Sat nav update"),
        ("9:00 on the train", json!({"at_local": "09:00"}), "on the train"),
        ("9:00 and then call mum", json!({"at_local": "09:00"}), "and then call mum"),
        ("every day 9:00 and monday too", json!({"cron": "0 9 * * *"}), "and monday too"),
        ("20m and 5 pills", json!({"in_minutes": 20}), "and 5 pills"),
        ("20m 30 minutes of yoga", json!({"in_minutes": 20}), "30 minutes of yoga"),
        ("20m a second coffee", json!({"in_minutes": 20}), "a second coffee"),
        ("every hour 5 minutes of yoga", json!({"every": "1h"}), "5 minutes of yoga"),
    ] {
        let read = super::read(words).unwrap();
        assert_eq!((Value::Object(read.fields), read.text.as_str()), (when, text), "{words}");
    }
}

#[test]
fn what_is_not_understood_is_one_sentence_with_an_example() {
    for (words, needle) in [
        ("", "When?"),
        ("call mum", "`call` is no time"),
        ("20 call mum", "`20` is no time"),
        ("9 call mum", "`9` is no time"),
        ("25:00 call mum", "`25:00` is no time"),
        ("9:5 call mum", "`9:5` is no time"),
        ("13pm call mum", "`13pm` is no time"),
        ("0m call mum", "`0m` is no time"),
        ("99999999999999999999999m call mum", "is no time"),
        ("20m", "What shall I say"),
        ("tomorrow 9:00 to", "What shall I say"),
        ("tomorrow call mum", "At what time? For example `/remind tomorrow 9:00"),
        ("monday", "At what time? For example `/remind monday 9:00"),
        ("2d call mum", "tomorrow 9:00"),
        ("in 2 days call mum", "tomorrow 9:00"),
        ("in call mum", "In how long?"),
        ("on call mum", "On which day?"),
        ("every call mum", "Every what?"),
        ("every month 9:00 call mum", "Every what?"),
        ("every 2 days call mum", "Which days?"),
        ("every monday call mum", "At what time?"),
        ("every day 9:00 and 21:00 pills", "here are two"),
        ("9:00 and at 9 pm pills", "here are two"),
        ("9:00 tomorrow and 21:00 pills", "here are two"),
        ("every mon 9:00 and on thu 9:30 pills", "here are two"),
        ("in 2 hours and 3 days pills", "tomorrow 9:00"),
        ("ein ünïcode", "`ein` is no time"),
        ("é", "`é` is no time"),
    ] {
        let why = read(words).unwrap_err();
        assert!(why.contains(needle), "{words}: {why}");
        assert!(why.contains("/remind "), "{words}: {why}");
    }
}

#[test]
fn a_wait_alone_is_read_for_the_command_line() {
    assert_eq!(wait_s("20m"), Ok(1_200));
    assert_eq!(wait_s(" 1h30m "), Ok(5_400));
    assert!(wait_s("2d").unwrap_err().contains("date"));
    assert!(wait_s("soon").unwrap_err().contains("20m"));
    assert!(wait_s("").is_err());
    assert_eq!(
        (interval(7_200), interval(5_400), interval(90)),
        ("2h".into(), "90m".into(), "90s".into())
    );
}
