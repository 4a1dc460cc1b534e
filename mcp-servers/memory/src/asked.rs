//! What was asked: each proposal that went to the owner, and when, in one file beside the index.
//! Owns that nobody is asked the same twice in a week, and how many proposals a turn and a day may
//! make. Must not know what a tap does.

use serde::{Deserialize, Serialize};

use crate::always::proposed::ProposedChange;
use crate::error::{Result, ToolError};
use crate::index::Entry;
use crate::memory::Memory;
use crate::note::{Note, time};
use crate::same::{Relation, is_same, relation};
use crate::{find, proposal, trash};

const FILE: &str = "asked.jsonl";
const MODE: u32 = 0o600;
const DAY_S: i64 = 86_400;

/// How long a proposal is open, and how long the same is not asked again. The host is told so, too.
pub const OPEN_S: i64 = 7 * DAY_S;

/// One question that was put to the owner.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AskedProposal {
    /// Seconds since 1970.
    pub at: i64,
    /// The id of the proposal.
    pub id: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<i64>,
    /// From whose words it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// The agent that asked, where several share these notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// When its owner said no, or its time was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<i64>,
}

impl AskedProposal {
    fn is_of_turn_of(&self, note: &Note) -> bool {
        self.is_of_conversation_of(note) && self.turn == note.source.turn
    }

    /// Whether it was asked in the same conversation, for the same people. Nobody else is told what
    /// it said.
    pub fn is_from_where(&self, note: &Note) -> bool {
        self.is_of_conversation_of(note) && self.who == note.source.who
    }

    /// Two agents have a session of one name each.
    fn is_of_conversation_of(&self, note: &Note) -> bool {
        self.session == note.source.session && self.agent == note.source.agent
    }

    /// Since when it rests.
    fn rests_since(&self) -> i64 {
        self.closed_at.unwrap_or(self.at)
    }
}

/// Whether something may be asked.
pub enum May {
    Ask,
    /// The same was asked in this very turn: the call is made again.
    Again(Box<Entry>),
    /// The same was asked before, and is no note.
    AskedAlready(AskedProposal),
}

/// # Errors
/// The turn or the day has had its share, or the file cannot be read.
///
/// `is_always`: it is for the file that every prompt holds, and not for a note.
pub fn may_ask(memory: &Memory, note: &Note, is_always: bool) -> Result<May> {
    // Whoever else hears the answer could find out word by word what the owner was asked.
    let is_near = |text: &str| match memory.is_heard_by_others() {
        true => is_same(text, &note.body),
        false => relation(text, &note.body) != Relation::Differs,
    };
    // Also one that a kill has kept from being noted down.
    let is_same_call = |open: &Note| {
        open.source == note.source && open.supersedes == note.supersedes && is_near(&open.body)
    };
    let of_turn = |(open, file): &(Entry, String)| {
        is_same_call(&open.note) && ProposedChange::of(file).is_some() == is_always
    };
    if let Some((open, _)) = proposal::open(memory)?.into_iter().find(of_turn) {
        return Ok(May::Again(Box::new(open)));
    }
    let asked = recent(memory)?;
    for one in asked.iter().rev().filter(|one| is_near(&one.text)) {
        if !is_note(memory, &one.id)? {
            return Ok(May::AskedAlready(one.clone()));
        }
    }
    let limits = memory.limits;
    let of_turn = asked.iter().filter(|one| one.turn.is_some() && one.is_of_turn_of(note)).count();
    if of_turn as u64 >= limits.proposals_per_turn_max {
        let option = limits.named("--proposals-per-turn-max");
        return Err(too_many(limits.proposals_per_turn_max, "this turn", &option));
    }
    let day = time::now() - DAY_S;
    let of_day = asked.iter().filter(|one| one.at > day).count();
    if of_day as u64 >= limits.proposals_per_day_max {
        let option = limits.named("--proposals-per-day-max");
        return Err(too_many(limits.proposals_per_day_max, "the last 24 hours", &option));
    }
    Ok(May::Ask)
}

fn too_many(max: u64, of: &str, option: &str) -> ToolError {
    ToolError::Refused(format!(
        "not proposed: {of} had {max} proposals, which is the most ({option}). \
         Nothing was kept. Say in your answer what is worth remembering; its owner can have it \
         remembered at once by /remember in claw."
    ))
}

/// Whether a proposal has become a note, also one that was merged into another or is forgotten now.
fn is_note(memory: &Memory, id: &str) -> Result<bool> {
    match find::note(&memory.index.db, id) {
        Ok(_) => Ok(true),
        Err(ToolError::NoNote { .. }) => Ok(trash::promoted(memory, id)?.is_some()),
        Err(error) => Err(error),
    }
}

/// Notes that this proposal is asked about. What is older than [`OPEN_S`] is let go.
///
/// # Errors
/// The file cannot be written.
pub fn note_down(memory: &Memory, note: &Note) -> Result<()> {
    let mut asked = recent(memory)?;
    asked.push(AskedProposal {
        at: time::now(),
        id: note.id.clone().unwrap_or_default(),
        text: note.body.clone(),
        session: note.source.session.clone(),
        turn: note.source.turn,
        who: note.source.who.clone(),
        agent: note.source.agent.clone(),
        closed_at: None,
    });
    write(memory, &asked)
}

/// Lets the same be asked again, because what was shown can no longer be done.
///
/// # Errors
/// The file cannot be written.
pub fn forget(memory: &Memory, id: &str) -> Result<()> {
    let mut asked = recent(memory)?;
    asked.retain(|one| one.id != id);
    write(memory, &asked)
}

/// Notes that a proposal is asked about no more: its owner said no, or its time was over. The same
/// rests for [`OPEN_S`] from now on. True if it was asked.
///
/// # Errors
/// The file cannot be read or written.
pub fn close(memory: &Memory, id: &str) -> Result<bool> {
    let mut asked = recent(memory)?;
    let Some(one) = asked.iter_mut().find(|one| one.id == id) else { return Ok(false) };
    if one.closed_at.is_none() {
        one.closed_at = Some(time::now());
        write(memory, &asked)?;
    }
    Ok(true)
}

fn write(memory: &Memory, asked: &[AskedProposal]) -> Result<()> {
    let lines: Vec<String> =
        asked.iter().filter_map(|one| serde_json::to_string(one).ok()).collect();
    let path = memory.state.join(FILE);
    claw_kit::durable::replace(&path, &format!("{}\n", lines.join("\n")), MODE)
        .map_err(|error| ToolError::io("write", FILE, &error))
}

/// A line that is not understood is passed over: at worst something is asked twice.
fn recent(memory: &Memory) -> Result<Vec<AskedProposal>> {
    let text = match std::fs::read_to_string(memory.state.join(FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ToolError::io("read", FILE, &error)),
    };
    let after = time::now() - OPEN_S;
    let lines = text.lines().filter_map(|line| serde_json::from_str::<AskedProposal>(line).ok());
    Ok(lines.filter(|one| one.rests_since() > after).collect())
}
