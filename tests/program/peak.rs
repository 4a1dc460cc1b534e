//! How much memory a program takes while a test runs it. Must not know what it does.

use std::time::Duration;

use super::Running;

/// The most memory that a process ever held apart from its program, in KiB, once it has ended
/// (proc_pid_status(5), `VmHWM` without `RssFile`).
pub fn peak_memory(running: &Running) -> std::thread::JoinHandle<u64> {
    let path = format!("/proc/{}/status", running.id());
    std::thread::spawn(move || {
        let mut peak = 0;
        while let Ok(status) = std::fs::read_to_string(&path) {
            let kib = |name: &str| -> Option<u64> {
                let line = status.lines().find_map(|line| line.strip_prefix(name))?;
                line.split_whitespace().next()?.parse().ok()
            };
            let (Some(most), Some(program)) = (kib("VmHWM:"), kib("RssFile:")) else { break };
            peak = peak.max(most.saturating_sub(program));
            std::thread::sleep(Duration::from_millis(2));
        }
        peak
    })
}
