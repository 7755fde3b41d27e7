//! The reserved keywords of T-SQL, which are not valid as undelimited names and may terminate a statement.
//!
//! PRECISION is in SQL Server's list, but is accepted as a column name: `sys.columns` has such a column, and so does a
//! table that mssql-jdbc declares.

macro_rules! keywords {
    ($($name:ident = $text:literal,)*) => {
        /// A reserved keyword.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Keyword {
            $($name,)*
        }

        /// All keywords, sorted by text.
        const KEYWORDS: &[(&str, Keyword)] = &[$(($text, Keyword::$name),)*];
    };
}

keywords! {
    Add = "ADD",
    All = "ALL",
    Alter = "ALTER",
    And = "AND",
    Any = "ANY",
    As = "AS",
    Asc = "ASC",
    Authorization = "AUTHORIZATION",
    Backup = "BACKUP",
    Begin = "BEGIN",
    Between = "BETWEEN",
    Break = "BREAK",
    Browse = "BROWSE",
    Bulk = "BULK",
    By = "BY",
    Cascade = "CASCADE",
    Case = "CASE",
    Check = "CHECK",
    Checkpoint = "CHECKPOINT",
    Close = "CLOSE",
    Clustered = "CLUSTERED",
    Coalesce = "COALESCE",
    Collate = "COLLATE",
    Column = "COLUMN",
    Commit = "COMMIT",
    Compute = "COMPUTE",
    Constraint = "CONSTRAINT",
    Contains = "CONTAINS",
    Containstable = "CONTAINSTABLE",
    Continue = "CONTINUE",
    Convert = "CONVERT",
    Create = "CREATE",
    Cross = "CROSS",
    Current = "CURRENT",
    CurrentDate = "CURRENT_DATE",
    CurrentTime = "CURRENT_TIME",
    CurrentTimestamp = "CURRENT_TIMESTAMP",
    CurrentUser = "CURRENT_USER",
    Cursor = "CURSOR",
    Database = "DATABASE",
    Dbcc = "DBCC",
    Deallocate = "DEALLOCATE",
    Declare = "DECLARE",
    Default = "DEFAULT",
    Delete = "DELETE",
    Deny = "DENY",
    Desc = "DESC",
    Disk = "DISK",
    Distinct = "DISTINCT",
    Distributed = "DISTRIBUTED",
    Double = "DOUBLE",
    Drop = "DROP",
    Dump = "DUMP",
    Else = "ELSE",
    End = "END",
    Errlvl = "ERRLVL",
    Escape = "ESCAPE",
    Except = "EXCEPT",
    Exec = "EXEC",
    Execute = "EXECUTE",
    Exists = "EXISTS",
    Exit = "EXIT",
    External = "EXTERNAL",
    Fetch = "FETCH",
    File = "FILE",
    Fillfactor = "FILLFACTOR",
    For = "FOR",
    Foreign = "FOREIGN",
    Freetext = "FREETEXT",
    Freetexttable = "FREETEXTTABLE",
    From = "FROM",
    Full = "FULL",
    Function = "FUNCTION",
    Goto = "GOTO",
    Grant = "GRANT",
    Group = "GROUP",
    Having = "HAVING",
    Holdlock = "HOLDLOCK",
    Identity = "IDENTITY",
    Identitycol = "IDENTITYCOL",
    IdentityInsert = "IDENTITY_INSERT",
    If = "IF",
    In = "IN",
    Index = "INDEX",
    Inner = "INNER",
    Insert = "INSERT",
    Intersect = "INTERSECT",
    Into = "INTO",
    Is = "IS",
    Join = "JOIN",
    Key = "KEY",
    Kill = "KILL",
    Left = "LEFT",
    Like = "LIKE",
    Lineno = "LINENO",
    Load = "LOAD",
    Merge = "MERGE",
    National = "NATIONAL",
    Nocheck = "NOCHECK",
    Nonclustered = "NONCLUSTERED",
    Not = "NOT",
    Null = "NULL",
    Nullif = "NULLIF",
    Of = "OF",
    Off = "OFF",
    Offsets = "OFFSETS",
    On = "ON",
    Open = "OPEN",
    Opendatasource = "OPENDATASOURCE",
    Openquery = "OPENQUERY",
    Openrowset = "OPENROWSET",
    Openxml = "OPENXML",
    Option = "OPTION",
    Or = "OR",
    Order = "ORDER",
    Outer = "OUTER",
    Over = "OVER",
    Percent = "PERCENT",
    Pivot = "PIVOT",
    Plan = "PLAN",
    Primary = "PRIMARY",
    Print = "PRINT",
    Proc = "PROC",
    Procedure = "PROCEDURE",
    Public = "PUBLIC",
    Raiserror = "RAISERROR",
    Read = "READ",
    Readtext = "READTEXT",
    Reconfigure = "RECONFIGURE",
    References = "REFERENCES",
    Replication = "REPLICATION",
    Restore = "RESTORE",
    Restrict = "RESTRICT",
    Return = "RETURN",
    Revert = "REVERT",
    Revoke = "REVOKE",
    Right = "RIGHT",
    Rollback = "ROLLBACK",
    Rowcount = "ROWCOUNT",
    Rowguidcol = "ROWGUIDCOL",
    Rule = "RULE",
    Save = "SAVE",
    Schema = "SCHEMA",
    Securityaudit = "SECURITYAUDIT",
    Select = "SELECT",
    Semantickeyphrasetable = "SEMANTICKEYPHRASETABLE",
    Semanticsimilaritydetailstable = "SEMANTICSIMILARITYDETAILSTABLE",
    Semanticsimilaritytable = "SEMANTICSIMILARITYTABLE",
    SessionUser = "SESSION_USER",
    Set = "SET",
    Setuser = "SETUSER",
    Shutdown = "SHUTDOWN",
    Some = "SOME",
    Statistics = "STATISTICS",
    SystemUser = "SYSTEM_USER",
    Table = "TABLE",
    Tablesample = "TABLESAMPLE",
    Textsize = "TEXTSIZE",
    Then = "THEN",
    To = "TO",
    Top = "TOP",
    Tran = "TRAN",
    Transaction = "TRANSACTION",
    Trigger = "TRIGGER",
    Truncate = "TRUNCATE",
    TryConvert = "TRY_CONVERT",
    Tsequal = "TSEQUAL",
    Union = "UNION",
    Unique = "UNIQUE",
    Unpivot = "UNPIVOT",
    Update = "UPDATE",
    Updatetext = "UPDATETEXT",
    Use = "USE",
    User = "USER",
    Values = "VALUES",
    Varying = "VARYING",
    View = "VIEW",
    Waitfor = "WAITFOR",
    When = "WHEN",
    Where = "WHERE",
    While = "WHILE",
    With = "WITH",
    Writetext = "WRITETEXT",
}

impl Keyword {
    /// The keyword that equals `word`, ignoring case.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let mut upper = [0; LENGTH_MAX];
        let upper = upper.get_mut(..word.len())?;
        for (to, from) in upper.iter_mut().zip(word.bytes()) {
            *to = from.to_ascii_uppercase();
        }
        let letter = usize::from(upper.first()?.checked_sub(b'A')?);
        let (from, to) = (*STARTS.get(letter)?, *STARTS.get(letter + 1)?);
        let found = KEYWORDS[from..to]
            .binary_search_by(|(text, _)| text.as_bytes().cmp(upper))
            .ok()?;
        Some(KEYWORDS[from + found].1)
    }
}

/// Whether the word is reserved, so that it must be delimited as a name.
#[must_use]
pub fn is_reserved(word: &str) -> bool {
    Keyword::of(word).is_some()
}

/// The length of SEMANTICSIMILARITYDETAILSTABLE.
const LENGTH_MAX: usize = 30;

/// The index in [`KEYWORDS`] of each letter's first keyword.
const STARTS: [usize; 27] = {
    let mut starts = [KEYWORDS.len(); 27];
    let mut letter = 26;
    let mut at = KEYWORDS.len();
    while letter > 0 {
        letter -= 1;
        // Letters are sorted in ASCII, so the keywords of a letter end where those of the next begin.
        while at > 0 && KEYWORDS[at - 1].0.as_bytes()[0] >= b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[letter] {
            at -= 1;
        }
        starts[letter] = at;
    }
    starts
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_keywords_are_found_in_any_case() {
        for (text, keyword) in KEYWORDS {
            assert_eq!(Keyword::of(text), Some(*keyword));
            assert_eq!(Keyword::of(&text.to_lowercase()), Some(*keyword));
            assert_eq!(Keyword::of(&format!("{text}_")), None);
            assert_eq!(Keyword::of(&text[1..]).is_some(), is_reserved(&text[1..]));
        }
        for word in [
            "",
            "_",
            "go",
            "throw",
            "try",
            "output",
            "offset",
            "precision",
            "z",
            "\u{e9}",
            "rows",
            "{",
            "[",
            "@",
        ] {
            assert!(!is_reserved(word), "{word}");
        }
    }

    #[test]
    fn the_keywords_are_sorted_and_fit_the_buffer() {
        assert!(KEYWORDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(KEYWORDS.iter().map(|(text, _)| text.len()).max(), Some(LENGTH_MAX));
    }
}
