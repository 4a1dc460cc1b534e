//! What of a result is kept beside the store: files that came with it, and what is too large for a
//! model or the log. Artifacts are a sink like the log, so no secret goes into them. Must not know
//! how a call was made.

use std::cmp::Reverse;

use serde_json::{Value, json};

use super::Calls;
use super::copy::Whence;
use crate::domain::{CallId, IMAGE_BYTES_MAX, ImageRef, ToolCall, ToolOutput, image_mime};
use crate::hub::{ResultFile, STRUCTURED_HEADING};

/// In place of a string that is in the text, too.
const LEFT_OUT: &str = "[as in the text]";
/// So many strings of one result are looked for in its text, the longest first.
const REPEATED_TEXTS_MAX: usize = 64;

const TEXT: &str = "text/plain; charset=utf-8";

/// The call whose result is kept.
#[derive(Clone, Debug)]
pub struct KeptResult {
    id: CallId,
    whence: Whence,
}

impl KeptResult {
    pub fn of(call: &ToolCall) -> Self {
        Self { id: call.id.clone(), whence: Whence::of(call) }
    }
}

impl Calls {
    /// Keeps the files of a result. Those that a model can be shown are named in the output; the
    /// text names all of them, and says of which nothing could be kept.
    pub(super) async fn keep_files(
        &self,
        call: &KeptResult,
        mut output: ToolOutput,
        files: Vec<ResultFile>,
    ) -> ToolOutput {
        for ResultFile { mime, digest, bytes, for_user } in files {
            let text = if for_user { &mut output.for_user } else { &mut output.text };
            if let Some(secret) = self.redactor.secret_in(&bytes) {
                let instead = format!("not kept: it holds the secret {secret}");
                *text = text.replace(&format!("sha256 {digest}"), &instead);
                continue;
            }
            let (size, shown) = (bytes.len() as u64, image_mime(&bytes));
            let copied = self.copied(&call.whence, &digest, &mime, &bytes).await;
            match self.put_artifact(&call.id, bytes, mime).await {
                Ok(digest) => {
                    let named = format!("sha256 {digest}");
                    *text = text.replace(&named, &format!("{named}{copied}"));
                    if let Some(mime) = shown.filter(|_| !for_user && size <= IMAGE_BYTES_MAX) {
                        output.images.push(ImageRef { mime: mime.to_owned(), digest, bytes: size });
                    }
                }
                Err(error) => {
                    let instead = format!("could not be kept: {error}");
                    *text = text.replace(&format!("sha256 {digest}"), &instead);
                }
            }
        }
        output
    }

    /// Keeps the head and the tail of a large result for the model, and the whole as an artifact
    /// that is named in between. Structured content beyond the limit loses what the text says as
    /// well; if that does not suffice, it is kept apart.
    pub async fn cut(&self, call: &KeptResult, mut output: ToolOutput) -> ToolOutput {
        let limit = self.limits().tool_result_bytes;
        let structured =
            output.structured.take().map(|value| shortened(value, &output.text, limit));
        if output.text.len() > limit {
            // What the server says in words is not cut for the sake of rows.
            output.text = match output.text.rfind(STRUCTURED_HEADING).filter(|at| *at <= limit) {
                Some(at) => {
                    let (said, rows) = output.text.split_at(at);
                    format!("{said}{}", self.cut_text(call, rows, limit - at).await)
                }
                None => self.cut_text(call, &output.text, limit).await,
            };
        }
        if output.for_user.len() > limit {
            output.for_user = self.cut_text(call, &output.for_user, limit).await;
        }
        let Some(mut value) = structured else { return output };
        if value.to_string().len() <= limit {
            output.structured = Some(value);
            return output;
        }
        self.redactor.redact_json(&mut value);
        let whole = value.to_string().into_bytes();
        let bytes = whole.len();
        let named = match self.put_both(call, whole, "application/json").await {
            Ok(named) => format!("kept as {named}"),
            Err(error) => format!("could not be kept: {error}"),
        };
        output.text.push_str(&format!(
            "\n[structured content of {bytes} bytes (limits.tool_result_bytes = {limit}); {named}]"
        ));
        output
    }

    /// Keeps `room` bytes of a text, half of them from its end.
    async fn cut_text(&self, call: &KeptResult, text: &str, room: usize) -> String {
        let limit = self.limits().tool_result_bytes;
        let whole = self.redactor.redact(text).into_owned();
        let bytes = whole.clone().into_bytes();
        let named = match self.put_both(call, bytes, TEXT).await {
            Ok(named) => format!("the whole is kept as {named}"),
            Err(error) => format!("the whole could not be kept: {error}"),
        };
        let head_end = whole.floor_char_boundary(room / 2);
        let tail_start = whole.ceil_char_boundary(whole.len().saturating_sub(room / 2));
        let left_out = tail_start.saturating_sub(head_end);
        format!(
            "{}\n\n[… {left_out} of {} bytes left out here (limits.tool_result_bytes = {limit}); \
             {named} …]\n\n{}",
            whole.get(..head_end).unwrap_or_default(),
            whole.len(),
            whole.get(tail_start..).unwrap_or_default(),
        )
    }

    /// Keeps it as an artifact, and as a copy in the workspace.
    async fn put_both(
        &self,
        call: &KeptResult,
        bytes: Vec<u8>,
        mime: &str,
    ) -> std::io::Result<String> {
        let digest = self.put_artifact(&call.id, bytes.clone(), mime.to_owned()).await?;
        let copied = self.copied(&call.whence, &digest, mime, &bytes).await;
        Ok(format!("artifact {digest}{copied}"))
    }

    /// Keeps what a model does not see any more of a result: as the artifact that is there already,
    /// if the result was too large when it came.
    pub async fn keep_seen_result(&self, call: &CallId, text: &str) -> std::io::Result<String> {
        let kept = self.store.read(|tx| tx.text_artifact(call)).map_err(std::io::Error::other)?;
        if let Some(digest) = kept.filter(|digest| self.artifacts.path(digest).is_file()) {
            return Ok(digest);
        }
        self.keep_text(&call.to_string(), text.to_owned()).await
    }

    /// Keeps a text as an artifact of `whose`: a call, or a session.
    pub async fn keep_text(&self, whose: &str, text: String) -> std::io::Result<String> {
        let bytes = self.redactor.redact(&text).into_owned().into_bytes();
        self.put_named(whose.to_owned(), bytes, TEXT.to_owned()).await
    }

    async fn put_artifact(
        &self,
        call: &CallId,
        bytes: Vec<u8>,
        mime: String,
    ) -> std::io::Result<String> {
        self.put_named(call.to_string(), bytes, mime).await
    }

    /// The file is on the disk before the row that names it.
    async fn put_named(
        &self,
        call: String,
        bytes: Vec<u8>,
        mime: String,
    ) -> std::io::Result<String> {
        let (artifacts, size) = (self.artifacts.clone(), bytes.len() as u64);
        let put = tokio::task::spawn_blocking(move || artifacts.put(&bytes)).await;
        let digest = put.map_err(std::io::Error::other).flatten()?;
        let row = digest.clone();
        self.store.write_soon(move |tx| tx.add_artifact(&row, size, &mime, &call));
        Ok(digest)
    }
}

/// By the protocol the text repeats what is structured (2026-07-28, `CallToolResult`), and twice is
/// once too often. Each text is looked for in all of `text`, so only the longest ones are, and only
/// if without them the value would be short enough.
fn shortened(mut value: Value, text: &str, limit: usize) -> Value {
    let mut bytes = value.to_string().len();
    if bytes <= limit {
        return value;
    }
    let mut texts = Vec::new();
    collect_texts(&mut value, &mut texts);
    texts.sort_by_key(|said| Reverse(said.len()));
    texts.truncate(REPEATED_TEXTS_MAX);
    let instead = json!(LEFT_OUT).to_string().len();
    let saves = |said: &str| json!(said).to_string().len().saturating_sub(instead);
    let texts: Vec<_> = texts.into_iter().map(|said| (saves(said), said)).collect();
    let saved: usize = texts.iter().map(|(saves, _)| saves).sum();
    if bytes.saturating_sub(saved) > limit {
        return value;
    }
    for (saves, said) in texts {
        if bytes <= limit {
            break;
        }
        if text.contains(said.as_str()) {
            bytes = bytes.saturating_sub(saves);
            *said = LEFT_OUT.into();
        }
    }
    value
}

/// The texts that are longer than what would stand in their place.
fn collect_texts<'a>(value: &'a mut Value, texts: &mut Vec<&'a mut String>) {
    match value {
        Value::String(said) if said.len() > LEFT_OUT.len() => texts.push(said),
        Value::Array(items) => items.iter_mut().for_each(|item| collect_texts(item, texts)),
        Value::Object(map) => map.values_mut().for_each(|inner| collect_texts(inner, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_stands_in_the_result_already_is_left_out_of_its_rows() {
        let long = "line\n".repeat(1_000);
        let value = json!({"content": long, "path": "notes.txt"});
        let left = shortened(value.clone(), &format!("Read it.\n{long}"), 4_000);
        assert_eq!(left, json!({"content": LEFT_OUT, "path": "notes.txt"}));
        assert_eq!(shortened(value.clone(), "Read it.", 4_000), value, "it stands here alone");
        assert_eq!(shortened(value.clone(), &long, 10_000), value, "it is short enough");
    }

    /// Each of them in all of the text would be so many times the text.
    #[test]
    fn many_short_texts_are_not_looked_for() {
        let rows: Vec<String> =
            (0..2_000).map(|row| format!("row {row} of a list that has very many rows")).collect();
        assert!(rows[0].len() > LEFT_OUT.len());
        let text = rows.join("\n");
        assert_eq!(shortened(json!(rows), &text, 10_000), json!(rows));
    }
}
