//! What one command may open, as its host says in `_meta["claw/box"]` of the call. A host that runs
//! a command without asking anybody says so here, and the command gets a box of its own
//! (`confine`). Only the host writes `_meta`; a model's words are the arguments. Must not know how
//! the box is closed.

use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};

/// The key in `_meta`. Its value is `{"reads": "workspace"}` or `{"reads":
/// "workspace-and-processes"}`.
pub const KEY: &str = "claw/box";

/// What a command may open. The narrow ones also take writing, but for TMPDIR, and the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// Everything in the box of the server.
    #[default]
    Box,
    /// The workspace, and the system's programs with their own data.
    Workspace,
    /// The same and `/proc`, where `df` finds the table of mounts.
    WorkspaceAndProcesses,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoxRequest {
    reads: Reads,
}

impl Reads {
    /// Reads the request of the host. What is not understood is refused: the command would get more
    /// than it was meant to.
    pub fn asked(meta: &JsonObject) -> Result<Self, String> {
        let Some(request) = meta.get(KEY) else { return Ok(Self::Box) };
        serde_json::from_value::<BoxRequest>(request.clone()).map(|request| request.reads).map_err(|error| {
            format!(
                "`_meta` holds a `{KEY}` that this server does not know: {error}. Nothing was run."
            )
        })
    }

    pub fn is_narrow(self) -> bool {
        self != Self::Box
    }
}

/// For the model, where a command that ended with an error may have met the narrow box.
pub const SENTENCE: &str = "It ran without a question, so it could open the workspace and the system's programs alone; \
                            \"Permission denied\" may come from that.";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_that_is_not_understood_is_refused() {
        let asked = |request| Reads::asked(json!({ KEY: request }).as_object().unwrap());
        assert_eq!(asked(json!({"reads": "workspace"})), Ok(Reads::Workspace));
        assert_eq!(
            asked(json!({"reads": "workspace-and-processes"})),
            Ok(Reads::WorkspaceAndProcesses)
        );
        assert_eq!(Reads::asked(&JsonObject::new()), Ok(Reads::Box));
        for odd in [
            json!({}),
            json!(null),
            json!("workspace"),
            json!({"reads": "home"}),
            json!({"reads": "workspace", "x": 1}),
        ] {
            assert!(asked(odd.clone()).unwrap_err().contains(KEY), "{odd}");
        }
    }
}
