//! What a change of a client's file keeps, and what is refused.

use serde_json::json;

use super::*;

fn entry() -> Value {
    json!({"command": "/bin/claw", "args": ["serve", "--client", "zed"]})
}

fn edited(format: Format, text: &str) -> Edit {
    edit(format, text, "mcpServers", &entry()).unwrap()
}

#[test]
fn comments_and_all_that_others_wrote_stay_byte_for_byte() {
    let before = "// mine\n{\n\t\"theme\": \"dark\", /* kept */\n\t\"mcpServers\": {\n\t\t\"other\": \
        {\"command\": \"o\", \"args\": [1, 2,],}, // last\n\t},\n\t\"big\": 1e400,\n}\n";
    let done = edited(Format::Json, before);
    assert_eq!(done.before, None);
    for line in before.lines() {
        assert!(done.text.contains(line.trim()), "{line:?} is gone from\n{}", done.text);
    }
    assert!(done.text.contains("\"claw\""), "{}", done.text);
    // The same once more changes nothing.
    let again = edited(Format::Json, &done.text);
    assert_eq!((again.before, again.text), (Some(entry()), done.text));
}

#[test]
fn a_file_of_toml_keeps_its_comments_and_tables() {
    let before = "# mine\nmodel = \"x\" # kept\n\n[mcp_servers.other]\ncommand = \"o\"\n\n\
        [projects.\"/a\"]\ntrust_level = \"trusted\"\n";
    let done = edit(Format::Toml, before, "mcp_servers", &entry()).unwrap();
    assert!(done.text.starts_with("# mine\nmodel = \"x\" # kept\n"), "{}", done.text);
    assert!(done.text.contains("[mcp_servers.claw]\ncommand = \"/bin/claw\"\n"), "{}", done.text);
    assert!(done.text.contains("[projects.\"/a\"]\ntrust_level = \"trusted\"\n"), "{}", done.text);
    let again = edit(Format::Toml, &done.text, "mcp_servers", &entry()).unwrap();
    assert_eq!((again.before, again.text), (Some(entry()), done.text));
}

#[test]
fn an_entry_of_toml_is_replaced_where_it_stands_and_its_lines_end_as_the_others() {
    for list in [
        "# a\n[mcp_servers.claw] # ours\ncommand = \"old\"\n\n[z]\nlast = 1 # b\n",
        "mcp_servers.claw.command = \"old\"\nfirst = 1 # b\n",
        "mcp_servers = { claw = { command = \"old\" } } # b\n[z]\nlast = 1\n",
        "mcp_servers = {} # b\n",
        "mcp_servers.other.command = \"o\" # b\n[z]\nlast = 1\n",
    ] {
        for before in [list.to_owned(), list.replace('\n', "\r\n")] {
            let done = edit(Format::Toml, &before, "mcp_servers", &entry()).unwrap();
            assert!(done.text.contains("# b") && !done.text.contains("old"), "{}", done.text);
            let returns = done.text.matches("\r\n").count();
            let wanted = if before.contains('\r') { done.text.matches('\n').count() } else { 0 };
            assert_eq!(returns, wanted, "{:?}", done.text);
        }
    }
}

#[test]
fn an_entry_with_other_words_is_given_back_whole() {
    let json_text = r#"{"mcpServers": {"claw": {"command": "old", "env": {"K": "v"}}}}"#;
    let done = edited(Format::Json, json_text);
    assert_eq!(done.before, Some(json!({"command": "old", "env": {"K": "v"}})));
    assert!(!done.text.contains("old"), "{}", done.text);
    let toml_text = "[mcp_servers]\nclaw = { command = \"old\", args = [\"a\"], on = true }\n";
    let done = edit(Format::Toml, toml_text, "mcp_servers", &entry()).unwrap();
    assert_eq!(done.before, Some(json!({"command": "old", "args": ["a"], "on": true})));
}

#[test]
fn what_is_empty_becomes_a_whole_file() {
    for empty in ["", " \n"] {
        let done = edited(Format::Json, empty);
        let read: Value = serde_json::from_str(&done.text).unwrap();
        assert_eq!(read, json!({"mcpServers": {"claw": entry()}}));
    }
    let done = edit(Format::Toml, "", "mcp_servers", &entry()).unwrap();
    assert!(done.text.starts_with("[mcp_servers.claw]\n"), "{}", done.text);
}

#[test]
fn what_is_broken_or_means_something_else_is_refused() {
    for (text, why) in [
        ("{\"mcpServers\": {", "not JSON"),
        ("[]", "no JSON object"),
        ("{\"mcpServers\": []}", "`mcpServers` is no JSON object"),
        ("{\"mcpServers\": {}, \"mcpServers\": {}}", "twice"),
        ("{\"mcpServers\": {\"claw\": {}, \"claw\": {}}}", "twice"),
    ] {
        let said = edit(Format::Json, text, "mcpServers", &entry()).unwrap_err();
        assert!(said.contains(why), "{text}: {said}");
    }
    for (text, why) in [("[mcp_servers", "not TOML"), ("mcp_servers = 1", "no table")] {
        let said = edit(Format::Toml, text, "mcp_servers", &entry()).unwrap_err();
        assert!(said.contains(why), "{text}: {said}");
    }
}
