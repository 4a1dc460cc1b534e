//! All people, on a thread of their own: they see what changes and do what they would do, whether
//! claw runs or not. Must not know what any of them wants.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::acts::{button_of, paper_of};
use crate::botapi::{BotApi, Message, Tap, User};
use crate::killing::effects::sow;
use crate::killing::random::Random;
use crate::seat::{After, Deed, Seat};

/// People look up at least this often: patience ends without anything changing on the screen.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// One in so many looks an unknown user tries something.
const UNKNOWN_USER_ONE_IN: u64 = 40;

const TALKS: u8 = 0;
const SETTLES: u8 = 1;
const GOES: u8 = 2;

/// Everybody who was there, and what they did.
pub struct People {
    pub seats: Vec<Seat>,
    pub unknown_user: UnknownUser,
}

/// Somebody whom nobody has let in.
pub struct UnknownUser {
    pub user: User,
    pub taps: Vec<Tap>,
    random: Random,
}

impl UnknownUser {
    pub fn new(user: User, seed: u64) -> Self {
        Self { user, taps: Vec::new(), random: Random(seed) }
    }

    fn tries(&mut self, telegram: &BotApi, seats: &[Seat]) {
        match self.random.below(3) {
            0 => drop(self.user.says(self.user.private(), "write stolen.txt: x")),
            _ => {
                let Some(chat) =
                    self.random.pick(&seats.iter().map(|seat| seat.place.chat).collect::<Vec<_>>())
                else {
                    return;
                };
                let found =
                    telegram.look(|world| world.messages(chat).filter_map(first_button).last());
                let Some((message, data)) = found else { return };
                self.taps.push(self.user.forges_tap(chat, message, &data));
            }
        }
    }
}

fn first_button(message: &Message) -> Option<(i32, String)> {
    let data = message.buttons.iter().flatten().find_map(|button| button.data.clone())?;
    button_of(&data)?;
    Some((message.id, data))
}

/// The thread with the people.
pub struct Crowd {
    mood: Arc<AtomicU8>,
    thread: JoinHandle<People>,
}

impl Crowd {
    pub fn start(telegram: Arc<BotApi>, mut people: People, workspace: PathBuf) -> Self {
        let mood = Arc::new(AtomicU8::new(TALKS));
        let told = mood.clone();
        let thread = std::thread::spawn(move || {
            loop {
                let mood = told.load(Ordering::SeqCst);
                if mood == GOES {
                    return people;
                }
                let deeds: Vec<(usize, Deed)> = telegram.look(|world| {
                    let next = |(index, seat): (usize, &mut Seat)| {
                        Some((index, seat.next(world, mood == TALKS)?))
                    };
                    people.seats.iter_mut().enumerate().filter_map(next).collect()
                });
                if mood == TALKS && people.unknown_user.random.below(UNKNOWN_USER_ONE_IN) == 0 {
                    people.unknown_user.tries(&telegram, &people.seats);
                }
                if deeds.is_empty() {
                    telegram.wait_a_change(LOOK_EVERY);
                }
                for (index, deed) in deeds {
                    if let Some(seat) = people.seats.get_mut(index) {
                        does(seat, deed, &workspace);
                    }
                }
            }
        });
        Self { mood, thread }
    }

    /// From now on nobody begins anything; questions are still answered.
    pub fn settle(&self) {
        self.mood.store(SETTLES, Ordering::SeqCst);
    }

    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Everybody goes.
    pub fn goes(self) -> anyhow::Result<People> {
        self.mood.store(GOES, Ordering::SeqCst);
        self.thread.join().map_err(|_| anyhow::anyhow!("the people's thread has panicked"))
    }
}

fn does(seat: &mut Seat, deed: Deed, workspace: &Path) {
    let (mut said, mut tapped) = (None, None);
    if let Deed::Say { text, .. } | Deed::Edit { text, .. } = &deed {
        sow(workspace, text).expect("the workspace takes files");
    }
    match &deed {
        Deed::Say { text, reply_to, after, paper } => {
            let mut saying = seat.user.writes(seat.place).text(text);
            if let (After::Task(name), true) = (after, paper) {
                saying = saying.document(&format!("{name}.txt"), &paper_of(name));
            }
            said = Some(match reply_to {
                Some(message) => saying.reply_to(*message).send(),
                None => saying.send(),
            });
        }
        Deed::Edit { said: earlier, text, .. } => {
            let update = seat.user.edits(earlier, text);
            said = Some(crate::botapi::Said { update, ..*earlier });
        }
        Deed::Tap { message, data, .. } => {
            tapped = Some(seat.user.forges_tap(seat.place.chat, *message, data))
        }
    }
    seat.done(deed, said, tapped);
}
