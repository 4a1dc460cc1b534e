//! What is typed behind `claw artifacts`. Must not know what a command does.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum ArtifactsAction {
    List,
    /// Print one
    Show {
        /// Its name as `claw artifacts` lists it, or the beginning of its digest
        name: String,
    },
    /// Remove one; what stands in its place then says so
    Rm {
        /// Its name as `claw artifacts` lists it, or the beginning of its digest
        name: String,
    },
}
