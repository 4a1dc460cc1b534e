//! What the service manager is told (systemd, sd_notify(3)): ready, alive, ending. Without one,
//! nothing happens. Must not know what the gateway does.

use sd_notify::NotifyState;

use super::fleet::Fleet;

pub fn ready() {
    tell(&[NotifyState::Ready]);
}

pub fn ending() {
    tell(&[NotifyState::Stopping]);
}

/// Says that claw is alive, twice in the time that `WatchdogSec=` allows, for as long as it gets
/// its turn and the store of an agent answers. A process that hangs says nothing, and is started
/// again; one agent whose store does not answer ends no other.
pub async fn keep_alive(fleet: &Fleet) {
    let Some(limit) = sd_notify::watchdog_enabled().filter(|limit| !limit.is_zero()) else {
        return std::future::pending().await;
    };
    let mut beat = tokio::time::interval(limit / 2);
    loop {
        beat.tick().await;
        let doors = fleet.doors();
        let mut answers = doors.is_empty();
        for door in &doors {
            match door.answers() {
                Ok(()) => answers = true,
                Err(error) => {
                    tracing::error!(agent = door.agent(), %error, "the store does not answer");
                }
            }
        }
        if answers {
            tell(&[NotifyState::Watchdog]);
        } else {
            tracing::error!("the watchdog is not told that all is well");
        }
    }
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "the service manager cannot be told");
    }
}
