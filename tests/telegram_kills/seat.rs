//! One person at one place, who writes, taps and waits as people do: by what is on the screen. Must
//! not know the store, or that claw is killed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::acts::{Act, Asked, MODE_CODE, Order, button_of, is_allowing};
use crate::botapi::{Message, MessageId, Place, Said, Tap, User, World};
use crate::intent::{NO, Plan, STEPS, YES, plan, plan_for_list, plan_for_staged};
use crate::killing::model::answer_to;
use crate::killing::random::Random;
use crate::killing::remembered;

/// What the message says that asks for a reason.
const ASKS_FOR_REASON: &str = "Denied once you have replied";
/// How Telegram's own limit shows: a tap that nobody answered in this time does nothing any more,
/// in milliseconds.
const TAP_LIFE_MS: u64 = 150_000;

/// The button of the first call of a list.
const FIRST: &str = ":=1";

/// The longest that somebody looks at the screen between two deeds.
const LOOKS_MS_MAX: u64 = 200;

/// The longest that somebody leaves the stop switch on.
const SWITCHED_MS_MAX: u64 = 1_500;

/// What somebody does next.
pub enum Deed {
    Say {
        text: String,
        reply_to: Option<MessageId>,
        after: After,
        /// Goes with a file.
        paper: bool,
    },
    Edit {
        said: Said,
        text: String,
        name: String,
    },
    /// `old`: the message does not show this button any more.
    Tap {
        message: MessageId,
        data: String,
        old: bool,
    },
}

/// What is noted of something that was said.
#[derive(Clone)]
pub enum After {
    Task(String),
    Command(Asked),
    Order(Order),
    Reason { approval: String },
    Remember(String),
}

pub struct Seat {
    pub number: usize,
    pub user: User,
    pub place: Place,
    pub session: String,
    pub acts: Vec<Act>,
    /// How a message begins, so that the bot feels addressed.
    greeting: String,
    random: Random,
    named: usize,
    said: Vec<Said>,
    plans: HashMap<String, Plan>,
    /// The last tap on each message, with the button that it was.
    taps: HashMap<MessageId, (Tap, String)>,
    /// Every message that ever showed an open question, with its button that allows.
    asked: HashMap<MessageId, String>,
    /// The question to which a reason was promised, with the tap and its message.
    word: Option<(String, Tap, MessageId)>,
    queue: Vec<Deed>,
    awaited: Vec<String>,
    /// A turn was stopped since the last `/new`, so the model may still answer what an undo would
    /// have it answer again.
    stopped: bool,
    /// The stop switch was turned on here, and not off again.
    switched_on: bool,
    patient_until: Instant,
    /// People look before they do the next thing.
    looks_until: Instant,
}

impl Seat {
    pub fn new(
        number: usize,
        user: User,
        place: Place,
        session: String,
        greeting: &str,
        seed: u64,
    ) -> Self {
        Self {
            number,
            user,
            place,
            session,
            acts: Vec::new(),
            greeting: greeting.to_owned(),
            random: Random(seed),
            named: 0,
            said: Vec::new(),
            plans: HashMap::new(),
            taps: HashMap::new(),
            asked: HashMap::new(),
            word: None,
            queue: Vec::new(),
            awaited: Vec::new(),
            stopped: false,
            switched_on: false,
            patient_until: Instant::now(),
            looks_until: Instant::now(),
        }
    }

    /// What to do now that this is on the screen; `talks` if new things may be begun.
    pub fn next(&mut self, world: &World, talks: bool) -> Option<Deed> {
        if let Some(deed) = self.queue.pop() {
            return Some(deed);
        }
        if Instant::now() < self.looks_until {
            return None;
        }
        let screen: Vec<&Message> = world
            .messages(self.place.chat)
            .filter(|one| one.by_bot && one.topic == self.place.topic)
            .collect();
        if let Some(deed) = self.give_reason(world, &screen) {
            return Some(deed);
        }
        for message in screen.iter().filter(|message| !message.deleted) {
            if let Some(deed) = self.answer(world, message, talks) {
                return Some(deed);
            }
        }
        if self.switched_on && (!talks || Instant::now() >= self.patient_until) {
            self.switched_on = false;
            return Some(self.says("/panic off", After::Command(Asked::Switch)));
        }
        if !talks {
            return None;
        }
        self.awaited
            .retain(|name| !screen.iter().any(|message| message.text.contains(&answer_to(name))));
        if !self.awaited.is_empty() && Instant::now() < self.patient_until {
            return None;
        }
        Some(self.begin(&screen))
    }

    /// Whether somebody here has tapped a button that lets the question's call run.
    pub fn has_said_yes(&self, question: &str) -> bool {
        self.acts.iter().any(|act| matches!(act, Act::Tap { approval, code, .. } if approval == question && is_allowing(code)))
    }

    /// Whether somebody here has tapped a button of this question that says something for longer,
    /// or has given a mode by a command, where the question is empty.
    pub fn has_answered(&self, question: &str) -> bool {
        let lasting = |code: &str| {
            code == "=never" || code == MODE_CODE || (is_allowing(code) && code != "=y")
        };
        let said = |act: &Act| match act {
            Act::Tap { approval, code, .. } => approval == question && lasting(code),
            // A mode that is given by a command has no question.
            Act::Command { asked: Asked::Mode, .. } => question.is_empty(),
            _ => false,
        };
        self.acts.iter().any(said)
    }

    /// Notes what was done.
    pub fn done(&mut self, deed: Deed, said: Option<Said>, tap: Option<Tap>) {
        self.looks_until = Instant::now() + Duration::from_millis(self.random.below(LOOKS_MS_MAX));
        let update = said.and_then(|said| said.update);
        match (deed, tap) {
            (Deed::Say { text, after, paper, .. }, _) => {
                let act = match after {
                    After::Task(name) => {
                        if paper {
                            self.acts.push(Act::Paper { name: name.clone() });
                        }
                        self.said.extend(said);
                        self.awaits(&name);
                        Act::Task { name }
                    }
                    After::Command(asked) => Act::Command { asked, update },
                    After::Remember(word) => Act::Remember { word },
                    After::Order(order) => {
                        self.stopped =
                            order == Order::Stop || (self.stopped && order != Order::Clear);
                        Act::Order { order }
                    }
                    After::Reason { approval } => Act::Reason { approval, text, update },
                };
                self.acts.push(act);
            }
            (Deed::Edit { name, .. }, _) => {
                self.awaits(&name);
                self.acts.push(Act::Task { name });
            }
            (Deed::Tap { message, data, old }, Some(tap)) => {
                if let Some((approval, code)) = button_of(&data) {
                    let (approval, code) = (approval.to_owned(), code.to_owned());
                    if code == "w" {
                        self.word = Some((approval.clone(), tap.clone(), message));
                    }
                    self.acts.push(Act::Tap {
                        tap: tap.clone(),
                        approval,
                        code,
                        old,
                        at: Instant::now(),
                    });
                }
                self.taps.insert(message, (tap, data));
            }
            (Deed::Tap { .. }, None) => {}
        }
    }

    fn awaits(&mut self, name: &str) {
        let patience = if self.random.chance(20) { self.random.below(250) } else { 5_000 };
        self.patient_until = Instant::now() + Duration::from_millis(patience);
        self.awaited = vec![name.to_owned()];
    }

    /// The reply that was promised, once claw has asked for it.
    fn give_reason(&mut self, world: &World, screen: &[&Message]) -> Option<Deed> {
        let (approval, tap, on) = self.word.clone()?;
        let said = match told(world, &tap) {
            Told::Nothing => return None,
            Told::Words(said) => said,
            Told::Lost => String::new(),
        };
        self.word = None;
        if !said.starts_with("Reply with the reason") {
            return None;
        }
        let asks =
            |message: &&&Message| message.id > on && message.text.starts_with(ASKS_FOR_REASON);
        let asking = screen.iter().rev().find(asks)?;
        self.named += 1;
        let text = format!("reason s{:02}r{} and no other", self.number, self.named);
        Some(Deed::Say {
            text,
            reply_to: Some(asking.id),
            after: After::Reason { approval },
            paper: false,
        })
    }

    /// What to do about a message, if it shows an open question.
    fn answer(&mut self, world: &World, message: &Message, talks: bool) -> Option<Deed> {
        let buttons =
            || message.buttons.iter().flatten().filter_map(|button| button.data.as_deref());
        let data = |which: &str| {
            let labelled = message.button(which).and_then(|button| button.data.as_deref());
            labelled.or_else(|| buttons().find(|data| data.ends_with(which))).map(str::to_owned)
        };
        let staged = message.buttons.iter().flatten().any(|button| button.text.starts_with('✅'));
        let list = ["Choose…", "None", "None of the others"];
        let list = list.iter().any(|label| message.button(label).is_some());
        let (yes, no) = if staged || list { (YES, NO) } else { ("Allow once", "Deny") };
        let approval = buttons().find_map(button_of).map(|(approval, _)| approval.to_owned())?;
        self.asked.entry(message.id).or_insert_with(|| format!("q:{approval}:=y"));
        if self.word.as_ref().is_some_and(|(promised, ..)| *promised == approval) {
            return None;
        }
        let planned = match (staged, list) {
            (true, _) => plan_for_staged,
            (_, true) => plan_for_list,
            _ => plan,
        };
        let mut plan =
            *self.plans.entry(approval.clone()).or_insert_with(|| planned(&mut self.random));
        if plan == Plan::Ignore && !talks || plan == Plan::Word && self.word.is_some() {
            plan = Plan::Tap(yes);
        }
        if let Some((tap, before)) = self.taps.get(&message.id) {
            match told(world, tap) {
                Told::Nothing => return None,
                // The server has forgotten it, so the person taps again.
                Told::Lost => {}
                Told::Words(_) => {
                    let second = match plan {
                        Plan::Menu(_, second) => data(second).filter(|second| second != before),
                        // By way of the numbers; what is left then is denied.
                        Plan::First => data(FIRST).or_else(|| data(NO)),
                        // Somebody who has opened a menu goes back to what he means.
                        _ => data("Back").filter(|back| back != before),
                    };
                    return second.map(|data| Deed::Tap { message: message.id, data, old: false });
                }
            }
        }
        if plan == Plan::Command {
            self.plans.insert(approval, Plan::Tap(yes));
            return Some(self.says("/mode edits", After::Command(Asked::Mode)));
        }
        let id = message.id;
        let tap = |label: &str| data(label).map(|data| Deed::Tap { message: id, data, old: false });
        match plan {
            // Ten minutes are not offered for every call.
            Plan::Tap(label) => tap(label).or_else(|| tap("Back")).or_else(|| tap(yes)),
            Plan::Menu(first, second) => tap(second).or_else(|| tap(first)),
            Plan::Word => tap("Deny and say why").or_else(|| tap("Back")),
            Plan::Twice => self.and_then(tap(yes), tap(yes)),
            Plan::Both => self.and_then(tap(yes), tap(no)),
            Plan::First => tap("Choose…").or_else(|| tap(NO)),
            // Not every list has a call that a mode lets through.
            Plan::Mode => tap(&format!(":{MODE_CODE}")).or_else(|| tap(yes)),
            Plan::Ignore | Plan::Command => None,
        }
    }

    fn and_then(&mut self, first: Option<Deed>, second: Option<Deed>) -> Option<Deed> {
        self.queue.extend(second);
        first
    }

    /// Something new.
    fn begin(&mut self, screen: &[&Message]) -> Deed {
        match self.random.below(100) {
            0..5 => self.says("/status", After::Command(Asked::Status)),
            5..8 => self.says("/help", After::Command(Asked::Help)),
            8..10 => self.says("/model", After::Command(Asked::Model)),
            10..12 => self.says("/usage", After::Command(Asked::Usage)),
            12..15 => {
                self.named += 1;
                let text = format!("/nosuchcommand{}x{}", self.number, self.named);
                self.says(&text, After::Command(Asked::Unknown))
            }
            15..18 => self.says(Order::Clear.command(), After::Order(Order::Clear)),
            18..22 => self.says(Order::Stop.command(), After::Order(Order::Stop)),
            22..25 if !self.stopped => self.says(Order::Undo.command(), After::Order(Order::Undo)),
            32..34 => {
                self.named += 1;
                let word = remembered::order(&format!("s{:02}n{}", self.number, self.named));
                self.says(&format!("/remember {word}"), After::Remember(word))
            }
            25..27 => self.says(Order::Compact.command(), After::Order(Order::Compact)),
            27 => {
                self.switched_on = true;
                self.patient_until =
                    Instant::now() + Duration::from_millis(self.random.below(SWITCHED_MS_MAX));
                self.says("/panic on", After::Command(Asked::Switch))
            }
            28..32 => self.taps_something_old(screen).unwrap_or_else(|| self.asks_for_work()),
            34..38 => self.edits().unwrap_or_else(|| self.asks_for_work()),
            _ => self.asks_for_work(),
        }
    }

    fn says(&self, text: &str, after: After) -> Deed {
        Deed::Say { text: text.to_owned(), reply_to: None, after, paper: false }
    }

    fn asks_for_work(&mut self) -> Deed {
        let (name, text) = self.task();
        let text = format!("{}{text}", self.greeting);
        let paper = self.random.chance(12);
        Deed::Say { text, reply_to: None, after: After::Task(name), paper }
    }

    fn edits(&mut self) -> Option<Deed> {
        let said = *self.said.last()?;
        let (name, text) = self.task();
        Some(Deed::Edit { said, text: format!("{}{text}", self.greeting), name })
    }

    fn taps_something_old(&mut self, screen: &[&Message]) -> Option<Deed> {
        let is_over = |message: &&&Message| {
            message.buttons.is_empty() && self.asked.contains_key(&message.id)
        };
        let over: Vec<&&Message> = screen.iter().filter(is_over).collect();
        // What was asked again is still open elsewhere: a tap that counted would run something.
        let mut old: Vec<MessageId> = over
            .iter()
            .filter(|message| message.text.starts_with("Asked again"))
            .map(|message| message.id)
            .collect();
        if old.is_empty() {
            old.extend(over.iter().map(|message| message.id));
        }
        let message =
            self.random.pick(old.get(old.len().saturating_sub(3)..).unwrap_or_default())?;
        let data = self.asked.get(&message)?.clone();
        Some(Deed::Tap { message, data, old: true })
    }

    /// A name and the words of a task.
    fn task(&mut self) -> (String, String) {
        self.named += 1;
        let long = if self.random.chance(6) { "L" } else { "" };
        let name = format!("s{:02}n{}{long}", self.number, self.named);
        let steps = self.random.pick(&STEPS).unwrap_or_default();
        let named = |step: &str| {
            step.split_once('-').map(|(kind, part)| format!("{kind}-{}{part}", name.to_lowercase()))
        };
        let groups = steps
            .split('|')
            .map(|group| group.split(',').filter_map(named).collect::<Vec<_>>().join(","));
        let steps = groups.collect::<Vec<_>>().join("|");
        let text = format!("TASK {name} [{steps}] END");
        (name, text)
    }
}

/// What somebody who has tapped sees.
enum Told {
    Nothing,
    Words(String),
    /// The clock on the button has gone, and nothing came.
    Lost,
}

fn told(world: &World, tap: &Tap) -> Told {
    let Some(tapped) = world.taps.get(&tap.query) else { return Told::Lost };
    match &tapped.answer {
        Some((words, _)) => Told::Words(words.clone()),
        None if world.now_ms() > tapped.at_ms + TAP_LIFE_MS => Told::Lost,
        None => Told::Nothing,
    }
}
