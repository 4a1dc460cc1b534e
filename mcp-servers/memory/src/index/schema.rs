//! The tables of the index. It can be thrown away at any time: it is made of the files alone, so a
//! new version of it is a new number here, and no migration.

/// Counted up with every change of [`SCHEMA`] or of what is written into it.
pub const VERSION: i64 = 4;

/// One row of `notes` a file. The texts stand last, because what is behind a long one is slow to
/// read. `words` is what is searched; its text stands in `notes`, and the triggers keep the two
/// together. Marks count as letters (`M*`), which the vowels of Indic scripts are.
pub const SCHEMA: &str = "
CREATE TABLE notes (
    row INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    stamp TEXT NOT NULL,
    digest TEXT NOT NULL,
    id TEXT NOT NULL,
    copy INTEGER NOT NULL,
    own_id TEXT,
    kind TEXT NOT NULL,
    who TEXT, session TEXT, turn INTEGER, file TEXT, agent TEXT,
    created INTEGER, updated INTEGER, dated INTEGER NOT NULL,
    valid_from INTEGER,
    superseded_by TEXT, supersedes TEXT,
    fault TEXT,
    subject TEXT NOT NULL,
    aliases TEXT NOT NULL,
    body TEXT NOT NULL,
    names TEXT NOT NULL,
    grams TEXT NOT NULL
);
CREATE INDEX notes_id ON notes (id, copy);
CREATE INDEX notes_supersedes ON notes (supersedes) WHERE supersedes IS NOT NULL;
CREATE INDEX notes_said ON notes (session, turn) WHERE session IS NOT NULL;
CREATE INDEX notes_dated ON notes (dated);
CREATE INDEX notes_digest ON notes (digest);
CREATE TABLE tags (tag TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (tag, row)) WITHOUT ROWID;
CREATE INDEX tags_row ON tags (row);
CREATE TABLE links (row INTEGER NOT NULL, relation TEXT NOT NULL, target TEXT NOT NULL, key TEXT NOT NULL);
CREATE INDEX links_row ON links (row);
CREATE INDEX links_key ON links (key);
CREATE TABLE known_names (name TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (name, row)) WITHOUT ROWID;
CREATE INDEX known_names_row ON known_names (row);
CREATE VIRTUAL TABLE words USING fts5(
    subject, body, names, grams, content='notes', content_rowid='row',
    tokenize = \"porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'\"
);
CREATE TRIGGER notes_new AFTER INSERT ON notes BEGIN
    INSERT INTO words (rowid, subject, body, names, grams)
    VALUES (new.row, new.subject, new.body, new.names, new.grams);
END;
CREATE TRIGGER notes_gone AFTER DELETE ON notes BEGIN
    INSERT INTO words (words, rowid, subject, body, names, grams)
    VALUES ('delete', old.row, old.subject, old.body, old.names, old.grams);
    DELETE FROM tags WHERE row = old.row;
    DELETE FROM links WHERE row = old.row;
    DELETE FROM known_names WHERE row = old.row;
END;
";
