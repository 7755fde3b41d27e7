-- Of a store whose study was extended; created with the first extension.
CREATE TABLE IF NOT EXISTS extension (
    id            INTEGER PRIMARY KEY,
    at_s          INTEGER NOT NULL,  -- since 1970
    from_sessions INTEGER NOT NULL,  -- that counted before
    sessions      INTEGER NOT NULL,  -- that were added
    until         INTEGER NOT NULL,  -- it is done when so many whole sessions of the plan are
    drawn         INTEGER NOT NULL   -- from the seed until then, those of the configuration among them
);
