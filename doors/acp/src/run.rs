//! One editor on one side of standard input and output, its conversations on the other. Must not
//! know how a turn goes, or how anything is shown.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    CancelNotification, CloseSessionRequest, InitializeRequest, ListSessionsRequest,
    LoadSessionRequest, NewSessionRequest, PromptRequest, ResumeSessionRequest,
    SetSessionModeRequest,
};
use agent_client_protocol::{
    Agent as AgentRole, Lines, on_receive_notification, on_receive_request,
};
use futures::future::LocalBoxFuture;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::agent::{Agent, initialized};
use super::lines::{self, ShownRows};
use crate::door_context::Context;
use crate::jobs::JobCallbacks;
use crate::mail::Mail;

pub use super::agent::OpenInstance;

/// What one editor begins with.
pub struct AcpStart {
    pub context: Context,
    /// Opens an instance of this door, for one conversation.
    pub open: OpenInstance,
}

/// Runs until the editor leaves, or this process is told to end.
///
/// # Errors
/// Standard input cannot be read, or standard output does not take what is shown.
// Boxed, so that it is compiled here, and not once more in the program.
pub fn run(start: AcpStart) -> LocalBoxFuture<'static, anyhow::Result<()>> {
    Box::pin(until_the_end(start))
}

async fn until_the_end(start: AcpStart) -> anyhow::Result<()> {
    let AcpStart { context, open } = start;
    let (shown, rows) = mpsc::unbounded_channel();
    let marking = claw_kit::task::spawn(mark_shown(context.mail.clone(), rows));
    let agent = Arc::new(Agent::new(context.clone(), open));
    let watching = claw_kit::task::spawn(watch_settings(context.clone(), agent.clone()));
    let jobs = claw_kit::task::spawn(keep_jobs(context, agent.clone()));
    let served = serve(agent.clone(), shown).await;
    watching.abort();
    jobs.abort();
    // What was committed goes on from its log; leaving in the middle loses nothing.
    agent.end();
    marking.await?;
    served
}

/// Marks rows as shown whose lines have left, to the last one.
async fn mark_shown(mail: Mail, mut rows: mpsc::UnboundedReceiver<i64>) {
    while let Some(row) = rows.recv().await {
        if let Err(error) = mail.shown(row).await {
            // It comes once more, which is better than not at all.
            tracing::warn!(%error, "what was shown could not be noted");
        }
    }
}

/// Applies changes of the files of settings, and tells of them, until it is aborted.
async fn watch_settings(context: Context, agent: Arc<Agent>) {
    loop {
        for told in (context.settings.changes)().await {
            agent.say_to_all(&told);
        }
    }
}

/// Sees to the jobs of the conversations that are open, until it is aborted.
async fn keep_jobs(context: Context, agent: Arc<Agent>) {
    let waking = agent.clone();
    let callbacks = JobCallbacks {
        place_of: Arc::new(move |session| agent.place_of(session)),
        written: Arc::new(move || waking.wake_all()),
    };
    context.jobs.keep(callbacks).await;
}

/// A request that takes a while is answered beside the loop that reads, so that it holds up none.
macro_rules! beside {
    ($agent:expr, $handle:ident: $request:ty) => {{
        let agent = $agent.clone();
        async move |request: $request, responder, editor| {
            let agent = agent.clone();
            claw_kit::task::spawn(async move {
                let done = agent.$handle(request, editor).await;
                // An editor that has gone waits for no answer.
                let _ = responder.respond_with_result(done);
            });
            Ok(())
        }
    }};
}

/// The same for a request whose answer is not the last that is sent because of it.
macro_rules! answered_beside {
    ($agent:expr, $handle:ident: $request:ty) => {{
        let agent = $agent.clone();
        async move |request: $request, responder, editor| {
            let agent = agent.clone();
            claw_kit::task::spawn(async move {
                agent.$handle(request, responder, editor).await;
            });
            Ok(())
        }
    }};
}

async fn serve(agent: Arc<Agent>, shown: ShownRows) -> anyhow::Result<()> {
    let transport = Lines::new(lines::outgoing(shown)?, lines::incoming()?);
    let (listing, closing) = (agent.clone(), agent.clone());
    let (prompting, cancelling, setting) = (agent.clone(), agent.clone(), agent.clone());
    let served = AgentRole
        .v1()
        .name("claw")
        .on_receive_request(
            async move |_: InitializeRequest, responder, _| responder.respond(initialized()),
            on_receive_request!(),
        )
        .on_receive_request(
            answered_beside!(agent, new_session: NewSessionRequest),
            on_receive_request!(),
        )
        .on_receive_request(beside!(agent, load: LoadSessionRequest), on_receive_request!())
        .on_receive_request(beside!(agent, resume: ResumeSessionRequest), on_receive_request!())
        .on_receive_request(
            async move |request: ListSessionsRequest, responder, _| {
                responder.respond_with_result(listing.list(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _| {
                let closing = closing.clone();
                claw_kit::task::spawn(async move {
                    // An editor that has gone waits for no answer.
                    let _ = responder.respond_with_result(closing.close(request).await);
                });
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, _| {
                prompting.prompt(request, responder);
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, _| {
                setting.set_mode(&request, responder);
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: CancelNotification, _| {
                cancelling.cancel(&notification.session_id.to_string());
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_with(transport, async move |editor| {
            tokio::select! {
                () = editor.incoming_closed() => {}
                () = told_to_end() => {}
            }
            Ok(())
        })
        .await;
    served.map_err(|error| anyhow::anyhow!("the editor cannot be talked to any more: {error}"))
}

/// Being ended or hung up leaves in good order.
async fn told_to_end() {
    // A signal that cannot be listened to keeps its usual effect.
    let kinds = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt()];
    let mut signals: Vec<Signal> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    let each = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
    if each.len() == 0 {
        return std::future::pending().await;
    }
    futures::future::select_all(each).await;
}
