-- A store as the claw of schema 18 has left it, with rows in every table: a session `main` with a
-- grant, a session `trip` with a question that is open until 1795374649771. The rows of sessions,
-- calls and audit are of one home; the other tables have rows from homes of the program's tests.
-- Never changed: from this schema on every claw opens every store.
PRAGMA application_id = 0x636c6177;
PRAGMA user_version = 18;
BEGIN TRANSACTION;
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
INSERT INTO "approvals" VALUES('6w4hzakhw5','main:12:1','main','approved','{"approval":"6w4hzakhw5","call":{"session":"main","reply_seq":12,"block":1},"session":"main","server":"filesystem","tool":"write_file","arguments":[["content","bread and milk"],["path","notes/today.md"]],"why":"filesystem/write_file can change something (class.mutating)","expires_at_ms":1795374648607,"choices":[{"key":"y","label":"allow this one call","answer":{"kind":"allow","term":"once","scope":{"kind":"exact"}}},{"key":"10m","label":"allow filesystem/write_file with exactly these arguments, for 10 minutes","answer":{"kind":"allow","term":"ten_minutes","scope":{"kind":"exact"}}},{"key":"s","label":"allow filesystem/write_file with exactly these arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"exact"}}},{"key":"a","label":"allow filesystem/write_file with exactly these arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}}},{"key":"sb","label":"allow filesystem/write_file for any path at or below notes, whatever its other arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"below","path":"notes"}}},{"key":"ab","label":"allow filesystem/write_file for any path at or below notes, whatever its other arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"below","path":"notes"}}},{"key":"n","label":"deny this one call","answer":{"kind":"deny"}},{"key":"n WORDS","label":"deny this one call and tell the model WORDS","answer":{"kind":"deny"}},{"key":"never","label":"deny filesystem/write_file with exactly these arguments, now and always","answer":{"kind":"never"}}]}','console:uid:0','60e1a20df121b1899573080a17f8e7d6fee4da22d729ccbedf3962c7b0c1a019',1795360248617,1795374648607,1795360249227,'console:uid:0','{"kind":"allow","term":"always","scope":{"kind":"exact"}}');
INSERT INTO "approvals" VALUES('rv838x0rcf','trip:4:1','trip','waiting','{"approval":"rv838x0rcf","call":{"session":"trip","reply_seq":4,"block":1},"session":"trip","server":"filesystem","tool":"write_file","arguments":[["content","Lisbon"],["path","trip.md"]],"why":"filesystem/write_file can change something (class.mutating)","expires_at_ms":1795374649771,"choices":[{"key":"y","label":"allow this one call","answer":{"kind":"allow","term":"once","scope":{"kind":"exact"}}},{"key":"10m","label":"allow filesystem/write_file with exactly these arguments, for 10 minutes","answer":{"kind":"allow","term":"ten_minutes","scope":{"kind":"exact"}}},{"key":"s","label":"allow filesystem/write_file with exactly these arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"exact"}}},{"key":"a","label":"allow filesystem/write_file with exactly these arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}}},{"key":"n","label":"deny this one call","answer":{"kind":"deny"}},{"key":"n WORDS","label":"deny this one call and tell the model WORDS","answer":{"kind":"deny"}},{"key":"never","label":"deny filesystem/write_file with exactly these arguments, now and always","answer":{"kind":"never"}}]}','console:uid:0','eaa47e814c297b18e162675da986f93d1fe1fbd9cf7a88adaee1af05f085596d',1795360249771,1795374649771,NULL,NULL,NULL);
CREATE TABLE artifacts(
    digest TEXT PRIMARY KEY, bytes INTEGER NOT NULL, mime TEXT NOT NULL, call TEXT NOT NULL, created_ms INTEGER NOT NULL
, removed_ms INTEGER, removed_why TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
INSERT INTO "artifacts" VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',1,'','',1795359773027,1795359773027,'retention');
CREATE TABLE audit(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    call TEXT NOT NULL,
    body TEXT NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
INSERT INTO "audit" VALUES(1,1795360248201,'pinned','','{"pin":"09963d7d77f2552c2ae267d0e5df20f13da99a6c7756d2d4b3d127a0a5fa505f","server":"filesystem","tool":"read_file"}','0000000000000000000000000000000000000000000000000000000000000000','1675106489c127e9362245439fbb2750c4a3e7c1be5093ceeb38c9f74bb52aa9');
INSERT INTO "audit" VALUES(2,1795360248201,'pinned','','{"pin":"d669333005392ddca4aae234961a6af35eb4eb7a00a2627063bb526a64585e0f","server":"filesystem","tool":"write_file"}','1675106489c127e9362245439fbb2750c4a3e7c1be5093ceeb38c9f74bb52aa9','d84b6fd7b18fb0d63803c239b2ef8941cc31649f67a716e3bfa56254052fe3b1');
INSERT INTO "audit" VALUES(3,1795360248202,'pinned','','{"pin":"2ae811e46f19837b5e6514dada6145141bbe8d0d27a4341533428cc821c0a558","server":"filesystem","tool":"edit_file"}','d84b6fd7b18fb0d63803c239b2ef8941cc31649f67a716e3bfa56254052fe3b1','39363739328f6cc500f66278825b534547ef8d544523af78f17dcfcb3ecb4caa');
INSERT INTO "audit" VALUES(4,1795360248202,'pinned','','{"pin":"b21c1eb6209669140c9902a347c5943fdfa81a53d972d13221bb2f732248238f","server":"filesystem","tool":"list_dir"}','39363739328f6cc500f66278825b534547ef8d544523af78f17dcfcb3ecb4caa','c3ac9f9574c7283fe8b473e3f2aaad14f922a206ff7a71904e5641d33903c3ed');
INSERT INTO "audit" VALUES(5,1795360248202,'pinned','','{"pin":"76106c2329e1beee3444609ba62dfab7e7e0264fca79098a89b207abf1b5bdef","server":"filesystem","tool":"find"}','c3ac9f9574c7283fe8b473e3f2aaad14f922a206ff7a71904e5641d33903c3ed','5f1d7f9988c0173c16df6501505b79c79b65e21f3e62db5ab3a2f1fbe1828ae7');
INSERT INTO "audit" VALUES(6,1795360248202,'pinned','','{"pin":"72b0073cb97aae09784e59f577fbe56eb0b631998d79a8f204e8d224dc631f0a","server":"filesystem","tool":"search"}','5f1d7f9988c0173c16df6501505b79c79b65e21f3e62db5ab3a2f1fbe1828ae7','f05fb0abad4dd91db61e953307ebd32a72623e60b2772475fe70eaf25f94a50d');
INSERT INTO "audit" VALUES(7,1795360248202,'pinned','','{"pin":"2ebcf33ad8dab064a7dd85f48162815d20c1a51751322fd0b5a79eec5d1795a4","server":"filesystem","tool":"move"}','f05fb0abad4dd91db61e953307ebd32a72623e60b2772475fe70eaf25f94a50d','cd4c29b829f221c1e417c4560c450275248ebe13ff37c0fbd55b1a248e6b2068');
INSERT INTO "audit" VALUES(8,1795360248202,'pinned','','{"pin":"9c1186d76fa1d082d6d5e3a80c3b25a6d2c8205d6b9994fdd793401af5506d54","server":"filesystem","tool":"delete"}','cd4c29b829f221c1e417c4560c450275248ebe13ff37c0fbd55b1a248e6b2068','3ba29c2aecf7b287e45d864daef161e23b2fdaf05fd2a7590d47db0323f9ec6b');
INSERT INTO "audit" VALUES(9,1795360248236,'pinned','','{"pin":"352e615bfcfb9af8c13eb60d076edd9faf77e8380f230e80d7f0ac398f8edc9f","server":"bash","tool":"run"}','3ba29c2aecf7b287e45d864daef161e23b2fdaf05fd2a7590d47db0323f9ec6b','39392463ba990b226e5a372324551a4c20d34491d9a9c72926b38bd5c0f84180');
INSERT INTO "audit" VALUES(10,1795360248236,'pinned','','{"pin":"aee88a395e5980e570ee61e379b0d2d8cc5bd9da7f3ff4a72df6ace520e0589d","server":"bash","tool":"start"}','39392463ba990b226e5a372324551a4c20d34491d9a9c72926b38bd5c0f84180','0493ce1c8cc6633124cbc4e81132db76fdf88a9922487729bdb2c4a64b75d224');
INSERT INTO "audit" VALUES(11,1795360248236,'pinned','','{"pin":"1a2f9a71a852d1f85be34cfcb8c8c589bf969d47794b2fb2200a1a117ff10616","server":"bash","tool":"output"}','0493ce1c8cc6633124cbc4e81132db76fdf88a9922487729bdb2c4a64b75d224','be20930a6fa725c4209478bd8bf4be4be6545935422b2e78b6bc2dcba51fdf1e');
INSERT INTO "audit" VALUES(12,1795360248236,'pinned','','{"pin":"2731fa6432b73eb62929521817914cc9d1f87096674c24de1aae324d68789f61","server":"bash","tool":"stop"}','be20930a6fa725c4209478bd8bf4be4be6545935422b2e78b6bc2dcba51fdf1e','483cb15a06c382280f588cce76c9d4d0631bcf31c664d1d1e7349075c461602f');
INSERT INTO "audit" VALUES(13,1795360248236,'pinned','','{"pin":"eb6cd83776c13fa437695451b4998ed5a587a59f16ea5b61df452bb14cf4133b","server":"bash","tool":"list"}','483cb15a06c382280f588cce76c9d4d0631bcf31c664d1d1e7349075c461602f','3625ae69bc1861b8bcac9d2c58fe57750d6a155ce7bfc6c55812e0ed52033942');
INSERT INTO "audit" VALUES(14,1795360248305,'received','main:4:1','{"arguments":{"path":"."},"origin":"owner","principal":"console:uid:0","server":"filesystem","session":"main","tool":"list_dir"}','3625ae69bc1861b8bcac9d2c58fe57750d6a155ce7bfc6c55812e0ed52033942','d7d708be1b3191b7f479a4cc78c46fd6517abc3f6d7580d75e784b3867fe5d9c');
INSERT INTO "audit" VALUES(15,1795360248374,'verdict','main:4:1','{"rule":"class.safe","verdict":"allow","why":"filesystem/list_dir only reads"}','d7d708be1b3191b7f479a4cc78c46fd6517abc3f6d7580d75e784b3867fe5d9c','ebeb595e876939a5e6d44d2e6c020e6bbfc874d9e855d722eb7ec34b856526ac');
INSERT INTO "audit" VALUES(16,1795360248374,'started','main:4:1','{"digest":"3b826279f93fca614c175c293ed9a097324df2fd330e4fea814e9b2f1c0e32fb","pin":"b21c1eb6209669140c9902a347c5943fdfa81a53d972d13221bb2f732248238f"}','ebeb595e876939a5e6d44d2e6c020e6bbfc874d9e855d722eb7ec34b856526ac','d86c8f4d59675c5c6afdc0432dc83a888806442e5dbd47e634ce6f30a38125fb');
INSERT INTO "audit" VALUES(17,1795360248413,'ended','main:4:1','{"is_error":false,"outcome":"ended","result_bytes":27}','d86c8f4d59675c5c6afdc0432dc83a888806442e5dbd47e634ce6f30a38125fb','40434bdd345cae27ed78929e55791728dbf39e91fab5cf2547f1342122a813c4');
INSERT INTO "audit" VALUES(18,1795360248529,'received','main:12:1','{"arguments":{"content":"bread and milk","path":"notes/today.md"},"origin":"owner","principal":"console:uid:0","server":"filesystem","session":"main","tool":"write_file"}','40434bdd345cae27ed78929e55791728dbf39e91fab5cf2547f1342122a813c4','9f9a86ce2c64542453927600285e541f6edde503f82116b86ddac84b7a67c4f7');
INSERT INTO "audit" VALUES(19,1795360248617,'verdict','main:12:1','{"rule":"class.mutating","verdict":"ask","why":"filesystem/write_file can change something"}','9f9a86ce2c64542453927600285e541f6edde503f82116b86ddac84b7a67c4f7','817854d74a67c482033d3fab2124cfbaf79b3fba4fcb790d6ba94fcfcb585522');
INSERT INTO "audit" VALUES(20,1795360248617,'asked','main:12:1','{"approval":"6w4hzakhw5","digest":"60e1a20df121b1899573080a17f8e7d6fee4da22d729ccbedf3962c7b0c1a019"}','817854d74a67c482033d3fab2124cfbaf79b3fba4fcb790d6ba94fcfcb585522','76f815b934ada167347aa92a534716d923899c5b20dd46a51bfe3cdde43a54ab');
INSERT INTO "audit" VALUES(21,1795360249237,'answered','main:12:1','{"answer":{"kind":"allow","scope":{"kind":"exact"},"term":"always"},"approval":"6w4hzakhw5","by":"console:uid:0","digest":"60e1a20df121b1899573080a17f8e7d6fee4da22d729ccbedf3962c7b0c1a019","grant":{"effect":"allow","id":1,"says":"filesystem/write_file with exactly these arguments: {\"content\":\"bread and milk\",\"path\":\"notes/today.md\"}"}}','76f815b934ada167347aa92a534716d923899c5b20dd46a51bfe3cdde43a54ab','84ee24955b158b3f6c580dc27acf1ba11b5b5a96ba3b0d65988ecad5ebffc502');
INSERT INTO "audit" VALUES(22,1795360249405,'verdict','main:12:1','{"rule":"approval.6w4hzakhw5","verdict":"allow","why":"console:uid:0 allowed it"}','84ee24955b158b3f6c580dc27acf1ba11b5b5a96ba3b0d65988ecad5ebffc502','27ccdbdf3e34385e3d79eebe0d0661f3dac52210ac4c5cd1da57f5ccc88cd7f6');
INSERT INTO "audit" VALUES(23,1795360249405,'started','main:12:1','{"digest":"60e1a20df121b1899573080a17f8e7d6fee4da22d729ccbedf3962c7b0c1a019","pin":"d669333005392ddca4aae234961a6af35eb4eb7a00a2627063bb526a64585e0f"}','27ccdbdf3e34385e3d79eebe0d0661f3dac52210ac4c5cd1da57f5ccc88cd7f6','acc2528d93d961e177359b5e0101903a24799c2997eafccebfc18499d8e58181');
INSERT INTO "audit" VALUES(24,1795360249455,'ended','main:12:1','{"is_error":false,"outcome":"ended","result_bytes":61}','acc2528d93d961e177359b5e0101903a24799c2997eafccebfc18499d8e58181','709bf3d63e0dace6bfe5851fb6134b4c4a6433e7ee37bc7a00d85baa6cd35e2f');
INSERT INTO "audit" VALUES(25,1795360249677,'received','trip:4:1','{"arguments":{"content":"Lisbon","path":"trip.md"},"origin":"owner","principal":"console:uid:0","server":"filesystem","session":"trip","tool":"write_file"}','709bf3d63e0dace6bfe5851fb6134b4c4a6433e7ee37bc7a00d85baa6cd35e2f','243fc255db66a0808568c727bcc398bd53bc1d1bc43527964add7a6cc4d59f75');
INSERT INTO "audit" VALUES(26,1795360249771,'verdict','trip:4:1','{"rule":"class.mutating","verdict":"ask","why":"filesystem/write_file can change something"}','243fc255db66a0808568c727bcc398bd53bc1d1bc43527964add7a6cc4d59f75','bf541b984aec72082c63dd7a6579d54097b256a43bccd18fb324a6da5788f5ed');
INSERT INTO "audit" VALUES(27,1795360249772,'asked','trip:4:1','{"approval":"rv838x0rcf","digest":"eaa47e814c297b18e162675da986f93d1fe1fbd9cf7a88adaee1af05f085596d"}','bf541b984aec72082c63dd7a6579d54097b256a43bccd18fb324a6da5788f5ed','b40fd3d82edd1d124aca8b7788b14a2b739e8c4d03ffcac9d2fb1b1bee6de568');
CREATE TABLE blocked(
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    why TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY(bot, chat)
) STRICT, WITHOUT ROWID;
INSERT INTO "blocked" VALUES(700000001,9002,'Forbidden: bot was blocked by the user',1795359857965);
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
INSERT INTO "calls" VALUES('main:12:1','main','filesystem','write_file','{"content":"bread and milk","path":"notes/today.md"}','owner','console:uid:0','ended','d669333005392ddca4aae234961a6af35eb4eb7a00a2627063bb526a64585e0f','/home/anna/.claw/workspace','','a4af0f96ba23dbcd38c28ff1d892edbd8641b36b31593c6647ceae3170fe831e','60e1a20df121b1899573080a17f8e7d6fee4da22d729ccbedf3962c7b0c1a019','class.mutating','{"kind":"ended","output":{"text":"Created `notes/today.md`: 14 bytes, and 1 parent directories.","structured":{"path":"notes/today.md","created":true,"size_bytes":14,"directories_created":1},"is_error":false}}',NULL,1795360248509,1795360249405,1795360249454);
INSERT INTO "calls" VALUES('main:4:1','main','filesystem','list_dir','{"path":"."}','owner','console:uid:0','ended','b21c1eb6209669140c9902a347c5943fdfa81a53d972d13221bb2f732248238f','/home/anna/.claw/workspace','','a4af0f96ba23dbcd38c28ff1d892edbd8641b36b31593c6647ceae3170fe831e','3b826279f93fca614c175c293ed9a097324df2fd330e4fea814e9b2f1c0e32fb','class.safe','{"kind":"ended","output":{"text":"`.` is an empty directory.\n","structured":{"path":".","entries":[],"truncated":false},"is_error":false}}',NULL,1795360248248,1795360248373,1795360248413);
INSERT INTO "calls" VALUES('trip:4:1','trip','filesystem','write_file','{"content":"Lisbon","path":"trip.md"}','owner','console:uid:0','waiting','d669333005392ddca4aae234961a6af35eb4eb7a00a2627063bb526a64585e0f','/home/anna/.claw/workspace','','a4af0f96ba23dbcd38c28ff1d892edbd8641b36b31593c6647ceae3170fe831e','eaa47e814c297b18e162675da986f93d1fe1fbd9cf7a88adaee1af05f085596d','class.mutating',NULL,NULL,1795360249661,NULL,NULL);
CREATE TABLE drafts(
    address TEXT NOT NULL,
    message INTEGER NOT NULL,
    session TEXT NOT NULL,
    turn_seq INTEGER NOT NULL,
    step INTEGER NOT NULL,
    part INTEGER NOT NULL,
    PRIMARY KEY(address, message)
) STRICT, WITHOUT ROWID;
INSERT INTO "drafts" VALUES('telegram/4711000001/5000001001',2,'telegram.4711000001.5000001001',1,1,0);
CREATE TABLE events(
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY(session, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO "events" VALUES('main',1,1795360248031,'turn.started','{"type":"turn.started","origin":"owner","principal":"console:uid:0"}');
INSERT INTO "events" VALUES('main',2,1795360248031,'user.message','{"type":"user.message","blocks":[{"type":"text","text":"list"}],"inbox_id":1,"from":"console/9b4b82b0e32a6b71","origin":"owner"}');
INSERT INTO "events" VALUES('main',3,1795360248246,'prompt.packed','{"type":"prompt.packed","from_seq":1,"dropped_events":0,"estimated_tokens":9}');
INSERT INTO "events" VALUES('main',4,1795360248246,'model.reply','{"type":"model.reply","blocks":[{"type":"text","text":"I''ll list `.`."},{"type":"tool_use","id":"demo_1_0","name":"filesystem__list_dir","input":{"path":"."}}],"finish":{"kind":"tool_use"},"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"cache_write_tokens":0},"provider":"demo","model":"demo"}');
INSERT INTO "events" VALUES('main',5,1795360248399,'tool.result','{"type":"tool.result","call":{"session":"main","reply_seq":4,"block":1},"outcome":{"kind":"ended","output":{"text":"`.` is an empty directory.\n","structured":{"path":".","entries":[],"truncated":false},"is_error":false}}}');
INSERT INTO "events" VALUES('main',6,1795360248421,'prompt.packed','{"type":"prompt.packed","from_seq":1,"dropped_events":0,"estimated_tokens":60}');
INSERT INTO "events" VALUES('main',7,1795360248421,'model.reply','{"type":"model.reply","blocks":[{"type":"text","text":"Listing `.`:\n\n```text\n`.` is an empty directory.\n```\n\n*This was the built-in demo: a small fixed grammar, no language model. Say `help` for what it knows. For a real model, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY (or start Ollama) and start claw again.*"}],"finish":{"kind":"complete"},"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"cache_write_tokens":0},"provider":"demo","model":"demo"}');
INSERT INTO "events" VALUES('main',8,1795360248421,'turn.ended','{"type":"turn.ended","end":{"kind":"answered"}}');
INSERT INTO "events" VALUES('main',9,1795360248505,'turn.started','{"type":"turn.started","origin":"owner","principal":"console:uid:0"}');
INSERT INTO "events" VALUES('main',10,1795360248505,'user.message','{"type":"user.message","blocks":[{"type":"text","text":"write notes/today.md: bread and milk"}],"inbox_id":2,"from":"console/e4a60c27e4b0a850","origin":"owner"}');
INSERT INTO "events" VALUES('main',11,1795360248508,'prompt.packed','{"type":"prompt.packed","from_seq":1,"dropped_events":0,"estimated_tokens":153}');
INSERT INTO "events" VALUES('main',12,1795360248508,'model.reply','{"type":"model.reply","blocks":[{"type":"text","text":"I''ll write `notes/today.md`."},{"type":"tool_use","id":"demo_5_0","name":"filesystem__write_file","input":{"path":"notes/today.md","content":"bread and milk"}}],"finish":{"kind":"tool_use"},"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"cache_write_tokens":0},"provider":"demo","model":"demo"}');
INSERT INTO "events" VALUES('main',13,1795360248625,'call.parked','{"type":"call.parked","call":{"session":"main","reply_seq":12,"block":1},"approval":"6w4hzakhw5"}');
INSERT INTO "events" VALUES('main',14,1795360249267,'call.answered','{"type":"call.answered","call":{"session":"main","reply_seq":12,"block":1},"approval":"6w4hzakhw5","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}},"by":"console:uid:0"}');
INSERT INTO "events" VALUES('main',15,1795360249434,'tool.result','{"type":"tool.result","call":{"session":"main","reply_seq":12,"block":1},"outcome":{"kind":"ended","output":{"text":"Created `notes/today.md`: 14 bytes, and 1 parent directories.","structured":{"path":"notes/today.md","created":true,"size_bytes":14,"directories_created":1},"is_error":false}}}');
INSERT INTO "events" VALUES('main',16,1795360249465,'prompt.packed','{"type":"prompt.packed","from_seq":1,"dropped_events":0,"estimated_tokens":227}');
INSERT INTO "events" VALUES('main',17,1795360249465,'model.reply','{"type":"model.reply","blocks":[{"type":"text","text":"Writing `notes/today.md`:\n\n```text\nCreated `notes/today.md`: 14 bytes, and 1 parent directories.\n```"}],"finish":{"kind":"complete"},"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"cache_write_tokens":0},"provider":"demo","model":"demo"}');
INSERT INTO "events" VALUES('main',18,1795360249466,'turn.ended','{"type":"turn.ended","end":{"kind":"answered"}}');
INSERT INTO "events" VALUES('trip',1,1795360249652,'turn.started','{"type":"turn.started","origin":"owner","principal":"console:uid:0"}');
INSERT INTO "events" VALUES('trip',2,1795360249652,'user.message','{"type":"user.message","blocks":[{"type":"text","text":"write trip.md: Lisbon"}],"inbox_id":4,"from":"console/d72ae8e41f2ad69f","origin":"owner"}');
INSERT INTO "events" VALUES('trip',3,1795360249661,'prompt.packed','{"type":"prompt.packed","from_seq":1,"dropped_events":0,"estimated_tokens":14}');
INSERT INTO "events" VALUES('trip',4,1795360249661,'model.reply','{"type":"model.reply","blocks":[{"type":"text","text":"I''ll write `trip.md`."},{"type":"tool_use","id":"demo_1_0","name":"filesystem__write_file","input":{"path":"trip.md","content":"Lisbon"}}],"finish":{"kind":"tool_use"},"usage":{"input_tokens":0,"output_tokens":0,"cached_tokens":0,"cache_write_tokens":0},"provider":"demo","model":"demo"}');
INSERT INTO "events" VALUES('trip',5,1795360249777,'call.parked','{"type":"call.parked","call":{"session":"trip","reply_seq":4,"block":1},"approval":"rv838x0rcf"}');
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
, boot TEXT NOT NULL DEFAULT '', boot_ends_ms INTEGER) STRICT;
INSERT INTO "grants" VALUES(1,'allow','console:uid:0',NULL,'filesystem','write_file','{"kind":"exact","digest":"5d4d8a899dafe9ec817c84578fb54c47d7548bd99e63b93928558a66885053b9"}','owner','filesystem/write_file with exactly these arguments: {"content":"bread and milk","path":"notes/today.md"}',1795360249228,NULL,NULL,'6w4hzakhw5','288fd945-2818-42ae-887e-28af2c41e8b1',NULL);
CREATE TABLE guests(
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    name TEXT NOT NULL,
    by TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY(bot, chat)
) STRICT, WITHOUT ROWID;
INSERT INTO "guests" VALUES(4711000001,5000001002,'Bob','telegram:5000001001',1795359795383);
CREATE TABLE inbox(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued'
) STRICT;
INSERT INTO "inbox" VALUES(1,'main','message',1795360248029,'{"session":"main","from":"console/9b4b82b0e32a6b71","principal":"console:uid:0","origin":"owner","body":{"type":"message","blocks":[{"type":"text","text":"list"}]}}','absorbed');
INSERT INTO "inbox" VALUES(2,'main','message',1795360248477,'{"session":"main","from":"console/e4a60c27e4b0a850","principal":"console:uid:0","origin":"owner","body":{"type":"message","blocks":[{"type":"text","text":"write notes/today.md: bread and milk"}]}}','absorbed');
INSERT INTO "inbox" VALUES(3,'main','answered',1795360249237,'{"session":"main","from":"gate/answer","principal":"console:uid:0","origin":"owner","body":{"type":"answered","approval":"6w4hzakhw5","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}},"by":"console:uid:0"}}','absorbed');
INSERT INTO "inbox" VALUES(4,'trip','message',1795360249604,'{"session":"trip","from":"console/d72ae8e41f2ad69f","principal":"console:uid:0","origin":"owner","body":{"type":"message","blocks":[{"type":"text","text":"write trip.md: Lisbon"}]}}','absorbed');
CREATE TABLE kept_windows(
    session TEXT PRIMARY KEY, form TEXT NOT NULL, from_seq INTEGER NOT NULL, through_seq INTEGER NOT NULL,
    digest TEXT NOT NULL, body TEXT NOT NULL
) STRICT;
INSERT INTO "kept_windows" VALUES('telegram.4711000001.5000001001','1 of 0.1.0',1,1,'b723ce712141e187e1bf31b08164d8dd5de66fede9cd074ed969c64bdfe3778d','[{"TurnStarted":[1,1795359777775,"owner","console:uid:0",null]}]');
CREATE TABLE launches(
    server TEXT PRIMARY KEY, launch TEXT NOT NULL, era TEXT NOT NULL DEFAULT '', listed_ms INTEGER NOT NULL
, knows_instructions INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO "launches" VALUES('bash','1395fc9a1ed70880762216c4ca04ffd86345ccb2cbcb30c43d734cf036fc4a27','modern',1795360248237,1);
INSERT INTO "launches" VALUES('filesystem','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','modern',1795360248202,1);
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('audit.head','27:b40fd3d82edd1d124aca8b7788b14a2b739e8c4d03ffcac9d2fb1b1bee6de568');
INSERT INTO "meta" VALUES('clock.believed','1795360248442');
INSERT INTO "meta" VALUES('pins.changes','13');
INSERT INTO "meta" VALUES('pins.version','0.1.0 138391136:1795359701224155729');
INSERT INTO "meta" VALUES('spent.day','2026-11-22 0 0');
INSERT INTO "meta" VALUES('told.retention','1795360248442');
CREATE TABLE moved_chats(
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    now INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY(bot, chat)
) STRICT, WITHOUT ROWID;
INSERT INTO "moved_chats" VALUES(4711000001,-1002,-1000000001003,1795359863390);
CREATE TABLE outbox(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    door TEXT NOT NULL,
    address TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued'
, parts_sent INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "outbox" VALUES(1,'main','console','console/9b4b82b0e32a6b71',1795360248305,'{"session":"main","to":"console/9b4b82b0e32a6b71","body":{"type":"said","turn_seq":1,"step":1,"text":"I''ll list `.`.","partial":false}}','sent',0);
INSERT INTO "outbox" VALUES(2,'main','console','console/9b4b82b0e32a6b71',1795360248421,'{"session":"main","to":"console/9b4b82b0e32a6b71","body":{"type":"reply","turn_seq":1,"step":2,"text":"Listing `.`:\n\n```text\n`.` is an empty directory.\n```\n\n*This was the built-in demo: a small fixed grammar, no language model. Say `help` for what it knows. For a real model, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY (or start Ollama) and start claw again.*"}}','sent',0);
INSERT INTO "outbox" VALUES(3,'main','console','console/e4a60c27e4b0a850',1795360248529,'{"session":"main","to":"console/e4a60c27e4b0a850","body":{"type":"said","turn_seq":9,"step":1,"text":"I''ll write `notes/today.md`.","partial":false}}','sent',0);
INSERT INTO "outbox" VALUES(4,'main','console','console/e4a60c27e4b0a850',1795360248628,'{"session":"main","to":"console/e4a60c27e4b0a850","body":{"type":"question","turn_seq":9,"question":{"approval":"6w4hzakhw5","call":{"session":"main","reply_seq":12,"block":1},"session":"main","server":"filesystem","tool":"write_file","arguments":[["content","bread and milk"],["path","notes/today.md"]],"why":"filesystem/write_file can change something (class.mutating)","expires_at_ms":1795374648607,"choices":[{"key":"y","label":"allow this one call","answer":{"kind":"allow","term":"once","scope":{"kind":"exact"}}},{"key":"10m","label":"allow filesystem/write_file with exactly these arguments, for 10 minutes","answer":{"kind":"allow","term":"ten_minutes","scope":{"kind":"exact"}}},{"key":"s","label":"allow filesystem/write_file with exactly these arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"exact"}}},{"key":"a","label":"allow filesystem/write_file with exactly these arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}}},{"key":"sb","label":"allow filesystem/write_file for any path at or below notes, whatever its other arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"below","path":"notes"}}},{"key":"ab","label":"allow filesystem/write_file for any path at or below notes, whatever its other arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"below","path":"notes"}}},{"key":"n","label":"deny this one call","answer":{"kind":"deny"}},{"key":"n WORDS","label":"deny this one call and tell the model WORDS","answer":{"kind":"deny"}},{"key":"never","label":"deny filesystem/write_file with exactly these arguments, now and always","answer":{"kind":"never"}}]}}}','sent',0);
INSERT INTO "outbox" VALUES(5,'main','console','console/4b0108ef3287ba88',1795360249473,'{"session":"main","to":"console/e4a60c27e4b0a850","body":{"type":"reply","turn_seq":9,"step":2,"text":"Writing `notes/today.md`:\n\n```text\nCreated `notes/today.md`: 14 bytes, and 1 parent directories.\n```"}}','sent',0);
INSERT INTO "outbox" VALUES(6,'trip','console','console/d72ae8e41f2ad69f',1795360249677,'{"session":"trip","to":"console/d72ae8e41f2ad69f","body":{"type":"said","turn_seq":1,"step":1,"text":"I''ll write `trip.md`.","partial":false}}','sent',0);
INSERT INTO "outbox" VALUES(7,'trip','console','console/d72ae8e41f2ad69f',1795360249778,'{"session":"trip","to":"console/d72ae8e41f2ad69f","body":{"type":"question","turn_seq":1,"question":{"approval":"rv838x0rcf","call":{"session":"trip","reply_seq":4,"block":1},"session":"trip","server":"filesystem","tool":"write_file","arguments":[["content","Lisbon"],["path","trip.md"]],"why":"filesystem/write_file can change something (class.mutating)","expires_at_ms":1795374649771,"choices":[{"key":"y","label":"allow this one call","answer":{"kind":"allow","term":"once","scope":{"kind":"exact"}}},{"key":"10m","label":"allow filesystem/write_file with exactly these arguments, for 10 minutes","answer":{"kind":"allow","term":"ten_minutes","scope":{"kind":"exact"}}},{"key":"s","label":"allow filesystem/write_file with exactly these arguments, until this session ends or /new","answer":{"kind":"allow","term":"session","scope":{"kind":"exact"}}},{"key":"a","label":"allow filesystem/write_file with exactly these arguments, until you revoke it","answer":{"kind":"allow","term":"always","scope":{"kind":"exact"}}},{"key":"n","label":"deny this one call","answer":{"kind":"deny"}},{"key":"n WORDS","label":"deny this one call and tell the model WORDS","answer":{"kind":"deny"}},{"key":"never","label":"deny filesystem/write_file with exactly these arguments, now and always","answer":{"kind":"never"}}]}}}','sent',0);
CREATE TABLE overheard(
    nr INTEGER PRIMARY KEY AUTOINCREMENT,
    address TEXT NOT NULL,
    at_s INTEGER NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
INSERT INTO "overheard" VALUES(1,'telegram/700000001/-9003',1795359857,'Ben','I am late');
CREATE TABLE pin_forms(
    server TEXT NOT NULL, tool TEXT NOT NULL, pin TEXT NOT NULL, raw TEXT NOT NULL, at_ms INTEGER NOT NULL,
    PRIMARY KEY(server, tool, pin)
) STRICT, WITHOUT ROWID;
INSERT INTO "pin_forms" VALUES('legacy','echo','a92b79f4ae4944ec14020b23b5005966ddb925478da3d6ca6800c63f9e6bd6e8','{"name":"echo","description":"Says it again, calm.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"x-unknown":1}',1795359886888);
CREATE TABLE pin_questions(
    id TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    forms TEXT NOT NULL,
    shown TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'new',
    address TEXT NOT NULL DEFAULT '',
    message INTEGER NOT NULL DEFAULT 0,
    decided_by TEXT NOT NULL DEFAULT '',
    decided_ms INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO "pin_questions" VALUES('fwcyyhzrke','legacy','[["echo","6d7900d75600043a73d705d019f32e31114ba775d513e8f830942c62b3c88fdd"]]','legacy/echo
description:
- Says it again, calm.
+ Says it again, changed.',1795359886696,'closed','telegram/4711000001/5000001001',4,'telegram:5000001001',1795359886888);
CREATE TABLE pins(
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    launch TEXT NOT NULL,
    pin TEXT NOT NULL,
    raw TEXT NOT NULL,
    new_pin TEXT,
    new_raw TEXT,
    seen_ms INTEGER NOT NULL, shown_pin TEXT, withheld INTEGER NOT NULL DEFAULT 0, told_pin TEXT,
    PRIMARY KEY(server, tool)
) STRICT, WITHOUT ROWID;
INSERT INTO "pins" VALUES('bash','list','1395fc9a1ed70880762216c4ca04ffd86345ccb2cbcb30c43d734cf036fc4a27','eb6cd83776c13fa437695451b4998ed5a587a59f16ea5b61df452bb14cf4133b','{"name":"list","title":"List the jobs","description":"The background jobs of this server: running ones, and the last that have ended.","inputSchema":{"additionalProperties":false,"type":"object","properties":{}},"outputSchema":{"$defs":{"JobResult":{"description":"How a job is doing.","type":"object","properties":{"job":{"type":"integer","minimum":0},"command":{"type":"string"},"running":{"type":"boolean"},"exit_code":{"description":"The exit code; null while it runs, and if a signal ended it.","type":["integer","null"]},"signal":{"description":"The signal that ended it, for example SIGKILL.","type":["string","null"]},"duration_ms":{"type":"integer","minimum":0},"output":{"description":"What it has written since the last look: standard output and standard error together.","type":"string"},"left_out_bytes":{"description":"Bytes since the last look that are not in `output`, because there were too many.","type":"integer","minimum":0},"output_bytes":{"description":"Size of everything that it has written.","type":"integer","minimum":0},"output_file":{"description":"The file with the whole output, if there is one: an absolute path, which commands can read.","type":["string","null"]}},"required":["job","command","running","exit_code","signal","duration_ms","output","left_out_bytes","output_bytes","output_file"]}},"type":"object","properties":{"jobs":{"description":"The jobs, the oldest first; without their output.","type":"array","items":{"$ref":"#/$defs/JobResult"}}},"required":["jobs"]},"annotations":{"title":"List the jobs","readOnlyHint":true,"openWorldHint":false}}',NULL,NULL,1795360248236,NULL,0,NULL);
INSERT INTO "pins" VALUES('bash','output','1395fc9a1ed70880762216c4ca04ffd86345ccb2cbcb30c43d734cf036fc4a27','1a2f9a71a852d1f85be34cfcb8c8c589bf969d47794b2fb2200a1a117ff10616','{"name":"output","title":"Look at a job","description":"What a background job has written since the last look, whether it still runs, and how it ended. Can wait for something new.","inputSchema":{"required":["job"],"type":"object","properties":{"job":{"description":"The number of the job.","type":"integer","minimum":0},"wait_s":{"description":"Seconds to wait for something new, or for the end; 0 to 60, default 0.","type":"integer","minimum":0,"default":0}},"additionalProperties":false},"outputSchema":{"required":["job","command","running","exit_code","signal","duration_ms","output","left_out_bytes","output_bytes","output_file"],"properties":{"job":{"type":"integer","minimum":0},"command":{"type":"string"},"running":{"type":"boolean"},"exit_code":{"description":"The exit code; null while it runs, and if a signal ended it.","type":["integer","null"]},"signal":{"description":"The signal that ended it, for example SIGKILL.","type":["string","null"]},"duration_ms":{"type":"integer","minimum":0},"output":{"description":"What it has written since the last look: standard output and standard error together.","type":"string"},"left_out_bytes":{"description":"Bytes since the last look that are not in `output`, because there were too many.","type":"integer","minimum":0},"output_bytes":{"description":"Size of everything that it has written.","type":"integer","minimum":0},"output_file":{"description":"The file with the whole output, if there is one: an absolute path, which commands can read.","type":["string","null"]}},"type":"object"},"annotations":{"title":"Look at a job","readOnlyHint":true,"openWorldHint":false}}',NULL,NULL,1795360248236,NULL,0,NULL);
INSERT INTO "pins" VALUES('bash','run','1395fc9a1ed70880762216c4ca04ffd86345ccb2cbcb30c43d734cf036fc4a27','352e615bfcfb9af8c13eb60d076edd9faf77e8380f230e80d7f0ac398f8edc9f','{"name":"run","title":"Run a shell command","description":"Run a shell command (bash) in the workspace and return its exit code and its output, standard output and standard error together. The operating system confines it: it can read and write the workspace (also its HOME) and a private TMPDIR, and read system files; everything else, the user''s own home and Unix sockets included, is refused with \"Permission denied\", and trying again does not help. It has no terminal and no input, and a cleared environment. It is killed after timeout_s seconds (default 115, at most 115). Background processes are killed when the command ends: what is to stay is started with the tool `start`. Of output over 16384 bytes you get the head and the tail, and the name of a file outside of the workspace that has all of it and that commands can read; of all such files the oldest make room for new ones.","inputSchema":{"required":["command"],"additionalProperties":false,"type":"object","properties":{"command":{"description":"The command line, as you would type it into bash. Standard input is empty.","type":"string"},"timeout_s":{"description":"Seconds after which the command is killed. Default and maximum are in the tool''s\ndescription.","type":["integer","null"],"minimum":0,"default":null},"cwd":{"description":"Directory to run in, inside the workspace and relative to it. Default: the workspace itself.","type":["string","null"],"default":null}}},"outputSchema":{"required":["exit_code","signal","duration_ms","timed_out","truncated","output_bytes","output","output_file","confined","box"],"properties":{"exit_code":{"description":"The exit code; null if a signal ended the command.","type":["integer","null"]},"signal":{"description":"The signal that ended it, for example SIGKILL.","type":["string","null"]},"duration_ms":{"type":"integer","minimum":0},"timed_out":{"description":"Whether it was killed because its time was up.","type":"boolean"},"truncated":{"description":"Whether `output` leaves out a part of the output.","type":"boolean"},"output_bytes":{"description":"Size of the whole output.","type":"integer","minimum":0},"output":{"description":"Standard output and standard error in the order in which they came; head and tail if\ntruncated.","type":"string"},"output_file":{"description":"The file with the whole output, if there is one: an absolute path, which commands can read.","type":["string","null"]},"confined":{"description":"Whether the operating system kept the command inside the workspace.","type":"boolean"},"box":{"description":"How: Landlock''s ABI and seccomp, or none.","type":"string"}},"type":"object"},"annotations":{"title":"Run a shell command","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}}',NULL,NULL,1795360248236,NULL,0,NULL);
INSERT INTO "pins" VALUES('bash','start','1395fc9a1ed70880762216c4ca04ffd86345ccb2cbcb30c43d734cf036fc4a27','aee88a395e5980e570ee61e379b0d2d8cc5bd9da7f3ff4a72df6ace520e0589d','{"name":"start","title":"Start a job","description":"Start a shell command (bash) in the background of the workspace, for example a server, a watcher or a long build, and return at once with the number of the job. It is confined like `run`. It lives until it ends, until `stop`, or until claw ends: it does not survive a restart. At most 8 run at the same time; all conversations of this claw share them.","inputSchema":{"required":["command"],"type":"object","properties":{"command":{"description":"The command line, as you would type it into bash. Standard input is empty.","type":"string"},"cwd":{"description":"Directory to run in, inside the workspace and relative to it. Default: the workspace itself.","type":["string","null"],"default":null}},"additionalProperties":false},"outputSchema":{"required":["job","command","running","exit_code","signal","duration_ms","output","left_out_bytes","output_bytes","output_file"],"properties":{"job":{"type":"integer","minimum":0},"command":{"type":"string"},"running":{"type":"boolean"},"exit_code":{"description":"The exit code; null while it runs, and if a signal ended it.","type":["integer","null"]},"signal":{"description":"The signal that ended it, for example SIGKILL.","type":["string","null"]},"duration_ms":{"type":"integer","minimum":0},"output":{"description":"What it has written since the last look: standard output and standard error together.","type":"string"},"left_out_bytes":{"description":"Bytes since the last look that are not in `output`, because there were too many.","type":"integer","minimum":0},"output_bytes":{"description":"Size of everything that it has written.","type":"integer","minimum":0},"output_file":{"description":"The file with the whole output, if there is one: an absolute path, which commands can read.","type":["string","null"]}},"type":"object"},"annotations":{"title":"Start a job","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}}',NULL,NULL,1795360248236,NULL,0,NULL);
INSERT INTO "pins" VALUES('bash','stop','1395fc9a1ed70880762216c4ca04ffd86345ccb2cbcb30c43d734cf036fc4a27','2731fa6432b73eb62929521817914cc9d1f87096674c24de1aae324d68789f61','{"name":"stop","title":"Stop a job","description":"Kill a background job with everything that it started, and return the rest of its output.","inputSchema":{"required":["job"],"type":"object","properties":{"job":{"description":"The number of the job.","type":"integer","minimum":0}},"additionalProperties":false},"outputSchema":{"required":["job","command","running","exit_code","signal","duration_ms","output","left_out_bytes","output_bytes","output_file"],"properties":{"job":{"type":"integer","minimum":0},"command":{"type":"string"},"running":{"type":"boolean"},"exit_code":{"description":"The exit code; null while it runs, and if a signal ended it.","type":["integer","null"]},"signal":{"description":"The signal that ended it, for example SIGKILL.","type":["string","null"]},"duration_ms":{"type":"integer","minimum":0},"output":{"description":"What it has written since the last look: standard output and standard error together.","type":"string"},"left_out_bytes":{"description":"Bytes since the last look that are not in `output`, because there were too many.","type":"integer","minimum":0},"output_bytes":{"description":"Size of everything that it has written.","type":"integer","minimum":0},"output_file":{"description":"The file with the whole output, if there is one: an absolute path, which commands can read.","type":["string","null"]}},"type":"object"},"annotations":{"title":"Stop a job","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}}',NULL,NULL,1795360248236,NULL,0,NULL);
INSERT INTO "pins" VALUES('filesystem','delete','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','9c1186d76fa1d082d6d5e3a80c3b25a6d2c8205d6b9994fdd793401af5506d54','{"name":"delete","title":"Delete","description":"Deletes a file, a symbolic link (never what it leads to) or an empty directory of the workspace. A directory with something in it is deleted only with recursive: true, with everything below it; there is no way back. The workspace itself is never deleted.","inputSchema":{"required":["path"],"type":"object","properties":{"path":{"description":"What to delete, relative to the workspace.","type":"string"},"recursive":{"description":"Delete a directory with everything in it. Default: false.","type":"boolean","default":false}},"additionalProperties":false},"outputSchema":{"required":["path","type","removed_entries"],"type":"object","properties":{"path":{"type":"string"},"type":{"type":"string","enum":["file","dir","symlink","fifo","socket","device","other"]},"removed_entries":{"description":"Files, links and directories that are gone, the one named included.","type":"integer","minimum":0}}},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}',NULL,NULL,1795360248202,NULL,0,NULL);
INSERT INTO "pins" VALUES('filesystem','edit_file','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','2ae811e46f19837b5e6514dada6145141bbe8d0d27a4341533428cc821c0a558','{"name":"edit_file","title":"Edit a text file","description":"Replaces exact pieces of a text file of the workspace. Each old_text must occur exactly once, white space included; add neighbouring lines until it does. Several edits are applied in order, each to the result of those before it, and either all of them or none. Line ends (CRLF) are kept. The result is a unified diff; with dry_run nothing is written.","inputSchema":{"required":["path","edits"],"type":"object","properties":{"path":{"description":"The file, relative to the workspace.","type":"string"},"edits":{"description":"The replacements, applied in this order.","type":"array","items":{"type":"object","properties":{"old_text":{"description":"The text to be replaced, exactly as it is in the file. It must occur exactly once.","type":"string"},"new_text":{"description":"The text to put there; may be empty.","type":"string"}},"additionalProperties":false,"required":["old_text","new_text"]},"minItems":1,"maxItems":500},"dry_run":{"description":"Only show the diff. Default: false.","type":"boolean","default":false}},"additionalProperties":false},"outputSchema":{"required":["path","written","edits","size_bytes","previous_size_bytes","diff"],"type":"object","properties":{"path":{"type":"string"},"written":{"description":"Whether the file was changed; false for a dry run.","type":"boolean"},"edits":{"type":"integer","minimum":0},"size_bytes":{"type":"integer","minimum":0},"previous_size_bytes":{"type":"integer","minimum":0},"diff":{"description":"A unified diff.","type":"string"},"diff_cut":{"description":"The diff was too long and its end is missing.","type":"boolean"}}},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}',NULL,NULL,1795360248202,NULL,0,NULL);
INSERT INTO "pins" VALUES('filesystem','find','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','76106c2329e1beee3444609ba62dfab7e7e0264fca79098a89b207abf1b5bdef','{"name":"find","title":"Find files by name","description":"Finds files and directories of the workspace whose path matches a glob. A pattern without `/` is compared with names at any depth (`*.rs`), one with `/` with the path below `path` (`src/**/*.rs`); `{a,b}` and `[abc]` work. What .gitignore and .ignore files name is passed over unless include_ignored is true. The result is sorted.","inputSchema":{"required":["pattern"],"type":"object","properties":{"pattern":{"description":"The glob, for example `*.toml` or `src/**/mod.rs`.","type":"string"},"path":{"description":"The directory to look in, relative to the workspace. Default: the workspace itself.","type":"string","default":"."},"type":{"description":"Only this type. Default: any.","type":"string","enum":["any","file","dir"]},"ignore_case":{"description":"Compare without case. Default: false.","type":"boolean","default":false},"include_ignored":{"description":"Look at what .gitignore names, and at `.git`, too. Default: false.","type":"boolean","default":false},"limit":{"description":"At most this many paths. Default: 500.","type":"integer","minimum":1}},"additionalProperties":false},"outputSchema":{"required":["paths","truncated","ignored","unreadable_dirs"],"type":"object","properties":{"paths":{"type":"array","items":{"type":"object","properties":{"path":{"description":"Relative to the workspace.","type":"string"},"type":{"type":"string","enum":["file","dir","symlink","fifo","socket","device","other"]}},"required":["path","type"]}},"truncated":{"description":"There are more matches than were returned.","type":"boolean"},"ignored":{"description":"Entries that were passed over because an ignore file names them; what is in an ignored\ndirectory is not counted.","type":"integer","minimum":0},"unreadable_dirs":{"description":"Directories that could not be read.","type":"integer","minimum":0}}},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}',NULL,NULL,1795360248202,NULL,0,NULL);
INSERT INTO "pins" VALUES('filesystem','list_dir','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','b21c1eb6209669140c9902a347c5943fdfa81a53d972d13221bb2f732248238f','{"name":"list_dir","title":"List a directory","description":"Lists a directory of the workspace: every entry, hidden and ignored ones too, with its type and size, sorted by name. A directory ends in `/`; a symbolic link shows its target and whether that can be used. With depth it goes into subdirectories.","inputSchema":{"additionalProperties":false,"type":"object","properties":{"path":{"description":"The directory, relative to the workspace. Default: the workspace itself.","type":"string","default":"."},"depth":{"description":"How many levels to go down. Default: 1, only the entries of the directory itself.","type":"integer","minimum":1,"maximum":50},"limit":{"description":"At most this many entries. Default: 500.","type":"integer","minimum":1}}},"outputSchema":{"required":["path","entries","truncated"],"type":"object","properties":{"path":{"type":"string"},"entries":{"type":"array","items":{"type":"object","properties":{"path":{"description":"Relative to the workspace.","type":"string"},"type":{"type":"string","enum":["file","dir","symlink","fifo","socket","device","other"]},"size_bytes":{"description":"Only for files.","type":"integer","minimum":0},"target":{"description":"Only for symbolic links: what it holds.","type":"string"},"leads":{"description":"Only for symbolic links: where it leads.","anyOf":[{"oneOf":[{"description":"To something inside the workspace, which can be used.","type":"string","const":"inside"},{"description":"Out of the workspace; every use is refused.","type":"string","const":"outside"},{"description":"To nothing.","type":"string","const":"nowhere"},{"description":"In a circle, or to something protected or unreadable.","type":"string","const":"unusable"}]},{"type":"null"}]},"name_not_utf8":{"description":"The name is not UTF-8; `path` shows it approximately and cannot be used.","type":"boolean"}},"required":["path","type"]}},"truncated":{"description":"There are more entries than were returned.","type":"boolean"},"unreadable_dirs":{"description":"Directories that could not be read.","type":"integer","minimum":0}}},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}',NULL,NULL,1795360248202,NULL,0,NULL);
INSERT INTO "pins" VALUES('filesystem','move','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','2ebcf33ad8dab064a7dd85f48162815d20c1a51751322fd0b5a79eec5d1795a4','{"name":"move","title":"Move or rename","description":"Moves or renames a file, directory or symbolic link inside the workspace, making the parent directories of the destination. The destination is the full new path, not the directory to move into. An existing file there is replaced only with overwrite: true, a directory never.","inputSchema":{"required":["source","destination"],"type":"object","properties":{"source":{"description":"What to move, relative to the workspace. A symbolic link is moved itself.","type":"string"},"destination":{"description":"Its full new path, relative to the workspace.","type":"string"},"overwrite":{"description":"Replace a file that is at the destination. Default: false.","type":"boolean","default":false}},"additionalProperties":false},"outputSchema":{"required":["source","destination","type","replaced"],"type":"object","properties":{"source":{"type":"string"},"destination":{"type":"string"},"type":{"type":"string","enum":["file","dir","symlink","fifo","socket","device","other"]},"replaced":{"description":"A file was at the destination and is gone.","type":"boolean"}}},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}',NULL,NULL,1795360248202,NULL,0,NULL);
INSERT INTO "pins" VALUES('filesystem','read_file','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','09963d7d77f2552c2ae267d0e5df20f13da99a6c7756d2d4b3d127a0a5fa505f','{"name":"read_file","title":"Read a file","description":"Reads a UTF-8 text file of the workspace, or some of its lines. The text comes back exactly as it is in the file, so that pieces of it can be used as old_text of edit_file. If there is more than fits, a note says which lines to ask for next. An image (PNG, JPEG, GIF, WebP) comes back as one. Other binary files are refused with their type and size.","inputSchema":{"required":["path"],"type":"object","properties":{"path":{"description":"The file, relative to the workspace.","type":"string"},"start_line":{"description":"The first line to read; lines count from 1. Default: 1.","type":"integer","minimum":1},"end_line":{"description":"The last line to read, included. Default: the end of the file.","type":"integer","minimum":1},"line_numbers":{"description":"Put its number and a tab before each line. The numbers are not part of the file. Default:\nfalse.","type":"boolean","default":false}},"additionalProperties":false},"outputSchema":{"required":["path","content","start_line","end_line","size_bytes"],"type":"object","properties":{"path":{"type":"string"},"content":{"description":"The text of the lines, without numbers; empty for an image.","type":"string"},"start_line":{"description":"The first line in `content`; 0 if the file is empty.","type":"integer","minimum":0},"end_line":{"description":"The last line in `content`; 0 if the file is empty.","type":"integer","minimum":0},"total_lines":{"description":"Missing if the file is so large that its lines were not counted.","type":"integer","minimum":0},"size_bytes":{"type":"integer","minimum":0},"next_start_line":{"description":"Where to go on reading, if the limit on a reply cut the requested range.","type":"integer","minimum":0},"line_cut":{"description":"The one line in `content` is longer than a reply, and its end is missing.","type":"boolean"},"image":{"description":"The media type, if the file is an image, which then is in the content of the result.","type":"string"}}},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}',NULL,NULL,1795360248201,NULL,0,NULL);
INSERT INTO "pins" VALUES('filesystem','search','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','72b0073cb97aae09784e59f577fbe56eb0b631998d79a8f204e8d224dc631f0a','{"name":"search","title":"Search in files","description":"Searches the text files of the workspace line by line for a regular expression (Rust syntax: no look-around and no back-references) and gives path, line number and line. What .gitignore and .ignore files name is passed over unless include_ignored is true; binary and very large files are skipped and counted.","inputSchema":{"required":["pattern"],"type":"object","properties":{"pattern":{"description":"The regular expression; it is matched within single lines.","type":"string"},"path":{"description":"The directory or file to search, relative to the workspace. Default: the workspace itself.","type":"string","default":"."},"glob":{"description":"Only files that match this glob, for example `*.rs` or `src/**/*.md`.","type":"string"},"literal":{"description":"The pattern is plain text and no regular expression. Default: false.","type":"boolean","default":false},"ignore_case":{"description":"Compare without case. Default: false.","type":"boolean","default":false},"context_lines":{"description":"Lines to show before and after each match. Default: 0.","type":"integer","minimum":0,"maximum":20,"default":0},"include_ignored":{"description":"Search what .gitignore names, and `.git`, too. Default: false.","type":"boolean","default":false},"limit":{"description":"At most this many matching lines. Default: 200.","type":"integer","minimum":1}},"additionalProperties":false},"outputSchema":{"required":["matches","files_with_matches","files_searched","skipped_binary","skipped_too_large","skipped_unreadable","ignored","truncated"],"type":"object","properties":{"matches":{"type":"array","items":{"type":"object","properties":{"path":{"description":"Relative to the workspace.","type":"string"},"line":{"description":"Counts from 1.","type":"integer","minimum":0},"text":{"description":"The line, at most 400 bytes of it.","type":"string"},"before":{"type":"array","items":{"type":"string"}},"after":{"type":"array","items":{"type":"string"}}},"required":["path","line","text"]}},"files_with_matches":{"type":"integer","minimum":0},"files_searched":{"type":"integer","minimum":0},"skipped_binary":{"type":"integer","minimum":0},"skipped_too_large":{"type":"integer","minimum":0},"skipped_unreadable":{"description":"Files and directories that could not be read.","type":"integer","minimum":0},"ignored":{"description":"Entries that were passed over because an ignore file names them; what is in an ignored\ndirectory is not counted.","type":"integer","minimum":0},"truncated":{"description":"There are more matches than were returned.","type":"boolean"}}},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}',NULL,NULL,1795360248202,NULL,0,NULL);
INSERT INTO "pins" VALUES('filesystem','write_file','7536913ef79382c815deb2361a30ce04e239dbbc4859646e8bffa5159ad3687f','d669333005392ddca4aae234961a6af35eb4eb7a00a2627063bb526a64585e0f','{"name":"write_file","title":"Create or replace a file","description":"Writes a text file of the workspace as a whole: creates it, with its parent directories, or replaces what it held. To change a part of a file use edit_file. The write is atomic and keeps the permissions of a replaced file; through a symbolic link that leads to a place inside the workspace, the file it leads to is written.","inputSchema":{"required":["path","content"],"type":"object","properties":{"path":{"description":"The file, relative to the workspace.","type":"string"},"content":{"description":"The whole new text, written as it is.","type":"string"}},"additionalProperties":false},"outputSchema":{"required":["path","created","size_bytes","directories_created"],"type":"object","properties":{"path":{"type":"string"},"created":{"description":"True if the file is new, false if it replaced one.","type":"boolean"},"size_bytes":{"type":"integer","minimum":0},"previous_size_bytes":{"description":"The size of the replaced file.","type":"integer","minimum":0},"directories_created":{"description":"Parent directories that were made.","type":"integer","minimum":0}}},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}}',NULL,NULL,1795360248201,NULL,0,NULL);
CREATE TABLE posted(
    address TEXT NOT NULL,
    message INTEGER NOT NULL,
    approval TEXT NOT NULL,
    state TEXT NOT NULL, file INTEGER NOT NULL DEFAULT 0, sent_s INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY(address, message)
) STRICT, WITHOUT ROWID;
INSERT INTO "posted" VALUES('telegram/4711000001/5000001001',4,'mf3yr11xar','closed',0,1795359816);
CREATE TABLE put_aside(
    nr INTEGER PRIMARY KEY AUTOINCREMENT,
    of_table TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    rest TEXT NOT NULL,
    why TEXT NOT NULL,
    put_aside_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "put_aside" VALUES(1,'updates','2','{"update_id":','{"nr":1,"bot":1,"id":2,"at_ms":3,"state":"kept"}','EOF while parsing a value at line 1 column 13',1795359759565);
CREATE TABLE running(
    address TEXT NOT NULL,
    message INTEGER NOT NULL,
    session TEXT NOT NULL,
    title TEXT NOT NULL,
    PRIMARY KEY(address, message)
) STRICT, WITHOUT ROWID;
INSERT INTO "running" VALUES('telegram/700000001/9001',17,'trip','bash/run');
CREATE TABLE session_models(
    session TEXT PRIMARY KEY, model TEXT NOT NULL, by TEXT NOT NULL, at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "session_models" VALUES('trip','demo','console:uid:0',1795359857965);
CREATE TABLE session_roles(
    session TEXT PRIMARY KEY, role TEXT NOT NULL, by TEXT NOT NULL, at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "session_roles" VALUES('telegram.4711000001.5000001001','tutor','console:uid:0',1795359779201);
CREATE TABLE sessions(
    name TEXT PRIMARY KEY, created_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "sessions" VALUES('main',1795360248029,1795360249237);
INSERT INTO "sessions" VALUES('trip',1795360249604,1795360249604);
CREATE TABLE staged(
    call TEXT PRIMARY KEY,
    list TEXT NOT NULL,
    number INTEGER NOT NULL,
    summary TEXT NOT NULL,
    told TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "staged" VALUES('main:22:1','main:22:1000',2,'Add d to the cart','["console/324ddab420e2ebc7"]');
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
INSERT INTO "strangers" VALUES(4711000001,5000001007,1795359880096,'{"user":5000001007,"name":"Stranger5","username":"stranger5_1007","chat":5000001007,"group":null,"added":false}','told','telegram/4711000001/5000001001',34,'',0);
CREATE TABLE updates(
    nr INTEGER PRIMARY KEY AUTOINCREMENT,
    bot INTEGER NOT NULL,
    id INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'kept',
    body TEXT NOT NULL,
    UNIQUE(bot, id)
) STRICT;
INSERT INTO "updates" VALUES(18,4711000001,700000018,1795359908418,'tap','');
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
INSERT INTO "usage" VALUES('main',4,1795360248305,'demo','demo',0,0,0,0);
INSERT INTO "usage" VALUES('main',7,1795360248421,'demo','demo',0,0,0,0);
INSERT INTO "usage" VALUES('main',12,1795360248529,'demo','demo',0,0,0,0);
INSERT INTO "usage" VALUES('main',17,1795360249472,'demo','demo',0,0,0,0);
INSERT INTO "usage" VALUES('trip',4,1795360249677,'demo','demo',0,0,0,0);
CREATE TABLE usage_days(
    session TEXT NOT NULL,
    day INTEGER NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    replies INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    PRIMARY KEY(session, day, provider, model)
) STRICT, WITHOUT ROWID;
INSERT INTO "usage_days" VALUES('main',20779,'demo','demo',4,0,0,0,0);
INSERT INTO "usage_days" VALUES('trip',20779,'demo','demo',1,0,0,0,0);
CREATE INDEX inbox_queued ON inbox(session, id) WHERE state = 'queued';
CREATE INDEX events_boundaries ON events(session, seq)
    WHERE type IN ('summary', 'window.dropped', 'session.cleared');
CREATE INDEX calls_open ON calls(session, state) WHERE state IN ('received', 'waiting', 'approved', 'started');
CREATE INDEX approvals_call ON approvals(call);
CREATE INDEX approvals_waiting ON approvals(session) WHERE state = 'waiting';
CREATE INDEX grants_live ON grants(server, tool) WHERE revoked_ms IS NULL;
CREATE INDEX updates_kept ON updates(bot, nr) WHERE state = 'kept';
CREATE INDEX posted_live ON posted(approval) WHERE state <> 'closed';
CREATE INDEX strangers_live ON strangers(bot, state) WHERE state IN ('new', 'let_in', 'ignored');
CREATE INDEX strangers_at ON strangers(bot, at_ms);
CREATE INDEX overheard_at ON overheard(address, nr);
CREATE INDEX outbox_waiting ON outbox(door, address, id) WHERE state IN ('queued', 'sending');
CREATE INDEX staged_list ON staged(list, number);
CREATE INDEX pin_questions_open ON pin_questions(at_ms) WHERE state <> 'closed';
CREATE INDEX posted_open ON posted(address, message) WHERE state NOT IN ('closed', 'why closed');
CREATE INDEX audit_call ON audit(call, id) WHERE call <> '';
CREATE INDEX outbox_shown ON outbox(session, at_ms) WHERE state = 'sent';
CREATE INDEX calls_started ON calls(started_ms, id) WHERE state = 'started';
CREATE INDEX overheard_old ON overheard(at_s);
CREATE INDEX updates_closed ON updates(at_ms) WHERE state <> 'kept';
CREATE INDEX usage_at ON usage(at_ms);
CREATE INDEX usage_days_day ON usage_days(day);
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
    WHEN OLD.id > coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'audit.cut'), 0)
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('put_aside',1);
INSERT INTO "sqlite_sequence" VALUES('inbox',4);
INSERT INTO "sqlite_sequence" VALUES('audit',27);
INSERT INTO "sqlite_sequence" VALUES('outbox',7);
INSERT INTO "sqlite_sequence" VALUES('grants',1);
INSERT INTO "sqlite_sequence" VALUES('updates',18);
INSERT INTO "sqlite_sequence" VALUES('overheard',1);
COMMIT;
