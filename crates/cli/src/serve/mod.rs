//! `claw serve --install`: sets claw up in another program's settings. Must not know how a client
//! is served.

pub(crate) mod client_file;
mod edit;
mod entry;
mod install;
mod setup;

use super::args::ServeArgs;

pub use setup::Setup;
pub use setup::run as set_up;

/// What is to be set up, if the command is about that.
pub fn setup_of(wanted: &ServeArgs) -> Option<Setup> {
    let app = wanted.install.or(wanted.print_config)?;
    Some(Setup {
        app,
        print: wanted.print_config.is_some(),
        yes: wanted.yes,
        client: wanted.client.clone(),
        tools: wanted.tools,
    })
}
