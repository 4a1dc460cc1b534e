//! What the servers' tools looked like when the owner last accepted them, and what they look like
//! now if that differs.

use rusqlite::{OptionalExtension as _, params};
use serde_json::Value;

use super::{StoreError, Tx, now_ms};

/// A tool as a server lists it now.
#[derive(Clone, Debug)]
pub struct SeenTool {
    pub tool: String,
    pub pin: String,
    pub raw: Value,
}

/// A pinned tool: the accepted form that is in use.
#[derive(Clone, Debug)]
pub struct PinRow {
    pub server: String,
    pub tool: String,
    pub launch: String,
    pub pin: String,
    pub raw: Value,
    /// A form that no owner has accepted yet, with its pin. Kept until it is accepted, or the tool
    /// changes once more.
    pub changed: Option<(String, Value)>,
    /// The tool was last listed in a form that is not accepted.
    pub withheld: bool,
    /// The last change that a person was told of.
    pub told_pin: Option<String>,
    /// The last change that the owner was shown.
    pub shown_pin: Option<String>,
}

/// Of one tool, besides the one in use.
const FORMS_MAX: u32 = 8;

impl Tx<'_> {
    /// The launch digest and the protocol era under which a server was last listed.
    pub fn launch(&self, server: &str) -> Result<Option<(String, String)>, StoreError> {
        let mut query =
            self.conn.prepare_cached("SELECT launch, era FROM launches WHERE server = ?1")?;
        Ok(query.query_row([server], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    /// Every server that was listed, with the protocol era it spoke.
    pub fn launches(&self) -> Result<Vec<(String, String)>, StoreError> {
        let mut query = self.conn.prepare_cached("SELECT server, era FROM launches")?;
        // One that cannot be read holds no other up: the doctor names it.
        let mut rows = query.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            if let (Ok(server), Ok(era)) = (row.get(0), row.get(1)) {
                found.push((server, era));
            }
        }
        Ok(found)
    }

    /// Whether a server was listed since its instructions are pinned, too.
    pub fn knows_instructions(&self, server: &str) -> Result<bool, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT 1 FROM launches WHERE server = ?1 AND knows_instructions = 1",
        )?;
        Ok(query.exists([server])?)
    }

    pub fn set_launch(&self, server: &str, launch: &str, era: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO launches(server, launch, era, listed_ms, knows_instructions) VALUES (?1, ?2, ?3, ?4, 1)
                 ON CONFLICT(server) DO UPDATE SET launch = ?2, era = ?3, listed_ms = ?4, knows_instructions = 1",
            )?
            .execute(params![server, launch, era, now_ms()])?;
        Ok(())
    }

    /// All pins, or those of one server, ordered by server and tool.
    pub fn pins(&self, server: Option<&str>) -> Result<Vec<PinRow>, StoreError> {
        let sql = "SELECT server, tool, launch, pin, raw, new_pin, new_raw, shown_pin, withheld, told_pin FROM pins
             WHERE ?1 IS NULL OR server = ?1 ORDER BY server, tool";
        self.all(sql, [server], |row| {
            let raw: String = row.get(4)?;
            let changed: (Option<String>, Option<String>) = (row.get(5)?, row.get(6)?);
            Ok(PinRow {
                server: row.get(0)?,
                tool: row.get(1)?,
                launch: row.get(2)?,
                pin: row.get(3)?,
                raw: serde_json::from_str(&raw)?,
                changed: match changed {
                    (Some(pin), Some(raw)) => Some((pin, serde_json::from_str(&raw)?)),
                    _ => None,
                },
                shown_pin: row.get(7)?,
                withheld: row.get(8)?,
                told_pin: row.get(9)?,
            })
        })
    }

    /// Whether a tool as it is now is in a form that was accepted.
    pub fn is_pinned(&self, server: &str, tool: &str, pin: &str) -> Result<bool, StoreError> {
        let mut query = self.conn.prepare_cached(
            "SELECT 1 FROM pins WHERE server = ?1 AND tool = ?2 AND pin = ?3
             UNION ALL SELECT 1 FROM pin_forms WHERE server = ?1 AND tool = ?2 AND pin = ?3",
        )?;
        Ok(query.exists([server, tool, pin])?)
    }

    /// Keeps an accepted form that is not in use now, at most [`FORMS_MAX`] of a tool: the oldest
    /// go.
    pub fn add_form(
        &self,
        server: &str,
        tool: &str,
        pin: &str,
        raw: &Value,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO pin_forms(server, tool, pin, raw, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT(server, tool, pin) DO UPDATE SET at_ms = ?5",
            )?
            .execute(params![server, tool, pin, raw.to_string(), now_ms()])?;
        self.conn
            .prepare_cached(
                "DELETE FROM pin_forms WHERE server = ?1 AND tool = ?2 AND pin NOT IN
                 (SELECT pin FROM pin_forms WHERE server = ?1 AND tool = ?2 ORDER BY at_ms DESC, pin LIMIT ?3)",
            )?
            .execute(params![server, tool, FORMS_MAX])?;
        Ok(())
    }

    /// Forgets the other accepted forms of a server's tools: it is started by another command.
    pub fn drop_forms(&self, server: &str) -> Result<(), StoreError> {
        self.conn.prepare_cached("DELETE FROM pin_forms WHERE server = ?1")?.execute([server])?;
        Ok(())
    }

    /// Notes whether a tool was last listed in a form that is not accepted.
    pub fn set_withheld(&self, server: &str, tool: &str, withheld: bool) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE pins SET withheld = ?3 WHERE server = ?1 AND tool = ?2")?
            .execute(params![server, tool, withheld])?;
        self.pins_changed()
    }

    /// Notes that a person was told of this change. False when that was known.
    pub fn set_told(&self, server: &str, tool: &str, pin: &str) -> Result<bool, StoreError> {
        let changed = self
            .conn
            .prepare_cached("UPDATE pins SET told_pin = ?3 WHERE server = ?1 AND tool = ?2 AND told_pin IS NOT ?3")?
            .execute([server, tool, pin])?;
        Ok(changed == 1)
    }

    /// Goes up with every change of a pin, by whichever process.
    pub fn pins_version(&self) -> Result<u64, StoreError> {
        Ok(self.meta(PINS_VERSION)?.and_then(|version| version.parse().ok()).unwrap_or_default())
    }

    pub(super) fn pins_changed(&self) -> Result<(), StoreError> {
        self.set_meta(PINS_VERSION, &(self.pins_version()? + 1).to_string())
    }

    /// Notes that the owner was shown this change of a tool.
    pub fn set_shown(&self, server: &str, tool: &str, pin: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE pins SET shown_pin = ?3 WHERE server = ?1 AND tool = ?2")?
            .execute([server, tool, pin])?;
        Ok(())
    }

    /// Pins a tool as accepted, and lifts its quarantine.
    pub fn accept_pin(
        &self,
        server: &str,
        launch: &str,
        seen: &SeenTool,
    ) -> Result<(), StoreError> {
        self.use_form(server, launch, seen)?;
        self.conn
            .prepare_cached(
                "UPDATE pins SET new_pin = NULL, new_raw = NULL WHERE server = ?1 AND tool = ?2",
            )?
            .execute([server, &seen.tool])?;
        Ok(())
    }

    /// Takes an accepted form as the one in use. What waits for a yes goes on waiting.
    pub fn use_form(&self, server: &str, launch: &str, seen: &SeenTool) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO pins(server, tool, launch, pin, raw, seen_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT(server, tool) DO UPDATE SET launch = ?3, pin = ?4, raw = ?5, withheld = 0, seen_ms = ?6",
            )?
            .execute(params![server, seen.tool, launch, seen.pin, seen.raw.to_string(), now_ms()])?;
        self.pins_changed()
    }

    /// Puts a tool that matches no accepted form into quarantine.
    pub fn set_changed(&self, server: &str, seen: &SeenTool) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE pins SET new_pin = ?3, new_raw = ?4, withheld = 1 WHERE server = ?1 AND tool = ?2")?
            .execute(params![server, seen.tool, seen.pin, seen.raw.to_string()])?;
        self.pins_changed()
    }

    /// Forgets every pin of a server that is no longer configured or lists none of them.
    pub fn drop_pin(&self, server: &str, tool: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM pins WHERE server = ?1 AND tool = ?2")?
            .execute([server, tool])?;
        self.pins_changed()
    }
}

/// Before the name of a server.
pub(super) const OFFERS: &str = "offers.";
const PINNED_BY: &str = "pins.version";
pub(super) const PINS_VERSION: &str = "pins.changes";

impl Tx<'_> {
    /// The launch digest under which a server was so slow to list its tools that nobody waited for
    /// it.
    pub fn late(&self, server: &str) -> Result<Option<String>, StoreError> {
        self.meta(&format!("late.{server}"))
    }

    pub fn set_late(&self, server: &str, launch: &str) -> Result<(), StoreError> {
        self.set_meta(&format!("late.{server}"), launch)
    }
}

impl Tx<'_> {
    /// The version of claw that pinned the tools of its own servers.
    /// What is remembered of what a server has besides its tools, as JSON.
    pub fn offers(&self, server: &str) -> Result<Option<String>, StoreError> {
        self.meta(&format!("{OFFERS}{server}"))
    }

    pub fn set_offers(&self, server: &str, offers: &str) -> Result<(), StoreError> {
        self.set_meta(&format!("{OFFERS}{server}"), offers)
    }

    pub fn pinned_by(&self) -> Result<Option<String>, StoreError> {
        self.meta(PINNED_BY)
    }

    pub fn set_pinned_by(&self, version: &str) -> Result<(), StoreError> {
        self.set_meta(PINNED_BY, version)
    }
}
