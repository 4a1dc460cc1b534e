//! Whether a client is served at all. Must not know what it wants.

use super::{ClientRefusal, Clients};
use crate::domain::ClientName;

impl Clients {
    /// Whether the owner has not revoked it. One that has never called is welcome.
    pub fn is_welcome(&self, client: &ClientName) -> Result<(), ClientRefusal> {
        let row = self.shared.store.read(|tx| tx.client(client))?;
        match row.is_some_and(|row| row.revoked_ms.is_some()) {
            true => Err(self.shared.limits().revoked(client)),
            false => Ok(()),
        }
    }
}
