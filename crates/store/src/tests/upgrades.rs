//! A newer claw opens an older home: everything is there afterwards, and a copy of what was there
//! before. The newer claw is this one with one migration more, which only these tests know.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::migrate;
use crate::schema::{FIRST, MIGRATIONS};

/// A store as the claw of `FIRST` has left it, with rows in every table.
const FIXTURE: &str = include_str!("schema-18.sql");
/// What a later release may do: a table, a column with what is made of older rows, and an index.
const NEXT: &str = "
    CREATE TABLE labels(session TEXT PRIMARY KEY, label TEXT NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO labels SELECT name, upper(name) FROM sessions;
    ALTER TABLE sessions ADD COLUMN starred INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX sessions_starred ON sessions(name) WHERE starred = 1;
";

fn next() -> Vec<&'static str> {
    [MIGRATIONS, &[NEXT]].concat()
}

fn later() -> u32 {
    migrate::newest(&next())
}

/// What the newer claw does at its start.
fn update(path: &Path) -> Result<Store, StoreError> {
    Store::open_with(path, &next(), |_| Err("no key".to_owned()))
}

fn updated(rig: &Rig) -> Store {
    update(&rig.path()).unwrap()
}

fn rows(path: &Path, sql: &str) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let mut query = db.prepare(sql).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Tables with their columns in order, indexes and triggers, however they were written.
fn shape(path: &Path) -> Vec<String> {
    let columns = "SELECT t.name || '.' || c.cid || ' ' || c.name || ' ' || c.type || ' ' ||
            c.\"notnull\" || ' ' || coalesce(c.dflt_value, '') || ' ' || c.pk || ' ' || t.strict || t.wr
        FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c ORDER BY 1";
    let others = "SELECT name || ' ' || coalesce(sql, '') FROM sqlite_master
        WHERE type <> 'table' ORDER BY 1";
    let plain = |sql: String| sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let both = rows(path, columns).into_iter().chain(rows(path, others));
    both.map(plain).collect()
}

fn sessions(path: &Path) -> Vec<String> {
    rows(path, "SELECT name FROM sessions ORDER BY 1")
}

fn version(path: &Path) -> u32 {
    let db = Connection::open(path).unwrap();
    db.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

fn fixture() -> Rig {
    let rig = Rig::new();
    rig.tamper(FIXTURE);
    rig
}

/// A home of today with a session in it.
fn old_home() -> Rig {
    let rig = Rig::new();
    drop(rig.open());
    rig.tamper("INSERT INTO sessions VALUES ('kept', 1, 2)");
    rig
}

fn names(rig: &Rig) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(rig.dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| !["-wal", "-shm", "-mark"].iter().any(|end| name.ends_with(end)));
    names.sort();
    names
}

#[test]
fn the_first_schema_is_what_it_was_and_the_fixture_has_rows_in_each_of_its_tables() {
    let (old, new) = (fixture(), Rig::new());
    assert_eq!(version(&old.path()), FIRST);
    migrate::build_new(&new.path(), &[]).unwrap();
    assert_eq!((version(&new.path()), shape(&new.path())), (FIRST, shape(&old.path())));
    for table in rows(&new.path(), "SELECT name FROM sqlite_master WHERE type = 'table'") {
        let filled = rows(&old.path(), &format!("SELECT 'a row' FROM {table} LIMIT 1"));
        assert_eq!(filled.len(), 1, "no row in {table}");
    }
}

#[test]
fn a_store_of_the_first_schema_opens_and_becomes_like_a_new_one() {
    let (old, new) = (fixture(), Rig::new());
    let before = sessions(&old.path());
    let store = old.open();
    assert_eq!(store.migrated().is_some(), !MIGRATIONS.is_empty());
    assert!(store.read(|tx| tx.quick_check()).unwrap().is_none());
    assert!(store.read(|tx| tx.verify_audit(None)).unwrap().is_ok());
    drop((store, new.open()));
    assert_eq!(
        (version(&old.path()), shape(&old.path())),
        (version(&new.path()), shape(&new.path()))
    );
    assert_eq!(sessions(&old.path()), before);
}

#[test]
fn an_older_database_is_copied_and_becomes_like_a_new_one() {
    let new = Rig::new();
    assert_eq!(updated(&new).migrated(), None);
    assert_eq!(names(&new), ["claw.db"], "nothing is copied where there was nothing");
    for (rig, from) in [(fixture(), FIRST), (old_home(), later() - 1)] {
        let before = sessions(&rig.path());
        let store = updated(&rig);
        let migrated = store.migrated().unwrap().clone();
        assert_eq!((migrated.from, migrated.to), (from, later()));
        drop(store);
        assert_eq!(
            (version(&rig.path()), shape(&rig.path())),
            (later(), shape(&new.path())),
            "from {from}"
        );
        assert_eq!(sessions(&rig.path()), before);
        let made = rows(&rig.path(), "SELECT lower(label) FROM labels ORDER BY 1");
        assert_eq!(made, before, "what the migration has made of older rows");
        let id = |path: &Path| -> i64 {
            let db = Connection::open(path).unwrap();
            db.pragma_query_value(None, "application_id", |row| row.get(0)).unwrap()
        };
        let ours = 0x636c_6177;
        assert_eq!((id(&rig.path()), id(&new.path())), (ours, ours), "whose file it is");
        let copy = rig.dir.path().join(format!("claw.db.before-v{from}-to-v{}", later()));
        assert_eq!((&migrated.copy, sessions(&copy)), (&copy, before));
        assert_eq!(version(&copy), from, "the copy is what it was");
        assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(&rig).len(), 2, "{:?}", names(&rig));
        assert_eq!(updated(&rig).migrated(), None, "once");
    }
}

#[test]
fn the_older_claw_refuses_what_the_newer_one_has_changed_and_takes_the_copy() {
    let rig = old_home();
    let copy = updated(&rig).migrated().unwrap().copy.clone();
    let refused = Store::open(&rig.path()).err().unwrap();
    assert!(matches!(refused, StoreError::Newer { found, .. } if found == later()), "{refused}");
    assert_eq!(sessions(Store::open(&copy).unwrap().path()), ["kept"]);
}

#[test]
fn a_store_from_before_the_first_release_is_refused_and_not_a_byte_of_it_changes() {
    for number in [0, 5, FIRST - 1] {
        let rig = fixture();
        // The first claws wrote no id, and not each of them had a write-ahead log.
        rig.tamper(&format!("PRAGMA user_version = {number}; PRAGMA application_id = 0"));
        let before = fs::read(rig.path()).unwrap();
        for opened in [Store::open(&rig.path()), update(&rig.path())] {
            let refused = opened.err().unwrap();
            assert!(
                matches!(refused, StoreError::Unreleased { found } if found == number),
                "{refused}"
            );
        }
        assert_eq!(fs::read(rig.path()).unwrap(), before);
        assert_eq!(names(&rig), ["claw.db"]);
    }
}

#[test]
fn a_copy_that_fails_stops_the_migration_and_changes_nothing() {
    let rig = old_home();
    let before = (version(&rig.path()), shape(&rig.path()));
    // With a name so long that no file system takes a longer one for the copy.
    let long = rig.dir.path().join("x".repeat(240));
    let rename = |from: &std::path::Path, to: &std::path::Path| {
        for end in ["", "-wal"] {
            let (from, to) = (format!("{}{end}", from.display()), format!("{}{end}", to.display()));
            let _not_there = fs::rename(from, to);
        }
    };
    rename(&rig.path(), &long);
    let refused = update(&long).err().unwrap().to_string();
    let named = format!("schema {}", later() - 1);
    assert!(refused.contains("nothing was changed") && refused.contains(&named), "{refused}");
    rename(&long, &rig.path());
    assert_eq!((version(&rig.path()), shape(&rig.path())), before);
    assert!(updated(&rig).migrated().is_some());
}

#[test]
fn a_migration_that_fails_leaves_the_old_database_and_no_copy() {
    let rig = old_home();
    // Where the last statement of the migration wants to make something.
    rig.tamper("CREATE TABLE sessions_starred(x)");
    let before = (version(&rig.path()), shape(&rig.path()));
    assert!(update(&rig.path()).is_err());
    assert_eq!((version(&rig.path()), shape(&rig.path())), before);
    assert_eq!(names(&rig), ["claw.db"]);
}

#[test]
fn no_copy_is_written_over_another_one_and_the_newest_comes_first() {
    let rig = old_home();
    let first = updated(&rig).migrated().unwrap().copy.clone();
    // Somebody goes back, as the guide says, and updates again.
    for end in ["", "-wal", "-shm", "-mark"] {
        let _not_there = fs::remove_file(rig.dir.path().join(format!("claw.db{end}")));
    }
    fs::copy(&first, rig.path()).unwrap();
    rig.tamper("INSERT INTO sessions VALUES ('later', 1, 2)");
    let second = updated(&rig).migrated().unwrap().copy.clone();
    assert_eq!(second, PathBuf::from(format!("{}.2", first.display())));
    assert_eq!((sessions(&first).len(), sessions(&second).len()), (1, 2));
    let kept = kept_copies(&rig.path()).unwrap();
    assert_eq!(kept.iter().map(|copy| &copy.path).collect::<Vec<_>>(), [&second, &first]);
    assert!(kept.iter().all(|copy| copy.bytes > 0));
}

#[test]
fn processes_that_come_at_the_same_time_do_it_once() {
    let rig = old_home();
    let path = rig.path();
    let opened: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(|| update(&path).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(opened.iter().filter(|store| store.migrated().is_some()).count(), 1);
    drop(opened);
    assert_eq!(names(&rig).len(), 2, "{:?}", names(&rig));
}
