//! The beginning of a client's call: a new one, or one that this client was told to ask for again.
//! Must not know how a call is driven or how it ends.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

use super::{ClientRefusal, Clients, Shared, budget};
use crate::domain::canonical::digest;
use crate::domain::{Address, CallId, ClientName, LiveSink, Origin, ToolCall};
use crate::killpoint;
use crate::mail::Instance;
use crate::store::{ClientCallRow, StoreError, Tx, now_ms};

/// For so long the end of a call is given out again whose client may not have received it, because
/// the process that gave it out is gone.
pub(super) const GIVEN_AGAIN_MS: i64 = 60_000;

/// How often, and after what time, a process is looked at again that seems to be alive.
const LOOKS: u32 = 40;
const LOOK_AGAIN: Duration = Duration::from_millis(25);

/// A request of a client that waits for the end of a call. When it is dropped without that, the
/// call goes on, and the same request made again takes it up.
pub struct ClientCall {
    pub(super) shared: Arc<Shared>,
    pub(super) client: ClientName,
    pub(super) number: u64,
    pub(super) me: Address,
    /// Nobody has to be told that this request waits no longer.
    pub(super) is_let_go: AtomicBool,
    /// It had its end when it was asked for: an earlier request has brought it about.
    pub(super) had_ended: bool,
}

impl ClientCall {
    pub fn id(&self) -> CallId {
        CallId::Client { principal: self.client.principal(), number: self.number }
    }

    pub fn client(&self) -> &ClientName {
        &self.client
    }
}

impl Drop for ClientCall {
    fn drop(&mut self) {
        self.shared.ends_request(&self.me);
        if self.is_let_go.swap(true, Ordering::SeqCst) {
            return;
        }
        let (client, number, me) = (self.client.clone(), self.number, self.me.clone());
        self.shared.store.write_soon(move |tx| tx.let_go_client_call(&client, number, &me));
    }
}

/// The requests that wait in one process. Each is a holder of its own: the address of its process,
/// and behind it its number.
#[derive(Debug, Default)]
pub(super) struct Requests {
    last: u64,
    /// Each goes with its [`ClientCall`].
    live: HashSet<u64>,
}

/// Between a process and the number of its request.
const REQUEST: char = '#';

/// The process that has a request, and the request's number.
fn request_of(holder: &Address) -> (Address, Option<u64>) {
    match holder.0.split_once(REQUEST) {
        Some((process, number)) => (Address(process.to_owned()), number.parse().ok()),
        None => (holder.clone(), None),
    }
}

impl Shared {
    fn begins_request(&self, me: &Instance) -> Address {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.last += 1;
        let number = requests.last;
        requests.live.insert(number);
        Address(format!("{}{REQUEST}{number}", me.address()))
    }

    fn ends_request(&self, holder: &Address) {
        if let (_, Some(number)) = request_of(holder) {
            let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.live.remove(&number);
        }
    }

    fn waits(&self, request: Option<u64>) -> bool {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        request.is_some_and(|number| requests.live.contains(&number))
    }
}

/// What was given out in the last minute, the oldest first.
pub(super) type Handed = VecDeque<(Instant, ClientName, u64, Address)>;

impl Shared {
    /// Notes that the end of a call was given out.
    pub(super) fn handed(&self, call: &ClientCall) {
        let mut handed = self.handed.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        while handed
            .front()
            .is_some_and(|(at, ..)| (now - *at).as_millis() > GIVEN_AGAIN_MS as u128)
        {
            handed.pop_front();
        }
        handed.push_back((now, call.client.clone(), call.number, call.me.clone()));
    }

    fn was_handed_to(&self, holder: &Address) -> bool {
        let handed = self.handed.lock().unwrap_or_else(PoisonError::into_inner);
        handed.iter().any(|(.., to)| to == holder)
    }

    /// This process ends in order, so that clients have received what was given out.
    pub(super) async fn all_received(&self) -> Result<(), StoreError> {
        let handed = {
            let mut handed = self.handed.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *handed)
        };
        let received = move |tx: &Tx<'_>| {
            handed.iter().try_for_each(|(_, client, number, holder)| {
                tx.hold_client_call(client, *number, (Some(holder), None)).map(drop)
            })
        };
        self.store.write(received).await
    }
}

/// A request that has begun and has no call yet.
struct Waiting<'s>(&'s Shared, Address);

impl Waiting<'_> {
    fn becomes_call(mut self) -> Address {
        std::mem::replace(&mut self.1, Address(String::new()))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.ends_request(&self.1);
    }
}

/// What a request comes to.
enum Begun {
    New(u64),
    /// The driver that it had.
    TakenUp(ClientCallRow),
    /// Somebody else was faster; look again.
    Again,
    Refused(ClientRefusal),
}

impl Clients {
    /// Begins a call of a client, or takes up the same call (server, tool, arguments) that the
    /// client was told to wait for, or whose request was cut. Two equal requests at once are two
    /// calls.
    pub fn begin_call<'a>(
        &'a self,
        client: &'a ClientName,
        name: &'a str,
        arguments: Value,
        live: LiveSink,
    ) -> BoxFuture<'a, Result<ClientCall, ClientRefusal>> {
        Box::pin(async move { self.begin_marked(client, name, arguments, (live, None)).await })
    }

    /// The same for a request that has a mark of its own. One with the mark of an earlier request,
    /// which came to another process, is that request sent again, and takes up its call.
    pub fn begin_marked<'a>(
        &'a self,
        client: &'a ClientName,
        name: &'a str,
        arguments: Value,
        (live, mark): (LiveSink, Option<&'a str>),
    ) -> BoxFuture<'a, Result<ClientCall, ClientRefusal>> {
        Box::pin(async move {
            self.shared.takes_new()?;
            let (server, tool) = self.resolve(name).await?;
            self.begin_at(client, (server, tool), arguments, (live, mark)).await
        })
    }

    /// The same for what is known by its server. `tool` may be a request that is no call of a tool.
    pub(super) fn begin_at<'a>(
        &'a self,
        client: &'a ClientName,
        (server, tool): (String, String),
        arguments: Value,
        (live, mark): (LiveSink, Option<&'a str>),
    ) -> BoxFuture<'a, Result<ClientCall, ClientRefusal>> {
        Box::pin(async move {
            self.shared.takes_new()?;
            let me = self.shared.instance()?;
            let alike = digest(&json!({"server": server, "tool": tool, "arguments": arguments}));
            // Ends with this function, unless it becomes a `ClientCall`.
            let waiting = Waiting(&self.shared, self.shared.begins_request(&me));
            let (number, earlier) = loop {
                match self.shared.begun(client, (&alike, mark), (&me, &waiting.1)).await? {
                    Begun::Again => {}
                    Begun::New(number) => break (number, None),
                    Begun::TakenUp(row) => break (row.number, Some(row)),
                    Begun::Refused(why) => return Err(why),
                }
            };
            let principal = client.principal();
            let call = ToolCall {
                id: CallId::Client { principal: principal.clone(), number },
                server,
                tool,
                arguments,
                origin: Origin::McpClient,
                principal,
            };
            let had_ended = earlier.as_ref().is_some_and(|row| row.ended_ms.is_some());
            let request = ClientCall {
                shared: self.shared.clone(),
                client: client.clone(),
                number,
                me: waiting.becomes_call(),
                is_let_go: AtomicBool::new(false),
                had_ended,
            };
            killpoint::here("client.begun.after");
            if !had_ended {
                self.shared.see_to(client, call, live);
            }
            Ok(request)
        })
    }
}

impl Shared {
    /// Nothing is begun that this process would leave behind at once.
    fn takes_new(&self) -> Result<(), ClientRefusal> {
        if !self.ending.has_begun() {
            return Ok(());
        }
        let text = "claw is just ending; make the same call again, it is not done twice";
        Err(ClientRefusal::Odd(text.to_owned()))
    }

    /// Whether nobody waits for its end: the client was told to ask again, its request was cut, or
    /// the process that held the request is gone. A request that is sent again says so by its mark.
    /// Without one only the end of the process tells, and one that seems to be alive is looked at
    /// again: a process that is being killed closes its files one after another, so that a client
    /// may see the end of its connection before the lock is free.
    async fn is_free(&self, row: &ClientCallRow, mark: Option<&str>, me: &Instance) -> bool {
        let is_marked = mark.is_some() && row.mark.as_deref() == mark;
        let Some(holder) = &row.holder else {
            // What was given out by a process that ended in order may have been lost on its way.
            return row.handed_ms.is_none() || (is_marked && row.driver != *me.address());
        };
        let (process, request) = request_of(holder);
        if process == *me.address() {
            // One that was cut while it was given the end is about to say that it has not got it.
            return !self.waits(request)
                && (row.handed_ms.is_none() || !self.was_handed_to(holder));
        }
        if is_marked {
            return true;
        }
        for _ in 0..LOOKS {
            if !me.knows_alive(&process) {
                return true;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        false
    }

    async fn begun(
        &self,
        client: &ClientName,
        (digest, mark): (&str, Option<&str>),
        (me, request): (&Instance, &Address),
    ) -> Result<Begun, StoreError> {
        let again_after = now_ms() - GIVEN_AGAIN_MS;
        let alike = self.store.read(|tx| tx.client_calls_like(client, digest, again_after))?;
        let mut waiting = None;
        for row in alike {
            if self.is_free(&row, mark, me).await {
                waiting = Some(row);
                break;
            }
        }
        let budget = self.limits();
        let (client, me, request) = (client.clone(), me.address().clone(), request.clone());
        let (digest, mark) = (digest.to_owned(), mark.map(str::to_owned));
        let alive = waiting.as_ref().map(|row| row.driver == me || self.is_alive(&row.driver));
        killpoint::here("client.begun.before");
        // The start of the call is synced, and this with it. Before that nothing can
        // have come of it.
        self.store
            .write_relaxed(move |tx| {
                if tx.client(&client)?.is_some_and(|row| row.revoked_ms.is_some()) {
                    return Ok(Begun::Refused(budget.revoked(&client)));
                }
                match waiting {
                    Some(row) => take_up(tx, row, (&me, &request), alive.unwrap_or(true)),
                    None => {
                        let alike = (digest.as_str(), mark.as_deref());
                        begin(tx, &client, alike, (&me, &request), &budget)
                    }
                }
            })
            .await
    }
}

fn take_up(
    tx: &Tx<'_>,
    row: ClientCallRow,
    (me, request): (&Address, &Address),
    driver_lives: bool,
) -> Result<Begun, StoreError> {
    if !tx.hold_client_call(&row.client, row.number, (row.holder.as_ref(), Some(request)))? {
        return Ok(Begun::Again);
    }
    // Whoever has taken it over meanwhile drives it.
    if !driver_lives {
        tx.drive_client_call(&row.client, row.number, (&row.driver, me))?;
    }
    // Its end may have come since it was looked at.
    let row = tx.client_call(&row.client, row.number)?;
    Ok(row.map_or(Begun::Again, Begun::TakenUp))
}

fn begin(
    tx: &Tx<'_>,
    client: &ClientName,
    alike: (&str, Option<&str>),
    (me, request): (&Address, &Address),
    limits: &budget::Limits,
) -> Result<Begun, StoreError> {
    if let Err(why) = limits.look(tx, client)? {
        return Ok(Begun::Refused(why));
    }
    let open = tx.open_calls_of_client(client)?;
    if open >= limits.calls_open_max {
        return Ok(Begun::Refused(ClientRefusal::TooManyOpen { client: client.clone(), open }));
    }
    tx.count_client(client, &limits.day, (1, 0))?;
    Ok(Begun::New(tx.add_client_call(client, alike, (me, request))?))
}
