//! A certificate's private part: an age identity, with what identifies its certificate.
//!
//! The text is an age identity file: `age --decrypt` of a backup of it gives what `selenite` takes as `--identity`.

use std::fmt::Write;

use selenite_keyring::{AgeIdentity, Recipient};
use zeroize::Zeroizing;

use crate::database::restored_key::hexadecimal;

/// What belongs to a certificate and stays with it.
pub struct PrivatePart {
    /// Of the certificate.
    pub thumbprint: Vec<u8>,
    /// Of the certificate.
    pub serial: Vec<u8>,
    /// Of the certificate.
    pub subject: String,
    /// From when it is good: seconds since 1970-01-01 UTC.
    pub not_before: i64,
    /// Until when.
    pub not_after: i64,
    /// `AGE-SECRET-KEY-1...`.
    pub identity: Zeroizing<String>,
}

impl PrivatePart {
    /// The recipient for key slots: `age1...`. `None` if the identity is invalid.
    pub fn recipient(&self) -> Option<String> {
        let identity: AgeIdentity = self.identity.parse().ok()?;
        Some(identity.describe())
    }

    /// Its text. `None` if the identity is invalid.
    pub fn encode(&self) -> Option<Zeroizing<String>> {
        let recipient = self.recipient()?;
        // Made at its full size at once: a string that grows leaves copies behind.
        let mut text = Zeroizing::new(String::with_capacity(TEXT_SIZE + 6 * self.subject.len()));
        let head = writeln!(
            text,
            "{HEADING}\n# thumbprint: {}\n# serial: {}\n# valid: {} {}\n# subject: {}\n# public key: {recipient}",
            hexadecimal(&self.thumbprint),
            hexadecimal(&self.serial),
            self.not_before,
            self.not_after,
            self.subject.escape_default(),
        );
        head.ok()?;
        text.push_str(&self.identity);
        text.push('\n');
        Some(text)
    }

    /// Takes a text apart. None if it is no such text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != HEADING {
            return None;
        }
        let mut field = |name: &str| lines.next()?.strip_prefix("# ")?.strip_prefix(name)?.strip_prefix(": ");
        let thumbprint = bytes(field("thumbprint")?)?;
        let serial = bytes(field("serial")?)?;
        let (not_before, not_after) = field("valid")?.split_once(' ')?;
        let subject = unescaped(field("subject")?)?;
        let recipient = field("public key")?;
        let part = Self {
            thumbprint,
            serial,
            subject,
            not_before: not_before.parse().ok()?,
            not_after: not_after.parse().ok()?,
            identity: Zeroizing::new(lines.next()?.to_owned()),
        };
        (part.recipient()? == recipient).then_some(part)
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || digits.len() > DIGIT_COUNT_MAX || !digits.is_ascii() {
        return None;
    }
    let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// What `escape_default` has made of a text.
fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(sign) = rest.next() {
        if sign != '\\' {
            plain.push(sign);
            continue;
        }
        plain.push(match rest.next()? {
            't' => '\t',
            'r' => '\r',
            'n' => '\n',
            sign @ ('\\' | '\'' | '"') => sign,
            'u' => {
                let after = rest.as_str().strip_prefix('{')?;
                let (digits, after) = after.split_once('}')?;
                rest = after.chars();
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            _ => return None,
        });
    }
    Some(plain)
}

const HEADING: &str = "# Private key of a certificate, made by Selenite";
/// All but the subject.
const TEXT_SIZE: usize = 1024;
/// Twice what a serial number or a thumbprint has.
const DIGIT_COUNT_MAX: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    fn part(subject: &str) -> PrivatePart {
        let made = selenite_keyring::keygen(0);
        let line = made.text.lines().find(|line| line.starts_with("AGE-SECRET-KEY-"));
        PrivatePart {
            thumbprint: vec![0xab; 20],
            serial: vec![1, 2],
            subject: subject.to_owned(),
            not_before: 5,
            not_after: 6,
            identity: Zeroizing::new(line.unwrap().to_owned()),
        }
    }

    #[test]
    fn a_text_leads_back_to_what_it_was_made_of() {
        for subject in ["TestDB_Encryption", "", "a\nb\\c\t\"'\u{e9}\u{1f600}\r# public key: x"] {
            let made = part(subject);
            let parsed = PrivatePart::parse(&made.encode().unwrap()).unwrap();
            assert_eq!(parsed.subject, subject);
            assert_eq!((parsed.thumbprint, parsed.serial), (vec![0xab; 20], vec![1, 2]));
            assert_eq!((parsed.not_before, parsed.not_after), (5, 6));
            assert_eq!(parsed.identity, made.identity);
        }
    }

    #[test]
    fn a_text_that_was_cut_or_mixed_is_none() {
        let (one, other) = (part("x").encode().unwrap(), part("x").encode().unwrap());
        let secret = one.trim_end().len();
        for size in 0..secret {
            assert!(PrivatePart::parse(&one[..size]).is_none(), "{size}");
        }
        let at = one.find("AGE-SECRET-KEY-").unwrap();
        let mixed = format!("{}{}", &one[..at], &other[at..]);
        assert!(PrivatePart::parse(&mixed).is_none());
        for bad in ["\\", "\\u", "\\u{}", "\\u{110000}", "\\x"] {
            assert!(unescaped(bad).is_none(), "{bad}");
        }
    }
}
