-- One row of each table that a store can have, besides those that the tests write by themselves.
-- A new table needs a row here.
INSERT OR IGNORE INTO sessions VALUES ('seeded', 1, 2);
INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state, received_ms, started_ms, ended_ms, outcome)
    VALUES ('seeded:3:0', 'seeded', 's', 't', '{}', 'owner', 'p', 'denied', 1, NULL, 2, NULL);
INSERT INTO grants(effect, principal, server, tool, shape, origin, says, created_ms, approval)
    VALUES ('deny', 'p', 's', 't', '{"kind":"exact","digest":"d"}', 'owner', 'never', 1, 'a');
INSERT INTO pins(server, tool, launch, pin, raw, new_pin, new_raw, seen_ms, shown_pin, told_pin)
    VALUES ('s', 't', 'l', 'p', '{}', 'q', '{}', 1, 'q', 'q');
INSERT INTO pin_forms VALUES ('s', 't', 'older', '{}', 1);
INSERT INTO launches(server, launch, era, listed_ms, knows_instructions) VALUES ('s', 'l', '2025-11-25', 1, 1);
INSERT INTO trust VALUES ('s', 'l', 'ask', 'p', 1, 1);
INSERT INTO artifacts(digest, bytes, mime, call, created_ms, removed_ms, removed_why, alias)
    VALUES ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 1, 'text/plain', '', 1, 2, 'old', 'notes');
INSERT INTO usage VALUES ('seeded', 3, CAST(strftime('%s', 'now') AS INTEGER) * 1000, 'demo', 'demo', 5, 6, 0, 0);
INSERT INTO usage_days VALUES ('seeded', CAST(strftime('%s', 'now') AS INTEGER) / 86400, 'demo', 'demo', 1, 5, 6, 0, 0);
INSERT INTO updates(bot, id, at_ms, body) VALUES (1, 2, 3, '{}');
INSERT INTO posted VALUES ('telegram/1/2', 7, 'a', 'closed', 0, 1);
INSERT INTO drafts VALUES ('telegram/1/2', 8, 'seeded', 1, 1, 1);
INSERT INTO running VALUES ('telegram/1/2', 9, 'seeded', 'title');
INSERT INTO guests VALUES (1, 2, 'Ann', 'p', 1);
INSERT INTO blocked VALUES (1, 3, 'why', 1);
INSERT INTO moved_chats VALUES (1, 4, 5, 1);
INSERT INTO overheard(address, at_s, name, text) VALUES ('telegram/1/2', 1, 'Ann', 'words');
INSERT INTO session_models VALUES ('seeded', 'demo', 'p', 1);
INSERT INTO session_roles VALUES ('seeded', 'clerk', 'p', 1);
INSERT INTO staged VALUES ('seeded:3:action.1', 'seeded:3:action.1', 1, 'summary', '[]');
INSERT INTO rounds VALUES ('seeded:3:1', 1, 0, '{}', 'state', '{}', 'sent', 1);
INSERT INTO server_tasks VALUES ('seeded:3:1', 'task', 1);
INSERT INTO kept_windows VALUES ('seeded', 'form', 1, 1, 'digest', 'body');
INSERT INTO daily_digests(day, until_ms, boot, up_ms, body) VALUES ('2026-01-01', 1, 'boot', 1, 'lines');
INSERT INTO firings(id, job, revision, session, became, title, schedule, at_ms, said, answer)
    VALUES ('j1.1-1', 'j1', 1, 'seeded', 'words', 'title', 'daily', 1, 'said', 'answer');
INSERT INTO clients(name, since_ms, seen_ms, day, told_day) VALUES ('laptop', 1, 1, '2026-01-01', '2026-01-01');
INSERT INTO client_calls(client, number, digest, driver, holder, at_ms, ended_ms, handed_ms, mark)
    VALUES ('laptop', 1, 'd', 'console/1', 'console/2', 1, 2, 3, 'mark');
INSERT INTO owner_questions(id, kind, subject, form, shown, state, answer, address, decided_by, at_ms)
    VALUES ('owner.1', 'changed_tools', 's', '[]', 'shown', 'closed', 'accept', 'telegram/1/2', 'p', 1);
INSERT OR REPLACE INTO meta VALUES ('told.seeded', '1');
