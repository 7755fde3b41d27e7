//! Plans as a document in the namespace of SQL Server's showplan.
//!
//! What its schema requires and is not known here is left out: the estimates of RelOp, the columns of OutputList and
//! of OrderBy. An operator that SQL Server does not have keeps SQLite's words, which the schema's lists do not have.

use std::fmt::Write as _;

use selenite_compiler::definition::bracketed;
use selenite_tds::Column;

use super::rows::{TEXT, column};
use super::{Operator, PlanObject, PlannedStatement};
use crate::instance::VERSION;

/// The document of a batch, and the column in which it is sent.
pub(crate) fn document(statements: &[PlannedStatement]) -> (Column, String) {
    let mut text = format!(
        "<ShowPlanXML xmlns=\"{NAMESPACE}\" Version=\"1.5\" Build=\"{}.{}.{}.{}\"><BatchSequence><Batch><Statements>",
        VERSION.major, VERSION.minor, VERSION.build, VERSION.sub_build
    );
    for (number, statement) in (1..).zip(statements) {
        write_statement(statement, number, &mut text);
    }
    text.push_str("</Statements></Batch></BatchSequence></ShowPlanXML>");
    (column(COLUMN, TEXT), text)
}

fn write_statement(statement: &PlannedStatement, number: u32, into: &mut String) {
    // Writing to a text does not fail.
    let _ = write!(
        into,
        "<StmtSimple StatementText=\"{}\" StatementId=\"{number}\" StatementCompId=\"{number}\" StatementType=\"{}\"",
        escaped(&statement.text),
        statement.kind
    );
    let Some(operator) = &statement.operator else {
        into.push_str("/>");
        return;
    };
    into.push_str("><QueryPlan>");
    let mut node = 0;
    write_operator(operator, statement.row_count, &mut node, into);
    into.push_str("</QueryPlan></StmtSimple>");
}

fn write_operator(operator: &Operator, row_count: Option<u64>, node: &mut u32, into: &mut String) {
    let _ = write!(
        into,
        "<RelOp NodeId=\"{node}\" PhysicalOp=\"{}\" LogicalOp=\"{}\" Parallel=\"0\"><OutputList/>",
        escaped(&operator.physical),
        escaped(&operator.logical)
    );
    *node += 1;
    if let Some(count) = row_count {
        let _ = write!(
            into,
            "<RunTimeInformation><RunTimeCountersPerThread Thread=\"0\" ActualRows=\"{count}\" ActualEndOfScans=\"1\" \
             ActualExecutions=\"1\"/></RunTimeInformation>"
        );
    }
    let (element, attributes) = element(operator);
    let _ = write!(into, "<{element}{attributes}>");
    if element != "Update" {
        into.push_str("<DefinedValues/>");
    }
    if element == "Sort" {
        into.push_str("<OrderBy/>");
    }
    if let Some(object) = &operator.object {
        write_object(object, into);
    }
    if let Some(seek) = &operator.seek {
        write_seek(seek, into);
    }
    for input in &operator.inputs {
        write_operator(input, None, node, into);
    }
    if let Some(filter) = &operator.filter {
        let _ = write!(
            into,
            "<Predicate><ScalarOperator ScalarString=\"{}\"/></Predicate>",
            escaped(filter)
        );
    }
    let _ = write!(into, "</{element}></RelOp>");
}

/// The element of an operator, with its attributes.
fn element(operator: &Operator) -> (&'static str, &'static str) {
    match operator.physical.as_str() {
        "Clustered Index Scan" | "Index Scan" => ("IndexScan", " Ordered=\"1\""),
        "Clustered Index Seek" | "Index Seek" => ("IndexScan", " Ordered=\"1\" ScanDirection=\"FORWARD\""),
        "Key Lookup" | "RID Lookup" => ("IndexScan", " Lookup=\"1\" Ordered=\"1\""),
        "Table Scan" => ("TableScan", " Ordered=\"0\""),
        "Table-valued function" => ("TableValuedFunction", ""),
        "Constant Scan" => ("ConstantScan", ""),
        "Concatenation" => ("Concat", ""),
        "Compute Scalar" => ("ComputeScalar", ""),
        "Nested Loops" => ("NestedLoops", " Optimized=\"0\""),
        "Sort" => ("Sort", " Distinct=\"0\""),
        "Stream Aggregate" => ("StreamAggregate", ""),
        "Table Spool" | "Index Spool" => ("Spool", ""),
        "Top" => ("Top", ""),
        name if CHANGES.iter().any(|change| name.ends_with(change)) => ("Update", ""),
        _ => ("Generic", ""),
    }
}

fn write_object(object: &PlanObject, into: &mut String) {
    into.push_str("<Object");
    let parts = [
        ("Database", object.database.as_ref()),
        ("Schema", object.schema.as_ref()),
        ("Table", Some(&object.table)),
        ("Index", object.index.as_ref()),
    ];
    for (name, part) in parts {
        if let Some(part) = part {
            let _ = write!(into, " {name}=\"{}\"", escaped(&bracketed(part)));
        }
    }
    into.push_str("/>");
}

/// `a=? AND b>?`.
fn write_seek(seek: &str, into: &mut String) {
    into.push_str("<SeekPredicates><SeekPredicateNew><SeekKeys>");
    for term in terms(seek) {
        let Some((column, (element, scan))) = RANGES
            .iter()
            .find_map(|(sign, range)| Some((term.strip_suffix(sign)?, *range)))
        else {
            continue;
        };
        let _ = write!(
            into,
            "<{element} ScanType=\"{scan}\"><RangeColumns><ColumnReference Column=\"{}\"/></RangeColumns>\
             <RangeExpressions><ScalarOperator><Const ConstValue=\"?\"/></ScalarOperator></RangeExpressions></{element}>",
            escaped(column)
        );
    }
    into.push_str("</SeekKeys></SeekPredicateNew></SeekPredicates>");
}

/// The terms: the name of a column may have an AND in it, so that a sign has to be before it.
fn terms(seek: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(seek);
    std::iter::from_fn(move || {
        let text = rest?;
        let ends = RANGES.iter().filter_map(|(sign, _)| text.find(&format!("{sign}{AND}")));
        let end = ends.min().map(|at| at + SIGN_SIZE);
        rest = end.and_then(|end| text.get(end + AND.len()..));
        text.get(..end.unwrap_or(text.len()))
    })
}

/// A text as the value of an attribute; what XML has no place for is left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#xa;"),
            '\r' => escaped.push_str("&#xd;"),
            '\t' => escaped.push_str("&#x9;"),
            '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => {}
            other => escaped.push(other),
        }
    }
    escaped
}

const NAMESPACE: &str = "http://schemas.microsoft.com/sqlserver/2004/07/showplan";
/// The name that SQL Server gives the column, in every version.
const COLUMN: &str = "Microsoft SQL Server 2005 XML Showplan";
const CHANGES: [&str; 4] = [" Insert", " Update", " Delete", " Merge"];
/// Between terms.
const AND: &str = " AND ";
/// Of each sign.
const SIGN_SIZE: usize = 2;
/// Signs of SQLite's terms, with the element and the comparison of a range.
const RANGES: [(&str, (&str, &str)); 3] = [
    ("=?", ("Prefix", "EQ")),
    (">?", ("StartRange", "GT")),
    ("<?", ("EndRange", "LT")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_document_can_not_hold_is_escaped_or_left_out() {
        assert_eq!(
            escaped("a<b>\"&\n\u{1}\u{FFFF}\u{e9}"),
            "a&lt;b&gt;&quot;&amp;&#xa;\u{e9}"
        );
    }

    #[test]
    fn a_range_has_its_ends() {
        let mut text = String::new();
        write_seek("a=? AND b>? AND b<?", &mut text);
        for part in [
            "<Prefix ScanType=\"EQ\">",
            "<StartRange ScanType=\"GT\">",
            "<EndRange ScanType=\"LT\">",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let mut text = String::new();
        write_seek("this AND that=? AND b AND c>?", &mut text);
        for part in ["Column=\"this AND that\"", "Column=\"b AND c\""] {
            assert!(text.contains(part), "{text}");
        }
    }
}
