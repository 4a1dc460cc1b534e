//! Ends a turn that waits for an answer which no longer counts, so that its files can be put back.
//! Must not know how a snapshot is kept.

use std::path::Path;
use std::sync::Arc;

use crate::app::App;
use crate::ask;
use crate::ask_progress::on_stderr;
use crate::domain::TurnId;
use crate::doors::follow::Follow;
use crate::doors::instance_outbox::InstanceOutbox;
use crate::router::Order;

/// Ends it by a stop, so that no model goes on with what is to be undone. Whether it did: a session
/// that works in another folder is left to whoever is there.
pub(super) async fn end(app: &App, turn: &TurnId) -> anyhow::Result<bool> {
    let session = &turn.session;
    let folder = app.store.read(|tx| tx.session_workspace(session))?;
    let folder = folder.as_deref().map_or(app.config.usual_workspace.as_path(), Path::new);
    if folder != app.config.workspace {
        return Ok(false);
    }
    let worker = app.worker().await?;
    let instance = Arc::new(app.open_door("console")?);
    let visitor = app.console_visitor(instance.address());
    app.router.order(&visitor, session, Order::Stop).await?;
    let outbox = InstanceOutbox::new(&app.mail, instance, session);
    let follow = Follow { outbox, worker, live: on_stderr() };
    follow.finish_leftovers().await?;
    ask::show_leftovers(app, &follow).await?;
    Ok(true)
}
