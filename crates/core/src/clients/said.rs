//! When a client has said something. Must not know what.

use super::{ClientRefusal, Clients};
use crate::domain::{ClientName, UnixMillis};

impl Clients {
    /// When the message with this number of the inbox came in, if it is this client's.
    pub fn said_at(
        &self,
        client: &ClientName,
        inbox_id: i64,
    ) -> Result<Option<UnixMillis>, ClientRefusal> {
        let row = self.shared.store.read(|tx| tx.inbound(inbox_id))?;
        let row = row.map(|(row, _)| row);
        let is_theirs = row.filter(|row| row.inbound.principal == client.principal());
        Ok(is_theirs.map(|row| row.at_ms))
    }
}
