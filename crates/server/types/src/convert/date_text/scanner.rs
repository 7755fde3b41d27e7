//! A scanner for the text of a date or time.

use crate::dates::month_of_name;

/// A sequence of digits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Number {
    /// The value of the first nine digits.
    pub value: u32,
    /// The number of digits.
    pub digits: usize,
}

/// AM or PM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Half {
    Am,
    Pm,
}

/// A position in the text.
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    tabs_are_spaces: bool,
}

impl<'a> Scanner<'a> {
    /// A scanner at the beginning of `text`, without surrounding blanks.
    pub fn new(text: &'a str, tabs_are_spaces: bool) -> Self {
        let text = if tabs_are_spaces {
            text.trim_matches([' ', '\t'])
        } else {
            text.trim_matches(' ')
        };
        Self {
            text: text.as_bytes(),
            at: 0,
            tabs_are_spaces,
        }
    }

    pub fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub fn peek(&self) -> Option<u8> {
        self.byte(self.at)
    }

    pub fn advance(&mut self) {
        self.at += 1;
    }

    /// The position, for [`Self::go_back`].
    pub fn place(&self) -> usize {
        self.at
    }

    pub fn go_back(&mut self, place: usize) {
        self.at = place;
    }

    /// Skips blanks and returns whether there were any.
    pub fn skip_spaces(&mut self) -> bool {
        let start = self.at;
        self.at = self.after_spaces(start);
        self.at > start
    }

    pub fn starts_digit(&self) -> bool {
        self.peek().is_some_and(|byte| byte.is_ascii_digit())
    }

    pub fn digit_follows(&self) -> bool {
        self.byte(self.at + 1).is_some_and(|byte| byte.is_ascii_digit())
    }

    /// Whether the next character is `Z` without a letter after it.
    pub fn peeks_z(&self) -> bool {
        matches!(self.peek(), Some(b'Z' | b'z')) && !self.is_letter(self.at + 1)
    }

    /// Whether a time begins here: a number of one or two digits before a colon, AM or PM.
    pub fn starts_time(&self) -> bool {
        let end = self.after_digits(self.at);
        if !(1..=2).contains(&(end - self.at)) {
            return false;
        }
        let next = self.after_spaces(end);
        self.byte(next) == Some(b':') || self.half_at(next).is_some()
    }

    /// Whether the rest is only a number, AM or PM, after blanks, points, commas and minus signs.
    pub fn is_lone_number(&self) -> bool {
        let mut at = self.at;
        while matches!(self.byte(at), Some(b'.' | b',' | b'-')) || self.is_space(at) {
            at += 1;
        }
        let end = if self.half_at(at).is_some() {
            at + 2
        } else {
            self.after_digits(at)
        };
        end > at && self.after_spaces(end) == self.text.len()
    }

    pub fn read_number(&mut self) -> Number {
        let end = self.after_digits(self.at);
        let digits = end - self.at;
        let value = (self.at..end)
            .take(9)
            .filter_map(|at| self.byte(at))
            .fold(0, |value, byte| {
                // Nine digits are below 10^9.
                value * 10 + u32::from(byte - b'0')
            });
        self.at = end;
        Number { value, digits }
    }

    /// Consumes a minus sign, slash or point with surrounding blanks; with `None` the position is unchanged.
    pub fn read_separator(&mut self) -> Option<u8> {
        let at = self.after_spaces(self.at);
        let separator = self.byte(at).filter(|byte| matches!(byte, b'-' | b'/' | b'.'))?;
        self.at = self.after_spaces(at + 1);
        Some(separator)
    }

    /// Consumes an English month name, complete or with three letters; with `None` the position is unchanged.
    pub fn read_month(&mut self) -> Option<u32> {
        let mut end = self.at;
        while self.is_letter(end) {
            end += 1;
        }
        let word = self
            .text
            .get(self.at..end)
            .and_then(|word| std::str::from_utf8(word).ok())?;
        let month = month_of_name(word)?;
        self.at = end;
        Some(month)
    }

    /// Consumes AM or PM; with `None` the position is unchanged.
    pub fn read_half(&mut self) -> Option<Half> {
        let half = self.half_at(self.at)?;
        self.at += 2;
        Some(half)
    }

    fn half_at(&self, at: usize) -> Option<Half> {
        if !matches!(self.byte(at + 1), Some(b'M' | b'm')) || self.is_letter(at + 2) {
            return None;
        }
        match self.byte(at) {
            Some(b'A' | b'a') => Some(Half::Am),
            Some(b'P' | b'p') => Some(Half::Pm),
            _ => None,
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    fn is_space(&self, at: usize) -> bool {
        match self.byte(at) {
            Some(b' ') => true,
            Some(b'\t') => self.tabs_are_spaces,
            _ => false,
        }
    }

    fn is_letter(&self, at: usize) -> bool {
        self.byte(at).is_some_and(|byte| byte.is_ascii_alphabetic())
    }

    fn after_spaces(&self, mut at: usize) -> usize {
        while self.is_space(at) {
            at += 1;
        }
        at
    }

    fn after_digits(&self, mut at: usize) -> usize {
        while self.byte(at).is_some_and(|byte| byte.is_ascii_digit()) {
            at += 1;
        }
        at
    }
}
