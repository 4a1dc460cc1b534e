//! When a chat sees what of a slow answer: the whole show, on a paused clock, with a door that
//! notes its times.

use std::sync::Mutex;

use claw_core::app::App;
use claw_core::config::{Config, Env, Overrides};

use super::*;
use crate::chat_door::{DoorPiece, File, Paint};
use crate::domain::{OutboundBody, Question};
use crate::door::{Closed, Door, QuestionMessage};
use crate::mail::{MailError, PostedQuestion};
use crate::shared::DoorState;

const FIRST_WORDS: Duration = Duration::from_millis(200);
const TICK: Duration = Duration::from_millis(10);

/// One change of a chat.
struct Seen {
    at: Instant,
    /// The message that was changed; none: a new one.
    message: Option<i64>,
    text: String,
}

struct Noting {
    shared: DoorState<String>,
    seen: Mutex<Vec<Seen>>,
}

impl Paint<String> for Noting {
    fn beginning(markdown: &str) -> Vec<String> {
        vec![markdown.to_owned()]
    }

    fn running(title: &str, _: &str) -> String {
        title.to_owned()
    }

    fn ended(title: &str, _: bool, _: &str) -> String {
        title.to_owned()
    }
}

impl Door for Noting {
    const NAME: &'static str = "noting";

    type Text = String;

    async fn send(&self, _: &Address, _: &String) -> Result<i64, DoorFault> {
        Ok(1)
    }

    async fn ask(&self, _: &Address, _: u64, _: &Question) -> Result<QuestionMessage, DoorFault> {
        Ok(QuestionMessage::default())
    }

    async fn show_answered(&self, _: &PostedQuestion, _: &Question) -> Result<(), DoorFault> {
        Ok(())
    }

    async fn close(&self, _: &PostedQuestion, _: &Question, _: &Closed) -> Result<(), DoorFault> {
        Ok(())
    }

    fn glimpses(self: &Arc<Self>, session: &SessionId, to: &Address) -> LiveSink {
        show(self, session, to)
    }
}

impl ChatDoor for Noting {
    fn shared(&self) -> &DoorState<String> {
        &self.shared
    }

    fn writes_to(&self, _: &Address) -> bool {
        true
    }

    fn place_of(&self, _: &SessionId) -> Option<Address> {
        None
    }

    fn owners_place(&self) -> Option<Address> {
        None
    }

    fn has_an_owner(&self, _: &Address) -> bool {
        true
    }

    fn is_owner(&self, _: &str) -> bool {
        true
    }

    fn pieces(&self, _: &OutboundBody, _: &str) -> Vec<DoorPiece<String>> {
        Vec::new()
    }

    async fn file(&self, _: &Address, _: &File) -> Result<(), DoorFault> {
        Ok(())
    }

    async fn edit(&self, _: &Address, _: i64, _: &String) -> Result<(), DoorFault> {
        Ok(())
    }

    async fn take_away(&self, _: &Address, _: i64) -> Result<(), DoorFault> {
        Ok(())
    }

    async fn glimpse(
        &self,
        _: &Address,
        message: Option<i64>,
        text: &String,
        _: bool,
    ) -> Result<Option<i64>, DoorFault> {
        let seen = Seen { at: Instant::now(), message, text: text.clone() };
        self.seen.lock().unwrap().push(seen);
        Ok(Some(message.unwrap_or(7)))
    }

    async fn blocked(&self, _: &Address, _: &str) -> Result<(), MailError> {
        Ok(())
    }
}

async fn noting(home: &std::path::Path) -> Arc<Noting> {
    let named = |name: &str| (name.to_owned(), home.display().to_string());
    let demo = ("CLAW_AGENT".to_owned(), "demo".to_owned());
    let env: Env = [named("HOME"), named("CLAW_HOME"), demo].into_iter().collect();
    let app = App::open(Config::load_from(env, Overrides::default()).unwrap()).unwrap();
    let app = Arc::new(app);
    let context = app.door_context(app.agents()).await.unwrap();
    Arc::new(Noting { shared: DoorState::new(context), seen: Mutex::default() })
}

/// Until the show has done what it can do now. It never stands idle here, so that the clock moves
/// by hand alone. A new message is noted in the store by another thread, which takes its own time;
/// the show has its chat until it has heard of that.
async fn settled(door: &Noting, to: &Address) {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let chat = door.shared.chats.at(to);
    while chat.try_lock().is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_first_words_of_a_slow_answer_are_seen_after_200_ms_and_more_once_a_second() {
    let home = tempfile::tempdir().unwrap();
    let door = noting(home.path()).await;
    let (session, to) = (SessionId::new("noting.7").unwrap(), Address("noting/7".to_owned()));
    tokio::time::pause();
    let began = Instant::now();
    let sink = door.glimpses(&session, &to);
    sink(Live::StepStarted { turn_seq: 1, step: 0 });
    for tick in 0..350 {
        if tick % 5 == 0 {
            sink(Live::Text { turn_seq: 1, step: 0, text: format!("{} ", tick / 5) });
        }
        settled(&door, &to).await;
        tokio::time::advance(TICK).await;
    }
    let seen = door.seen.lock().unwrap();
    assert!(seen.len() >= 3, "{} changes in 3.5 s", seen.len());
    let first = seen[0].at - began;
    assert!((FIRST_WORDS..=FIRST_WORDS + TICK).contains(&first), "{first:?}");
    assert!(seen[0].message.is_none() && seen[0].text.starts_with("0 1 2 "), "{}", seen[0].text);
    for pair in seen.windows(2) {
        let gap = pair[1].at - pair[0].at;
        assert!((Duration::from_secs(1)..Duration::from_millis(1_300)).contains(&gap), "{gap:?}");
        assert!(pair[1].message == Some(7) && pair[1].text.starts_with(&pair[0].text));
    }
}
