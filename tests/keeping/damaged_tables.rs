//! Rows of calls, grants, updates and what was overheard that cannot be read, and numbers that
//! nothing counts to.

use crate::keeping::damaged::{aside, names, number, repairs, sql};
use crate::keeping::write_called;
use crate::program::House;

const NOT_UTF8: &str = "CAST(substr({}, 1, 4) || x'ff' || substr({}, 5) AS TEXT)";

fn spoil(house: &House, table: &str, column: &str, how: &str) {
    sql(house, &format!("UPDATE {table} SET {column} = {}", how.replace("{}", column)));
}

#[test]
fn a_call_that_cannot_be_read_never_runs_and_its_turn_goes_on() {
    for (column, how) in [
        ("arguments", "substr({}, 1, 10)"),
        ("arguments", NOT_UTF8),
        ("state", "'from.tomorrow'"),
        ("server", NOT_UTF8),
    ] {
        let house = House::new();
        let id = write_called(&house, "a.txt");
        let call: String =
            house.db().query_row("SELECT id FROM calls", [], |row| row.get(0)).unwrap();
        spoil(&house, "calls", column, how);
        if how != "substr({}, 1, 10)" {
            names(&house.claw(&["approve", &id]).expect(1), &format!("the call `{call}`"));
        }
        repairs(&house, &format!("call:{call}"));
        let kept = aside(&house);
        assert_eq!(
            (kept.len(), kept[0].0.as_str(), kept[0].1.as_str()),
            (1, "calls", call.as_str()),
            "{column}"
        );
        assert_ne!(house.claw(&["approve", &id]).code, Some(0), "{column}");
        house.claw(&["ask", "list"]).expect(0);
        assert!(!house.workspace().join("a.txt").exists(), "{column} {how}");
        assert_eq!(
            number(&house, "SELECT count(*) FROM calls WHERE state = 'denied'"),
            1,
            "{column}"
        );
        house.is_whole();
    }
}

#[test]
fn a_call_that_ended_and_cannot_be_read_is_not_run_again() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    spoil(&house, "calls", "outcome", NOT_UTF8);
    let call: String = house.db().query_row("SELECT id FROM calls", [], |row| row.get(0)).unwrap();
    repairs(&house, &format!("call:{call}"));
    assert_eq!(number(&house, "SELECT count(*) FROM calls WHERE state = 'unknown'"), 1);
    house.claw(&["ask", "list"]).expect(0);
    house.is_whole();
}

#[test]
fn a_question_whose_call_is_missing_expires_and_the_call_is_asked_anew() {
    let house = House::new();
    let id = write_called(&house, "a.txt");
    let call: String = house.db().query_row("SELECT id FROM calls", [], |row| row.get(0)).unwrap();
    sql(&house, "DELETE FROM calls");
    assert_ne!(house.claw(&["approve", &id]).code, Some(0));
    let said = house.claw(&["doctor", "--json"]).expect(1);
    assert!(said.out.contains(&format!("call:{call}")), "{said:?}");
    house.claw(&["doctor", "--repair", "--yes"]).expect(0);
    house.claw(&["ask", "list"]);
    assert_eq!(
        number(
            &house,
            &format!("SELECT count(*) FROM approvals WHERE id = '{id}' AND state = 'expired'")
        ),
        1
    );
    assert!(!house.workspace().join("a.txt").exists());
    house.is_whole();
}

#[test]
fn a_grant_that_cannot_be_read_is_named_and_ends() {
    for (column, how) in [("says", NOT_UTF8), ("shape", NOT_UTF8), ("shape", "substr({}, 1, 3)")] {
        let house = House::new();
        let id = write_called(&house, "a.txt");
        house.claw(&["approve", &id, "--for", "always"]).expect(0);
        spoil(&house, "grants", column, how);
        if how == NOT_UTF8 {
            names(&house.claw(&["grants"]).expect(1), "the grant 1");
        }
        repairs(&house, "grant:1");
        assert_eq!(aside(&house)[0].0, "grants", "{column}");
        assert!(house.claw(&["grants", "--json"]).expect(0).rows().is_empty(), "{column}");
        // What it allowed is asked about again.
        write_called(&house, "a.txt");
        house.is_whole();
    }
}

#[test]
fn an_update_that_cannot_be_read_counts_as_handled_and_holds_no_bot_up() {
    for how in ["'{\"update_id\":'", "CAST('{\"a\":\"' || x'ff' || '\"}' AS TEXT)"] {
        let house = House::new();
        house.claw(&["ask", "list"]).expect(0);
        sql(&house, &format!("INSERT INTO updates(bot, id, at_ms, body) VALUES (1, 2, 3, {how})"));
        repairs(&house, "update:1");
        assert_eq!(aside(&house)[0].0, "updates", "{how}");
        assert_eq!(number(&house, "SELECT count(*) FROM updates WHERE state = 'kept'"), 0, "{how}");
    }
}

#[test]
fn what_was_overheard_and_cannot_be_read_is_not_quoted() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let row = "INSERT INTO overheard(address, at_s, name, text) VALUES ('x', 1, 'Ann', CAST('a' || x'ff' AS TEXT))";
    sql(&house, row);
    repairs(&house, "overheard:1");
    assert_eq!(aside(&house)[0], ("overheard".to_owned(), "1".to_owned(), b"a\xff".to_vec()));
    assert_eq!(number(&house, "SELECT count(*) FROM overheard"), 0);
}

#[test]
fn rows_of_other_tables_with_the_highest_number_are_put_back_into_the_count() {
    let high = i64::MAX;
    for (table, column, id, row) in [
        ("grants", "id", "grant", ""),
        (
            "updates",
            "nr",
            "update",
            "INSERT INTO updates(bot, id, at_ms, body) VALUES (1, 2, 3, '{}')",
        ),
        (
            "overheard",
            "nr",
            "overheard",
            "INSERT INTO overheard(address, at_s, name, text) VALUES ('x', 1, 'a', 'b')",
        ),
    ] {
        let house = House::new();
        let asked = write_called(&house, "a.txt");
        house.claw(&["approve", &asked, "--for", "always"]).expect(0);
        if !row.is_empty() {
            sql(&house, row);
        }
        sql(&house, &format!("UPDATE {table} SET {column} = {high}"));
        sql(&house, &format!("UPDATE sqlite_sequence SET seq = {high} WHERE name = '{table}'"));
        repairs(&house, &format!("{id}:{high}"));
        assert_eq!(aside(&house)[0].1, high.to_string(), "{table}");
        assert!(
            number(&house, &format!("SELECT coalesce(max({column}), 0) FROM {table}")) < 100,
            "{table}"
        );
        assert!(
            number(&house, &format!("SELECT seq FROM sqlite_sequence WHERE name = '{table}'"))
                < 100,
            "{table}"
        );
        house.claw(&["doctor"]).expect(0);
    }
}

#[test]
fn a_table_that_counts_from_too_high_is_named_and_mended_without_such_a_row() {
    for table in ["inbox", "outbox", "audit"] {
        let house = House::new();
        house.claw(&["ask", "list"]).expect(0);
        sql(
            &house,
            &format!("UPDATE sqlite_sequence SET seq = {} WHERE name = '{table}'", i64::MAX),
        );
        if table != "audit" {
            names(
                &house.claw(&["ask", "list"]).expect(1),
                &format!("row {} of the {table}", i64::MAX),
            );
        }
        repairs(&house, &format!("sequence:{table}"));
        house.claw(&["ask", "list"]).expect(0);
        house.is_whole();
    }
}
