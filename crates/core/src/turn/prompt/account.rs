//! The account of what stands beside a conversation in a request: sizes, versions, what was cut.
//! Pure. Must not know when it is written down.

use super::Parts;
use super::system;
use crate::domain::canonical::sha256_hex;
use crate::domain::{DIGEST_DIGITS, PromptAccount, PromptCut, PromptPart, PromptText, ToolSpec};
use crate::turn::estimate;

pub(super) fn of(parts: &Parts<'_>) -> PromptAccount {
    let texts = &parts.persona.texts;
    let named = |text: &crate::turn::persona::PersonaText| PromptText {
        name: text.of.clone(),
        digest: digest(&text.text),
    };
    let cut = texts.iter().filter_map(|text| {
        let why = text.cut.clone()?;
        Some(PromptCut { what: text.of.clone(), why })
    });
    PromptAccount {
        persona: part(&system::persona(parts.persona)),
        texts: texts.iter().map(named).collect(),
        rules: part(&system::rules(parts.persona, parts.instructions)),
        tools: parts.tools_account.get_or_init(|| part(&definitions(&parts.tools))).clone(),
        tools_count: parts.tools.len() as u64,
        tools_known: parts.tools_known,
        cut: cut.collect(),
    }
}

/// About as a provider is sent them.
fn definitions(tools: &[ToolSpec]) -> String {
    let one = |tool: &ToolSpec| {
        let ToolSpec { name, description, input_schema } = tool;
        format!("{name}\n{description}\n{input_schema}\n")
    };
    tools.iter().map(one).collect()
}

fn part(text: &str) -> PromptPart {
    match text {
        "" => PromptPart::default(),
        text => PromptPart { digest: digest(text), tokens: estimate::of_text(text) },
    }
}

/// By what a version of a text is named.
pub(in crate::turn) fn digest(text: &str) -> String {
    sha256_hex(text).chars().take(DIGEST_DIGITS).collect()
}
