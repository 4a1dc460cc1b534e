//! The manual in the terminal: each page of `docs/` for users is a topic of `claw help`, each topic
//! is a page, and each reads in a narrow terminal. What `docs/troubleshooting.md` quotes is what
//! the program says. Must not know what else a page says.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::collections::BTreeSet;
use std::fs;

use claw_test_kit::{page, root};

use crate::pages::DEVELOPERS;
use crate::program::House;
use crate::pty::Pty;

/// The pages of `docs/` that are for users, by name.
fn written() -> BTreeSet<String> {
    let files = fs::read_dir(root().join("docs")).unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages = names.filter_map(|name| name.strip_suffix(".md").map(str::to_owned));
    pages.filter(|name| !DEVELOPERS.contains(&name.as_str())).collect()
}

/// The topics, as they are named to whoever asks for one that is not there.
fn topics(house: &House) -> BTreeSet<String> {
    let refused = house.claw(&["help", "no-such-topic"]).expect(2).err;
    let (_, list) = refused.split_once("the pages are ").unwrap();
    list.trim().trim_end_matches('.').split(", ").map(str::to_owned).collect()
}

#[test]
fn every_page_for_users_is_a_topic_and_every_topic_is_a_page() {
    let house = House::bare();
    assert_eq!(topics(&house), written());
    let help = house.claw(&["help"]).expect(0).out;
    for topic in written() {
        assert!(help.contains(&topic), "`claw help` does not name {topic}");
        let shown = house.claw(&["help", &topic]).expect(0).out;
        let title = page(&format!("docs/{topic}.md")).lines().next().unwrap().to_owned();
        assert!(title.starts_with("# ") && shown.starts_with(&title), "{topic}: {shown}");
        assert!(!shown.contains(".svg"), "a picture is nothing for a terminal");
    }
    assert!(!house.home().exists(), "help makes no home");
}

#[test]
fn help_goes_on_to_name_what_a_command_takes() {
    let house = House::bare();
    let page = house.claw(&["help", "memory"]).expect(0);
    assert!(page.out.starts_with("# Memory"), "{page:?}");
    assert!(page.err.contains("claw memory --help"), "{page:?}");
    let words = house.claw(&["help", "memory", "add"]).expect(0).out;
    assert!(words.contains("--always"), "{words}");
    house.claw(&["help", "telegram"]).expect(0);
}

#[test]
fn the_manual_fits_into_narrow_terminals() {
    let house = House::bare();
    let file = regex::Regex::new(r"\([a-z-]+\.md").unwrap();
    for topic in written() {
        for columns in [40_u16, 80] {
            let shown = Pty::sized(&house, &["help", &topic], 24, columns).ends(0);
            let wide = crate::narrow::too_wide(&shown, columns);
            assert!(wide.is_empty(), "{topic} at {columns}: {wide:#?}");
            assert!(!shown.contains("**"), "{topic}: it is not painted");
            assert!(!file.is_match(&shown), "{topic}: a link leads to a page by its file");
        }
    }
}

/// All source texts of the product, with strings that go on in the next line joined.
fn sources() -> String {
    let goes_on = regex::Regex::new(r"\\\n\s*").unwrap();
    let mut all = String::new();
    let mut folders: Vec<_> =
        ["src", "crates", "doors", "mcp-servers"].iter().map(|name| root().join(name)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                all.push_str(&goes_on.replace_all(&fs::read_to_string(path).unwrap(), ""));
            }
        }
    }
    all
}

#[test]
fn what_the_page_of_messages_quotes_is_what_the_program_says() {
    let sources = sources();
    let quoted = regex::Regex::new(r"(?m)^\| `([^`]+)` \|").unwrap();
    let text = page("docs/troubleshooting.md");
    let messages: Vec<&str> =
        quoted.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()).collect();
    assert!(messages.len() > 30, "{messages:?}");
    let gone: Vec<&&str> = messages.iter().filter(|words| !sources.contains(**words)).collect();
    assert!(gone.is_empty(), "no message says so: {gone:#?}");
}

/// The program brings the manual itself; a package has no folder `docs`.
#[test]
fn no_sentence_sends_anybody_to_a_file_of_the_repository() {
    let mut said = crate::variables_named::texts();
    for file in ["heartbeats.toml", "mcp.json", "SOUL.md"] {
        said.push((file.into(), fs::read_to_string(root().join(file)).unwrap()));
    }
    let names_one = |text: &str| text.contains("docs/") && text.contains(".md");
    said.retain(|(_, text)| text.contains(char::is_whitespace) && names_one(text));
    assert!(said.is_empty(), "say `claw help TOPIC` in these: {said:#?}");
}
