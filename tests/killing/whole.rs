//! What every home must be like at rest, whatever was killed in it: its audit holds, its logs
//! replay, its database is whole, and no server has outlived claw. Must not know what was done
//! there.

use super::findings::Findings;
use super::house::{House, Kill};
use super::look::Look;

pub async fn judge(house: &House, look: &Look, findings: &mut Findings) -> anyhow::Result<()> {
    let verified = house.claw(&["audit".to_owned(), "verify".to_owned()], &Kill::Not, None).await?;
    if verified.code != Some(0) {
        findings.other.push(format!(
            "claw audit verify: {}{}",
            verified.out.trim(),
            verified.err.trim()
        ));
    }
    let replayed =
        house.claw(&["sessions".to_owned(), "replay".to_owned()], &Kill::Not, None).await?;
    if replayed.code != Some(0) || replayed.out.contains("other limits") {
        findings.other.push(format!(
            "claw sessions replay: {}{}",
            replayed.out.trim(),
            replayed.err.trim()
        ));
    }
    let integrity = look.integrity()?;
    if integrity != "ok" {
        findings.other.push(format!("the database is damaged: {integrity}"));
    }
    let left = house.leftovers().await;
    if !left.is_empty() {
        findings.other.push(format!("servers outlived claw: {left:?}"));
    }
    Ok(())
}
