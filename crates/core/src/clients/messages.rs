//! When a message of a client came in. Must not know what it says.

use super::{ClientRefusal, Clients};
use crate::domain::{ClientName, UnixMillis};

impl Clients {
    /// When the message with this number of the inbox came in, if it is this client's.
    pub fn message_at(
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
