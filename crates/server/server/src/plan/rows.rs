//! Plans as rows: SHOWPLAN_TEXT, SHOWPLAN_ALL and STATISTICS PROFILE.

use std::sync::Arc;

use selenite_tds::{Collation, Column};
use selenite_types::{DataType, Value, Width};

use super::{Operator, PlannedStatement};

/// A result: its columns, and its rows.
pub(crate) struct PlanSet {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Value>>,
}

/// SHOWPLAN_TEXT: for each statement its text, and its operators if it has any.
pub(crate) fn texts(statements: &[PlannedStatement]) -> Vec<PlanSet> {
    let mut sets = Vec::new();
    for statement in statements {
        sets.push(vec![statement.text.clone()]);
        if let Some(operator) = &statement.operator {
            sets.push(lines(operator).into_iter().map(|line| line.text).collect());
        }
    }
    let set = |texts: Vec<String>| PlanSet {
        columns: vec![column("StmtText", TEXT)],
        rows: texts.into_iter().map(|text| vec![text_value(&text)]).collect(),
    };
    sets.into_iter().map(set).collect()
}

/// SHOWPLAN_ALL: a row for each statement and each operator.
pub(crate) fn all(statements: &[PlannedStatement]) -> PlanSet {
    PlanSet {
        columns: COLUMNS
            .iter()
            .map(|(name, data_type)| column(name, *data_type))
            .collect(),
        rows: (1..)
            .zip(statements)
            .flat_map(|(number, statement)| rows_of(statement, number))
            .collect(),
    }
}

/// STATISTICS PROFILE: the same for a statement that was run, with its row count. SQLite counts no rows of the
/// operators below the first.
pub(crate) fn profile(statement: &PlannedStatement) -> PlanSet {
    let mut set = all(std::slice::from_ref(statement));
    set.columns.insert(0, column("Executes", DataType::BigInt));
    set.columns.insert(0, column("Rows", DataType::BigInt));
    for (at, row) in set.rows.iter_mut().enumerate() {
        let counted = statement.row_count.and_then(|count| i64::try_from(count).ok());
        let counted = counted.filter(|_| at <= 1).map(Value::BigInt);
        let executes = counted.as_ref().map_or(Value::Null, |_| Value::BigInt(1));
        row.insert(0, executes);
        row.insert(0, counted.unwrap_or(Value::Null));
    }
    set
}

/// An operator in the tree.
struct Line<'a> {
    operator: &'a Operator,
    text: String,
    node: i32,
    parent: i32,
}

fn lines(operator: &Operator) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    add(operator, ("  ", true), 1, &mut lines);
    lines
}

/// `indent` is what is before its line, and whether it is the last input of its parent.
fn add<'a>(operator: &'a Operator, (indent, is_last): (&str, bool), parent: i32, lines: &mut Vec<Line<'a>>) {
    let node = i32::try_from(lines.len()).unwrap_or(i32::MAX).saturating_add(2);
    lines.push(Line {
        operator,
        text: format!("{indent}|--{}", operator.written()),
        node,
        parent,
    });
    let inner = format!("{indent}{}    ", if is_last { ' ' } else { '|' });
    let count = operator.inputs.len();
    for (at, input) in (1..).zip(&operator.inputs) {
        add(input, (&inner, at == count), node, lines);
    }
}

fn rows_of(statement: &PlannedStatement, number: i32) -> Vec<Vec<Value>> {
    let row = |text: &str, (node, parent): (i32, i32), operator: Option<&Operator>, kind: &str| {
        let argument = operator.map(Operator::argument).filter(|argument| !argument.is_empty());
        vec![
            text_value(text),
            Value::Int(number),
            Value::Int(node),
            Value::Int(parent),
            operator.map_or(Value::Null, |operator| text_value(&operator.physical)),
            operator.map_or(Value::Null, |operator| text_value(&operator.logical)),
            argument.map_or(Value::Null, |argument| text_value(&argument)),
            // DefinedValues, then what is not estimated, OutputList and Warnings.
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            text_value(kind),
            Value::Bit(false),
            Value::Null,
        ]
    };
    let mut rows = vec![row(&statement.text, (1, 0), None, statement.kind)];
    if let Some(operator) = &statement.operator {
        rows.extend(
            lines(operator)
                .iter()
                .map(|line| row(&line.text, (line.node, line.parent), Some(line.operator), "PLAN_ROW")),
        );
    }
    rows
}

pub(super) fn column(name: &str, data_type: DataType) -> Column {
    Column {
        name: name.to_owned(),
        data_type,
        is_nullable: true,
        is_identity: false,
        is_computed: true,
        collation: Collation::DEFAULT,
    }
}

fn text_value(text: &str) -> Value {
    Value::Text(Arc::from(text))
}

pub(super) const TEXT: DataType = DataType::NVarChar(Width::Max);
const WORD: DataType = DataType::NVarChar(Width::Limited(64));

/// The columns of SHOWPLAN_ALL.
const COLUMNS: [(&str, DataType); 18] = [
    ("StmtText", TEXT),
    ("StmtId", DataType::Int),
    ("NodeId", DataType::Int),
    ("Parent", DataType::Int),
    ("PhysicalOp", TEXT),
    ("LogicalOp", TEXT),
    ("Argument", TEXT),
    ("DefinedValues", TEXT),
    ("EstimateRows", DataType::Real),
    ("EstimateIO", DataType::Real),
    ("EstimateCPU", DataType::Real),
    ("AvgRowSize", DataType::Int),
    ("TotalSubtreeCost", DataType::Real),
    ("OutputList", TEXT),
    ("Warnings", TEXT),
    ("Type", WORD),
    ("Parallel", DataType::Bit),
    ("EstimateExecutions", DataType::Real),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_drawn_and_numbered_from_the_statement_down() {
        let leaf = |name| Operator::new(name, Vec::new());
        let inner = Operator::of("Nested Loops", "Inner Join", vec![leaf("a"), leaf("b")]);
        let root = Operator::of("Nested Loops", "Inner Join", vec![inner, leaf("c")]);
        let drawn: Vec<(String, i32, i32)> = lines(&root)
            .into_iter()
            .map(|line| (line.text, line.node, line.parent))
            .collect();
        let expected = [
            ("  |--Nested Loops(Inner Join)", 2, 1),
            ("       |--Nested Loops(Inner Join)", 3, 2),
            ("       |    |--a", 4, 3),
            ("       |    |--b", 5, 3),
            ("       |--c", 6, 2),
        ];
        let drawn: Vec<(&str, i32, i32)> = drawn
            .iter()
            .map(|(text, node, up)| (text.as_str(), *node, *up))
            .collect();
        assert_eq!(drawn, expected);
        let statement = PlannedStatement {
            text: "SELECT 1".to_owned(),
            kind: "SELECT",
            operator: Some(root),
            row_count: Some(3),
        };
        let set = profile(&statement);
        assert!(set.rows.iter().all(|row| row.len() == set.columns.len()));
        let counts: Vec<&Value> = set.rows.iter().map(|row| &row[0]).collect();
        assert_eq!(counts[..3], [&Value::BigInt(3), &Value::BigInt(3), &Value::Null]);
    }
}
