//! What this system holds of the box of commands, as `claw doctor` says it. What it does not hold
//! is told as skipped. Must not know what is tested.

use claw_test_kit::skipped;
use serde_json::Value;

use super::House;

impl House {
    /// Whether this kernel can make the box.
    pub fn is_boxed(&self) -> bool {
        let is_boxed = self.box_is(|row| row["ok"] == true);
        if !is_boxed {
            skipped("this kernel has no box, and claw asks for every command");
        }
        is_boxed
    }

    /// Whether every level of the box is held.
    pub fn holds_every_level(&self) -> bool {
        let holds = self.box_is(|row| row.to_string().contains("+mounts"));
        if !holds {
            skipped("this system gives commands no namespaces of their own");
        }
        holds
    }

    /// Whether a command has a network of its own, and so can be kept to hosts.
    pub fn keeps_to_hosts(&self) -> bool {
        let keeps = self.box_is(|row| row["ok"] == true && row.to_string().contains("+networks"));
        if !keeps {
            skipped("this system gives commands no network of their own");
        }
        keeps
    }

    fn box_is(&self, so: impl Fn(&Value) -> bool) -> bool {
        self.claw(&["doctor", "--json"]).rows().iter().any(|row| row["id"] == "box" && so(row))
    }
}
