//! A progress with a total as a bar. Must not know what makes progress.

/// `3/10` (the hub's words for a progress with a total) as a bar of `cells` with the numbers behind
/// it.
pub fn bar(progress: &str, cells: usize) -> Option<String> {
    let (done, total) = progress.split_once('/')?;
    let (done, total): (f64, f64) = (done.parse().ok()?, total.parse().ok()?);
    if !(total.is_finite() && total > 0.0 && done >= 0.0) {
        return None;
    }
    // Between 0 and `cells`, whatever a server counts.
    let full = ((done / total).min(1.0) * cells as f64) as usize;
    Some(format!("{}{} {progress}", "█".repeat(full), "░".repeat(cells - full)))
}
