//! `claw memory import`: a file in the style of `AGENTS.md` or `MEMORY.md` becomes notes,
//! after it was shown which.

use std::path::Path;
use std::process::ExitCode;

use claw_kit::counted::counted;
use claw_mcp_memory::Notes;
use serde_json::json;

use super::{outline, said, tool};
use crate::ask_person::{self, agreed};
use crate::fail::UserError;
use crate::{fail, out};

const FILE_BYTES_MAX: u64 = 1024 * 1024;
const NOTES_MAX: usize = 500;

pub async fn run(notes: &Notes, file: &Path, yes: bool, as_json: bool) -> anyhow::Result<ExitCode> {
    let name = file.display().to_string();
    let cannot = |why: String| UserError::because(format!("{name} cannot be taken in: {why}"));
    let unread = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            UserError::because(format!("there is no file {name}; name one such as AGENTS.md"))
        }
        std::io::ErrorKind::InvalidData => cannot("it is not UTF-8 text".to_owned()),
        _ => cannot(claw_server_kit::why(&error)),
    };
    let bytes = std::fs::metadata(file).map_err(unread)?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(cannot(format!("it has {bytes} bytes, and may have {FILE_BYTES_MAX}")));
    }
    let text = std::fs::read_to_string(file).map_err(unread)?;
    let items = outline::items(&text);
    if items.is_empty() {
        let why = match text.trim().is_empty() {
            true => "it is empty",
            false => "it has no item of a list and no paragraph, only headings or comments",
        };
        return Err(cannot(format!("{why}, so there is nothing to remember")));
    }
    if items.len() > NOTES_MAX {
        let found = items.len();
        return Err(cannot(format!(
            "it would be {found} notes, and {NOTES_MAX} can be taken in at once; split the file"
        )));
    }
    items.iter().for_each(show);
    let question = match items.len() {
        1 => "Remember this note?".to_owned(),
        many => format!("Remember these {many} notes?"),
    };
    if !yes && !ask_person::possible() {
        out::err_line(&format!("{question} Nobody can be asked here; `--yes` does it."));
        return Ok(ExitCode::from(fail::WAITS));
    }
    if !yes && !agreed(&question)? {
        out::err_line("Nothing was remembered.");
        return Ok(ExitCode::from(fail::WAITS));
    }
    let (mut new, mut known) = (0_u32, 0_u32);
    for item in items {
        let tags: Vec<String> = item.heading.as_deref().map(outline::tag).into_iter().collect();
        let arguments = json!({
            "text": item.text, "tags": tags, "source": {"who": "owner", "file": name},
        });
        let done = tool(notes, "remember", arguments).await?.structured;
        match done["was_known"] == true {
            true => known += 1,
            false => new += 1,
        }
        if as_json {
            out::line(
                &json!({"id": said(&done, "id"), "was_known": done["was_known"]}).to_string(),
            )?;
        }
    }
    if !as_json {
        let were = if known == 1 { "was" } else { "were" };
        let new = counted(new, "note");
        out::line(&format!("Remembered: {new}; {known} {were} known already."))?;
    }
    Ok(ExitCode::from(fail::DONE))
}

fn show(item: &outline::Item) {
    let heading = item.heading.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
    let shown = item.text.replace('\n', "\n    ");
    out::err_line(&out::clean(&format!("  • {shown}{heading}")));
}
