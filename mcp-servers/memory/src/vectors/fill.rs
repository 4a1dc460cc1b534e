//! Making the vectors that are missing. Owns batches, what is tried again, and when the notes are
//! tried for a gain. Must not know searches.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::endpoint::Endpoint;
use super::fault::Fault;
use super::nearest::Rows;
use super::store::{Missing, Trial};
use super::trial::{self, NoTrial};
use super::{Vectors, cut};

/// The notes are tried again when their number has changed by this share.
const CHANGED_SHARE: u64 = 4;

/// What is sent where nothing else is to be.
const PROBE: &str = "check";

impl Vectors {
    /// Makes in the background what is missing, if notes have changed since the last time.
    pub fn wake(self: &Arc<Self>) {
        {
            let inner = self.locked();
            let version = inner.store.notes_version().ok();
            if inner.rests() || version.is_none() || version == inner.filled_version {
                return;
            }
        }
        if self.endpoint.is_err() || self.is_filling.swap(true, Ordering::AcqRel) {
            return;
        }
        let vectors = Arc::clone(self);
        // Not one of the threads for calls: the process may end while it waits, and loses nothing.
        let spawned = std::thread::Builder::new().name("vectors".to_owned()).spawn(move || {
            vectors.fill(None);
            vectors.is_filling.store(false, Ordering::Release);
        });
        if spawned.is_err() {
            self.is_filling.store(false, Ordering::Release);
        }
    }

    /// Makes what is missing, until nothing is, something fails or the time is over. Waits while
    /// another process does so, and finds less to do then.
    pub fn fill(&self, time_max: Option<Duration>) {
        let began = Instant::now();
        let Ok(endpoint) = &self.endpoint else { return };
        let Some(_taken) = self.turn.take(time_max) else { return };
        let mut batch_max = self.args.embeddings_batch_notes_max.max(1);
        while time_max.is_none_or(|max| began.elapsed() < max) {
            let version = self.locked().store.notes_version().ok();
            match self.batch(endpoint, &mut batch_max) {
                Ok(true) => {}
                Ok(false) => {
                    self.finish(endpoint, version);
                    return;
                }
                Err(fault) => {
                    self.locked().fail(fault, self.pause());
                    return;
                }
            }
        }
    }

    /// Asks for the vector of a word, so that a fault is known also where no note is missing.
    pub fn probe(&self, time: Duration) {
        let Ok(endpoint) = &self.endpoint else { return };
        if self.locked().fault.is_some() {
            return;
        }
        let answer = endpoint.embed(vec![PROBE.to_owned()], time);
        let mut inner = self.locked();
        if let Err(fault) = answer.and_then(|vectors| self.of_dimension(&inner.store, vectors)) {
            inner.fail(fault, self.pause());
        }
    }

    /// Makes some vectors. False if none is missing.
    fn batch(&self, endpoint: &Endpoint, batch_max: &mut u32) -> Result<bool, Fault> {
        let missing = self.missing(*batch_max).map_err(|error| Fault::of(error.to_string()))?;
        if missing.is_empty() {
            return Ok(false);
        }
        let bytes_max = self.args.embeddings_note_bytes_max;
        let texts = missing.iter().map(|one| cut(one.text.trim(), bytes_max)).collect();
        let answer = endpoint.embed(texts, self.batch_time());
        let mut inner = self.locked();
        match answer.and_then(|vectors| self.of_dimension(&inner.store, vectors)) {
            Ok(vectors) => {
                let pairs = missing.iter().map(|one| one.digest.as_str());
                let pairs: Vec<_> = pairs.zip(vectors.iter().map(Vec::as_slice)).collect();
                let kept = inner.store.put(&self.model, &pairs);
                kept.map_err(|error| Fault::of(error.to_string()))?;
                inner.rows = None;
                inner.fault = None;
                *batch_max = (*batch_max * 2).min(self.args.embeddings_batch_notes_max.max(1));
                Ok(true)
            }
            // One of them is not taken: which one, smaller batches tell.
            Err(fault) if fault.is_of_input && missing.len() > 1 => {
                *batch_max = u32::try_from(missing.len() / 2).unwrap_or(1);
                Ok(true)
            }
            Err(fault) if fault.is_of_input => {
                inner.refused.extend(missing.into_iter().map(|one| one.digest));
                Ok(true)
            }
            Err(fault) => Err(fault),
        }
    }

    fn missing(&self, limit: u32) -> rusqlite::Result<Vec<Missing>> {
        let inner = self.locked();
        // Before the first answer nothing has a vector of any dimension.
        let dimension = self.dimension(&inner.store)?.unwrap_or_default();
        let refused = u32::try_from(inner.refused.len()).unwrap_or(u32::MAX);
        let limit_with = limit.saturating_add(refused);
        let mut missing = inner.store.missing(&self.model, dimension, limit_with)?;
        missing.retain(|one| !inner.refused.contains(&one.digest));
        missing.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(missing)
    }

    /// Every note has its vector: those of other notes go, and the notes are tried for a gain.
    fn finish(&self, endpoint: &Endpoint, version: Option<i64>) {
        let purged = self.locked().store.purge();
        let mut inner = self.locked();
        match purged {
            Ok(0) => {}
            Ok(_) => inner.rows = None,
            Err(error) => return inner.note(&error),
        }
        drop(inner);
        match self.judge(endpoint) {
            Ok(()) => self.locked().filled_version = version,
            Err(NoTrial::Fault(fault)) => self.locked().fail(fault, self.pause()),
            Err(NoTrial::Index(error)) => {
                self.locked().fail(Fault::of(error.to_string()), self.pause());
            }
        }
    }

    /// Tries whether vectors find more, if there are many more or fewer notes than the last time.
    fn judge(&self, endpoint: &Endpoint) -> Result<(), NoTrial> {
        let (samples, notes, dimension) = {
            let inner = self.locked();
            let Some(dimension) = self.dimension(&inner.store)? else { return Ok(()) };
            let (notes, _) = inner.store.counts(&self.model, dimension)?;
            let last = inner.store.trial(&self.model, dimension)?;
            if last.is_some_and(|last| is_fresh(&last, notes)) {
                return Ok(());
            }
            (trial::samples(&inner.store, &self.model, dimension)?, notes, dimension)
        };
        let bytes_max = self.args.embeddings_note_bytes_max;
        let mut tried = Vec::new();
        // Each sample has two texts.
        let per_request = (self.args.embeddings_batch_notes_max / 2).max(1);
        let mut samples = samples.into_iter().peekable();
        while samples.peek().is_some() {
            let part: Vec<_> =
                samples.by_ref().take(usize::try_from(per_request).unwrap_or(1)).collect();
            let subjects = part.iter().map(|one| cut(one.subject.trim(), bytes_max));
            let bodies = part.iter().map(|one| cut(one.body.trim(), bytes_max));
            let answer = endpoint.embed(subjects.chain(bodies).collect(), self.batch_time());
            let inner = self.locked();
            let checked = answer.and_then(|vectors| self.of_dimension(&inner.store, vectors));
            let mut subjects = match checked {
                // One of the subjects is not taken; the other samples say enough.
                Err(fault) if fault.is_of_input => continue,
                checked => checked.map_err(NoTrial::Fault)?,
            };
            let bodies = subjects.split_off(part.len());
            tried.extend(part.into_iter().zip(subjects).zip(bodies).map(|((s, q), b)| (s, q, b)));
        }
        let inner = self.locked();
        let bytes_max = self.args.embeddings_cache_bytes_max;
        let rows = Rows::read(&inner.store, &self.model, dimension, bytes_max)?;
        let trial = trial::run(&inner.store, &rows, &self.model, notes, &tried)?;
        inner.store.put_trial(&self.model, dimension, &trial)?;
        Ok(())
    }

    pub(super) fn batch_time(&self) -> Duration {
        Duration::from_secs(self.args.embeddings_batch_time_s)
    }
}

fn is_fresh(last: &Trial, notes: u64) -> bool {
    last.notes.abs_diff(notes) * CHANGED_SHARE <= last.notes
}
