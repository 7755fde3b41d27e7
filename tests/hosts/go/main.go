// mattn/go-sqlite3 through database/sql, as docs/HOSTS.md gives it to its users.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mattn/go-sqlite3"
)

const uri = "file:app.db?vfs=selenite&selenite_identity=key.txt&_busy_timeout=20000&_journal_mode=WAL"

func main() {
	log.SetFlags(0)
	sql.Register("sqlite3_boot", &sqlite3.SQLiteDriver{Extensions: []string{os.Getenv("SELENITE_TEST_EXTENSION")}})
	boot, err := sql.Open("sqlite3_boot", ":memory:")
	must(err)
	must(boot.Ping())

	var opened atomic.Int64
	sql.Register("sqlite3_hooked", &sqlite3.SQLiteDriver{ConnectHook: func(conn *sqlite3.SQLiteConn) error {
		opened.Add(1)
		_, err := conn.Exec("PRAGMA synchronous = NORMAL", nil)
		return err
	}})
	db, err := sql.Open("sqlite3_hooked", uri)
	must(err)
	execute(db, "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)")
	writeFromManyConnections(db)
	if opened.Load() < 4 {
		log.Fatalf("the pool opened %d connections", opened.Load())
	}
	look("app.db", "app.db-wal")
	must(db.Close())

	db, err = sql.Open("sqlite3", strings.Replace(uri, "WAL", "PERSIST", 1))
	must(err)
	execute(db, "UPDATE note SET body = body || '!'")
	look("app.db", "app.db-journal")
	must(db.Close())

	wrong, err := sql.Open("sqlite3", strings.Replace(uri, "key.txt", "other.txt", 1))
	must(err)
	refused := wrong.Ping()
	if refused == nil {
		log.Fatal("the wrong key opened the database")
	}
	fmt.Printf("SQLite %s\nwrong key: %v: %s\n", text(boot, "SELECT sqlite_version()"), refused,
		text(boot, "SELECT selenite_last_error()"))
}

// Each goroutine holds a connection of its own, and all of them before the first writes.
func writeFromManyConnections(db *sql.DB) {
	var all, connected sync.WaitGroup
	connected.Add(4)
	for range 4 {
		all.Go(func() {
			tx, err := db.Begin()
			must(err)
			connected.Done()
			connected.Wait()
			must(tx.Rollback())
			for n := range 50 {
				execute(db, "INSERT INTO note(body) VALUES ('attack at dawn ' || ?)", n)
			}
		})
	}
	all.Wait()
}

func look(files ...string) {
	out, err := exec.Command(os.Getenv("SELENITE_TEST_LOOK"), files...).CombinedOutput()
	if err != nil {
		log.Fatalf("%s", out)
	}
}

func execute(db *sql.DB, statement string, values ...any) {
	_, err := db.Exec(statement, values...)
	must(err)
}

func text(db *sql.DB, query string) (value string) {
	must(db.QueryRow(query).Scan(&value))
	return value
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
