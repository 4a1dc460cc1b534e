//! What the doctor has found, line by line, and how it went in one sentence. Must not know how
//! anything is looked at.

use claw_kit::counted::counted;
use serde_json::json;

use super::repair::Repair;
use crate::out;
use crate::store::Store;

/// One finding.
pub(super) struct Finding {
    pub id: String,
    pub ok: bool,
    pub text: String,
    pub repair: Option<Repair>,
    /// It is as it may be, and should not be.
    warning: bool,
}

#[derive(Default)]
pub(super) struct Report {
    /// Whom it is about, if not the main one.
    pub agent: Option<String>,
    pub findings: Vec<Finding>,
    /// For the repairs. None where it could not be opened.
    pub store: Option<Store>,
}

impl Report {
    pub fn add(
        &mut self,
        id: impl Into<String>,
        ok: bool,
        text: impl Into<String>,
        repair: Option<Repair>,
    ) {
        self.findings.push(Finding {
            id: id.into(),
            ok,
            text: text.into(),
            repair,
            warning: false,
        });
    }

    pub fn good(&mut self, id: impl Into<String>, text: impl Into<String>) {
        self.add(id, true, text, None);
    }

    pub fn bad(&mut self, id: impl Into<String>, text: impl Into<String>) {
        self.add(id, false, text, None);
    }

    /// Something that works, and that the person should know of.
    pub fn warn(&mut self, id: impl Into<String>, text: impl Into<String>) {
        self.findings.push(Finding {
            id: id.into(),
            ok: true,
            text: text.into(),
            repair: None,
            warning: true,
        });
    }

    /// Something that is wrong and can be repaired.
    pub fn repairable(&mut self, id: impl Into<String>, text: impl Into<String>, repair: Repair) {
        self.add(id, false, text, Some(repair));
    }

    /// Something that does no harm and can be tidied up.
    pub fn left(&mut self, id: impl Into<String>, text: impl Into<String>, repair: Repair) {
        self.add(id, true, text, Some(repair));
    }

    pub fn well(&self) -> bool {
        self.findings.iter().all(|finding| finding.ok)
    }

    /// How it went, in one sentence, for whoever does not read all lines.
    fn sum(&self) -> String {
        let count = |of: fn(&Finding) -> bool| self.findings.iter().filter(|f| of(f)).count();
        let bad = count(|finding| !finding.ok);
        let known = count(|finding| finding.ok && finding.warning);
        let known = match known {
            0 => String::new(),
            _ => format!(" {} with `!!` you should know of.", counted(known, "line")),
        };
        match bad {
            0 => format!("All is well.{known}"),
            _ => format!("{} with `BAD` to mend.{known}", counted(bad, "line")),
        }
    }

    pub fn print(&self, as_json: bool, hint: bool) -> Result<(), out::Unwritten> {
        for finding in &self.findings {
            let can = finding.repair.is_some();
            let id = match &self.agent {
                Some(agent) => format!("{agent}/{}", finding.id),
                None => finding.id.clone(),
            };
            let shown = if as_json {
                json!({"id": id, "ok": finding.ok, "warning": finding.warning, "text": finding.text, "repair": can})
                    .to_string()
            } else {
                let hint = if can && hint { " (`claw doctor --repair`)" } else { "" };
                format!("{} {:<18} {}{hint}", mark(finding), id, out::clean(&finding.text))
            };
            out::line(&shown)?;
        }
        if !as_json {
            let whose = self.agent.as_ref().map(|agent| format!("{agent}: ")).unwrap_or_default();
            out::err_line(&format!("{whose}{}", self.sum()));
        }
        Ok(())
    }
}

fn mark(finding: &Finding) -> &'static str {
    match (finding.ok, finding.warning) {
        (false, _) => "BAD",
        (true, true) => "!! ",
        (true, false) => "ok ",
    }
}
