//! A call that a server of before 2026-07-28 refuses until a page was opened (-32042): its pages
//! become the questions of a round, and behind them the same call is sent once more, or stays
//! refused. It has not run before. Must not know how a person is asked.

use claw_domain::depth::is_too_deep;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::call::CallEnd;
use super::permit::{Permit, RoundInput};
use super::refused::read_error;

/// `URLElicitationRequiredError` of 2025-11-25.
const CODE: i32 = -32042;
/// So many pages one refusal may name.
const PAGES_MAX: usize = 8;

/// What claw keeps of the refusal in the place of a state of the server's.
#[derive(Serialize, Deserialize)]
struct Refusal {
    #[serde(rename = "claw/refused")]
    message: String,
    data: Value,
}

/// The questions for the pages that a refusal names. `None` for any other refusal.
pub(super) fn asked_for(
    code: i32,
    message: &str,
    data: Option<&Value>,
    bytes_max: usize,
) -> Option<CallEnd> {
    let data = data.filter(|data| code == CODE && !is_too_deep(data))?;
    let pages = data.get("elicitations")?.as_array()?;
    let is_page = |page: &Value| page.get("mode").and_then(Value::as_str) == Some("url");
    if !(1..=PAGES_MAX).contains(&pages.len()) || !pages.iter().all(is_page) {
        return None;
    }
    let refusal = Refusal { message: message.to_owned(), data: data.clone() };
    let state = serde_json::to_string(&refusal).ok().filter(|state| state.len() <= bytes_max)?;
    let asks = |page: &Value| json!({"method": "elicitation/create", "params": page});
    let requests: Map<String, Value> =
        (1..).zip(pages).map(|(number, page): (u32, _)| (number.to_string(), asks(page))).collect();
    Some(CallEnd::InputRequired { requests: Value::Object(requests), state: Some(state) })
}

/// Whether this is the end of such a round: the server has asked for no answer.
pub(super) fn is_round(input: &RoundInput) -> bool {
    refusal_of(input).is_some()
}

/// The end of a call one of whose pages was not opened. `None`: it is sent.
pub(super) fn stays_refused(permit: &Permit, bytes_max: usize) -> Option<CallEnd> {
    let input = permit.input()?;
    let Refusal { message, data } = refusal_of(input)?;
    let is_opened = |answer: &Value| answer.get("action").and_then(Value::as_str) == Some("accept");
    if input.responses.values().all(is_opened) {
        return None;
    }
    let mut end = read_error(permit.server(), CODE, &message, Some(&data), bytes_max);
    if let CallEnd::Ended(output, _) = &mut end {
        output.text.push_str("\nThe page was not opened, so the call was not made again.");
    }
    Some(end)
}

fn refusal_of(input: &RoundInput) -> Option<Refusal> {
    serde_json::from_str(input.state.as_deref()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_that_names_pages_and_nothing_else_is_a_round() {
        let page =
            |number: usize| json!({"mode": "url", "url": format!("https://a.example/{number}")});
        let pages = |count: usize| (0..count).map(page).collect::<Vec<_>>();
        let asked = |code: i32, pages: Value| {
            asked_for(code, "First open it.", Some(&json!({"elicitations": pages})), 4096)
        };
        let Some(CallEnd::InputRequired { requests, state }) = asked(CODE, json!(pages(2))) else {
            panic!()
        };
        assert_eq!(requests["1"]["params"], page(0));
        assert_eq!(requests["2"]["method"], "elicitation/create");
        let input = |state: Option<String>| RoundInput { responses: Map::new(), state };
        assert!(is_round(&input(state)));
        for of_server in [None, Some("s".to_owned()), Some("{\"data\": 1}".to_owned())] {
            assert!(!is_round(&input(of_server)));
        }
        let form = json!([page(0), {"mode": "form", "message": "?"}]);
        let long = json!([{"mode": "url", "url": "x".repeat(5000)}]);
        for none in [json!([]), json!(pages(9)), json!({}), json!(null), form, long] {
            assert_eq!(asked(CODE, none.clone()), None, "{none}");
        }
        assert_eq!(asked(-32602, json!(pages(1))), None);
        assert_eq!(asked_for(CODE, "", None, 4096), None);
    }
}
