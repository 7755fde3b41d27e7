//! Whether the text of a request may have a secret in it, such as a password.
//!
//! - `texts-in-texts`: what a request puts together and executes may be any statement. Only a text that is one constant is
//!   looked into, as are all others in it.

/// Whether it may.
pub(crate) fn may_have_secret(source: &str) -> bool {
    may_have((source, 0))
}

fn may_have((source, depth): (&str, u32)) -> bool {
    let upper = source.to_ascii_uppercase();
    if SECRETS.iter().any(|word| upper.contains(word)) {
        return true;
    }
    // Most texts execute none.
    if !upper.contains("EXEC") && !CALLS.iter().any(|name| upper.contains(name)) {
        return false;
    }
    let tokens = tokens(&upper);
    let is_sign = |at: usize, sign: char| tokens.get(at) == Some(&Token::Sign(sign));
    let is_variable = |at: usize| matches!(tokens.get(at), Some(Token::Word(word)) if word.starts_with('@'));
    let is_constant = |at: usize| matches!(tokens.get(at), Some(Token::Text(_)));
    tokens.iter().enumerate().any(|(at, token)| match token {
        Token::Text(text) => depth >= DEPTH_MAX || may_have((text.as_str(), depth + 1)),
        Token::Word("EXEC" | "EXECUTE") => {
            let has_result = is_variable(at + 1) && is_sign(at + 2, '=');
            let called = if has_result { at + 3 } else { at + 1 };
            let is_one = is_constant(called + 1) && is_sign(called + 2, ')');
            is_variable(called) || is_sign(called, '(') && !is_one
        }
        Token::Word(name) if CALLS.iter().any(|call| call == name) => {
            let is_named = tokens.get(at + 1) == Some(&Token::Word("@STMT"));
            !is_constant(if is_named { at + 3 } else { at + 1 })
        }
        Token::Word(_) | Token::Sign(_) => false,
    })
}

/// A part of a text in capital letters.
#[derive(PartialEq, Eq, Debug)]
enum Token<'a> {
    /// A word or a name, without what quotes it.
    Word(&'a str),
    /// A constant, or a name in quotation marks, which may be one.
    Text(String),
    /// Anything else.
    Sign(char),
}

fn tokens(mut rest: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    while let Some(first) = rest.chars().next() {
        let text = rest;
        let behind = |start: &str| text.strip_prefix(start);
        if let Some(comment) = behind("--") {
            rest = comment.split_once('\n').map_or("", |(_, behind)| behind);
        } else if let Some(comment) = behind("/*") {
            rest = behind_comment(comment);
        } else if let Some(text) = behind("'").or_else(|| behind("N'")) {
            rest = quoted((text, '\''), &mut found);
        } else if let Some(text) = behind("\"") {
            rest = quoted((text, '"'), &mut found);
        } else if let Some((name, behind)) = behind("[").and_then(|name| name.split_once(']')) {
            found.push(Token::Word(name));
            rest = behind;
        } else {
            let size = rest.find(|sign| !is_of_word(sign)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(size.max(first.len_utf8()));
            if size > 0 {
                found.push(Token::Word(word));
            } else if !first.is_whitespace() {
                found.push(Token::Sign(first));
            }
            rest = behind;
        }
    }
    found
}

/// What is behind a comment, which may have others in it.
fn behind_comment(mut rest: &str) -> &str {
    let mut depth = 1_u32;
    while depth > 0 {
        let Some(at) = rest.find(['*', '/']) else { return "" };
        let (_, found) = rest.split_at(at);
        rest = if let Some(behind) = found.strip_prefix("*/") {
            depth -= 1;
            behind
        } else if let Some(behind) = found.strip_prefix("/*") {
            depth += 1;
            behind
        } else {
            found.get(1..).unwrap_or_default()
        };
    }
    rest
}

/// Reads a text up to the mark that ends it, and returns what is behind it.
fn quoted<'a>((mut rest, mark): (&'a str, char), found: &mut Vec<Token<'a>>) -> &'a str {
    let mut text = String::new();
    loop {
        let Some((part, behind)) = rest.split_once(mark) else {
            text.push_str(rest);
            rest = "";
            break;
        };
        text.push_str(part);
        rest = behind;
        let Some(again) = rest.strip_prefix(mark) else { break };
        text.push(mark);
        rest = again;
    }
    found.push(Token::Text(text));
    rest
}

fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '_' | '@' | '#' | '$')
}

/// Words of statements that have a password or another secret beside them.
const SECRETS: [&str; 6] = [
    "PASSWORD",
    "PASSPHRASE",
    "SECRET",
    // Functions that take the password of a private key.
    "DECRYPTBY",
    "SIGNBYCERT",
    "SIGNBYASYMKEY",
];
/// Procedures that execute a text. Where it is not the first argument, that is no constant.
const CALLS: [&str; 6] = [
    "SP_EXECUTESQL",
    "SP_PREPARE",
    "SP_PREPEXEC",
    "SP_CURSOROPEN",
    "SP_CURSORPREPARE",
    "SP_CURSORPREPEXEC",
];
/// 8: texts in texts of that depth are not written by hand.
const DEPTH_MAX: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_put_together_may_have_a_secret() {
        for text in [
            "ALTER LOGIN a WITH Password = 'x'",
            "EXEC ('ALTER LOGIN a WITH PASS' + 'WORD = ''x''')",
            "exec/* /* */ ( */(N'ALTER LOGIN a WITH PASS' + 'WORD = ''x''')",
            "EXECUTE (@a)",
            "DECLARE @a sysname = 'sp_executesql' EXEC @r = @a 'x'",
            "EXEC @a",
            "sp_executesql @text",
            "EXEC sys.[sp_executesql] @stmt = @text",
            "EXEC \"sp_executesql\" @text",
            "EXEC sp_executesql @params = N'@a int', @stmt = @text",
            "EXEC @r = sp_executesql @text",
            "EXEC sp_prepexec @h OUTPUT, NULL, 'x'",
            "EXEC ('EXEC (''PASS'' + ''WORD'')')",
            "EXEC (\"a\" + \"b\")",
            "EXEC -- a comment\n ('a' + 'b')",
            "EXEC ('a",
        ] {
            assert!(may_have_secret(text), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_there_as_a_whole_is_looked_into() {
        for text in [
            "SELECT 1",
            "EXEC p @a = 'x', @b = @c",
            "EXEC @r = dbo.p 5",
            "EXEC ('SELECT 1')",
            "EXEC(N'SELECT ''a''') AS USER = 'b'",
            "EXEC sp_executesql N'SELECT @a', N'@a int', 1",
            "EXEC @r = sys.sp_executesql @stmt = N'SELECT 1'",
            "EXECUTE AS USER = 'a'",
            "SELECT [a(] FROM executed -- EXEC (@a)",
            "/* EXEC (@a) */ SELECT '[' , ']]'",
            "",
            "'",
            "[",
            "/*",
        ] {
            assert!(!may_have_secret(text), "{text}");
        }
    }
}
