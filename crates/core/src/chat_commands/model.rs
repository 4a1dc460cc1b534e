//! What `/model` says, and how a model is chosen for one conversation. Must not know providers.

use super::{ModelInUse, code};
use crate::domain::SessionId;
use crate::store::{StoreError, Tx};

/// The longest name of a model, in bytes.
const NAME_BYTES_MAX: usize = 200;
/// The provider of the built-in model.
const DEMO: &str = "demo";
/// Chooses what everybody has.
pub(super) const DEFAULT: &str = "default";

pub(super) fn markdown(model: &ModelInUse, own: Option<&str>) -> String {
    let own = own.map_or(String::new(), |own| {
        format!(
            "This conversation uses {} since `/model {own}`; `/model default` goes back.\n\n",
            code(own)
        )
    });
    let why = model.whys.join("\n\n");
    let says = format!("{own}The model is {} ({}). {why}", code(&model.name), model.provider);
    if model.provider == DEMO {
        return format!(
            "{says}\n\nFor another model run `claw init`, or set a provider's key, and start claw \
             again."
        );
    }
    let these = if model.whys.len() > 1 { ", or one of these," } else { "" };
    let overridden = model.overridden_by.as_ref();
    let overridden = overridden.map_or(String::new(), |by| format!("; {} overrides it", code(by)));
    format!(
        "{says}\n\n`/model NAME` uses another one of the same provider{these} in this \
         conversation. For all of them set `model` under `[model]` in `claw.toml`{overridden}."
    )
}

/// Why this name is none that can be chosen.
pub(super) fn refusal(model: &ModelInUse, name: &str) -> Option<String> {
    if model.provider == DEMO && name != DEFAULT {
        return Some(
            "The demo is the only model here: run `claw init`, or set a provider's key, and start \
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_demo_alone_nothing_else_can_be_chosen() {
        let of = |provider: &str| ModelInUse {
            name: "m".into(),
            provider: provider.into(),
            whys: vec!["Nothing else is there.".into()],
            overridden_by: None,
        };
        let demo = markdown(&of(DEMO), None);
        assert!(demo.contains("run `claw init`") && !demo.contains("/model NAME"), "{demo}");
        assert!(refusal(&of(DEMO), "x").is_some_and(|said| said.contains("`claw init`")));
        let alone = markdown(&of("claude"), None);
        assert!(alone.contains("same provider in this conversation"), "{alone}");
        assert!(alone.ends_with("in `claw.toml`."), "nothing overrides it: {alone}");
        let set = ModelInUse { overridden_by: Some("CLAW_MODEL".into()), ..of("claude") };
        assert!(markdown(&set, None).ends_with("; `CLAW_MODEL` overrides it."));
    }
}
