//! rusqlite and sqlx on one encrypted database, as docs/HOSTS.md gives them to their users: the VFS
//! is linked into the program.
#![forbid(unsafe_code)]

use std::process::Command;
use std::time::Duration;

use selenite::rusqlite::Connection;
use selenite::{Access, EncryptedFile, Layout};
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions};

type Failure = Box<dyn std::error::Error>;

const URI: &str = "file:app.db?vfs=selenite&selenite_identity=key.txt";

#[tokio::main]
async fn main() -> Result<(), Failure> {
    if let Some(url) = std::env::args().nth(1) {
        // The environment names the identity.
        selenite::install()?;
        let mut db = SqliteConnection::connect(&url).await?;
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM note")
            .fetch_one(&mut db)
            .await?;
        println!("{url}: {count} rows");
        return Ok(());
    }

    // Creates the database, and registers the VFS in the SQLite that rusqlite and sqlx share.
    let database = EncryptedFile::new("app.db", Access::with_identity("key.txt"));
    let db = database.create(&Layout::default())?;
    db.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)")?;
    drop(db);

    write_by_sqlx().await?;

    let db = Connection::open(URI)?;
    db.query_row("PRAGMA journal_mode = PERSIST", (), |_| Ok(()))?;
    db.execute("UPDATE note SET body = body || '!'", ())?;
    look(&["app.db", "app.db-journal"])?;

    let other = URI.replace("key.txt", "other.txt");
    let reason = "SELECT selenite_last_error()";
    let refused = SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(&other)).await;
    let refused = refused.err().ok_or("the wrong key opened the database")?;
    let boot = Connection::open_in_memory()?;
    let reason: String = boot.query_row(reason, (), |row| row.get(0))?;
    println!(
        "SQLite {}\nwrong key: {refused}: {reason}",
        selenite::rusqlite::version()
    );
    let refused = EncryptedFile::new("app.db", Access::with_identity("other.txt")).open();
    println!(
        "the crate: {}",
        refused.err().ok_or("the wrong key opened the database")?
    );
    Ok(())
}

/// From four connections of a pool, each in a task of its own.
async fn write_by_sqlx() -> Result<(), Failure> {
    let options = SqliteConnectOptions::new()
        .filename(URI)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(Duration::from_secs(20));
    let pool = SqlitePoolOptions::new()
        .min_connections(4)
        .max_connections(4)
        .connect_with(options)
        .await?;
    let mut writers = Vec::new();
    for _ in 0..4 {
        let mut connection = pool.acquire().await?;
        writers.push(tokio::spawn(async move {
            for n in 0..50 {
                let insert = sqlx::query("INSERT INTO note(body) VALUES ('attack at dawn ' || ?)").bind(n);
                insert.execute(&mut *connection).await?;
            }
            Ok::<(), sqlx::Error>(())
        }));
    }
    for writer in writers {
        writer.await??;
    }
    look(&["app.db", "app.db-wal"])?;
    pool.close().await;
    Ok(())
}

fn look(files: &[&str]) -> Result<(), Failure> {
    let status = Command::new(std::env::var("SELENITE_TEST_LOOK")?)
        .args(files)
        .status()?;
    if status.success() { Ok(()) } else { Err("look".into()) }
}
