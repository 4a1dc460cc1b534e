//! What entries of other files become, and that nothing of them goes without a word.

use serde_json::json;

use super::*;

fn one(entry: Value) -> ImportedHeartbeat {
    let text = json!([entry]).to_string();
    let [one] = import_heartbeats(&text, "", &TimeZone::UTC).unwrap().try_into().unwrap();
    one
}

#[track_caller]
fn entry(fields: Value) -> String {
    let mut entry = json!({"name": "a", "prompt": "Look."});
    entry.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let one = one(entry);
    assert_eq!(one.left_out, Vec::<String>::new());
    one.entry.unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn times_of_other_programs_are_times_here() {
    for (fields, expected) in [
        (
            json!({"cron": "30 7 * * 1-5"}),
            "at = [\"07:30\"]\ndays = [\"mon\", \"tue\", \"wed\", \"thu\", \"fri\"]\n",
        ),
        (json!({"schedule": "0 9,18 * * SUN"}), "at = [\"09:00\", \"18:00\"]\ndays = [\"sun\"]\n"),
        (json!({"schedule": "*/15 9-17 * * *"}), "active = \"09:00-18:00\"\nevery = \"15m\"\n"),
        (json!({"cron": "*/30 * * * 0-7"}), "every = \"30m\"\n"),
        (json!({"cron": "0 */6 * * *"}), "at = [\"00:00\", \"06:00\", \"12:00\", \"18:00\"]\n"),
        (json!({"schedule": "every 30m"}), "every = \"30m\"\n"),
        (json!({"schedule": "@hourly"}), "every = \"60m\"\n"),
        (json!({"schedule": {"kind": "every", "everyMs": 1_800_000}}), "every = \"30m\"\n"),
        (
            json!({"every": "2h", "active": "08:00-22:00"}),
            "active = \"08:00-22:00\"\nevery = \"120m\"\n",
        ),
        (json!({"interval_minutes": 45, "chat_id": "-100"}), "chat = -100\nevery = \"45m\"\n"),
        (
            json!({"times": ["7:30", "18:00"], "days": ["Monday"]}),
            "at = [\"07:30\", \"18:00\"]\ndays = [\"mon\"]\n",
        ),
    ] {
        let found = entry(fields.clone());
        let (head, rest) = found.split_once('\n').unwrap();
        assert_eq!(head, "[a]");
        let rest: String = rest
            .lines()
            .filter(|line| !line.starts_with("prompt"))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(rest, expected, "{fields}");
    }
    let zoned =
        entry(json!({"schedule": {"kind": "cron", "expr": "0 9 * * *", "tz": "Europe/Berlin"}}));
    assert!(zoned.contains("zone = \"Europe/Berlin\"\n"), "{zoned}");
}

#[test]
fn a_list_and_a_map_are_read_and_what_openclaw_writes() {
    let map = json!({"Morning brief!": {"cron": "0 8 * * *", "prompt": "Say\n\"hi\"."}});
    let of = |text: Value| import_heartbeats(&text.to_string(), "", &TimeZone::UTC).unwrap();
    let read = of(map.clone());
    assert_eq!(read[0].name, "Morning brief!");
    let entry = read[0].entry.clone().unwrap();
    assert!(entry.starts_with("[morning-brief]\nat = [\"08:00\"]\n"), "{entry}");
    let [heartbeat] = parse(&entry, &TimeZone::UTC).unwrap().try_into().unwrap();
    assert_eq!(heartbeat.prompt, "Say\n\"hi\".");
    assert_eq!(of(json!({"heartbeats": map})), read);
    let job = json!({
        "id": "4f", "name": "brief", "enabled": true, "createdAtMs": 1,
        "schedule": {"kind": "cron", "expr": "0 8 * * *"},
        "payload": {"kind": "agentTurn", "message": "Brief me."},
        "sessionTarget": "isolated", "state": {"nextRunAtMs": 1},
    });
    let read = of(json!({"version": 1, "jobs": [job]}));
    assert!(read[0].entry.clone().unwrap().contains("prompt = \"Brief me.\""));
    assert_eq!(read[0].left_out, ["`sessionTarget` has no counterpart here"]);
}

#[test]
fn what_cannot_be_a_heartbeat_is_named_with_the_reason() {
    for (fields, why) in [
        (json!({"cron": "0 9 1 * *"}), "days of the month"),
        (json!({"cron": "0 0 9 * * *"}), "has 6 fields"),
        (json!({"cron": "0 9 * * 1#2"}), "`1#2` of its pattern"),
        (json!({"cron": "*/7 * * * *"}), "216 times a day"),
        (json!({"schedule": {"kind": "at", "at": "2026-12-24T09:00:00Z"}}), "comes once is a job"),
        (json!({"every": "30s"}), "its interval is 30 s"),
        (json!({"every": "1h", "cron": "0 9 * * *"}), "twice when"),
        (json!({}), "says no time"),
        (json!({"every": "1h", "enabled": false}), "switched off there"),
        (json!({"every": "1h", "prompt": null}), "no prompt"),
        (json!({"every": "1h", "name": "…"}), "no name"),
        (json!({"every": "1h", "zone": "Nowhere"}), "no zone `Nowhere`"),
        (json!({"every": "1h", "days": ["someday"]}), "is not a value here"),
    ] {
        let mut entry = json!({"name": "a", "prompt": "Look."});
        entry.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let said = one(entry).entry.unwrap_err();
        assert!(said.contains(why), "{fields}: {said}");
    }
    for (text, why) in [("{", "no JSON"), ("[]", "no heartbeats"), ("{\"a\": 1}", "no heartbeats")]
    {
        let said = import_heartbeats(text, "", &TimeZone::UTC).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn nothing_that_is_there_is_replaced_and_the_whole_is_in_force() {
    let existing = "# mine\n[a]\nevery = \"1h\"\nprompt = \"x\"\n";
    let text = json!([
        {"name": "a", "every": "2h", "prompt": "y"}, {"name": "b", "every": "2h", "prompt": "y"},
        {"name": "B", "every": "2h", "prompt": "z"},
    ]);
    let read = import_heartbeats(&text.to_string(), existing, &TimeZone::UTC).unwrap();
    for again in [&read[0], &read[2]] {
        assert!(again.entry.clone().unwrap_err().contains("already"), "{again:?}");
    }
    let new = [read[1].entry.clone().unwrap()];
    let whole = with_heartbeats(existing, &new, &TimeZone::UTC).unwrap();
    assert!(whole.starts_with(existing), "{whole}");
    assert_eq!(parse(&whole, &TimeZone::UTC).unwrap().len(), 2);
    assert!(with_heartbeats("[a\n", &new, &TimeZone::UTC).is_err());
}
