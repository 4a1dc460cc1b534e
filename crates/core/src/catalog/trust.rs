//! How far an owner trusts each server of others: by their file, else by their answer. Owns the
//! question at first sight. Must not know rules, or how a question is shown.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Catalog;
use super::first_sight::Summary;
use crate::domain::{
    Blame, Blamed, OwnerAnswer, OwnerQuestionAbout, OwnerQuestionKind, Trust, UnixMillis,
};
use crate::hub::INSTRUCTIONS;
use crate::store::{AuditEntry, PinRow, StoreError, Tx, new_approval_id};

/// How far a server is trusted, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trusted {
    pub level: Trust,
    pub by: TrustedBy,
    /// When it was seen first; `None` for one of before this was kept, and for one never seen.
    pub first_seen_ms: Option<UnixMillis>,
}

impl Trusted {
    /// Somebody has said so of the server as it is started now.
    pub fn is_answered(&self) -> bool {
        !matches!(self.by, TrustedBy::Nobody | TrustedBy::OtherLaunch)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustedBy {
    /// It is a server of claw's own, which the built-in rules know.
    Itself,
    /// `tools.trust` of `claw.toml`.
    File,
    Owner {
        by: String,
        at_ms: UnixMillis,
    },
    /// Nobody has chosen.
    Nobody,
    /// An owner believed its hints, and it is started in another way since.
    OtherLaunch,
}

/// What an answer to the question about a server did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustAnswer {
    Set(Trust),
    /// The file says something else, and overrides it.
    FileSays(Trust),
    /// It was answered before, or the server is started in another way now.
    Over,
}

/// Why nothing was set.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("mcp.json has no server `{0}`")]
    Unknown(String),
    #[error("`{0}` is a server of claw's own; policy.toml says what its tools may do")]
    Own(String),
    #[error(
        "`tools.trust` in claw.toml says `{level}` for `{server}`, and overrides this; change it there"
    )]
    File { server: String, level: &'static str },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Blamed for TrustError {
    fn blame(&self) -> Blame {
        match self {
            Self::Unknown(_) | Self::Own(_) | Self::File { .. } => Blame::User,
            Self::Store(error) => error.blame(),
        }
    }
}

impl Catalog {
    /// How far a server is trusted now. A yes to its hints counts for the launch that it was given
    /// for; "nothing" and "ask" stay where that changes.
    pub fn trusted(&self, server: &str) -> Result<Trusted, StoreError> {
        if self.hub.builtin(server).is_some() {
            let (level, by) = (Trust::Ask, TrustedBy::Itself);
            return Ok(Trusted { level, by, first_seen_ms: None });
        }
        let row = self.store.read(|tx| tx.trust(server))?;
        let first_seen_ms = row.as_ref().map(|row| row.first_seen_ms);
        if let Some(level) = self.settings().tools.trust(server) {
            return Ok(Trusted { level, by: TrustedBy::File, first_seen_ms });
        }
        let same = |launch: &str| self.hub.launch_pin(server).as_deref() == Some(launch);
        let (level, by) = match row {
            Some(row) => match row.level {
                Some(Trust::Hints) if !same(&row.launch) => (Trust::Ask, TrustedBy::OtherLaunch),
                Some(level) => {
                    (level, TrustedBy::Owner { by: row.decided_by, at_ms: row.decided_ms })
                }
                None => (Trust::Ask, TrustedBy::Nobody),
            },
            None => (Trust::Ask, TrustedBy::Nobody),
        };
        Ok(Trusted { level, by, first_seen_ms })
    }

    /// Whether anything of a server may be offered. Where that cannot be read, nothing is.
    pub(super) fn offers_any(&self, server: &str) -> bool {
        self.trusted(server).is_ok_and(|trusted| trusted.level != Trust::Nothing)
    }

    /// An owner's word about a server. It ends the open question about it.
    pub async fn set_trust(&self, server: &str, level: Trust, by: &str) -> Result<(), TrustError> {
        let launch = self.launch_to_trust(server)?;
        if let Some(file) = self.settings().tools.trust(server) {
            let (server, level) = (server.to_owned(), file.as_str());
            return Err(TrustError::File { server, level });
        }
        let (server, by) = (server.to_owned(), by.to_owned());
        self.store
            .write(move |tx| {
                tx.end_owner_questions(OwnerQuestionKind::NewServer, &server)?;
                set(tx, &server, &launch, level, &by)
            })
            .await?;
        Ok(())
    }

    fn launch_to_trust(&self, server: &str) -> Result<String, TrustError> {
        if self.hub.builtin(server).is_some() {
            return Err(TrustError::Own(server.to_owned()));
        }
        self.hub.launch_pin(server).ok_or_else(|| TrustError::Unknown(server.to_owned()))
    }

    /// An owner's answer to the question about a server, by its id: one compare-and-set. It counts
    /// for the server as the question has shown it.
    pub async fn answer_about_trust(
        &self,
        id: &str,
        level: Trust,
        by: &str,
    ) -> Result<TrustAnswer, StoreError> {
        let about = self.store.read(|tx| tx.owner_question(id))?.map(|asked| asked.about);
        let Some(OwnerQuestionAbout::NewServer { server, launch }) = about else {
            return Ok(TrustAnswer::Over);
        };
        if let Some(file) = self.settings().tools.trust(&server) {
            return Ok(TrustAnswer::FileSays(file));
        }
        if self.hub.launch_pin(&server).as_ref() != Some(&launch) {
            return Ok(TrustAnswer::Over);
        }
        let (id, by) = (id.to_owned(), by.to_owned());
        self.store
            .write(move |tx| {
                if !tx.decide_owner_question(&id, OwnerAnswer::Trust(level), &by)? {
                    return Ok(TrustAnswer::Over);
                }
                set(tx, &server, &launch, level, &by)?;
                Ok(TrustAnswer::Set(level))
            })
            .await
    }

    /// What a server said about itself when it was listed last. `None` if it never was.
    pub fn summary(&self, server: &str) -> Result<Option<Summary>, StoreError> {
        let pins = self.store.read(|tx| tx.pins(None))?;
        let form = self.hub.launch_form(server).unwrap_or(Value::Null);
        let of_server: Vec<&PinRow> = pins.iter().filter(|pin| pin.server == server).collect();
        if of_server.iter().all(|pin| pin.tool == INSTRUCTIONS) {
            return Ok(None);
        }
        // What waits for a yes is what the server says now.
        let listed = of_server.iter().map(|pin| {
            let raw = pin.changed.as_ref().filter(|_| pin.withheld).map(|(_, raw)| raw);
            (pin.tool.as_str(), raw.unwrap_or(&pin.raw))
        });
        let mut summary =
            Summary::of(server, &form, &listed.collect::<Vec<_>>(), &others(&pins, server));
        summary.runs = self.redactor.redact(&summary.runs).into_owned();
        Ok(Some(summary))
    }

    /// The servers that an owner is not asked about: claw's own, and those that the file names.
    pub(super) fn settled(&self) -> BTreeSet<String> {
        let names = self.hub.servers().into_iter().map(|status| status.name);
        let tools = &self.settings().tools;
        names
            .filter(|name| self.hub.builtin(name).is_some() || tools.trust(name).is_some())
            .collect()
    }
}

/// What claw tells at the console of a server that it has not seen before.
pub(super) fn first_sight(claw: &str, server: &str, shown: &str) -> String {
    format!(
        "New server `{server}`. {} Each call asks until you choose: `{claw} mcp trust {server} \
         nothing`, `ask` or `hints`.",
        shown.replace('\n', " ")
    )
}

/// What has to be known of a server to ask about it, beside its row.
pub(super) struct FirstSight<'a> {
    pub(super) server: &'a str,
    pub(super) launch: &'a str,
    pub(super) form: &'a Value,
    /// By name, as it lists them; what it says about itself is one of them.
    pub(super) listed: Vec<(&'a str, &'a Value)>,
}

impl FirstSight<'_> {
    /// Asks about a server that was never listed before, and about one whose hints an owner
    /// believed and that is started in another way now. What was asked, if anything was.
    pub(super) fn ask(
        &self,
        tx: &Tx<'_>,
        is_new: bool,
        settled: &BTreeSet<String>,
        redact: impl Fn(&str) -> String,
    ) -> Result<Option<String>, StoreError> {
        let (server, launch) = (self.server, self.launch);
        let row = tx.trust(server)?;
        let has_level = row.as_ref().is_some_and(|row| row.level.is_some());
        let was_believed =
            row.as_ref().is_some_and(|row| row.level == Some(Trust::Hints) && row.launch != launch);
        if settled.contains(server) || !was_believed && (has_level || !is_new) {
            return Ok(None);
        }
        let pins = tx.pins(None)?;
        let mut summary = Summary::of(server, self.form, &self.listed, &others(&pins, server));
        summary.runs = redact(&summary.runs);
        let shown = summary.brief();
        tx.first_seen(server, launch)?;
        tx.end_owner_questions(OwnerQuestionKind::NewServer, server)?;
        let id = new_approval_id(getrandom::fill)?;
        let about =
            OwnerQuestionAbout::NewServer { server: server.to_owned(), launch: launch.to_owned() };
        tx.ask_owner(&id.0, &about, &shown)?;
        Ok(Some(shown))
    }
}

/// The names of the tools of all other servers.
fn others<'p>(pins: &'p [PinRow], server: &str) -> Vec<&'p str> {
    let others = pins.iter().filter(|pin| pin.server != server && pin.tool != INSTRUCTIONS);
    others.map(|pin| pin.tool.as_str()).collect()
}

fn set(tx: &Tx<'_>, server: &str, launch: &str, level: Trust, by: &str) -> Result<(), StoreError> {
    tx.set_trust(server, launch, level, by)?;
    let body = json!({"server": server, "level": level.as_str(), "launch": launch, "by": by});
    tx.audit(&AuditEntry { kind: "trust", call: String::new(), body })
}

#[cfg(test)]
mod tests {
    use super::first_sight;

    #[test]
    fn a_new_server_is_told_with_the_command_of_its_agent() {
        let told = first_sight("claw --agent work", "docs", "6 tools.");
        assert!(told.contains("`claw --agent work mcp trust docs nothing`"), "{told}");
    }
}
