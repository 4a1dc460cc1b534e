//! The button below an answer that puts back the files of its turn: a tap shows what would change
//! back, a second one does it. Must not know who may tap, or how a snapshot is kept.

use super::context::GatewayContext;
use super::pacing::{until_changed, until_sent};
use crate::Part;
use crate::api::callback::{Button, Callback, UndoOf};
use crate::api::fault::ApiFault;
use crate::api::incoming::Tapped;
use crate::api::pace::Urgency;
use crate::api::place::Place;
use crate::chat_commands::UndoTold;
use crate::domain::{Origin, telegram_principal};
use crate::doors::chat_door::UndoButton;
use crate::router::Visitor;
use claw_telegram_render::markdown::render;

const NOTHING: &str = "This button does nothing any more.";
const LEFT: &str = "The files stay as they are.";

/// What is to be shown for a tap.
pub(super) enum Shows {
    Words(String),
    /// A list in a message of its own, with the buttons that answer it.
    List {
        place: Place,
        markdown: String,
        keyboard: Vec<Vec<Button>>,
    },
    /// The message with this number says what came of it, and the answer loses its button.
    Over {
        place: Place,
        message: i64,
        markdown: String,
        answer: i64,
    },
    /// The buttons of this message go.
    Left {
        place: Place,
        message: i64,
    },
}

/// The button below the answer of a turn.
pub(super) fn button(thread: Option<i64>, undo: UndoButton) -> Option<Button> {
    let label = match undo.files {
        0 => "Undo folders".to_owned(),
        1 => "Undo 1 file".to_owned(),
        more => format!("Undo {more} files"),
    };
    let of = UndoOf { thread, turn_seq: undo.turn_seq };
    Some(Button { label, data: Callback::ShowUndo(of).encode()? })
}

/// Carries out an owner's tap. Of two yeses one undoes; the other one reads that it is done.
pub(super) async fn tap(
    ctx: &GatewayContext,
    tapped: &Tapped,
    callback: &Callback,
) -> anyhow::Result<Shows> {
    let Some((at, message)) = tapped.at.clone() else { return Ok(words(NOTHING)) };
    let (of, answer) = match callback {
        Callback::ShowUndo(of) => (*of, None),
        Callback::UndoFiles(of, answer) => (*of, Some(i64::from(*answer))),
        _ => return Ok(Shows::Left { place: at, message }),
    };
    let place = Place { thread: of.thread, ..at };
    let visitor = Visitor {
        from: place.address(),
        principal: telegram_principal(tapped.user),
        origin: Origin::Button,
    };
    let (session, commands) = (place.session()?, &ctx.shared.context.chat_commands);
    let told = commands.undo_by_button(&visitor, &session, of.turn_seq, answer.is_some()).await?;
    Ok(match told {
        UndoTold::Shown { markdown, changes: false } => {
            Shows::List { place, markdown, keyboard: Vec::new() }
        }
        UndoTold::Shown { markdown, changes: true } => {
            Shows::List { place, markdown, keyboard: answers(of, message) }
        }
        UndoTold::Done(markdown) | UndoTold::NothingToUndo(markdown) => match answer {
            Some(answer) => Shows::Over { place, message, markdown, answer },
            None => Shows::Over { place, message: 0, markdown, answer: message },
        },
        UndoTold::Refused(why) => Shows::Words(why),
    })
}

fn answers(of: UndoOf, answer: i64) -> Vec<Vec<Button>> {
    // Numbers of messages have 32 bits (Bot API, "Message").
    let yes = i32::try_from(answer).ok().map(|answer| Callback::UndoFiles(of, answer));
    let choices = [("Undo", yes), ("Leave as is", Some(Callback::KeepFiles))];
    let buttons = choices.into_iter().filter_map(|(label, callback)| {
        Some(Button { label: label.to_owned(), data: callback?.encode()? })
    });
    vec![buttons.collect()]
}

fn words(text: &str) -> Shows {
    Shows::Words(text.to_owned())
}

/// Shows it, and gives back the words for whoever tapped.
pub(super) async fn show(ctx: &GatewayContext, shows: Shows) -> String {
    match shows {
        Shows::Words(words) => words,
        Shows::List { place, markdown, keyboard } => {
            let mut parts = render(&markdown);
            let last = parts.pop();
            for part in &parts {
                if let Err(fault) = send(ctx, &place, part, &[]).await {
                    return fault.to_string();
                }
            }
            let Some(last) = last else { return String::new() };
            send(ctx, &place, &last, &keyboard)
                .await
                .map_or_else(|fault| fault.to_string(), |()| String::new())
        }
        Shows::Over { place, message, markdown, answer } => {
            take_buttons(ctx, &place, answer).await;
            let part = render(&markdown).into_iter().next().unwrap_or_default();
            if message == 0 {
                return part.text;
            }
            let change = || ctx.api.edit(&place, message, &part, &[]);
            if let Err(fault) = until_changed(ctx, &place, Urgency::Answer, change).await {
                tracing::warn!(%fault, "what an undo has done could not be shown where it was asked");
            }
            part.text
        }
        Shows::Left { place, message } => {
            take_buttons(ctx, &place, message).await;
            LEFT.to_owned()
        }
    }
}

async fn send(
    ctx: &GatewayContext,
    place: &Place,
    part: &Part,
    keyboard: &[Vec<Button>],
) -> Result<(), ApiFault> {
    let send = || ctx.api.send(place, part, keyboard);
    until_sent(ctx, place, Urgency::Answer, send).await.map(drop)
}

/// A button that stays because Telegram refuses the change says that there is nothing to undo.
async fn take_buttons(ctx: &GatewayContext, place: &Place, message: i64) {
    let take = || ctx.api.edit_keyboard(place, message, &[]);
    if let Err(fault) = until_changed(ctx, place, Urgency::Answer, take).await {
        tracing::info!(%fault, "a button that undoes nothing any more could not be taken away");
    }
}
