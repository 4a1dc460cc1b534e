//! The variables that a command's shell has exported: taken from the result of our own bash server,
//! and put into the arguments of a next call before it is judged. Must not know logs, or which call
//! was the last one.

use std::collections::{BTreeMap, BTreeSet};

use claw_kit::variables::{Room, is_name, is_owned};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Calls;
use crate::domain::{ShellVariables, ToolCall, ToolOutput};
use crate::policy::variables::{self, VARIABLES};
use crate::redact;

/// What our server reports of the variables, in its structured result.
#[derive(Deserialize)]
struct ReportedVariables {
    #[serde(default)]
    set: BTreeMap<String, String>,
    #[serde(default)]
    unset: BTreeSet<String>,
    /// No call can give them, so that the next one does not have them.
    #[serde(default)]
    withheld: BTreeSet<String>,
}

impl Calls {
    /// The arguments of a use of a tool as they are frozen: with the variables that the shell of
    /// this server keeps, where it is our own. What the call gives itself counts more.
    pub fn with_kept_variables(
        &self,
        (server, tool): (&str, &str),
        mut arguments: Value,
        kept: &BTreeMap<String, BTreeMap<String, String>>,
    ) -> Value {
        let kept =
            kept.get(server).filter(|kept| !kept.is_empty() && self.begins_in_shell(server, tool));
        if let (Some(kept), Value::Object(named)) = (kept, &mut arguments) {
            let all = named.entry(VARIABLES).or_insert(Value::Null);
            if all.is_null() {
                *all = Value::Object(Map::new());
            }
            // Anything else the server refuses.
            if let Value::Object(all) = all {
                for (name, value) in kept {
                    all.entry(name).or_insert_with(|| json!(value));
                }
            }
        }
        arguments
    }

    /// Why our server would refuse the variables that this call gives.
    pub fn misfit_of_variables(&self, call: &ToolCall) -> Option<String> {
        variables::check(&self.facts(call, None)).err()
    }

    /// The result of a call with what has become of its shell's variables, if it is a command of a
    /// model's in our own bash server and the owner wants that remembered. What another server says
    /// under that name is data, and so is what a program of the command says in the shell's place:
    /// it can do no more than be shown with the next command, which no grant covers then.
    pub(super) fn with_shell_variables(
        &self,
        call: &ToolCall,
        mut output: ToolOutput,
    ) -> ToolOutput {
        if !self.leaves_a_shell(call) || !self.catalog.keeps_shell_variables() {
            return output;
        }
        let report = output.structured.as_ref().and_then(|all| all.get("variables_left"));
        let report = report.and_then(|report| ReportedVariables::deserialize(report).ok());
        let Some(ReportedVariables { set, mut unset, withheld }) = report else { return output };
        unset.extend(withheld);
        let (set, secret) = self.without_secrets(set);
        if !secret.is_empty() {
            let names: Vec<String> = secret.iter().map(|name| format!("`{name}`")).collect();
            output.text.push_str(&format!(
                "\n[A secret is not kept in a variable: the next command does not have {}.]",
                names.join(", ")
            ));
        }
        unset.extend(secret);
        unset.retain(|name| is_name(name) && !is_owned(name));
        let by_owner = &self.surroundings.harmless_variables;
        if let Some(names) = variables::strange_of(&set, by_owner) {
            output.text.push_str(&format!(
                "\n[With {names} each command of a level above `read` is asked about, in every \
                 mode, until a command removes them by `unset`, or `/new` does. `deactivate` \
                 does not: no function of a shell is kept.]"
            ));
        }
        if !set.is_empty() || !unset.is_empty() {
            let server = call.server.clone();
            output.shell_variables = Some(Box::new(ShellVariables { server, set, unset }));
        }
        output
    }

    /// Those that can be kept, and the names of those whose values hold a secret.
    fn without_secrets(
        &self,
        set: BTreeMap<String, String>,
    ) -> (BTreeMap<String, String>, BTreeSet<String>) {
        let (mut room, mut clean, mut secret) = (Room::default(), BTreeMap::new(), BTreeSet::new());
        for (name, value) in set {
            let pair = json!([name, value]);
            if self.redactor.contains_secret(&pair).is_some() || redact::contains_mark(&pair) {
                secret.insert(name);
            } else if is_name(&name) && !is_owned(&name) && room.take(&name, &value) {
                clean.insert(name, value);
            }
        }
        (clean, secret)
    }
}
