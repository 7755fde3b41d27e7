//! Tables of text: CSV, tab-separated, and the boxed tables of command-line clients.
//!
//! - `no-guess`: a line that is neither a header, a row of the header's width, nor a known line of a client is refused.
//! - `whole-lines`: a last line without an end is refused, as its last number may have lost digits.
//!
//! Known lines of clients are empty lines, rules (`----,----`, `+----+`), row counts (`(3 rows affected)`,
//! `(3 rows)`) and the greetings and prompts of sqlcmd and tsql.

use std::rc::Rc;

use super::snapshot::SnapshotText;
use crate::PlanError;

/// A row, with the header above it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    text_name: Rc<str>,
    line: usize,
    columns: Rc<[String]>,
    fields: Vec<String>,
}

impl Row {
    /// Where the row is, for errors.
    pub(super) fn place(&self) -> String {
        format!("{}, line {}", self.text_name, self.line)
    }

    /// Where a value is, for errors.
    pub(super) fn place_of(&self, column: &str) -> String {
        format!("{}, column {column}", self.place())
    }

    /// Whether there is a column.
    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|one| one == column)
    }

    /// The value of a column. None where there is no such column, or it is empty or NULL.
    pub(super) fn optional(&self, column: &str) -> Option<&str> {
        let index = self.columns.iter().position(|one| one == column)?;
        let value = self.fields.get(index)?.as_str();
        let is_null = value.is_empty() || value.eq_ignore_ascii_case("null");
        (!is_null).then_some(value)
    }

    /// The value of a column.
    pub(super) fn text(&self, column: &str) -> Result<&str, PlanError> {
        if !self.has(column) {
            return Err(PlanError::input(self.place(), format!("there is no column {column}")));
        }
        self.optional(column)
            .ok_or_else(|| PlanError::input(self.place_of(column), "it has no value"))
    }

    /// The value of a column that counts something.
    pub(super) fn counter(&self, column: &str) -> Result<u64, PlanError> {
        parse_counter(self.text(column)?, || self.place_of(column))
    }

    /// The value of a column that counts something, and may be absent.
    pub(super) fn optional_counter(&self, column: &str) -> Result<Option<u64>, PlanError> {
        let parse = |text| parse_counter(text, || self.place_of(column));
        self.optional(column).map(parse).transpose()
    }

    /// The value of a column with a decimal number.
    pub(super) fn decimal(&self, column: &str) -> Result<f64, PlanError> {
        parse_decimal(self.text(column)?, || self.place_of(column))
    }
}

/// Reads all rows of a text, below one header or several. A header has all columns of `required`, which are
/// in lower case, as the columns of rows are.
///
/// # Errors
/// [`PlanError::Input`] with line and column.
pub(super) fn rows(source: &SnapshotText<'_>, required: &[&str]) -> Result<Vec<Row>, PlanError> {
    check_whole(source)?;
    let mut header: Option<(char, Rc<[String]>)> = None;
    let text_name: Rc<str> = source.name.into();
    let mut rows = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let line_number = index + 1;
        let line = without_prompt(line.trim_start_matches(BYTE_ORDER_MARK));
        if is_client_line(line) {
            continue;
        }
        let place = || format!("{}, line {line_number}", source.name);
        if let Some(found) = header_of(line, required) {
            header = Some(found);
            continue;
        }
        let Some((separator, columns)) = &header else {
            let reason = format!(
                "a header with the columns {} was expected, separated by comma, tab, semicolon or bar",
                required.join(", ")
            );
            return Err(PlanError::input(place(), reason));
        };
        let fields = split(line, *separator).map_err(|reason| PlanError::input(place(), reason))?;
        if fields.len() != columns.len() {
            let reason = format!("{} fields, and the header has {} columns", fields.len(), columns.len());
            return Err(PlanError::input(place(), reason));
        }
        rows.push(Row {
            text_name: Rc::clone(&text_name),
            line: line_number,
            columns: Rc::clone(columns),
            fields,
        });
    }
    Ok(rows)
}

/// Refuses a text that is too long, and one whose last line has no end: the last of its numbers may have lost digits.
pub(super) fn check_whole(source: &SnapshotText<'_>) -> Result<(), PlanError> {
    if source.text.len() > TEXT_SIZE_MAX {
        let reason = format!("it is longer than {TEXT_SIZE_MAX} bytes: pass fewer snapshots");
        return Err(PlanError::input(source.name, reason));
    }
    if !source.text.is_empty() && !source.text.ends_with('\n') {
        let place = format!("{}, line {}", source.name, source.text.lines().count());
        let reason = "the line does not end: the text may have been cut; add a line break if it is whole";
        return Err(PlanError::input(place, reason));
    }
    Ok(())
}

/// A counter: digits alone.
pub(super) fn parse_counter(text: &str, place: impl Fn() -> String) -> Result<u64, PlanError> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = if is_digits { text.parse().ok() } else { None };
    parsed.ok_or_else(|| {
        let reason = if text.starts_with('-') {
            format!("{text} is negative, which no counter is")
        } else {
            format!("{text:?} is not a count: digits alone were expected")
        };
        PlanError::input(place(), reason)
    })
}

/// A decimal number: digits, and perhaps a point and more digits.
pub(super) fn parse_decimal(text: &str, place: impl Fn() -> String) -> Result<f64, PlanError> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match text.parse::<f64>() {
        Ok(value) if is_plain && value.is_finite() => Ok(value),
        Ok(_) | Err(_) => Err(PlanError::input(
            place(),
            format!("{text:?} is not a number: digits, and perhaps a point, were expected"),
        )),
    }
}

fn header_of(line: &str, required: &[&str]) -> Option<(char, Rc<[String]>)> {
    let lowercase = line.to_ascii_lowercase();
    if !required.iter().all(|name| lowercase.contains(name)) {
        return None;
    }
    SEPARATORS.into_iter().find_map(|separator| {
        let columns = split(&lowercase, separator).ok()?;
        let is_header = required.iter().all(|name| columns.iter().any(|column| column == name));
        is_header.then(|| (separator, columns.into()))
    })
}

/// Splits a line. A field in quotes may contain separators, and quotes that are doubled.
pub(super) fn split(line: &str, separator: char) -> Result<Vec<String>, String> {
    let mut rest = line;
    if separator == BAR
        && let Some(inner) = line.trim().strip_prefix(BAR)
        && let Some(inner) = inner.strip_suffix(BAR)
    {
        rest = inner;
    }
    let mut fields = Vec::new();
    loop {
        // A separator that is white space is no padding.
        let padding = |character: char| character == ' ' && character != separator;
        let field = rest.trim_start_matches(padding);
        let (value, after) = match field.strip_prefix('"') {
            Some(quoted) => quoted_field(quoted, fields.len() + 1)?,
            None => {
                let end = field.find(separator).unwrap_or(field.len());
                let (value, after) = field.split_at(end);
                (value.trim().to_owned(), after)
            }
        };
        fields.push(value);
        let after = after.trim_start_matches(padding);
        if after.trim().is_empty() && !after.starts_with(separator) {
            return Ok(fields);
        }
        rest = after
            .strip_prefix(separator)
            .ok_or_else(|| format!("field {}: text follows the closing quote", fields.len()))?;
    }
}

fn quoted_field(quoted: &str, number: usize) -> Result<(String, &str), String> {
    let mut value = String::new();
    let mut rest = quoted;
    loop {
        let Some((before, after)) = rest.split_once('"') else {
            return Err(format!("field {number}: the quote is not closed in its line"));
        };
        value.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                value.push('"');
                rest = more;
            }
            None => return Ok((value.trim().to_owned(), after)),
        }
    }
}

/// The line without the prompts that tsql writes before the first line of a result: `1> 2> `.
fn without_prompt(line: &str) -> &str {
    let mut rest = line;
    while let Some((number, after)) = rest.split_once("> ") {
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        rest = after;
    }
    rest
}

fn is_client_line(line: &str) -> bool {
    let line = line.trim();
    let is_rule = line.contains('-') && line.chars().all(|character| "-+,;|\t ".contains(character));
    let is_row_count = line
        .strip_prefix('(')
        .and_then(|rest| {
            rest.trim_start_matches(|digit: char| digit.is_ascii_digit())
                .strip_prefix(" row")
        })
        .is_some_and(|rest| ["s affected)", " affected)", "s)", ")"].contains(&rest));
    line.is_empty() || is_rule || is_row_count || GREETINGS.iter().any(|greeting| line.starts_with(greeting))
}

const BAR: char = '|';
const SEPARATORS: [char; 4] = [',', '\t', ';', BAR];
const BYTE_ORDER_MARK: char = '\u{feff}';
/// What sqlcmd and tsql write before a result.
const GREETINGS: [&str; 4] = [
    "Changed database context to ",
    "locale is ",
    "locale charset is ",
    "using default charset ",
];
/// 256 MiB: a week of snapshots of a hundred files, each quarter of a minute, is half as long.
const TEXT_SIZE_MAX: usize = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Row>, PlanError> {
        rows(&SnapshotText { name: "t", text }, &["id", "n"])
    }

    #[test]
    fn rows_are_found_in_the_formats_of_clients() {
        let texts = [
            "\u{feff}id,n\r\n1,2\r\n",
            "id,n\n--,--\n 1, 2\n\n(1 rows affected)\n",
            "\"id\";\"n\"\n\"1\";\"2\"\n",
            "locale is \"C\"\n1> 2> ID\tN\n1\t2\n(1 row affected)\n",
            "+----+---+\n| id | n |\n+----+---+\n|  1 | 2 |\n+----+---+\n",
        ];
        for text in texts {
            let rows = read(text).unwrap();
            assert_eq!(rows.len(), 1, "{text}");
            assert_eq!(rows[0].counter("id").unwrap(), 1, "{text}");
            assert_eq!(rows[0].counter("n").unwrap(), 2, "{text}");
        }
    }

    #[test]
    fn quotes_keep_separators_and_doubled_quotes() {
        assert_eq!(
            split("\"a,\"\"b\", c,,", ',').unwrap(),
            ["a,\"b", "c", "", ""].map(str::to_owned)
        );
        assert!(split("\"a", ',').is_err());
        assert!(split("\"a\"b,c", ',').is_err());
    }

    #[test]
    fn nonsense_is_refused_with_its_place() {
        let cases = [
            ("1,2\n", "t, line 1"),
            ("id,n\n1,2,3\n", "t, line 2"),
            ("id,n\n1,2\nhello\n", "t, line 3"),
            ("id,n\n1,\"2\n", "t, line 2"),
        ];
        for (text, expected) in cases {
            match read(text) {
                Err(PlanError::Input { place, .. }) => assert_eq!(place, expected),
                other => panic!("{text}: {other:?}"),
            }
        }
        for value in ["-1", "NaN", "1.5", "1e3", "99999999999999999999", "+1", "1 000"] {
            let rows = read(&format!("id,n\n1,{value}\n")).unwrap();
            let error = rows[0].counter("n").unwrap_err().to_string();
            assert!(error.starts_with("t, line 2, column n: "), "{error}");
        }
    }
}
