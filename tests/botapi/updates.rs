//! The queue of updates: the offset confirms and forgets, kinds that nobody asked for are never
//! queued, old ones die. Owns queue, ledger and the one long poll. Must not know what an update
//! means.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};

use super::refusal::Refusal;

pub type UpdateId = i32;

const LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// Also how long a tap can be answered.
pub const TAP_LIFE: Duration = Duration::from_secs(150);
/// Not sent unless they are named in `allowed_updates`.
const ON_REQUEST: [&str; 3] = ["chat_member", "message_reaction", "message_reaction_count"];

/// What became of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateRecord {
    pub id: UpdateId,
    pub kind: String,
    /// In how many answers it was.
    pub delivered: usize,
    /// An offset above it was sent: it is gone forever.
    pub confirmed: bool,
    /// It became too old before that.
    pub expired: bool,
}

struct Queued {
    id: UpdateId,
    dies_ms: u64,
    update: Value,
}

pub struct Updates {
    next: UpdateId,
    queue: VecDeque<Queued>,
    ledger: BTreeMap<UpdateId, UpdateRecord>,
    allowed: Option<BTreeSet<String>>,
    /// The long poll that waits; another number than yours means that another poll ended yours. It
    /// stays when the poll's time is up or its client is gone: the next one then ends what is no
    /// more.
    waiting: Option<u64>,
    polls: u64,
    stirred: bool,
}

impl Updates {
    pub fn new() -> Self {
        Self {
            next: 700_000_001,
            queue: VecDeque::new(),
            ledger: BTreeMap::new(),
            allowed: None,
            waiting: None,
            polls: 0,
            stirred: false,
        }
    }

    /// Whether a long poll has a reason to look, once.
    pub fn stirred(&mut self) -> bool {
        std::mem::take(&mut self.stirred)
    }

    pub fn ledger(&self) -> Vec<UpdateRecord> {
        self.ledger.values().cloned().collect()
    }

    pub fn record(&self, id: UpdateId) -> Option<&UpdateRecord> {
        self.ledger.get(&id)
    }

    /// Whether nothing waits to be confirmed.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many wait to be confirmed.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Forgets what waits, as if it had become too old.
    pub fn drop_all(&mut self) {
        self.expire(u64::MAX);
    }

    pub fn next_id(&mut self, id: UpdateId) {
        self.next = id;
    }

    /// An empty list means the usual kinds; the choice is remembered.
    pub fn allow(&mut self, kinds: &[String]) {
        let kinds: BTreeSet<String> = kinds.iter().map(|kind| kind.to_lowercase()).collect();
        self.allowed = (!kinds.is_empty()).then_some(kinds);
    }

    /// `None` if the bot does not want this kind.
    pub fn push(&mut self, kind: &str, content: Value, now_ms: u64) -> Option<UpdateId> {
        let wanted = match &self.allowed {
            Some(kinds) => kinds.contains(kind),
            None => !ON_REQUEST.contains(&kind),
        };
        wanted.then(|| self.push_anyway(kind, content, now_ms))
    }

    /// Whatever the bot wants.
    pub fn push_anyway(&mut self, kind: &str, content: Value, now_ms: u64) -> UpdateId {
        let id = self.next;
        self.next += 1;
        let life = if kind == "callback_query" { TAP_LIFE } else { LIFE };
        let dies_ms = now_ms + u64::try_from(life.as_millis()).unwrap();
        self.queue.push_back(Queued {
            id,
            dies_ms,
            update: json!({"update_id": id, kind: content}),
        });
        let record = UpdateRecord {
            id,
            kind: kind.to_owned(),
            delivered: 0,
            confirmed: false,
            expired: false,
        };
        self.ledger.insert(id, record);
        self.stirred = true;
        id
    }

    pub fn expire(&mut self, now_ms: u64) {
        let ledger = &mut self.ledger;
        self.queue.retain(|queued| {
            let lives = queued.dies_ms > now_ms;
            if let Some(record) = ledger.get_mut(&queued.id).filter(|_| !lives) {
                record.expired = true;
            }
            lives
        });
    }

    /// What one look at the queue gives. An offset confirms all below it, a negative one all but
    /// the last ones.
    pub fn take(&mut self, offset: i64, limit: usize, now_ms: u64) -> Vec<Value> {
        self.expire(now_ms);
        let (first, next) =
            (self.queue.front().map_or(self.next, |queued| queued.id), i64::from(self.next));
        let offset = if offset < 0 {
            let keep = usize::try_from(-offset).unwrap_or(usize::MAX);
            let from = self.queue.len().saturating_sub(keep);
            self.queue.get(from).map_or(i64::from(first), |queued| i64::from(queued.id))
        } else if offset > next + 10 {
            // From another bot's life: the real server takes it for nonsense and starts at the
            // beginning.
            0
        } else {
            offset
        };
        while let Some(queued) = self.queue.pop_front_if(|queued| i64::from(queued.id) < offset) {
            if let Some(record) = self.ledger.get_mut(&queued.id) {
                record.confirmed = true;
            }
        }
        let given: Vec<_> = self
            .queue
            .iter()
            .take(limit)
            .map(|queued| (queued.id, queued.update.clone()))
            .collect();
        for (id, _) in &given {
            if let Some(record) = self.ledger.get_mut(id) {
                record.delivered += 1;
            }
        }
        given.into_iter().map(|(_, update)| update).collect()
    }

    /// Begins a long poll, which ends another one that waits.
    pub fn wait(&mut self) -> u64 {
        self.polls += 1;
        self.stirred |= self.waiting.replace(self.polls).is_some();
        self.polls
    }

    /// The long poll looks again: what there is, nothing yet, or a conflict.
    pub fn look(
        &mut self,
        poll: u64,
        offset: i64,
        limit: usize,
        now_ms: u64,
    ) -> Result<Option<Vec<Value>>, Refusal> {
        if self.waiting != Some(poll) {
            let other = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
            return Err(Refusal::new(409, other));
        }
        let given = self.take(offset, limit, now_ms);
        if given.is_empty() {
            return Ok(None);
        }
        self.waiting = None;
        Ok(Some(given))
    }
}
