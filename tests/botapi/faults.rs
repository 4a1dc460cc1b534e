//! What goes wrong on purpose: which calls, how often, in which way. Owns the choice. Must not know
//! how a fault is done.

use std::time::Duration;

use super::Shared;

/// What happens instead of, before or after the effect of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// 429 with `retry_after` in seconds; nothing is done.
    TooMany(u64),
    /// An answer of a proxy in front of the Bot API, in HTML; nothing is done. teloxide sleeps 10 s
    /// after a code from 500 on.
    Status(u16),
    /// A refusal in the Bot API's own form; nothing is done.
    Refuse { code: u16, description: String },
    /// An answer with code 200 that is no JSON; the effect happened.
    Garbage,
    /// The connection is closed before anything is done.
    CutBefore,
    /// The connection is closed without an answer after the effect happened.
    CutAfter,
    /// First nothing, then everything as usual.
    Delay(Duration),
    /// Nothing, without an end; the effect does not happen.
    Hang,
    /// Nothing, without an end, after the effect happened.
    HangAfter,
}

enum Often {
    Times(usize),
    Always,
    Sometimes { chance: f64, dice: u64 },
}

struct Rule {
    fault: Fault,
    method: Option<String>,
    chat: Option<i64>,
    /// So many calls that fit go well before.
    spared: usize,
    often: Often,
}

impl Rule {
    fn fits(&self, method: &str, chat: Option<i64>) -> bool {
        let method_fits =
            self.method.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(method));
        method_fits && (self.chat.is_none() || self.chat == chat)
    }

    fn strikes(&mut self) -> bool {
        if self.spared > 0 {
            self.spared -= 1;
            return false;
        }
        match &mut self.often {
            Often::Always => true,
            Often::Times(left) => {
                let strikes = *left > 0;
                *left = left.saturating_sub(1);
                strikes
            }
            Often::Sometimes { chance, dice } => roll(dice) < *chance,
        }
    }
}

/// SplitMix64, between 0 and 1.
fn roll(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    f64::from(u32::try_from(z >> 32).unwrap_or(0)) / 4_294_967_296.0
}

#[derive(Default)]
pub struct Faults {
    rules: Vec<Rule>,
}

impl Faults {
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// The fault of this call: the first rule that fits and strikes.
    pub fn pick(&mut self, method: &str, chat: Option<i64>) -> Option<Fault> {
        let mut fitting = self.rules.iter_mut().filter(|rule| rule.fits(method, chat));
        let fault = fitting.find_map(|rule| rule.strikes().then(|| rule.fault.clone()));
        self.rules.retain(|rule| !matches!(rule.often, Often::Times(0)));
        fault
    }
}

/// A fault that still has to be told how often; all calls unless it is told which. Downloads are
/// the method `download`.
#[must_use = "a fault begins when it is told how often"]
pub struct Faulty<'api> {
    shared: &'api Shared,
    fault: Fault,
    method: Option<String>,
    chat: Option<i64>,
    spared: usize,
}

impl<'api> Faulty<'api> {
    pub(super) fn new(shared: &'api Shared, fault: Fault) -> Self {
        Self { shared, fault, method: None, chat: None, spared: 0 }
    }

    pub fn on(mut self, method: &str) -> Self {
        self.method = Some(method.to_owned());
        self
    }

    pub fn in_chat(mut self, chat: i64) -> Self {
        self.chat = Some(chat);
        self
    }

    /// Not before so many calls that fit have gone well.
    pub fn after(mut self, calls: usize) -> Self {
        self.spared = calls;
        self
    }

    /// The next calls that fit.
    pub fn times(self, times: usize) {
        self.begin(Often::Times(times));
    }

    /// Until [`super::BotApi::heal`].
    pub fn always(self) {
        self.begin(Often::Always);
    }

    /// With a chance between 0 and 1 for each call, the same ones for the same seed and order of
    /// calls.
    pub fn sometimes(self, chance: f64, seed: u64) {
        self.begin(Often::Sometimes { chance, dice: seed });
    }

    fn begin(self, often: Often) {
        let Self { fault, method, chat, spared, .. } = self;
        let rule = Rule { fault, method, chat, spared, often };
        self.shared.change(|world| world.faults.rules.push(rule));
    }
}
