//! From the outbox to the chats of a door: every row, chat by chat, in order, at least once. Must
//! not know who decides what is said, or how a door shows it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::asking::asked_elsewhere;
use super::chat_door::{ChatDoor, DoorPiece, UndoButton};
use super::door::DoorFault;
use super::patience::{patiently, sparingly};
use crate::chat_commands::without_buttons;
use crate::domain::{Address, OutboundBody, Question, SessionId};
use crate::mail::{MailError, OutboxMessage};

/// After a fault of the store.
const RETRY: Duration = Duration::from_secs(5);
/// Rows are looked for this often without a wake-up.
const LOOK: Duration = Duration::from_secs(30);

/// Chats that are being written to. One at a time each, so that messages stay in order; none waits
/// for another.
type Busy = Arc<Mutex<HashSet<Address>>>;

pub async fn deliver<D: ChatDoor>(door: Arc<D>) {
    let busy = Busy::default();
    let mut wake_ups = door.shared().wake_ups();
    loop {
        match door.shared().mail().waiting_at(D::NAME) {
            Ok(chats) => {
                for to in chats.into_iter().filter(|to| door.writes_to(to)) {
                    if busy.lock().unwrap_or_else(PoisonError::into_inner).insert(to.clone()) {
                        claw_kit::task::spawn(write_to(door.clone(), busy.clone(), to));
                    }
                }
            }
            Err(error) => tracing::error!(%error, "the outbox cannot be read"),
        }
        wake_ups.wait(LOOK).await;
    }
}

/// Waits until nothing is left to be sent.
pub async fn all_sent<D: ChatDoor>(door: &Arc<D>) {
    let mut wake_ups = door.shared().wake_ups();
    loop {
        match door.shared().mail().waiting_at(D::NAME) {
            Ok(chats) if !chats.iter().any(|to| door.writes_to(to)) => return,
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the outbox cannot be read"),
        }
        wake_ups.wait(LOOK).await;
    }
}

async fn write_to<D: ChatDoor>(door: Arc<D>, busy: Busy, to: Address) {
    if let Err(error) = write_all(&*door, &to).await {
        tracing::error!(%error, "the outbox cannot be read or written; it is tried again");
        door.store_failed(&error);
        tokio::time::sleep(RETRY).await;
    }
    busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&to);
    door.shared().wake();
}

async fn write_all<D: ChatDoor>(door: &D, to: &Address) -> Result<(), MailError> {
    for row in door.shared().mail().waiting(to)? {
        if !door.writes_to(to) {
            break;
        }
        if !door.may_read(to) {
            tracing::warn!(row = row.id, to = %to, "a message is not sent, because its chat may \
                not talk to claw any more; its session keeps it");
            door.shared().mail().shown(row.id).await?;
            continue;
        }
        write(door, to, &row).await?;
    }
    Ok(())
}

async fn write<D: ChatDoor>(door: &D, to: &Address, row: &OutboxMessage) -> Result<(), MailError> {
    if row.sending {
        tracing::warn!(row = row.id, "claw was ended while this was sent, so it may appear twice");
    }
    let chat = door.shared().chats.at(to);
    let mut delivered = chat.lock().await;
    let shown = delivered.take_shown();
    match &row.outbound.body {
        OutboundBody::Notice { .. }
        | OutboundBody::Reminder { .. }
        | OutboundBody::Digest { .. } => notice(door, to, row).await,
        OutboundBody::Reply { turn_seq, step, text } => {
            delivered.begin(&row.outbound.session, *turn_seq, None);
            let text = &with_quiet_line(door, to, &row.outbound.session, *turn_seq, text)?;
            let mut pieces = door.pieces(&row.outbound.body, text);
            add_undo_button(door, to, &row.outbound.session, *turn_seq, &mut pieces)?;
            if write_said(door, to, row, (*turn_seq, *step), &pieces, shown).await? {
                forget_drafts(door, to, row, (*turn_seq, *step), None).await?;
                door.shared().mail().said(row, *turn_seq, None).await?;
            }
            Ok(())
        }
        OutboundBody::Said { partial, .. } if !door.shows_words_before_acts() && !partial => {
            door.shared().mail().shown(row.id).await
        }
        OutboundBody::Said { turn_seq, step, text, partial } => {
            delivered.begin(&row.outbound.session, *turn_seq, Some(*step));
            let text = if *partial {
                format!("{}\n\n*[interrupted]*", text.trim_end())
            } else {
                text.clone()
            };
            let pieces = door.pieces(&row.outbound.body, &text);
            if write_said(door, to, row, (*turn_seq, *step), &pieces, shown).await? {
                forget_drafts(door, to, row, (*turn_seq, *step), Some(*step)).await?;
                door.shared().mail().said(row, *turn_seq, Some(*step)).await?;
            }
            Ok(())
        }
        OutboundBody::Question { question, .. } if !door.has_an_owner(to) => {
            let told = match asked_elsewhere(question) {
                Some(text) => {
                    let pieces = door.pieces(&row.outbound.body, &text);
                    write_pieces(door, to, row, &pieces, &Drafted::default()).await?
                }
                None => true,
            };
            if told {
                door.shared().mail().shown(row.id).await?;
            }
            Ok(())
        }
        OutboundBody::Question { turn_seq, question } => {
            ask(door, to, row, *turn_seq, question).await
        }
    }
}

/// Words of claw itself. Those of a digest and of a reminder have buttons where the door does.
async fn notice<D: ChatDoor>(door: &D, to: &Address, row: &OutboxMessage) -> Result<(), MailError> {
    let body = &row.outbound.body;
    let text = match body {
        OutboundBody::Digest { text, .. } | OutboundBody::Reminder { text, .. }
            if D::HAS_BUTTONS =>
        {
            text.into()
        }
        body => without_buttons(body),
    };
    let mut pieces = door.pieces(body, &text);
    if let OutboundBody::Digest { number, grants, .. } = body {
        change_last(&mut pieces, |last| D::with_grant_buttons(last, *number, grants));
    }
    if let OutboundBody::Reminder { firing, .. } = body {
        change_last(&mut pieces, |last| D::with_reminder_buttons(last, firing));
    }
    if write_pieces(door, to, row, &pieces, &Drafted::default()).await? {
        door.shared().mail().shown(row.id).await?;
    }
    Ok(())
}

/// Puts a question to the person. One that cannot be put is given up and told.
async fn ask<D: ChatDoor>(
    door: &D,
    to: &Address,
    row: &OutboxMessage,
    turn_seq: u64,
    question: &Question,
) -> Result<(), MailError> {
    door.shared().mail().sending(row.id, 0).await?;
    let sent = sparingly(|| door.ask(to, turn_seq, question)).await;
    match sent {
        Ok(asked) => {
            let posted = asked.posted(&question.approval, to);
            let older = door.shared().mail().asked(row.id, posted).await?;
            door.shared().outdated(&older);
        }
        Err(fault) if give_up(door, to, row, &fault).await? => {
            door.shared().mail().shown(row.id).await?;
        }
        Err(_) => {}
    }
    Ok(())
}

/// The words of one step of the model, in the messages that show them already, and in more if they
/// are longer.
async fn write_said<D: ChatDoor>(
    door: &D,
    to: &Address,
    row: &OutboxMessage,
    (turn_seq, step): (u64, u32),
    pieces: &[DoorPiece<D::Text>],
    shown: HashMap<i64, D::Text>,
) -> Result<bool, MailError> {
    let messages =
        door.shared().mail().drafts(&row.outbound.to, &row.outbound.session, turn_seq, step)?;
    write_pieces(door, to, row, pieces, &Drafted { messages, shown }).await
}

/// The messages that are drafts of a text, in its order.
struct Drafted<T> {
    messages: Vec<i64>,
    /// What they show, as far as this process has seen it.
    shown: HashMap<i64, T>,
}

impl<T> Default for Drafted<T> {
    fn default() -> Self {
        Self { messages: Vec::new(), shown: HashMap::new() }
    }
}

impl<T: Clone + PartialEq> Drafted<T> {
    /// Makes them what they were to become, the end first, because that is what a reader waits for.
    /// One that is so already is left alone. Gives back the places of those that cannot be changed:
    /// they come as new messages.
    async fn finish<D: ChatDoor<Text = T>>(
        &self,
        door: &D,
        to: &Address,
        pieces: &[DoorPiece<T>],
    ) -> HashSet<usize> {
        let mut lost = HashSet::new();
        for (index, (message, piece)) in self.messages.iter().zip(pieces).enumerate().rev() {
            let DoorPiece::Text(part) = piece else {
                lost.insert(index);
                continue;
            };
            if self.shown.get(message) == Some(part) {
                continue;
            }
            if let Err(fault) = patiently(|| door.edit(to, *message, part)).await {
                tracing::info!(%fault, "a draft cannot be finished where it is; it comes as a new message");
                lost.insert(index);
            }
        }
        lost
    }
}

/// Changes the messages that are drafts of it, which can be done twice, and sends the rest. False
/// if the row was put back.
async fn write_pieces<D: ChatDoor>(
    door: &D,
    to: &Address,
    row: &OutboxMessage,
    pieces: &[DoorPiece<D::Text>],
    drafts: &Drafted<D::Text>,
) -> Result<bool, MailError> {
    let lost = drafts.finish(door, to, pieces).await;
    let mut parts = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let before = parts;
        parts += piece.parts();
        let is_finished = index < drafts.messages.len() && !lost.contains(&index);
        if is_finished || parts <= row.parts_sent as usize {
            continue;
        }
        if let Err(fault) = write_piece(door, to, row, piece, before).await? {
            return give_up(door, to, row, &fault).await;
        }
    }
    let messages = pieces.iter().take_while(|piece| matches!(piece, DoorPiece::Text(_))).count();
    for left in drafts.messages.iter().skip(messages) {
        take_away(door, to, *left).await;
    }
    Ok(true)
}

/// Takes away the beginnings of words that were never finished: a step that was interrupted and
/// repeated has said something else, or nothing at all. What this row has made final stays.
async fn forget_drafts<D: ChatDoor>(
    door: &D,
    to: &Address,
    row: &OutboxMessage,
    (turn_seq, step): (u64, u32),
    through: Option<u32>,
) -> Result<(), MailError> {
    let session = &row.outbound.session;
    let written = door.shared().mail().drafts(to, session, turn_seq, step)?;
    for left in door.shared().mail().drafts_through(to, session, turn_seq, through)? {
        if !written.contains(&left) {
            take_away(door, to, left).await;
        }
    }
    Ok(())
}

async fn take_away<D: ChatDoor>(door: &D, to: &Address, message: i64) {
    if let Err(fault) = patiently(|| door.take_away(to, message)).await {
        tracing::warn!(%fault, "a draft that is not needed any more stays in the chat");
    }
}

/// Sends what is not there yet of a piece that has so many parts of its row before it. A part that
/// was sent is not sent again because of a later one.
async fn write_piece<D: ChatDoor>(
    door: &D,
    to: &Address,
    row: &OutboxMessage,
    piece: &DoorPiece<D::Text>,
    before: usize,
) -> Result<Result<(), DoorFault>, MailError> {
    let sending = |part: usize| door.shared().mail().sending(row.id, part as u32);
    let (file, rest) = match piece {
        DoorPiece::Text(text) => {
            sending(before).await?;
            return Ok(sparingly(|| door.send(to, text)).await.map(drop));
        }
        DoorPiece::File(file) => (file, &[][..]),
        DoorPiece::Whole { file, rest } => (file, &rest[..]),
    };
    let there = (row.parts_sent as usize).saturating_sub(before);
    // With some of the messages there, the file was refused by an earlier run.
    if there == 0 {
        sending(before).await?;
        match sparingly(|| door.file(to, file)).await {
            Err(DoorFault::Refused(why)) if !rest.is_empty() => {
                tracing::warn!(why, "a long text is refused as a file; it goes as messages");
            }
            sent => return Ok(sent),
        }
    }
    for (index, text) in rest.iter().enumerate().skip(there) {
        sending(before + index).await?;
        if let Err(fault) = sparingly(|| door.send(to, text)).await {
            return Ok(Err(fault));
        }
    }
    Ok(Ok(()))
}

/// Nothing is lost without a word: what a chat does not let in waits for it, and then this is
/// false; what its place refuses goes where somebody reads it. Only if there is no such place the
/// log alone says so, and the session has the text.
async fn give_up<D: ChatDoor>(
    door: &D,
    to: &Address,
    row: &OutboxMessage,
    fault: &DoorFault,
) -> Result<bool, MailError> {
    if let DoorFault::Blocked(why) = fault {
        door.shared().mail().put_back(row.id).await?;
        door.blocked(to, why).await?;
        return Ok(false);
    }
    let instead = door.instead(&row.outbound, fault);
    if !instead.is_empty() {
        tracing::warn!(row = row.id, to = %row.outbound.to, %fault, "a message is refused; it goes to another chat");
        door.shared().mail().sent_elsewhere(row.id, instead).await?;
        door.shared().wake();
        return Ok(true);
    }
    tracing::error!(row = row.id, to = %row.outbound.to, %fault, "a message cannot be sent; its session keeps it");
    Ok(true)
}

/// An answer with the quiet line of its turn under it. Allowed users who are no owners are not told
/// of it.
fn with_quiet_line<D: ChatDoor>(
    door: &D,
    to: &Address,
    session: &SessionId,
    turn_seq: u64,
    text: &str,
) -> Result<String, MailError> {
    if !door.has_an_owner(to) {
        return Ok(text.to_owned());
    }
    let commands = &door.shared().context.chat_commands;
    let line = if D::HAS_BUTTONS {
        commands.quiet_line(session, turn_seq)?
    } else {
        commands.quiet_lines(session, turn_seq)?
    };
    Ok(match line {
        Some(line) => format!("{}\n\n{line}", text.trim_end()),
        None => text.to_owned(),
    })
}

/// Below the last words of an answer in its own chat, where an owner reads it.
fn add_undo_button<D: ChatDoor>(
    door: &D,
    to: &Address,
    session: &SessionId,
    turn_seq: u64,
    pieces: &mut [DoorPiece<D::Text>],
) -> Result<(), MailError> {
    if !D::HAS_BUTTONS || !door.has_an_owner(to) || door.place_of(session).as_ref() != Some(to) {
        return Ok(());
    }
    let commands = &door.shared().context.chat_commands;
    let Some(files) = commands.changed_files(session, turn_seq)? else { return Ok(()) };
    let undo = UndoButton { turn_seq, files };
    change_last(pieces, |last| D::with_undo_button(last, to, undo));
    Ok(())
}

/// Changes the last message of a text.
fn change_last<T: Clone>(pieces: &mut [DoorPiece<T>], change: impl FnOnce(T) -> T) {
    let last = pieces.iter_mut().rev().find_map(|piece| match piece {
        DoorPiece::Text(text) => Some(text),
        DoorPiece::File(_) | DoorPiece::Whole { .. } => None,
    });
    if let Some(text) = last {
        *text = change(text.clone());
    }
}
