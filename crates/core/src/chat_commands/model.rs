//! What `/model` says, and how a model is chosen for one conversation. Must not know providers.

use super::{ModelInUse, code};
use crate::domain::SessionId;
use crate::store::{StoreError, Tx};

/// The longest name of a model, in bytes.
const NAME_BYTES_MAX: usize = 200;
/// Chooses what everybody has.
pub(super) const DEFAULT: &str = "default";

pub(super) fn markdown(model: &ModelInUse, own: Option<&str>) -> String {
    let own = own.map_or(String::new(), |own| {
        format!(
            "This conversation uses {} since `/model {own}`; `/model default` goes back.\n\n",
            code(own)
        )
    });
    format!(
        "{own}The model is {} ({}). {}\n\n`/model NAME` uses another one of the same provider, or \
         one of these, in this conversation. For all of them set `model` under `[model]` in \
         `claw.toml`; `CLAW_MODEL` overrides it.",
        code(&model.name),
        model.provider,
        model.whys.join("\n\n"),
    )
}

/// Why this name is none that can be chosen.
pub(super) fn refusal(model: &ModelInUse, name: &str) -> Option<String> {
    if model.provider == "demo" && name != DEFAULT {
        return Some(
            "The demo is the only model here: set a provider's key, or run an Ollama, and start \
             claw again."
                .into(),
        );
    }
    let is_name = name.len() <= NAME_BYTES_MAX
        && !name.contains(|c: char| c.is_whitespace() || c.is_control());
    (!is_name).then(|| {
        "`/model` shows the model, `/model NAME` uses another one in this conversation.".to_owned()
    })
}

/// What is said of a name that the provider does not list.
pub(super) fn not_offered(model: &ModelInUse, name: &str, nearest: &[String]) -> String {
    let nearest: Vec<String> = nearest.iter().map(|name| code(name)).collect();
    format!(
        "{} offers no model {}; nothing was changed. The nearest names: {}.",
        model.provider,
        code(name),
        nearest.join(", ")
    )
}

pub(super) fn choose_in(
    tx: &Tx<'_>,
    session: &SessionId,
    name: &str,
    by: &str,
) -> Result<String, StoreError> {
    let chosen = (name != DEFAULT).then_some(name);
    tx.set_session_model(session, chosen, by)?;
    Ok(match chosen {
        Some(name) => format!(
            "From its next reply on this conversation uses {}. If there is no such model, the \
             reply will say so; `/model default` goes back.",
            code(name)
        ),
        None => "From its next reply on this conversation uses the model that all others use."
            .to_owned(),
    })
}
