use std::sync::Arc;

use selenite_types::{DataType, Value, Width};

use super::{MEMORY_MAX, RowStore, decoded, encoded};

fn store(types: &[DataType]) -> RowStore {
    RowStore {
        types: types.to_vec(),
        uri: "file:".to_owned(),
        rows: Vec::new(),
        size: 0,
        count: 0,
        file: None,
    }
}

#[test]
fn rows_are_the_same_in_memory_and_in_a_file() {
    let types = [
        DataType::Int,
        DataType::NVarChar(Width::Max),
        DataType::VarBinary(Width::Max),
        DataType::Float,
    ];
    let row = |number: i32| {
        vec![
            Value::Int(number),
            Value::Text(Arc::from(format!("row {number} {}", "x".repeat(100)))),
            match number % 3 {
                0 => Value::Null,
                _ => Value::Binary(Arc::from([1_u8, 0, 255])),
            },
            Value::Float(f64::from(number) / 3.0),
        ]
    };
    let mut store = store(&types);
    let mut was_in_memory = false;
    for number in 1..2000 {
        store.push(&row(number)).unwrap();
        was_in_memory |= store.file.is_none();
    }
    assert!(was_in_memory && store.file.is_some(), "{MEMORY_MAX}");
    assert!(store.rows.is_empty());
    assert_eq!(store.count(), 1999);
    for number in [1, 2, 3, 700, 1999] {
        let index = u64::try_from(number).unwrap();
        assert_eq!(store.row(index).unwrap(), row(number));
    }
    assert!(store.row(2000).is_err());
    assert!(store.row(0).is_err());
}

#[test]
fn bytes_that_end_early_are_no_row() {
    let types = [DataType::Int, DataType::NVarChar(Width::Max)];
    let bytes = encoded(&[Value::Int(1), Value::Text(Arc::from("abc"))], &types).unwrap();
    assert!(decoded(&bytes, &types).is_some());
    for length in 0..bytes.len() {
        assert_eq!(decoded(&bytes[..length], &types), None, "{length}");
    }
}
