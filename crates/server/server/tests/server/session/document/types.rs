//! Types, with what SQLite stores for a value of each.

use std::fmt::Write as _;

use selenite_types::storage::{Stored, declared_type, to_stored};
use selenite_types::{DataType, DateFormat, Value, Width, convert};

use super::{Page, WORKS, code};

pub fn write(page: &mut Page) {
    page.heading("Types", &["type", "in SQLite", "of", "is stored", "state"]);
    for (name, text) in TYPES {
        let data_type = declared_type(name).unwrap();
        let source = DataType::NVarChar(Width::Max);
        let style = matches!(data_type, DataType::Binary(_) | DataType::VarBinary(_)).then_some(1);
        let value = convert(
            &Value::Text((*text).into()),
            &source,
            &data_type,
            style,
            DateFormat::Mdy,
        )
        .unwrap();
        let stored = to_stored(&value, &data_type).unwrap().into_owned();
        let style = style.map_or(String::new(), |style| format!(", {style}"));
        let value = format!("CONVERT({name}, N'{text}'{style})");
        let state = page.state(&format!(
            "DECLARE @a {name} = {value}; CREATE TABLE one (a {name}); INSERT one VALUES (@a); SELECT a FROM one; \
             DROP TABLE one"
        ));
        let class = stored.as_stored_ref().class().name();
        page.row(&[&code(name), class, &code(text), &code(&shown(&stored)), &state]);
    }
    for name in SYNONYMS {
        let state = page.state(&format!("DECLARE @a {name}"));
        let state = if state == WORKS { "works: another name" } else { &state };
        page.row(&[&code(name), "", "", "", state]);
    }
    for (name, what) in OTHERS {
        let state = page.state(&format!("CREATE TABLE one (a {name}); DROP TABLE one"));
        page.row(&[&code(name), what, "", "", &state]);
    }
}

fn shown(stored: &Stored<'_>) -> String {
    match stored {
        Stored::Null => "NULL".to_owned(),
        Stored::Integer(number) => number.to_string(),
        Stored::Real(number) => format!("{number:?}"),
        Stored::Text(text) => format!("'{text}'"),
        Stored::Blob(bytes) => {
            bytes.iter().fold("x'".to_owned(), |mut out, byte| {
                let _ = write!(out, "{byte:02x}");
                out
            }) + "'"
        }
    }
}

const TYPES: &[(&str, &str)] = &[
    ("bit", "1"),
    ("tinyint", "255"),
    ("smallint", "-5"),
    ("int", "-5"),
    ("bigint", "-5"),
    ("decimal(10,2)", "12.34"),
    ("numeric(38,0)", "-5"),
    ("smallmoney", "12.34"),
    ("money", "12.34"),
    ("real", "0.5"),
    ("float", "0.5"),
    ("char(5)", "ab"),
    ("varchar(20)", "ab"),
    ("varchar(max)", "ab"),
    ("nchar(5)", "ab"),
    ("nvarchar(20)", "ab"),
    ("nvarchar(max)", "ab"),
    ("binary(3)", "0x0102"),
    ("varbinary(20)", "0x0102"),
    ("varbinary(max)", "0x0102"),
    ("date", "2026-01-31"),
    ("time(3)", "13:45:00.5"),
    ("smalldatetime", "2026-01-31 13:45"),
    ("datetime", "2026-01-31 13:45:00.5"),
    ("datetime2(7)", "2026-01-31 13:45:00.5"),
    ("datetimeoffset(0)", "2026-01-31 13:45:00 +02:00"),
    ("uniqueidentifier", "00112233-4455-6677-8899-AABBCCDDEEFF"),
];

const SYNONYMS: [&str; 8] = [
    "integer",
    "dec(10,2)",
    "double precision",
    "character(5)",
    "character varying(20)",
    "national character varying(20)",
    "float(24)",
    "sysname",
];

const OTHERS: [(&str, &str); 11] = [
    ("text", "as varchar(max)"),
    ("ntext", "as nvarchar(max)"),
    ("image", "as varbinary(max)"),
    ("rowversion", "8 bytes, new in each change of a row"),
    ("timestamp", "as rowversion"),
    ("xml", "TEXT: elements and texts in one form"),
    (
        "sql_variant",
        "TEXT: the type, a space, the value as its type stores it: `int 5`",
    ),
    ("hierarchyid", ""),
    ("geometry", ""),
    ("geography", ""),
    ("json", ""),
];
