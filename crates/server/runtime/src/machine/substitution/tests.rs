//! The forms in the documentation of RAISERROR: flags, width, precision and type as in C's printf.

use selenite_types::Width;

use super::*;

const INT: DataType = DataType::Int;
const TEXT: DataType = DataType::NVarChar(Width::Max);

fn int(value: i32) -> (Value, DataType) {
    (Value::Int(value), INT)
}

fn text(value: &str) -> (Value, DataType) {
    (Value::Text(value.into()), TEXT)
}

fn filled(message: &str, arguments: &[(Value, DataType)]) -> String {
    substitute(message, arguments).unwrap()
}

fn refused(message: &str, arguments: &[(Value, DataType)]) -> (i32, String) {
    let error = substitute(message, arguments).unwrap_err();
    (error.number(), error.text().to_owned())
}

#[test]
fn placeholders_take_numbers_and_texts_in_order() {
    let arguments = [text("number"), int(5)];
    assert_eq!(
        filled("This is message %s %d.", &arguments),
        "This is message number 5."
    );
    assert_eq!(
        filled("%i|%u|%o|%x|%X", &[int(-1), int(7), int(8), int(255), int(255)]),
        "-1|7|10|ff|FF"
    );
}

#[test]
fn a_doubled_percent_sign_is_one() {
    assert_eq!(filled("15%% of %d%%", &[int(3)]), "15% of 3%");
}

#[test]
fn width_and_precision_pad_and_cut() {
    let arguments = [int(7), int(3), text("abcde")];
    assert_eq!(filled("<%*.*s>", &arguments), "<    abc>");
    assert_eq!(filled("<%7.3s>", &[text("abcde")]), "<    abc>");
    assert_eq!(filled("<%-7s>", &[text("ab")]), "<ab     >");
    assert_eq!(
        filled("<%5d|%-5d|%05d|%.3d>", &[int(42), int(42), int(-42), int(4)]),
        "<   42|42   |-0042|004>"
    );
}

#[test]
fn flags_give_signs_and_prefixes() {
    assert_eq!(
        filled(
            "%+d|% d|%#x|%#X|%#o|%#x",
            &[int(1), int(1), int(255), int(255), int(8), int(0)]
        ),
        "+1| 1|0xff|0XFF|010|0"
    );
}

#[test]
fn a_negative_number_shows_its_bits_in_an_unsigned_placeholder() {
    assert_eq!(filled("%u %x", &[int(-1), int(-1)]), "4294967295 ffffffff");
}

#[test]
fn a_bigint_needs_a_wide_placeholder() {
    let big = (Value::BigInt(5_000_000_000), DataType::BigInt);
    assert_eq!(filled("%I64d", std::slice::from_ref(&big)), "5000000000");
    assert_eq!(refused("%d", &[big]).0, 2786);
}

#[test]
fn null_and_missing_arguments_are_shown_as_null() {
    assert_eq!(
        filled("%d %s %d", &[(Value::Null, INT), (Value::Null, TEXT)]),
        "(null) (null) (null)"
    );
}

#[test]
fn a_wrong_type_for_a_placeholder_is_error_2786() {
    let (number, message) = refused("%s %d", &[text("a"), text("b")]);
    assert_eq!(number, 2786);
    assert_eq!(
        message,
        "The data type of substitution parameter 2 does not match the expected type of the format specification."
    );
    assert_eq!(refused("%s", &[int(1)]).0, 2786);
    assert_eq!(refused("%*d", &[text("a"), int(1)]).0, 2786);
}

#[test]
fn an_invalid_placeholder_is_error_2787() {
    assert_eq!(
        refused("50% z", &[]),
        (2787, "Invalid format specification: '% z'.".to_owned())
    );
    for message in ["%", "%5", "%q", "%I64", "%.", "%99999999999999999999d"] {
        assert_eq!(refused(message, &[int(1)]).0, 2787, "{message}");
    }
}

#[test]
fn a_message_of_more_than_2047_characters_ends_in_three_periods() {
    let long = "a".repeat(2048);
    let message = filled(&long, &[]);
    assert_eq!(message.len(), 2047);
    assert!(message.ends_with("a..."));
    assert_eq!(filled(&"a".repeat(2047), &[]).len(), 2047);
    assert_eq!(filled("%2000000000d", &[int(1)]).len(), 2047);
}

#[test]
fn thrown_messages_have_no_placeholders() {
    assert_eq!(unescape("15%% of %d"), "15% of %d");
}
