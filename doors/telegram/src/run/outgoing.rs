//! What one row of the outbox is sent as in a chat, and how a file goes out. Must not know what was
//! sent already.

use super::context::GatewayContext;
use super::pacing;
use crate::Part;
use crate::api::fault::ApiFault;
use crate::api::place::Place;
use crate::api::upload::{DOCUMENT_BYTES_MAX, Upload, is_photo};
use crate::domain::OutboundBody;
use crate::doors::chat_door::{DoorPiece, File};
use crate::doors::handed_over;
use crate::doors::pieces::{self, PieceLimits};
use claw_telegram_render::markdown::{plain, render};

const LIMITS: PieceLimits = PieceLimits { messages_max: 5, files_max: 10 };

/// The pieces of a reply or notice, in order.
pub(super) fn pieces(body: &OutboundBody, text: &str) -> Vec<DoorPiece<Part>> {
    pieces::pieces((body, text), LIMITS, render, plain)
}

/// Hands over one file. A linked one that cannot be sent is named in a message instead.
pub(super) async fn send_file(
    ctx: &GatewayContext,
    place: &Place,
    file: &File,
) -> Result<(), ApiFault> {
    match file {
        File::Whole { name, text } => {
            let upload =
                Upload { name: (*name).to_owned(), bytes: text.clone().into_bytes(), photo: false };
            ctx.api.send_upload(place, upload).await.map(drop)
        }
        File::Linked(path) => {
            // It is never closed.
            let _slot = ctx.files.uploads.acquire().await;
            let why = match upload_of(ctx, place, path).await {
                Ok(upload) => match ctx.api.send_upload(place, upload).await {
                    Err(ApiFault::Refused(why)) => format!("Telegram refused it ({why})"),
                    sent => return sent.map(drop),
                },
                Err(why) => why,
            };
            tracing::warn!(why, "a file that a reply links is not sent");
            for part in plain(&format!("{path} was not sent: {why}.")) {
                pacing::send(ctx, place, &part).await?;
            }
            Ok(())
        }
    }
}

/// The file as it may leave, or half a sentence why it may not.
async fn upload_of(ctx: &GatewayContext, place: &Place, path: &str) -> Result<Upload, String> {
    let workspace = ctx.workspace_at(place)?;
    let given = handed_over::cleared(&ctx.router, workspace, path, DOCUMENT_BYTES_MAX).await?;
    // A photo is no text, so nothing was taken out of it.
    Ok(Upload { photo: is_photo(&given.bytes), name: given.name, bytes: given.bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> Vec<DoorPiece<Part>> {
        pieces(&OutboundBody::Reply { turn_seq: 1, step: 1, text: text.into() }, text)
    }

    #[test]
    fn a_long_text_is_its_beginning_and_a_file() {
        let five = "word ".repeat(4000);
        assert_eq!(reply(&five).len(), LIMITS.messages_max);
        let long = format!("{five}{five}");
        let whole = File::Whole { name: "answer.md", text: long.clone() };
        let sent = reply(&long);
        assert!(matches!(&sent[0], DoorPiece::Text(_)));
        let rest = render(&long).split_off(1);
        assert_eq!(sent[1..], [DoorPiece::Whole { file: whole, rest }]);
    }

    #[test]
    fn the_files_that_are_left_out_are_named_as_they_are() {
        let links: String = (0..12).map(|number| format!("[x](_a_{number}_.txt) ")).collect();
        let sent = reply(&links);
        let files = sent.iter().filter(|piece| matches!(piece, DoorPiece::File(_)));
        assert_eq!(files.count(), LIMITS.files_max);
        let Some(DoorPiece::Text(part)) = sent.last() else { panic!("{sent:?}") };
        assert!(part.text.ends_with("_a_10_.txt, _a_11_.txt"), "{}", part.text);
    }
}
