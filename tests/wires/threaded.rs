//! A stand-in on a thread of its own, for tests that wait for whole programs. Must not know what it
//! answers.

use std::ops::Deref;

use tokio::sync::oneshot;

use super::{Answer, StandIn, Wire};

/// It ends when dropped.
pub struct Threaded {
    stand_in: StandIn,
    _end: oneshot::Sender<()>,
}

impl Threaded {
    pub fn start(wire: Wire, answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers: Vec<Answer> = answers.into_iter().collect();
        let (send, started) = std::sync::mpsc::channel();
        let (end, ended) = oneshot::channel::<()>();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                send.send(StandIn::start(wire, answers).await).unwrap_or_default();
                let _dropped = ended.await;
            });
        });
        Self { stand_in: started.recv().unwrap(), _end: end }
    }
}

impl Deref for Threaded {
    type Target = StandIn;
    fn deref(&self) -> &StandIn {
        &self.stand_in
    }
}
