-- Format 2 with rows as that version wrote them. Never changed.
CREATE TABLE calls (
	n            INTEGER PRIMARY KEY,
	id           TEXT NOT NULL UNIQUE,
	time         INTEGER NOT NULL,
	writer       TEXT NOT NULL,
	door         TEXT NOT NULL,
	client       TEXT NOT NULL,
	session      TEXT NOT NULL,
	run          TEXT NOT NULL,
	round        INTEGER NOT NULL,
	model        TEXT NOT NULL,
	server       TEXT NOT NULL,
	tool         TEXT NOT NULL,
	offered      TEXT NOT NULL,
	definition   TEXT NOT NULL,
	arguments    TEXT NOT NULL,
	edited       INTEGER NOT NULL,
	class        TEXT NOT NULL,
	risky        INTEGER NOT NULL,
	evidence     TEXT NOT NULL,
	outcome      TEXT,
	approved     INTEGER,
	approver     TEXT NOT NULL DEFAULT '',
	rule         TEXT NOT NULL DEFAULT '',
	reason       TEXT NOT NULL DEFAULT '',
	duration_ms  INTEGER NOT NULL DEFAULT 0,
	result_bytes INTEGER NOT NULL DEFAULT 0,
	error        TEXT NOT NULL DEFAULT ''
);
CREATE INDEX calls_time ON calls (time);
CREATE INDEX calls_run ON calls (run);
CREATE INDEX calls_open ON calls (writer) WHERE outcome IS NULL;
CREATE TABLE results (
	n    INTEGER PRIMARY KEY, -- the call's
	body TEXT NOT NULL
);
CREATE TABLE runs (
	n                 INTEGER PRIMARY KEY,
	id                TEXT NOT NULL,
	time              INTEGER NOT NULL,
	writer            TEXT NOT NULL,
	door              TEXT NOT NULL,
	client            TEXT NOT NULL,
	session           TEXT NOT NULL,
	model             TEXT NOT NULL,
	outcome           TEXT,
	rounds            INTEGER NOT NULL,
	prompt_tokens     INTEGER NOT NULL,
	completion_tokens INTEGER NOT NULL,
	cost_usd          REAL,
	duration_ms       INTEGER NOT NULL,
	error             TEXT NOT NULL
);
CREATE INDEX runs_time ON runs (time);
CREATE INDEX runs_open ON runs (writer) WHERE outcome IS NULL;
INSERT INTO calls (id, time, writer, door, client, session, run, round, model, server, tool, offered, definition, arguments, edited, class, risky, evidence, outcome)
VALUES ('c1', 1772366400000000000, 'w', 'http', '', '', 'r1', 1, 'm', 'fs', 'write_file', 'fs__write_file', 'abc', '{}', 0, 'write', 1, '["name"]', 'ok'),
       ('c2', 1772366401000000000, 'w', 'http', '', '', 'r1', 1, 'm', 'fs', 'write_file', 'fs__write_file', 'abc', '{}', 0, 'write', 1, '["name"]', NULL);
INSERT INTO runs (id, time, writer, door, client, session, model, outcome, rounds, prompt_tokens, completion_tokens, cost_usd, duration_ms, error)
VALUES ('r1', 1772366400000000000, 'w', 'http', '', '', 'm', 'ok', 1, 10, 4, NULL, 60, '');
CREATE TABLE jobs (
	n       INTEGER PRIMARY KEY,
	id      TEXT NOT NULL UNIQUE,
	time    INTEGER NOT NULL,
	writer  TEXT NOT NULL, -- whose process is to do it
	door    TEXT NOT NULL,
	client  TEXT NOT NULL,
	session TEXT NOT NULL,
	body    TEXT NOT NULL,
	outcome TEXT,
	ended   INTEGER
);
CREATE INDEX jobs_time ON jobs (time);
CREATE INDEX jobs_open ON jobs (writer) WHERE outcome IS NULL;
CREATE TABLE steps (
	n       INTEGER NOT NULL, -- the job's
	place   INTEGER NOT NULL,
	started INTEGER NOT NULL,
	times   INTEGER NOT NULL,
	fact    TEXT,             -- NULL until its end is known
	text    TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (n, place)
) WITHOUT ROWID;
PRAGMA user_version = 2;
