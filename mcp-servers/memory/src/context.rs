//! Notes that were said one after the other: what answers a question often stands beside the note
//! that holds its words. Owns what a neighbour and a session give to a note's score; must not know
//! filters or what is shown.
//!
//! The weights were found on conversations 0 to 4 of LoCoMo (`benches/retrieval.rs`).

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::holders::Holders;

/// What a note gives to those one and two turns away.
const BY_DISTANCE: [f64; 2] = [0.5, 0.25];

/// A note of more bytes gives less, because it stands for itself: half at twice as many.
const SHORT_BYTES: f64 = 400.0;

/// What the best notes of a session give to each of its notes that are found.
const OF_SESSION: f64 = 0.1;
const SESSION_BEST: usize = 3;

/// Notes that give to their neighbours, the best first. With 300 of them LoCoMo finds the same
/// (0.815 for 0.814 at 10, 0.928 for a session at 5), at three times the cost.
const GIVING_MAX: usize = 40;

/// Turns before and after a note in which words of the question count for it, each word once. What
/// is asked about was often said in several turns, and not in one that holds all of its words.
const AROUND_TURNS: i64 = 5;

/// What such a word counts for, times how rare it is. 0.25 to 0.5, within 4 to 8
/// turns, are much the same.
const OF_WORD: f64 = 0.35;

/// The words of a question, and the notes that hold them.
pub struct QueryWords<'a> {
    /// How many notes there are.
    pub notes: usize,
    /// At most 64, which are the bits of a number here.
    pub holders: &'a [Holders],
}

/// Its name, and the agent whose it is: two agents that share notes have a session of
/// one name each.
type Session = (String, Option<String>);

/// Where a note was said, and what it gives to its neighbours.
struct Place {
    session: Session,
    turn: i64,
    gives: f64,
}

/// The found notes and their neighbours, best first. Without sessions it is what was found.
///
/// # Errors
/// SQLite refuses.
pub fn ranked(
    db: &Connection,
    found: Vec<(i64, f64)>,
    words: &QueryWords<'_>,
) -> rusqlite::Result<Vec<(i64, f64)>> {
    let places = places(db, &found)?;
    if places.is_empty() {
        return Ok(found);
    }
    let mut scores: HashMap<i64, f64> = HashMap::new();
    let mut sessions: HashMap<&Session, Vec<f64>> = HashMap::new();
    let mut session_of: HashMap<i64, &Session> = HashMap::new();
    let mut words_around: HashMap<i64, u64> = HashMap::new();
    for (row, score) in &found {
        *scores.entry(*row).or_default() += score;
        let Some(Place { session, turn, gives }) = places.get(row) else { continue };
        session_of.insert(*row, session);
        // The best come first, because `found` is in order.
        let best = sessions.entry(session).or_default();
        if best.len() < SESSION_BEST {
            best.push(*score);
        }
        let held = words.words_of(*row);
        *words_around.entry(*row).or_default() |= held;
        for (near, distance) in neighbours(db, session, *turn)? {
            *words_around.entry(near).or_default() |= held;
            let Some(weight) = BY_DISTANCE.get(distance) else { continue };
            *scores.entry(near).or_default() += weight * gives * score;
            session_of.insert(near, session);
        }
    }
    let weights = words.weights();
    let mut ranked: Vec<(i64, f64)> = scores
        .into_iter()
        .map(|(row, score)| {
            let best = session_of.get(&row).and_then(|session| sessions.get(session));
            let of_session = OF_SESSION * best.map_or(0.0, |best| best.iter().sum());
            let words = words_around.get(&row).copied().unwrap_or_default();
            let of_words = (0..).zip(&weights).filter(|(bit, _)| words >> bit & 1 == 1);
            (row, score + of_session + of_words.map(|(_, weight)| weight).sum::<f64>())
        })
        .collect();
    ranked.sort_by(|(row, score), (other_row, other)| {
        other.total_cmp(score).then_with(|| row.cmp(other_row))
    });
    Ok(ranked)
}

/// Of the first found notes, those that name session and turn.
fn places(db: &Connection, found: &[(i64, f64)]) -> rusqlite::Result<HashMap<i64, Place>> {
    let mut statement = db.prepare_cached(
        "SELECT session, agent, turn, octet_length(body) FROM notes
         WHERE row = ? AND session IS NOT NULL AND turn IS NOT NULL",
    )?;
    let mut places = HashMap::new();
    for (row, _) in found.iter().take(GIVING_MAX) {
        let place = statement
            .query_row([row], |row| {
                let bytes: i64 = row.get(3)?;
                let gives = (SHORT_BYTES / bytes.max(1) as f64).min(1.0);
                Ok(Place { session: (row.get(0)?, row.get(1)?), turn: row.get(2)?, gives })
            })
            .optional()?;
        places.extend(place.map(|place| (*row, place)));
    }
    Ok(places)
}

impl QueryWords<'_> {
    /// A bit for each word that a note holds.
    fn words_of(&self, row: i64) -> u64 {
        let bits = (0..u64::BITS).zip(self.holders);
        let held = bits.filter(|(_, one)| one.rows.binary_search(&row).is_ok());
        held.fold(0, |words, (bit, _)| words | 1 << bit)
    }

    /// What each word counts for. One in too many notes counts for nothing.
    fn weights(&self) -> Vec<f64> {
        let weight = |one: &Holders| match one.rows.len() {
            0 => 0.0,
            _ if one.is_cut() => 0.0,
            rows => OF_WORD * (self.notes as f64 / rows as f64).ln_1p(),
        };
        self.holders.iter().map(weight).collect()
    }
}

/// Rows of the same session up to [`AROUND_TURNS`] away, each with its distance less one.
fn neighbours(
    db: &Connection,
    (session, agent): &Session,
    turn: i64,
) -> rusqlite::Result<Vec<(i64, usize)>> {
    db.prepare_cached(
        "SELECT row, abs(turn - ?2) FROM notes WHERE session = ?1 AND turn BETWEEN ?2 - ?3 AND ?2 + ?3
            AND turn <> ?2 AND agent IS ?4",
    )?
    .query_map(params![session, turn, AROUND_TURNS, agent], |row| {
        let distance: i64 = row.get(1)?;
        Ok((row.get(0)?, usize::try_from(distance - 1).unwrap_or(usize::MAX)))
    })?
    .collect()
}
