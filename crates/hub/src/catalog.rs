//! What a server says about its tools, read leniently from raw JSON. Must not know who lists or
//! compares.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::method::Method;
use super::offers::Offers;
use super::rpc::era::Era;
use claw_domain::depth::{LEVELS_MAX, is_too_deep};
use claw_domain::escape;

/// More is no list of tools but an attack on memory.
pub(super) const TOOLS_MAX: usize = 2000;
pub(super) const PAGES_MAX: usize = 100;

/// Some servers give the same cursor with each page, or an empty one with the last.
pub(super) const LEADS_BACK: &str =
    "its list of tools leads back to a page that was read before, and claw stops there";

/// The name under which a server's instructions are pinned. No tool has it, because one without a
/// name is left out.
pub const INSTRUCTIONS: &str = "";

/// All tools of one server, as it listed them.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerTools {
    /// The name in `mcp.json`, never what the server calls itself.
    pub server: String,
    pub launch_pin: String,
    /// For the caller to remember and to give back in `HubSettings::known_eras`.
    pub era: Era,
    /// In the order of the server.
    pub tools: Vec<ToolEntry>,
    /// What it says about itself in its first answer, as an entry by the name [`INSTRUCTIONS`].
    pub instructions: Option<ToolEntry>,
    /// What it has besides them.
    pub offers: Offers,
}

impl ServerTools {
    pub fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// One tool. Every text in it is a stranger's.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolEntry {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments; `{"type": "object"}` where the server gave none (trap 6).
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    /// As sent. Hints of a stranger: they may raise a risk, never lower it.
    pub annotations: Option<Value>,
    /// The whole entry as it came.
    pub raw: Value,
    /// Digest over `raw`, or its schemas alone, and the server's launch pin.
    pub pin: String,
}

/// Adds the tools of one page. Entries without a name and repeated names are left out; what is left
/// out is told in `odd`, one sentence each. Returns the cursor of the next page.
pub(super) fn read_page(
    mut page: Value,
    pin: &dyn Fn(&Value) -> String,
    tools: &mut Vec<ToolEntry>,
    odd: &mut Vec<String>,
) -> Result<Option<String>, String> {
    let Some(Value::Array(entries)) = page.get_mut("tools").map(Value::take) else {
        return Err("its answer holds no list of tools".to_owned());
    };
    let too_many = || format!("it lists more than {TOOLS_MAX} tools");
    if entries.len() > TOOLS_MAX {
        return Err(too_many());
    }
    let mut names: BTreeSet<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    for raw in entries {
        match raw.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()) {
            None => odd.push("it lists a tool without a name, which is left out".to_owned()),
            // It is printed in questions and lists, and must not be able to look like more than a
            // name.
            Some(name) if name.chars().any(char::is_control) || escape::visible(name) != name => {
                odd.push(format!(
                    "it lists a tool whose name holds what cannot be seen, which is left out: {}",
                    escape::visible(name)
                ));
            }
            Some(name) if is_too_deep(&raw) => odd.push(format!(
                "it lists the tool `{name}` with a schema that is nested more than {LEVELS_MAX} \
                 levels deep, and which is left out"
            )),
            Some(name) if Method::named(name).is_some() => odd.push(format!(
                "it lists a tool by the name `{name}`, which is left out: claw judges another request \
                 under it"
            )),
            Some(name) if !names.insert(name.to_owned()) => {
                odd.push(format!("it lists the tool `{name}` twice; only the first one counts"));
            }
            Some(name) => tools.push(read_tool(name.to_owned(), raw, pin)),
        }
    }
    // A page that comes twice counts once.
    if tools.len() > TOOLS_MAX {
        return Err(too_many());
    }
    Ok(page.get("nextCursor").and_then(Value::as_str).map(str::to_owned))
}

/// The instructions of a server as something to pin.
pub(super) fn read_instructions(text: &str, pin: &dyn Fn(&Value) -> String) -> ToolEntry {
    read_tool(INSTRUCTIONS.to_owned(), json!({"instructions": text}), pin)
}

fn read_tool(name: String, raw: Value, pin: &dyn Fn(&Value) -> String) -> ToolEntry {
    let object = |key: &str| raw.get(key).filter(|value| value.is_object()).cloned();
    ToolEntry {
        description: raw.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        input_schema: object("inputSchema").unwrap_or_else(|| json!({"type": "object"})),
        output_schema: object("outputSchema"),
        annotations: object("annotations"),
        pin: pin(&raw),
        name,
        raw,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_entries_do_not_spoil_the_list() {
        let deep = (0..LEVELS_MAX).fold(json!({}), |inner, _| json!({"properties": inner}));
        let page = json!({"tools": [
            {"name": "deep", "inputSchema": deep},
            {"name": "bare"}, {"description": "nameless"}, 7,
            {"name": "bare", "description": "shadow"},
            {"name": "full", "description": "d", "inputSchema": {"type": "object", "x": 1}, "annotations": {"a": 1}},
        ], "nextCursor": "2"});
        let (mut tools, mut odd) = (Vec::new(), Vec::new());
        assert_eq!(
            read_page(page, &|_| "p".into(), &mut tools, &mut odd).unwrap().as_deref(),
            Some("2")
        );
        assert_eq!(
            tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
            ["bare", "full"]
        );
        assert_eq!(tools[0].input_schema, json!({"type": "object"}));
        assert_eq!(tools[0].description, "");
        assert_eq!(tools[1].input_schema["x"], 1);
        assert_eq!(odd.len(), 4);
        assert!(odd[0].contains("`deep`"), "{}", odd[0]);
        assert!(read_page(json!({"content": []}), &|_| "p".into(), &mut tools, &mut odd).is_err());
    }

    #[test]
    fn a_long_page_that_comes_twice_counts_once_and_more_tools_than_may_be_are_refused() {
        let page = |from: usize| {
            let names = from..from + TOOLS_MAX / 2 + 1;
            json!({"tools": names.map(|n| json!({"name": n.to_string()})).collect::<Vec<_>>()})
        };
        let (mut tools, mut odd) = (Vec::new(), Vec::new());
        let mut read = |page| read_page(page, &|_| "p".into(), &mut tools, &mut odd);
        assert_eq!((read(page(0)), read(page(0))), (Ok(None), Ok(None)));
        assert!(read(page(TOOLS_MAX)).is_err_and(|why| why.contains("more than 2000")));
    }
}
