//! An audit of many calls: it is listed line by line, within little memory, whatever is asked for.

use super::*;
use crate::program::peak::peak_memory;

/// A first start pins the tools of four servers, which is one line, also where only a few are
/// wanted.
#[test]
fn the_tools_of_a_first_start_are_one_line_of_the_audit() {
    let house = House::new();
    house.claw(&["ask", "list"]).expect(0);
    let all = house.claw(&["audit"]).expect(0).out;
    let pinned: Vec<&str> = all.lines().filter(|line| line.contains("pinned")).collect();
    assert!(pinned.len() == 1 && pinned[0].contains("The tools of 4 servers"), "{all}");
    for limit in 1..=all.lines().count() {
        let some = house.claw(&["audit", "--limit", &limit.to_string()]).expect(0).out;
        assert_eq!(some.lines().count(), limit, "{some}");
        assert!(all.ends_with(&some), "{some}\nis not the end of\n{all}");
    }
}

const CALLS: i64 = 40_000;
/// Five rows for each call, whose bodies alone have 100 MB.
const ROWS: &str = "INSERT INTO audit(id, at_ms, kind, call, body, prev, hash)
    WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1 * 5 - 1)
    SELECT ?2 + n, 1795603108289, json_extract('[\"received\",\"verdict\",\"asked\",\"started\",\"ended\"]', '$[' || (n % 5) || ']'),
        'main:' || (n / 5) || ':0',
        json_object('server', 'bash', 'tool', 'run', 'outcome', 'ended', 'more', printf('%0500d', n)),
        '', '' FROM n";

#[cfg(target_os = "linux")]
#[test]
fn a_long_audit_is_listed_within_little_memory() {
    let house = House::new();
    house.claw(&["ask", "help"]).expect(0);
    let before = house.claw(&["audit", "--limit", "1000000"]).expect(0).out.lines().count();
    let mut db = house.db();
    let tx = db.transaction().unwrap();
    let first: i64 = tx.query_row("SELECT max(id) + 1 FROM audit", [], |row| row.get(0)).unwrap();
    tx.execute(ROWS, [CALLS, first]).unwrap();
    let head = format!("{}:{}", first + CALLS * 5 - 1, "0".repeat(64));
    tx.execute("UPDATE meta SET value = ?1 WHERE key = 'audit.head'", [head]).unwrap();
    tx.commit().unwrap();
    for list in [&["audit"][..], &["audit", "--rows"], &["audit", "--json"]] {
        let running = house.start(&[list, &["--limit", "1000000"]].concat());
        let memory = peak_memory(&running);
        let lines = running.ends().expect(0).out.lines().count();
        let calls = usize::try_from(CALLS).unwrap();
        let wanted = if list.len() == 1 { before + calls } else { 5 * calls };
        assert!(lines >= wanted, "{list:?}: {lines}");
        let kib = memory.join().unwrap();
        assert!(kib < 48 << 10, "{list:?} took {kib} KiB for {lines} lines");
    }
}
