use crate::testing::{Batch, assert_shown, fault, type_of};

#[test]
fn abs_and_sign_keep_a_numbers_kind() {
    assert_shown(&[
        ("ABS(-1.0)", "1.0"),
        ("ABS(-5)", "5"),
        ("ABS(CAST(-5 AS smallint))", "5"),
        ("ABS(-$2.5)", "2.50"),
        ("ABS(-1.5e0)", "1.5"),
        ("ABS('-2')", "2"),
        ("SIGN(-125)", "-1"),
        ("SIGN(0.00)", "0.00"),
        ("SIGN(2.5)", "1.0"),
        ("SIGN(CAST(-3 AS money))", "-1.00"),
        ("SIGN(0e0)", "0"),
        ("ABS(NULL)", "NULL"),
    ]);
    assert_eq!(type_of("ABS(CAST(-5 AS smallint))"), "int");
    assert_eq!(type_of("ABS('-2')"), "float");
    let text = "Arithmetic overflow error converting expression to data type int.";
    assert_eq!(fault("ABS(CAST(-2147483648 AS int))"), (8115, text.to_owned()));
    let text = "Argument data type date is invalid for argument 1 of abs function.";
    assert_eq!(fault("ABS(CAST('20240101' AS date))"), (8116, text.to_owned()));
}

#[test]
fn ceiling_and_floor_go_to_the_next_whole_number() {
    assert_shown(&[
        ("CEILING($123.45)", "124.00"),
        ("CEILING(-$123.45)", "-123.00"),
        ("CEILING($0.0)", "0.00"),
        ("FLOOR(123.45)", "123"),
        ("FLOOR(-123.45)", "-124"),
        ("FLOOR($123.45)", "123.00"),
        ("CEILING(1.2e0)", "2"),
        ("CEILING(7)", "7"),
    ]);
    assert_eq!(type_of("FLOOR(123.45)"), "numeric(5,0)");
}

#[test]
fn round_rounds_at_a_digit_before_or_after_the_point() {
    assert_shown(&[
        ("ROUND(123.9994, 3)", "123.9990"),
        ("ROUND(123.9995, 3)", "124.0000"),
        ("ROUND(123.4545, 2)", "123.4500"),
        ("ROUND(123.45, -2)", "100.00"),
        ("ROUND(150.75, 0)", "151.00"),
        ("ROUND(150.75, 0, 1)", "150.00"),
        ("ROUND(748.58, -1)", "750.00"),
        ("ROUND(748.58, -2)", "700.00"),
        ("ROUND(748.58, -4)", "0.00"),
        ("ROUND(-2.5, 0)", "-3.0"),
        ("ROUND(145, -1)", "150"),
        ("ROUND(144, -1)", "140"),
        ("ROUND(2.345e0, 2)", "2.35"),
        ("ROUND($1.2355, 3)", "1.24"),
        ("ROUND(7, 2)", "7"),
        ("ROUND(1.5, NULL)", "NULL"),
    ]);
    let text = "Arithmetic overflow error converting expression to data type numeric.";
    assert_eq!(fault("ROUND(748.58, -3)"), (8115, text.to_owned()));
    assert_eq!(
        fault("ROUND(1)"),
        (189, "The round function requires 2 to 3 arguments.".to_owned())
    );
}

#[test]
fn power_has_the_type_of_its_base() {
    assert_shown(&[
        ("POWER(2, 3)", "8"),
        ("POWER(2.0, 0.5)", "1.4"),
        ("POWER(2e0, 0.5)", "1.41421"),
        ("POWER(2, -1)", "0"),
        ("POWER(CAST(3 AS bigint), 39)", "4052555153018976267"),
        ("POWER(-2, 3)", "-8"),
        ("POWER(0, 0)", "1"),
    ]);
    assert_eq!(type_of("POWER(2.0, 3)"), "numeric(38,1)");
    let text = "Arithmetic overflow error for type int, value = 10000000000.000000.";
    assert_eq!(fault("POWER(10, 10)"), (232, text.to_owned()));
    assert_eq!(
        fault("POWER(-1.5e0, 0.5)"),
        (3623, "An invalid floating point operation occurred.".to_owned())
    );
    assert_eq!(fault("POWER(0e0, -1)").0, 8134);
}

#[test]
fn floats_have_their_functions() {
    assert_shown(&[
        ("SQRT(16)", "4"),
        ("SQUARE(-3)", "9"),
        ("EXP(1)", "2.71828"),
        ("LOG(EXP(10))", "10"),
        ("LOG(8, 2)", "3"),
        ("LOG10(145.175643)", "2.16189"),
        ("PI()", "3.14159"),
        ("SIN(45.175643)", "0.929607"),
        ("COS(14.78)", "-0.599465"),
        ("TAN(PI() / 4)", "1"),
        ("COT(124.1332)", "-0.040312"),
        ("ACOS(-1.0)", "3.14159"),
        ("ASIN(1)", "1.5708"),
        ("ATAN(45.87)", "1.549"),
        ("ATN2(35.175643, 129.44)", "0.265345"),
        ("SQRT(NULL)", "NULL"),
    ]);
    let invalid = (3623, "An invalid floating point operation occurred.".to_owned());
    for text in [
        "SQRT(-1)",
        "LOG(0)",
        "LOG(-1)",
        "LOG10(0)",
        "ACOS(2)",
        "ASIN(-1.01)",
        "COT(0)",
        "LOG(2, 1)",
    ] {
        assert_eq!(fault(text), invalid, "{text}");
    }
    assert_eq!(fault("EXP(1000)").0, 8115);
    assert_eq!(fault("SQUARE(1e200)").0, 8115);
}

#[test]
fn angles_keep_the_type_of_a_whole_number() {
    assert_shown(&[
        ("DEGREES(PI() / 2)", "90"),
        ("RADIANS(180)", "3"),
        ("RADIANS(180e0)", "3.14159"),
        ("LEFT(RADIANS(180.0), 12)", "3.1415926535"),
        ("DEGREES(1)", "57"),
    ]);
    assert_eq!(type_of("RADIANS(180.0)"), "numeric(38,18)");
}

#[test]
fn rand_with_a_seed_restarts_the_sequence() {
    let batch = Batch::new();
    assert_eq!(batch.shown("STR(RAND(100), 17, 15)"), "0.715436657367485");
    assert_eq!(batch.shown("STR(RAND(), 16, 14)"), "0.28463380767982");
    assert_eq!(batch.shown("STR(RAND(), 18, 16)"), "0.0131039082850364");
    assert_eq!(batch.shown("STR(RAND(100), 17, 15)"), "0.715436657367485");
}
