//! What a button carries and how a tap is read back. Owns the text form of `callback_data`; must
//! not know what a tap does, or whether whoever tapped may.
//!
//! A button carries an id and a short code, never what it approves: that is frozen in the store.
//! Everything that is not exactly what [`Callback::encode`] makes or has made is rejected.

use std::str::FromStr;

use crate::domain::{ApprovalId, OwnerAnswer, ReminderAnswer, Trust};

/// Bot API, "InlineKeyboardButton", field `callback_data`: 1 to 64 bytes.
pub const CALLBACK_BYTES_MAX: usize = 64;
/// The longest id in a button, in bytes. Ours have ten.
const ID_BYTES_MAX: usize = 40;
/// The longest key of a choice in a button, in bytes. Ours have at most five.
const KEY_BYTES_MAX: usize = 16;

/// A button of an inline keyboard (Bot API, "InlineKeyboardButton").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    pub label: String,
    /// `callback_data`, at most [`CALLBACK_BYTES_MAX`] bytes.
    pub data: String,
}

/// What can be tapped under a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tap {
    /// The choice with this key; whether the question offers it is for the reader of the tap to
    /// see.
    Choice(String),
    /// Shows what "always" could mean.
    MenuAlways,
    /// Shows what "never" would mean.
    MenuNever,
    /// Back from a menu to the first keyboard.
    Back,
    /// Deny, with a word to the model in the next message.
    DenyWithWord,
    /// Show all of the call, and what each answer means.
    Whole,
    /// Show the numbers of a list.
    Choose,
}

/// What any of our buttons means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callback {
    Question(ApprovalId, Tap),
    /// Stop what runs; the short id is the door's own, for one running turn or call.
    Stop(String),
    /// Let the chat with this Telegram id in: a person's private one, or a group.
    Pair(i64),
    /// Leave the unknown user in the chat with this id alone.
    Ignore(i64),
    /// The owner's answer to the question with this id. An answer about a chat names the chat
    /// instead.
    Owner(OwnerAnswer, String),
    /// Show what undoing this turn would put back.
    ShowUndo(UndoOf),
    /// Put it back; the number is that of the message with the answer.
    UndoFiles(UndoOf, i32),
    /// Leave the files as they are.
    KeepFiles,
    /// Take this grant back, which this digest names.
    TakeBack {
        digest: i64,
        grant: i64,
    },
    /// Answer the reminder of this firing.
    Reminder(ReminderAnswer, String),
}

/// A turn whose files can be put back. The topic is named because Telegram does not say it of old
/// messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoOf {
    pub thread: Option<i64>,
    pub turn_seq: u64,
}

impl Callback {
    /// The button's data; `None` if an id or a key is outside of the alphabet or too long for a
    /// button.
    pub fn encode(&self) -> Option<String> {
        let data = match self {
            Self::Question(ApprovalId(id), tap) if is_id(id) => match tap {
                Tap::Choice(key) if is_key(key) => format!("q:{id}:={key}"),
                Tap::Choice(_) => return None,
                Tap::MenuAlways => format!("q:{id}:a"),
                Tap::MenuNever => format!("q:{id}:n"),
                Tap::Back => format!("q:{id}:b"),
                Tap::DenyWithWord => format!("q:{id}:w"),
                Tap::Whole => format!("q:{id}:i"),
                Tap::Choose => format!("q:{id}:c"),
            },
            Self::Stop(id) if is_id(id) => format!("s:{id}"),
            Self::Owner(answer, id) if is_id(id) => format!("o:{}:{id}", answer.as_str()),
            Self::Pair(chat) => format!("p:{chat}"),
            Self::Ignore(chat) => format!("i:{chat}"),
            Self::ShowUndo(of) => format!("u:{}", of.encode()),
            Self::UndoFiles(of, answer) => format!("r:{}:{answer}", of.encode()),
            Self::KeepFiles => "k:files".to_owned(),
            Self::TakeBack { digest, grant } => format!("g:{digest}:{grant}"),
            Self::Reminder(answer, firing) if is_firing(firing) => {
                format!("m:{}:{firing}", answer.as_str())
            }
            Self::Question(..) | Self::Stop(_) | Self::Owner(..) | Self::Reminder(..) => {
                return None;
            }
        };
        (data.len() <= CALLBACK_BYTES_MAX).then_some(data)
    }

    /// The callback that encodes, or did encode, to exactly this data. Anybody can send any data,
    /// so everything else is `None`.
    pub fn parse(data: &str) -> Option<Self> {
        if data.len() > CALLBACK_BYTES_MAX {
            return None;
        }
        let (kind, rest) = data.split_once(':')?;
        match kind {
            "q" => {
                let (id, code) = rest.split_once(':')?;
                let tap = match code {
                    "a" => Tap::MenuAlways,
                    "n" => Tap::MenuNever,
                    "b" => Tap::Back,
                    "w" => Tap::DenyWithWord,
                    "i" => Tap::Whole,
                    "c" => Tap::Choose,
                    _ => Tap::Choice(code.strip_prefix('=').filter(|key| is_key(key))?.to_owned()),
                };
                is_id(id).then(|| Self::Question(ApprovalId(id.to_owned()), tap))
            }
            "s" => is_id(rest).then(|| Self::Stop(rest.to_owned())),
            "o" => {
                let (answer, id) = rest.split_once(':')?;
                Self::owner(OwnerAnswer::parse(answer)?, id)
            }
            // Buttons of before one form was for all answers; messages with them still stand.
            "c" => Self::owner(OwnerAnswer::Accept, rest),
            "w" => Self::owner(OwnerAnswer::KeepWithheld, rest),
            "t" => {
                let (level, id) = rest.split_once(':')?;
                Self::owner(OwnerAnswer::Trust(Trust::parse(level)?), id)
            }
            "p" => number(rest).map(Self::Pair),
            "i" => number(rest).map(Self::Ignore),
            "u" => UndoOf::parse(rest).map(Self::ShowUndo),
            "r" => {
                let (of, answer) = rest.rsplit_once(':')?;
                Some(Self::UndoFiles(UndoOf::parse(of)?, number(answer)?))
            }
            "k" => (rest == "files").then_some(Self::KeepFiles),
            "g" => {
                let (digest, grant) = rest.split_once(':')?;
                Some(Self::TakeBack { digest: number(digest)?, grant: number(grant)? })
            }
            "m" => {
                let (answer, firing) = rest.split_once(':')?;
                let answer = ReminderAnswer::parse(answer)?;
                is_firing(firing).then(|| Self::Reminder(answer, firing.to_owned()))
            }
            _ => None,
        }
    }

    fn owner(answer: OwnerAnswer, id: &str) -> Option<Self> {
        is_id(id).then(|| Self::Owner(answer, id.to_owned()))
    }
}

/// A tap under a question; `None` for malformed data and for every other kind of button.
#[cfg(test)]
pub fn parse_data(data: &str) -> Option<(ApprovalId, Tap)> {
    match Callback::parse(data)? {
        Callback::Question(id, tap) => Some((id, tap)),
        _ => None,
    }
}

/// The button that stops what runs; `None` if `id` is no id that fits into a button.
pub fn stop_button(id: &str) -> Option<Button> {
    Some(Button { label: "Stop".to_owned(), data: Callback::Stop(id.to_owned()).encode()? })
}

/// A number is read back, so that no second spelling of it gets in.
fn number<T: FromStr + ToString>(text: &str) -> Option<T> {
    text.parse().ok().filter(|number: &T| number.to_string() == text)
}

impl UndoOf {
    /// `TURN` or `TURN.TOPIC`.
    fn encode(self) -> String {
        let thread = self.thread.map(|thread| format!(".{thread}")).unwrap_or_default();
        format!("{}{thread}", self.turn_seq)
    }

    fn parse(text: &str) -> Option<Self> {
        let (turn, thread) = match text.split_once('.') {
            Some((turn, thread)) => (turn, Some(number(thread)?)),
            None => (text, None),
        };
        Some(Self { thread, turn_seq: number(turn)? })
    }
}

fn is_id(id: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    (1..=ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(plain)
}

/// As the scheduler names a firing: `j3.1-1795455023`.
fn is_firing(id: &str) -> bool {
    (1..=ID_BYTES_MAX).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.'))
}

fn is_key(key: &str) -> bool {
    (1..=KEY_BYTES_MAX).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn undo() -> impl Strategy<Value = UndoOf> {
        (any::<u64>(), proptest::option::of(any::<i64>()))
            .prop_map(|(turn_seq, thread)| UndoOf { thread, turn_seq })
    }

    fn callbacks() -> impl Strategy<Value = Callback> {
        let tap = prop_oneof![
            "[a-zA-Z0-9]{1,16}".prop_map(Tap::Choice),
            Just(Tap::MenuAlways),
            Just(Tap::MenuNever),
            Just(Tap::Back),
            Just(Tap::DenyWithWord),
            Just(Tap::Whole),
            Just(Tap::Choose),
        ];
        let id = || "[a-zA-Z0-9_-]{1,40}";
        let trust = Trust::ALL.map(OwnerAnswer::Trust);
        let plain = [OwnerAnswer::Accept, OwnerAnswer::KeepWithheld];
        let answers = [plain.to_vec(), trust.to_vec()].concat();
        prop_oneof![
            (id(), tap).prop_map(|(id, tap)| Callback::Question(ApprovalId(id), tap)),
            id().prop_map(Callback::Stop),
            (proptest::sample::select(answers), id())
                .prop_map(|(answer, id)| Callback::Owner(answer, id)),
            any::<i64>().prop_map(Callback::Pair),
            any::<i64>().prop_map(Callback::Ignore),
            undo().prop_map(Callback::ShowUndo),
            (undo(), any::<i32>()).prop_map(|(of, answer)| Callback::UndoFiles(of, answer)),
            Just(Callback::KeepFiles),
            (any::<i64>(), any::<i64>())
                .prop_map(|(digest, grant)| Callback::TakeBack { digest, grant }),
            (proptest::sample::select(ReminderAnswer::ALL.to_vec()), "[a-z0-9.-]{1,40}")
                .prop_map(|(answer, firing)| Callback::Reminder(answer, firing)),
        ]
    }

    proptest! {
        #[test]
        fn every_callback_reads_back(callback in callbacks()) {
            let data = callback.encode().unwrap();
            prop_assert!(data.len() <= CALLBACK_BYTES_MAX);
            prop_assert_eq!(Callback::parse(&data), Some(callback));
        }

        #[test]
        fn there_is_one_spelling_of_each(data in "[qspixourkgm]?:?[a-z0-9_.:=+ -]{0,12}|.{0,80}") {
            let of_before = ["c:", "w:", "t:"].iter().any(|kind| data.starts_with(kind));
            if let Some(callback) = Callback::parse(&data).filter(|_| !of_before) {
                prop_assert_eq!(callback.encode(), Some(data));
            }
        }
    }

    #[test]
    fn what_is_malformed_is_rejected() {
        let long = format!("s:{}", "x".repeat(63));
        for data in [
            "",
            "q",
            "q:",
            "q::a",
            "q:id",
            "q:id:",
            "q:id:x",
            "q:id:=",
            "q:id:=a b",
            "q:id:a:",
            "q:i d:a",
            "Q:id:a",
            "s:",
            "s:é",
            "p:",
            "p:01",
            "p:+1",
            "p:-01",
            "p:--1",
            "i:",
            "i:99999999999999999999",
            "u:",
            "u:1.",
            "u:01",
            "u:-1",
            "r:1",
            "r:1:",
            "r:1:99999999999",
            "k:",
            "g:1",
            "g:1:",
            "g:1:02",
            "g:1:2:3",
            "m:done",
            "m:done:",
            "m:soon:j1.1-2",
            "m:done:j1/1",
            "t:hints",
            "t:hints:",
            "t:all:k3v9",
            "o:accept",
            "o:accept:",
            "o:yes:k3v9",
            "p:1 ",
            &long,
        ] {
            assert_eq!(Callback::parse(data), None, "{data}");
        }
        assert_eq!(
            parse_data("q:k3v9:=10m"),
            Some((ApprovalId("k3v9".into()), Tap::Choice("10m".into())))
        );
        assert_eq!(parse_data("s:k3v9"), None);
    }

    #[test]
    fn buttons_of_before_still_answer() {
        for (data, answer) in [
            ("c:k3v9", OwnerAnswer::Accept),
            ("w:k3v9", OwnerAnswer::KeepWithheld),
            ("t:hints:k3v9", OwnerAnswer::Trust(Trust::Hints)),
        ] {
            let read = Callback::parse(data).unwrap();
            assert_eq!(read, Callback::Owner(answer, "k3v9".to_owned()), "{data}");
            assert_eq!(Callback::parse(&read.encode().unwrap()), Some(read), "{data}");
        }
    }

    #[test]
    fn what_does_not_fit_makes_no_button() {
        assert_eq!(Callback::Question(ApprovalId("a:b".into()), Tap::Back).encode(), None);
        assert_eq!(
            Callback::Question(ApprovalId("a".into()), Tap::Choice("n WORDS".into())).encode(),
            None
        );
        assert_eq!(stop_button(&"x".repeat(41)), None);
        assert_eq!(stop_button("t7").unwrap().data, "s:t7");
    }
}
