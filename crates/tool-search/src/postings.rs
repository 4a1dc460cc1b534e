//! Which tool holds which stem, how often and in which column, as FTS5 has parted its words. Must
//! not know requests.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use rusqlite::Connection;

use crate::fields::{COLUMNS, COVERING, NAME, SERVER, UNCOUNTED};
use crate::related;

/// BM25's usual values: how soon a word that stands often counts no more, and how much a long text
/// counts less.
const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.75;

/// A stem in a tool.
#[derive(Debug)]
pub struct Posting {
    pub place: usize,
    /// How often it stands in each column.
    counts: [u32; COLUMNS.len()],
}

impl Posting {
    pub fn is_in_name(&self) -> bool {
        self.is_in(NAME)
    }

    /// Whether it stands where a request can be covered by it.
    pub fn covers(&self) -> bool {
        (0..COVERING).any(|column| self.is_in(column))
    }

    pub fn is_in_server(&self) -> bool {
        self.is_in(SERVER)
    }

    fn is_in(&self, column: usize) -> bool {
        self.counts.get(column).is_some_and(|count| *count > 0)
    }

    /// How often it stands there, each time as much as its column weighs.
    fn frequency(&self) -> f64 {
        self.counts.iter().zip(COLUMNS).map(|(count, (_, weight))| f64::from(*count) * weight).sum()
    }
}

/// The words of all tools.
#[derive(Debug)]
pub struct Postings {
    by_stem: BTreeMap<String, Vec<Posting>>,
    /// By tool: how long it is beside an average one, without what is said about its parameters. A
    /// tool that explains itself well must not fall behind one that does not.
    lengths: Vec<f64>,
    /// By tool: what all words of its name weigh.
    names_weigh: Vec<f64>,
    /// By stem: the stems of words that mean the same.
    same_meaning: HashMap<String, Vec<String>>,
}

impl Postings {
    /// Of the table `in_tools` that FTS5 shows of its index, and of the stems of `related::GROUPS`.
    pub fn read(db: &Connection, tools: usize, groups: &[Vec<String>]) -> rusqlite::Result<Self> {
        let mut statement = db.prepare("SELECT term, doc, col FROM in_tools ORDER BY term, doc")?;
        let mut rows = statement.query([])?;
        let mut by_stem = BTreeMap::<String, Vec<Posting>>::new();
        while let Some(row) = rows.next()? {
            let place = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(usize::MAX);
            let column: String = row.get(2)?;
            let held = by_stem.entry(row.get(0)?).or_default();
            if held.last().is_none_or(|last| last.place != place) {
                held.push(Posting { place, counts: [0; COLUMNS.len()] });
            }
            let at = COLUMNS.iter().position(|(name, _)| *name == column);
            let count = held.last_mut().zip(at).and_then(|(last, at)| last.counts.get_mut(at));
            count.into_iter().for_each(|count| *count += 1);
        }
        let mut all = Self {
            by_stem,
            lengths: vec![0.0; tools],
            names_weigh: vec![0.0; tools],
            same_meaning: HashMap::new(),
        };
        all.measure();
        all.relate(groups);
        Ok(all)
    }

    fn measure(&mut self) {
        let (mut lengths, mut names_weigh) = (self.lengths.clone(), self.names_weigh.clone());
        for (stem, held) in &self.by_stem {
            let weight = self.weight(stem);
            for posting in held {
                let counted = posting.counts.iter().enumerate().filter(|(at, _)| *at != UNCOUNTED);
                let words: u32 = counted.map(|(_, count)| count).sum();
                if let Some(length) = lengths.get_mut(posting.place) {
                    *length += f64::from(words);
                }
                let name = names_weigh.get_mut(posting.place).filter(|_| posting.is_in_name());
                name.into_iter().for_each(|name| *name += weight);
            }
        }
        let average = (lengths.iter().sum::<f64>() / lengths.len().max(1) as f64).max(1.0);
        lengths.iter_mut().for_each(|length| *length /= average);
        (self.lengths, self.names_weigh) = (lengths, names_weigh);
    }

    fn relate(&mut self, groups: &[Vec<String>]) {
        for group in groups {
            for stem in group {
                let others = group.iter().filter(|other| *other != stem);
                let known = others.filter(|other| self.by_stem.contains_key(*other));
                self.same_meaning.entry(stem.clone()).or_default().extend(known.cloned());
            }
        }
    }

    pub fn of(&self, stem: &str) -> &[Posting] {
        self.by_stem.get(stem).map_or(&[], Vec::as_slice)
    }

    /// Other stems that tools hold, each with how much it counts beside this one.
    pub fn related(&self, stem: &str) -> Vec<(&str, f64)> {
        let meaning = self.same_meaning.get(stem).into_iter().flatten();
        let meaning = meaning.map(|other| (other.as_str(), related::SAME_MEANING));
        let family = related::family_of(stem).into_iter().flat_map(|beginning| {
            let from = self
                .by_stem
                .range::<str, _>((Bound::Included(beginning), Bound::Unbounded))
                .map(|(other, _)| other.as_str());
            from.take_while(move |other| other.starts_with(beginning))
        });
        let family = family.filter(|other| related::are_family(stem, other));
        meaning.chain(family.map(|other| (other, related::SAME_FAMILY))).collect()
    }

    /// The rarer a word, the more it weighs.
    pub fn weight(&self, stem: &str) -> f64 {
        let (all, having) = (self.lengths.len() as f64, self.of(stem).len() as f64);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    /// What all words of a tool's name weigh.
    pub fn name_weighs(&self, place: usize) -> f64 {
        self.names_weigh.get(place).copied().unwrap_or_default().max(f64::MIN_POSITIVE)
    }

    /// What BM25 gives a tool for a stem of this weight.
    pub fn score(&self, posting: &Posting, weight: f64) -> f64 {
        let length = self.lengths.get(posting.place).copied().unwrap_or(1.0);
        let frequency = posting.frequency();
        let long = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length);
        weight * frequency * (SATURATION + 1.0) / (frequency + long)
    }
}
