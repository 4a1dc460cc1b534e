//! What is typed behind `claw clients`. Must not know what a command does.

use clap::Subcommand;

use crate::domain::ClientName;

#[derive(Debug, Subcommand)]
pub enum ClientsAction {
    List,
    /// Make a token by which a client calls claw over HTTP, and let one in again that was revoked
    Add {
        /// Small letters, digits and dashes, such as `laptop`
        name: ClientName,
    },
    /// Refuse a client from now on: its token and its grants end, its questions are closed
    Revoke {
        /// As `claw clients` lists it
        name: ClientName,
    },
}
