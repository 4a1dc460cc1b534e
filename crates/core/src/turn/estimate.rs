//! How many tokens a text may be. An estimate on purpose: every provider counts in its own way, and
//! the window only has to stay clear of its limit. Must not know providers.

use super::kinds::{ModelView, meaning};
use crate::domain::{Block, Event, Outcome};

/// English and code come to about four bytes a token; other scripts to fewer characters but also
/// about four bytes.
const BYTES_PER_TOKEN: usize = 4;
/// Role marks, ids and JSON around one block.
const TOKENS_PER_BLOCK: usize = 8;
/// What the large providers charge for one image of usual size.
const TOKENS_PER_IMAGE: usize = 1_600;

/// Estimated tokens of a text.
pub fn of_text(text: &str) -> u64 {
    of_bytes(text.len())
}

/// Estimated tokens of a text of so many bytes.
pub fn of_bytes(bytes: usize) -> u64 {
    (bytes.div_ceil(BYTES_PER_TOKEN) + TOKENS_PER_BLOCK) as u64
}

/// Estimated tokens of what one message holds.
pub fn of_blocks(blocks: &[Block]) -> u64 {
    blocks.iter().map(of_block).sum()
}

/// Estimated tokens of a block.
pub fn of_block(block: &Block) -> u64 {
    match block {
        Block::Text { text } => of_text(text),
        Block::ToolUse(tool_use) => of_text(&tool_use.name) + of_text(&tool_use.input.to_string()),
        Block::ToolResult { content, .. } => of_text(content),
        Block::Image { .. } | Block::ImageRef { .. } => TOKENS_PER_IMAGE as u64,
        Block::Opaque { data, .. } => of_text(&data.to_string()),
    }
}

/// Estimated tokens that an event adds to what a model sees, as long as it is not cut.
pub fn of_event(event: &Event) -> u64 {
    match meaning(event).seen {
        ModelView::Person(blocks) | ModelView::Model(blocks) => of_blocks(blocks),
        ModelView::Result(_, outcome) => match outcome {
            Outcome::Ended { output } => {
                let staged = super::actions::staged(output).map_or(0, |text| of_text(&text));
                of_text(&output.text) + staged + (output.images.len() * TOKENS_PER_IMAGE) as u64
            }
            Outcome::Denied { reason, .. } | Outcome::Unknown { reason } => of_text(reason),
            Outcome::Parked { .. } | Outcome::Left => 0,
        },
        ModelView::Action => super::actions::told(&event.body).map_or(0, |text| of_text(&text)),
        ModelView::Partial(text)
        | ModelView::Context(text)
        | ModelView::Recalled(text)
        | ModelView::Project(text) => of_text(text),
        ModelView::Named(text, images) => of_text(text) + (images.len() * TOKENS_PER_IMAGE) as u64,
        ModelView::Nothing => 0,
    }
}
