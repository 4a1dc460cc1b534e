//! What one row of the outbox is sent as: messages, a file where there would be too many, and the
//! files that a reply links. Must not know what was sent already.

use super::context::GatewayContext;
use super::pacing;
use crate::domain::OutboundBody;
use crate::doors::chat_door::{DoorPiece, File};
use crate::doors::markdown::linked_files;
use crate::doors::telegram::Part;
use crate::doors::telegram::api::fault::ApiFault;
use crate::doors::telegram::api::place::Place;
use crate::doors::telegram::api::upload::{DOCUMENT_BYTES_MAX, Upload, is_photo};
use crate::doors::telegram::render::markdown::{plain, render};
use crate::router::HoldsSecret;

/// A text that would be more messages than this is sent as its first one and as a file.
const MESSAGES_MAX: usize = 5;
/// Files that one reply hands over; a sentence names the others.
const FILES_MAX: usize = 10;

/// The pieces of a reply or notice, in order.
pub(super) fn pieces(body: &OutboundBody, text: &str) -> Vec<DoorPiece<Part>> {
    let (is_reply, name) = match body {
        OutboundBody::Reply { .. } => (true, "answer.md"),
        _ => (false, "notice.md"),
    };
    let mut parts = render(text);
    let mut pieces = Vec::new();
    if parts.len() > MESSAGES_MAX {
        parts.truncate(1);
        pieces.push(DoorPiece::File(File::Whole { name, text: text.to_owned() }));
    }
    pieces.splice(0..0, parts.into_iter().map(DoorPiece::Text));
    if is_reply {
        let files = linked_files(text);
        let more: Vec<&str> = files.iter().skip(FILES_MAX).map(String::as_str).collect();
        let sentence = format!(
            "Not sent, because a reply hands over {FILES_MAX} files at most: {}",
            more.join(", ")
        );
        pieces.extend(
            files.iter().take(FILES_MAX).cloned().map(|path| DoorPiece::File(File::Linked(path))),
        );
        if !more.is_empty() {
            pieces.extend(plain(&sentence).into_iter().take(1).map(DoorPiece::Text));
        }
    }
    pieces
}

/// Hands over one file. One that cannot be sent is named in a message instead.
pub(super) async fn send_file(
    ctx: &GatewayContext,
    place: &Place,
    file: &File,
) -> Result<(), ApiFault> {
    match file {
        File::Whole { name, text } => {
            let upload =
                Upload { name: (*name).to_owned(), bytes: text.clone().into_bytes(), photo: false };
            match ctx.api.send_upload(place, upload).await {
                // Some groups forbid files. The text has to arrive; its first message is there
                // already.
                Err(ApiFault::Refused(why)) => {
                    tracing::warn!(
                        why,
                        "Telegram refused a long text as a file; it goes as messages"
                    );
                    for part in render(text).iter().skip(1) {
                        pacing::send(ctx, place, part).await?;
                    }
                    Ok(())
                }
                sent => sent.map(drop),
            }
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
    let (workspace, path) = (ctx.workspace_at(place), path.to_owned());
    let router = ctx.router.clone();
    let read = tokio::task::spawn_blocking(move || {
        let given = workspace.give(&path, DOCUMENT_BYTES_MAX).map_err(|why| why.to_string())?;
        let photo = is_photo(&given.bytes);
        let bytes = router.cleared_file(given.bytes).map_err(|HoldsSecret| {
            "it holds a known secret, which cannot be taken out of a file that is no text"
        })?;
        Ok(Upload { name: given.name, bytes, photo })
    });
    read.await.map_err(|error| error.to_string())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> Vec<DoorPiece<Part>> {
        pieces(&OutboundBody::Reply { turn_seq: 1, step: 1, text: text.into() }, text)
    }

    fn whole(name: &'static str, text: &str) -> DoorPiece<Part> {
        DoorPiece::File(File::Whole { name, text: text.to_owned() })
    }

    #[test]
    fn a_long_text_is_its_beginning_and_a_file() {
        let five = "word ".repeat(4000);
        assert_eq!(reply(&five).len(), 5);
        let long = format!("{five}{five} [a](a.txt)");
        let sent = reply(&long);
        assert!(matches!(&sent[0], DoorPiece::Text(_)));
        assert_eq!(
            sent[1..],
            [whole("answer.md", &long), DoorPiece::File(File::Linked("a.txt".into()))]
        );
        let notice = pieces(&OutboundBody::Notice { text: long.clone() }, &long);
        assert_eq!(notice[1..], [whole("notice.md", &long)], "a notice hands no file over");
    }

    #[test]
    fn only_so_many_files_and_the_others_are_named() {
        let links: String = (0..12).map(|number| format!("[x]({number}.txt) ")).collect();
        let sent = reply(&links);
        assert_eq!(
            sent.iter().filter(|piece| matches!(piece, DoorPiece::File(_))).count(),
            FILES_MAX
        );
        assert!(
            matches!(sent.last(), Some(DoorPiece::Text(part)) if part.text.ends_with("10.txt, 11.txt"))
        );
    }
}
