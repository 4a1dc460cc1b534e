//! What the doctor asks before it repairs, at a terminal.

use std::fs;

use crate::program::House;
use crate::pty::Pty;

#[test]
fn each_repair_asks_and_only_a_yes_is_one() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let left = house.home().join("claw.db.snapshot-2147483646");
    let migrating = house.home().join("claw.db.snapshot-2147483645-migrating");
    for file in [&left, &migrating] {
        let file = fs::File::create(file).unwrap();
        // A young one may be in use.
        file.set_modified(
            std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 24 * 60 * 60),
        )
        .unwrap();
    }
    house.write("claw.toml", "[limits\n");
    for no in ["", "n", "yess"] {
        let mut pty = Pty::start(&house, &["doctor", "--repair"]);
        pty.shows("claw.toml").shows("Move ").shows("aside").shows("[y/N] ").types(no);
        pty.ends(1);
        assert!(house.home().join("claw.toml").exists(), "{no:?} is no yes");
    }
    let mut pty = Pty::start(&house, &["doctor", "--repair"]);
    pty.shows("[y/N] ").types("y").shows("It is ").shows("claw.toml.broken-");
    pty.ends(0);
    assert!(!house.home().join("claw.toml").exists() && left.exists());
    // What it finds next was not agreed to with the first yes.
    let mut pty = Pty::start(&house, &["doctor", "--repair"]);
    pty.shows("drafts").shows("[y/N] ").types("y").shows("Removed 2 files.").ends(0);
    assert!(!left.exists() && !migrating.exists());
}
