//! What can be set on the command line. Owns names, units and defaults; must not know how they are
//! used.

use std::path::PathBuf;

/// The arguments of `claw-mcp-filesystem` and of `claw server filesystem`.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Args {
    /// The workspace: no tool reaches a file outside of it and of the further roots. Default:
    /// $CLAW_WORKSPACE, else the current directory
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// One more directory to work in, whose files are named by their absolute paths. May be
    /// repeated
    #[arg(long = "root", value_name = "DIR")]
    pub root: Vec<PathBuf>,

    /// A directory inside a root that no tool may touch, even while it does not exist yet. May be
    /// repeated. Relative paths are relative to the workspace; a directory outside of all roots is
    /// out of reach anyway
    #[arg(long = "protect", value_name = "DIR")]
    pub protect: Vec<PathBuf>,

    /// A file or directory that tools may read and never change, also while it does not exist yet.
    /// May be repeated. Relative paths are relative to the workspace
    #[arg(long = "read-only", value_name = "PATH")]
    pub read_only: Vec<PathBuf>,

    /// The folder in which the host keeps what it has put aside, each under its SHA-256. With it
    /// there is the tool `read_artifact`
    #[arg(long = "artifacts", value_name = "DIR")]
    pub artifacts: Option<PathBuf>,

    /// Reads one PDF from standard input instead of serving, from this page on: what the server
    /// starts itself as.
    #[arg(long = "pdf-text", value_name = "PAGE", hide = true)]
    pub pdf_text: Option<u64>,

    /// Serves over HTTP on a loopback port, for conformance tests.
    #[cfg(feature = "http")]
    #[arg(long, hide = true)]
    pub http: bool,

    #[command(flatten)]
    pub limits: Limits,
}

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Upper bounds of one call. All of them hold whatever a request asks for.
#[derive(clap::Args, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Text that one `read_file` returns, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = MIB)]
    pub read_reply_bytes_max: u64,

    /// The largest image that `read_file` gives to a model, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 5 * MIB)]
    pub image_bytes_max: u64,

    /// The largest PDF whose text `read_file` gives, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64 * MIB)]
    pub pdf_bytes_max: u64,

    /// Pages of a PDF that one `read_file` returns
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    pub pdf_pages_max: u64,

    /// How long `read_file` reads a PDF, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    pub pdf_time_ms_max: u64,

    /// The memory that reading a PDF may take, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 512 * MIB)]
    pub pdf_memory_bytes_max: u64,

    /// How far `read_file` looks into a file for the lines it was asked for, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 256 * MIB)]
    pub read_scan_bytes_max: u64,

    /// The largest file that `edit_file` changes, before and after, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 16 * MIB)]
    pub edit_file_bytes_max: u64,

    /// The most that one `write_file` writes, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 16 * MIB)]
    pub write_file_bytes_max: u64,

    /// The largest file that `search` looks into, in bytes; larger ones are skipped and counted
    #[arg(long, value_name = "BYTES", default_value_t = 16 * MIB)]
    pub search_file_bytes_max: u64,

    /// Text that one `search`, `find` or `list_dir` returns, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 256 * KIB)]
    pub list_reply_bytes_max: u64,

    /// The part of a diff that `edit_file` returns, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64 * KIB)]
    pub diff_reply_bytes_max: u64,

    /// Entries that one `list_dir` or `find`, and matches that one `search` returns
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    pub list_entries_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read_reply_bytes_max: MIB,
            image_bytes_max: 5 * MIB,
            pdf_bytes_max: 64 * MIB,
            pdf_pages_max: 200,
            pdf_time_ms_max: 30_000,
            pdf_memory_bytes_max: 512 * MIB,
            read_scan_bytes_max: 256 * MIB,
            edit_file_bytes_max: 16 * MIB,
            write_file_bytes_max: 16 * MIB,
            search_file_bytes_max: 16 * MIB,
            list_reply_bytes_max: 256 * KIB,
            diff_reply_bytes_max: 64 * KIB,
            list_entries_max: 10_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn the_command_line_and_the_library_have_the_same_defaults() {
        assert_eq!(Cli::parse_from(["x"]).args.limits, Limits::default());
    }
}
