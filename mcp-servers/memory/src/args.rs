//! What can be set on the command line. Owns names, units and defaults; must not know how they are
//! used.

use std::path::PathBuf;

use crate::vectors::args::EmbeddingsArgs;

/// The arguments of `claw-mcp-memory` and of `claw server memory`.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Args {
    /// The folder of the notes: Markdown files, also in folders below it. It is made if it is not
    /// there. Default: $CLAW_MEMORY
    #[arg(long, value_name = "DIR")]
    pub notes: Option<PathBuf>,

    /// Where the index, the proposals and the trash lie; never inside of the notes. Default: a
    /// folder beside the notes, with `-state` behind their name
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// A file that every prompt of the host holds, such as claw's MEMORY.md. A line of it is
    /// proposed and changed as a note is. Without it there are notes alone
    #[arg(long, value_name = "FILE")]
    pub always: Option<PathBuf>,

    /// Compares the index with the files, prints what is wrong and ends: with 0 if nothing is
    #[arg(long)]
    pub check: bool,

    /// Whose notes are written here, where several agents share one folder. Each note names its
    /// agent, and a note of another one is told as such
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,

    /// Whose a note is that names no agent: one from before the folder was shared, or one that was
    /// written by hand
    #[arg(long, value_name = "NAME")]
    pub folder_agent: Option<String>,

    #[command(flatten)]
    pub limits: Limits,

    #[command(flatten)]
    pub embeddings: EmbeddingsArgs,
}

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Upper bounds. All of them hold whatever a request asks for.
#[derive(clap::Args, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// claw has started the server, by an entry of its mcp.json. claw says so itself
    #[arg(long, hide = true)]
    pub in_claw: bool,

    /// The largest note, in bytes. A larger file is named by `list` and not searched
    #[arg(long, value_name = "BYTES", default_value_t = 64 * KIB)]
    pub note_bytes_max: u64,

    /// Hits of one `recall`
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub recall_hits_max: u64,

    /// Linked notes that one `recall` gives besides, because the query names what they are linked
    /// to. 0: none
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    pub recall_linked_max: u64,

    /// Names of linked notes that are looked for in a query
    #[arg(long, value_name = "COUNT", default_value_t = 20_000)]
    pub linked_names_max: u64,

    /// The largest thesaurus, in bytes. A larger one is not used, and `--check` says so
    #[arg(long, value_name = "BYTES", default_value_t = 64 * KIB)]
    pub thesaurus_bytes_max: u64,

    /// Lines of all thesauri together that are used
    #[arg(long, value_name = "COUNT", default_value_t = 2_000)]
    pub thesaurus_terms_max: u64,

    /// Text of one hit, in bytes; `read` gives the whole note
    #[arg(long, value_name = "BYTES", default_value_t = KIB)]
    pub recall_hit_bytes_max: u64,

    /// Notes of one page of `list`
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    pub list_notes_max: u64,

    /// What is kept in the trash, in files. The oldest are removed, and `--check` says how many
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    pub trash_files_max: u64,

    /// The same, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 256 * MIB)]
    pub trash_bytes_max: u64,

    /// How long it is kept, in days
    #[arg(long, value_name = "DAYS", default_value_t = 365)]
    pub trash_days_max: u64,

    /// Tags of one note
    #[arg(long, value_name = "COUNT", default_value_t = 32)]
    pub note_tags_max: u64,

    /// The largest text that can be proposed, in bytes: somebody has to read it before the yes
    #[arg(long, value_name = "BYTES", default_value_t = 2 * KIB)]
    pub proposal_bytes_max: u64,

    /// The largest that the file of `--always` becomes, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4 * KIB)]
    pub always_bytes_max: u64,

    /// Proposals of one turn, where the host says which turn it is
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    pub proposals_per_turn_max: u64,

    /// Proposals of 24 hours
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    pub proposals_per_day_max: u64,
}

impl Limits {
    /// An option as a message names it: with the place where its reader sets it.
    pub fn named(&self, option: &str) -> String {
        match self.in_claw {
            true => format!("`{option}` in the args of the memory server in mcp.json"),
            false => option.to_owned(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_claw: false,
            note_bytes_max: 64 * KIB,
            recall_hits_max: 50,
            recall_linked_max: 5,
            linked_names_max: 20_000,
            thesaurus_bytes_max: 64 * KIB,
            thesaurus_terms_max: 2_000,
            recall_hit_bytes_max: KIB,
            list_notes_max: 500,
            trash_files_max: 10_000,
            trash_bytes_max: 256 * MIB,
            trash_days_max: 365,
            note_tags_max: 32,
            proposal_bytes_max: 2 * KIB,
            always_bytes_max: 4 * KIB,
            proposals_per_turn_max: 3,
            proposals_per_day_max: 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn what_is_not_set_is_the_default() {
        let args = Cli::parse_from(["memory"]).args;
        assert_eq!(args.limits, Limits::default());
        assert_eq!(args.embeddings, EmbeddingsArgs::default());
    }
}
