//! Splits a command line into words as a shell would split a simple one.
//!
//! No shell runs. Syntax that only a shell can interpret (variables, pipes, redirections, patterns)
//! is refused rather than passed on as text that the author did not intend.

/// Splits `line` at unquoted blanks. `'...'` is literal; in `"..."` a backslash escapes `"`, `\`,
/// `$` and a backquote; elsewhere a backslash escapes any character.
pub fn split(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(letter) = rest.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => single_quoted(&mut rest, word.get_or_insert_default())?,
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '\\' => {
                let kept = rest.next().ok_or("ends in a backslash")?;
                word.get_or_insert_default().push(kept);
            }
            _ if SHELL_ONLY.contains(letter) => return Err(NEEDS_SHELL),
            '~' | '#' if word.is_none() => return Err(NEEDS_SHELL),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

fn single_quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), &'static str> {
    loop {
        match rest.next().ok_or("a quote is not closed")? {
            '\'' => return Ok(()),
            letter => word.push(letter),
        }
    }
}

fn double_quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), &'static str> {
    loop {
        match rest.next().ok_or("a quote is not closed")? {
            '"' => return Ok(()),
            '$' | '`' => return Err(NEEDS_SHELL),
            '\\' => match rest.next().ok_or("a quote is not closed")? {
                letter @ ('"' | '\\' | '$' | '`') => word.push(letter),
                letter => word.extend(['\\', letter]),
            },
            letter => word.push(letter),
        }
    }
}

/// Characters that have a meaning for a shell if unquoted, and none here.
const SHELL_ONLY: &str = "$`|&;<>()*?[]{}!";

const NEEDS_SHELL: &str =
    "no shell runs this: quote the character, or name the shell yourself, as [\"sh\", \"-c\", \"...\"]";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_takes_simple_quoting_as_a_shell_does() {
        let cases: [(&str, &[&str]); 8] = [
            ("", &[]),
            ("  /usr/bin/kms  --key\tx ", &["/usr/bin/kms", "--key", "x"]),
            ("kms 'a b' \"c d\"", &["kms", "a b", "c d"]),
            ("kms a' 'b\" \"c", &["kms", "a b c"]),
            ("kms '' \"\"", &["kms", "", ""]),
            (r#"kms a\ b "x\"y\\z\n" 'x\y'"#, &["kms", "a b", r#"x"y\z\n"#, r"x\y"]),
            (
                "kms '$HOME' \\$x --a=~/b c#d",
                &["kms", "$HOME", "$x", "--a=~/b", "c#d"],
            ),
            ("kms '|' \"*\"", &["kms", "|", "*"]),
        ];
        for (line, words) in cases {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
    }

    #[test]
    fn split_refuses_shell_syntax() {
        for line in [
            "kms | base64",
            "kms $KEY",
            "kms \"$KEY\"",
            "kms > x",
            "~/kms",
            "kms *",
            "kms # no",
            "a;b",
            "a&",
        ] {
            assert_eq!(split(line), Err(NEEDS_SHELL), "{line}");
        }
    }

    #[test]
    fn split_refuses_open_quotes_and_a_trailing_backslash() {
        for line in ["kms 'a", "kms \"a", "kms \"a\\", "kms a\\"] {
            assert!(split(line).is_err(), "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn split_returns_quoted_words(words: Vec<String>) {
            let quoted: Vec<String> = words
                .iter()
                .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
                .collect();
            proptest::prop_assert_eq!(split(&quoted.join(" ")).unwrap(), words);
        }

        #[test]
        fn split_accepts_or_refuses_any_line(line: String) {
            let _ = split(&line);
        }
    }
}
