-- A store as the claw of schema 5 has left it: two sessions, a grant, and a question that is open in `trip` until 1797892331093.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('audit.head','23:f05f70d65e3fae75ab0960087469de1496770e98b404cf680b17a611e9ee1f06');
INSERT INTO meta VALUES('pins.version','0.1.0 107672176:1795300173581256968');
CREATE TABLE sessions(
    name TEXT PRIMARY KEY, created_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO sessions VALUES('main',1795300330700,1795300330991);
INSERT INTO sessions VALUES('trip',1795300331058,1795300331058);
CREATE TABLE inbox(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued'
) STRICT;
INSERT INTO inbox VALUES(1,'main','message',1795300330700,'{"session":"main","from":"console/832c3190b2a8ebcd","principal":"console:uid:0","origin":"owner","body":{"type":"message","blocks":[{"type":"text","text":"list"}]}}','absorbed');
INSERT INTO inbox VALUES(2,'main','message',1795300330778,'{"session":"main","from":"console/0e2a1e82485e8d5b","principal":"console:uid:0","origin":"owner","body":{"type":"message","blocks":[{"type":"text","text":"write notes/today.md: bread and milk"}]}}','absorbed');
INSERT INTO inbox VALUES(3,'main','answered',1795300330991,'{"session":"main","from":"gate/answer","principal":"console:uid:0","origin":"owner","body":{"type":"answered","approval":"f0kjkaa5vv","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}},"by":"console:uid:0"}}','absorbed');
INSERT INTO inbox VALUES(4,'trip','message',1795300331058,'{"session":"trip","from":"console/75877a3a8671555d","principal":"console:uid:0","origin":"owner","body":{"type":"message","blocks":[{"type":"text","text":"write trip.md: Lisbon"}]}}','absorbed');
CREATE TABLE events(
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY(session, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO events VALUES('main',1,1795300330703,'turn.started','{"type":"turn.started","origin":"owner","principal":"console:uid:0"}');
INSERT INTO events VALUES('main',2,1795300330703,'user.message','{"type":"user.message","blocks":[{"type":"text","text":"list"}],"inbox_id":1,"from":"console/832c3190b2a8ebcd","origin":"owner"}');
INSERT INTO events VALUES('main',3,1795300330746,'prompt.packed','{"type":"prompt.packed","from_seq":1,"dropped_events":0,"estimated_tokens":9}');
INSERT INTO events VALUES('main',4,1795300330746,'model.reply','{"type":"model.reply","blocks":[{"type":"text","text":"I''ll list `.`."},{"type":"tool_use","id":"demo_1_0","name":"filesystem__list_dir","input":{"path":"."}}],"finish":{"kind":"tool_use"},"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"cache_write_tokens":0},"provider":"demo","model":"demo"}');
INSERT INTO events VALUES('main',5,1795300330752,'tool.result','{"type":"tool.result","call":{"session":"main","reply_seq":4,"block":1},"outcome":{"kind":"ended","output":{"text":"`.` is an empty directory.\n","structured":{"path":".","entries":[],"truncated":false},"is_error":false}}}');
INSERT INTO events VALUES('main',6,1795300330752,'prompt.packed','{"type":"prompt.packed","from_seq":1,"dropped_events":0,"estimated_tokens":60}');
INSERT INTO events VALUES('main',7,1795300330752,'model.reply','{"type":"model.reply","blocks":[{"type":"text","text":"Listing `.`:\n\n```text\n`.` is an empty directory.\n```\n\n*This was the built-in demo: a small fixed grammar, no language model. Say `help` for what it knows. For a real model, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY (or start Ollama) and start claw again.*"}],"finish":{"kind":"complete"},"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"cache_write_tokens":0},"provider":"demo","model":"demo"}');
INSERT INTO events VALUES('main',8,1795300330753,'turn.ended','{"type":"turn.ended","end":{"kind":"answered"}}');
INSERT INTO events VALUES('main',9,1795300330780,'turn.started','{"type":"turn.started","origin":"owner","principal":"console:uid:0"}');
INSERT INTO events VALUES('main',10,1795300330780,'user.message','{"type":"user.message","blocks":[{"type":"text","text":"write notes/today.md: bread and milk"}],"inbox_id":2,"from":"console/0e2a1e82485e8d5b","origin":"owner"}');
INSERT INTO events VALUES('main',11,1795300330783,'prompt.packed','{"type":"prompt.packed","from_seq":1,"dropped_events":0,"estimated_tokens":153}');
INSERT INTO events VALUES('main',12,1795300330783,'model.reply','{"type":"model.reply","blocks":[{"type":"text","text":"I''ll write `notes/today.md`."},{"type":"tool_use","id":"demo_5_0","name":"filesystem__write_file","input":{"path":"notes/today.md","content":"bread and milk"}}],"finish":{"kind":"tool_use"},"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"cache_write_tokens":0},"provider":"demo","model":"demo"}');
INSERT INTO events VALUES('main',13,1795300330804,'call.parked','{"type":"call.parked","call":{"session":"main","reply_seq":12,"block":1},"approval":"f0kjkaa5vv"}');
INSERT INTO events VALUES('main',14,1795300330995,'call.answered','{"type":"call.answered","call":{"session":"main","reply_seq":12,"block":1},"approval":"f0kjkaa5vv","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}},"by":"console:uid:0"}');
INSERT INTO events VALUES('main',15,1795300331032,'tool.result','{"type":"tool.result","call":{"session":"main","reply_seq":12,"block":1},"outcome":{"kind":"ended","output":{"text":"Created `notes/today.md`: 14 bytes, and 1 parent directories.","structured":{"path":"notes/today.md","created":true,"size_bytes":14,"directories_created":1},"is_error":false}}}');
INSERT INTO events VALUES('main',16,1795300331032,'prompt.packed','{"type":"prompt.packed","from_seq":1,"dropped_events":0,"estimated_tokens":227}');
INSERT INTO events VALUES('main',17,1795300331032,'model.reply','{"type":"model.reply","blocks":[{"type":"text","text":"Writing `notes/today.md`:\n\n```text\nCreated `notes/today.md`: 14 bytes, and 1 parent directories.\n```"}],"finish":{"kind":"complete"},"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"cache_write_tokens":0},"provider":"demo","model":"demo"}');
INSERT INTO events VALUES('main',18,1795300331032,'turn.ended','{"type":"turn.ended","end":{"kind":"answered"}}');
INSERT INTO events VALUES('trip',1,1795300331067,'turn.started','{"type":"turn.started","origin":"owner","principal":"console:uid:0"}');
INSERT INTO events VALUES('trip',2,1795300331067,'user.message','{"type":"user.message","blocks":[{"type":"text","text":"write trip.md: Lisbon"}],"inbox_id":4,"from":"console/75877a3a8671555d","origin":"owner"}');
INSERT INTO events VALUES('trip',3,1795300331068,'prompt.packed','{"type":"prompt.packed","from_seq":1,"dropped_events":0,"estimated_tokens":14}');
INSERT INTO events VALUES('trip',4,1795300331068,'model.reply','{"type":"model.reply","blocks":[{"type":"text","text":"I''ll write `trip.md`."},{"type":"tool_use","id":"demo_1_0","name":"filesystem__write_file","input":{"path":"trip.md","content":"Lisbon"}}],"finish":{"kind":"tool_use"},"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"cache_write_tokens":0},"provider":"demo","model":"demo"}');
INSERT INTO events VALUES('trip',5,1795300331099,'call.parked','{"type":"call.parked","call":{"session":"trip","reply_seq":4,"block":1},"approval":"zqwtk7nb2y"}');
CREATE TABLE outbox(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    door TEXT NOT NULL,
    address TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued'
, parts_sent INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO outbox VALUES(1,'main','console','console/832c3190b2a8ebcd',1795300330748,'{"session":"main","to":"console/832c3190b2a8ebcd","body":{"type":"said","turn_seq":1,"step":1,"text":"I''ll list `.`.","partial":false}}','sent',0);
INSERT INTO outbox VALUES(2,'main','console','console/832c3190b2a8ebcd',1795300330753,'{"session":"main","to":"console/832c3190b2a8ebcd","body":{"type":"reply","turn_seq":1,"step":2,"text":"Listing `.`:\n\n```text\n`.` is an empty directory.\n```\n\n*This was the built-in demo: a small fixed grammar, no language model. Say `help` for what it knows. For a real model, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY (or start Ollama) and start claw again.*"}}','sent',0);
INSERT INTO outbox VALUES(3,'main','console','console/0e2a1e82485e8d5b',1795300330801,'{"session":"main","to":"console/0e2a1e82485e8d5b","body":{"type":"said","turn_seq":9,"step":1,"text":"I''ll write `notes/today.md`.","partial":false}}','sent',0);
INSERT INTO outbox VALUES(4,'main','console','console/0e2a1e82485e8d5b',1795300330805,'{"session":"main","to":"console/0e2a1e82485e8d5b","body":{"type":"question","turn_seq":9,"question":{"approval":"f0kjkaa5vv","call":{"session":"main","reply_seq":12,"block":1},"session":"main","server":"filesystem","tool":"write_file","arguments":[["content","bread and milk"],["path","notes/today.md"]],"why":"filesystem/write_file can change something (class.mutating)","expires_at_ms":1797892330802,"choices":[{"key":"y","label":"allow this one call","answer":{"kind":"allow","term":"once","scope":{"kind":"exact"}}},{"key":"10m","label":"allow filesystem/write_file with exactly these arguments, for 10 minutes","answer":{"kind":"allow","term":"ten_minutes","scope":{"kind":"exact"}}},{"key":"s","label":"allow filesystem/write_file with exactly these arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"exact"}}},{"key":"a","label":"allow filesystem/write_file with exactly these arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}}},{"key":"sb","label":"allow filesystem/write_file for any path at or below notes, whatever its other arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"below","path":"notes"}}},{"key":"ab","label":"allow filesystem/write_file for any path at or below notes, whatever its other arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"below","path":"notes"}}},{"key":"n","label":"deny this one call","answer":{"kind":"deny"}},{"key":"n WORDS","label":"deny this one call and tell the model WORDS","answer":{"kind":"deny"}},{"key":"never","label":"deny filesystem/write_file with exactly these arguments, now and always","answer":{"kind":"never"}}]}}}','sent',0);
INSERT INTO outbox VALUES(5,'main','console','console/4b5c38f0fdab8a89',1795300331033,'{"session":"main","to":"console/0e2a1e82485e8d5b","body":{"type":"reply","turn_seq":9,"step":2,"text":"Writing `notes/today.md`:\n\n```text\nCreated `notes/today.md`: 14 bytes, and 1 parent directories.\n```"}}','sent',0);
INSERT INTO outbox VALUES(6,'trip','console','console/75877a3a8671555d',1795300331088,'{"session":"trip","to":"console/75877a3a8671555d","body":{"type":"said","turn_seq":1,"step":1,"text":"I''ll write `trip.md`.","partial":false}}','sent',0);
INSERT INTO outbox VALUES(7,'trip','console','console/75877a3a8671555d',1795300331100,'{"session":"trip","to":"console/75877a3a8671555d","body":{"type":"question","turn_seq":1,"question":{"approval":"zqwtk7nb2y","call":{"session":"trip","reply_seq":4,"block":1},"session":"trip","server":"filesystem","tool":"write_file","arguments":[["content","Lisbon"],["path","trip.md"]],"why":"filesystem/write_file can change something (class.mutating)","expires_at_ms":1797892331093,"choices":[{"key":"y","label":"allow this one call","answer":{"kind":"allow","term":"once","scope":{"kind":"exact"}}},{"key":"10m","label":"allow filesystem/write_file with exactly these arguments, for 10 minutes","answer":{"kind":"allow","term":"ten_minutes","scope":{"kind":"exact"}}},{"key":"s","label":"allow filesystem/write_file with exactly these arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"exact"}}},{"key":"a","label":"allow filesystem/write_file with exactly these arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}}},{"key":"n","label":"deny this one call","answer":{"kind":"deny"}},{"key":"n WORDS","label":"deny this one call and tell the model WORDS","answer":{"kind":"deny"}},{"key":"never","label":"deny filesystem/write_file with exactly these arguments, now and always","answer":{"kind":"never"}}]}}}','sent',0);
CREATE TABLE calls(
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    origin TEXT NOT NULL,
    principal TEXT NOT NULL,
    state TEXT NOT NULL,
    pin TEXT NOT NULL DEFAULT '',
    cwd TEXT NOT NULL DEFAULT '',
    env_names TEXT NOT NULL DEFAULT '',
    policy_version TEXT NOT NULL DEFAULT '',
    digest TEXT NOT NULL DEFAULT '',
    rule TEXT NOT NULL DEFAULT '',
    outcome TEXT,
    server_state TEXT,
    received_ms INTEGER NOT NULL,
    started_ms INTEGER,
    ended_ms INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO calls VALUES('main:12:1','main','filesystem','write_file','{"content":"bread and milk","path":"notes/today.md"}','owner','console:uid:0','ended','84d0ad581bc4400538a6f6c06fb4173a4f4e6896e6ffcc9c039d62198a5a95d2','/tmp/me/.claw/workspace','','d67da0321acd829854a09121bf7cf10d36a360c325f91e97f1ec8228f9a365ec','2accfb31e566906da5223e54ef1c99c73452cf247c49cfe955359eb2395b50da','class.mutating','{"kind":"ended","output":{"text":"Created `notes/today.md`: 14 bytes, and 1 parent directories.","structured":{"path":"notes/today.md","created":true,"size_bytes":14,"directories_created":1},"is_error":false}}',NULL,1795300330783,1795300331027,1795300331033);
INSERT INTO calls VALUES('main:4:1','main','filesystem','list_dir','{"path":"."}','owner','console:uid:0','ended','9ebd84c225f692047eceb50eaf26fb71fd8db546ed81f8192f768a7b140225a2','/tmp/me/.claw/workspace','','d67da0321acd829854a09121bf7cf10d36a360c325f91e97f1ec8228f9a365ec','8e595702ee57455395286cd1f5fc937e4c906886231a95aef6dce44e9cc4388f','class.safe','{"kind":"ended","output":{"text":"`.` is an empty directory.\n","structured":{"path":".","entries":[],"truncated":false},"is_error":false}}',NULL,1795300330747,1795300330748,1795300330753);
INSERT INTO calls VALUES('trip:4:1','trip','filesystem','write_file','{"content":"Lisbon","path":"trip.md"}','owner','console:uid:0','waiting','84d0ad581bc4400538a6f6c06fb4173a4f4e6896e6ffcc9c039d62198a5a95d2','/tmp/me/.claw/workspace','','d67da0321acd829854a09121bf7cf10d36a360c325f91e97f1ec8228f9a365ec','ef1d61107e9fd5dec0cc6bb4b50faa844295ad77051e7ac37a76211474ee9894','class.mutating',NULL,NULL,1795300331069,NULL,NULL);
CREATE TABLE approvals(
    id TEXT PRIMARY KEY,
    call TEXT NOT NULL,
    session TEXT NOT NULL,
    state TEXT NOT NULL,
    question TEXT NOT NULL,
    approvers TEXT NOT NULL,
    digest TEXT NOT NULL,
    asked_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    decided_ms INTEGER,
    decided_by TEXT,
    answer TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO approvals VALUES('f0kjkaa5vv','main:12:1','main','approved','{"approval":"f0kjkaa5vv","call":{"session":"main","reply_seq":12,"block":1},"session":"main","server":"filesystem","tool":"write_file","arguments":[["content","bread and milk"],["path","notes/today.md"]],"why":"filesystem/write_file can change something (class.mutating)","expires_at_ms":1797892330802,"choices":[{"key":"y","label":"allow this one call","answer":{"kind":"allow","term":"once","scope":{"kind":"exact"}}},{"key":"10m","label":"allow filesystem/write_file with exactly these arguments, for 10 minutes","answer":{"kind":"allow","term":"ten_minutes","scope":{"kind":"exact"}}},{"key":"s","label":"allow filesystem/write_file with exactly these arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"exact"}}},{"key":"a","label":"allow filesystem/write_file with exactly these arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}}},{"key":"sb","label":"allow filesystem/write_file for any path at or below notes, whatever its other arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"below","path":"notes"}}},{"key":"ab","label":"allow filesystem/write_file for any path at or below notes, whatever its other arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"below","path":"notes"}}},{"key":"n","label":"deny this one call","answer":{"kind":"deny"}},{"key":"n WORDS","label":"deny this one call and tell the model WORDS","answer":{"kind":"deny"}},{"key":"never","label":"deny filesystem/write_file with exactly these arguments, now and always","answer":{"kind":"never"}}]}','console:uid:0','2accfb31e566906da5223e54ef1c99c73452cf247c49cfe955359eb2395b50da',1795300330803,1797892330802,1795300330990,'console:uid:0','{"kind":"allow","term":"always","scope":{"kind":"exact"}}');
INSERT INTO approvals VALUES('zqwtk7nb2y','trip:4:1','trip','waiting','{"approval":"zqwtk7nb2y","call":{"session":"trip","reply_seq":4,"block":1},"session":"trip","server":"filesystem","tool":"write_file","arguments":[["content","Lisbon"],["path","trip.md"]],"why":"filesystem/write_file can change something (class.mutating)","expires_at_ms":1797892331093,"choices":[{"key":"y","label":"allow this one call","answer":{"kind":"allow","term":"once","scope":{"kind":"exact"}}},{"key":"10m","label":"allow filesystem/write_file with exactly these arguments, for 10 minutes","answer":{"kind":"allow","term":"ten_minutes","scope":{"kind":"exact"}}},{"key":"s","label":"allow filesystem/write_file with exactly these arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"exact"}}},{"key":"a","label":"allow filesystem/write_file with exactly these arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}}},{"key":"n","label":"deny this one call","answer":{"kind":"deny"}},{"key":"n WORDS","label":"deny this one call and tell the model WORDS","answer":{"kind":"deny"}},{"key":"never","label":"deny filesystem/write_file with exactly these arguments, now and always","answer":{"kind":"never"}}]}','console:uid:0','ef1d61107e9fd5dec0cc6bb4b50faa844295ad77051e7ac37a76211474ee9894',1795300331098,1797892331093,NULL,NULL,NULL);
CREATE TABLE grants(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    effect TEXT NOT NULL,
    principal TEXT NOT NULL,
    session TEXT,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    shape TEXT NOT NULL,
    origin TEXT NOT NULL,
    says TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER,
    approval TEXT NOT NULL
) STRICT;
INSERT INTO grants VALUES(1,'allow','console:uid:0',NULL,'filesystem','write_file','{"kind":"exact","digest":"5d4d8a899dafe9ec817c84578fb54c47d7548bd99e63b93928558a66885053b9"}','owner','filesystem/write_file with exactly these arguments: {"content":"bread and milk","path":"notes/today.md"}',1795300330990,NULL,NULL,'f0kjkaa5vv');
CREATE TABLE audit(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    call TEXT NOT NULL,
    body TEXT NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
INSERT INTO audit VALUES(1,1795300330734,'pinned','','{"pin":"af25963d8e7deff2c98ad4fa79058216e324c99d6efa4835c66a4c6daf81c163","server":"bash","tool":"run"}','0000000000000000000000000000000000000000000000000000000000000000','54602ed4d746dec800e65ea6d63d9630071a3dfa8251fd823db079b199e1460d');
INSERT INTO audit VALUES(2,1795300330739,'pinned','','{"pin":"857275349ae365ca3efb07decbc5bf2143d10eee2d889d6eff002a9770373e69","server":"filesystem","tool":"read_file"}','54602ed4d746dec800e65ea6d63d9630071a3dfa8251fd823db079b199e1460d','387a1184d012748e07d91eec3ceea68c17313727419b501c61df7f2cec4afc1f');
INSERT INTO audit VALUES(3,1795300330740,'pinned','','{"pin":"84d0ad581bc4400538a6f6c06fb4173a4f4e6896e6ffcc9c039d62198a5a95d2","server":"filesystem","tool":"write_file"}','387a1184d012748e07d91eec3ceea68c17313727419b501c61df7f2cec4afc1f','37af3320fe41ee052247842e7b91b27e404d70d3a5b4171efc2af911a3838a96');
INSERT INTO audit VALUES(4,1795300330740,'pinned','','{"pin":"559db2eb543761480677b03595af2eeb640136f7f049a9946b28cdfeab44e1b2","server":"filesystem","tool":"edit_file"}','37af3320fe41ee052247842e7b91b27e404d70d3a5b4171efc2af911a3838a96','e9132e25574ef98cf1e3e88b3d03d42f2a847d0569448110acd1719f911dd043');
INSERT INTO audit VALUES(5,1795300330740,'pinned','','{"pin":"9ebd84c225f692047eceb50eaf26fb71fd8db546ed81f8192f768a7b140225a2","server":"filesystem","tool":"list_dir"}','e9132e25574ef98cf1e3e88b3d03d42f2a847d0569448110acd1719f911dd043','28b595b965d573957c93e74aa34cc82922f89144483f5489dc936789417dc628');
INSERT INTO audit VALUES(6,1795300330740,'pinned','','{"pin":"19f7664a9f044a5faa0c0ed1bbb100f4d228a99e940450f01e986df615181183","server":"filesystem","tool":"find"}','28b595b965d573957c93e74aa34cc82922f89144483f5489dc936789417dc628','b8c18ad2620b3fcb1acb88318c824ce675d293dcc6ec75d417e74e3a555561fa');
INSERT INTO audit VALUES(7,1795300330740,'pinned','','{"pin":"41abbaed377d38b8c1d94c4a251d29bb8b5bd451f783fb625ed869fc4bed8e5b","server":"filesystem","tool":"search"}','b8c18ad2620b3fcb1acb88318c824ce675d293dcc6ec75d417e74e3a555561fa','d6d71c302e8cb2fde0b283cdfa11ee0e93a86d6aca9ebe4e37d138c5b005d0ce');
INSERT INTO audit VALUES(8,1795300330741,'pinned','','{"pin":"568c081a421fee5c8233c70d5a6bf51f50dd53629ebc6768d577a43ab82ce5ea","server":"filesystem","tool":"move"}','d6d71c302e8cb2fde0b283cdfa11ee0e93a86d6aca9ebe4e37d138c5b005d0ce','b93e18b3ca045c597702121e50b7f2fc467a924ed03eff3dbcba151059301eab');
INSERT INTO audit VALUES(9,1795300330741,'pinned','','{"pin":"8dcd79b3d2089584cfb58b2a654955d8f3fa6d976a65f5338a84839ac76f6807","server":"filesystem","tool":"delete"}','b93e18b3ca045c597702121e50b7f2fc467a924ed03eff3dbcba151059301eab','4942bb859c3e91cb00bdfcd0f62c580d137db0e1bf3c8411b6c4237e8e2d8843');
INSERT INTO audit VALUES(10,1795300330748,'received','main:4:1','{"arguments":{"path":"."},"origin":"owner","principal":"console:uid:0","server":"filesystem","session":"main","tool":"list_dir"}','4942bb859c3e91cb00bdfcd0f62c580d137db0e1bf3c8411b6c4237e8e2d8843','fed2fdc3dd7b19a43ec95fb3b505392237f0d391c37aac0bd0b327bac9d73ac1');
INSERT INTO audit VALUES(11,1795300330748,'verdict','main:4:1','{"rule":"class.safe","verdict":"allow","why":"filesystem/list_dir only reads"}','fed2fdc3dd7b19a43ec95fb3b505392237f0d391c37aac0bd0b327bac9d73ac1','aedbe3d5bc3551d65406b9ee02ff5182dc42852d67d9b1cbed9c07ac48a0c54a');
INSERT INTO audit VALUES(12,1795300330748,'started','main:4:1','{"digest":"8e595702ee57455395286cd1f5fc937e4c906886231a95aef6dce44e9cc4388f","pin":"9ebd84c225f692047eceb50eaf26fb71fd8db546ed81f8192f768a7b140225a2"}','aedbe3d5bc3551d65406b9ee02ff5182dc42852d67d9b1cbed9c07ac48a0c54a','31ed9f3178f0e4dc309196cda33e40b1916dabb1a1934a5a705b6aae7af7da63');
INSERT INTO audit VALUES(13,1795300330753,'ended','main:4:1','{"is_error":false,"outcome":"ended","result_bytes":27}','31ed9f3178f0e4dc309196cda33e40b1916dabb1a1934a5a705b6aae7af7da63','5addf944a854e77944ac292affd9dcba4477a28dc70b8dd9629947d43d3beb78');
INSERT INTO audit VALUES(14,1795300330802,'received','main:12:1','{"arguments":{"content":"bread and milk","path":"notes/today.md"},"origin":"owner","principal":"console:uid:0","server":"filesystem","session":"main","tool":"write_file"}','5addf944a854e77944ac292affd9dcba4477a28dc70b8dd9629947d43d3beb78','b5e1559479e4319a620a022c5fea3adcf4dddc264d43ee188d71df771a92469b');
INSERT INTO audit VALUES(15,1795300330803,'verdict','main:12:1','{"rule":"class.mutating","verdict":"ask","why":"filesystem/write_file can change something"}','b5e1559479e4319a620a022c5fea3adcf4dddc264d43ee188d71df771a92469b','9c26a1fe571f06836b3e72ab91241e876e8ffbe9cd14a871cfe65c008daab4ba');
INSERT INTO audit VALUES(16,1795300330803,'asked','main:12:1','{"approval":"f0kjkaa5vv","digest":"2accfb31e566906da5223e54ef1c99c73452cf247c49cfe955359eb2395b50da"}','9c26a1fe571f06836b3e72ab91241e876e8ffbe9cd14a871cfe65c008daab4ba','d59b7d8c64adfb177a79064397b928b784cbf30e59a9765525cb8d63f8df2247');
INSERT INTO audit VALUES(17,1795300330991,'answered','main:12:1','{"answer":{"kind":"allow","scope":{"kind":"exact"},"term":"always"},"approval":"f0kjkaa5vv","by":"console:uid:0","digest":"2accfb31e566906da5223e54ef1c99c73452cf247c49cfe955359eb2395b50da","grant":{"effect":"allow","id":1,"says":"filesystem/write_file with exactly these arguments: {\"content\":\"bread and milk\",\"path\":\"notes/today.md\"}"}}','d59b7d8c64adfb177a79064397b928b784cbf30e59a9765525cb8d63f8df2247','8f85cc95c6c8d4f8d8dac2a45ab1d2b6a214b23460045a52667440b4b00b09a2');
INSERT INTO audit VALUES(18,1795300331027,'verdict','main:12:1','{"rule":"approval.f0kjkaa5vv","verdict":"allow","why":"console:uid:0 allowed it"}','8f85cc95c6c8d4f8d8dac2a45ab1d2b6a214b23460045a52667440b4b00b09a2','119bea2f1b395b978dca11783a76e6db95b758cb0fc7594c916ffa26995a56ed');
INSERT INTO audit VALUES(19,1795300331027,'started','main:12:1','{"digest":"2accfb31e566906da5223e54ef1c99c73452cf247c49cfe955359eb2395b50da","pin":"84d0ad581bc4400538a6f6c06fb4173a4f4e6896e6ffcc9c039d62198a5a95d2"}','119bea2f1b395b978dca11783a76e6db95b758cb0fc7594c916ffa26995a56ed','a84dcc1c543db0275f5aec441a426ad371f0d24c0d9285a9db24b6bec5d0dc0b');
INSERT INTO audit VALUES(20,1795300331033,'ended','main:12:1','{"is_error":false,"outcome":"ended","result_bytes":61}','a84dcc1c543db0275f5aec441a426ad371f0d24c0d9285a9db24b6bec5d0dc0b','ea9ceafb10495098148b95002b3b24ab2494fc5468f5c9d7db87760f4febbe3e');
INSERT INTO audit VALUES(21,1795300331088,'received','trip:4:1','{"arguments":{"content":"Lisbon","path":"trip.md"},"origin":"owner","principal":"console:uid:0","server":"filesystem","session":"trip","tool":"write_file"}','ea9ceafb10495098148b95002b3b24ab2494fc5468f5c9d7db87760f4febbe3e','871f147c7acb6c277878f655f0cb769aace83513a579ba526a5ff4b55668d1f9');
INSERT INTO audit VALUES(22,1795300331098,'verdict','trip:4:1','{"rule":"class.mutating","verdict":"ask","why":"filesystem/write_file can change something"}','871f147c7acb6c277878f655f0cb769aace83513a579ba526a5ff4b55668d1f9','07cbb79545cb266fa9260b20c50ba1ae85880b31f45ef1a9450ec7f3fdeb97d2');
INSERT INTO audit VALUES(23,1795300331098,'asked','trip:4:1','{"approval":"zqwtk7nb2y","digest":"ef1d61107e9fd5dec0cc6bb4b50faa844295ad77051e7ac37a76211474ee9894"}','07cbb79545cb266fa9260b20c50ba1ae85880b31f45ef1a9450ec7f3fdeb97d2','f05f70d65e3fae75ab0960087469de1496770e98b404cf680b17a611e9ee1f06');
CREATE TABLE pins(
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    launch TEXT NOT NULL,
    pin TEXT NOT NULL,
    raw TEXT NOT NULL,
    new_pin TEXT,
    new_raw TEXT,
    seen_ms INTEGER NOT NULL, shown_pin TEXT,
    PRIMARY KEY(server, tool)
) STRICT, WITHOUT ROWID;
INSERT INTO pins VALUES('bash','run','1395fc9a1ed70880762216c4ca04ffd86345ccb2cbcb30c43d734cf036fc4a27','af25963d8e7deff2c98ad4fa79058216e324c99d6efa4835c66a4c6daf81c163','{"name":"run","title":"Run a shell command","description":"Run a shell command (bash) in the workspace and return its exit code and its output, standard output and standard error together. The operating system confines it: it can read and write the workspace (also its HOME) and a private TMPDIR, and read system files; everything else, the user''s own home and Unix sockets included, is refused with \"Permission denied\", and trying again does not help. It has no terminal and no input, and a cleared environment. It is killed after timeout_s seconds (default 115, at most 115). Background processes are killed when the command ends: there are no servers that stay. Of output over 16384 bytes you get the head and the tail, and the name of a file in the workspace that has all of it.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["command"],"additionalProperties":false,"type":"object","properties":{"command":{"description":"The command line, as you would type it into bash. Standard input is empty.","type":"string"},"timeout_s":{"description":"Seconds after which the command is killed. Default and maximum are in the tool''s description.","type":["integer","null"],"format":"uint64","minimum":0,"default":null},"cwd":{"description":"Directory to run in, inside the workspace and relative to it. Default: the workspace itself.","type":["string","null"],"default":null}}},"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["exit_code","signal","duration_ms","timed_out","truncated","output_bytes","output","output_file","confined","box"],"properties":{"exit_code":{"description":"The exit code; null if a signal ended the command.","type":["integer","null"],"format":"int32"},"signal":{"description":"The signal that ended it, for example SIGKILL.","type":["string","null"]},"duration_ms":{"type":"integer","format":"uint64","minimum":0},"timed_out":{"description":"Whether it was killed because its time was up.","type":"boolean"},"truncated":{"description":"Whether `output` leaves out a part of the output.","type":"boolean"},"output_bytes":{"description":"Size of the whole output.","type":"integer","format":"uint64","minimum":0},"output":{"description":"Standard output and standard error in the order in which they came; head and tail if truncated.","type":"string"},"output_file":{"description":"The file with the whole output, relative to the workspace, if there is one.","type":["string","null"]},"confined":{"description":"Whether the operating system kept the command inside the workspace.","type":"boolean"},"box":{"description":"How: Landlock''s ABI and seccomp, or none.","type":"string"}},"type":"object"},"annotations":{"title":"Run a shell command","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}}',NULL,NULL,1795300330734,NULL);
INSERT INTO pins VALUES('filesystem','delete','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','8dcd79b3d2089584cfb58b2a654955d8f3fa6d976a65f5338a84839ac76f6807','{"name":"delete","title":"Delete","description":"Deletes a file, a symbolic link (never what it leads to) or an empty directory of the workspace. A directory with something in it is deleted only with recursive: true, with everything below it; there is no way back. The workspace itself is never deleted.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["path"],"type":"object","properties":{"path":{"description":"What to delete, relative to the workspace.","type":"string"},"recursive":{"description":"Delete a directory with everything in it. Default: false.","type":"boolean","default":false}},"additionalProperties":false},"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["path","type","removed_entries"],"type":"object","properties":{"path":{"type":"string"},"type":{"type":"string","enum":["file","dir","symlink","fifo","socket","device","other"]},"removed_entries":{"description":"Files, links and directories that are gone, the one named included.","type":"integer","minimum":0}}},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}',NULL,NULL,1795300330741,NULL);
INSERT INTO pins VALUES('filesystem','edit_file','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','559db2eb543761480677b03595af2eeb640136f7f049a9946b28cdfeab44e1b2','{"name":"edit_file","title":"Edit a text file","description":"Replaces exact pieces of a text file of the workspace. Each old_text must occur exactly once, white space included; add neighbouring lines until it does. Several edits are applied in order, each to the result of those before it, and either all of them or none. Line ends (CRLF) are kept. The result is a unified diff; with dry_run nothing is written.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["path","edits"],"type":"object","properties":{"path":{"description":"The file, relative to the workspace.","type":"string"},"edits":{"description":"The replacements, applied in this order.","type":"array","items":{"type":"object","properties":{"old_text":{"description":"The text to be replaced, exactly as it is in the file. It must occur exactly once.","type":"string"},"new_text":{"description":"The text to put there; may be empty.","type":"string"}},"additionalProperties":false,"required":["old_text","new_text"]},"minItems":1,"maxItems":500},"dry_run":{"description":"Only show the diff. Default: false.","type":"boolean","default":false}},"additionalProperties":false},"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["path","written","edits","size_bytes","previous_size_bytes","diff"],"type":"object","properties":{"path":{"type":"string"},"written":{"description":"Whether the file was changed; false for a dry run.","type":"boolean"},"edits":{"type":"integer","minimum":0},"size_bytes":{"type":"integer","minimum":0},"previous_size_bytes":{"type":"integer","minimum":0},"diff":{"description":"A unified diff.","type":"string"},"diff_cut":{"description":"The diff was too long and its end is missing.","type":"boolean"}}},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}',NULL,NULL,1795300330740,NULL);
INSERT INTO pins VALUES('filesystem','find','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','19f7664a9f044a5faa0c0ed1bbb100f4d228a99e940450f01e986df615181183','{"name":"find","title":"Find files by name","description":"Finds files and directories of the workspace whose path matches a glob. A pattern without `/` is compared with names at any depth (`*.rs`), one with `/` with the path below `path` (`src/**/*.rs`); `{a,b}` and `[abc]` work. What .gitignore and .ignore files name is passed over unless include_ignored is true. The result is sorted.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["pattern"],"type":"object","properties":{"pattern":{"description":"The glob, for example `*.toml` or `src/**/mod.rs`.","type":"string"},"path":{"description":"The directory to look in, relative to the workspace. Default: the workspace itself.","type":"string","default":"."},"type":{"description":"Only this type. Default: any.","type":"string","enum":["any","file","dir"]},"ignore_case":{"description":"Compare without case. Default: false.","type":"boolean","default":false},"include_ignored":{"description":"Look at what .gitignore names, and at `.git`, too. Default: false.","type":"boolean","default":false},"limit":{"description":"At most this many paths. Default: 500.","type":"integer","minimum":1}},"additionalProperties":false},"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["paths","truncated","ignored","unreadable_dirs"],"type":"object","properties":{"paths":{"type":"array","items":{"type":"object","properties":{"path":{"description":"Relative to the workspace.","type":"string"},"type":{"type":"string","enum":["file","dir","symlink","fifo","socket","device","other"]}},"required":["path","type"]}},"truncated":{"description":"There are more matches than were returned.","type":"boolean"},"ignored":{"description":"Entries that were passed over because an ignore file names them; what is in an ignored directory is not counted.","type":"integer","minimum":0},"unreadable_dirs":{"description":"Directories that could not be read.","type":"integer","minimum":0}}},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}',NULL,NULL,1795300330740,NULL);
INSERT INTO pins VALUES('filesystem','list_dir','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','9ebd84c225f692047eceb50eaf26fb71fd8db546ed81f8192f768a7b140225a2','{"name":"list_dir","title":"List a directory","description":"Lists a directory of the workspace: every entry, hidden and ignored ones too, with its type and size, sorted by name. A directory ends in `/`; a symbolic link shows its target and whether that can be used. With depth it goes into subdirectories.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","additionalProperties":false,"type":"object","properties":{"path":{"description":"The directory, relative to the workspace. Default: the workspace itself.","type":"string","default":"."},"depth":{"description":"How many levels to go down. Default: 1, only the entries of the directory itself.","type":"integer","minimum":1,"maximum":50},"limit":{"description":"At most this many entries. Default: 500.","type":"integer","minimum":1}}},"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["path","entries","truncated"],"type":"object","properties":{"path":{"type":"string"},"entries":{"type":"array","items":{"type":"object","properties":{"path":{"description":"Relative to the workspace.","type":"string"},"type":{"type":"string","enum":["file","dir","symlink","fifo","socket","device","other"]},"size_bytes":{"description":"Only for files.","type":"integer","minimum":0},"target":{"description":"Only for symbolic links: what it holds.","type":"string"},"leads":{"description":"Only for symbolic links: where it leads.","anyOf":[{"oneOf":[{"description":"To something inside the workspace, which can be used.","type":"string","const":"inside"},{"description":"Out of the workspace; every use is refused.","type":"string","const":"outside"},{"description":"To nothing.","type":"string","const":"nowhere"},{"description":"In a circle, or to something protected or unreadable.","type":"string","const":"unusable"}]},{"type":"null"}]},"name_not_utf8":{"description":"The name is not UTF-8; `path` shows it approximately and cannot be used.","type":"boolean"}},"required":["path","type"]}},"truncated":{"description":"There are more entries than were returned.","type":"boolean"},"unreadable_dirs":{"description":"Directories that could not be read.","type":"integer","minimum":0}}},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}',NULL,NULL,1795300330740,NULL);
INSERT INTO pins VALUES('filesystem','move','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','568c081a421fee5c8233c70d5a6bf51f50dd53629ebc6768d577a43ab82ce5ea','{"name":"move","title":"Move or rename","description":"Moves or renames a file, directory or symbolic link inside the workspace, making the parent directories of the destination. The destination is the full new path, not the directory to move into. An existing file there is replaced only with overwrite: true, a directory never.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["source","destination"],"type":"object","properties":{"source":{"description":"What to move, relative to the workspace. A symbolic link is moved itself.","type":"string"},"destination":{"description":"Its full new path, relative to the workspace.","type":"string"},"overwrite":{"description":"Replace a file that is at the destination. Default: false.","type":"boolean","default":false}},"additionalProperties":false},"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["source","destination","type","replaced"],"type":"object","properties":{"source":{"type":"string"},"destination":{"type":"string"},"type":{"type":"string","enum":["file","dir","symlink","fifo","socket","device","other"]},"replaced":{"description":"A file was at the destination and is gone.","type":"boolean"}}},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}',NULL,NULL,1795300330741,NULL);
INSERT INTO pins VALUES('filesystem','read_file','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','857275349ae365ca3efb07decbc5bf2143d10eee2d889d6eff002a9770373e69','{"name":"read_file","title":"Read a text file","description":"Reads a UTF-8 text file of the workspace, or some of its lines. The text comes back exactly as it is in the file, so that pieces of it can be used as old_text of edit_file. If there is more than fits, a note says which lines to ask for next. Binary files are refused with their type and size.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["path"],"type":"object","properties":{"path":{"description":"The file, relative to the workspace.","type":"string"},"start_line":{"description":"The first line to read; lines count from 1. Default: 1.","type":"integer","minimum":1},"end_line":{"description":"The last line to read, included. Default: the end of the file.","type":"integer","minimum":1},"line_numbers":{"description":"Put its number and a tab before each line. The numbers are not part of the file. Default: false.","type":"boolean","default":false}},"additionalProperties":false},"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["path","content","start_line","end_line","size_bytes"],"type":"object","properties":{"path":{"type":"string"},"content":{"description":"The text of the lines, without numbers.","type":"string"},"start_line":{"description":"The first line in `content`; 0 if the file is empty.","type":"integer","minimum":0},"end_line":{"description":"The last line in `content`; 0 if the file is empty.","type":"integer","minimum":0},"total_lines":{"description":"Missing if the file is so large that its lines were not counted.","type":"integer","minimum":0},"size_bytes":{"type":"integer","minimum":0},"next_start_line":{"description":"Where to go on reading, if the limit on a reply cut the requested range.","type":"integer","minimum":0},"line_cut":{"description":"The one line in `content` is longer than a reply, and its end is missing.","type":"boolean"}}},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}',NULL,NULL,1795300330739,NULL);
INSERT INTO pins VALUES('filesystem','search','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','41abbaed377d38b8c1d94c4a251d29bb8b5bd451f783fb625ed869fc4bed8e5b','{"name":"search","title":"Search in files","description":"Searches the text files of the workspace line by line for a regular expression (Rust syntax: no look-around and no back-references) and gives path, line number and line. What .gitignore and .ignore files name is passed over unless include_ignored is true; binary and very large files are skipped and counted.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["pattern"],"type":"object","properties":{"pattern":{"description":"The regular expression; it is matched within single lines.","type":"string"},"path":{"description":"The directory or file to search, relative to the workspace. Default: the workspace itself.","type":"string","default":"."},"glob":{"description":"Only files that match this glob, for example `*.rs` or `src/**/*.md`.","type":"string"},"literal":{"description":"The pattern is plain text and no regular expression. Default: false.","type":"boolean","default":false},"ignore_case":{"description":"Compare without case. Default: false.","type":"boolean","default":false},"context_lines":{"description":"Lines to show before and after each match. Default: 0.","type":"integer","minimum":0,"maximum":20,"default":0},"include_ignored":{"description":"Search what .gitignore names, and `.git`, too. Default: false.","type":"boolean","default":false},"limit":{"description":"At most this many matching lines. Default: 200.","type":"integer","minimum":1}},"additionalProperties":false},"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["matches","files_with_matches","files_searched","skipped_binary","skipped_too_large","skipped_unreadable","ignored","truncated"],"type":"object","properties":{"matches":{"type":"array","items":{"type":"object","properties":{"path":{"description":"Relative to the workspace.","type":"string"},"line":{"description":"Counts from 1.","type":"integer","minimum":0},"text":{"description":"The line, at most 400 bytes of it.","type":"string"},"before":{"type":"array","items":{"type":"string"}},"after":{"type":"array","items":{"type":"string"}}},"required":["path","line","text"]}},"files_with_matches":{"type":"integer","minimum":0},"files_searched":{"type":"integer","minimum":0},"skipped_binary":{"type":"integer","minimum":0},"skipped_too_large":{"type":"integer","minimum":0},"skipped_unreadable":{"description":"Files and directories that could not be read.","type":"integer","minimum":0},"ignored":{"description":"Entries that were passed over because an ignore file names them; what is in an ignored directory is not counted.","type":"integer","minimum":0},"truncated":{"description":"There are more matches than were returned.","type":"boolean"}}},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}',NULL,NULL,1795300330740,NULL);
INSERT INTO pins VALUES('filesystem','write_file','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','84d0ad581bc4400538a6f6c06fb4173a4f4e6896e6ffcc9c039d62198a5a95d2','{"name":"write_file","title":"Create or replace a file","description":"Writes a text file of the workspace as a whole: creates it, with its parent directories, or replaces what it held. To change a part of a file use edit_file. The write is atomic and keeps the permissions of a replaced file; through a symbolic link that leads to a place inside the workspace, the file it leads to is written.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["path","content"],"type":"object","properties":{"path":{"description":"The file, relative to the workspace.","type":"string"},"content":{"description":"The whole new text, written as it is.","type":"string"}},"additionalProperties":false},"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["path","created","size_bytes","directories_created"],"type":"object","properties":{"path":{"type":"string"},"created":{"description":"True if the file is new, false if it replaced one.","type":"boolean"},"size_bytes":{"type":"integer","minimum":0},"previous_size_bytes":{"description":"The size of the replaced file.","type":"integer","minimum":0},"directories_created":{"description":"Parent directories that were made.","type":"integer","minimum":0}}},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}}',NULL,NULL,1795300330740,NULL);
CREATE TABLE launches(
    server TEXT PRIMARY KEY, launch TEXT NOT NULL, era TEXT NOT NULL DEFAULT '', listed_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO launches VALUES('bash','1395fc9a1ed70880762216c4ca04ffd86345ccb2cbcb30c43d734cf036fc4a27','modern',1795300330738);
INSERT INTO launches VALUES('filesystem','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','modern',1795300330741);
CREATE TABLE artifacts(
    digest TEXT PRIMARY KEY, bytes INTEGER NOT NULL, mime TEXT NOT NULL, call TEXT NOT NULL, created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE usage(
    session TEXT NOT NULL,
    reply_seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    PRIMARY KEY(session, reply_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO usage VALUES('main',4,1795300330748,'demo','demo',0,0,0,0);
INSERT INTO usage VALUES('main',7,1795300330753,'demo','demo',0,0,0,0);
INSERT INTO usage VALUES('main',12,1795300330801,'demo','demo',0,0,0,0);
INSERT INTO usage VALUES('main',17,1795300331033,'demo','demo',0,0,0,0);
INSERT INTO usage VALUES('trip',4,1795300331088,'demo','demo',0,0,0,0);
CREATE TABLE updates(
    nr INTEGER PRIMARY KEY AUTOINCREMENT,
    bot INTEGER NOT NULL,
    id INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'kept',
    body TEXT NOT NULL,
    UNIQUE(bot, id)
) STRICT;
CREATE TABLE posted(
    address TEXT NOT NULL,
    message INTEGER NOT NULL,
    approval TEXT NOT NULL,
    state TEXT NOT NULL, file INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY(address, message)
) STRICT, WITHOUT ROWID;
CREATE TABLE drafts(
    address TEXT NOT NULL,
    message INTEGER NOT NULL,
    session TEXT NOT NULL,
    turn_seq INTEGER NOT NULL,
    step INTEGER NOT NULL,
    part INTEGER NOT NULL,
    PRIMARY KEY(address, message)
) STRICT, WITHOUT ROWID;
CREATE TABLE running(
    address TEXT NOT NULL,
    message INTEGER NOT NULL,
    session TEXT NOT NULL,
    title TEXT NOT NULL,
    PRIMARY KEY(address, message)
) STRICT, WITHOUT ROWID;
CREATE TABLE guests(
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    name TEXT NOT NULL,
    by TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY(bot, chat)
) STRICT, WITHOUT ROWID;
CREATE TABLE strangers(
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'new',
    address TEXT NOT NULL DEFAULT '',
    message INTEGER NOT NULL DEFAULT 0,
    decided_by TEXT NOT NULL DEFAULT '',
    decided_ms INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY(bot, chat)
) STRICT, WITHOUT ROWID;
CREATE TABLE blocked(
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    why TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY(bot, chat)
) STRICT, WITHOUT ROWID;
CREATE TABLE overheard(
    nr INTEGER PRIMARY KEY AUTOINCREMENT,
    address TEXT NOT NULL,
    at_s INTEGER NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('inbox',4);
INSERT INTO sqlite_sequence VALUES('audit',23);
INSERT INTO sqlite_sequence VALUES('outbox',7);
INSERT INTO sqlite_sequence VALUES('grants',1);
CREATE INDEX inbox_queued ON inbox(session, id) WHERE state = 'queued';
CREATE INDEX events_boundaries ON events(session, seq)
    WHERE type IN ('summary', 'window.dropped', 'session.cleared');
CREATE INDEX outbox_queued ON outbox(door, address, id) WHERE state = 'queued';
CREATE INDEX calls_open ON calls(session, state) WHERE state IN ('received', 'waiting', 'approved', 'started');
CREATE INDEX approvals_call ON approvals(call);
CREATE INDEX approvals_waiting ON approvals(session) WHERE state = 'waiting';
CREATE INDEX grants_live ON grants(server, tool) WHERE revoked_ms IS NULL;
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE INDEX updates_kept ON updates(bot, nr) WHERE state = 'kept';
CREATE INDEX outbox_of_door ON outbox(door, id) WHERE state IN ('queued', 'sending');
CREATE INDEX inbox_waiting ON inbox(session) WHERE state = 'queued';
CREATE INDEX posted_live ON posted(approval) WHERE state <> 'closed';
CREATE INDEX strangers_live ON strangers(bot, state) WHERE state IN ('new', 'let_in', 'ignored');
CREATE INDEX strangers_at ON strangers(bot, at_ms);
CREATE INDEX overheard_at ON overheard(address, nr);
COMMIT;
PRAGMA user_version=5;
