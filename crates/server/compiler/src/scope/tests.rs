use selenite_tsql::ast::ExprKind;

use super::*;
use crate::testing::expr_of;

fn source(alias: &str, number: u32, columns: &[&str]) -> Source {
    let columns = columns.iter().map(|name| SourceColumn {
        name: (*name).to_owned(),
        data_type: DataType::Int,
        nullable: true,
        collation: Collation::default(),
    });
    let database_and_schema = Some(("TestDB".to_owned(), "dbo".to_owned()));
    Source {
        alias: alias.to_owned(),
        database_and_schema,
        number,
        columns: columns.collect(),
    }
}

fn name(text: &str) -> ColumnName {
    let ExprKind::Column(name) = expr_of(text).kind else {
        panic!("{text} is no column")
    };
    *name
}

fn found(columns: &Columns<'_>, text: &str) -> Result<(u32, u32, u32), (i32, String)> {
    match columns.find(&name(text)) {
        Ok(found) => Ok((found.reference.source, found.reference.column, found.depth)),
        Err(error) => Err((error.number(), error.text().to_owned())),
    }
}

#[test]
fn a_variable_is_found_in_any_case_and_declared_once() {
    let mut variables = Variables::new();
    let slot = variables.declare("@Count", DataType::Int).unwrap();
    assert_eq!(
        variables.find("@COUNT").unwrap(),
        Variable {
            slot,
            data_type: DataType::Int
        }
    );
    assert_eq!(variables.hidden(), Slot(1));
    assert_eq!(variables.slot_count(), 2);
    let error = variables.declare("@count", DataType::BigInt).unwrap_err();
    let text = "The variable name '@count' has already been declared. Variable names must be unique within a query batch or \
                stored procedure.";
    assert_eq!((error.number(), error.severity(), error.text()), (134, 15, text));
}

#[test]
fn a_column_is_found_by_its_name_and_qualifiers() {
    let sources = vec![source("Orders", 1, &["id", "total"]), source("c", 2, &["id", "name"])];
    let columns = Columns { sources, outer: None };
    assert_eq!(found(&columns, "TOTAL"), Ok((1, 1, 0)));
    assert_eq!(found(&columns, "c.id"), Ok((2, 0, 0)));
    assert_eq!(found(&columns, "dbo.orders.id"), Ok((1, 0, 0)));
    assert_eq!(found(&columns, "testdb..orders.id"), Ok((1, 0, 0)));
    assert_eq!(
        found(&columns, "id"),
        Err((209, "Ambiguous column name 'id'.".to_owned()))
    );
    assert_eq!(
        found(&columns, "c.total"),
        Err((207, "Invalid column name 'total'.".to_owned()))
    );
    let unbound = |name: &str| {
        Err((
            4104,
            format!("The multi-part identifier \"{name}\" could not be bound."),
        ))
    };
    assert_eq!(found(&columns, "x.id"), unbound("x.id"));
    assert_eq!(found(&columns, "sys.orders.id"), unbound("sys.orders.id"));
    assert_eq!(found(&columns, "other..orders.id"), unbound("other..orders.id"));
}

#[test]
fn a_name_unknown_to_the_inner_query_is_resolved_in_the_outer_one() {
    let outer = Columns {
        sources: vec![source("o", 1, &["id", "total"])],
        outer: None,
    };
    let inner = Columns {
        sources: vec![source("i", 2, &["id"])],
        outer: Some(&outer),
    };
    assert_eq!(found(&inner, "id"), Ok((2, 0, 0)));
    assert_eq!(found(&inner, "total"), Ok((1, 1, 1)));
    assert_eq!(found(&inner, "o.id"), Ok((1, 0, 1)));
    assert_eq!(found(&inner, "nothing").unwrap_err().0, 207);
}
