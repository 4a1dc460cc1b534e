//! The room on a gate's rig, as one of the processes of a home.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::clients::{
    ClientCall, ClientCallState, ClientRefusal, Clients, ClientsParts, OpenQuestion,
};
use crate::config::ServeSection;
use crate::domain::{Answer, ClientName, Outcome, Term, unseen};
use crate::gate::tests::rig::{OWNER, Rig as GateRig, allow};
use crate::session::Ending;

/// Longer than anything here takes.
pub(super) const SOON: Duration = Duration::from_secs(20);

pub(super) struct Rig {
    pub(super) gate: GateRig,
    pub(super) clients: Clients,
    pub(super) ending: Ending,
    settings: Arc<Mutex<ServeSection>>,
}

pub(super) fn name(name: &str) -> ClientName {
    ClientName::new(name).unwrap()
}

impl Rig {
    pub(super) fn new(policy: &str) -> Self {
        Self::on(GateRig::new(&["legacy"], policy))
    }

    pub(super) fn on(gate: GateRig) -> Self {
        let (ending, settings) = (Ending::default(), Arc::new(Mutex::new(ServeSection::default())));
        let now = settings.clone();
        std::fs::create_dir_all(gate.home().join("locks")).unwrap();
        let clients = Clients::new(ClientsParts {
            store: gate.store.clone(),
            gate: gate.gate.clone(),
            locks: gate.home().join("locks"),
            tokens: gate.home().join("clients"),
            zone: jiff::tz::TimeZone::UTC,
            settings: Arc::new(move || now.lock().unwrap().clone()),
            call_time: SOON,
            ending: ending.clone(),
        });
        Self { gate, clients, ending, settings }
    }

    /// Another process on the same home.
    pub(super) fn again(&self) -> Self {
        Self::on(self.gate.again(""))
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut ServeSection)) {
        change(&mut self.settings.lock().unwrap());
    }

    /// The process ends in order.
    pub(super) async fn ends(self) {
        self.ending.begin();
        self.clients.settled().await;
    }

    pub(super) async fn begin(&self, client: &str, text: &str) -> ClientCall {
        self.tries(client, text).await.unwrap_or_else(|refused| panic!("{refused}"))
    }

    pub(super) async fn tries(
        &self,
        client: &str,
        text: &str,
    ) -> Result<ClientCall, ClientRefusal> {
        let arguments = json!({"text": text});
        self.clients.begin_call(&name(client), "legacy__echo", arguments, unseen()).await
    }

    pub(super) async fn refused(&self, client: &str, text: &str) -> String {
        match self.tries(client, text).await {
            Err(refused) => refused.to_string(),
            Ok(call) => panic!("{} was begun", call.id()),
        }
    }

    /// A request of a client that is told to wait, and goes.
    pub(super) async fn waits(&self, client: &str, text: &str) -> OpenQuestion {
        let call = self.begin(client, text).await;
        self.asked_about(&call).await
    }

    /// Waits until a call is asked about, and tells its client so.
    pub(super) async fn asked_about(&self, call: &ClientCall) -> OpenQuestion {
        loop {
            match self.clients.end_of(call, Duration::from_millis(20)).await.unwrap() {
                ClientCallState::Waiting { mut questions } => return questions.remove(0),
                ClientCallState::Running => {}
                ClientCallState::Ended { outcome, .. } => panic!("{outcome:?}"),
            }
        }
    }

    /// Waits until no call of the laptop is without an end.
    pub(super) async fn ended(&self) {
        let until = tokio::time::Instant::now() + SOON;
        while self.gate.store.read(|tx| tx.open_calls_of_client(&name("laptop"))).unwrap() > 0 {
            assert!(tokio::time::Instant::now() < until);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(super) async fn end(&self, call: &ClientCall) -> (Outcome, bool) {
        match self.clients.end_of(call, SOON).await.unwrap() {
            ClientCallState::Ended { outcome, kept } => (outcome, kept),
            other => panic!("{other:?}"),
        }
    }

    /// A request whose call ends well.
    pub(super) async fn gets(&self, client: &str, text: &str) -> String {
        let call = self.begin(client, text).await;
        match self.end(&call).await.0 {
            Outcome::Ended { output } if !output.is_error => output.text,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn answers(&self, question: &OpenQuestion, answer: &Answer) {
        self.gate.gate.calls().decide(&question.id, answer, OWNER).await.unwrap();
    }

    pub(super) async fn allows(&self, question: &OpenQuestion) {
        self.answers(question, &allow(Term::Once)).await;
    }

    /// Waits until a server has noted this line.
    pub(super) async fn sees(&self, server: &str, line: &str) {
        let until = tokio::time::Instant::now() + SOON;
        let noted = || std::fs::read_to_string(self.gate.home().join(server)).unwrap_or_default();
        while !noted().lines().any(|noted| noted == line) {
            assert!(tokio::time::Instant::now() < until, "{}", noted());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(super) fn effects(&self) -> Vec<String> {
        self.gate.effects("legacy")
    }

    /// Waits until the server has done so much.
    pub(super) async fn did(&self, effects: &[&str]) {
        let until = tokio::time::Instant::now() + SOON;
        while self.effects() != effects {
            let noted = std::fs::read_to_string(self.gate.home().join("legacy"));
            assert!(tokio::time::Instant::now() < until, "{noted:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
