//! Says whom a command waits for, where nothing was printed for a while. Must not know what
//! is waited for.

use std::io::{self, IsTerminal as _};
use std::pin::pin;
use std::time::Duration;

use futures::future::LocalBoxFuture;

use super::out;
use crate::app::App;
use crate::hub::ServerState;

/// As long as somebody looks at an empty line without wondering.
const QUIET: Duration = Duration::from_secs(2);

/// The work, and at a terminal a line on stderr about the servers that keep it waiting. Boxed,
/// because what waits for servers is large, and would be twice in whoever waits for this.
pub fn with_servers<'a, T: 'a>(
    app: &'a App,
    work: impl Future<Output = T> + 'a,
) -> LocalBoxFuture<'a, T> {
    let work = Box::pin(work);
    Box::pin(or_say(work, || {
        let names = app.gate.hub().servers().into_iter().filter_map(|server| {
            matches!(server.state, ServerState::Starting).then_some(server.name)
        });
        let names: Vec<String> = names.collect();
        if io::stderr().is_terminal() && !names.is_empty() {
            out::err_line(&out::clean(&format!(
                "claw: waiting for {} (up to {} s)…",
                names.join(", "),
                app.config.limits.server_start_s
            )));
        }
    }))
}

async fn or_say<T>(work: impl Future<Output = T>, say: impl FnOnce()) -> T {
    let mut work = pin!(work);
    tokio::select! {
        biased;
        done = &mut work => return done,
        () = tokio::time::sleep(QUIET) => say(),
    }
    work.await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_what_takes_long_is_told_and_it_is_told_once() {
        let told = Cell::new(0);
        let say = || told.set(told.get() + 1);
        assert_eq!(or_say(async { 1 }, say).await, 1);
        assert_eq!(told.get(), 0);
        let slow = async {
            tokio::time::sleep(QUIET * 30).await;
            2
        };
        assert_eq!(or_say(slow, say).await, 2);
        assert_eq!(told.get(), 1);
    }
}
