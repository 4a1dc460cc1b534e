//! What a line of the log says of the request to a model that it is about.

use std::io;
use std::sync::{Arc, Mutex};

use tracing::Dispatch;

use super::rig::{BOUNDS, main, message, submit, worker};
use crate::gate::tests::rig::Rig as GateRig;
use crate::model::{ModelError, Retry, Script, Scripted};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_line_about_a_request_names_session_turn_request_and_model() {
    let gate = GateRig::new(&["legacy"], "");
    let script = [Script::Fail(ModelError::transient("it broke")), Script::text("done")];
    let worker = worker(&gate, Arc::new(Retry::new(Arc::new(Scripted::new(script)))), BOUNDS);
    submit(&gate, message("do it")).await;
    let lines = Lines::default();
    let writer = lines.clone();
    let log = || tracing_subscriber::fmt().with_ansi(false).without_time();
    // With a single subscriber tracing asks the thread that meets a span first whether anybody
    // hears of it, which may be the one of another test.
    let _second = Dispatch::new(log().with_writer(io::sink).finish());
    let guard =
        tracing::subscriber::set_default(log().with_writer(move || writer.clone()).finish());
    worker.run(&main(), &gate.live()).await.unwrap();
    drop(guard);
    let written = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let line = written.lines().find(|line| line.contains("asking again"));
    let spans = "turn{session=main turn=1}:model_request{session=main turn=1 request=3}:\
                 model{provider=scripted name=scripted}: ";
    assert!(line.is_some_and(|line| line.contains(spans)), "{written}");
}
