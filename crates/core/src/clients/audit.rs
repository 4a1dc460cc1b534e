//! What the audit says of a client's own calls, as that client may read it. Must not know how a row
//! is proven.

use serde::Serialize;
use serde_json::Value;

use super::{ClientRefusal, Clients};
use crate::domain::{CallId, ClientName, UnixMillis};

/// So many of the newest rows of the audit are looked at, whoever they are about.
const ROWS_MAX: u32 = 2_000;

/// A row that is about a call of this client's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClientAuditRow {
    pub number: i64,
    pub at_ms: UnixMillis,
    pub kind: String,
    pub call: String,
    pub body: Value,
}

impl Clients {
    /// The rows among the newest ones of the audit that are about this client's calls and those of
    /// its sessions, the oldest first.
    pub fn audit(&self, client: &ClientName) -> Result<Vec<ClientAuditRow>, ClientRefusal> {
        let rows = self.shared.store.read(|tx| {
            let after = tx.audit_before_newest(ROWS_MAX)?;
            tx.audit_after(after, ROWS_MAX)
        })?;
        let is_theirs = |call: &str| call.parse::<CallId>().is_ok_and(|call| client.calls(&call));
        let row = |row: crate::store::AuditRow| ClientAuditRow {
            number: row.id,
            at_ms: row.at_ms,
            kind: row.kind,
            call: row.call,
            body: without_people(row.body),
        };
        Ok(rows.into_iter().filter(|row| is_theirs(&row.call)).map(row).collect())
    }
}

/// Who of its owners has answered is not the client's business.
fn without_people(mut body: Value) -> Value {
    if let Value::Object(body) = &mut body {
        ["by", "approvers"].iter().for_each(|key| drop(body.remove(*key)));
    }
    body
}
