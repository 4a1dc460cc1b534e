//! One home, one stand-in for Telegram, twenty people and a number of kills: the gateway is started
//! and killed while they talk, and at last comes to rest. Must not know what is right.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Signal, kill_process};

use crate::botapi::{BotApi, Place, User};
use crate::crowd::{Crowd, People, UnknownUser};
use crate::killing::house::{Ended, House, Kill};
use crate::killing::look::Look;
use crate::killing::model::StandIn;
use crate::killing::random::Random;
use crate::killing::strike::{Strike, Struck};
use crate::killing::{lists, standing};
use crate::plan::Plan;
use crate::seat::Seat;
use crate::store::{Left, left, unrest};

/// How many private chats there are.
const CHATS: usize = 20;
/// How many topics of a group there are beside them.
const TOPICS: usize = 2;
/// One in so many times claw is away for so long that Telegram forgets the taps in its queue.
const LONG_ABSENCE_ONE_IN: u64 = 12;
const LONG_ABSENCE: Duration = Duration::from_secs(151);
/// In so many lives of a hundred somebody whom the gateway has started is killed as well.
const STRIKES_PERCENT: u64 = 60;
/// So many more while everything comes to rest, where claw itself is not killed.
const STRIKES_AT_REST: usize = 2;
/// One in so many times somebody waited too long to answer.
const EXPIRES_ONE_IN: u64 = 3;
/// The most time in which nothing at all may happen before everything is at rest. Reached only when
/// something never is.
const STILL_TIME_MAX: Duration = Duration::from_secs(40);
/// The most time that all of it may take.
const REST_TIME_MAX: Duration = Duration::from_secs(600);
/// How often the store is looked at for whether everything is at rest.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What was seen of the gateway itself.
#[derive(Default)]
pub struct Watched {
    pub printed: String,
    pub wrong: Vec<String>,
    /// The servers and supervisors that were killed.
    pub struck: Vec<Struck>,
}

/// What happened in a round, apart from what the stand-ins recorded.
pub struct Seen {
    pub people: People,
    pub watched: Watched,
    /// What each kill left behind, in order.
    pub left: Vec<Left>,
    /// When taps in Telegram's queue were forgotten.
    pub absences: Vec<Instant>,
    /// What claw was seen to be at a kill, and may not be at any moment.
    pub torn: Vec<String>,
    /// Questions whose time the rig has ended.
    pub expired: BTreeSet<String>,
    /// What never came to rest.
    pub restless: Vec<String>,
}

pub struct Round {
    pub house: House,
    pub telegram: Arc<BotApi>,
    pub model: StandIn,
    seed: u64,
}

impl Round {
    pub async fn new(seed: u64) -> anyhow::Result<Self> {
        let telegram = Arc::new(BotApi::start());
        let house = House::new()?;
        let model = StandIn::start(house.db()).await?;
        house.furnish(&model.base_url)?;
        Ok(Self { house, telegram, model, seed })
    }

    /// Plays it: so many kills, and then none until everything is at rest.
    pub async fn play(&mut self, kills: usize, plan: &RefCell<Plan>) -> anyhow::Result<Seen> {
        let people = self.invite();
        let mut random = Random(self.seed ^ 0xabce);
        let crowd = Crowd::start(self.telegram.clone(), people, self.house.path("work"));
        let (mut lefts, mut absences, mut expired) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut torn = Vec::new();
        let mut watched = Watched::default();
        while lefts.len() < kills && watched.wrong.is_empty() && !crowd.is_over() {
            let kill = plan.borrow_mut().next();
            let strike = random.chance(STRIKES_PERCENT).then(|| Strike(random.another()));
            let gateway = ["gateway".to_owned()];
            let ended = self.house.claw_struck(&gateway, &kill, None, strike).await?;
            watched.printed.push_str(&format!(
                "$ claw gateway   [{kill:?}, {:?}]\n{}{}-> {:?}\n",
                ended.struck, ended.out, ended.err, ended.code
            ));
            watched.struck.extend(ended.struck.clone());
            watched.wrong.extend(complaint(&ended));
            plan.borrow_mut().hit(what_hit(&kill, &ended));
            self.telegram.wait_disconnected();
            lefts.push(self.look_after_it(&mut torn)?);
            if random.below(LONG_ABSENCE_ONE_IN) == 0 {
                self.telegram.let_pass(LONG_ABSENCE);
                absences.push(Instant::now());
            }
            if random.below(EXPIRES_ONE_IN) == 0 {
                expired.extend(self.hours_go_by(&mut random)?);
            }
        }
        let (people, restless) = self.come_to_rest(crowd, &mut random, &mut watched).await?;
        Ok(Seen { people, watched, left: lefts, torn, absences, expired, restless })
    }

    /// The time of one open question is over, and comes back. That of a list is that of each of its
    /// calls.
    fn hours_go_by(&self, random: &mut Random) -> anyhow::Result<Vec<String>> {
        if !self.house.db().exists() {
            return Ok(Vec::new());
        }
        // Where the tables were not made yet, nothing waits.
        let waiting = Look::open(&self.house.db())?.waiting().unwrap_or_default();
        let ids: Vec<&str> = waiting.iter().map(|question| question.id.as_str()).collect();
        let Some(id) = random.pick(&ids) else { return Ok(Vec::new()) };
        let list = waiting.iter().find(|one| one.id == id).and_then(|one| one.list.as_deref());
        let asked_by = list.unwrap_or(id);
        let db = rusqlite::Connection::open(self.house.db())?;
        db.busy_timeout(STILL_TIME_MAX)?;
        db.execute(
            "UPDATE approvals SET expires_ms = 1 WHERE state = 'waiting' AND (id = ?1 OR list = ?1)",
            [asked_by],
        )?;
        let ended = waiting
            .iter()
            .filter(|one| one.id == asked_by || one.list.as_deref() == Some(asked_by));
        Ok(ended.map(|one| one.id.clone()).collect())
    }

    fn look_after_it(&self, torn: &mut Vec<String>) -> anyhow::Result<Left> {
        let calls = self.telegram.look(|world| world.calls.all().len());
        if !self.house.db().exists() {
            return Ok(Left { calls, ..Left::default() });
        }
        let look = Look::open(&self.house.db())?;
        // Killed before its tables were made.
        let tables = look.count("SELECT count(*) FROM sqlite_schema WHERE name = 'posted'")?;
        if tables == 0 {
            return Ok(Left { calls, ..Left::default() });
        }
        torn.extend(lists::torn(&look)?);
        torn.extend(standing::torn(&look)?);
        Ok(left(&look, calls)?)
    }

    /// Everybody with a chat of their own, some of them in the topics of a group, and an unknown
    /// user.
    fn invite(&mut self) -> People {
        let users: Vec<User> =
            (0..CHATS).map(|number| self.telegram.user(&format!("Person{number:02}"))).collect();
        let forum = self.telegram.forum("House", &users.iter().collect::<Vec<_>>());
        let bot = self.telegram.bot_id();
        let seed = |number: usize| self.seed.wrapping_mul(1_000_003) ^ number as u64;
        let mut seats: Vec<Seat> = Vec::new();
        for (number, user) in users.iter().enumerate() {
            let session = format!("telegram.{bot}.{}", user.id);
            seats.push(Seat::new(
                number,
                user.clone(),
                user.private().into(),
                session,
                "",
                seed(number),
            ));
        }
        let name = self.telegram.look(|world| world.bot.username.clone());
        for (number, user) in users.iter().enumerate().take(TOPICS) {
            let place: Place = user.opens_topic(forum, &format!("Topic {number}"));
            let session = format!("telegram.{bot}.{forum}.{}", place.topic.unwrap_or_default());
            let number = CHATS + number;
            seats.push(Seat::new(
                number,
                user.clone(),
                place,
                session,
                &format!("@{name} "),
                seed(number),
            ));
        }
        let mut allowed: Vec<String> = users.iter().map(|user| user.id.to_string()).collect();
        allowed.push(forum.to_string());
        self.house.set("TELEGRAM_BOT_TOKEN", &self.telegram.token());
        self.house.set("CLAW_TELEGRAM_API", self.telegram.url());
        self.house.set("CLAW_ALLOWED_CHATS", &allowed.join(","));
        let unknown_user = UnknownUser::new(self.telegram.user("Mallory"), seed(CHATS + TOPICS));
        People { seats, unknown_user }
    }

    /// Nobody begins anything any more, and the gateway runs until nothing is left to do.
    async fn come_to_rest(
        &self,
        crowd: Crowd,
        random: &mut Random,
        watched: &mut Watched,
    ) -> anyhow::Result<(People, Vec<String>)> {
        crowd.settle();
        let (child, pid) = self.house.start(&["gateway".to_owned()], &Kill::Not, None)?;
        let mut output = std::pin::pin!(child.wait_with_output());
        let mut restless = vec!["the gateway has ended".to_owned()];
        let striking = async {
            for _ in 0..STRIKES_AT_REST {
                watched.struck.push(Strike(random.another()).hit(pid).await);
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ended = &mut output => watched.wrong.push("the gateway ended by itself while everything came to rest".to_owned()),
            unrest = self.rest() => restless = unrest?,
            () = striking => {}
        }
        // With nobody there any more it must still be at rest: somebody may have tapped at the last
        // moment.
        let people = crowd.goes()?;
        if restless.is_empty() {
            restless = self.rest().await?;
        }
        if watched.wrong.is_empty() {
            kill_process(pid, Signal::TERM).context("the gateway is there")?;
            let output = tokio::time::timeout(STILL_TIME_MAX, output)
                .await
                .context("the gateway obeys SIGTERM")??;
            watched.printed.push_str(&String::from_utf8_lossy(&output.stderr));
            if output.status.code() != Some(0) {
                watched
                    .wrong
                    .push(format!("after SIGTERM the gateway ended with {:?}", output.status));
            }
        }
        Ok((people, restless))
    }

    /// Until nothing is left to do. Returns what is, when the time is over.
    async fn rest(&self) -> anyhow::Result<Vec<String>> {
        let (mut began, mut moved, mut last) = (Instant::now(), Instant::now(), (Vec::new(), 0));
        loop {
            let mut open = unrest(&Look::open(&self.house.db())?)?;
            let (queued, unanswered, calls) = self.telegram.look(|world| {
                let life = crate::botapi::TAP_LIFE.as_millis() as u64;
                let open = world
                    .taps
                    .values()
                    .filter(|tap| tap.answer.is_none() && world.now_ms() < tap.at_ms + life);
                let calls = world
                    .calls
                    .all()
                    .iter()
                    .filter(|call| !call.is("getUpdates") && !call.is("sendChatAction"));
                (world.updates.len(), open.count(), calls.count())
            });
            if queued > 0 {
                open.push(format!("{queued} updates that are not confirmed"));
            }
            if unanswered > 0 {
                open.push(format!("{unanswered} taps that are not answered"));
            }
            let still = moved.elapsed() > STILL_TIME_MAX || began.elapsed() > REST_TIME_MAX;
            if open.is_empty() || still {
                return Ok(open);
            }
            if last != (open.clone(), calls) {
                (last, moved) = ((open, calls), Instant::now());
            }
            let asleep = Instant::now();
            tokio::time::sleep(LOOK_EVERY).await;
            // The stand-ins live on this thread, too: while another round held it nobody answered.
            let held = asleep.elapsed().saturating_sub(LOOK_EVERY);
            (began, moved) = (began + held, moved + held);
        }
    }
}

/// A gateway ends when it is killed, and says nothing of a bug in itself.
fn complaint(ended: &Ended) -> Option<String> {
    if let Some(code) = ended.code {
        return Some(format!("the gateway ended by itself with {code}: {}", ended.err.trim()));
    }
    let odd = ["panicked at", "could not be handled", "a turn failed"];
    let line = ended.err.lines().find(|line| odd.iter().any(|odd| line.contains(odd)));
    line.map(|line| format!("the gateway said: {line}"))
}

/// The point of a kill that hit, `random` for a random moment.
fn what_hit<'a>(kill: &'a Kill, ended: &Ended) -> &'a str {
    match kill {
        Kill::At(point, _) | Kill::AtOrAfter(point, _, _) if !ended.by_time => point,
        _ => "random",
    }
}
