//! What is typed behind `claw artifacts`. Must not know what a command does.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum ArtifactsAction {
    List,
    /// Print one
    Show {
        /// Its name as `claw artifacts` lists it, its alias, or the beginning of its digest
        name: String,
    },
    /// Remove one; what stands in its place then says so
    Rm {
        /// Its name as `claw artifacts` lists it, its alias, or the beginning of its digest
        name: String,
    },
    /// Call one by a name of yours, which then stands in its name; without ALIAS it has none
    Alias {
        /// Its name as `claw artifacts` lists it, its alias, or the beginning of its digest
        name: String,
        /// Small letters, digits and dashes, such as `tax-letter`
        alias: Option<String>,
    },
}
