//! What may stand in `heartbeats.toml`, and what is said of what may not.

use jiff::civil::{Weekday, time};

use super::*;

fn read(text: &str) -> Vec<Heartbeat> {
    parse(text, &TimeZone::UTC).unwrap()
}

fn said(text: &str) -> String {
    parse(text, &TimeZone::UTC).unwrap_err().to_string()
}

#[test]
fn the_file_of_a_new_home_has_no_entry_until_its_marks_are_taken_out() {
    assert!(read(DEFAULT_HEARTBEATS_TOML).is_empty());
    let lines = DEFAULT_HEARTBEATS_TOML.lines();
    let entry = lines.skip_while(|line| !line.starts_with("# ["));
    let entry: String =
        entry.map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(""))).collect();
    let heartbeats = read(&entry);
    assert_eq!(heartbeats.len(), 1);
    assert_eq!(heartbeats[0].name, "morning");
    assert_eq!(heartbeats[0].times, HeartbeatTimes::At(vec![time(7, 30, 0, 0)]));
}

#[test]
fn an_entry_means_what_it_says() {
    let text = "[in-box]\nevery = \"2h\"\ndays = [\"mon\", \"friday\"]\nprompt = \" Look. \"\n\
        active = \"22:00-06:00\"\nzone = \"Europe/Berlin\"\nchat = -100\nrequests_day_max = 3\n\
        check = { tool = \"mail/list\", arguments = { folder = \"in\", n = 3 } }\n";
    let [heartbeat] = read(text).try_into().unwrap();
    assert_eq!(heartbeat.times, HeartbeatTimes::EveryMinutes(120));
    assert_eq!(heartbeat.days, [Weekday::Monday, Weekday::Friday]);
    assert_eq!(heartbeat.active, Some((time(22, 0, 0, 0), time(6, 0, 0, 0))));
    assert_eq!(heartbeat.zone.iana_name(), Some("Europe/Berlin"));
    assert_eq!((heartbeat.prompt.as_str(), heartbeat.chat), ("Look.", Some(-100)));
    assert_eq!(heartbeat.budget, HeartbeatBudget { requests_day_max: 3, ..Default::default() });
    let Some(HeartbeatCheck::Tool { server, tool, arguments }) = heartbeat.check else { panic!() };
    assert_eq!((server.as_str(), tool.as_str()), ("mail", "list"));
    assert_eq!(Value::Object(arguments), serde_json::json!({"folder": "in", "n": 3}));
    // Whatever is changed makes it another one, and what is not leaves it.
    assert_eq!(read(&format!("# words\n{text}"))[0].revision, heartbeat.revision);
    assert_ne!(read(&text.replace("n = 3", "n = 4"))[0].revision, heartbeat.revision);
}

#[test]
fn what_is_wrong_is_one_sentence_with_its_line_and_a_next_step() {
    let entry = "[a]\nprompt = \"x\"\nat = [\"07:30\"]\n";
    for (text, expected) in [
        ("\n[a]\nprompt = \"x\"\n", "heartbeats.toml:2: `[a]`: say when by exactly one of"),
        ("[a]\nprompt = \"x\"\nat = [\"7:30\"]\n", ":1: `[a]`: `7:30` is no time of the day"),
        ("[a]\nprompt = \"x\"\nat = [\"24:00\"]\n", "`24:00` is no time of the day"),
        ("[a]\nprompt = \"x\"\nevery = \"30s\"\n", "`every = \"30s\"` is none of"),
        ("[a]\nprompt = \"x\"\nevery = \"25h\"\n", "`every = \"25h\"` is none of"),
        ("[a]\nprompt = \"\"\nevery = \"1h\"\n", "`prompt` must have"),
        (&format!("{entry}every = \"1h\"\n"), "exactly one of"),
        (
            &format!("{entry}atcive = \"1\"\n"),
            ":4: `atcive` is not a key here; did you mean `active`",
        ),
        (&format!("{entry}active = \"08:00\"\n"), "is no span"),
        (&format!("{entry}active = \"08:00-08:00\"\n"), "is empty"),
        (&format!("{entry}days = [\"mo\"]\n"), ":4: `mo` is not a value here"),
        (&format!("{entry}days = []\n"), "names no day"),
        (&format!("{entry}zone = \"Nowhere\"\n"), "there is no zone `Nowhere`"),
        (&format!("{entry}requests_day_max = 0\n"), "a budget of 0"),
        (&format!("{entry}check = {{ tool = \"mail\" }}\n"), "written as `SERVER/TOOL`"),
        (&format!("{entry}check = {{ }}\n"), "takes either"),
        (&entry.replace("[a]", "[\"A b\"]"), ":1: `[A b]` is no name of a heartbeat"),
    ] {
        let said = said(text);
        assert!(said.contains(expected), "{text}\n{said}");
        assert!(said.ends_with("`claw help heartbeats` shows how an entry is written."), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_day_ends_at_midnight_of_its_zone_also_when_it_is_short() {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    for (at, end) in [
        ("2026-03-29T12:00:00+02:00", "2026-03-30T00:00:00+02:00"),
        ("2026-10-25T00:30:00+02:00", "2026-10-26T00:00:00+01:00"),
    ] {
        let at: Timestamp = at.parse().unwrap();
        assert_eq!(end_of_day(at, &zone), end.parse::<Timestamp>().unwrap());
    }
}
