//! What the box holds of the commands of our bash server, for verdicts and standing answers. A
//! server that has started has told it. Where none has, a process tries it. Must not know how a box
//! is closed.

use std::sync::LazyLock;

use super::{Calls, Surroundings};
use crate::domain::{HeldLevels, OwnServerName, ToolCall};
use crate::hub::Hub;
use crate::policy;

/// Whether a verdict about this call depends on the box.
fn depends_on_box(hub: &Hub, server: &str, tool: &str) -> bool {
    let builtin = hub.builtin(server);
    builtin == Some(OwnServerName::Bash) && !policy::is_own_reader(builtin, tool)
}

/// What is known without a wait, if [`Calls::find_out_box`] was called before. Else this waits for
/// a process.
pub(super) fn of_call(hub: &Hub, surroundings: &Surroundings, call: &ToolCall) -> HeldLevels {
    if !depends_on_box(hub, &call.server, &call.tool) {
        return HeldLevels::NONE;
    }
    hub.held_levels(&call.server).unwrap_or_else(|| **surroundings.tried)
}

impl Calls {
    /// Before a call is judged: its server starts, because the call needs it anyway, and tells what
    /// is in force. The box is tried only where the server tells nothing.
    pub async fn find_out_box(&self, call: &ToolCall) {
        if !depends_on_box(&self.hub, &call.server, &call.tool) {
            return;
        }
        // What an earlier process has told counts where this start fails.
        self.hub.start_for_levels(&call.server).await;
        if self.hub.held_levels(&call.server).is_none() {
            self.try_box().await;
        }
    }

    /// Before a standing answer may settle calls that stand open. Starts no server, because nothing
    /// runs yet.
    pub async fn find_out_box_of_open_calls(&self) {
        let mut servers = self.hub.servers_of(OwnServerName::Bash).into_iter();
        if servers.any(|server| self.hub.held_levels(&server).is_none()) {
            self.try_box().await;
        }
    }

    /// Whether commands of the level `write` can profit from a mode on this machine.
    pub async fn holds_levels(&self) -> bool {
        self.find_out_box_of_open_calls().await;
        let held = |server: String| {
            self.hub.held_levels(&server).unwrap_or_else(|| **self.surroundings.tried)
        };
        let servers = self.hub.servers_of(OwnServerName::Bash);
        servers.into_iter().map(held).all(|held| held.levels && held.protected)
    }

    /// Two processes, one after the other, which the runtime must not wait for.
    async fn try_box(&self) {
        let tried = self.surroundings.tried.clone();
        // A panic in there meets whoever asks for the value.
        let _ = tokio::task::spawn_blocking(move || *LazyLock::force(&tried)).await;
    }
}
