//! Gives a model the images that a log refers to, or keeps them from one that cannot see. Owns how
//! many images a request may carry. Must not know where images are kept, or wires.

use std::io;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{DeltaSink, Model, ModelError, Reply, Replying, Request};
use crate::domain::Block;

/// The newest images of a conversation are shown, so many at most: each costs tokens and upload
/// again with every step.
const IMAGES_MAX: usize = 8;
/// And so many bytes of them, which as base64 stays below what the strictest provider takes in one
/// request (20 MB, Gemini).
const IMAGE_BYTES_MAX: u64 = 12 << 20;

const TOO_OLD: &str = "[an image was here; it is not shown again, its file is in the workspace]";
const UNREADABLE: &str = "[an image was here; what was kept of it cannot be read]";
const REFUSED: &str =
    "[an image was here; the provider refused the request with it, so it is left out]";

/// Reads the bytes that are kept under a digest.
pub type LoadImage = Arc<dyn Fn(&str) -> io::Result<Vec<u8>> + Send + Sync>;

/// A model with the images in place.
pub struct VisionInput {
    /// Belongs to this alone.
    inner: Arc<dyn Model>,
    /// Known when the model is picked. It does not change.
    sees: bool,
    /// Reads from the folder of the artifacts each time, and keeps nothing.
    load: LoadImage,
}

impl VisionInput {
    pub fn new(inner: Arc<dyn Model>, sees: bool, load: LoadImage) -> Self {
        Self { inner, sees, load }
    }

    async fn run(
        &self,
        request: &Request,
        deltas: &mut DeltaSink<'_>,
    ) -> Result<Reply, ModelError> {
        if !blocks(request).any(is_ref) {
            return self.inner.reply(request, deltas).await;
        }
        if !self.sees {
            // The text beside each names its file, which is all that such a model can use.
            return self.inner.reply(&without(request), deltas).await;
        }
        match self.inner.reply(&self.with_images(request).await, deltas).await {
            // One image that a provider cannot read would otherwise end every turn of this
            // conversation.
            Err(ModelError::Permanent { why }) => {
                tracing::warn!(why, "a request with images was refused; asking once without them");
                let blind = replaced(request, |_| text(REFUSED));
                self.inner.reply(&blind, deltas).await.map_err(|_| ModelError::Permanent { why })
            }
            done => done,
        }
    }

    async fn with_images(&self, request: &Request) -> Request {
        let mut shown = Vec::new();
        let mut bytes_left = IMAGE_BYTES_MAX;
        let refs: Vec<&Block> = blocks(request).filter(|block| is_ref(block)).collect();
        for block in refs.into_iter().rev().take(IMAGES_MAX) {
            let Block::ImageRef { mime, digest, bytes } = block else { continue };
            let Some(left) = bytes_left.checked_sub(*bytes) else { break };
            bytes_left = left;
            shown.push(self.image(mime.clone(), digest.clone()).await);
        }
        // Newest first here, oldest first in the request.
        let hidden = blocks(request).filter(|block| is_ref(block)).count() - shown.len();
        let mut index = 0;
        replaced(request, |_| {
            index += 1;
            if index <= hidden {
                text(TOO_OLD)
            } else {
                shown.pop().unwrap_or_else(|| text(TOO_OLD))
            }
        })
    }

    async fn image(&self, mime: String, digest: String) -> Block {
        let load = self.load.clone();
        let name = digest.clone();
        let loaded = tokio::task::spawn_blocking(move || {
            Ok::<_, io::Error>(STANDARD.encode(load(&digest)?))
        })
        .await;
        match loaded.map_err(io::Error::other).flatten() {
            Ok(base64) => Block::Image { mime, base64 },
            // Whoever keeps the images says why it let go of one.
            Err(error) if error.kind() == io::ErrorKind::NotFound && error.get_ref().is_some() => {
                text(&format!("[an image was here; {error}]"))
            }
            Err(error) => {
                tracing::error!(%error, digest = name, "a kept image cannot be read");
                text(UNREADABLE)
            }
        }
    }
}

impl Model for VisionInput {
    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn model(&self) -> &str {
        self.inner.model()
    }

    fn reply<'a>(&'a self, request: &'a Request, deltas: &'a mut DeltaSink<'_>) -> Replying<'a> {
        Box::pin(self.run(request, deltas))
    }
}

fn blocks(request: &Request) -> impl Iterator<Item = &Block> {
    request.messages.iter().flat_map(|message| &message.blocks)
}

fn is_ref(block: &Block) -> bool {
    matches!(block, Block::ImageRef { .. })
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn without(request: &Request) -> Request {
    let mut request = request.clone();
    request.messages.iter_mut().for_each(|message| message.blocks.retain(|block| !is_ref(block)));
    request
}

/// The request with another block in place of each reference, in their order.
fn replaced(request: &Request, mut with: impl FnMut(&Block) -> Block) -> Request {
    let mut request = request.clone();
    for block in request.messages.iter_mut().flat_map(|message| &mut message.blocks) {
        if is_ref(block) {
            *block = with(block);
        }
    }
    request
}

#[cfg(test)]
#[path = "vision_input_tests.rs"]
mod tests;
