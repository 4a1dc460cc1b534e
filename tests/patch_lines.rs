//! A patch that a person has said yes to, through the whole program: what the question shows is
//! what the file holds then, line by line, however the lines of the patch and of the file end.

use crate::program::House;
use crate::pty::Pty;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::json;

const OLD: &str = "import os\nimport sys\n\nprint(1)\n";

/// The file after a yes to the patch of it, the screen, and what the model was told.
fn patched(old: &str, hunk: &str) -> (String, String, String) {
    let patch = format!("--- a/f.py\n+++ b/f.py\n{hunk}");
    let call = Call::new("a", "filesystem__apply_patch", &json!({"patch": patch}).to_string());
    let answers = [Answer::Turn(Turn::calls(&[call])), Answer::text("That is all.")];
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("workspace/f.py", old);
    let mut asked = Pty::sized(&house, &["ask", "patch it"], 40, 80);
    asked.shows("n no").types("y");
    let screen = asked.ends(0);
    assert_eq!(model.faults(), Vec::<String>::new());
    let told = model.recorded()[1].body.to_string();
    (house.in_workspace("f.py"), screen, told)
}

/// The lines of the question that say what goes and what comes.
fn lines_of(screen: &str) -> Vec<&str> {
    let lines = screen.lines().map(str::trim);
    lines.filter(|line| line.starts_with(['+', '-', '\\'])).collect()
}

#[test]
fn a_patch_without_its_last_line_feed_writes_the_lines_that_were_shown() {
    for (hunk, new, shown) in [
        (
            "@@ -1,1 +1,2 @@\n import os\n+import re",
            "import os\nimport re\nimport sys\n\nprint(1)\n",
            &["+import re"][..],
        ),
        (
            "@@ -1,2 +1,2 @@\n import os\n-import sys\n+import re",
            "import os\nimport re\n\nprint(1)\n",
            &["-import sys", "+import re"],
        ),
        (
            "@@ -1,2 +1,3 @@\n import os\n+import re\n import sys",
            "import os\nimport re\nimport sys\n\nprint(1)\n",
            &["+import re"],
        ),
    ] {
        let (written, screen, _) = patched(OLD, hunk);
        assert_eq!(written, new, "{hunk}\n{screen}");
        assert_eq!(lines_of(&screen), shown, "{screen}");
    }
}

#[test]
fn a_line_without_a_line_feed_is_not_put_before_another_one() {
    let hunk = "@@ -1,1 +1,2 @@\n import os\n+import re\n\\ No newline at end of file\n";
    let (written, screen, told) = patched(OLD, hunk);
    assert_eq!(written, OLD, "{screen}");
    assert_eq!(lines_of(&screen), ["+import re", "\\ no line feed at the end"], "{screen}");
    assert!(told.contains("that is not the end of the file"), "{told}");
}

#[test]
fn a_file_of_crlf_line_ends_keeps_them() {
    let old = OLD.replace('\n', "\r\n");
    let hunk = "@@ -1,2 +1,2 @@\n import os\n-import sys\n+import re\n";
    let (written, screen, _) = patched(&old, hunk);
    assert_eq!(written, "import os\r\nimport re\r\n\r\nprint(1)\r\n", "{screen}");
    assert_eq!(lines_of(&screen), ["-import sys", "+import re"], "{screen}");
}
