//! Files that come with a message of a client: they go into the workspace, and images are kept for
//! the model. Must not know what they are for.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncWriteExt as _;

use super::caller::Caller;
use crate::domain::canonical::sha256_hex;
use crate::domain::{Block, IMAGE_BYTES_MAX, escape, image_mime};
use crate::doors::clock::Clock;
use crate::workspace::{Put, Workspace, safe_name};

/// The folder of the workspace into which files go, in one for each day.
const INBOX: &str = "inbox";
/// Files with one message. Their size is bounded by that of a request.
const FILES_MAX: usize = 16;
/// Of the digest that makes a name unique, so many hexadecimal digits are taken.
const ID_DIGITS: usize = 10;

/// A file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Attachment {
    /// Its name, without a folder.
    pub name: String,
    /// Its media type, `image/png` for example.
    #[serde(default)]
    pub mime_type: Option<String>,
    /// Its bytes, base64.
    pub data: String,
}

/// The message as the model gets it: the text, which says where the files are, then the images.
pub async fn blocks(
    caller: &Caller,
    mut text: String,
    attachments: Vec<Attachment>,
) -> Result<Vec<Block>, String> {
    if attachments.len() > FILES_MAX {
        return Err(format!("at most {FILES_MAX} files go with one message; send fewer"));
    }
    let mut images = Vec::new();
    for attachment in attachments {
        let name = escape::visible(&attachment.name);
        let bytes = STANDARD.decode(attachment.data.trim()).map_err(|error| {
            format!("`data` of the file `{name}` is not base64 ({error}); encode it again")
        })?;
        let size = bytes.len();
        let (path, image) = keep(caller, &attachment.name, bytes)
            .await
            .map_err(|error| format!("the file `{name}` cannot be kept: {error}"))?;
        let mime = attachment.mime_type.map(|it| format!("{}, ", escape::visible(&it)));
        let mime = mime.unwrap_or_default();
        text.push_str(&format!("\n[file saved as {path}, {mime}{size} bytes]"));
        images.extend(image);
    }
    let text = Block::Text { text };
    Ok(std::iter::once(text).chain(images).collect())
}

/// Puts a file into the workspace, under the same name whenever it comes again.
async fn keep(caller: &Caller, name: &str, bytes: Vec<u8>) -> io::Result<(String, Option<Block>)> {
    let context = &caller.serving.door.shared.context;
    let key = format!("{}/{name}/{}", caller.client, sha256_hex(&bytes));
    let digest = sha256_hex(key.as_bytes());
    let name = safe_name(name, digest.get(..ID_DIGITS).unwrap_or(&digest));
    let clock = Clock { zone: context.zone.clone(), ..Clock::system() };
    let date = clock.date(clock.now_ms);
    let workspace = Workspace::open(&context.files.workspace)?;
    let path = match workspace.put(&[INBOX, &date], &name)? {
        Put::Already(path, _) => path,
        Put::New(mut draft) => {
            draft.sink().write_all(&bytes).await?;
            draft.keep().await?
        }
    };
    if !(context.settings.sees_images)() || bytes.len() as u64 > IMAGE_BYTES_MAX {
        return Ok((path, None));
    }
    let Some(mime) = image_mime(&bytes) else { return Ok((path, None)) };
    let keep = context.files.keep.clone();
    let size = bytes.len() as u64;
    let digest = tokio::task::spawn_blocking(move || keep(&bytes)).await??;
    let image = Block::ImageRef { mime: mime.to_owned(), digest, bytes: size };
    Ok((path, Some(image)))
}
