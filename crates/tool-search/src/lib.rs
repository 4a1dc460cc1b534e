//! Finds the tools that fit a request, by words and without a model. Owns what is searched of a
//! definition and how hits are ranked. Must not know servers, pins, or what is done with a hit.
//!
//! The index is an FTS5 table in memory, made anew whenever the definitions change. FTS5 parts the
//! words and makes their stems. Which tool holds which stem is read from it once, because its
//! `bm25()` counts every column into the length of a tool and can weigh no word less than another.
//! Two shares put the hits in order: how much of a tool's name stands in the request, and how much
//! of the request stands in a tool. The figures are those of `benches/bfcl.rs`.

mod clauses;
mod fields;
mod index;
mod postings;
mod ranking;
mod related;
mod words;

pub use index::{Index, SearchError};

use serde_json::Value;

/// A tool that can be found.
#[derive(Clone, Debug, Default)]
pub struct Tool {
    /// Under which a model calls it; what is asked for by this name is the first hit.
    pub offered: String,
    /// Its name at its server.
    pub name: String,
    /// What its server calls it for people; may be empty.
    pub title: String,
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    pub server: String,
    /// What its server says about itself; may be empty. Its beginning is searched.
    pub instructions: String,
}
