//! PRINT, RAISERROR, THROW.

use super::*;

fn messages_of(text: &str) -> Vec<(i32, u8, u8, u32, String)> {
    let mut fixture = Fixture::new();
    fixture.run(text);
    let messages = fixture.host.calls.into_iter().filter_map(|call| {
        let HostCall::Message {
            number,
            severity,
            state,
            line,
            text,
            ..
        } = call
        else {
            return None;
        };
        Some((number, severity, state, line, text))
    });
    messages.collect()
}

#[test]
fn print_sends_a_message_with_number_and_severity_0() {
    assert_eq!(messages_of("\nPRINT 'a' + N'b'"), [(0, 0, 1, 2, "ab".to_owned())]);
    assert_eq!(printed("PRINT 1 + 2"), ["print 3"]);
}

#[test]
fn print_of_null_or_an_empty_text_is_a_space() {
    assert_eq!(printed("PRINT NULL"), ["print  "]);
    assert_eq!(printed("PRINT ''"), ["print  "]);
}

/// PRINT: 8,000 characters, or 4,000 of Unicode.
#[test]
fn print_truncates_long_texts() {
    let length = |text: &str| messages_of(text)[0].4.len();
    assert_eq!(length("PRINT REPLICATE(CAST('a' AS varchar(max)), 9000)"), 8000);
    assert_eq!(length("PRINT REPLICATE(CAST(N'a' AS nvarchar(max)), 9000)"), 4000);
}

/// PRINT of a column: 128.
#[test]
fn print_refuses_columns() {
    assert_eq!(printed("PRINT a"), ["msg 128 level 15 line 1"]);
}

#[test]
fn raiserror_substitutes_its_arguments() {
    assert_eq!(
        messages_of("DECLARE @n int = 5 RAISERROR(N'This is message %s %d.', 10, 3, N'number', @n)"),
        [(50000, 10, 3, 1, "This is message number 5.".to_owned())]
    );
}

/// RAISERROR: a severity below 0 is 0, above 25 is 25; a state below 0 is 1.
#[test]
fn raiserror_bounds_severity_and_state() {
    assert_eq!(
        messages_of("RAISERROR('x', -5, -7)")[0],
        (50000, 0, 1, 1, "x".to_owned())
    );
    assert_eq!(messages_of("RAISERROR('x', 16, 300)")[0].2, 255);
}

#[test]
fn raiserror_above_18_needs_with_log() {
    assert_eq!(messages_of("RAISERROR('x', 19, 1)")[0].0, 2754);
    assert_eq!(messages_of("RAISERROR('x', 19, 1) WITH LOG")[0].1, 19);
}

#[test]
fn raiserror_with_log_is_for_administrators() {
    let mut fixture = Fixture::new();
    fixture.host.is_administrator = false;
    assert_eq!(
        fixture.run("RAISERROR('x', 5, 1) WITH LOG")[0],
        "msg 2778 level 16 line 1"
    );
    assert_eq!(
        fixture.run("RAISERROR('x', 20, 1) WITH LOG")[0],
        "msg 2778 level 16 line 1"
    );
}

/// RAISERROR with a number: it must be in sys.messages, which has none that RAISERROR may use.
#[test]
fn raiserror_with_a_number_is_refused() {
    assert_eq!(
        messages_of("RAISERROR(12999, 16, 1)")[0].4,
        "Error number 12999 is invalid. The number must be from 13000 through 2147483647 and it cannot be 50000."
    );
    assert_eq!(messages_of("RAISERROR(50000, 16, 1)")[0].0, 2732);
    assert_eq!(messages_of("RAISERROR(50005, 16, 1)")[0].0, 18054);
}

#[test]
fn raiserror_with_nowait_reaches_the_client_at_once() {
    assert_eq!(
        run("RAISERROR('x', 0, 1) WITH NOWAIT PRINT 'a'"),
        ["msg 50000 level 0 line 1", "flush", "print a", "done f7"]
            .into_iter()
            .flat_map(|call| if call == "print a" {
                vec!["done f7 more", call]
            } else {
                vec![call]
            })
            .collect::<Vec<_>>()
    );
}

#[test]
fn raiserror_refuses_types_without_a_placeholder() {
    let error = messages_of("DECLARE @d datetime RAISERROR('%s', 16, 1, @d)").remove(0);
    assert_eq!(
        (error.0, error.4.as_str()),
        (
            2748,
            "Cannot specify datetime data type (parameter 4) as a substitution parameter."
        )
    );
    let many = ", 1".repeat(21);
    assert_eq!(messages_of(&format!("RAISERROR('x', 16, 1{many})"))[0].0, 2747);
}

#[test]
fn raiserror_checks_placeholders_when_it_runs() {
    assert_eq!(messages_of("RAISERROR('%d', 16, 1, 'a')")[0].0, 2786);
    assert_eq!(messages_of("RAISERROR('50% z', 16, 1)")[0].0, 2787);
}

/// THROW: severity is always 16; the number is not below 50000.
#[test]
fn throw_sends_number_text_and_state() {
    assert_eq!(
        messages_of("\nTHROW 51000, 'The record does not exist.', 7"),
        [(51000, 16, 7, 2, "The record does not exist.".to_owned())]
    );
    assert_eq!(
        messages_of("THROW 49999, 'x', 1")[0].4,
        "Error number 49999 in the THROW statement is outside the valid range. Specify an error number in the valid \
         range of 50000 to 2147483647."
    );
}

/// THROW takes variables, and `%%` is one `%`.
#[test]
fn throw_takes_variables() {
    assert_eq!(
        messages_of("DECLARE @n int = 50001, @m nvarchar(99) = '15%% of %d', @s int = 3; THROW @n, @m, @s"),
        [(50001, 16, 3, 1, "15% of %d".to_owned())]
    );
}
