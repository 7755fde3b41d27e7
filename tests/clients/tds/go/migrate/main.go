// golang-migrate: up, down, steps, force and version, and a lock between two processes, by its public interface.
package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/golang-migrate/migrate/v4"
	_ "github.com/golang-migrate/migrate/v4/database/sqlserver"
	_ "github.com/golang-migrate/migrate/v4/source/file"
)

var address = fmt.Sprintf("sqlserver://sa:%s@127.0.0.1:%s?database=%s&TrustServerCertificate=true",
	url.QueryEscape(os.Getenv("TDS_PASSWORD")), os.Getenv("TDS_PORT"), url.QueryEscape(os.Getenv("TDS_DATABASE")))

var files = map[string]string{
	"1_author.up.sql": `CREATE TABLE author (id int IDENTITY PRIMARY KEY, name nvarchar(40) NOT NULL);
CREATE UNIQUE INDEX author_name ON author (name);`,
	"1_author.down.sql": `DROP TABLE author;`,
	"2_book.up.sql": `CREATE TABLE book (id uniqueidentifier PRIMARY KEY DEFAULT NEWID(), author int NOT NULL
    CONSTRAINT book_author FOREIGN KEY REFERENCES author (id));
DECLARE @n int = 0;
WHILE @n < 3 BEGIN INSERT author VALUES (CONCAT('author ', @n)); SET @n += 1; END;
INSERT book (author) SELECT id FROM author;`,
	"2_book.down.sql": `DROP TABLE book;
DELETE author;`,
	"3_views.up.sql":   `EXEC('CREATE VIEW shelf AS SELECT a.name, COUNT(*) AS n FROM author a JOIN book b ON b.author = a.id GROUP BY a.name');`,
	"3_views.down.sql": `DROP VIEW shelf;`,
}

func main() {
	folder, err := os.Getwd()
	fatal(err)
	if len(os.Args) == 2 && os.Args[1] == "up" {
		up(folder)
		return
	}
	for name, text := range files {
		fatal(os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	db, err := sql.Open("sqlserver", address)
	fatal(err)
	run("two processes migrate once", func() error { return twoProcesses(folder, db) })
	run("version", func() error { return versionIs(folder, 3) })
	run("up with nothing left says so", func() error {
		return with(folder, func(m *migrate.Migrate) error {
			if err := m.Up(); !errors.Is(err, migrate.ErrNoChange) {
				return fmt.Errorf("%v", err)
			}
			return nil
		})
	})
	run("steps go down and up", func() error {
		if err := with(folder, func(m *migrate.Migrate) error { return m.Steps(-2) }); err != nil {
			return err
		}
		if err := expect(db, "SELECT COUNT(*) FROM sys.objects WHERE name IN ('author', 'book', 'shelf')", 1); err != nil {
			return err
		}
		if err := with(folder, func(m *migrate.Migrate) error { return m.Steps(1) }); err != nil {
			return err
		}
		return versionIs(folder, 2)
	})
	run("migrate to a version", func() error {
		if err := with(folder, func(m *migrate.Migrate) error { return m.Migrate(3) }); err != nil {
			return err
		}
		return expect(db, "SELECT COUNT(*) FROM shelf", 3)
	})
	run("a migration that fails is dirty, and force clears it", func() error { return dirty(folder) })
	run("down undoes all", func() error {
		if err := with(folder, func(m *migrate.Migrate) error { return m.Down() }); err != nil {
			return err
		}
		return expect(db, "SELECT COUNT(*) FROM sys.objects WHERE name IN ('author', 'book', 'shelf')", 0)
	})
	run("drop removes all tables", func() error {
		if err := with(folder, func(m *migrate.Migrate) error { return m.Migrate(2) }); err != nil {
			return err
		}
		if err := with(folder, func(m *migrate.Migrate) error { return m.Drop() }); err != nil {
			return err
		}
		return expect(db, "SELECT COUNT(*) FROM sys.tables", 0)
	})
}

func up(folder string) {
	err := with(folder, func(m *migrate.Migrate) error { return m.Up() })
	if err != nil && !errors.Is(err, migrate.ErrNoChange) {
		fatal(err)
	}
}

// twoProcesses starts two that migrate at once: each migration runs once, and neither process fails.
func twoProcesses(folder string, db *sql.DB) error {
	var running []*exec.Cmd
	var said []*strings.Builder
	for range 2 {
		one := exec.Command(os.Args[0], "up")
		one.Dir = folder
		text := &strings.Builder{}
		one.Stderr = text
		if err := one.Start(); err != nil {
			return err
		}
		running, said = append(running, one), append(said, text)
	}
	var failed error
	for i, one := range running {
		if err := one.Wait(); err != nil {
			failed = errors.Join(failed, err, errors.New(said[i].String()))
		}
	}
	if failed != nil {
		return failed
	}
	return errors.Join(expect(db, "SELECT COUNT(*) FROM author", 3), expect(db, "SELECT COUNT(*) FROM book", 3),
		expect(db, "SELECT n FROM shelf WHERE name = 'author 2'", 1))
}

func dirty(folder string) error {
	broken := filepath.Join(folder, "4_broken.up.sql")
	if err := os.WriteFile(broken, []byte("CREATE TABLE half (a int);\nINSERT nothing_of_this_name VALUES (1);"), 0o600); err != nil {
		return err
	}
	defer os.Remove(broken)
	return with(folder, func(m *migrate.Migrate) error {
		if err := m.Up(); err == nil || !strings.Contains(err.Error(), "Invalid object name 'nothing_of_this_name'") {
			return fmt.Errorf("of the migration: %v", err)
		}
		var is migrate.ErrDirty
		if err := m.Up(); !errors.As(err, &is) || is.Version != 4 {
			return fmt.Errorf("of the next: %v", err)
		}
		if err := m.Force(3); err != nil {
			return err
		}
		version, isDirty, err := m.Version()
		if err != nil || version != 3 || isDirty {
			return fmt.Errorf("version %d, dirty %t: %v", version, isDirty, err)
		}
		return nil
	})
}

func versionIs(folder string, expected uint) error {
	return with(folder, func(m *migrate.Migrate) error {
		version, isDirty, err := m.Version()
		if err != nil || version != expected || isDirty {
			return fmt.Errorf("version %d, dirty %t: %v", version, isDirty, err)
		}
		return nil
	})
}

func with(folder string, act func(*migrate.Migrate) error) error {
	m, err := migrate.New("file://"+folder, address)
	if err != nil {
		return err
	}
	acted := act(m)
	source, database := m.Close()
	return errors.Join(acted, source, database)
}

func expect(db *sql.DB, query string, expected any) error {
	var found int
	if err := db.QueryRow(query).Scan(&found); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	if !reflect.DeepEqual(found, expected) {
		return fmt.Errorf("%s: %v, and not %v", query, found, expected)
	}
	return nil
}

func run(name string, check func() error) {
	var said *string
	if err := check(); err != nil {
		text := err.Error()
		said = &text
	}
	line, err := json.Marshal(map[string]any{"check": name, "error": said})
	fatal(err)
	fmt.Println(string(line))
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
