//! How long the system has been up: a clock that no setting of the date changes. Owns where that is
//! read. Must not know what is measured by it.

use std::fs;
use std::sync::OnceLock;

/// A moment of this run of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Uptime {
    /// Which run it is, a name that the kernel gives each. Empty where the system tells neither.
    pub boot: &'static str,
    /// Since its start, in milliseconds, the time asleep included.
    pub ms: i64,
}

/// Linux alone tells both (proc(5): `/proc/uptime`, `/proc/sys/kernel/random/boot_id`).
pub(super) fn uptime() -> Uptime {
    static BOOT: OnceLock<String> = OnceLock::new();
    let boot = BOOT.get_or_init(|| {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        id.trim().to_owned()
    });
    let text = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds: Option<f64> = text.split(' ').next().and_then(|word| word.parse().ok());
    match seconds {
        Some(seconds) => Uptime { boot, ms: (seconds * 1000.0) as i64 },
        None => Uptime { boot: "", ms: 0 },
    }
}
