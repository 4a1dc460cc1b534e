//! What runs without a question because the owner has chosen to believe what its server says of it:
//! that it only reads. A hint answers the question of the default class alone. It lifts no rule, no
//! class and no "never" of the owner's, and counts for the owner's own words alone. Must not know
//! how a verdict is carried out.

use super::{Calls, Grounds};
use crate::catalog::{Tool, TrustedBy};
use crate::domain::{BELIEVED, Origin, ToolCall, Trust};

impl Calls {
    /// Why this call runs, which its default class asks about. The tool is as its pin says, so a
    /// hint that has changed since the owner accepted it never comes here.
    pub(super) fn believed(
        &self,
        call: &ToolCall,
        heard_by_others: bool,
        tool: &Tool,
    ) -> Option<Grounds> {
        let is_so = tool.trust == Trust::Hints
            && tool.hints.needs_no_question()
            && call.origin == Origin::Owner
            // Others would hear what it reads.
            && !heard_by_others
            && !self.policy().names_class(&call.server, &call.tool);
        if !is_so {
            return None;
        }
        // Read again: the level may have been taken back since the tool was looked up.
        let trusted = self.catalog.trusted(&call.server).ok()?;
        let launch = self.hub.launch_pin(&call.server)?;
        let believed = match trusted.by {
            TrustedBy::File => None,
            TrustedBy::Owner { .. } => Some(launch),
            TrustedBy::Itself | TrustedBy::Nobody | TrustedBy::OtherLaunch => return None,
        };
        (trusted.level == Trust::Hints).then(|| {
            let why = format!(
                "claw believed its server's hint, as you chose: {}/{} says that it only reads",
                call.server, call.tool
            );
            Grounds { believed, ..Grounds::new(BELIEVED, why) }
        })
    }
}
