//! The sessions of MCP clients as the conversations of a door. Nothing is shown: the log keeps what
//! is said, and a client reads it when it asks. Must not know how a client asks.

use std::sync::Arc;

use super::watched::Watched;
use crate::domain::{
    Address, ClientName, LiveSink, OutboundBody, Question, SessionId, client_of_session,
};
use crate::doors::ChatDoor;
use crate::doors::chat_door::{DoorPiece, File, Paint};
use crate::doors::door::{Closed, Door, DoorFault, QuestionMessage};
use crate::doors::shared::DoorState;
use crate::mail::{MailError, PostedQuestion};

/// What the process serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serves {
    /// Whoever comes, as a gateway does.
    All,
    /// One client, which has started this process. Others may run on the same home.
    Only(ClientName),
}

/// The door. It lives as long as the process serves clients.
pub struct Mcp {
    pub shared: DoorState<Nothing>,
    pub serves: Serves,
    pub watched: Watched,
}

/// No message is ever shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Nothing;

impl Paint<Nothing> for Mcp {
    fn beginning(_: &str) -> Vec<Nothing> {
        Vec::new()
    }

    fn running(_: &str, _: &str) -> Nothing {
        Nothing
    }

    fn ended(_: &str, _: bool, _: &str) -> Nothing {
        Nothing
    }
}

impl Door for Mcp {
    const NAME: &'static str = "mcp";

    type Text = Nothing;

    async fn send(&self, _: &Address, _: &Nothing) -> Result<i64, DoorFault> {
        Ok(0)
    }

    /// No client answers a question of its own here: it is asked at the owner's doors.
    async fn ask(&self, _: &Address, _: u64, _: &Question) -> Result<QuestionMessage, DoorFault> {
        Ok(QuestionMessage::default())
    }

    async fn show_answered(&self, _: &PostedQuestion, _: &Question) -> Result<(), DoorFault> {
        Ok(())
    }

    async fn close(&self, _: &PostedQuestion, _: &Question, _: &Closed) -> Result<(), DoorFault> {
        Ok(())
    }

    fn glimpses(self: &Arc<Self>, session: &SessionId, _: &Address) -> LiveSink {
        self.watched.sink(session)
    }
}

impl ChatDoor for Mcp {
    fn shared(&self) -> &DoorState<Nothing> {
        &self.shared
    }

    /// What another door of this process has shown is that door's to change.
    fn writes_to(&self, to: &Address) -> bool {
        to.door() == Self::NAME
    }

    fn place_of(&self, session: &SessionId) -> Option<Address> {
        client_of_session(session).map(|client| client.address())
    }

    fn owners_place(&self) -> Option<Address> {
        None
    }

    fn has_an_owner(&self, _: &Address) -> bool {
        false
    }

    fn is_owner(&self, _: &str) -> bool {
        false
    }

    /// Another client's process sees to its own sessions first, because its client waits there.
    fn sees_to_first(&self) -> String {
        match &self.serves {
            Serves::All => format!("{}.", Self::NAME),
            Serves::Only(client) => format!("{}.{client}", Self::NAME),
        }
    }

    fn pieces(&self, _: &OutboundBody, _: &str) -> Vec<DoorPiece<Nothing>> {
        Vec::new()
    }

    async fn file(&self, _: &Address, _: &File) -> Result<(), DoorFault> {
        Ok(())
    }

    async fn edit(&self, _: &Address, _: i64, _: &Nothing) -> Result<(), DoorFault> {
        Ok(())
    }

    async fn take_away(&self, _: &Address, _: i64) -> Result<(), DoorFault> {
        Ok(())
    }

    async fn glimpse(
        &self,
        _: &Address,
        _: Option<i64>,
        _: &Nothing,
        _: bool,
    ) -> Result<Option<i64>, DoorFault> {
        Ok(None)
    }

    async fn blocked(&self, _: &Address, _: &str) -> Result<(), MailError> {
        Ok(())
    }
}
