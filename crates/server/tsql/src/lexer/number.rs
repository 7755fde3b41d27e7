//! Numeric constants: integers, decimals, floats, money and binary.

use super::Lexer;
use crate::token::TokenKind;

impl Lexer<'_> {
    /// A number that begins with a digit or a decimal point.
    pub(super) fn number(&mut self) -> TokenKind {
        if self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X') {
            self.at += 2;
            self.skip_binary();
            return TokenKind::Binary;
        }
        self.skip_digits();
        let mut kind = TokenKind::Integer;
        if self.byte(0) == b'.' {
            self.at += 1;
            self.skip_digits();
            kind = TokenKind::Decimal;
        }
        if matches!(self.byte(0), b'e' | b'E') {
            self.at += 1;
            if matches!(self.byte(0), b'+' | b'-') {
                self.at += 1;
            }
            self.skip_digits();
            kind = TokenKind::Float;
        }
        kind
    }

    /// A currency sign of `sign_size` bytes and optional digits.
    pub(super) fn money(&mut self, sign_size: usize) -> TokenKind {
        self.at += sign_size;
        self.skip_digits();
        if self.byte(0) == b'.' {
            self.at += 1;
            self.skip_digits();
        }
        TokenKind::Money
    }

    fn skip_digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    /// Skips hexadecimal digits; a backslash at the end of a line continues on the next line.
    fn skip_binary(&mut self) {
        loop {
            match (self.byte(0), self.byte(1), self.byte(2)) {
                (byte, _, _) if byte.is_ascii_hexdigit() => self.at += 1,
                (b'\\', b'\n', _) => {
                    self.at += 2;
                    self.line = self.line.saturating_add(1);
                }
                (b'\\', b'\r', b'\n') => {
                    self.at += 3;
                    self.line = self.line.saturating_add(1);
                }
                _ => return,
            }
        }
    }
}
