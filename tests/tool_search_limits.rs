//! The limits above which tools are found on demand, and how many are looked up or remembered, as
//! settings and for one model; and the figures of it that a person reads in a chat.

use serde_json::{Value, json};

use crate::program::{SERVER_WAIT, eventually};
use crate::tool_search::{BY_MODEL, Shop, calls, names, of_shop};
use crate::wires::Answer;

impl Shop {
    /// Other settings from here on.
    fn set(&self, settings: &str) {
        self.house.write("claw.toml", &format!("{SERVER_WAIT}{settings}"));
    }

    /// Begins a conversation; its first request.
    fn first_request(&self, session: &str, message: &str) -> Value {
        let before = self.model.recorded().len();
        self.house.claw(&["ask", "--session", session, message]).expect(0);
        self.bodies().remove(before)
    }

    /// How many tools claw's own server has.
    fn own(&self) -> usize {
        self.house.claw(&["tools", "filesystem", "--json"]).expect(0).rows().len()
    }
}

fn yes(count: usize) -> Vec<Answer> {
    (0..count).map(|_| Answer::text("Yes.")).collect()
}

fn searches(body: &Value) -> bool {
    names(body).contains(&"tool_search")
}

#[test]
fn a_hundred_tools_are_listed_and_with_one_more_they_are_found_on_demand() {
    let own = Shop::new(BY_MODEL, 2, yes(1)).own();
    for (all, is_over) in [(100, false), (101, true)] {
        let shop = Shop::new(BY_MODEL, all - own, yes(1));
        let body = shop.first_request("main", "hello");
        assert_eq!(searches(&body), is_over, "{all}: {:?}", names(&body));
        let listed = if is_over { 0 } else { all - own };
        assert_eq!(of_shop(&body).len(), listed, "{all}");
        assert_eq!(shop.events("tools.loaded").len(), usize::from(is_over));
    }
}

#[test]
fn each_limit_is_a_setting_and_a_models_own_counts_for_it() {
    // 62 tools and a window of 200,000 tokens: under the usual limits.
    let model = "[model]\ntool_search = \"model\"\nwindow_tokens = 200000\n";
    let shop = Shop::new(model, 50, yes(9));
    let cases = [
        ("", "", false),
        // The definitions of 50 tools are more than 2,000 tokens.
        ("", "[tools]\nlisted_window_percent = 1\n", true),
        ("", "[tools]\nlisted_window_percent = 100\n", false),
        ("listed_tools_percent = 1\n", "", true),
        ("listed_tools_percent = 100\n", "[tools]\nlisted_window_percent = 1\n", false),
        ("", "[tools]\nlisted_max = 40\n", true),
        ("listed_tools_max = 40\n", "", true),
        ("listed_tools_max = 100\n", "[tools]\nlisted_max = 40\n", false),
        ("window_tokens = 20000\n", "", true),
    ];
    for (number, (of_model, of_tools, is_over)) in cases.into_iter().enumerate() {
        let model = if of_model.starts_with("window") {
            model.replace("window_tokens = 200000\n", of_model)
        } else {
            format!("{model}{of_model}")
        };
        shop.set(&format!("{model}{of_tools}"));
        let body = shop.first_request(&format!("s{number}"), "hello");
        assert_eq!(searches(&body), is_over, "{model}{of_tools}: {:?}", names(&body));
        assert_eq!(of_shop(&body).is_empty(), is_over, "{model}{of_tools}");
    }
}

#[test]
fn as_many_tools_are_suggested_for_a_message_as_the_settings_say() {
    let shop = Shop::new("", 300, yes(3));
    let message = "Turn the gadget number 2, the gadget 3, 4, 5, 6, 7, 8 and the gadget 9";
    let claw = "[model]\ntool_search = \"claw\"\n";
    for (settings, expected) in
        [("", 5), ("[tools]\nsuggested_max = 2\n", 2), ("[tools]\nsuggested_max = 8\n", 8)]
    {
        shop.set(&format!("{claw}{settings}"));
        let body = shop.first_request(&format!("s{expected}"), message);
        assert_eq!(of_shop(&body).len(), expected, "{settings}: {:?}", of_shop(&body));
        assert!(!searches(&body));
    }
}

#[test]
fn as_many_tools_that_were_used_lately_stand_first_as_the_settings_say() {
    let used = |n: usize| calls(&format!("shop__gadget_{n}"), "{}");
    let answers: Vec<Answer> = [used(11), used(12), used(13)].into_iter().chain(yes(4)).collect();
    let shop = Shop::new(BY_MODEL, 300, answers);
    shop.house.claw(&["ask", "turn three"]).expect(0);
    let last = ["shop__gadget_13", "shop__gadget_12", "shop__gadget_11"];
    for (settings, expected) in
        [("", 3), ("[tools]\nused_lately_max = 2\n", 2), ("[tools]\nused_lately_max = 0\n", 0)]
    {
        shop.set(&format!("{BY_MODEL}{settings}"));
        let body = shop.first_request(&format!("s{expected}"), "hello");
        assert_eq!(of_shop(&body), last[..expected], "{settings}");
    }
}

/// Where the screen breaks a line, and what it shows as code, is of no interest here.
fn one_line(text: &str) -> String {
    text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What `/status` and `/usage` say after one answer.
fn told(shop: &Shop) -> String {
    let mut chat = shop.house.start(&["chat"]);
    chat.types(b"hello\n");
    eventually("it is answered", || chat.out().contains("Yes."));
    chat.types(b"/status\n/usage\n/quit\n");
    let ran = chat.ends().expect(0);
    one_line(&format!("{}{}", ran.out, ran.err))
}

/// As a person reads it.
fn grouped(number: u64) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", grouped(number / 1000), number % 1000)
}

/// The tools of a server and their tokens, as `claw doctor` says them.
fn size_of(shop: &Shop, server: &str) -> String {
    let doctor = shop.house.claw(&["doctor"]);
    let line = doctor.out.lines().find_map(|line| Some(line.split_once(&format!("{server}: "))?.1));
    let line = line.unwrap_or_else(|| panic!("{server} is not in {doctor:?}"));
    let (size, _) = line.split_once(" tokens").unwrap_or_else(|| panic!("{line}"));
    format!("{size} tokens")
}

#[test]
fn a_chat_says_what_the_definitions_take() {
    let shop = Shop::new(BY_MODEL, 300, yes(1));
    let told_above = told(&shop);
    let account = shop.events("prompt.packed")[0]["account"].clone();
    let number = |at: &str| account.pointer(at).and_then(Value::as_u64).unwrap();
    let (count, tokens) = (number("/tools_count"), number("/tools/tokens"));
    let (all, of_all) = (number("/tools_known/count"), number("/tools_known/tokens"));
    assert!(all > 300 && count < all && of_all > 2 * tokens, "{account}");
    let of = |server: &str| size_of(&shop, server);
    for said in [
        format!(
            "tools: {count} in the requests, about {} tokens; {all} in all, about",
            grouped(tokens)
        ),
        "tokens, found on demand".to_owned(),
        format!("Of each request about {} tokens in are", grouped(tokens)),
        format!("the definitions of {count} tools."),
        format!("All {all} tools would be about {} tokens.", grouped(of_all)),
    ] {
        assert!(told_above.contains(&said), "{said} is not in {told_above}");
    }
    // Each server in both, the largest first, as `claw doctor` counts them.
    let by_server = format!(
        "- shop: {}, found on demand - filesystem: {}, in each request",
        of("shop"),
        of("filesystem")
    );
    let plain = told_above.replace(['•', '◦'], "-");
    assert_eq!(plain.matches(&by_server).count(), 2, "{by_server}: {plain}");
    // Below the limit there is one figure, and the request holds all of it.
    let shop = Shop::new(BY_MODEL, 40, yes(1));
    let told_below = told(&shop);
    let account = shop.events("prompt.packed")[0]["account"].clone();
    assert_eq!(account["tools_known"], json!(null), "{account}");
    let count = account["tools_count"].as_u64().unwrap();
    assert!(count > 40, "{account}");
    for said in [
        format!("tools: {count}, about "),
        "tokens, in each request".to_owned(),
        format!(
            "Of each request about {} tokens in are the definitions of {count} tools.",
            grouped(account["tools"]["tokens"].as_u64().unwrap())
        ),
        format!("shop: {}", size_of(&shop, "shop")),
    ] {
        assert!(told_below.contains(&said), "{said} is not in {told_below}");
    }
    assert!(!told_below.contains("found on demand"), "{told_below}");
}
