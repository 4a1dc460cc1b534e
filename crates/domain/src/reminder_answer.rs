//! What an owner answers to a reminder by a button. Owns the stored form; must not
//! know what comes of it.

/// The three buttons below a reminder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReminderAnswer {
    Done,
    InTenMinutes,
    /// At the same time of day.
    Tomorrow,
}

impl ReminderAnswer {
    pub const ALL: [Self; 3] = [Self::Done, Self::InTenMinutes, Self::Tomorrow];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::InTenMinutes => "10m",
            Self::Tomorrow => "tomorrow",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.as_str() == text)
    }
}
