//! Storage forms as JSON: bytes as hexadecimal digits, since JSON has none.

use std::fmt::Write;

use selenite_types::storage::Stored;

/// Appends a value.
pub(super) fn push(text: &mut String, value: &Stored<'_>) {
    // Writing into a String can't fail.
    let _ = match value {
        Stored::Null => write!(text, "null"),
        Stored::Integer(number) => write!(text, "{number}"),
        Stored::Real(number) => write!(text, "{number:?}"),
        Stored::Text(value) => {
            quote(text, value);
            Ok(())
        }
        Stored::Blob(bytes) => {
            text.push('"');
            for byte in bytes.iter() {
                let _ = write!(text, "{byte:02x}");
            }
            text.push('"');
            Ok(())
        }
    };
}

fn quote(text: &mut String, value: &str) {
    text.push('"');
    for char in value.chars() {
        match char {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            char if u32::from(char) < 0x20 => {
                let _ = write!(text, "\\u{:04x}", u32::from(char));
            }
            char => text.push(char),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_storage_class_is_one_element() {
        let mut text = String::new();
        for value in [
            Stored::Null,
            Stored::Integer(i64::MIN),
            Stored::Real(1e300),
            Stored::Text("a\"\\\n\u{e9}".into()),
            Stored::Blob(vec![0, 255].into()),
        ] {
            push(&mut text, &value);
            text.push(' ');
        }
        assert_eq!(
            text,
            "null -9223372036854775808 1e300 \"a\\\"\\\\\\u000a\u{e9}\" \"00ff\" "
        );
    }
}
