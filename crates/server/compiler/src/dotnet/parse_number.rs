//! Numbers of a culture's form as plain numbers.

use selenite_types::Family;

use super::Culture;

/// The number in a text as digits with a sign, a point and an exponent; `None` if the text is none of the family's form.
///
/// Whole numbers and decimals have .NET's style Number, money Currency, floats Float.
pub(crate) fn plain_number(text: &str, family: Family, culture: Culture) -> Option<String> {
    let is_float = family == Family::Approximate;
    let is_money = family == Family::Money;
    let mut scan = Scan {
        rest: text,
        symbol: is_money.then_some(match culture {
            Culture::English => '$',
            Culture::Invariant => '\u{a4}',
        }),
        sign: Sign::None,
    };
    scan.leading(is_money);
    let mut number = String::new();
    if matches!(scan.sign, Sign::Minus | Sign::Open) {
        number.push('-');
    }
    scan.digits(&mut number, !is_float)?;
    if is_float {
        scan.exponent(&mut number);
    }
    scan.trailing(!is_float, &mut number);
    if !scan.rest.is_empty() || matches!(scan.sign, Sign::Open) {
        return None;
    }
    if family == Family::Integer {
        // A whole number may have zeros after the point, and nothing else.
        let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
        let is_whole = fraction.bytes().all(|digit| digit == b'0');
        return is_whole.then(|| whole.to_owned());
    }
    // No type's text ends with a point.
    number.truncate(number.trim_end_matches('.').len());
    Some(number)
}

/// What is left of a text, and what was found in it.
struct Scan<'a> {
    rest: &'a str,
    /// The symbol of the currency, until it was found.
    symbol: Option<char>,
    sign: Sign,
}

/// The sign of a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    None,
    Plus,
    Minus,
    /// An open parenthesis, which means minus.
    Open,
    /// The parenthesis was closed.
    Closed,
}

impl Scan<'_> {
    fn eat(&mut self, char: char) -> bool {
        match self.rest.strip_prefix(char) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn eat_blank(&mut self) -> bool {
        match self.rest.chars().next().filter(|char| is_blank(*char)) {
            Some(char) => self.eat(char),
            None => false,
        }
    }

    fn eat_symbol(&mut self) -> bool {
        let is_found = self.symbol.is_some_and(|symbol| self.eat(symbol));
        if is_found {
            self.symbol = None;
        }
        is_found
    }

    fn eat_sign(&mut self) -> bool {
        if self.sign != Sign::None {
            return false;
        }
        let found = [('+', Sign::Plus), ('-', Sign::Minus)];
        let Some((_, sign)) = found.into_iter().find(|(char, _)| self.eat(*char)) else {
            return false;
        };
        self.sign = sign;
        true
    }

    /// Blanks, a sign and the symbol of the currency before the digits. No blank follows a sign but after the symbol.
    fn leading(&mut self, is_money: bool) {
        loop {
            let is_signed = self.sign != Sign::None;
            let may_be_blank = !is_signed || (is_money && self.symbol.is_none());
            if may_be_blank && self.eat_blank() || self.eat_sign() {
                continue;
            }
            if is_money && !is_signed && self.eat('(') {
                self.sign = Sign::Open;
            } else if !self.eat_symbol() {
                return;
            }
        }
    }

    /// Digits with a point and, if allowed, separators of thousands; `None` if there is no digit.
    fn digits(&mut self, number: &mut String, has_thousands: bool) -> Option<()> {
        let mut has_point = false;
        let mut count = 0_u8;
        while let Some(char) = self.rest.chars().next() {
            match char {
                '0'..='9' => {
                    number.push(char);
                    count = 1;
                }
                '.' if !has_point => {
                    has_point = true;
                    number.push_str(if count == 0 { "0." } else { "." });
                }
                ',' if has_thousands && !has_point && count > 0 => {}
                _ => break,
            }
            self.eat(char);
        }
        (count > 0).then_some(())
    }

    fn exponent(&mut self, number: &mut String) {
        let Some(rest) = self.rest.strip_prefix(['e', 'E']) else {
            return;
        };
        let (sign, digits) = match rest.as_bytes().first() {
            Some(b'-') => ("-", rest.get(1..).unwrap_or_default()),
            Some(b'+') => ("", rest.get(1..).unwrap_or_default()),
            Some(_) | None => ("", rest),
        };
        let size = digits.bytes().take_while(u8::is_ascii_digit).count();
        if let (Some(exponent), Some(rest)) = (digits.get(..size).filter(|_| size > 0), digits.get(size..)) {
            number.push('e');
            number.push_str(sign);
            number.push_str(exponent);
            self.rest = rest;
        }
    }

    /// Blanks, a sign, the closing parenthesis and the symbol of the currency after the digits.
    fn trailing(&mut self, has_sign: bool, number: &mut String) {
        loop {
            if self.eat_blank() || self.eat_symbol() {
                continue;
            }
            if has_sign && self.eat_sign() {
                if self.sign == Sign::Minus {
                    number.insert(0, '-');
                }
            } else if self.sign == Sign::Open && self.eat(')') {
                self.sign = Sign::Closed;
            } else {
                return;
            }
        }
    }
}

/// .NET's white space in numbers.
fn is_blank(char: char) -> bool {
    matches!(char, ' ' | '\t'..='\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_styles_of_their_types() {
        let number = |text: &str, family| plain_number(text, family, Culture::English);
        for (text, family, found) in [
            ("1,234", Family::Integer, Some("1234")),
            (" -12 ", Family::Integer, Some("-12")),
            ("12-", Family::Integer, Some("-12")),
            ("12.00", Family::Integer, Some("12")),
            ("12.5-", Family::Decimal, Some("-12.5")),
            (".5", Family::Decimal, Some("0.5")),
            ("5.", Family::Decimal, Some("5")),
            ("1,2,3.4", Family::Decimal, Some("123.4")),
            ("$1,234.50", Family::Money, Some("1234.50")),
            ("($1.5)", Family::Money, Some("-1.5")),
            ("-$ 2", Family::Money, Some("-2")),
            ("2 $", Family::Money, Some("2")),
            ("1e3", Family::Approximate, Some("1e3")),
            ("-1.5E-7", Family::Approximate, Some("-1.5e-7")),
            ("12.5", Family::Integer, None),
            ("1e3", Family::Decimal, None),
            ("$1", Family::Decimal, None),
            ("1,000", Family::Approximate, None),
            ("12-", Family::Approximate, None),
            ("- 5", Family::Integer, None),
            ("--5", Family::Integer, None),
            ("(5", Family::Money, None),
            ("5)", Family::Money, None),
            (",5", Family::Integer, None),
            ("1.2,3", Family::Decimal, None),
            ("1.2.3", Family::Decimal, None),
            ("", Family::Integer, None),
            (".", Family::Decimal, None),
            ("x", Family::Integer, None),
        ] {
            assert_eq!(number(text, family).as_deref(), found, "{text}");
        }
        assert_eq!(
            plain_number("\u{a4}5", Family::Money, Culture::Invariant).as_deref(),
            Some("5")
        );
        assert_eq!(plain_number("$5", Family::Money, Culture::Invariant), None);
    }
}
