#!/usr/bin/env bash
# The shell of SQLite, as docs/HOSTS.md gives it to its users.
set -euo pipefail
uri='file:app.db?vfs=selenite&selenite_identity=key.txt'

# app STATEMENT...: runs them on the encrypted database.
app() {
  sqlite3 -bail -cmd ".load $SELENITE_TEST_EXTENSION" :memory: ".open $uri" '.timeout 20000' "$@"
}

app 'PRAGMA journal_mode = WAL' 'CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)' >/dev/null
writers=()
for _ in 1 2 3 4; do
  inserts=()
  for n in {1..50}; do
    inserts+=("INSERT INTO note(body) VALUES ('attack at dawn $n')")
  done
  app "${inserts[@]}" &
  writers+=($!)
done
for writer in "${writers[@]}"; do
  wait "$writer"
done
app "UPDATE note SET body = body || '!' WHERE id = 1" ".shell $SELENITE_TEST_LOOK app.db app.db-wal"
app 'PRAGMA journal_mode = PERSIST' "UPDATE note SET body = body || '!' WHERE id > 1" >/dev/null
"$SELENITE_TEST_LOOK" app.db app.db-journal

echo "SQLite $(app 'SELECT sqlite_version()')"
# `.open` of what cannot be opened leaves the shell with a database in memory.
uri=${uri/key.txt/other.txt}
echo "wrong key: $(sqlite3 -cmd ".load $SELENITE_TEST_EXTENSION" 2>&1 <<<".open $uri
SELECT selenite_last_error();" || true)"
