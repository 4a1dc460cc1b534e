//! Between a tool's definition and a request: what a wire does not take is made to fit or left out,
//! and what comes back gets its own names again. Pure. Owns what is sent of a tool. Must not know
//! pins, which stay over what the server said, or how a request is sent.

mod blame;
mod kind;
mod names;
mod plain;
mod rules;
mod top;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use self::names::Names;
use self::rules::Rules;
use super::genai::Wire;
use crate::domain::canonical::digest;
use crate::domain::{ToolSpec, ToolUse, tool_for_person};

pub(super) use self::blame::blamed;

/// The longest list of names in one sentence.
const TOLD_MAX: usize = 12;

/// A definition that a provider has refused. Another definition of the same tool is not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Refused {
    pub name: String,
    digest: String,
}

impl Refused {
    pub(super) fn of(tool: &ToolSpec) -> Self {
        Self { name: tool.name.clone(), digest: digest(&tool.input_schema) }
    }
}

/// The tools of a request as a wire takes them, and the way back.
#[derive(Debug, Default)]
pub(super) struct Fitted {
    /// In their order, under the names that they have on the wire.
    pub tools: Vec<ToolSpec>,
    by_offered: BTreeMap<String, OnWire>,
    offered_by_wire: BTreeMap<String, String>,
    /// What was left out because the wire takes no more tools.
    too_many: Vec<String>,
    tools_max: usize,
}

#[derive(Debug)]
struct OnWire {
    name: String,
    names: Option<Names>,
}

/// The most tools that a request on this wire may hold.
pub(super) fn tools_max(wire: Wire) -> Option<usize> {
    rules::of(wire).tools_max
}

/// Makes every tool fit the wire, but for those that were refused.
pub(super) fn fit(specs: &[ToolSpec], wire: Wire, refused: &BTreeSet<Refused>) -> Fitted {
    let rules = rules::of(wire);
    let mut fitted =
        Fitted { tools_max: rules.tools_max.unwrap_or(usize::MAX), ..Fitted::default() };
    let mut used: BTreeSet<String> = specs.iter().map(|spec| spec.name.clone()).collect();
    for spec in specs {
        let is_refused = || refused.contains(&Refused::of(spec));
        if fitted.by_offered.contains_key(&spec.name) || (!refused.is_empty() && is_refused()) {
            continue;
        }
        if fitted.tools.len() >= fitted.tools_max {
            fitted.too_many.push(spec.name.clone());
            continue;
        }
        let name = if rules.tool_name.takes(&spec.name) {
            spec.name.clone()
        } else {
            names::alias(&spec.name, rules.tool_name, &used)
        };
        used.insert(name.clone());
        let (tool, names) = tool(spec, &name, rules);
        fitted.tools.push(tool);
        fitted.offered_by_wire.insert(name.clone(), spec.name.clone());
        fitted.by_offered.insert(spec.name.clone(), OnWire { name, names });
    }
    fitted
}

fn tool(spec: &ToolSpec, name: &str, rules: &Rules) -> (ToolSpec, Option<Names>) {
    let mut schema = plain::plain(&spec.input_schema, rules);
    let names = names::rename(&mut schema, rules.property_name);
    let mut schema = top::object(schema);
    let description = head(&spec.description, rules.description_chars_max, &mut schema);
    (ToolSpec { name: name.to_owned(), description, input_schema: Value::Object(schema) }, names)
}

/// The beginning of a description that is too long for the wire. The rest goes into the schema's
/// own, which has no limit.
fn head(description: &str, chars_max: Option<usize>, schema: &mut Map<String, Value>) -> String {
    const GOES_ON: &str = "… (goes on in the description of the parameters)";
    let Some(chars_max) = chars_max else { return description.to_owned() };
    if description.chars().count() <= chars_max {
        return description.to_owned();
    }
    let cut =
        description.char_indices().nth(chars_max - GOES_ON.chars().count()).map_or(0, |(at, _)| at);
    let (head, rest) = description.split_at(cut);
    let own = schema.remove("description");
    plain::say(schema, &format!("…{rest}"));
    own.as_ref().and_then(Value::as_str).into_iter().for_each(|own| plain::say(schema, own));
    format!("{head}{GOES_ON}")
}

impl Fitted {
    /// What a tool of the log is called in this request.
    pub(super) fn wire_name<'a>(&'a self, offered: &'a str) -> &'a str {
        self.by_offered.get(offered).map_or(offered, |tool| tool.name.as_str())
    }

    /// Arguments of the log as this request has to name them.
    pub(super) fn arguments_to_wire(&self, offered: &str, arguments: Value) -> Value {
        match self.by_offered.get(offered).and_then(|tool| tool.names.as_ref()) {
            Some(names) => names.put_on_wire(arguments),
            None => arguments,
        }
    }

    /// Gives a call of the model the names back that the tool's server knows.
    pub(super) fn take_back(&self, call: &mut ToolUse) {
        let Some(offered) = self.offered_by_wire.get(&call.name) else { return };
        if let Some(names) = self.by_offered.get(offered).and_then(|tool| tool.names.as_ref()) {
            call.input = names.take_off_wire(std::mem::take(&mut call.input));
        }
        call.name.clone_from(offered);
    }

    /// The tool that is called so on the wire, under the name by which it is offered.
    pub(super) fn offered(&self, wire_name: &str) -> Option<&str> {
        self.offered_by_wire.get(wire_name).map(String::as_str)
    }

    /// A sentence for the person about what was left out, with what to do about it.
    pub(super) fn told(&self, model: &str, provider: &str) -> Option<String> {
        let number = self.too_many.len();
        if number == 0 {
            return None;
        }
        let tools = if number == 1 { "1 tool is" } else { &format!("{number} tools are") };
        Some(format!(
            "{tools} not offered to {model} ({provider}), which takes {} at most: {}. Name the \
             ones that you need under `[tools]`, `offered`, in claw.toml.",
            self.tools_max,
            listed(&self.too_many)
        ))
    }
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(TOLD_MAX).map(|name| format!("`{}`", tool_for_person(name)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(TOLD_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
