//! Vectors of notes, which find what words do not. Owns when an endpoint is asked, when it is left
//! alone, and whether vectors take part in a search. Must not know tools; the notes it takes from
//! the index.
//!
//! Nothing here is needed: whatever fails is one sentence, and hits are found by words.

pub mod args;
mod check_report;
#[cfg_attr(not(feature = "embeddings"), path = "without.rs")]
mod endpoint;
mod fault;
mod fill;
mod fuse;
mod nearest;
mod sketch;
pub mod store;
mod trial;
mod turn;
#[cfg(feature = "embeddings")]
mod wire;

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::error::Result;
use args::{EmbeddingsArgs, Use};
use endpoint::Endpoint;
use fault::Fault;
use nearest::{Near, Rows};
use store::{Store, Trial};
use trial::ASKED_MIN;
use turn::Turn;

pub use check_report::{NONE, PROBE_TIME_MAX};
pub use fuse::fused;

/// The longest time that an endpoint may ask to be left alone.
const REST_MAX: Duration = Duration::from_secs(3_600);

/// Shared by all calls of a process; it ends with the process.
pub struct Vectors {
    /// Or why there is none.
    endpoint: Result<Endpoint, String>,
    /// As they were at the start, as the name of the model is.
    args: EmbeddingsArgs,
    model: String,
    /// Held while SQLite or the processor works, never while the endpoint is waited for.
    inner: Mutex<Inner>,
    /// A thread makes what is missing; false again when it ends.
    is_filling: AtomicBool,
    /// Which of several processes does that.
    turn: Turn,
}

/// Lives as long as [`Vectors`].
struct Inner {
    /// The connection to the file of the vectors. Closed at the end.
    store: Store,
    /// `None` until the next query, and after vectors were added.
    rows: Option<Rows>,
    /// What went wrong last, until something goes well.
    fault: Option<String>,
    /// It was said in a result.
    is_told: bool,
    /// When the endpoint may be asked again after a fault.
    rests_until: Option<Instant>,
    /// Notes that the endpoint does not take, until this process ends.
    refused: HashSet<String>,
    /// Of the index, when every note had a vector last.
    filled_version: Option<i64>,
}

/// What vectors say to a query.
#[derive(Default)]
pub struct VectorAnswer {
    nearest: Vec<Near>,
    /// Words do not count.
    pub is_alone: bool,
    /// What a reader of the result should know.
    pub remark: Option<String>,
}

impl VectorAnswer {
    /// The rows of the nearest notes, best first.
    ///
    /// # Errors
    /// SQLite refuses.
    pub fn rows(&self, db: &Connection) -> Result<Vec<i64>> {
        Ok(trial::rows_of(db, "main", &self.nearest)?)
    }
}

impl Vectors {
    /// `None` if no endpoint is configured. Asks nothing yet.
    ///
    /// # Errors
    /// The file of the vectors cannot be made.
    pub fn open(
        args: &EmbeddingsArgs,
        state: &Path,
        index: &Path,
    ) -> rusqlite::Result<Option<Arc<Self>>> {
        let Some(url) = args.embeddings_url.as_deref().filter(|url| !url.trim().is_empty()) else {
            return Ok(None);
        };
        let model = args.embeddings_model.clone().unwrap_or_default();
        let endpoint = if model.trim().is_empty() {
            Err(format!(
                "{} needs {}, the name of its model",
                args.named("url"),
                args.named("model")
            ))
        } else {
            Endpoint::new(args, url, &model)
        };
        let inner = Inner {
            store: Store::open(state, index)?,
            rows: None,
            fault: endpoint.as_ref().err().cloned(),
            is_told: false,
            rests_until: None,
            refused: HashSet::new(),
            filled_version: None,
        };
        Ok(Some(Arc::new(Self {
            endpoint,
            args: args.clone(),
            model,
            inner: Mutex::new(inner),
            is_filling: AtomicBool::new(false),
            turn: Turn::open(state),
        })))
    }

    /// The notes nearest to a query. Waits for the endpoint within its bound, and holds no lock
    /// meanwhile. What fails gives no notes, and is remarked once.
    pub fn ask(&self, query: &str) -> VectorAnswer {
        match self.nearest(query) {
            Ok(nearest) => {
                let is_alone = self.args.embeddings_use == Use::Alone;
                VectorAnswer { nearest, is_alone, remark: None }
            }
            Err(()) => VectorAnswer { remark: self.locked().remark(), ..VectorAnswer::default() },
        }
    }

    /// `Err` where a fault is noted.
    fn nearest(&self, query: &str) -> Result<Vec<Near>, ()> {
        let Ok(endpoint) = &self.endpoint else { return Err(()) };
        let query = cut(query.trim(), self.args.embeddings_note_bytes_max);
        {
            let mut inner = self.locked();
            if inner.rests() {
                return Err(());
            }
            let takes_part = self.takes_part(&inner.store).map_err(|error| inner.note(&error))?;
            if !takes_part || query.is_empty() {
                return Ok(Vec::new());
            }
        }
        let time = Duration::from_millis(self.args.embeddings_query_time_ms);
        let answer = endpoint.embed(vec![query], time);
        let mut inner = self.locked();
        let vectors = answer.and_then(|vectors| self.of_dimension(&inner.store, vectors));
        let vectors = vectors.map_err(|fault| inner.fail(fault, self.pause()))?;
        inner.fault = None;
        let Some(vector) = vectors.first() else { return Ok(Vec::new()) };
        let nearest = inner.nearest(&self.model, vector, self.args.embeddings_cache_bytes_max);
        nearest.map_err(|error| inner.note(&error))
    }

    fn pause(&self) -> Duration {
        Duration::from_secs(self.args.embeddings_pause_s)
    }

    /// Whether vectors count in a search.
    fn takes_part(&self, store: &Store) -> rusqlite::Result<bool> {
        Ok(match self.args.embeddings_use {
            Use::Always | Use::Alone => true,
            Use::Auto => self.trial(store)?.is_some_and(|trial| is_gain(&trial)),
        })
    }

    fn trial(&self, store: &Store) -> rusqlite::Result<Option<Trial>> {
        match self.dimension(store)? {
            Some(dimension) => store.trial(&self.model, dimension),
            None => Ok(None),
        }
    }

    /// `None` until there has been an answer.
    fn dimension(&self, store: &Store) -> rusqlite::Result<Option<usize>> {
        match self.args.embeddings_dimension.and_then(|wanted| usize::try_from(wanted).ok()) {
            Some(wanted) => Ok(Some(wanted)),
            None => store.dimension(&self.model),
        }
    }

    /// Vectors of another dimension are never compared with those that are kept.
    fn of_dimension(&self, store: &Store, vectors: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, Fault> {
        let got = vectors.first().map_or(0, Vec::len);
        let known = self.dimension(store).map_err(|error| Fault::of(error.to_string()))?;
        match known {
            Some(known) if known != got => Err(Fault::of(format!(
                "`{}` gives vectors of {got} numbers now, and those of the notes have {known}. With {} they are made anew",
                self.model,
                self.args.set_to("dimension", &got.to_string())
            ))),
            Some(_) => Ok(vectors),
            None => {
                let kept = store.set_dimension(&self.model, got);
                kept.map(|()| vectors).map_err(|error| Fault::of(error.to_string()))
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, Inner> {
        // What a panic leaves is read again from the disk.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where there is too little to try it on, the weight that was found elsewhere is believed.
fn is_gain(trial: &Trial) -> bool {
    trial.asked < ASKED_MIN || trial.by_both > trial.by_words
}

impl Inner {
    fn nearest(
        &mut self,
        model: &str,
        query: &[f32],
        bytes_max: u64,
    ) -> rusqlite::Result<Vec<Near>> {
        let version = self.store.foreign_version()?;
        let rows = match self.rows.take().filter(|rows| rows.foreign_version == version) {
            Some(rows) => rows,
            None => Rows::read(&self.store, model, query.len(), bytes_max)?,
        };
        let nearest = rows.nearest(&self.store, model, query);
        self.rows = Some(rows);
        nearest
    }

    fn rests(&self) -> bool {
        self.rests_until.is_some_and(|until| Instant::now() < until)
    }

    /// Keeps what went wrong, and leaves the endpoint alone for a time.
    fn fail(&mut self, fault: Fault, pause: Duration) {
        let rest = fault.retry_after.map_or(pause, |wanted| wanted.min(REST_MAX));
        self.rests_until = Some(Instant::now() + rest);
        if self.fault.as_ref() != Some(&fault.sentence) {
            self.is_told = false;
        }
        self.fault = Some(fault.sentence);
    }

    fn note(&mut self, error: &rusqlite::Error) {
        self.fail(Fault::of(format!("the vectors cannot be read: {error}")), Duration::ZERO);
    }

    /// Each fault is said once.
    fn remark(&mut self) -> Option<String> {
        let fault = self.fault.as_ref().filter(|_| !self.is_told)?;
        self.is_told = true;
        Some(format!("Found by words alone: {fault}."))
    }
}

/// The beginning of a text that has at most so many bytes.
fn cut(text: &str, bytes_max: u32) -> String {
    let end = text.floor_char_boundary(usize::try_from(bytes_max).unwrap_or(usize::MAX));
    text.get(..end).unwrap_or(text).to_owned()
}
