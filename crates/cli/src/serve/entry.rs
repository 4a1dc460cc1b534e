//! What claw's entry in a client's configuration says: which program, with which words, for which
//! home. Must not know any client's file.

use std::path::Path;

use serde_json::Value;

/// The name of the entry.
pub const NAME: &str = "claw";

/// An entry, before it takes the shape of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The whole path: programs of a desktop have another `PATH` than a shell.
    pub program: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
}

impl Entry {
    /// `home` is the one that this environment sets, if it sets one: a client does not know it.
    pub fn new(program: &str, agent: Option<&str>, home: Option<&Path>, words: &[String]) -> Self {
        let agent = agent.into_iter().flat_map(|agent| ["--agent".to_owned(), agent.to_owned()]);
        let args = agent.chain(["serve".to_owned()]).chain(words.iter().cloned()).collect();
        let home = home.map(|home| ("CLAW_HOME".to_owned(), home.display().to_string()));
        Self { program: program.to_owned(), args, env: home.into_iter().collect() }
    }
}

/// An entry as a person reads it, a line each. What it puts into an environment may be a secret,
/// and is not shown; `CLAW_HOME` is none.
pub fn lines(entry: &Value) -> Vec<String> {
    let mut shown = entry.clone();
    if let Some(env) = shown.get_mut("env").and_then(Value::as_object_mut) {
        for (_, value) in env.iter_mut().filter(|(name, _)| *name != "CLAW_HOME") {
            *value = Value::from("(not shown)");
        }
    }
    // A header may hold a token.
    for key in ["headers", "http_headers"] {
        if let Some(headers) = shown.get_mut(key) {
            *headers = Value::from("(not shown)");
        }
    }
    let text = serde_json::to_string_pretty(&shown).unwrap_or_else(|_| shown.to_string());
    text.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_in_an_environment_is_not_shown() {
        let entry = json!({
            "command": "x", "env": {"API_KEY": "sk-1", "CLAW_HOME": "/h"},
            "headers": {"Authorization": "Bearer sk-2"},
        });
        let text = lines(&entry).join("\n");
        assert!(!text.contains("sk-") && text.contains("API_KEY") && text.contains("/h"), "{text}");
    }

    #[test]
    fn the_agent_stands_before_the_command() {
        let words = ["--client".to_owned(), "zed".to_owned()];
        let entry = Entry::new("/bin/claw", Some("work"), None, &words);
        assert_eq!(entry.args, ["--agent", "work", "serve", "--client", "zed"]);
        assert!(entry.env.is_empty());
    }
}
