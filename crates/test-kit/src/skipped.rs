//! What a test does not try on this machine: said at once, and collected for the summary of a whole
//! run (`.ci/run`), where nobody reads the output of tests that passed.
#![expect(clippy::print_stderr, reason = "a skipped test has to say so")]

use std::fs::File;
use std::io::Write as _;

/// Names the file that collects it.
const COLLECTED: &str = "CLAW_TESTS_SKIPPED";

/// Says that the test which calls this, or a part of it, is not tried here, and why.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let line = line(thread.name(), why);
    eprintln!("{line}");
    if let Some(path) = std::env::var_os(COLLECTED) {
        let mut file = File::options().create(true).append(true).open(path).unwrap();
        // One write, so that the lines of tests side by side stay whole.
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

/// libtest calls the thread of a test by the test's name.
fn line(thread: Option<&str>, why: &str) -> String {
    format!("SKIPPED {}: {why}", thread.unwrap_or("a test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_test() {
        let name = std::thread::current().name().map(str::to_owned);
        let expected = "SKIPPED skipped::tests::a_line_names_the_test: no perl";
        // With one thread libtest has none of its own for a test.
        if name.as_deref() != Some("main") {
            assert_eq!(line(name.as_deref(), "no perl"), expected);
        }
        assert_eq!(line(None, "no perl"), "SKIPPED a test: no perl");
    }
}
