//! Old results of tools in a window, cut in place to head, tail and where the rest is. Which are
//! cut stands in the log, so every request shows the same bytes until the next compaction. Pure.
//! Must not know who keeps the rest.

use std::borrow::Cow;
use std::collections::HashMap;

use super::kinds::{ModelView, meaning};
use super::log::Log;
use super::state::Turn;
use crate::domain::{CallId, Event, EventBody, Outcome};

/// What a model still sees of a result that is cut, in bytes.
pub const CUT_BYTES: u64 = 1_200;
/// A result has to be so much longer before it is cut.
pub(super) const WORTH_BYTES: usize = 2 * CUT_BYTES as usize;
/// What stands between head and tail, about.
const HANDLE_BYTES: usize = 160;
/// So many digits of an artifact's digest name it to a model.
pub const HANDLE_DIGITS: usize = 16;

/// The results of a window that are cut. It lives as long as a request is packed.
#[derive(Debug, Default)]
pub struct Cuts<'a> {
    of: HashMap<(u64, u32), (&'a str, u64)>,
}

impl<'a> Cuts<'a> {
    pub fn of(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut cuts = Self::default();
        for event in events {
            let EventBody::ResultsCut { cut, bytes, .. } = &event.body else { continue };
            let of = |one: &'a crate::domain::CutResult| {
                ((one.reply_seq, one.block), (one.artifact.as_str(), *bytes))
            };
            cuts.of.extend(cut.iter().map(of));
        }
        cuts
    }

    /// What a model sees of the text of a result.
    pub fn seen<'t>(&self, call: &CallId, text: &'t str) -> Cow<'t, str> {
        match key(call).and_then(|key| self.of.get(&key)) {
            Some((artifact, bytes)) => shortened(text, artifact, *bytes as usize),
            None => Cow::Borrowed(text),
        }
    }
}

/// How much is shown of the results of a window that are cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CutSizes {
    bytes: HashMap<(u64, u32), u64>,
}

impl CutSizes {
    pub(super) fn of(events: &[Event]) -> Self {
        let mut sizes = Self::default();
        for event in events {
            let EventBody::ResultsCut { cut, bytes, .. } = &event.body else { continue };
            sizes.bytes.extend(cut.iter().map(|one| ((one.reply_seq, one.block), *bytes)));
        }
        sizes
    }

    /// How many bytes a model sees of the text of a result, about.
    pub(super) fn seen_bytes(&self, call: &CallId, text: &str) -> usize {
        if self.bytes.is_empty() {
            return text.len();
        }
        match key(call).and_then(|key| self.bytes.get(&key)) {
            Some(bytes) => text.len().min(*bytes as usize + HANDLE_BYTES),
            None => text.len(),
        }
    }
}

/// The results that may be cut, oldest first, and how many bytes that would spare: all long ones,
/// but for those of the `replies_kept` newest replies of the open turn, at which a model still
/// works.
pub(super) fn candidates<'e>(
    log: &'e Log,
    turn: Option<&Turn<'_>>,
    replies_kept: usize,
) -> (Vec<&'e CallId>, u64) {
    let cuts = log.totals().cut_sizes();
    let kept_from = turn.and_then(|turn| {
        let with_calls = turn.replies.iter().filter(|reply| !turn.calls_of(reply).is_empty());
        let seqs: Vec<u64> = with_calls.map(|reply| reply.seq).collect();
        let newest: Vec<u64> = seqs.into_iter().rev().take(replies_kept).collect();
        newest.last().copied()
    });
    let (mut found, mut spared) = (Vec::new(), 0);
    for event in log.long_results() {
        let ModelView::Result(call, Outcome::Ended { output }) = meaning(event).seen else {
            continue;
        };
        let is_kept = call.seq().zip(kept_from).is_some_and(|(seq, from)| seq >= from);
        let seen = cuts.seen_bytes(call, &output.text);
        if key(call).is_some() && !is_kept && seen > WORTH_BYTES {
            spared += (seen - CUT_BYTES as usize - HANDLE_BYTES) as u64;
            found.push(call);
        }
    }
    (found, spared)
}

/// By what a cut result is named in the log.
pub fn key(call: &CallId) -> Option<(u64, u32)> {
    match call {
        CallId::Reply { reply_seq, block, .. } => Some((*reply_seq, *block)),
        _ => None,
    }
}

/// Two thirds of what is kept are its head: what a command prints last is mostly shorter.
fn shortened<'t>(text: &'t str, artifact: &str, bytes: usize) -> Cow<'t, str> {
    if text.len() <= bytes + HANDLE_BYTES {
        return Cow::Borrowed(text);
    }
    let head = text.get(..text.floor_char_boundary(bytes / 3 * 2)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - bytes / 3)..).unwrap_or_default();
    let left_out = text.len() - head.len() - tail.len();
    let handle = artifact.get(..HANDLE_DIGITS).unwrap_or(artifact);
    Cow::Owned(format!(
        "{head}\n[… {left_out} of {} bytes are not shown any more; read_artifact with artifact \
         {handle} reads or searches them …]\n{tail}",
        text.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_has_head_tail_and_where_the_rest_is_and_splits_no_character() {
        let text = format!("first{}last", "äöü€".repeat(2_000));
        let cut = shortened(&text, "0123456789abcdef0000", CUT_BYTES as usize);
        assert!(cut.len() < CUT_BYTES as usize + HANDLE_BYTES + 20, "{}", cut.len());
        assert!(cut.starts_with("first") && cut.ends_with("last"), "{cut}");
        assert!(cut.contains("read_artifact with artifact 0123456789abcdef reads"), "{cut}");
        assert_eq!(shortened("short", "a", CUT_BYTES as usize), "short");
    }
}
