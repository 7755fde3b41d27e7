//! FETCH: moves a cursor, and reads the rows that it is on.

use std::ops::Range;
use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::program::{Program, StatementId};
use selenite_compiler::statement::CursorRead;
use selenite_runtime::machine::{Failure, TableStatement};
use selenite_types::Value;

use crate::cursor::{BufferRow, CursorId, CursorKind, CursorPlace, CursorRows, KeptColumns, Movement, moved};
use crate::execution::cursor_work::CursorReading;
use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::ExecutionContext;
use crate::memory;

/// A row of a fetch.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Fetched {
    /// Its values.
    Row(Vec<Value>),
    /// One that is no longer there.
    Missing,
}

/// Rows with their rowids and versions, in the cursor's order.
type ReadRows = Vec<(Vec<Value>, i64, u64)>;

impl SessionExecutor<'_> {
    /// Moves a cursor, and reads at most `count` rows from there on: none if it is before or behind all rows.
    pub(crate) fn fetch_rows(
        &mut self,
        id: CursorId,
        (movement, count): (Movement, usize),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Vec<Fetched>, Failure> {
        let cursor = self.cursors.cursor(id)?;
        if count == 0 && movement != Movement::Relative(0) {
            cursor.opened()?.leave(movement == Movement::Last);
            return Ok(Vec::new());
        }
        match cursor.kind.clone() {
            CursorKind::Static(_) => Ok(self.fetch_kept(id, (movement, count))?),
            CursorKind::Keyset(_) => self.fetch_by_key(id, (movement, count), execution),
            CursorKind::Dynamic(_, up) => self.fetch_by_walk(id, up, (movement, count), execution),
        }
    }

    /// The positions of the rows after a movement.
    fn move_kept(&mut self, id: CursorId, (movement, count): (Movement, usize)) -> Result<Range<i64>, SqlError> {
        let open = self.cursors.cursor(id)?.opened()?;
        let buffered = i64::try_from(open.buffer.len()).unwrap_or(i64::MAX);
        let CursorPlace::Kept { rows, position } = &mut open.place else {
            return Err(SqlError::internal("a cursor without rows"));
        };
        let total = i64::try_from(rows.count()).unwrap_or(i64::MAX);
        let wanted = i64::try_from(count).unwrap_or(i64::MAX);
        if movement == Movement::Before {
            let end = *position;
            *position = end.saturating_sub(wanted).max(i64::from(end > 1));
            return Ok(if *position == 0 { 0..0 } else { *position..end });
        }
        let (from, step) = match movement {
            // The rows behind those of the buffer, and as many before them.
            Movement::Next if buffered > 0 => (*position, Movement::Relative(buffered)),
            Movement::Prior => (*position, Movement::Relative(wanted.saturating_neg())),
            Movement::Last => (*position, Movement::Absolute(wanted.saturating_neg())),
            Movement::Next | Movement::Before | Movement::First | Movement::Absolute(_) | Movement::Relative(_) => {
                (*position, movement)
            }
        };
        let mut first = moved(from, total, step);
        let is_last = movement == Movement::Last;
        // A whole buffer from the first row on, if less than that is before the old one.
        let is_cut = movement == Movement::Prior && *position > 1 || is_last;
        if first == 0 && is_cut && total > 0 {
            first = 1;
        }
        *position = first;
        if first == 0 {
            return Ok(0..0);
        }
        let end = first.saturating_add(wanted).min(total.saturating_add(1));
        Ok(first..end)
    }

    fn fetch_kept(&mut self, id: CursorId, by: (Movement, usize)) -> Result<Vec<Fetched>, SqlError> {
        let positions = self.move_kept(id, by)?;
        let open = self.cursors.cursor(id)?.opened()?;
        let mut fetched = Vec::new();
        if let CursorPlace::Kept { rows, .. } = &open.place {
            for position in positions {
                memory::reserve(0)?;
                fetched.extend(rows.row(position)?.map(Fetched::Row));
            }
        }
        open.buffer = vec![BufferRow::Kept; fetched.len()];
        Ok(fetched)
    }

    fn fetch_by_key(
        &mut self,
        id: CursorId,
        by: (Movement, usize),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Vec<Fetched>, Failure> {
        let positions = self.move_kept(id, by)?;
        let (mut fetched, mut buffer) = (Vec::new(), Vec::new());
        for position in positions {
            let open = self.cursors.cursor(id)?.opened()?;
            let CursorPlace::Kept { rows, .. } = &open.place else {
                return Err(SqlError::internal("a cursor without keys").into());
            };
            memory::reserve(0)?;
            let Some(key) = rows.row(position)? else { continue };
            let read = self.read_cursor(id, CursorRead::Row, key, execution)?;
            let (row, in_buffer) = match read.into_iter().next() {
                Some((row, row_id, version)) => (Fetched::Row(row), BufferRow::Stored { row_id, version }),
                None => (Fetched::Missing, BufferRow::Missing),
            };
            fetched.push(row);
            buffer.push(in_buffer);
        }
        self.cursors.cursor(id)?.opened()?.buffer = buffer;
        Ok(fetched)
    }

    /// A dynamic cursor. `up` is the direction of NEXT.
    fn fetch_by_walk(
        &mut self,
        id: CursorId,
        up: CursorRead,
        (movement, count): (Movement, usize),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Vec<Fetched>, Failure> {
        let wanted = i64::try_from(count).unwrap_or(i64::MAX);
        let down = opposite(up);
        let place = match self.cursors.cursor(id)?.opened()?.place {
            CursorPlace::On(first, last) => WalkPlace::On(first, last),
            CursorPlace::After => WalkPlace::After,
            CursorPlace::Before | CursorPlace::Kept { .. } => WalkPlace::Before,
        };
        let (walk, mut rows) = match walk_of(place, movement, up)? {
            Walk::Refresh(first) => {
                let rows = self.walk(id, up, (Some(first), 0, wanted), execution)?;
                if rows.first().is_none_or(|(_, row_id, _)| *row_id != first) {
                    self.cursors.cursor(id)?.opened()?.buffer = vec![BufferRow::Missing];
                    return Ok(vec![Fetched::Missing]);
                }
                (up, rows)
            }
            Walk::Outside(is_after) => {
                let read = if is_after { up } else { down };
                (read, Vec::new())
            }
            Walk::Rows { read, from, skip } => (read, self.walk(id, read, (from, skip, wanted), execution)?),
            // The row so many before, and those behind it.
            Walk::Back { from, skip } => match self.walk(id, down, (from, skip, 1), execution)?.first() {
                Some((_, row_id, _)) => {
                    let row_id = *row_id;
                    (up, self.walk(id, up, (Some(row_id), 0, wanted), execution)?)
                }
                None => (down, Vec::new()),
            },
        };
        if walk == down {
            rows.reverse();
            // A whole buffer from the first row on, if less than that is before the old one.
            let is_short = i64::try_from(rows.len()).is_ok_and(|length| length < wanted);
            if !rows.is_empty() && is_short && movement != Movement::Before {
                rows = self.walk(id, up, (None, 0, wanted), execution)?;
            }
        }
        let open = self.cursors.cursor(id)?.opened()?;
        open.place = match (rows.first(), rows.last()) {
            (Some((_, first, _)), Some((_, last, _))) => CursorPlace::On(*first, *last),
            _ if walk == up => CursorPlace::After,
            _ => CursorPlace::Before,
        };
        let stored = |(_, row_id, version): &(_, i64, u64)| BufferRow::Stored {
            row_id: *row_id,
            version: *version,
        };
        open.buffer = rows.iter().map(stored).collect();
        Ok(rows.into_iter().map(|(row, ..)| Fetched::Row(row)).collect())
    }

    /// Rows in one direction: from a rowid on or the first one, after so many, at most so many.
    fn walk(
        &mut self,
        id: CursorId,
        read: CursorRead,
        (from, skip, count): (Option<i64>, i64, i64),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<ReadRows, Failure> {
        let first = match read {
            CursorRead::Downwards => i64::MAX,
            CursorRead::Upwards | CursorRead::Keys | CursorRead::Row => i64::MIN,
        };
        let hidden = [from.unwrap_or(first), skip, count].map(Value::BigInt);
        self.read_cursor(id, read, hidden.to_vec(), execution)
    }

    /// Runs a read of a cursor's query.
    fn read_cursor(
        &mut self,
        id: CursorId,
        read: CursorRead,
        hidden: Vec<Value>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<ReadRows, Failure> {
        let (rows, versions) = self.run_read(id, (read, KeptColumns::All), hidden, execution)?;
        let mut versions = versions.into_iter();
        let mut found = Vec::new();
        for position in 1..=i64::try_from(rows.count()).unwrap_or(i64::MAX) {
            let mut row = rows.row(position)?.unwrap_or_default();
            let Some(Value::BigInt(row_id)) = row.pop() else {
                return Err(SqlError::internal("a row of a cursor without its rowid").into());
            };
            found.push((row, row_id, versions.next().unwrap_or_default()));
        }
        Ok(found)
    }

    /// Runs a read of a cursor's query, and returns the rows with the hidden columns, and their versions.
    pub(crate) fn run_read(
        &mut self,
        id: CursorId,
        (read, kept): (CursorRead, KeptColumns),
        hidden: Vec<Value>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(CursorRows, Vec<u64>), Failure> {
        let current = self.transactions.current;
        let cursor = self.cursors.cursor(id)?;
        if cursor.database_id != current {
            return Err(SqlError::unsupported("FETCH from a cursor that was declared in another database").into());
        }
        let Some(table) = cursor.kind.table().cloned() else {
            return Err(SqlError::internal("a static cursor that reads").into());
        };
        let (program, query, mut slots) = (Arc::clone(&cursor.program), cursor.query, cursor.slots.clone());
        slots.extend(hidden);
        let notes_versions = read != CursorRead::Keys && cursor.changeable().is_ok();
        let (is_open, module) = (cursor.open.is_some(), cursor.module.clone());
        let selected = query_of(&program, query)?;
        self.permit(&selected)?;
        self.cursor_work.module = Some(module);
        self.cursor_work.reading = Some(CursorReading {
            cursor: id,
            read,
            table,
            notes_versions,
            versions: Vec::new(),
        });
        let rows = CursorRows::new(self.session.instance.access(), kept);
        let outer = execution.reply.keep_rows(Some(rows));
        let done = self.on_tables(&selected, &mut slots, execution);
        let rows = execution.reply.keep_rows(outer);
        let reading = self.cursor_work.reading.take();
        self.cursor_work.module = None;
        done.map_err(|failure| match failure {
            Failure::Error(error) if matches!(error.number(), 207 | 208) && is_open => {
                SqlError::cursor_schema_changed().into()
            }
            failure @ (Failure::Error(_) | Failure::Stop(_)) => gone_table(failure),
        })?;
        let (rows, reading) = rows
            .zip(reading)
            .ok_or_else(|| SqlError::internal("a cursor without rows"))?;
        Ok((rows, reading.versions))
    }
}

/// Where a dynamic cursor is.
#[derive(Clone, Copy)]
enum WalkPlace {
    Before,
    On(i64, i64),
    After,
}

/// How a dynamic cursor moves.
enum Walk {
    /// Reads its rows again.
    Refresh(i64),
    /// To no row: behind all of them, or before them.
    Outside(bool),
    /// To rows in a direction.
    Rows {
        read: CursorRead,
        from: Option<i64>,
        skip: i64,
    },
    /// Back to a row, and the rows behind it.
    Back { from: Option<i64>, skip: i64 },
}

/// Errors: 16925 for ABSOLUTE.
fn walk_of(place: WalkPlace, movement: Movement, up: CursorRead) -> Result<Walk, SqlError> {
    let down = opposite(up);
    let rows = |read, from, skip| Walk::Rows { read, from, skip };
    Ok(match (movement, place) {
        (Movement::First, _) | (Movement::Next, WalkPlace::Before) => rows(up, None, 0),
        (Movement::Last, _) | (Movement::Prior | Movement::Before, WalkPlace::After) => rows(down, None, 0),
        (Movement::Next, WalkPlace::On(_, last)) => match beyond(last, up) {
            Some(from) => rows(up, Some(from), 0),
            None => Walk::Outside(true),
        },
        (Movement::Prior | Movement::Before, WalkPlace::On(first, _)) => match beyond(first, down) {
            Some(from) => rows(down, Some(from), 0),
            None => Walk::Outside(false),
        },
        (Movement::Next, WalkPlace::After) => Walk::Outside(true),
        (Movement::Prior | Movement::Before, WalkPlace::Before) => Walk::Outside(false),
        (Movement::Absolute(_), _) => return Err(SqlError::fetch_dynamic(movement.name())),
        (Movement::Relative(0), WalkPlace::On(first, _)) => Walk::Refresh(first),
        (Movement::Relative(count), WalkPlace::Before) if count > 0 => rows(up, None, count - 1),
        (Movement::Relative(count), WalkPlace::After) if count < 0 => back(None, count),
        (Movement::Relative(_), WalkPlace::Before) => Walk::Outside(false),
        (Movement::Relative(_), WalkPlace::After) => Walk::Outside(true),
        (Movement::Relative(count), WalkPlace::On(first, _)) => {
            match (count > 0, beyond(first, up), beyond(first, down)) {
                (true, Some(from), _) => rows(up, Some(from), count - 1),
                (false, _, Some(from)) => back(Some(from), count),
                (is_up, ..) => Walk::Outside(is_up),
            }
        }
    })
}

/// `-count` rows back.
fn back(from: Option<i64>, count: i64) -> Walk {
    let skip = count.saturating_add(1).saturating_neg();
    Walk::Back { from, skip }
}

/// The next rowid in a direction.
fn beyond(row_id: i64, read: CursorRead) -> Option<i64> {
    match read {
        CursorRead::Downwards => row_id.checked_sub(1),
        CursorRead::Upwards | CursorRead::Keys | CursorRead::Row => row_id.checked_add(1),
    }
}

fn opposite(read: CursorRead) -> CursorRead {
    match read {
        CursorRead::Downwards => CursorRead::Upwards,
        CursorRead::Upwards | CursorRead::Keys | CursorRead::Row => CursorRead::Downwards,
    }
}

/// A table variable of a frame that has ended.
pub(crate) fn gone_table(failure: Failure) -> Failure {
    match failure {
        Failure::Error(error) if error.number() == 1087 => SqlError::cursor_tables_gone().into(),
        failure @ (Failure::Error(_) | Failure::Stop(_)) => failure,
    }
}

pub(crate) fn query_of(program: &Arc<Program>, id: StatementId) -> Result<TableStatement<'_>, SqlError> {
    let statement = program.statement(id);
    let statement = statement.ok_or_else(|| SqlError::internal("a cursor without a query"))?;
    Ok(TableStatement { program, id, statement })
}
