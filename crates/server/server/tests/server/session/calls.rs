//! Calls of procedures.

use selenite_tds::{Done, DoneKind, Procedure, ProcedureId};
use selenite_types::{DataType, Value, Width};

use super::client::{call, int, output, parameter, text};
use super::fixture::Fixture;

#[test]
fn sp_executesql_takes_values_and_gives_back_outputs() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for name in ["sp_executesql", "[sys].sp_executesql", "master..sp_executesql"] {
        let answer = client.call_by_name(
            name,
            vec![
                text("SET @b = @b + @a SELECT @a"),
                text("@a int, @b nvarchar(10) OUTPUT"),
                int("@a", 5),
                output("@b", DataType::NVarChar(Width::Limited(10)), Value::Text("1".into())),
            ],
        );
        assert_eq!(answer.errors(), [], "{name}");
        assert_eq!(answer.rows(), [[Value::Int(5)]]);
        assert_eq!(answer.return_status(), Some(0));
        assert_eq!(answer.outputs(), [(3, "@b", &Value::Text("6".into()))]);
        let kinds: Vec<DoneKind> = answer.dones().iter().map(|done| done.kind).collect();
        assert_eq!(
            kinds,
            [DoneKind::InProcedure, DoneKind::InProcedure, DoneKind::Procedure]
        );
        assert_eq!(answer.dones()[2].status, 0);
    }
}

#[test]
fn values_are_converted_to_what_is_declared() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let answer = client.call(
        ProcedureId::ExecuteSql,
        vec![text("SELECT @a"), text("@a decimal(5,2)"), text("12.345")],
    );
    assert_eq!(answer.errors(), []);
    let Value::Decimal(decimal) = answer.rows()[0][0] else {
        panic!("{answer:?}");
    };
    assert_eq!((decimal.unscaled, decimal.scale), (1235, 2));
    let answer = client.call(
        ProcedureId::ExecuteSql,
        vec![text("SELECT @a"), text("@a int"), text("twelve")],
    );
    assert_eq!(answer.errors()[0].0, 8114);
}

#[test]
fn a_call_that_does_not_fit_its_declaration_is_an_error() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let cases = [
        (vec![text("SELECT @a"), text("@a int")], 8178),
        (vec![text("SELECT @a"), text("@a int"), int("@b", 1)], 8145),
        (vec![text("SELECT @a"), text("@a int"), int("", 1), int("", 2)], 8144),
        (
            vec![text("SELECT @a"), text("@a int"), int("@a", 1), int("@a", 1)],
            8143,
        ),
        (
            vec![
                text("SELECT @a"),
                text("@a int"),
                output("@a", DataType::Int, Value::Int(1)),
            ],
            8162,
        ),
        (vec![text("SELECT @a")], 137),
        (vec![int("", 1)], 214),
        (vec![], 201),
        (vec![text("SELECT 1 1")], 102),
        (vec![text("SELECT 1"), text("@a int AS SELECT 2")], 102),
    ];
    for (parameters, number) in cases {
        let answer = client.call(ProcedureId::ExecuteSql, parameters.clone());
        let numbers: Vec<i32> = answer.errors().iter().map(|error| error.0).collect();
        assert_eq!(numbers, [number], "{parameters:?}");
        let last = *answer.dones().last().unwrap();
        assert_eq!((last.kind, last.status), (DoneKind::Procedure, Done::ERROR));
    }
}

#[test]
fn a_statement_is_prepared_executed_and_let_go() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let handle = output("", DataType::Int, Value::Null);
    let answer = client.call(
        ProcedureId::Prepare,
        vec![handle.clone(), text("@a int"), text("SELECT @a + 1"), int("", 1)],
    );
    assert_eq!(answer.errors(), []);
    assert_eq!(answer.return_status(), Some(0));
    let [(0, "", Value::Int(number))] = *answer.outputs() else {
        panic!("{answer:?}");
    };
    for permit in 0..3 {
        let answer = client.call(ProcedureId::Execute, vec![int("", *number), int("", permit)]);
        assert_eq!(answer.rows(), [[Value::Int(permit + 1)]]);
    }
    let answer = client.call(ProcedureId::Unprepare, vec![int("", *number)]);
    assert_eq!((answer.errors(), answer.return_status()), (vec![], Some(0)));
    for procedure in [ProcedureId::Execute, ProcedureId::Unprepare] {
        let answer = client.call(procedure, vec![int("", *number), int("", 1)]);
        assert_eq!(answer.errors()[0].0, 8179);
        let said = answer.said()[0];
        assert_eq!(
            said.text,
            format!("Could not find prepared statement with handle {number}.")
        );
    }
}

#[test]
fn sp_prepexec_runs_and_gives_its_handle_behind_the_status() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let answer = client.call(
        ProcedureId::PrepExec,
        vec![
            output("", DataType::Int, Value::Null),
            text("@a int, @b int OUTPUT"),
            text("SELECT @a SET @b = 9"),
            int("", 3),
            output("", DataType::Int, Value::Null),
        ],
    );
    assert_eq!(answer.errors(), []);
    assert_eq!(answer.rows(), [[Value::Int(3)]]);
    assert_eq!(answer.outputs(), [(0, "", &Value::Int(1)), (4, "@b", &Value::Int(9))]);
    let answer = client.call(ProcedureId::Execute, vec![int("", 1), int("", 4), int("", 0)]);
    assert_eq!(answer.rows(), [[Value::Int(4)]]);
    // The statement of the given handle is released, and a text that is wrong has none.
    let answer = client.call(
        ProcedureId::PrepExec,
        vec![output("", DataType::Int, Value::Int(1)), text(""), text("SELECT 1 1")],
    );
    let numbers: Vec<i32> = answer.errors().iter().map(|error| error.0).collect();
    assert_eq!(numbers, [102, 8180]);
    assert_eq!(client.call(ProcedureId::Execute, vec![int("", 1)]).errors()[0].0, 8179);
}

#[test]
fn several_calls_of_a_message_are_answered_in_one() {
    let fixture = Fixture::new();
    let one = |value| {
        call(
            Procedure::Id(ProcedureId::ExecuteSql),
            vec![text("SELECT @a"), text("@a int"), int("", value)],
        )
    };
    let answer = fixture.client().calls(vec![one(1), one(2), one(3)]);
    assert_eq!(answer.rows(), [[Value::Int(1)], [Value::Int(2)], [Value::Int(3)]]);
    let dones = answer.dones();
    let (last, others) = dones.split_last().unwrap();
    assert!(others.iter().all(|done| done.status & Done::MORE != 0));
    assert_eq!((last.kind, last.status & Done::MORE), (DoneKind::Procedure, 0));
}

#[test]
fn what_is_not_there_or_not_supported_is_refused_by_name() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let answer = client.call_by_name("dbo.no_such", vec![int("@a", 1)]);
    assert_eq!(answer.errors()[0].0, 2812);
    assert_eq!(answer.said()[0].text, "Could not find stored procedure 'dbo.no_such'.");
    let answer = client.call(ProcedureId::CursorOpen, vec![]);
    assert_eq!(answer.errors()[0].0, 201);
    let answer = client.batch("EXEC sp_cursoropen 1, N'SELECT 1'");
    assert_eq!(answer.errors()[0].0, 40510);
    assert!(answer.said()[0].text.contains("sp_cursoropen"));
    let answer = client.call(
        ProcedureId::PrepExecRpc,
        vec![
            output("", DataType::Int, Value::Null),
            text("{? = call no_such(?)}"),
            int("", 1),
        ],
    );
    assert_eq!(answer.errors()[0].0, 2812);
}

#[test]
fn a_failing_statement_does_not_end_the_call() {
    let fixture = Fixture::new();
    let answer = fixture.client().call(
        ProcedureId::ExecuteSql,
        vec![
            text("SELECT 1 / @zero SELECT 2"),
            text("@zero int"),
            parameter("@zero", DataType::Int, Value::Int(0)),
        ],
    );
    assert_eq!(answer.errors(), [(8134, 1)]);
    assert_eq!(answer.rows(), [[Value::Int(2)]]);
    assert!(answer.return_status().is_some());
}
