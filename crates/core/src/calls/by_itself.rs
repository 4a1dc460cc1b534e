//! What runs without a question because of who asks, where a class would ask about it: claw's own
//! look at jobs, reminders of words that the owner asks for in their own chat, what the owner names
//! in a message, and lists of what a server has. Rules of the owner and hard denies are not touched
//! by it. Must not know how a verdict is carried out.

use super::grants::CLASS_MUTATING;
use super::{Calls, Grounds};
use crate::catalog::Tool;
use crate::domain::{CallId, Origin, OwnServerName, ToolCall};
use crate::hub::Method;

const TAKES: &str = "builtin.takes-a-firing";
const REMINDER: &str = "builtin.reminder";
const NAMED: &str = "builtin.named-by-the-owner";
const LISTED: &str = "builtin.list-of-resources";

impl Calls {
    /// Why this call runs without an answer of the owner's, which the rule of this name asks about.
    pub fn unasked(
        &self,
        call: &ToolCall,
        heard_by_others: bool,
        tool: &Tool,
        rule: &str,
    ) -> Option<Grounds> {
        if rule != CLASS_MUTATING {
            return None;
        }
        let itself = self.by_itself(call, heard_by_others);
        itself.or_else(|| self.believed(call, heard_by_others, tool))
    }

    fn by_itself(&self, call: &ToolCall, heard_by_others: bool) -> Option<Grounds> {
        if let Some(method) = Method::named(&call.tool)
            && call.origin == Origin::Owner
        {
            return by_name(call, heard_by_others, method);
        }
        if self.hub.builtin(&call.server) != Some(OwnServerName::Scheduler) {
            return None;
        }
        if matches!(call.id, CallId::Jobs { .. }) && call.tool == "take" {
            return Some(Grounds::new(TAKES, "claw has written it down, and takes it"));
        }
        let is_own = call.origin == Origin::Owner && !heard_by_others;
        (is_own && is_reminder(call)).then(|| {
            let why = "a reminder of words, which the owner has asked for in their own chat";
            Grounds::new(REMINDER, why)
        })
    }
}

fn by_name(call: &ToolCall, heard_by_others: bool, method: Method) -> Option<Grounds> {
    if matches!(call.id, CallId::Named { .. }) {
        return Some(Grounds::new(NAMED, "the owner has named it in a message of their own"));
    }
    // Nothing that a model says goes out with it.
    (method == Method::ListResources && !heard_by_others).then(|| {
        Grounds::new(LISTED, "it says what there is to read, and tells the server nothing")
    })
}

/// A new job that says something, and does nothing.
fn is_reminder(call: &ToolCall) -> bool {
    let given = |name: &str| call.arguments.get(name).filter(|value| !value.is_null());
    call.tool == "schedule"
        && given("say").is_some_and(|say| say.is_string())
        && given("text").is_none()
}
