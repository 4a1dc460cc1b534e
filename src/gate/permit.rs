//! The permit: the only thing that the hub forwards. Only the gate can make one, and the hub
//! consumes it by value, so that no call can be forwarded without, or twice. Must not know how a
//! verdict is reached.

use std::time::Duration;

use serde_json::Value;

use crate::domain::CallId;

/// What a call may open, which its server is told in `_meta`. The gate says it, and nobody else: a
/// model's words are the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Whatever the server's own box lets it: a person, a grant or a rule of the owner has allowed
    /// the call.
    Box,
    /// The workspace and the system's programs: a command of our bash server that nobody was asked
    /// about.
    Workspace,
    /// The same and `/proc`, where `df` finds the table of mounts.
    WorkspaceAndProcesses,
}

/// Leave to forward one call, once. Not `Clone`; its fields are private; made from the frozen row
/// of the call.
#[derive(Debug)]
pub struct Permit {
    call: CallId,
    server: String,
    tool: String,
    arguments: Value,
    pin: String,
    timeout: Duration,
    reach: Reach,
}

impl Permit {
    /// Only the gate's own files can call this: it is the compile-time half of "one gate".
    pub(in crate::gate) fn mint(
        call: CallId,
        server: String,
        tool: String,
        arguments: Value,
        pin: String,
        timeout: Duration,
        reach: Reach,
    ) -> Self {
        Self { call, server, tool, arguments, pin, timeout, reach }
    }

    pub fn call(&self) -> &CallId {
        &self.call
    }

    pub fn server(&self) -> &str {
        &self.server
    }

    pub fn tool(&self) -> &str {
        &self.tool
    }

    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The pin of the tool as it was approved. The hub refuses to forward to a tool whose pin
    /// differs.
    pub fn pin(&self) -> &str {
        &self.pin
    }

    /// The longest that this call may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// For the hub's own tests, which need a permit without a gate.
    #[cfg(test)]
    pub(crate) fn for_hub_tests(
        server: &str,
        tool: &str,
        arguments: Value,
        pin: &str,
        timeout: Duration,
    ) -> Self {
        let call = CallId::Reply {
            session: crate::domain::SessionId::new("test").unwrap(),
            reply_seq: 1,
            block: 0,
        };
        Self::mint(call, server.into(), tool.into(), arguments, pin.into(), timeout, Reach::Box)
    }
}
