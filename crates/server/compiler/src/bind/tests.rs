use selenite_tsql::ast;
use selenite_types::{DataType, Operator, Value, Width};

use crate::bind::{Binder, QueryHook};
use crate::testing::{Batch, assert_shown, condition_of, expr_of, fault, type_of};
use crate::{
    ColumnRef, Columns, Expr, ExprKind, NoQuery, Predicate, Slot, Source, SourceColumn, SqlError, Variables, Whole,
    WholeOperand,
};

#[test]
fn a_constant_has_the_type_that_it_is_written_in() {
    for (text, expected) in [
        ("1", "int"),
        ("2147483647", "int"),
        ("2147483648", "numeric(10,0)"),
        ("-2147483648", "numeric(10,0)"),
        ("00012345678901", "numeric(11,0)"),
        ("1.50", "numeric(3,2)"),
        ("0.5", "numeric(1,1)"),
        (".05", "numeric(2,2)"),
        ("5.", "numeric(1,0)"),
        ("1e5", "float"),
        ("$1.5", "money"),
        ("'abc'", "varchar(3)"),
        ("''", "varchar(1)"),
        ("N'abc'", "nvarchar(3)"),
        ("0x0102", "varbinary(2)"),
        ("0x", "varbinary(1)"),
        ("NULL", "int"),
        ("{d '2024-02-29'}", "datetime"),
        ("{guid '6F9619FF-8B86-D011-B42D-00C04FC964FF'}", "uniqueidentifier"),
    ] {
        assert_eq!(type_of(text), expected, "{text}");
    }
    assert_eq!(type_of(&format!("'{}'", "x".repeat(8001))), "varchar(max)");
    assert_eq!(type_of(&format!("N'{}'", "x".repeat(4001))), "nvarchar(max)");
}

#[test]
fn a_constant_has_the_value_that_it_is_written_in() {
    assert_shown(&[
        ("CAST($1.23456 AS varchar(20))", "1.23"),
        ("CONVERT(varchar(20), $1.23456, 2)", "1.2346"),
        ("CONVERT(varchar(20), $, 2)", "0.0000"),
        ("CONVERT(varchar(10), 0xabc, 1)", "0x0ABC"),
        ("1e", "1"),
        ("1.5E-3", "0.0015"),
        ("'it''s'", "it's"),
        ("'\u{3b1}'", "?"),
        ("N'\u{3b1}'", "\u{3b1}"),
        (
            "CONVERT(varchar(23), {ts '2024-02-29 10:11:12.345'}, 121)",
            "2024-02-29 10:11:12.347",
        ),
    ]);
    let digits = "9".repeat(39);
    let text = format!("The number '{digits}' is out of the range for numeric representation (maximum precision 38).");
    assert_eq!(fault(&digits), (1007, text));
    let text = "The floating point value '1e400' is out of the range of computer representation (8 bytes).";
    assert_eq!(fault("1e400"), (168, text.to_owned()));
    assert_eq!(fault("{t '10:11:12'}").0, 40510);
}

#[test]
fn incompatible_types_are_the_errors_of_sql_server() {
    for (text, number, message) in [
        (
            "'a' - 'b'",
            8117,
            "Operand data type varchar is invalid for subtract operator.",
        ),
        (
            "-'a'",
            403,
            "Invalid operator for data type. Operator equals minus, type equals varchar.",
        ),
        (
            "-CAST('a' AS varchar(3))",
            8117,
            "Operand data type varchar is invalid for minus operator.",
        ),
        ("~1.5", 8117, "Operand data type numeric is invalid for '~' operator."),
        ("GETDATE() * 2", 257, ""),
        (
            "1.5 & 1",
            402,
            "The data types numeric and int are incompatible in the '&' operator.",
        ),
        (
            "1 COLLATE database_default",
            447,
            "Expression type int is invalid for COLLATE clause.",
        ),
        ("'a' COLLATE Klingon_CI_AS", 448, "Invalid collation 'Klingon_CI_AS'."),
        (
            "NEWID() + 1",
            206,
            "Operand type clash: uniqueidentifier is incompatible with int",
        ),
    ] {
        let (found, text_found) = fault(text);
        assert_eq!(found, number, "{text}: {text_found}");
        if !message.is_empty() {
            assert_eq!(text_found, message, "{text}");
        }
    }
    let conflict = Batch::new()
        .bind_condition("'a' COLLATE Latin1_General_BIN2 = 'b' COLLATE database_default")
        .unwrap_err();
    assert_eq!(conflict.number(), 468);
    let clash = Batch::new()
        .bind_condition("CAST('2024-01-01' AS date) = 1")
        .unwrap_err();
    assert_eq!(clash.text(), "Operand type clash: date is incompatible with int");
}

#[test]
fn an_error_has_the_line_of_its_node() {
    let error = Batch::new().bind("1 +\n2 +\n@missing").unwrap_err();
    assert_eq!(
        (error.number(), error.line(), error.severity(), error.state()),
        (137, 3, 15, 2)
    );
}

#[test]
fn query_nodes_are_refused_outside_queries() {
    let text = "Subqueries are not allowed in this context. Only scalar expressions are allowed.";
    assert_eq!(fault("(SELECT 1)"), (1046, text.to_owned()));
    assert_eq!(fault("Name"), (207, "Invalid column name 'Name'.".to_owned()));
    assert_eq!(
        fault("t.Name"),
        (
            4104,
            "The multi-part identifier \"t.Name\" could not be bound.".to_owned()
        )
    );
    let text = "Windowed functions can only appear in the SELECT or ORDER BY clauses.";
    assert_eq!(fault("SUM(1) OVER ()"), (4108, text.to_owned()));
    assert_eq!(
        fault("RANK()"),
        (10753, "The function 'RANK' must have an OVER clause.".to_owned())
    );
    let text = "Cannot find either column \"dbo\" or the user-defined function or aggregate \"dbo.f\", or the name is \
                ambiguous.";
    assert_eq!(fault("dbo.f(1)"), (4121, text.to_owned()));
    assert_eq!(fault("CHECKSUM(*)").0, 40510);
}

#[test]
fn a_counter_and_its_constant_become_one_node() {
    let mut batch = Batch::new();
    batch.declare("@i", DataType::Int, "1");
    let expr = batch.bind("@i + 1").unwrap();
    let ExprKind::Whole(operation) = &expr.kind else {
        panic!("{expr:?}")
    };
    assert_eq!(operation.operator, Operator::Add);
    assert_eq!(operation.left, WholeOperand::Slot(Slot(0), Whole::Int));
    assert_eq!(operation.right, WholeOperand::Literal(1, Whole::Int));
    let Predicate::Whole(compare) = batch.bind_condition("@i < 100").unwrap() else {
        panic!("no fast comparison")
    };
    assert_eq!(compare.right, WholeOperand::Literal(100, Whole::Int));
}

#[test]
fn an_assignment_converts_to_its_target() {
    let mut batch = Batch::new();
    batch.declare("@small", DataType::TinyInt, "250");
    let target = batch.bind("@small").unwrap();
    let value = expr_of("5");
    let assigned = |operator, value: &ast::Expr| {
        let mut none = NoQuery;
        let bound = Binder::new(&batch.variables, &mut none).assigned(target.clone(), operator, value)?;
        batch.evaluate(&bound)
    };
    assert_eq!(
        assigned(ast::AssignmentOperator::Set, &value).unwrap(),
        Value::TinyInt(5)
    );
    assert_eq!(
        assigned(ast::AssignmentOperator::Add, &value).unwrap(),
        Value::TinyInt(255)
    );
    assert_eq!(
        assigned(ast::AssignmentOperator::Add, &expr_of("6"))
            .unwrap_err()
            .number(),
        220
    );
    assert_eq!(
        assigned(ast::AssignmentOperator::Multiply, &expr_of("'0'")).unwrap(),
        Value::TinyInt(0)
    );
    assert_eq!(
        assigned(ast::AssignmentOperator::Set, &expr_of("NEWID()"))
            .unwrap_err()
            .number(),
        206
    );
}

#[test]
fn a_list_of_one_type_is_one_node_and_of_several_is_comparisons() {
    let batch = Batch::new();
    assert!(matches!(
        batch.bind_condition("1 IN (1, 2)").unwrap(),
        Predicate::InList { .. }
    ));
    assert!(matches!(
        batch.bind_condition("'1' IN (1, 'b')").unwrap(),
        Predicate::Or(_)
    ));
    assert!(matches!(
        batch.bind_condition("1.5 BETWEEN 1 AND 2").unwrap(),
        Predicate::Between { .. }
    ));
    assert_eq!(batch.holds("'1' IN (1, 'b')"), Some(true));
    assert_eq!(batch.holds("1.5 NOT BETWEEN 1 AND 2"), Some(false));
    assert_eq!(batch.holds("CAST(5 AS tinyint) IN (1, 5, 300)"), Some(true));
}

/// A query over `t (id int not null, name varchar(10))`, whose subqueries are numbered.
struct OneTable<'a> {
    columns: Columns<'a>,
    subquery_count: u32,
}

impl OneTable<'_> {
    fn new() -> Self {
        let column = |name: &str, data_type, nullable| SourceColumn {
            name: name.to_owned(),
            data_type,
            nullable,
            collation: crate::Collation::default().of_column(),
        };
        let columns = vec![
            column("id", DataType::Int, false),
            column("name", DataType::VarChar(Width::Limited(10)), true),
        ];
        let source = Source {
            alias: "t".to_owned(),
            database_and_schema: None,
            number: 3,
            columns,
        };
        Self {
            columns: Columns {
                sources: vec![source],
                outer: None,
            },
            subquery_count: 0,
        }
    }
}

impl QueryHook for OneTable<'_> {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        let found = self.columns.find(name)?;
        Ok(Expr::new(ExprKind::Column(found.reference), found.column.data_type)
            .with_nullable(found.column.nullable)
            .with_collation(found.column.collation))
    }

    fn call(&mut self, call: &ast::FunctionCall, position: ast::Position) -> Result<Expr, SqlError> {
        NoQuery.call(call, position)
    }

    fn subquery(&mut self, _: &ast::Query) -> Result<Expr, SqlError> {
        self.subquery_count += 1;
        Ok(Expr::new(
            ExprKind::QueryNode(crate::QueryNodeRef(self.subquery_count)),
            DataType::BigInt,
        ))
    }

    fn exists(&mut self, _: &ast::Query) -> Result<Predicate, SqlError> {
        self.subquery_count += 1;
        Ok(Predicate::QueryNode(crate::QueryNodeRef(self.subquery_count)))
    }

    fn in_query(&mut self, _: Expr, query: &ast::Query) -> Result<Predicate, SqlError> {
        self.exists(query)
    }

    fn quantified(
        &mut self,
        _: Expr,
        _: selenite_types::Comparison,
        _: ast::Quantifier,
        query: &ast::Query,
    ) -> Result<Predicate, SqlError> {
        self.exists(query)
    }
}

#[test]
fn columns_and_subqueries_come_from_the_hook() {
    let variables = Variables::new();
    let mut table = OneTable::new();
    let mut binder = Binder::new(&variables, &mut table);
    let expr = binder.expr(&expr_of("UPPER(t.name) + 'x'")).unwrap();
    assert_eq!(expr.data_type, DataType::VarChar(Width::Limited(11)));
    assert!(expr.nullable && expr.depends_on_row());
    let id = binder.expr(&expr_of("ID")).unwrap();
    assert_eq!(id.kind, ExprKind::Column(ColumnRef { source: 3, column: 0 }));
    assert!(!id.nullable);
    let sum = binder.expr(&expr_of("id + (SELECT 1)")).unwrap();
    assert_eq!(sum.data_type, DataType::BigInt);
    let condition = binder
        .condition(&condition_of("NOT EXISTS (SELECT 1) AND id IN (SELECT 2)"))
        .unwrap();
    assert!(condition.depends_on_row());
    let error = binder.expr(&expr_of("t.nam")).unwrap_err();
    assert_eq!((error.number(), error.text()), (207, "Invalid column name 'nam'."));
}
