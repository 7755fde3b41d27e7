//! The SQL functions. They act on the open database of their connection, and do not execute SQL.

use std::any::Any;
use std::ffi::CString;
use std::path::Path;

use selenite_keyring::Unlocked;

use crate::change;
use crate::database::Content;
use crate::error::VfsError;
use crate::ffi::{Code, Entry, FunctionCall, LockLevel, SyncFlags, Table, Value, forget_cached};
use crate::forecast;
use crate::hand_over::{self, HandOver};
use crate::main_file::{EpochPages, MainFile, hand_over::announce_alone, hand_over::retire_plain, status};
use crate::metrics;
use crate::own_descriptors;
use crate::selenite::{host_of, last_error_of, make_default};
use crate::snapshot::{self, Snapshot};
use crate::thread_io;
use crate::wal_file::WalFile;

/// Functions that any statement may call: none of them removes or grants access, or opens a file.
pub const FUNCTIONS: &[Entry] = &[
    Entry {
        name: c"selenite_version",
        arguments: 0,
        body: version,
    },
    Entry {
        name: c"selenite_default",
        arguments: 1,
        body: default,
    },
    Entry {
        name: c"selenite_last_error",
        arguments: -1,
        body: last_error,
    },
    Entry {
        name: c"selenite_reserve",
        arguments: 2,
        body: reserve,
    },
    Entry {
        name: c"selenite_metrics",
        arguments: -1,
        body: metrics,
    },
];

/// Functions for operations on databases (`crates/storage/selenite`). The extension does not have
/// them: a statement that was injected into an application's SQL could make a database unusable
/// (`selenite_retire`) or empty the pool (`selenite_drop_pages`).
pub const ENGINE_FUNCTIONS: &[Entry] = &[
    Entry {
        name: c"selenite_apply",
        arguments: -1,
        body: apply,
    },
    Entry {
        name: c"selenite_old_pages",
        arguments: 4,
        body: old_pages,
    },
    Entry {
        name: c"selenite_cut",
        arguments: 1,
        body: cut,
    },
    Entry {
        name: c"selenite_read",
        arguments: 1,
        body: read,
    },
    Entry {
        name: c"selenite_sync_ns",
        arguments: 0,
        body: sync_ns,
    },
    Entry {
        name: c"selenite_drop_pages",
        arguments: 0,
        body: drop_pages,
    },
    Entry {
        name: c"selenite_page_reads",
        arguments: 0,
        body: page_reads,
    },
    Entry {
        name: c"selenite_open_references",
        arguments: 0,
        body: open_references,
    },
    Entry {
        name: c"selenite_announce",
        arguments: 2,
        body: announce,
    },
    Entry {
        name: c"selenite_retire",
        arguments: 1,
        body: retire,
    },
    Entry {
        name: c"selenite_log_end",
        arguments: 1,
        body: log_end,
    },
    Entry {
        name: c"selenite_hand_over",
        arguments: 1,
        body: hand_over,
    },
];

/// The table-valued functions.
pub const TABLES: &[Table] = &[
    Table {
        name: c"selenite_status",
        declaration: c"CREATE TABLE x(section TEXT, name TEXT, value, schema HIDDEN)",
        columns: 3,
        rows: status_rows,
    },
    Table {
        name: c"selenite_epochs",
        declaration: c"CREATE TABLE x(epoch INTEGER, suite TEXT, pages INTEGER, schema HIDDEN)",
        columns: 3,
        rows: epoch_rows,
    },
    Table {
        name: c"selenite_forecast",
        declaration: c"CREATE TABLE x(suite TEXT, period TEXT, seconds REAL, pages_read_per_s REAL, \
                       pages_written_per_s REAL, commits_per_s REAL, cpu REAL, cpu_low REAL, cpu_high REAL, \
                       page_read_p50_us REAL, page_read_p99_us REAL, commit_p50_us REAL, commit_p99_us REAL, \
                       schema HIDDEN)",
        columns: 13,
        rows: |file| rows_of(file, forecast::forecast_rows),
    },
    Table {
        name: c"selenite_file_counts",
        declaration: c"CREATE TABLE x(time REAL, since REAL, role TEXT, page_size INTEGER, reads INTEGER, \
                       bytes_read INTEGER, read_ns INTEGER, writes INTEGER, bytes_written INTEGER, \
                       write_ns INTEGER, syncs INTEGER, sync_ns INTEGER, commits INTEGER, frames INTEGER, \
                       reads_following INTEGER, bytes_following INTEGER, transactions INTEGER, \
                       bytes_appended INTEGER, schema HIDDEN)",
        columns: 18,
        rows: |file| rows_of(file, forecast::count_rows),
    },
];

fn version(_call: &FunctionCall<'_>) -> Result<Value, String> {
    Ok(Value::Text(env!("CARGO_PKG_VERSION").to_owned()))
}

/// `selenite_default(1)`: from now on, files that are opened without naming a VFS use this one. SQL
/// can't undo it: otherwise an injected statement could make the application write its next
/// database unencrypted.
fn default(call: &FunctionCall<'_>) -> Result<Value, String> {
    if call.integer(0).ok_or("selenite_default takes 1")? == 0 {
        return Err(
            "selenite_default(0) is refused: no SQL statement turns encryption off; the program itself can open a file \
             with vfs=unix in its URI, or call sqlite3_vfs_register"
                .to_owned(),
        );
    }
    make_default(call.api()).map_err(|error| error.to_string())?;
    Ok(Value::Integer(1))
}

/// `selenite_last_error()`: why a file of this connection was last refused, or one that it could
/// not attach; for a connection without a file of this VFS, any file in this process.
/// `selenite_last_error(file)`: the error of one file, by its path or its schema's name.
fn last_error(call: &FunctionCall<'_>) -> Result<Value, String> {
    let host = host_of(call.api()).ok_or("not installed")?;
    let files = call.files();
    let found = match call.count() {
        0 => last_error_of(call.api(), &files),
        1 => {
            let named = call.text(0).ok_or("selenite_last_error takes a file or a schema")?;
            let of_schema = files.iter().find(|file| file.schema.eq_ignore_ascii_case(&named));
            match of_schema.and_then(|file| file.path.clone()) {
                Some(path) => host.last_error_at(Path::new(&path)),
                None => host.last_error_at(Path::new(&named)),
            }
        }
        _ => return Err("selenite_last_error takes nothing, a file or a schema".to_owned()),
    };
    Ok(found.map_or(Value::Null, |error| Value::Text(error.message)))
}

/// `selenite_apply(token [, schema])`: see [`change`].
fn apply(call: &FunctionCall<'_>) -> Result<Value, String> {
    let token = call.integer(0).ok_or("selenite_apply takes a token")?;
    let mut change = Some(change::take(token).ok_or("no change is staged under this token")?);
    with_main(call, 1, |main| {
        let change = change.take().ok_or(VfsError::Setting("applied twice".to_owned()))?;
        let database = main.database.clone();
        let mut inner = database.lock();
        database.change_superblock(&mut inner, change)
    })?;
    Ok(Value::Integer(1))
}

/// `selenite_reserve(schema, count)`: a later VACUUM leaves `count` bytes free in every page.
fn reserve(call: &FunctionCall<'_>) -> Result<Value, String> {
    let schema = schema_of(call, 0)?;
    let count = call
        .integer(1)
        .and_then(|count| i32::try_from(count).ok())
        .ok_or("a count of bytes is missing")?;
    call.reserve_bytes(&schema, count).map_err(|code| code.to_string())?;
    Ok(Value::Integer(i64::from(count)))
}

/// `selenite_announce(schema, 1)`: marks an unencrypted file before another one takes its name, as `selenite_retire`
/// does; with 0 it takes the mark back. Needs the exclusive lock.
fn announce(call: &FunctionCall<'_>) -> Result<Value, String> {
    let is_next = call.integer(1).ok_or("selenite_announce takes 1 or 0")? != 0;
    with_main(call, 0, |main| {
        check_exclusive(main)?;
        announce_alone(main, is_next)
    })?;
    Ok(Value::Integer(1))
}

fn check_exclusive(main: &MainFile) -> Result<(), VfsError> {
    if main.database.lock().level < LockLevel::EXCLUSIVE {
        return Err(VfsError::Setting(
            "a file is retired after BEGIN EXCLUSIVE, in rollback mode".to_owned(),
        ));
    }
    Ok(())
}

/// `selenite_retire(schema)`: marks a file that was replaced by another of the same name, so that a
/// connection that still has it open gets an error at its next read instead of stale data. Needs
/// the exclusive lock.
fn retire(call: &FunctionCall<'_>) -> Result<Value, String> {
    with_main(call, 0, |main| {
        check_exclusive(main)?;
        let database = main.database.clone();
        let mut inner = database.lock();
        match inner.content() {
            Content::Sealed(_) => database.change_superblock(&mut inner, |unlocked: &Unlocked| {
                let mut next = unlocked.with_generation(unlocked.superblock.generation + 1);
                next.retire();
                Ok((next, true))
            }),
            Content::Empty => Err(VfsError::NotEncrypted("it is empty")),
            Content::Plain => {
                retire_plain(&mut inner.lower)?;
                Ok(inner.lower.sync(SyncFlags::FULL)?)
            }
        }
    })?;
    Ok(Value::Integer(1))
}

/// `selenite_log_end(schema)`: the salts of the log that the connection's read transaction sees, in hexadecimal, and the
/// number of its frames.
fn log_end(call: &FunctionCall<'_>) -> Result<Value, String> {
    let mut text = String::new();
    with_main(call, 0, |main| {
        let index = main
            .log_end()
            .ok_or(VfsError::SettingsMismatch("no read transaction in WAL mode"))?;
        text = format!("{:016x} {}", u64::from_be_bytes(index.salts()), index.frame_count());
        Ok(())
    })?;
    Ok(Value::Text(text))
}

/// `selenite_hand_over(token)`: passes a write transaction's file to what is staged under this token: see
/// [`hand_over`](crate::hand_over).
fn hand_over(call: &FunctionCall<'_>) -> Result<Value, String> {
    let token = call.integer(0).ok_or("selenite_hand_over takes a token")?;
    let work = hand_over::take(token).ok_or("nothing is staged under this token")?;
    let mut work = Some(work);
    with_main(call, 1, |main| {
        if let Some(work) = work.take() {
            work(&mut HandOver::new(main)?);
        }
        Ok(())
    })?;
    Ok(Value::Integer(1))
}

/// `selenite_old_pages(schema, first, look_count, find_count)`: the pages of the file, from `first`
/// on, that are not sealed under the current epoch. Returns where to continue (0 at the end), and
/// ranges of pages: `812 3-9 700-700`.
fn old_pages(call: &FunctionCall<'_>) -> Result<Value, String> {
    let number = |argument| {
        let given = call.integer(argument).and_then(|number| u32::try_from(number).ok());
        given.ok_or("selenite_old_pages takes a schema and three counts")
    };
    let (first, look_count, find_count) = (number(1)?, number(2)?, number(3)?);
    let mut text = String::new();
    with_main(call, 0, |main| {
        let found = main.old_pages(first, look_count, find_count)?;
        text = found.next.to_string();
        for (first, last) in found.runs {
            text.push_str(&format!(" {first}-{last}"));
        }
        Ok(())
    })?;
    Ok(Value::Text(text))
}

/// `selenite_read(token)`: see [`snapshot`].
fn read(call: &FunctionCall<'_>) -> Result<Value, String> {
    let token = call.integer(0).ok_or("selenite_read takes a token")?;
    let reader = snapshot::take(token).ok_or("no reader is staged under this token")?;
    with_snapshot(call, 1, reader)?;
    Ok(Value::Integer(1))
}

/// Passes `reader` the connection's view of a database in its current read transaction. The
/// schema's name is in `argument`, or `main`.
///
/// # Errors
/// A message: no read transaction, or a write transaction; exclusive mode; not encrypted.
pub fn with_snapshot(
    call: &FunctionCall<'_>,
    argument: usize,
    reader: impl FnOnce(&mut Snapshot<'_>),
) -> Result<(), String> {
    let schema = schema_of(call, argument)?;
    let mut reader = Some(reader);
    with_main(call, argument, |main| {
        let reader = reader.take().ok_or(VfsError::Setting("read twice".to_owned()))?;
        if !main.database.has_log() {
            reader(&mut Snapshot::new(main, None)?);
            return Ok(());
        }
        let mut reader = Some(reader);
        let mut outcome = Err(VfsError::Lower(Code::NOTFOUND));
        call.visit_log(&schema, &mut |file| {
            if let (Some(log), Some(reader)) = (file.downcast_mut::<WalFile>(), reader.take()) {
                outcome = Snapshot::new(main, Some(log)).map(|mut snapshot| reader(&mut snapshot));
            }
        })?;
        outcome
    })
}

/// `selenite_sync_ns()`: nanoseconds that this process spent in syncs. Unlike `selenite_status` it
/// takes no lock.
fn sync_ns(call: &FunctionCall<'_>) -> Result<Value, String> {
    let host = host_of(call.api()).ok_or("not installed")?;
    Ok(Value::Integer(
        i64::try_from(host.sync_clock.read()).unwrap_or(i64::MAX),
    ))
}

/// `selenite_drop_pages()`: empties the pool, and asks the system to remove the open files from its
/// page cache. Connections have to empty their own page caches (`PRAGMA shrink_memory`).
fn drop_pages(call: &FunctionCall<'_>) -> Result<Value, String> {
    let host = host_of(call.api()).ok_or("not installed")?;
    host.pool.clear();
    for path in host.open_paths() {
        for suffix in ["", "-wal"] {
            for descriptor in own_descriptors::of(Path::new(&format!("{path}{suffix}"))) {
                forget_cached(descriptor);
            }
        }
    }
    Ok(Value::Integer(1))
}

/// `selenite_page_reads()`: five counts separated by blanks. Pages found in the connection's own
/// caches, and pages not found there, both modulo 2^31; and for this thread: pages found in the
/// pool, pages read ahead that were requested, and all pages read ahead that are no longer kept.
fn page_reads(call: &FunctionCall<'_>) -> Result<Value, String> {
    let (hits, misses) = call.cache_reads().map_err(|code| code.to_string())?;
    let of_thread = thread_io::read();
    let (pool, used, wasted) = (of_thread.pool_hits, of_thread.ahead_used, of_thread.ahead_wasted);
    Ok(Value::Text(format!("{hits} {misses} {pool} {used} {}", used + wasted)))
}

/// `selenite_open_references()`: 1 while the connection's transaction violates a foreign key under
/// `PRAGMA defer_foreign_keys` or a deferred constraint, so that COMMIT would fail. Otherwise 0.
fn open_references(call: &FunctionCall<'_>) -> Result<Value, String> {
    let is_open = call.has_open_references().map_err(|code| code.to_string())?;
    Ok(Value::Integer(i64::from(is_open)))
}

/// `selenite_cut(schema)`: truncates what SQLite left after the last page. Inside BEGIN IMMEDIATE,
/// with an empty log.
fn cut(call: &FunctionCall<'_>) -> Result<Value, String> {
    with_main(call, 0, MainFile::cut_behind_end)?;
    Ok(Value::Integer(1))
}

/// `selenite_metrics()`, `selenite_metrics(schema)`: counts and forecasts in Prometheus' format.
fn metrics(call: &FunctionCall<'_>) -> Result<Value, String> {
    if call.count() > 1 {
        return Err("selenite_metrics takes nothing or a schema".to_owned());
    }
    let schema = schema_of(call, 0)?;
    let mut text = String::new();
    with_main(call, 0, |main| {
        text = metrics::text(main, &schema.to_string_lossy())?;
        Ok(())
    })?;
    Ok(Value::Text(text))
}

fn rows_of(
    file: &mut dyn Any,
    rows: fn(&mut MainFile) -> Result<Vec<Vec<Value>>, VfsError>,
) -> Result<Vec<Vec<Value>>, Code> {
    let Some(main) = file.downcast_mut::<MainFile>() else {
        return Ok(Vec::new());
    };
    rows(main).map_err(|error| main.database.report(&error))
}

fn status_rows(file: &mut dyn Any) -> Result<Vec<Vec<Value>>, Code> {
    Ok(file.downcast_mut::<MainFile>().map(status::rows).unwrap_or_default())
}

/// A separate table, so that a query on `selenite_status` never reads every page's trailer.
fn epoch_rows(file: &mut dyn Any) -> Result<Vec<Vec<Value>>, Code> {
    let Some(main) = file.downcast_mut::<MainFile>() else {
        return Ok(Vec::new());
    };
    let epochs = main
        .epoch_census()
        .map_err(|error| main.database.report(&error))?
        .into_iter();
    let row = |epoch: EpochPages| {
        vec![
            Value::Integer(i64::from(epoch.epoch)),
            epoch
                .suite
                .map_or(Value::Null, |suite| Value::Text(suite.name().to_owned())),
            Value::Integer(i64::try_from(epoch.pages).unwrap_or(i64::MAX)),
        ]
    };
    Ok(epochs.map(row).collect())
}

fn schema_of(call: &FunctionCall<'_>, argument: usize) -> Result<CString, String> {
    let schema = call.text(argument).unwrap_or_else(|| "main".to_owned());
    CString::new(schema).map_err(|_| "a schema's name has no zero byte".to_owned())
}

fn with_main(
    call: &FunctionCall<'_>,
    argument: usize,
    mut body: impl FnMut(&mut MainFile) -> Result<(), VfsError>,
) -> Result<(), String> {
    let schema = schema_of(call, argument)?;
    let mut outcome = Err(VfsError::Lower(Code::NOTFOUND));
    let visited = call.visit(&schema, &mut |file| {
        if let Some(main) = file.downcast_mut::<MainFile>() {
            outcome = body(main);
        }
    });
    visited.map_err(|_| format!("database {} is not open through selenite", schema.to_string_lossy()))?;
    outcome.map_err(|error| error.to_string())
}
