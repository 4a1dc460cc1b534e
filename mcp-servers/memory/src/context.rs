//! Notes that were said one after the other: what answers a question often stands beside the note
//! that holds its words. Owns what a neighbour and a session give to a note's score; must not know
//! filters or what is shown.
//!
//! The weights were found on conversations 0 to 4 of LoCoMo (`benches/retrieval.rs`).

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};

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

/// Its name, and the agent whose it is: two agents that share notes have a session of one name each.
type Session = (String, Option<String>);

/// The found notes and their neighbours, best first. Without sessions it is what was found.
///
/// # Errors
/// SQLite refuses.
pub fn ranked(db: &Connection, found: Vec<(i64, f64)>) -> rusqlite::Result<Vec<(i64, f64)>> {
    let mut said = HashMap::new();
    for (row, _) in found.iter().take(GIVING_MAX) {
        let place: Option<(Session, i64, f64)> = db
            .prepare_cached(
                "SELECT session, agent, turn, octet_length(body) FROM notes
                 WHERE row = ? AND session IS NOT NULL AND turn IS NOT NULL",
            )?
            .query_row([row], |row| {
                let bytes: i64 = row.get(3)?;
                let gives = (SHORT_BYTES / bytes.max(1) as f64).min(1.0);
                Ok(((row.get(0)?, row.get(1)?), row.get(2)?, gives))
            })
            .optional()?;
        said.extend(place.map(|place| (*row, place)));
    }
    if said.is_empty() {
        return Ok(found);
    }
    let mut scores: HashMap<i64, f64> = HashMap::new();
    let mut sessions: HashMap<&Session, Vec<f64>> = HashMap::new();
    let mut session_of: HashMap<i64, &Session> = HashMap::new();
    for (row, score) in &found {
        *scores.entry(*row).or_default() += score;
        let Some((session, turn, gives)) = said.get(row) else { continue };
        session_of.insert(*row, session);
        // The best come first, because `found` is in order.
        let best = sessions.entry(session).or_default();
        if best.len() < SESSION_BEST {
            best.push(*score);
        }
        for (near, distance) in neighbours(db, session, *turn)? {
            let Some(weight) = BY_DISTANCE.get(distance) else { continue };
            *scores.entry(near).or_default() += weight * gives * score;
            session_of.insert(near, session);
        }
    }
    let mut ranked: Vec<(i64, f64)> = scores
        .into_iter()
        .map(|(row, score)| {
            let best = session_of.get(&row).and_then(|session| sessions.get(session));
            (row, score + OF_SESSION * best.map_or(0.0, |best| best.iter().sum()))
        })
        .collect();
    ranked.sort_by(|(row, score), (other_row, other)| {
        other.total_cmp(score).then_with(|| row.cmp(other_row))
    });
    Ok(ranked)
}

/// Rows of the same session up to two turns away, each with its distance less one.
fn neighbours(
    db: &Connection,
    (session, agent): &Session,
    turn: i64,
) -> rusqlite::Result<Vec<(i64, usize)>> {
    let reach = i64::try_from(BY_DISTANCE.len()).unwrap_or_default();
    db.prepare_cached(
        "SELECT row, abs(turn - ?2) FROM notes WHERE session = ?1 AND turn BETWEEN ?2 - ?3 AND ?2 + ?3
            AND turn <> ?2 AND agent IS ?4",
    )?
    .query_map(params![session, turn, reach, agent], |row| {
        let distance: i64 = row.get(1)?;
        Ok((row.get(0)?, usize::try_from(distance - 1).unwrap_or(usize::MAX)))
    })?
    .collect()
}
