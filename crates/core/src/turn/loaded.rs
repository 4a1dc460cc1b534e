//! Which tools a window has loaded, read from its log. Pure. Must not know which tools there are.

use super::log::Log;
use crate::domain::{EventBody, LoadedBy, LoadedTools, text_of};

/// `None` in a window whose model is offered all tools at once.
pub fn of(log: &Log) -> Option<LoadedTools> {
    let mut loaded = None;
    for event in log.events() {
        take(&mut loaded, &event.body);
    }
    loaded
}

/// The same, as it is after one more event.
pub fn after(loaded: Option<LoadedTools>, body: &EventBody) -> Option<LoadedTools> {
    let mut loaded = loaded;
    take(&mut loaded, body);
    loaded
}

fn take(loaded: &mut Option<LoadedTools>, body: &EventBody) {
    let EventBody::ToolsLoaded { by, tools } = body else { return };
    if *by == LoadedBy::Begin {
        let mut anew = LoadedTools { begin: tools.clone(), ..LoadedTools::default() };
        anew.add(tools);
        *loaded = Some(anew);
    } else if let Some(loaded) = loaded {
        loaded.add(tools);
    }
}

/// What a person has written and no model has answered.
pub fn unanswered(log: &Log) -> Option<String> {
    let behind = log.events().iter().rev();
    let behind = behind.take_while(|event| !matches!(event.body, EventBody::ModelReply { .. }));
    let mut words: Vec<String> = behind
        .filter_map(|event| match &event.body {
            EventBody::UserMessage { blocks, .. } => Some(text_of(blocks)),
            _ => None,
        })
        .collect();
    words.reverse();
    (!words.is_empty()).then(|| words.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::next::tests::{ended, log, said, started, text};

    fn loads(by: LoadedBy, tools: &[&str]) -> EventBody {
        EventBody::ToolsLoaded { by, tools: tools.iter().map(|name| (*name).to_owned()).collect() }
    }

    #[test]
    fn what_is_loaded_is_added_at_the_end_until_the_list_begins_anew() {
        let mut events = vec![started(), said("a"), loads(LoadedBy::Search, &["early"])];
        assert_eq!(of(&log(events.clone())), None, "nothing has begun");
        events.extend([
            loads(LoadedBy::Begin, &["x"]),
            loads(LoadedBy::Search, &["b", "x", "a"]),
            text("done"),
            ended(),
        ]);
        let loaded = of(&log(events.clone())).unwrap();
        assert_eq!(
            (loaded.all, loaded.begin),
            (vec!["x".into(), "b".into(), "a".into()], vec!["x".into()])
        );
        events.extend([started(), said("b"), loads(LoadedBy::Begin, &["a"])]);
        assert_eq!(of(&log(events)).unwrap().all, ["a"]);
    }

    #[test]
    fn a_message_counts_until_a_model_has_answered_it() {
        assert_eq!(
            unanswered(&log(vec![started(), said("a"), said("b")])).as_deref(),
            Some("a\nb")
        );
        assert_eq!(unanswered(&log(vec![started(), said("a"), text("done")])), None);
    }
}
