//! One rule of `policy.toml`, compiled: which calls it speaks about and what it decides. Must not
//! know the other rules, classes or grants.

pub(super) mod file;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::classes::NameGlob;
use claw_domain::{Origin, canonical::canonical_json};

/// The longest regular expression of a rule, in bytes.
pub(super) const PATTERN_BYTES_MAX: usize = 4096;
/// The most memory that one compiled expression may take, in bytes. Matching itself is linear in
/// the value's length.
const PATTERN_COMPILED_BYTES_MAX: usize = 256 * 1024;

/// What a rule decides. `Ord` follows strictness, so that the strictest of several is their `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Allow,
    Ask,
    Deny,
}

/// A compiled rule. Every condition that is there must hold.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// `policy.toml:LINE`, where LINE is the rule's first line.
    pub(super) id: String,
    pub(super) server: NameGlob,
    pub(super) tool: NameGlob,
    pub(super) args: Vec<ArgPattern>,
    pub(super) origins: Vec<Origin>,
    /// The names of the MCP clients that it speaks about; empty: whoever calls.
    pub(super) clients: Vec<NameGlob>,
    pub(super) decision: Decision,
    pub(super) why: String,
}

/// A regular expression over one whole argument.
#[derive(Clone, Debug)]
pub(super) struct ArgPattern {
    pub(super) name: String,
    pub(super) text: String,
    regex: Regex,
    /// It is of a rule that asks or denies.
    is_strict: bool,
}

impl ArgPattern {
    /// `.` crosses line breaks in rules that ask or deny, and not in rules that allow: in doubt a
    /// value falls on the stricter side. The error is half a sentence about the pattern.
    pub(super) fn new(name: &str, text: &str, decision: Decision) -> Result<Self, String> {
        if text.len() > PATTERN_BYTES_MAX {
            return Err(format!(
                "the expression for `args.{name}` is longer than {PATTERN_BYTES_MAX} bytes"
            ));
        }
        let build = |pattern: &str| {
            RegexBuilder::new(pattern)
                .dot_matches_new_line(decision != Decision::Allow)
                .size_limit(PATTERN_COMPILED_BYTES_MAX)
                .dfa_size_limit(PATTERN_COMPILED_BYTES_MAX * 4)
                .build()
        };
        let wrong = |error: regex::Error| match error {
            regex::Error::CompiledTooBig(_) => {
                format!("the expression for `args.{name}` is too large when compiled")
            }
            other => {
                let last = other
                    .to_string()
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: ")
                    .to_owned();
                format!("the expression for `args.{name}` cannot be read: {last}")
            }
        };
        // Compiled alone first: `a)|(?:b` would otherwise close our group and escape the anchors.
        build(text).map_err(wrong)?;
        let regex = build(&format!(r"\A(?:{text})\z")).map_err(wrong)?;
        let is_strict = decision != Decision::Allow;
        Ok(Self { name: name.to_owned(), text: text.to_owned(), regex, is_strict })
    }

    /// A string is matched as it is, any other value as its canonical JSON. An argument that is
    /// absent matches nothing. A rule that asks or denies looks at each text inside of a list or
    /// an object, too, and a rule about `path` at `paths`: a value is not hidden by others.
    fn is_match(&self, arguments: &Value) -> bool {
        let whole = match arguments.get(&self.name) {
            None => false,
            Some(Value::String(text)) => self.regex.is_match(text),
            Some(other) => self.regex.is_match(&canonical_json(other)),
        };
        let plural = || arguments.get(format!("{}s", self.name));
        whole
            || self.is_strict
                && (arguments.get(&self.name).into_iter().chain(plural()))
                    .any(|value| self.is_inside(value))
    }

    fn is_inside(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.regex.is_match(text),
            Value::Array(items) => items.iter().any(|item| self.is_inside(item)),
            Value::Object(map) => map.values().any(|item| self.is_inside(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

impl Rule {
    pub(super) fn is_match(
        &self,
        server: &str,
        tool: &str,
        arguments: &Value,
        (origin, client): (Origin, Option<&str>),
    ) -> bool {
        let is_meant =
            || client.is_some_and(|client| self.clients.iter().any(|name| name.is_match(client)));
        self.server.is_match(server)
            && self.tool.is_match(tool)
            && self.origins.contains(&origin)
            && (self.clients.is_empty() || is_meant())
            && self.args.iter().all(|pattern| pattern.is_match(arguments))
    }

    /// What takes part in the policy's version: everything that decides, nothing that only
    /// explains.
    pub(super) fn effective(&self) -> Value {
        let args: Vec<Value> = self.args.iter().map(|arg| json!([arg.name, arg.text])).collect();
        let origins: Vec<&str> = self.origins.iter().map(|origin| origin.as_str()).collect();
        let mut decides = json!({
            "server": self.server.text, "tool": self.tool.text, "args": args, "origins": origins,
            "decision": self.decision,
        });
        if let (Some(map), false) = (decides.as_object_mut(), self.clients.is_empty()) {
            let names = self.clients.iter().map(|name| name.text.as_str()).collect();
            map.insert("clients".to_owned(), names);
        }
        decides
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, decision: Decision, value: Value) -> bool {
        ArgPattern::new("x", pattern, decision).unwrap().is_match(&json!({"x": value}))
    }

    #[test]
    fn an_expression_covers_the_whole_value() {
        assert!(matches("ls( -l)?", Decision::Allow, json!("ls -l")));
        assert!(!matches("ls", Decision::Allow, json!("ls; rm x")));
        assert!(!matches("ls", Decision::Allow, json!("ls\n")));
        assert!(!matches("a|b", Decision::Allow, json!("ab")));
        // Leftmost-first would stop at `a` and miss the whole.
        assert!(matches("a|ab", Decision::Allow, json!("ab")));
        assert!(!matches("(?m)^ls$", Decision::Allow, json!("ls\nrm x")));
    }

    #[test]
    fn a_dot_crosses_lines_only_on_the_strict_side() {
        assert!(!matches("ls.*", Decision::Allow, json!("ls\nrm x")));
        assert!(matches(".*rm x.*", Decision::Ask, json!("ls\nrm x")));
        assert!(matches(".*rm x.*", Decision::Deny, json!("ls\nrm x")));
    }

    #[test]
    fn other_values_are_matched_as_canonical_json() {
        assert!(matches(
            r#"\{"a":\[1,true\],"b":null\}"#,
            Decision::Deny,
            json!({"b": null, "a": [1, true]})
        ));
        assert!(matches("null", Decision::Deny, json!(null)));
        assert!(!ArgPattern::new("y", ".*", Decision::Deny).unwrap().is_match(&json!({"x": 1})));
        assert!(!ArgPattern::new("y", ".*", Decision::Deny).unwrap().is_match(&json!("y")));
    }

    #[test]
    fn the_strict_side_sees_each_text_of_a_list_and_the_other_only_the_whole() {
        let lists = [json!(["a", "b/.env"]), json!([{"at": ["b/.env"]}]), json!({"k": "b/.env"})];
        for list in lists {
            for decision in [Decision::Ask, Decision::Deny] {
                assert!(matches(r".*\.env", decision, list.clone()), "{list}");
                assert!(!matches(r"\.env", decision, list.clone()), "{list}");
            }
            assert!(!matches(r"a|b/\.env", Decision::Allow, list.clone()), "{list}");
        }
        let of_plural = |decision| {
            let pattern = ArgPattern::new("path", ".*key", decision).unwrap();
            pattern.is_match(&json!({"paths": ["a", "the key"]}))
        };
        assert!(of_plural(Decision::Deny) && of_plural(Decision::Ask));
        assert!(!of_plural(Decision::Allow));
    }

    #[test]
    fn an_expression_cannot_leave_its_anchors() {
        assert!(ArgPattern::new("x", "a)|(?:b", Decision::Allow).is_err());
        assert!(ArgPattern::new("x", "(?x)a # b", Decision::Allow).is_err());
        assert!(ArgPattern::new("x", "(", Decision::Allow).unwrap_err().contains("args.x"));
    }

    #[test]
    fn an_expression_has_a_size() {
        assert!(
            ArgPattern::new("x", r"(\p{L}{100}){100}", Decision::Allow)
                .unwrap_err()
                .contains("too large")
        );
        assert!(
            ArgPattern::new("x", &"a".repeat(5000), Decision::Allow).unwrap_err().contains("4096")
        );
    }
}
