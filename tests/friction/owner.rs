//! An owner who takes the broadest answer that a question offers. Must not know what is asked for.

use serde_json::Value;

/// The command line that answers this question with the broadest yes among its choices.
pub fn broadest(question: &Value) -> Vec<String> {
    let choices = question["choices"].as_array().unwrap();
    let best = choices.iter().max_by_key(|choice| breadth(&choice["answer"])).unwrap();
    let answer = &best["answer"];
    assert_eq!(answer["kind"], "allow", "no yes is offered: {question}");
    let mut words = vec!["approve".to_owned(), question["id"].as_str().unwrap().to_owned()];
    if let Some(mode) = answer["scope"]["mode"].as_str() {
        words.extend(["--mode".to_owned(), mode.to_owned()]);
        return words;
    }
    match answer["term"].as_str().unwrap() {
        "once" => return words,
        "ten_minutes" => words.extend(["--for".to_owned(), "10m".to_owned()]),
        term => words.extend(["--for".to_owned(), term.to_owned()]),
    }
    let scope = &answer["scope"];
    match scope["kind"].as_str().unwrap() {
        "below" => words.extend(["--below".to_owned(), scope["path"].as_str().unwrap().to_owned()]),
        "files" => {
            let path = scope["path"].as_str().unwrap();
            let path = if path.is_empty() { "." } else { path };
            words.extend(["--edits-below".to_owned(), path.to_owned()]);
        }
        "hosts" => {
            let named: Vec<&str> =
                scope["hosts"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            words.extend(["--hosts".to_owned(), named.join(",")]);
        }
        "command" => {
            let named: Vec<&str> =
                scope["words"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            words.extend(["--command".to_owned(), named.join(" ")]);
        }
        _ => {}
    }
    words
}

/// What covers more is more; among equals what lasts longer.
fn breadth(answer: &Value) -> (u8, i64, u8) {
    if answer["kind"] != "allow" {
        return (0, 0, 0);
    }
    let scope = &answer["scope"];
    let width = match scope["kind"].as_str().unwrap_or_default() {
        "exact" => 1,
        "command" => 2,
        "below" => 3,
        "hosts" => 4,
        "files" => 5,
        // A mode: all tools of a kind, and `work` more than `edits`.
        _ if scope["mode"] == "edits" => 6,
        _ => 7,
    };
    // The nearer to the workspace's root, the broader.
    let depth = scope["path"].as_str().map_or(0, |path| path.split_terminator('/').count());
    let term = match answer["term"].as_str().unwrap_or_default() {
        "once" => 0,
        "ten_minutes" => 1,
        "session" => 2,
        _ => 3,
    };
    (width, -i64::try_from(depth).unwrap(), term)
}
