//! Clients of an agent that the gateway runs: on the socket of its home, and over HTTP where that
//! is configured. What goes wrong with it ends nothing else. Must not know the bots beside it.

use std::sync::Arc;

use crate::door::Serves;
use crate::door_context::Context;
use crate::doors::entry::GatewayDoor;
use crate::doors::gateway::fleet::Fleet;
use crate::doors::gateway::member::Member;
use crate::http::Http;
use crate::serving::Serving;
use crate::socket::SOCKET;

/// How the gateway runs it.
pub(crate) const GATEWAY: GatewayDoor = GatewayDoor {
    bots_of: None,
    // Boxed, so that it is compiled here, and not once more in the program.
    run: |fleet, member| {
        Box::pin(async move {
            run(fleet, member).await;
            Ok(())
        })
    },
};

async fn run(fleet: &Arc<Fleet>, member: &Member) {
    let context = match (member.open)().await {
        Ok(context) => context,
        // The bot says the same, and ends with it.
        Err(error) => {
            return tracing::debug!(error = format!("{error:#}"), "no clients are served");
        }
    };
    let serving = Serving::start(context.clone(), Serves::All);
    let socket = member.home.join(SOCKET);
    let served = async {
        tokio::join!(serving.listen(&socket), serve_http(&context, member, &serving));
        // One that cannot listen has said so.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = served => {}
        () = fleet.closing.cancelled() => {}
    }
    serving.wind_down().await;
}

async fn serve_http(context: &Context, member: &Member, serving: &Arc<Serving>) {
    let Some(address) = context.clients.settings().http else { return };
    match Http::bind(address).await {
        Ok(http) => {
            let url = http.url();
            (member.say)(&format!("MCP clients with a token are served at {url}."));
            http.serve(serving.clone(), false).await;
        }
        Err(error) => (member.say)(&format!(
            "MCP clients are not served over HTTP, because {address} cannot be used (serve.http in \
             claw.toml): {error}."
        )),
    }
}
