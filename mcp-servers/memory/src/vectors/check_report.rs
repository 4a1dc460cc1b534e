//! The report of `--check` about the vectors: whether they take part in a search, and why not. Owns
//! the sentences; must not know where they are printed.

use std::time::Duration;

use claw_kit::counted::counted;

use super::args::Use;
use super::store::Trial;
use super::trial::ASKED_MIN;
use super::{Vectors, is_gain};

/// How long a check makes vectors that are missing.
const CHECK_TIME_MAX: Duration = Duration::from_secs(120);

/// How long an endpoint may take to show that it is there.
pub const PROBE_TIME_MAX: Duration = Duration::from_secs(10);

/// What is said where no endpoint is configured.
pub const NONE: &str = "Hits are found by words; no embeddings endpoint is configured.";

impl Vectors {
    /// Makes what is missing, which may take two minutes, and asks the endpoint in any case.
    pub fn fill_for_a_check(&self) {
        self.fill(Some(CHECK_TIME_MAX));
        self.probe(self.batch_time());
    }

    /// Whether the endpoint cannot be asked, or has not answered last.
    pub fn has_fault(&self) -> bool {
        self.endpoint.is_err() || self.locked().fault.is_some()
    }

    /// One line, without asking the endpoint.
    pub fn sentence(&self) -> String {
        let inner = self.locked();
        let looked = self.dimension(&inner.store).and_then(|dimension| {
            let counts = inner.store.counts(&self.model, dimension.unwrap_or_default())?;
            Ok((counts, self.trial(&inner.store)?))
        });
        let ((with, without), trial) = match looked {
            Ok(looked) => looked,
            Err(error) => {
                return format!("Hits are found by words: the vectors cannot be read: {error}.");
            }
        };
        let have = if with == 1 { "has" } else { "have" };
        let all = counted(with + without, "note");
        let shown = match &self.endpoint {
            Ok(endpoint) => &endpoint.shown,
            Err(why) => return format!("Hits are found by words: {}.", why.trim_end_matches('.')),
        };
        if let Some(fault) = &inner.fault {
            return format!(
                "Hits are found by words: {fault}. {with} of {all} {have} vectors, which are kept."
            );
        }
        let refused = match inner.refused.len() {
            0 => String::new(),
            1 => " It does not take 1 of the notes, which is found by words.".to_owned(),
            some => format!(" It does not take {some} of the notes, which are found by words."),
        };
        if without > inner.refused.len() as u64 {
            return format!(
                "{with} of {all} {have} vectors of `{}`; the others get theirs while a server runs, and are found by words.{refused}",
                self.model
            );
        }
        let notes = counted(with, "note");
        let sent = format!("The text of {notes} and every query goes to {shown}.{refused}");
        match (self.args.embeddings_use, trial) {
            (Use::Alone, _) => {
                format!(
                    "Hits are found by vectors of `{}` alone, as configured. {sent}",
                    self.model
                )
            }
            (Use::Always, _) => format!(
                "Hits are found by words and by vectors of `{}`, as configured. {sent}",
                self.model
            ),
            (Use::Auto, None) => {
                format!("Hits are found by words: vectors have not been tried yet. {sent}")
            }
            (Use::Auto, Some(trial)) => format!("{} {sent}", self.tried(&trial)),
        }
    }

    fn tried(&self, trial: &Trial) -> String {
        let model = &self.model;
        let Trial { asked, by_words, by_both, .. } = trial;
        let figures = format!(
            "{asked} subjects find their notes with {by_words:.2} by words and {by_both:.2} with vectors (1 is always first)"
        );
        match is_gain(trial) {
            true if *asked < ASKED_MIN => {
                let notes = match asked {
                    1 => "1 note with a subject of its own is".to_owned(),
                    many => format!("{many} notes with a subject of their own are"),
                };
                format!(
                    "Hits are found by words and by vectors of `{model}`; {notes} too few to try which is better ({ASKED_MIN} are needed)."
                )
            }
            true => format!("Hits are found by words and by vectors of `{model}`: {figures}."),
            false => format!(
                "Hits are found by words: vectors of `{model}` gain nothing here, so they are off. {figures}. With {} they are used all the same.",
                self.args.set_to("use", "\"always\"")
            ),
        }
    }
}
