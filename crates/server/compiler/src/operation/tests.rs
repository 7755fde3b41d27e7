use std::borrow::Cow;

use selenite_types::{Comparison, Operator, Width};

use super::*;
use crate::testing::{Batch, World};
use crate::{Collation, ExprKind, Predicate};

fn column(number: u32, data_type: DataType) -> Expr {
    Expr::new(
        ExprKind::Column(ColumnRef {
            source: 1,
            column: number,
        }),
        data_type,
    )
}

fn text_column(number: u32) -> Expr {
    column(number, DataType::VarChar(Width::Limited(10)))
}

fn called(name: &str, argument: Expr) -> Expr {
    crate::Function::find(name).unwrap().bind(None, vec![argument]).unwrap()
}

#[test]
fn equal_expressions_over_other_columns_have_one_number() {
    let mut operations = Operations::new();
    let first = operations.intern(&called("upper", text_column(0))).unwrap();
    let second = operations.intern(&called("upper", text_column(4))).unwrap();
    let other = operations.intern(&called("lower", text_column(0))).unwrap();
    let wider = operations
        .intern(&called("upper", column(0, DataType::VarChar(Width::Limited(11)))))
        .unwrap();
    assert_eq!(first.number, second.number);
    assert_ne!(first.number, other.number);
    assert_ne!(first.number, wider.number);
    assert_eq!(operations.count(), 3);
    assert_eq!(
        second.inputs[0].origin,
        InputOrigin::Column(ColumnRef { source: 1, column: 4 })
    );
    assert_eq!(second.inputs[0].data_type, DataType::VarChar(Width::Limited(10)));
}

#[test]
fn an_operation_reads_storage_forms_and_returns_one() {
    let mut operations = Operations::new();
    let upper = operations.intern(&called("upper", text_column(0))).unwrap();
    let stored = operations
        .run(upper.number, &[StoredRef::Text(b"abc")], &World::default())
        .unwrap();
    assert_eq!(stored, Stored::Text(Cow::Borrowed("ABC")));
    let null = operations
        .run(upper.number, &[StoredRef::Null], &World::default())
        .unwrap();
    assert_eq!(null, Stored::Null);
}

#[test]
fn each_input_is_passed_once_and_variables_are_inputs() {
    let mut batch = Batch::new();
    batch.declare("@factor", DataType::Int, "2");
    let id = column(0, DataType::Int);
    let factor = batch.bind("@factor").unwrap();
    let product = |left: Expr, right: Expr| {
        let operation = crate::WholeOperation {
            operator: Operator::Multiply,
            left: WholeOperand::Expr(Box::new(left)),
            right: WholeOperand::Expr(Box::new(right)),
            result: Whole::Int,
        };
        Expr::new(ExprKind::Whole(Box::new(operation)), DataType::Int)
    };
    let cube = product(product(id.clone(), factor), id);
    let mut operations = Operations::new();
    let used = operations.intern(&cube).unwrap();
    let origins: Vec<InputOrigin> = used.inputs.iter().map(|input| input.origin).collect();
    let id = InputOrigin::Column(ColumnRef { source: 1, column: 0 });
    assert_eq!(origins, [id, InputOrigin::Variable(Slot(0))].map(|origin| origin));
    let arguments = [StoredRef::Integer(7), StoredRef::Integer(2)];
    assert_eq!(
        operations.run(used.number, &arguments, &World::default()).unwrap(),
        Stored::Integer(98)
    );
    let failure = operations
        .run(used.number, &[StoredRef::Integer(70_000); 2], &World::default())
        .unwrap_err();
    let OperationFailure::Error(error) = failure else {
        panic!("{failure:?}")
    };
    assert_eq!(error.number(), 8115);
}

#[test]
fn a_condition_returns_a_bit_and_accepts_conditions() {
    let compare = crate::Compare {
        comparison: Comparison::Equal,
        left: text_column(0),
        right: text_column(1),
        collation: Collation::default(),
    };
    let node = Predicate::QueryNode(QueryNodeRef(9));
    let condition = Predicate::And(vec![Predicate::Compare(Box::new(compare)), node]);
    let mut operations = Operations::new();
    let used = operations.intern_predicate(&condition).unwrap();
    assert_eq!(used.data_type, DataType::Bit);
    assert_eq!(used.inputs[2].origin, InputOrigin::QueryNodePredicate(QueryNodeRef(9)));
    let run = |left: &[u8], right: &[u8], truth| {
        let arguments = [StoredRef::Text(left), StoredRef::Text(right), truth];
        operations.run(used.number, &arguments, &World::default()).unwrap()
    };
    assert_eq!(run(b"a", b"A ", StoredRef::Integer(1)), Stored::Integer(1));
    assert_eq!(run(b"a", b"b", StoredRef::Null), Stored::Integer(0));
    assert_eq!(run(b"a", b"a", StoredRef::Null), Stored::Null);
}

#[test]
fn an_invalid_storage_form_is_reported_with_its_input() {
    let mut operations = Operations::new();
    let upper = operations.intern(&called("upper", text_column(0))).unwrap();
    let failure = operations
        .run(upper.number, &[StoredRef::Integer(1)], &World::default())
        .unwrap_err();
    assert!(
        matches!(failure, OperationFailure::Misfit { input: 0, .. }),
        "{failure:?}"
    );
    let unknown = operations.run(77, &[], &World::default()).unwrap_err();
    assert!(
        matches!(&unknown, OperationFailure::Error(error) if error.number() == 8624),
        "{unknown:?}"
    );
    assert!(operations.run(upper.number, &[], &World::default()).is_err());
}

#[test]
fn many_inputs_are_evaluated_too() {
    let arguments: Vec<Expr> = (0..20).map(|number| column(number, DataType::Int)).collect();
    let concat = crate::Function::find("concat").unwrap().bind(None, arguments).unwrap();
    let mut operations = Operations::new();
    let used = operations.intern(&concat).unwrap();
    let stored = operations
        .run(used.number, &[StoredRef::Integer(1); 20], &World::default())
        .unwrap();
    assert_eq!(stored, Stored::Text(Cow::Owned("1".repeat(20))));
}
