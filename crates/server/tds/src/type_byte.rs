//! The type bytes (MS-TDS 2.2.5.4).

pub(crate) const NULL: u8 = 0x1F;
pub(crate) const IMAGE: u8 = 0x22;
pub(crate) const TEXT: u8 = 0x23;
pub(crate) const GUID: u8 = 0x24;
pub(crate) const INT_N: u8 = 0x26;
pub(crate) const DATE_N: u8 = 0x28;
pub(crate) const TIME_N: u8 = 0x29;
pub(crate) const DATETIME2_N: u8 = 0x2A;
pub(crate) const DATETIMEOFFSET_N: u8 = 0x2B;
pub(crate) const INT1: u8 = 0x30;
pub(crate) const BIT: u8 = 0x32;
pub(crate) const INT2: u8 = 0x34;
pub(crate) const INT4: u8 = 0x38;
pub(crate) const DATETIME4: u8 = 0x3A;
pub(crate) const FLOAT4: u8 = 0x3B;
pub(crate) const MONEY8: u8 = 0x3C;
pub(crate) const DATETIME8: u8 = 0x3D;
pub(crate) const FLOAT8: u8 = 0x3E;
pub(crate) const VARIANT: u8 = 0x62;
pub(crate) const NTEXT: u8 = 0x63;
pub(crate) const BIT_N: u8 = 0x68;
pub(crate) const DECIMAL_N: u8 = 0x6A;
pub(crate) const NUMERIC_N: u8 = 0x6C;
pub(crate) const FLOAT_N: u8 = 0x6D;
pub(crate) const MONEY_N: u8 = 0x6E;
pub(crate) const DATETIME_N: u8 = 0x6F;
pub(crate) const MONEY4: u8 = 0x7A;
pub(crate) const INT8: u8 = 0x7F;
pub(crate) const BIG_VARBINARY: u8 = 0xA5;
pub(crate) const BIG_VARCHAR: u8 = 0xA7;
pub(crate) const BIG_BINARY: u8 = 0xAD;
pub(crate) const BIG_CHAR: u8 = 0xAF;
pub(crate) const NVARCHAR: u8 = 0xE7;
pub(crate) const NCHAR: u8 = 0xEF;
pub(crate) const UDT: u8 = 0xF0;
pub(crate) const XML: u8 = 0xF1;
pub(crate) const TABLE: u8 = 0xF3;
pub(crate) const JSON: u8 = 0xF4;
pub(crate) const VECTOR: u8 = 0xF5;

/// The name of a type that MS-TDS defines and this server does not support, if `byte` is one.
pub(crate) fn unsupported(byte: u8) -> Option<&'static str> {
    match byte {
        UDT => Some("a CLR type"),
        // A parameter alone is of this type.
        TABLE => Some("a table in a column"),
        JSON => Some("json"),
        VECTOR => Some("vector"),
        // VARBINARY, VARCHAR, BINARY, CHAR, DECIMAL and NUMERIC of TDS before 7.0.
        0x25 | 0x27 | 0x2D | 0x2F | 0x37 | 0x3F => Some("a type of TDS before 7.0"),
        _ => None,
    }
}

/// The type's name in SQL Server's messages.
pub(crate) fn type_name(byte: u8) -> &'static str {
    match byte {
        IMAGE => "image",
        TEXT => "text",
        NTEXT => "ntext",
        GUID => "uniqueidentifier",
        DATE_N => "date",
        TIME_N => "time",
        DATETIME2_N => "datetime2",
        DATETIMEOFFSET_N => "datetimeoffset",
        INT1 => "tinyint",
        BIT | BIT_N => "bit",
        INT2 => "smallint",
        INT4 | INT_N => "int",
        INT8 => "bigint",
        DATETIME4 => "smalldatetime",
        DATETIME8 | DATETIME_N => "datetime",
        FLOAT4 => "real",
        FLOAT8 | FLOAT_N => "float",
        MONEY4 => "smallmoney",
        MONEY8 | MONEY_N => "money",
        DECIMAL_N => "decimal",
        NUMERIC_N => "numeric",
        BIG_VARBINARY => "varbinary",
        BIG_VARCHAR => "varchar",
        BIG_BINARY => "binary",
        BIG_CHAR => "char",
        NVARCHAR => "nvarchar",
        NCHAR => "nchar",
        VARIANT => "sql_variant",
        XML => "xml",
        _ => "unknown",
    }
}
