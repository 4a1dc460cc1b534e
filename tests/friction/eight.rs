//! "Eight things to ask it" of the README: each is done in a new home by a model that does what its
//! words ask for, and the taps are counted. Must not know how a question is worded.

use claw_test_kit::page;
use serde_json::{Value, json};

use super::person::{Person, Says};
use super::seeds;

/// Words of a row of the README, and the calls of the model for it, reply by reply.
type Thing = (&'static str, Vec<Vec<(&'static str, Value)>>);

fn things() -> Vec<Thing> {
    let run =
        |command: &str, needs: &str| ("bash__run", json!({"command": command, "needs": needs}));
    let edit = json!({
        "path": "src/shop/price.py",
        "edits": [{"old_text": "return float(text)", "new_text": "return float(text.replace(',', '.'))"}],
    });
    let moves = (1..=12).map(|n| {
        let (from, to) = (format!("scans/{n}.txt"), format!("scans/{}/{n}.txt", 2014 + n));
        ("filesystem__move", json!({"source": from, "destination": to}))
    });
    let push = json!({"command": "git push origin main", "needs": "network", "hosts": ["git.example.org"]});
    let later = (1..=10).map(|n| {
        vec![("filesystem__write_file", json!({"path": format!("notes/{n}.md"), "content": "x"}))]
    });
    let mut mend = vec![
        vec![("filesystem__edit_file", edit)],
        vec![run("python3 -m unittest || true", "write")],
    ];
    mend.extend(later);
    vec![
        (
            "Who still calls `parse_price`",
            vec![vec![run("grep -rn parse_price . | wc -l", "read")]],
        ),
        ("Mend the comma in prices", mend),
        ("Push", vec![vec![("bash__run", push)]]),
        ("Sort these twelve scans", vec![moves.collect()]),
        (
            "Remember that Anna lives in Graz",
            vec![vec![(
                "memory__propose",
                json!({"subject": "Anna", "text": "Anna lives in Graz"}),
            )]],
        ),
        (
            "Remind me in an hour to call Ben",
            vec![vec![("scheduler__schedule", json!({"in_minutes": 60, "say": "call Ben"}))]],
        ),
        (
            "Look at the build every morning",
            vec![vec![(
                "scheduler__schedule",
                json!({"cron": "0 8 * * *", "text": "Look at the build; say if it is red."}),
            )]],
        ),
    ]
}

/// The rows of the README: what is said, and how many taps it says that this takes.
fn rows() -> Vec<(String, usize)> {
    let readme = page("README.md");
    let (_, table) = readme.split_once("## Eight things to ask it").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let row = regex::Regex::new(r#"(?m)^\| "([^|]*) \| (\d+)[ :]"#).unwrap();
    row.captures_iter(table).map(|row| (row[1].to_owned(), row[2].parse().unwrap())).collect()
}

/// Taps that something takes in a new home, what is staged included.
fn taps(says: &str, steps: &[Vec<(&str, Value)>]) -> usize {
    let mut person = Person::new();
    person.has(seeds::PROJECT);
    for n in 1..=12 {
        person.house.write(&format!("workspace/scans/{n}.txt"), "a scan");
    }
    let asked = person.asks(says, steps, Says::TheBroadestYes).questions;
    let staged = person.house.claw(&["approvals", "--json"]).expect(0).rows().len();
    person.provider_refused_nothing();
    asked + staged
}

#[test]
fn the_readme_says_how_many_taps_each_of_eight_things_takes() {
    let rows = rows();
    assert_eq!(rows.len(), 8, "{rows:?}");
    if !Person::new().house.holds_every_level() {
        return;
    }
    for (words, steps) in things() {
        let (said, promised) = rows.iter().find(|(said, _)| said.starts_with(words)).unwrap();
        assert_eq!(taps(said, &steps), *promised, "{said}");
    }
    let (said, promised) = rows.last().unwrap();
    assert!(said.contains("`claw undo`"), "{said}");
    // It is a command: shown, then done after one yes.
    let mut person = Person::new();
    let write = json!({"path": "a.txt", "content": "x"});
    person.asks("Write it", &[vec![("filesystem__write_file", write)]], Says::TheBroadestYes);
    person.house.claw(&["undo"]).expect(3);
    person.house.claw(&["undo", "--yes"]).expect(0);
    assert!(!person.house.workspace().join("a.txt").exists());
    assert_eq!(*promised, 1);
}
