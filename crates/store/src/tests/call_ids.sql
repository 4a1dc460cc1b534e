INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state, digest, rule, received_ms)
    VALUES ('main:3:1', 'main', 'filesystem', 'write_file', '{}', 'owner', 'console:uid:1000', 'waiting', 'd', 'class.mutating', 1);
INSERT INTO approvals(id, call, session, state, question, approvers, digest, asked_ms, expires_ms)
    VALUES ('q-reply', 'main:3:1', 'main', 'waiting',
        '{"approval":"q-reply","call":{"session":"main","reply_seq":3,"block":1},"session":"main","server":"filesystem","tool":"write_file","arguments":[],"why":"w","expires_at_ms":4102444800000,"choices":[]}',
        'console:uid:1000', 'd', 1, 4102444800000);
INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state, digest, rule, received_ms)
    VALUES ('main:4:0', 'main', 'shop', 'confirm', '{}', 'button', 'console:uid:1000', 'waiting', 'd', 'staged', 1);
INSERT INTO approvals(id, call, session, state, question, approvers, digest, asked_ms, expires_ms)
    VALUES ('q-one', 'main:4:0', 'main', 'waiting',
        '{"approval":"q-one","call":{"session":"main","reply_seq":4,"block":0},"session":"main","server":"shop","tool":"confirm","arguments":[],"why":"w","expires_at_ms":4102444800000,"choices":[],"staged":{"kind":"item","summary":"Add","number":1,"of":2}}',
        'console:uid:1000', 'd', 2, 4102444800000);
INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state, digest, rule, received_ms)
    VALUES ('main:4:1', 'main', 'shop', 'confirm', '{}', 'button', 'console:uid:1000', 'waiting', 'd', 'staged', 1);
INSERT INTO approvals(id, call, session, state, question, approvers, digest, asked_ms, expires_ms)
    VALUES ('q-two', 'main:4:1', 'main', 'waiting',
        '{"approval":"q-two","call":{"session":"main","reply_seq":4,"block":1},"session":"main","server":"shop","tool":"confirm","arguments":[],"why":"w","expires_at_ms":4102444800000,"choices":[],"staged":{"kind":"item","summary":"Add","number":2,"of":2}}',
        'console:uid:1000', 'd', 3, 4102444800000);
INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state, digest, rule, received_ms)
    VALUES ('main:4:1000', 'main', 'claw', 'staged_all', '{}', 'button', 'console:uid:1000', 'waiting', 'd', 'staged', 1);
INSERT INTO approvals(id, call, session, state, question, approvers, digest, asked_ms, expires_ms)
    VALUES ('q-all', 'main:4:1000', 'main', 'waiting',
        '{"approval":"q-all","call":{"session":"main","reply_seq":4,"block":1000},"session":"main","server":"claw","tool":"staged_all","arguments":[],"why":"w","expires_at_ms":4102444800000,"choices":[],"staged":{"kind":"all","of":2}}',
        'console:uid:1000', 'd', 4, 4102444800000);
INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state, digest, rule, received_ms)
    VALUES ('main:4:1001', 'main', 'claw', 'staged_buttons', '{}', 'button', 'console:uid:1000', 'waiting', 'd', 'staged', 1);
INSERT INTO approvals(id, call, session, state, question, approvers, digest, asked_ms, expires_ms)
    VALUES ('q-buttons', 'main:4:1001', 'main', 'waiting',
        '{"approval":"q-buttons","call":{"session":"main","reply_seq":4,"block":1001},"session":"main","server":"claw","tool":"staged_buttons","arguments":[],"why":"w","expires_at_ms":4102444800000,"choices":[],"staged":{"kind":"buttons"}}',
        'console:uid:1000', 'd', 5, 4102444800000);
INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state, digest, rule, received_ms)
    VALUES ('main:9:0', 'main', 'claw', 'go_on', '{}', 'owner', 'console:uid:1000', 'waiting', 'd', '', 1);
INSERT INTO approvals(id, call, session, state, question, approvers, digest, asked_ms, expires_ms)
    VALUES ('q-budget', 'main:9:0', 'main', 'waiting',
        '{"approval":"q-budget","call":{"session":"main","reply_seq":9,"block":0},"session":"main","server":"claw","tool":"go_on","arguments":[],"why":"w","expires_at_ms":4102444800000,"choices":[]}',
        'console:uid:1000', 'd', 6, 4102444800000);
INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state, digest, rule, received_ms)
    VALUES ('main:9:500', 'main', 'claw', 'go_on', '{}', 'owner', 'console:uid:1000', 'waiting', 'd', '', 1);
INSERT INTO approvals(id, call, session, state, question, approvers, digest, asked_ms, expires_ms)
    VALUES ('q-deaths', 'main:9:500', 'main', 'waiting',
        '{"approval":"q-deaths","call":{"session":"main","reply_seq":9,"block":500},"session":"main","server":"claw","tool":"go_on","arguments":[],"why":"w","expires_at_ms":4102444800000,"choices":[]}',
        'console:uid:1000', 'd', 7, 4102444800000);
INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state, digest, rule, received_ms)
    VALUES ('main:4:2', 'main', 'shop', 'like', '{}', 'button', 'console:uid:1000', 'waiting', 'd', 'staged', 1);
INSERT INTO staged VALUES ('main:4:0', 'main:4:1000', 1, 'Add', '[]');
INSERT INTO staged VALUES ('main:4:1', 'main:4:1000', 2, 'Add', '[]');
INSERT INTO staged VALUES ('main:4:2', 'main:4:1001', 1, 'Add', '[]');
INSERT INTO events VALUES ('main', 4, 4, 'tool.result', '{"type":"tool.result","call":{"session":"main","reply_seq":3,"block":1},"outcome":{"kind":"denied","reason":"no"}}');
INSERT INTO events VALUES ('main', 6, 6, 'action.answered', '{"type":"action.answered","call":{"session":"main","reply_seq":4,"block":0},"approval":"q-one","action":{"server":"shop","tool":"confirm","arguments":{},"summary":"Add"},"answer":null,"by":"p"}');
INSERT INTO events VALUES ('main', 7, 7, 'action.result', '{"type":"action.result","call":{"session":"main","reply_seq":4,"block":0},"action":{"server":"shop","tool":"confirm","arguments":{},"summary":"Add"},"outcome":{"kind":"denied","reason":"no"}}');
INSERT INTO events VALUES ('main', 10, 10, 'call.parked', '{"type":"call.parked","call":{"session":"main","reply_seq":9,"block":500},"approval":"q-deaths"}');
INSERT INTO events VALUES ('main', 11, 11, 'call.answered', '{"type":"call.answered","call":{"session":"main","reply_seq":9,"block":500},"approval":"q-deaths","answer":null,"by":"superseded"}');
INSERT INTO outbox(session, door, address, at_ms, body) VALUES ('main', 'telegram', 'telegram/1', 1,
    '{"session":"main","to":"telegram/1","body":{"type":"question","turn_seq":1,"question":{"approval":"q-one","call":{"session":"main","reply_seq":4,"block":0},"session":"main","server":"shop","tool":"confirm","arguments":[],"why":"w","expires_at_ms":4102444800000,"choices":[],"staged":{"kind":"item","summary":"Add","number":1,"of":2}}}}');
INSERT INTO audit(at_ms, kind, call, body, prev, hash) VALUES (1, 'received', 'main:4:0', '{}', '', 'h');
INSERT INTO artifacts(digest, bytes, mime, call, created_ms) VALUES ('a', 1, 'text/plain', 'main:4:0', 1);
INSERT INTO artifacts(digest, bytes, mime, call, created_ms) VALUES ('b', 1, 'text/plain', 'main:3:1', 2);
INSERT INTO kept_windows VALUES ('main', 'f', 1, 11, 'd', '[]');
