//! A workspace as it was before a turn, so that the turn can be undone: remembered by content,
//! compared with what it is now, put back path by path. Must not know turns, calls, or who asks.
//!
//! What is not remembered, and so not undone: `.git` (a commit is undone with git), what
//! `.gitignore` names (build output), files over a size, sockets and devices, times and owners, and
//! who else a hard link belongs to.
//!
//! Our own store, because the libraries that could do it (a whole git, a backup program) bring more
//! code than all of claw's crates together; which files count is decided by `ignore`, ripgrep's.

mod at_work;
mod contents;
mod entry;
mod error;
mod folder;
mod ignored;
mod ledger;
mod limits;
mod plan;
mod stat_cache;
mod store;
mod sync;
mod tree;
mod undo;
mod walk;

pub use at_work::AtWork;
pub use entry::{Entry, RelPath};
pub use error::SnapshotError;
pub use folder::SnapshotFolder;
pub use limits::Limits;
pub use plan::{Change, KeptBecause, KeptPath, Plan};
pub use store::Snapshots;
pub use tree::{Changes, LeftOut, Tree, Why};
pub use undo::Undone;
