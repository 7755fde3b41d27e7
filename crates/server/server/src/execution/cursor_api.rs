//! Cursors of procedures: sp_cursoropen, sp_cursorfetch and related ones.
//!
//! - `options-are-overridden`: as in SQL Server, a cursor is of another kind than was asked for where that can't be,
//!   and the client is told of which, unless it has said which kinds it accepts. SCROLL_LOCKS becomes OPTIMISTIC.

use selenite_compiler::SqlError;
use selenite_compiler::program::{CursorRule, CursorSensitivity};
use selenite_runtime::machine::{Affected, Failure, TableStatement};
use selenite_tds::{Collation, Column, ColumnInfo};
use selenite_types::{DataType, Value};

use crate::cursor::{Cursor, CursorId, CursorKind, CursorOperation, CursorPlace, Holder, Movement};
use crate::execution::cursor_fetch::Fetched;
use crate::execution::cursor_work::{ApiOpened, ApiRequest};
use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::ExecutionContext;

/// What is fetched by a procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ApiFetch {
    pub movement: Movement,
    /// How many rows at most; as many as were fetched last if `None`.
    pub row_count: Option<usize>,
    /// Whether the client knows the columns.
    pub is_known: bool,
}

impl SessionExecutor<'_> {
    /// Declares and opens the cursor that the client asks for.
    pub(crate) fn open_query(
        &mut self,
        of: (&TableStatement<'_>, &[Value]),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let Some(request) = self.cursor_work.request.take() else {
            return Err(SqlError::no_cursor_for_statement().into());
        };
        let id = self.new_cursor((request.rule()?, Holder::Number, ""), of, execution)?;
        let done = self.open_requested(id, request, execution);
        if done.is_err() {
            self.cursors.forget_number(id);
        }
        done.map(Affected::Rows)
    }

    /// Opens a new cursor, and sends its columns and what AUTO_FETCH reads.
    fn open_requested(
        &mut self,
        id: CursorId,
        request: ApiRequest,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<u64, Failure> {
        let mut opened = request.granted(self.cursors.cursor(id)?)?;
        self.open_cursor(id, execution)?;
        opened.cursor = i32::try_from(id.0).unwrap_or_default();
        opened.row_count = execution.state.session.cursor_rows;
        let mut fetched = Vec::new();
        let mut closes = false;
        if request.scroll & AUTO_FETCH != 0 {
            let wanted = match usize::try_from(request.row_count) {
                Ok(count) if count > 0 => count,
                _ => ROW_COUNT_DEFAULT,
            };
            fetched = self.fetch_rows(id, (Movement::Next, wanted), execution)?;
            opened.row_count = i32::try_from(fetched.len()).unwrap_or(i32::MAX);
            closes = request.scroll & AUTO_CLOSE != 0 && fetched.len() < wanted;
        }
        self.send_rows(id, (&fetched, false), execution)?;
        if closes {
            self.cursors.forget_number(id);
        }
        self.cursor_work.opened = Some(opened);
        Ok(u64::try_from(fetched.len()).unwrap_or(u64::MAX))
    }

    /// Fetches rows and sends them. Answers whether the cursor has been closed with its last row.
    ///
    /// # Errors
    /// 16911, 16925; those of the read.
    pub(crate) fn fetch_for_client(
        &mut self,
        id: CursorId,
        fetch: ApiFetch,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<bool, Failure> {
        let cursor = self.cursors.cursor(id)?;
        let is_forward = matches!(fetch.movement, Movement::Next | Movement::Relative(0));
        if !cursor.rule.scrolls && !is_forward {
            return Err(SqlError::fetch_forward_only("sp_cursorfetch", fetch.movement.name()).into());
        }
        let (is_static, auto_closes) = (cursor.kind.table().is_none(), cursor.auto_closes);
        if let (CursorKind::Dynamic(..), Movement::Absolute(_)) = (&cursor.kind, fetch.movement) {
            return Err(SqlError::fetch_dynamic(fetch.movement.name()).into());
        }
        let row_count = fetch.row_count.unwrap_or(cursor.opened()?.buffer.len());
        let fetched = self.fetch_rows(id, (fetch.movement, row_count), execution)?;
        let cursor = self.cursors.cursor(id)?;
        cursor.note(CursorOperation::Fetch, fetched.len());
        cursor.activity.fetch_status = if fetched.is_empty() { -1 } else { 0 };
        execution.state.session.cursors = self.cursors.facts();
        self.send_rows(id, (&fetched, fetch.is_known), execution)?;
        let closes = is_static && auto_closes && fetched.len() < row_count;
        if closes {
            self.cursors.forget_number(id);
        }
        Ok(closes)
    }

    fn send_columns(
        &mut self,
        id: CursorId,
        is_known: bool,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let cursor = self.cursors.cursor(id)?;
        let is_keyset = matches!(cursor.kind, CursorKind::Keyset(_));
        let mut columns = cursor.opened()?.columns.clone();
        for column in &mut columns {
            // A row that is gone has no values.
            column.is_nullable |= is_keyset;
        }
        columns.push(Column {
            name: "ROWSTAT".to_owned(),
            data_type: DataType::Int,
            is_nullable: false,
            is_identity: false,
            is_computed: true,
            collation: Collation::DEFAULT,
        });
        let info = column_info(cursor, &columns);
        let table = cursor.kind.table().map(|table| match table.is_temporary() {
            true => vec![table.name.as_str()],
            false => vec![table.schema.as_str(), table.name.as_str()],
        });
        execution
            .reply
            .cursor_columns(&columns, (table.as_deref(), &info), is_known)
    }

    /// Sends rows behind their columns, which the client may know.
    fn send_rows(
        &mut self,
        id: CursorId,
        (fetched, is_known): (&[Fetched], bool),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        self.send_columns(id, is_known, execution)?;
        let width = self.cursors.cursor(id)?.opened()?.columns.len();
        for row in fetched {
            let (mut values, state) = match row {
                Fetched::Row(values) => (values.clone(), FETCH_SUCCEEDED),
                Fetched::Missing => (vec![Value::Null; width], FETCH_MISSING),
            };
            values.push(Value::Int(state));
            execution.reply.row(&values)?;
        }
        Ok(())
    }

    /// Where a cursor is, and how many rows it has: sp_cursorfetch with INFO.
    pub(crate) fn fetch_info(&mut self, id: CursorId) -> Result<(i32, i32), SqlError> {
        let cursor = self.cursors.cursor(id)?;
        let Some(open) = &cursor.open else { return Ok((0, 0)) };
        let total = open.row_count();
        let position = match &open.place {
            CursorPlace::Kept { position, .. } if *position > i64::from(total) => BEHIND,
            CursorPlace::Kept { position, .. } => i32::try_from(*position).unwrap_or(i32::MAX),
            CursorPlace::Before => 0,
            CursorPlace::On(..) => 1,
            CursorPlace::After => BEHIND,
        };
        Ok((position, total))
    }
}

impl ApiRequest {
    /// The rule of the cursor.
    ///
    /// Errors: 16902 for kinds that exclude each other.
    fn rule(self) -> Result<CursorRule, SqlError> {
        let sensitivity = match self.scroll & KINDS {
            // KEYSET is the default.
            0 | KEYSET => CursorSensitivity::Keyset,
            DYNAMIC | FORWARD_ONLY => CursorSensitivity::Dynamic,
            STATIC | FAST_FORWARD => CursorSensitivity::Static,
            _ => return Err(SqlError::cursor_argument("sp_cursoropen", "scrollopt")),
        };
        let is_read_only = match self.concurrency & CONCURRENCIES {
            READ_ONLY => true,
            0 | SCROLL_LOCKS | OPTIMISTIC | OPTIMISTIC_VALUES => sensitivity == CursorSensitivity::Static,
            _ => return Err(SqlError::cursor_argument("sp_cursoropen", "ccopt")),
        };
        Ok(CursorRule {
            is_local: Some(false),
            sensitivity,
            scrolls: self.scroll & (FORWARD_ONLY | FAST_FORWARD) == 0,
            is_read_only,
            for_update: None,
            warns: false,
        })
    }

    /// The options that a cursor has: `options-are-overridden`.
    ///
    /// Errors: 16955 for what the client does not accept.
    fn granted(self, cursor: &mut Cursor) -> Result<ApiOpened, SqlError> {
        let scroll = match &cursor.kind {
            CursorKind::Static(_) if self.scroll & FAST_FORWARD != 0 => FAST_FORWARD,
            CursorKind::Static(_) => STATIC,
            CursorKind::Keyset(_) => KEYSET,
            CursorKind::Dynamic(..) if self.scroll & FORWARD_ONLY != 0 => FORWARD_ONLY,
            CursorKind::Dynamic(..) => DYNAMIC,
        };
        let concurrency = match self.concurrency & CONCURRENCIES {
            _ if cursor.changeable().is_err() => READ_ONLY,
            OPTIMISTIC => OPTIMISTIC,
            _ => OPTIMISTIC_VALUES,
        };
        let accepts = |asked: i32, granted: i32| {
            asked & CHECK_ACCEPTED == 0 || asked & granted != 0 || asked & (granted * ACCEPTED) != 0
        };
        if !accepts(self.scroll, scroll) || !accepts(self.concurrency, concurrency) {
            return Err(SqlError::not_acceptable());
        }
        cursor.auto_closes = self.scroll & AUTO_CLOSE != 0;
        Ok(ApiOpened {
            scroll,
            concurrency,
            ..ApiOpened::default()
        })
    }
}

/// What the columns come from, the last of which is ROWSTAT.
fn column_info(cursor: &Cursor, columns: &[Column]) -> Vec<ColumnInfo> {
    let table = cursor.kind.table();
    let last = columns.len().saturating_sub(1);
    let info = |(at, column): (usize, &Column)| {
        let origin = cursor.origins.get(at).copied().flatten();
        let base = table.zip(origin).and_then(|(table, at)| table.columns.get(at));
        let Some((base, origin)) = base.zip(origin).filter(|_| at != last) else {
            return ColumnInfo::expression(at == last);
        };
        let is_key = table.is_some_and(|table| table.keys.iter().any(|key| key.columns.contains(&origin)));
        ColumnInfo {
            table: 1,
            is_key,
            is_hidden: false,
            base_name: (base.name != column.name).then(|| base.name.clone()),
        }
    };
    columns.iter().enumerate().map(info).collect()
}

/// sp_cursoropen, scrollopt.
const KEYSET: i32 = 0x1;
const DYNAMIC: i32 = 0x2;
const FORWARD_ONLY: i32 = 0x4;
const STATIC: i32 = 0x8;
const FAST_FORWARD: i32 = 0x10;
const KINDS: i32 = 0x1F;
const AUTO_FETCH: i32 = 0x2000;
const AUTO_CLOSE: i32 = 0x4000;
/// sp_cursoropen, ccopt.
const READ_ONLY: i32 = 0x1;
const SCROLL_LOCKS: i32 = 0x2;
const OPTIMISTIC: i32 = 0x4;
const OPTIMISTIC_VALUES: i32 = 0x8;
const CONCURRENCIES: i32 = 0xF;
/// Of both: the client says what it accepts.
const CHECK_ACCEPTED: i32 = 0x8000;
/// How far what is accepted is from the option, as a factor.
const ACCEPTED: i32 = 0x10000;
/// How many rows are fetched if that is not said.
pub(crate) const ROW_COUNT_DEFAULT: usize = 20;
/// Of ROWSTAT.
const FETCH_SUCCEEDED: i32 = 1;
const FETCH_MISSING: i32 = 2;
/// The position behind the last row.
const BEHIND: i32 = -1;
