//! Whether each tool is still the one that was pinned: the comparison of what a server lists with
//! the store, and the tool behind a call. Must not know rules, or what a model is offered.

use std::sync::{Arc, PoisonError};

use serde_json::{Value, json};

use super::Catalog;
use super::quarantine::ask_anew;
use super::trust::{FirstSight, first_sight};
use crate::domain::{ToolCall, ToolHints, Trust, audit_kind, escape};
use crate::hub::schema::{self, Fit};
use crate::hub::{INSTRUCTIONS, ServerTools, ToolEntry};
use crate::store::{AuditEntry, PinRow, SeenTool, StoreError, Tx};

/// A tool that may be called: it is what its pin says.
#[derive(Clone, Debug)]
pub struct Tool {
    pub pin: String,
    /// JSON Schema of its arguments, as pinned.
    pub input_schema: Value,
    /// What its server says of it.
    pub hints: ToolHints,
    /// How far the owner trusts its server.
    pub trust: Trust,
    /// What its server calls it for people (MCP, `Tool.title`, else `annotations.title`).
    pub title: Option<String>,
    pub env_names: String,
    /// Not offered to a model.
    pub hidden: bool,
}

impl Tool {
    /// What is wrong with the arguments of a call by the tool's schema. `None` if they fit, or if
    /// that cannot be said: then the server finds out.
    pub fn misfit(&self, call: &ToolCall) -> Option<String> {
        match schema::fit(&self.input_schema, &call.arguments) {
            Fit::Fits => None,
            Fit::Misfit(why) => Some(why),
            Fit::Unchecked(why) => {
                tracing::debug!(
                    server = call.server,
                    tool = call.tool,
                    why,
                    "arguments were not compared with the schema"
                );
                None
            }
        }
    }
}

impl Catalog {
    /// The tool behind a call, from its running server, if it is what its pin says. `Err` is the
    /// reason for a denial.
    pub async fn tool(&self, server: &str, tool: &str) -> Result<Tool, String> {
        if let Some(own) = self.own(server, tool).await {
            return own;
        }
        let trust = self.trusted(server).map_err(|error| error.to_string())?.level;
        if trust == Trust::Nothing {
            return Err(offers_nothing(server));
        }
        let listed = self.hub.tools(server).await.map_err(|error| error.to_string())?;
        if !self.is_reconciled(&listed) {
            self.reconcile(&listed).await.map_err(|error| error.to_string())?;
        }
        let found = listed.tools.iter().find(|entry| entry.name == tool);
        let Some(entry) = found.filter(|_| self.settings().tools.has(server, tool)) else {
            return Err(no_tool(server, tool));
        };
        // The row is read every time: another process may have put the tool into quarantine, or
        // taken it out.
        let pinned = || self.store.read(|tx| tx.is_pinned(server, tool, &entry.pin));
        if !pinned().map_err(|error| error.to_string())? {
            self.reconcile(&listed).await.map_err(|error| error.to_string())?;
            if !pinned().map_err(|error| error.to_string())? {
                let is_new = self.is_new(server, tool).map_err(|error| error.to_string())?;
                return Err(withheld(&self.settings().claw, server, tool, is_new));
            }
        }
        Ok(Tool {
            pin: entry.pin.clone(),
            input_schema: entry.input_schema.clone(),
            hints: ToolHints::of(&entry.raw),
            trust,
            title: title(&entry.raw),
            env_names: self.hub.env_names(server).join(","),
            hidden: self.hides(server, tool, &entry.raw),
        })
    }

    /// The pin of a tool that may be proposed. The rows are those of the server. `Err` is half a
    /// sentence that says why there is none.
    pub fn pin_for<'p>(
        &self,
        server: &str,
        tool: &str,
        pins: &'p [PinRow],
    ) -> Result<&'p PinRow, String> {
        let pin = pins.iter().find(|pin| pin.tool == tool && self.has(server, tool));
        match pin {
            None => Err(format!(
                "there is no tool `{}` on the server `{server}`",
                escape::visible(tool)
            )),
            Some(pin) if pin.withheld => {
                Err(withheld(&self.settings().claw, server, tool, pin.pin.is_empty()))
            }
            Some(pin) => Ok(pin),
        }
    }

    /// Whether no form of it was ever accepted.
    fn is_new(&self, server: &str, tool: &str) -> Result<bool, StoreError> {
        let pins = self.store.read(|tx| tx.pins(Some(server)))?;
        Ok(pins.iter().any(|pin| pin.tool == tool && pin.pin.is_empty()))
    }

    /// Whether this very list was compared with the store before. Comparing reads every pin of the
    /// server with its JSON, which costs more than the whole rest of a call.
    pub(super) fn is_reconciled(&self, listed: &Arc<ServerTools>) -> bool {
        let known = self.reconciled.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&listed.server).is_some_and(|known| Arc::ptr_eq(known, listed))
    }

    /// Compares what a server lists with its pins, and writes down what is new or differs.
    pub(super) async fn reconcile(
        &self,
        listed: &Arc<ServerTools>,
    ) -> Result<Vec<PinRow>, StoreError> {
        let pins = self.compare(listed).await?;
        self.remember(listed).await?;
        let mut known = self.reconciled.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(listed.server.clone(), listed.clone());
        Ok(pins)
    }

    async fn compare(&self, listed: &Arc<ServerTools>) -> Result<Vec<PinRow>, StoreError> {
        let listed = listed.clone();
        let own = self.hub.builtin(&listed.server).is_some();
        let known = |tx: &Tx<'_>| {
            let server = &listed.server;
            Ok(((tx.launch(server)?, tx.pins(Some(server))?), tx.knows_instructions(server)?))
        };
        let (stored, knows_instructions) = self.store.read(known)?;
        // Our own servers are this very program, whatever starts it; a stranger is who its launch
        // command says.
        let same_start = match &stored.0 {
            None => false,
            Some(_) if own => self.same_program(&stored.1),
            Some((launch, _)) => *launch == listed.launch_pin,
        };
        if same_start && knows_instructions && all_pinned(&listed, own, &stored.1) {
            return Ok(stored.1);
        }
        let (program, claw) = (self.settings().program.clone(), self.settings().claw.clone());
        let form = self.hub.launch_form(&listed.server).unwrap_or(Value::Null);
        let (settled, redactor) = (self.settled(), self.redactor.clone());
        let late = self.late.clone();
        self.store
            .write(move |tx| {
                // Another process may have pinned it since we looked: who is first is settled in
                // here.
                let before = tx.launch(&listed.server)?;
                if before.as_ref().is_some_and(|(launch, _)| *launch != listed.launch_pin) {
                    tx.drop_forms(&listed.server)?;
                }
                let pins = tx.pins(Some(&listed.server))?;
                // Where the row of a server is lost, its pins still say what was accepted.
                let first_seen = own || (before.is_none() && pins.is_empty());
                let mut changed = false;
                let first_words =
                    first_seen || (before.is_some() && !tx.knows_instructions(&listed.server)?);
                for tool in entries(&listed, own) {
                    let pinned = pins.iter().find(|pin| pin.tool == tool.name);
                    let first = if tool.name == INSTRUCTIONS { first_words } else { first_seen };
                    changed |= reconcile_tool(tx, &listed, tool, pinned, first)?;
                }
                let is_gone = |pin: &&PinRow| {
                    (own || pin.tool == INSTRUCTIONS)
                        && !entries(&listed, own).any(|tool| tool.name == pin.tool)
                };
                for gone in pins.iter().filter(is_gone) {
                    tx.drop_pin(&gone.server, &gone.tool)?;
                }
                if changed {
                    ask_anew(tx, &listed.server)?;
                }
                let sight = FirstSight {
                    server: &listed.server,
                    launch: &listed.launch_pin,
                    form: &form,
                    listed: named(&listed, own),
                };
                let asked = sight
                    .ask(tx, before.is_none(), &settled, |text| redactor.redact(text).into())?;
                if let Some(shown) = asked {
                    // In here, because whoever waits for it may be stopped.
                    late.tell(first_sight(&claw, &listed.server, &shown));
                }
                tx.set_launch(&listed.server, &listed.launch_pin, listed.era.as_str())?;
                if own {
                    tx.set_pinned_by(&program)?;
                }
                tx.pins(Some(&listed.server))
            })
            .await
    }
}

pub fn no_tool(server: &str, tool: &str) -> String {
    format!("the server `{server}` has no tool `{tool}` now")
}

/// Why it is not offered. `is_new`: no form of it was ever accepted.
pub(super) fn withheld(claw: &str, server: &str, tool: &str, is_new: bool) -> String {
    let what = match tool {
        INSTRUCTIONS => format!("what the server `{server}` says about itself"),
        tool => format!("the tool `{server}/{tool}`"),
    };
    let (why, shown) = if is_new {
        ("is new since you accepted this server", "it")
    } else {
        ("is not what it was when you accepted it", "the change")
    };
    format!(
        "{what} {why}, so it is withheld; `{claw} tools diff` shows {shown} and \
         `{claw} tools accept {server}` takes it"
    )
}

/// What a model is told of a server of which nothing is offered.
pub(super) fn offers_nothing(server: &str) -> String {
    format!("the owner offers nothing of the server `{server}`")
}

/// A stranger's name for its tool.
pub(super) fn title(raw: &Value) -> Option<String> {
    let title = raw.get("title").or_else(|| raw.get("annotations")?.get("title"))?;
    title.as_str().map(str::to_owned)
}

/// What is pinned of a server: its tools, and a stranger's words about itself.
fn entries(listed: &ServerTools, own: bool) -> impl Iterator<Item = &ToolEntry> {
    listed.tools.iter().chain(listed.instructions.iter().filter(move |_| !own))
}

/// The same, by name, as the server lists it.
fn named(listed: &ServerTools, own: bool) -> Vec<(&str, &Value)> {
    entries(listed, own).map(|tool| (tool.name.as_str(), &tool.raw)).collect()
}

/// A tool, or the instructions of a server, as a person names it.
pub(super) fn called(server: &str, tool: &str) -> String {
    if tool == INSTRUCTIONS {
        format!("{server} (instructions)")
    } else {
        format!("{server}/{tool}")
    }
}

fn all_pinned(listed: &ServerTools, own: bool, pins: &[PinRow]) -> bool {
    let words_are_gone =
        listed.instructions.is_none() && pins.iter().any(|pin| pin.tool == INSTRUCTIONS);
    !words_are_gone
        && entries(listed, own).all(|tool| {
            pins.iter().any(|pin| pin.tool == tool.name && pin.pin == tool.pin && !pin.withheld)
        })
}

/// A tool that is seen for the first time is pinned. The same JSON under another launch command is
/// pinned anew (the owner wrote
/// that command); a form that was accepted before needs no second yes; anything else is a change
/// and waits for one. Our own servers are part of this program and need none. True if there is
/// something new to ask about.
fn reconcile_tool(
    tx: &Tx<'_>,
    listed: &ServerTools,
    tool: &ToolEntry,
    pinned: Option<&PinRow>,
    first_seen: bool,
) -> Result<bool, StoreError> {
    let (server, launch) = (&listed.server, &listed.launch_pin);
    let seen = SeenTool { tool: tool.name.clone(), pin: tool.pin.clone(), raw: tool.raw.clone() };
    let kind = match pinned {
        Some(pin) if pin.pin == tool.pin => {
            if pin.withheld {
                tx.set_withheld(server, &tool.name, false)?;
            }
            return Ok(false);
        }
        _ if first_seen || pinned.is_some_and(|pin| pin.raw == tool.raw) => {
            tx.accept_pin(server, launch, &seen)?;
            audit_kind::PINNED
        }
        Some(pin) if tx.is_pinned(server, &tool.name, &tool.pin)? => {
            tx.add_form(server, &tool.name, &pin.pin, &pin.raw)?;
            tx.use_form(server, launch, &seen)?;
            return Ok(false);
        }
        Some(pin) if pin.changed.as_ref().is_some_and(|(pin, _)| *pin == tool.pin) => {
            if !pin.withheld {
                tx.set_withheld(server, &tool.name, true)?;
            }
            return Ok(false);
        }
        _ => {
            if pinned.is_none() {
                let nothing =
                    SeenTool { tool: tool.name.clone(), pin: String::new(), raw: Value::Null };
                tx.use_form(server, launch, &nothing)?;
            }
            tx.set_changed(server, &seen)?;
            audit_kind::QUARANTINED
        }
    };
    let body = json!({"server": server, "tool": tool.name, "pin": tool.pin});
    tx.audit(&AuditEntry { kind, call: String::new(), body })?;
    Ok(kind == audit_kind::QUARANTINED)
}
