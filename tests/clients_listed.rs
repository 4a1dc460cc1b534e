//! What an owner sees of MCP clients in a terminal: the list, a token, the end of one. At 40 and 80
//! columns, and as JSON. What a question of one says is tried by `client_calls`.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::program::House;
use crate::pty::Pty;

const WIDTHS: [u16; 2] = [40, 80];

/// At each width of a terminal: no line runs over, and all of these are shown.
#[track_caller]
fn shows(house: &House, args: &[&str], all: &[&str]) {
    for columns in WIDTHS {
        let mut pty = Pty::sized(house, args, 40, columns);
        for text in all {
            pty.shows(text);
        }
        let shown = pty.ends(0);
        let wide = shown.lines().filter(|line| line.trim_end().chars().count() > columns.into());
        assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new(), "{args:?} at {columns}: {shown}");
    }
}

#[test]
fn the_list_fits_and_a_revoked_client_says_so() {
    let house = House::new();
    for name in ["laptop", "a-client-with-a-name-of-some-length"] {
        house.claw(&["clients", "add", &name[..name.len().min(32)]]).expect(0);
    }
    shows(&house, &["clients"], &["has not called yet", "has a token", "today 0 calls"]);
    let ended = house.claw(&["clients", "revoke", "laptop"]).expect(0).out;
    assert!(ended.contains("is revoked, and its token with it."), "{ended}");
    let listed = house.claw(&["clients"]).expect(0).out;
    assert!(listed.contains("laptop  revoked "), "{listed}");
    house.is_whole();
}

#[test]
fn a_token_is_printed_once_into_a_file_of_the_owners_and_is_gone_when_it_is_revoked() {
    let house = House::new();
    let none = house.claw(&["clients"]).expect(0);
    assert!(none.out.is_empty() && none.err.contains("claw clients add NAME"), "{none:?}");
    let added = house.claw(&["clients", "add", "laptop", "--json"]).expect(0).json();
    let token = added["token"].as_str().unwrap();
    let file = std::path::PathBuf::from(added["file"].as_str().unwrap());
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim(), token);
    // Nothing else shows it, and what holds it is masked.
    for args in
        [vec!["clients"], vec!["clients", "--json"], vec!["doctor"], vec!["audit", "--json"]]
    {
        let ran = house.claw(&args);
        assert!(!format!("{ran:?}").contains(token), "{args:?}");
    }
    let echoed = house.claw(&["ask", &format!("write a.txt: {token}")]);
    assert!(!format!("{echoed:?}").contains(token), "{echoed:?}");
    let newer = house.claw(&["clients", "add", "laptop"]).expect(0);
    assert_ne!(newer.out.trim(), token);
    assert!(newer.err.contains("Authorization: Bearer"), "{newer:?}");
    assert!(newer.err.contains("earlier token counts no more"), "{newer:?}");
    house.claw(&["clients", "revoke", "laptop", "--json"]).expect(0).json();
    assert!(!file.exists());
    let kinds: Vec<_> = house.audit().iter().map(|row| row["kind"].clone()).collect();
    assert!(kinds.contains(&json!("client_added")) && kinds.contains(&json!("client_revoked")));
    house.is_whole();
}

#[test]
fn a_wrong_name_is_a_sentence() {
    let house = House::new();
    house.claw(&["clients", "revoke", "nobody"]).expect_mistake(&["nobody", "claw clients"]);
    for bad in ["Laptop", "a.b", "../x", "-x", ""] {
        assert_eq!(house.claw(&["clients", "add", "--", bad]).code, Some(2), "{bad}");
    }
    assert!(!house.home().join("clients").exists());
}
