//! Prints when cron patterns fire, for comparisons with other programs. Each line of standard input
//! is a zone, two times in seconds since 1970 and a pattern, parted by tabs; each line of output is
//! the firings behind the first and up to the second time, or `refused:` and the reason.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;
use std::io::BufRead as _;

fn main() -> Result<(), Box<dyn Error>> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let fields: Vec<&str> = line.split('\t').collect();
        let [zone, from, to, pattern] = fields.as_slice() else {
            return Err(format!("zone, from, to and pattern, parted by tabs: {line}").into());
        };
        match claw_mcp_scheduler::firings(pattern, zone, from.parse()?, to.parse()?) {
            Ok(firings) => {
                let firings: Vec<String> = firings.iter().map(i64::to_string).collect();
                println!("{}", firings.join(" "));
            }
            Err(why) => println!("refused: {why}"),
        }
    }
    Ok(())
}
