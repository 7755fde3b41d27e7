//! The procedure of an RPC (MS-TDS 2.2.6.6).

/// A procedure by its name or number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Procedure {
    /// The name as the client sent it, with brackets and dots.
    Name(String),
    /// A special stored procedure by its number.
    Id(ProcedureId),
}

/// The special stored procedures that have numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProcedureId {
    /// 1.
    Cursor,
    /// 2.
    CursorOpen,
    /// 3.
    CursorPrepare,
    /// 4.
    CursorExecute,
    /// 5.
    CursorPrepExec,
    /// 6.
    CursorUnprepare,
    /// 7.
    CursorFetch,
    /// 8.
    CursorOption,
    /// 9.
    CursorClose,
    /// 10.
    ExecuteSql,
    /// 11.
    Prepare,
    /// 12.
    Execute,
    /// 13.
    PrepExec,
    /// 14.
    PrepExecRpc,
    /// 15.
    Unprepare,
}

impl ProcedureId {
    /// All procedures in the order of their numbers, from 1.
    pub const ALL: [Self; 15] = [
        Self::Cursor,
        Self::CursorOpen,
        Self::CursorPrepare,
        Self::CursorExecute,
        Self::CursorPrepExec,
        Self::CursorUnprepare,
        Self::CursorFetch,
        Self::CursorOption,
        Self::CursorClose,
        Self::ExecuteSql,
        Self::Prepare,
        Self::Execute,
        Self::PrepExec,
        Self::PrepExecRpc,
        Self::Unprepare,
    ];

    /// The procedure with this number.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        let index = usize::from(number).checked_sub(1)?;
        Self::ALL.get(index).copied()
    }

    /// The procedure's number.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::Cursor => 1,
            Self::CursorOpen => 2,
            Self::CursorPrepare => 3,
            Self::CursorExecute => 4,
            Self::CursorPrepExec => 5,
            Self::CursorUnprepare => 6,
            Self::CursorFetch => 7,
            Self::CursorOption => 8,
            Self::CursorClose => 9,
            Self::ExecuteSql => 10,
            Self::Prepare => 11,
            Self::Execute => 12,
            Self::PrepExec => 13,
            Self::PrepExecRpc => 14,
            Self::Unprepare => 15,
        }
    }

    /// The procedure's T-SQL name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cursor => "sp_cursor",
            Self::CursorOpen => "sp_cursoropen",
            Self::CursorPrepare => "sp_cursorprepare",
            Self::CursorExecute => "sp_cursorexecute",
            Self::CursorPrepExec => "sp_cursorprepexec",
            Self::CursorUnprepare => "sp_cursorunprepare",
            Self::CursorFetch => "sp_cursorfetch",
            Self::CursorOption => "sp_cursoroption",
            Self::CursorClose => "sp_cursorclose",
            Self::ExecuteSql => "sp_executesql",
            Self::Prepare => "sp_prepare",
            Self::Execute => "sp_execute",
            Self::PrepExec => "sp_prepexec",
            Self::PrepExecRpc => "sp_prepexecrpc",
            Self::Unprepare => "sp_unprepare",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_that_of_its_procedure() {
        for (number, id) in (1..).zip(ProcedureId::ALL) {
            assert_eq!(id.number(), number);
            assert_eq!(ProcedureId::from_number(number), Some(id));
        }
        assert_eq!(ProcedureId::from_number(0), None);
        assert_eq!(ProcedureId::from_number(16), None);
    }
}
