//! A newer claw opens an older home: everything is there afterwards, and a copy of what was there
//! before.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::migrate;

/// Tables and indexes, as SQLite has them.
fn shape(path: &Path) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let mut query = db
        .prepare("SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY 1")
        .unwrap();
    query.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

fn sessions(path: &Path) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let mut query = db.prepare("SELECT name FROM sessions ORDER BY 1").unwrap();
    query.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// With a session in it.
fn old_home(version: u32) -> Rig {
    let rig = Rig::new();
    let db = migrate::build(&rig.path(), version);
    db.execute("INSERT INTO sessions VALUES ('kept', 1, 2)", []).unwrap();
    rig
}

fn names(rig: &Rig) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(rig.dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| !name.ends_with("-wal") && !name.ends_with("-shm"));
    names.sort();
    names
}

#[test]
fn every_older_database_is_copied_and_becomes_like_a_new_one() {
    let new = Rig::new();
    assert_eq!(new.open().migrated(), None);
    assert_eq!(names(&new), ["claw.db"], "nothing is copied where there was nothing");
    for version in 1..migrate::known() {
        let rig = old_home(version);
        let store = rig.open();
        let migrated = store.migrated().unwrap().clone();
        assert_eq!((migrated.from, migrated.to), (version, migrate::known()));
        drop(store);
        assert_eq!(
            (rig.user_version(), shape(&rig.path())),
            (migrate::known(), shape(&new.path())),
            "from {version}"
        );
        assert_eq!(sessions(&rig.path()), ["kept"]);
        let id = |path: &Path| -> i64 {
            Connection::open(path)
                .unwrap()
                .pragma_query_value(None, "application_id", |row| row.get(0))
                .unwrap()
        };
        assert_eq!(
            (id(&rig.path()), id(&new.path())),
            (0x636c_6177, 0x636c_6177),
            "whose file it is"
        );
        let copy =
            rig.dir.path().join(format!("claw.db.before-v{version}-to-v{}", migrate::known()));
        assert_eq!((&migrated.copy, sessions(&copy)), (&copy, vec!["kept".to_owned()]));
        let kept: u32 = Connection::open(&copy)
            .unwrap()
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap();
        assert_eq!(kept, version, "the copy is what it was");
        assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(&rig).len(), 2, "{:?}", names(&rig));
        assert_eq!(rig.open().migrated(), None, "once");
    }
}

#[test]
fn a_copy_that_fails_stops_the_migration_and_changes_nothing() {
    let rig = old_home(5);
    // With a name so long that no file system takes a longer one for the copy.
    let long = rig.dir.path().join("x".repeat(240));
    let rename = |from: &std::path::Path, to: &std::path::Path| {
        for end in ["", "-wal"] {
            let (from, to) = (format!("{}{end}", from.display()), format!("{}{end}", to.display()));
            let _not_there = fs::rename(from, to);
        }
    };
    rename(&rig.path(), &long);
    let refused = Store::open(&long).err().unwrap().to_string();
    assert!(refused.contains("nothing was changed") && refused.contains("schema 5"), "{refused}");
    rename(&long, &rig.path());
    assert_eq!((rig.user_version(), sessions(&rig.path())), (5, vec!["kept".to_owned()]));
    assert!(rig.open().migrated().is_some());
}

#[test]
fn a_migration_that_fails_leaves_the_old_database_and_no_copy() {
    let rig = old_home(5);
    rig.tamper("CREATE TABLE session_models(x)");
    assert!(Store::open(&rig.path()).is_err());
    assert_eq!((rig.user_version(), names(&rig)), (5, vec!["claw.db".to_owned()]));
}

#[test]
fn no_copy_is_written_over_another_one_and_the_newest_comes_first() {
    let rig = old_home(5);
    let first = rig.open().migrated().unwrap().copy.clone();
    // Somebody goes back, as the guide says, and updates again.
    for name in names(&rig).into_iter().filter(|name| name == "claw.db") {
        fs::remove_file(rig.dir.path().join(name)).unwrap();
    }
    for beside in ["claw.db-wal", "claw.db-shm"] {
        let _ = fs::remove_file(rig.dir.path().join(beside));
    }
    fs::copy(&first, rig.path()).unwrap();
    rig.tamper("INSERT INTO sessions VALUES ('later', 1, 2)");
    let second = rig.open().migrated().unwrap().copy.clone();
    assert_eq!(second, PathBuf::from(format!("{}.2", first.display())));
    assert_eq!((sessions(&first).len(), sessions(&second).len()), (1, 2));
    let kept = kept_copies(&rig.path()).unwrap();
    assert_eq!(kept.iter().map(|copy| &copy.path).collect::<Vec<_>>(), [&second, &first]);
    assert!(kept.iter().all(|copy| copy.bytes > 0));
}

#[test]
fn processes_that_come_at_the_same_time_do_it_once() {
    let rig = old_home(3);
    let path = rig.path();
    let opened: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(|| Store::open(&path).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(opened.iter().filter(|store| store.migrated().is_some()).count(), 1);
    drop(opened);
    assert_eq!(names(&rig).len(), 2, "{:?}", names(&rig));
}
