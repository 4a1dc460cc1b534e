//! What came with a message: its files are fetched into the workspace, images are kept for the
//! model, speech becomes text. Owns what model and person are told of each. Must not know who may
//! send what.

use std::io;
use std::time::Duration;

use super::context::GatewayContext;
use super::files::size;
use crate::api::attached::{FileKind, TelegramFile};
use crate::api::files::FetchError;
use crate::api::incoming::{Author, ChatMessage, Replied};
use crate::api::place::Place;
use crate::domain::canonical::sha256_hex;
use crate::domain::{Block, IMAGE_BYTES_MAX, image_mime};
use crate::router::UpdateMessage;
use crate::workspace::{Put, safe_name};

/// The folder of the workspace into which files go, in one for each day.
const INBOX: &str = "inbox";
/// How often a file is tried in all. With the pauses this is about half a minute.
const TRIES_MAX: u32 = 5;
const RETRY: Duration = Duration::from_secs(2);
/// The largest recording that is transcribed, in bytes (OpenAI, `audio/transcriptions`: 25 MB).
const SPEECH_BYTES_MAX: u64 = 25_000_000;
/// Of the digest that makes a name unique, so many hexadecimal digits are taken.
const ID_DIGITS: usize = 10;

/// The message as the model gets it: `text`, then what came with it, then what came of the file
/// that it replies to.
pub(super) async fn message_of(
    ctx: &GatewayContext,
    msg: &ChatMessage,
    mut text: String,
    of_reply: Option<OfReply>,
) -> UpdateMessage {
    let mut message = UpdateMessage::default();
    let mut images = Vec::new();
    if let Some(words) = &msg.words {
        push_line(&mut text, words);
    }
    let mut all = Vec::new();
    for file in &msg.files {
        let received = receive(ctx, &msg.place, file).await;
        all.push(received.unwrap_or_else(|error| {
            let (what, why) = (file.kind.word(), told(&error));
            Received {
                lines: vec![format!("[a {what} came with it, which could not be fetched: {why}]")],
                notice: Some(format!("I did not get your {what}: {why}.")),
                image: None,
            }
        }));
    }
    for received in all.into_iter().chain(of_reply.map(|of_reply| of_reply.received)) {
        received.lines.iter().for_each(|line| push_line(&mut text, line));
        images.extend(received.image);
        message.notices.extend(received.notice);
    }
    message.blocks.push(Block::Text { text });
    message.blocks.extend(images);
    message
}

/// What a message that was replied to holds, in words; a file that was fetched with it by its path.
pub(super) fn words_of(ctx: &GatewayContext, place: &Place, replied: &Replied) -> Option<String> {
    let Some(file) = &replied.file else { return replied.words.clone() };
    let path = kept(ctx, place, file).map(|path| format!(" saved as {path}")).unwrap_or_default();
    Some(format!("[{}{path}]", file.kind.word()))
}

/// What came of the file of a message that was replied to.
pub(super) struct OfReply {
    /// Without the line that says where the file is: the quotation says that.
    received: Received,
    /// Somebody else than whoever replies has sent the file, or written what they passed on.
    pub(super) is_of_another: bool,
}

/// Fetches the file of a message that was replied to: in a group nobody may have shown it to claw.
/// `None` if there is none, if it is in the workspace already, or if claw itself has sent it.
pub(super) async fn of_reply(ctx: &GatewayContext, msg: &ChatMessage) -> Option<OfReply> {
    let replied = msg.reply.as_ref().filter(|replied| replied.by != Author::Bot)?;
    let file = replied.file.as_ref()?;
    if kept(ctx, &msg.place, file).is_some() {
        return None;
    }
    let what = file.kind.word();
    let received = match receive(ctx, &msg.place, file).await {
        Ok(mut received) => {
            received.lines.remove(0);
            if !received.lines.is_empty() {
                received.lines.insert(0, format!("[of the {what} that this replies to]"));
            }
            received
        }
        Err(error) => {
            let why = told(&error);
            let line = format!("[the {what} that this replies to could not be fetched: {why}]");
            let notice = format!("I did not get the {what} that you reply to: {why}.");
            Received { lines: vec![line], notice: Some(notice), image: None }
        }
    };
    Some(OfReply { received, is_of_another: replied.by == Author::Another })
}

/// The path of a file in the workspace, if it was fetched before.
fn kept(ctx: &GatewayContext, place: &Place, file: &TelegramFile) -> Option<String> {
    let (date, name) = (date(ctx, file), name(place, file));
    let workspace = ctx.workspace_at(place).ok()?;
    workspace.size_of(&[INBOX, &date], &name).map(|_| format!("{INBOX}/{date}/{name}"))
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

#[derive(Default)]
struct Received {
    /// For the model.
    lines: Vec<String>,
    image: Option<Block>,
    /// For the person.
    notice: Option<String>,
}

/// What came of a file that was fetched; its first line says where it is.
async fn receive(
    ctx: &GatewayContext,
    place: &Place,
    file: &TelegramFile,
) -> Result<Received, FetchError> {
    let what = file.kind.word();
    let (path, bytes) = fetch(ctx, place, file).await.inspect_err(|error| {
        tracing::warn!(chat = place.chat, %error, "a file could not be fetched");
    })?;
    let pixels =
        file.pixels.map(|(width, height)| format!(", {width}×{height}")).unwrap_or_default();
    let duration = file.duration_s.map(|seconds| format!(", {seconds} s")).unwrap_or_default();
    let line = format!("[{what} saved as {path}{pixels}{duration}, {}]", size(bytes));
    let mut received = Received { lines: vec![line], ..Received::default() };
    match file.kind {
        FileKind::Photo | FileKind::Document
            if (ctx.shared.context.settings.sees_images)() && bytes <= IMAGE_BYTES_MAX =>
        {
            received.image = image(ctx, place, path).await;
        }
        FileKind::Voice => listen(ctx, place, path, &mut received).await,
        _ => {}
    }
    Ok(received)
}

/// The same for the same message, however often it is handled and edited, so that a file is fetched
/// once.
fn name(place: &Place, file: &TelegramFile) -> String {
    let key = format!("{}/{}/{}/{}", place.bot, place.chat, file.message, file.unique_id);
    let digest = sha256_hex(key.as_bytes());
    safe_name(&file.name, digest.get(..ID_DIGITS).unwrap_or(&digest))
}

fn date(ctx: &GatewayContext, file: &TelegramFile) -> String {
    ctx.clock().date(file.at_s.saturating_mul(1000))
}

/// Its path in the workspace, and its size.
async fn fetch(
    ctx: &GatewayContext,
    place: &Place,
    file: &TelegramFile,
) -> Result<(String, u64), FetchError> {
    let limit = ctx.telegram.file_bytes_max;
    if file.bytes.is_some_and(|bytes| bytes > limit) {
        return Err(FetchError::TooLarge(limit));
    }
    // It is never closed.
    let _slot = ctx.files.downloads.acquire().await;
    let (date, name) = (date(ctx, file), name(place, file));
    let mut tries = 1;
    loop {
        let error = match fetch_once(ctx, place, file, (&[INBOX, &date], &name)).await {
            Ok(fetched) => return Ok(fetched),
            Err(error) => error,
        };
        let pause = match error.may_pass() {
            Some(Some(asked)) => asked,
            Some(None) if tries < TRIES_MAX => {
                tries += 1;
                RETRY * (tries - 1)
            }
            _ => return Err(error),
        };
        tracing::info!(chat = place.chat, %error, "a file could not be fetched yet; trying again");
        tokio::time::sleep(pause).await;
    }
}

async fn fetch_once(
    ctx: &GatewayContext,
    place: &Place,
    file: &TelegramFile,
    (folders, name): (&[&str], &str),
) -> Result<(String, u64), FetchError> {
    let stored = |error: io::Error| FetchError::Store(error.to_string());
    let workspace = ctx.workspace_at(place).map_err(FetchError::Store)?;
    match workspace.put(folders, name).map_err(stored)? {
        // An earlier try came as far as this and was killed before the message was taken in.
        Put::Already(path, bytes) => Ok((path, bytes)),
        Put::New(mut draft) => {
            let bytes = ctx.api.fetch(&file.id, ctx.telegram.file_bytes_max, draft.sink()).await?;
            Ok((draft.keep().await.map_err(stored)?, bytes))
        }
    }
}

/// Half a sentence, with what to do where something can be done.
fn told(error: &FetchError) -> String {
    match error {
        FetchError::TooLarge(limit) => {
            format!("it is larger than {} (telegram.file_bytes_max)", size(*limit))
        }
        FetchError::ApiFault(_) | FetchError::Store(_) => format!("{error}; send it again later"),
        other => other.to_string(),
    }
}

/// Keeps the bytes for the model, apart from the file, which may be changed or moved.
async fn image(ctx: &GatewayContext, place: &Place, path: String) -> Option<Block> {
    let (workspace, keep) = (ctx.workspace_at(place).ok()?, ctx.files.given.keep.clone());
    let kept = tokio::task::spawn_blocking(move || {
        let Ok(given) = workspace.give(&path, IMAGE_BYTES_MAX) else { return Ok(None) };
        let Some(mime) = image_mime(&given.bytes) else { return Ok(None) };
        let (digest, bytes) = (keep(&given.bytes)?, given.bytes.len() as u64);
        Ok(Some(Block::ImageRef { mime: mime.to_owned(), digest, bytes }))
    });
    kept.await.map_err(io::Error::other).flatten().unwrap_or_else(|error| {
        tracing::error!(%error, "an image could not be kept for the model; it gets the file's \
            name alone");
        None
    })
}

async fn listen(ctx: &GatewayContext, place: &Place, path: String, received: &mut Received) {
    let Some(transcribe) = &ctx.files.given.transcribe else { return };
    let Ok(workspace) = ctx.workspace_at(place) else { return };
    let given = tokio::task::spawn_blocking(move || workspace.give(&path, SPEECH_BYTES_MAX)).await;
    let heard = match given {
        Ok(Ok(given)) => transcribe(given.name, "audio/ogg", given.bytes).await,
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match heard {
        Ok(text) => received.lines.push(format!("[what was said, as a machine heard it]\n{text}")),
        Err(error) => {
            tracing::warn!(error, "a voice message could not be transcribed");
            received.lines.push(format!("[it could not be transcribed: {error}]"));
            received.notice =
                Some(format!("I have your voice message as a file, and no text of it: {error}."));
        }
    }
}
