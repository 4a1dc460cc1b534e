//! What a server asks in the middle of its call, in an editor: options where there are some, and
//! where a value is typed the command that takes it.

use super::*;
use crate::rounds_at_doors::{Asking, effects};

/// An editor whose call has come to its form.
struct Form {
    asking: Asking,
    editor: AcpClient,
    session: String,
}

impl Form {
    fn of(era: &str, tool: &str) -> Self {
        let asking = Asking::new(era, tool);
        fs::create_dir_all(asking.house.workspace()).unwrap();
        let editor = AcpClient::start(&asking.house);
        let session = editor.new_session(&asking.house.workspace());
        editor.prompts(&session, "book it");
        Self { asking, editor, session }
    }

    /// The options of the open request, which names `about`.
    #[track_caller]
    fn asked(&self, about: &str) -> Vec<String> {
        keys(&self.editor.waits_asked(&self.session, about))
    }

    #[track_caller]
    fn picks(&self, about: &str, key: &str) {
        self.editor.answers(&self.session, about, Some(key));
    }

    /// Gives a typed value by the command that the request names; the request is taken back then.
    #[track_caller]
    fn types(&self, about: &str, wants: &str, value: &str) {
        let asked = self.editor.waits_asked(&self.session, about);
        let id = self.asking.house.waiting();
        let shown = format!("{:?}", asked.tool_call.fields.content);
        let way = format!("It takes {wants}: `claw approve {id} --value TEXT` in a terminal");
        assert!(shown.contains(&way), "{way} is not in {shown}");
        let told = self.asking.house.claw(&["approve", &id, "--value", value]);
        assert!(told.code != Some(1) && told.code != Some(2), "{told:?}");
        eventually("its request is taken back", || {
            self.editor.asked(&self.session, about).is_none()
        });
    }

    #[track_caller]
    fn is_over(&self) {
        assert_eq!(self.editor.ends(&self.session, 1), StopReason::EndTurn);
        let text = self.editor.text(&self.session);
        assert!(text.contains("That is all."), "{text}");
    }
}

#[test]
fn a_form_is_filled_in_from_an_editor_and_its_call_goes_on() {
    for era in ["modern", "legacy"] {
        let form = Form::of(era, "book");
        assert_eq!(form.asked("asks for “Seats” (1 of 2)"), ["decline"]);
        form.types("asks for “Seats”", "a whole number from 1 to 9", "3");
        assert_eq!(form.asked("asks for “class” (2 of 2)"), ["1", "2", "decline"]);
        form.picks("asks for “class”", "2");
        if era == "modern" {
            assert_eq!(form.asked("asks for “sure”"), ["yes", "no", "decline"]);
            assert!(effects(&form.asking.house).is_empty());
            form.picks("asks for “sure”", "yes");
            form.types("asks for “name”", "at least 2 characters", "Anna");
        }
        form.is_over();
        let done = effects(&form.asking.house);
        assert!(done.len() == 1 && done[0].contains("\"seats\":3"), "{era}: {done:?}");
        let last = if era == "modern" { "Anna" } else { "\"class\":\"biz\"" };
        assert!(done[0].contains(last), "{done:?}");
        form.editor.leaves();
        form.asking.house.is_whole();
    }
}

#[test]
fn a_default_and_what_is_left_out_are_options_in_an_editor() {
    let form = Form::of("modern", "extras");
    assert_eq!(form.asked("asks for “Bags” (1 of 3)"), ["default", "decline"]);
    form.picks("asks for “Bags”", "default");
    assert_eq!(form.asked("1 “Meal”, 2 “Window”, 3 “Bike”"), ["skip", "decline"]);
    let wants = "at most 2 numbers from 1 to 3, with blanks between";
    form.types("asks for “Extras”", wants, "1 3");
    assert_eq!(form.asked("asks for “Remark” (3 of 3)"), ["skip", "decline"]);
    form.picks("asks for “Remark”", "skip");
    form.is_over();
    let done = effects(&form.asking.house);
    assert_eq!(done, [r#""Rome" {"bags":2,"extras":["m","b"]}"#]);
}

#[test]
fn a_form_that_is_declined_in_an_editor_is_declined_to_its_server() {
    for era in ["modern", "legacy"] {
        let form = Form::of(era, "book");
        form.asked("asks for “Seats”");
        form.picks("asks for “Seats”", "decline");
        form.is_over();
        assert!(effects(&form.asking.house).is_empty());
        let results = crate::program::outcomes(&form.asking.house.events(&form.session));
        assert!(results[0].to_string().contains("not booked"), "{era}: {results:?}");
    }
}
