//! Benchmarks of operations that run once per row or per loop iteration, in nanoseconds.

use std::hint::black_box;
use std::time::Instant;

use selenite_types::storage::{StoredRef, from_stored, to_stored};
use selenite_types::{
    Collation, DataType, Date, DateTime2, Decimal, Integer, LikePattern, Operator, TimeOfDay, Value, Width, collate,
    compare,
};

/// Prints the minimum of many short rounds, because other load only increases the time.
fn print_cost<T>(name: &str, mut operation: impl FnMut() -> T) {
    const COUNT: u32 = 20_000;
    let round = |operation: &mut dyn FnMut() -> T| {
        let start = Instant::now();
        for _ in 0..COUNT {
            black_box(operation());
        }
        start.elapsed().as_nanos()
    };
    let best = (0..200).map(|_| round(&mut operation)).min().unwrap_or(0);
    println!(
        "{name:<48} {:>4}.{} ns",
        best / u128::from(COUNT),
        best * 10 / u128::from(COUNT) % 10
    );
}

fn decimal(unscaled: i128, scale: u8) -> Value {
    Value::Decimal(Decimal { unscaled, scale })
}

#[test]
#[ignore = "make soak: prints what operations cost, and checks nothing"]
fn operations_cost_nanoseconds() {
    print_cost("nothing", || 0);
    numbers();
    texts();
    forms();
}

fn numbers() {
    let (a, b) = (Value::Int(123_456), Value::Int(789));
    print_cost("int + int, typed slots", || black_box(123_456_i32).plus(black_box(789)));
    print_cost("int + int, values", || {
        Operator::Add.apply(black_box(&a), black_box(&b), &DataType::Int)
    });
    print_cost("int / int, values", || {
        Operator::Divide.apply(black_box(&a), black_box(&b), &DataType::Int)
    });
    print_cost("int < int, values", || {
        compare(black_box(&a), black_box(&b), Collation::DEFAULT)
    });
    let (a, b) = (decimal(1_234_567, 2), decimal(98_765, 4));
    let of = |precision, scale| DataType::Decimal { precision, scale };
    print_cost("decimal(10,2) + decimal(10,4)", || {
        Operator::Add.apply(black_box(&a), black_box(&b), &of(13, 4))
    });
    print_cost("decimal(10,2) * decimal(10,4)", || {
        Operator::Multiply.apply(black_box(&a), black_box(&b), &of(21, 6))
    });
    print_cost("decimal(10,2) / decimal(10,4)", || {
        Operator::Divide.apply(black_box(&a), black_box(&b), &of(25, 13))
    });
    let (a, b) = (decimal(10_i128.pow(37) / 3, 10), decimal(10_i128.pow(30) / 7, 10));
    print_cost("decimal(38,10) * decimal(38,10)", || {
        Operator::Multiply.apply(black_box(&a), &decimal(7, 10), &of(38, 6))
    });
    print_cost("decimal(38,10) / decimal(38,10)", || {
        Operator::Divide.apply(black_box(&a), black_box(&b), &of(38, 6))
    });
    print_cost("decimal < decimal, other scale", || {
        compare(&a, &decimal(7, 4), Collation::DEFAULT)
    });
}

fn texts() {
    let order =
        |name: &str, a: &str, b: &str| print_cost(name, || collate(black_box(a.as_bytes()), black_box(b.as_bytes())));
    order("collate, 8 letters, equal", "Smithson", "smithson");
    order("collate, 8 letters, first differs", "Smithson", "Jonessen");
    order(
        "collate, 20 letters, last differs",
        "a_rather_long_name_1",
        "A_rather_long_name_2",
    );
    order(
        "collate, 100 letters, equal",
        &"abcdefghij".repeat(10),
        &"ABCDEFGHIJ".repeat(10),
    );
    order(
        "collate, 8 letters with accents, equal",
        "Caf\u{e9}t\u{e9}ri\u{e0}",
        "caf\u{c9}t\u{e9}ri\u{c0}",
    );
    order(
        "collate, 8 of Asia, equal",
        "\u{4e00}\u{4e01}\u{4e02}\u{4e03}\u{4e04}\u{4e05}\u{4e06}\u{4e07}",
        "\u{4e00}\u{4e01}\u{4e02}\u{4e03}\u{4e04}\u{4e05}\u{4e06}\u{4e07}",
    );
    print_cost("key of 20 letters", || {
        Collation::DEFAULT.key(black_box(b"a_rather_long_name_1"))
    });
    let pattern = LikePattern::new("abc%", None, Collation::DEFAULT);
    print_cost("like 'abc%', 20 letters", || {
        pattern.matches(black_box("ABCdefghijklmnopqrst"), false)
    });
    let pattern = LikePattern::new("%pqr%", None, Collation::DEFAULT);
    print_cost("like '%pqr%', 20 letters", || {
        pattern.matches(black_box("ABCdefghijklmnopqrst"), false)
    });
    let (a, b) = (Value::Text("Hello, ".into()), Value::Text("world".into()));
    let result = DataType::VarChar(Width::Limited(12));
    print_cost("varchar + varchar, 12 letters", || {
        Operator::Add.apply(black_box(&a), black_box(&b), &result)
    });
}

fn forms() {
    let varchar = DataType::VarChar(Width::Limited(50));
    let wide = DataType::Decimal {
        precision: 38,
        scale: 10,
    };
    let narrow = DataType::Decimal {
        precision: 18,
        scale: 2,
    };
    let moment = DateTime2 {
        date: Date(738_000),
        time: TimeOfDay(430_000_000_000),
    };
    let cases = [
        ("int", Value::Int(123_456), DataType::Int),
        ("bigint", Value::BigInt(123_456), DataType::BigInt),
        (
            "varchar(50), 20 letters",
            Value::Text("a_rather_long_name_1".into()),
            varchar,
        ),
        (
            "char(25), 6 letters",
            Value::Text(format!("{:<25}", "abcdef").into()),
            DataType::Char(25),
        ),
        (
            "nvarchar(max), 6 letters with accents",
            Value::Text("\u{e9}t\u{e9}\u{e9}t\u{e9}".into()),
            DataType::NVarChar(Width::Max),
        ),
        ("decimal(18,2)", decimal(1_234_567, 2), narrow),
        ("decimal(38,10)", decimal(1_234_567, 10), wide),
        ("float", Value::Float(1.5), DataType::Float),
        ("datetime", Value::DateTime(moment), DataType::DateTime),
        ("datetime2(7)", Value::DateTime(moment), DataType::DateTime2(7)),
        ("date", Value::Date(moment.date), DataType::Date),
    ];
    for (name, value, declared) in cases {
        print_cost(&format!("write {name}"), || {
            to_stored(black_box(&value), black_box(&declared))
        });
        let stored = to_stored(&value, &declared).expect("a value of its type");
        let stored: StoredRef<'_> = stored.as_stored_ref();
        print_cost(&format!("read {name}"), || {
            from_stored(black_box(stored), black_box(&declared))
        });
    }
}
