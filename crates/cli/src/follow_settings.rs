//! The files of settings where no door of its own looks at them: `claw serve` shows its owner
//! nothing, and the bot of a gateway may not be reached. Must not know what the files mean.

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::app::App;
use crate::app::watch::LOOK_EVERY;
use crate::out;

/// What changes counts, and standard error says it, until the task is aborted. Each change is told
/// to one who looks, so this must not run beside a door that tells its owner.
pub fn begin(app: Arc<App>) -> JoinHandle<()> {
    claw_kit::task::spawn(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            for told in app.look().await {
                out::err_line(&format!("claw: {}", out::clean(&told)));
            }
        }
    })
}

/// Beside the bots of an agent, which tell of changes once they are at work: what changes before
/// that counts, too, because others than they are served.
pub(crate) fn begin_ahead(app: Arc<App>) -> JoinHandle<()> {
    claw_kit::task::spawn(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            app.look_ahead().await;
        }
    })
}
