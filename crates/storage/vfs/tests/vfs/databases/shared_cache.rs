//! SQLite's shared-cache mode: one file, one page cache, the connections of several threads
//! (sqlite.org/sharedcache.html).

use super::fixture::{Fixture, check, code, flags};
use rusqlite::{Connection, OpenFlags};
use selenite_testing::own_process;

fn open_shared(fixture: &Fixture, name: &str) -> rusqlite::Result<Connection> {
    let uri = format!(
        "file:{}?vfs=selenite&selenite_identity=raw:{}",
        fixture.path(name).display(),
        fixture.path("raw.key").display()
    );
    Connection::open_with_flags(
        uri,
        flags() | OpenFlags::SQLITE_OPEN_SHARED_CACHE | OpenFlags::SQLITE_OPEN_FULL_MUTEX,
    )
}

/// SQLITE_FCNTL_PDB names the connection that last used the cache, perhaps one that another thread
/// is closing.
#[test]
fn threads_open_and_close_connections_that_share_a_cache() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2500 {
                    let connection = open_shared(&fixture, "a.db").unwrap();
                    // A table is locked while another connection reads its schema.
                    let read = code(connection.query_row("SELECT id FROM t", [], |_| Ok(())));
                    assert!(read == 0 || read & 0xff == 6, "{read}");
                }
            });
        }
    });
    check(&open_shared(&fixture, "a.db").unwrap());
}

#[test]
fn an_encrypted_database_is_not_attached_to_a_main_on_another_vfs_in_a_shared_cache() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    let attach = |to: &Connection| {
        to.execute_batch(&format!(
            "ATTACH 'file:{}?vfs=selenite&cache=shared&selenite_identity=raw:{}' AS other",
            fixture.path("a.db").display(),
            fixture.path("raw.key").display()
        ))
    };
    let read = |from: &Connection| code(from.query_row("SELECT count(*) FROM other.t", [], |_| Ok(())));
    let elsewhere = Connection::open_with_flags(fixture.path("plain.db"), flags()).unwrap();
    let refused = attach(&elsewhere);
    assert!(refused.is_err() || read(&elsewhere) != 0);
    assert!(
        Fixture::last_error().contains("another VFS"),
        "{}",
        Fixture::last_error()
    );
    drop(elsewhere);

    let own = open_shared(&fixture, "b.db").unwrap();
    own.execute_batch("CREATE TABLE x(y)").unwrap();
    attach(&own).unwrap();
    assert_eq!(read(&own), 0);
    // A connection that joins the cache is identified by its address.
    let elsewhere = Connection::open_with_flags(fixture.path("plain.db"), flags()).unwrap();
    let refused = attach(&elsewhere);
    assert!(refused.is_err() || read(&elsewhere) != 0);
}

#[test]
fn an_encrypted_database_is_attached_to_a_main_in_memory_of_the_same_vfs() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    let main = Connection::open_with_flags("file:main?vfs=selenite&mode=memory", flags()).unwrap();
    main.execute_batch(&format!(
        "ATTACH 'file:{}?vfs=selenite&selenite_identity=raw:{}' AS sealed",
        fixture.path("a.db").display(),
        fixture.path("raw.key").display()
    ))
    .unwrap();
    main.execute_batch("SELECT count(*) FROM sealed.t").unwrap();
}
