//! Which icons of a tool a client gets. They are a stranger's: claw fetches none, and passes on
//! only those that no client would read from a disk or a network of its own. Must not know tools.

use serde_json::Value;

/// Icons of one tool.
const ICONS_MAX: usize = 4;
/// An icon inside of the definition, in bytes of its URI; a tool list holds many.
const DATA_BYTES_MAX: usize = 16 * 1024;
const ADDRESS_BYTES_MAX: usize = 2 * 1024;

/// Takes out what is no image inside of the definition (`data:image/…`) and no `https` address.
pub fn keep_harmless(icons: &mut Vec<Value>) {
    icons.retain(|icon| icon.get("src").and_then(Value::as_str).is_some_and(is_harmless));
    icons.truncate(ICONS_MAX);
}

fn is_harmless(src: &str) -> bool {
    let begins =
        |with: &str| src.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    begins("https://") && src.len() <= ADDRESS_BYTES_MAX
        || begins("data:image/") && src.len() <= DATA_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_images_that_are_there_and_https_are_passed_on() {
        let icon = |src: &str| json!({"src": src, "mimeType": "image/png"});
        let kept = ["https://x.example/a.png", "DATA:image/png;base64,AAAA"].map(icon);
        let long = format!("data:image/png;base64,{}", "A".repeat(DATA_BYTES_MAX));
        let others =
            ["file:///etc/passwd", "http://169.254.169.254/", "data:text/html,x", "", &long];
        let mut icons: Vec<Value> = others.map(icon).into_iter().chain(kept.clone()).collect();
        icons.extend([json!({}), json!("https://x.example")]);
        keep_harmless(&mut icons);
        assert_eq!(icons, kept);
        let mut many = vec![icon("https://x.example/a.png"); 9];
        keep_harmless(&mut many);
        assert_eq!(many.len(), ICONS_MAX);
    }
}
