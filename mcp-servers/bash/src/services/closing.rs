//! What is closed again while a command uses it: the host says so, and whoever waits for that is
//! told. Must not know what a service is reached by.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use tokio::sync::watch;

use super::Service;

/// The notification by which the host closes a service to all that uses it. A model's words are the
/// arguments of calls.
pub const CLOSED: &str = "notifications/claw/closed";

/// What it says.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ServiceClosed {
    pub opening: Service,
    pub why: WhyClosed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhyClosed {
    /// The owner has closed it.
    Closed,
    /// It was open for a time, which is over.
    Expired,
}

/// Lives as long as the server.
#[derive(Default)]
pub struct Closings {
    /// One channel for all that uses a service now. It is said once on each, and who comes
    /// later has another one.
    by_service: Mutex<BTreeMap<Service, watch::Sender<Option<WhyClosed>>>>,
}

/// A service that is open to one command, from the moment at which the host said so.
#[derive(Clone, Debug)]
pub struct ServiceUse {
    pub service: Service,
    why_closed: watch::Receiver<Option<WhyClosed>>,
}

impl Closings {
    pub fn begin(&self, service: Service) -> ServiceUse {
        let mut by_service = self.lock();
        let channel = by_service.entry(service).or_insert_with(|| watch::Sender::new(None));
        ServiceUse { service, why_closed: channel.subscribe() }
    }

    /// Closes it to all that uses it now.
    pub fn close(&self, closed: ServiceClosed) {
        if let Some(channel) = self.lock().remove(&closed.opening) {
            channel.send_replace(Some(closed.why));
        }
    }

    /// Closes everything that is in use now.
    pub fn close_all(&self) {
        for (_, channel) in std::mem::take(&mut *self.lock()) {
            channel.send_replace(Some(WhyClosed::Closed));
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Service, watch::Sender<Option<WhyClosed>>>> {
        self.by_service.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServiceUse {
    pub fn is_closed(&self) -> bool {
        self.why_closed.borrow().is_some()
    }

    /// Goes on with it until it has ended or the service is closed.
    pub async fn while_open(&self, serving: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            _ = self.closed() => {}
            () = serving => {}
        }
    }

    /// Waits until it is closed. Gives a sentence for whoever reads what became of the command.
    pub async fn closed(&self) -> (Service, String) {
        let mut why = self.why_closed.clone();
        // Its other end goes behind the last word, or with the server.
        let why = why.wait_for(Option::is_some).await.ok().and_then(|why| *why);
        let name = self.service.name();
        let what = match why {
            Some(WhyClosed::Expired) => format!("The time for which {name} was open was over"),
            _ => format!("The owner closed {name}"),
        };
        let sentence = format!(
            "{what} while this ran: its connections there were cut at once, and it makes no new ones."
        );
        (self.service, sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_closed_is_closed_to_those_that_use_it_and_to_nobody_later() {
        let closings = Closings::default();
        let (docker, ssh) = (closings.begin(Service::Docker), closings.begin(Service::SshAgent));
        closings.close(ServiceClosed { opening: Service::Docker, why: WhyClosed::Expired });
        assert!(docker.is_closed() && !ssh.is_closed());
        docker.while_open(std::future::pending()).await;
        assert!(docker.closed().await.1.contains("time for which docker was open was over"));
        let later = closings.begin(Service::Docker);
        assert!(!later.is_closed(), "it was opened again");
        closings.close(ServiceClosed { opening: Service::Docker, why: WhyClosed::Closed });
        assert!(later.closed().await.1.contains("The owner closed docker"));
        ssh.while_open(async {}).await;
    }
}
