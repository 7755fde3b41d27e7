//! Replaces comments by blanks and the contents of literals by `_`.

/// The masked source, of the same length in bytes.
pub fn mask(text: &str) -> String {
    let mut masker = Masker {
        text: text.as_bytes(),
        at: 0,
        out: String::with_capacity(text.len()),
    };
    while masker.at < masker.text.len() {
        masker.step();
    }
    masker.out
}

struct Masker<'a> {
    text: &'a [u8],
    at: usize,
    out: String,
}

impl Masker<'_> {
    fn step(&mut self) {
        match self.peek(0) {
            b'/' if self.peek(1) == b'/' => self.fill(self.line_end(), ' '),
            b'/' if self.peek(1) == b'*' => self.fill(self.block_comment_end(), ' '),
            b'"' => self.quoted(),
            b'\'' => self.quote_mark(),
            byte if is_word(byte) => self.word(),
            _ => self.copy(1),
        }
    }

    /// A word, and the literal after it if the word is a literal's prefix.
    fn word(&mut self) {
        let length = self.text[self.at..].iter().take_while(|byte| is_word(**byte)).count();
        let word = &self.text[self.at..self.at + length];
        let is_raw = matches!(word, b"r" | b"br" | b"cr");
        self.copy(length);
        if !is_raw {
            return;
        }
        let hashes = self.text[self.at..].iter().take_while(|byte| **byte == b'#').count();
        if self.peek(hashes) == b'"' {
            self.raw(hashes);
        }
    }

    fn quoted(&mut self) {
        let mut end = self.at + 1;
        while end < self.text.len() && self.text[end] != b'"' {
            end += 1 + usize::from(self.text[end] == b'\\');
        }
        self.literal(1, end.min(self.text.len()), 1);
    }

    fn raw(&mut self, hashes: usize) {
        let inside = self.at + hashes + 1;
        let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
        let length = self.text[inside..]
            .windows(close.len())
            .position(|window| window == close)
            .unwrap_or(self.text.len() - inside);
        self.literal(hashes + 1, inside + length, hashes + 1);
    }

    /// A character literal, or the apostrophe of a lifetime.
    fn quote_mark(&mut self) {
        let end = if self.peek(1) == b'\\' {
            // The escaped byte may itself be an apostrophe.
            let rest = self.text.get(self.at + 3..).unwrap_or_default();
            rest.iter().position(|byte| *byte == b'\'').map(|n| self.at + 3 + n)
        } else {
            let end = self.at + 1 + char_size(self.peek(1));
            (self.text.get(end) == Some(&b'\'')).then_some(end)
        };
        match end {
            Some(end) => self.literal(1, end, 1),
            None => self.copy(1),
        }
    }

    /// Copies the opening delimiter, masks up to `end`, copies the closing delimiter.
    fn literal(&mut self, opening: usize, end: usize, closing: usize) {
        self.copy(opening);
        self.fill(end, '_');
        self.copy(closing.min(self.text.len() - self.at));
    }

    fn line_end(&self) -> usize {
        let length = self.text[self.at..].iter().position(|byte| *byte == b'\n');
        length.map_or(self.text.len(), |length| self.at + length)
    }

    fn block_comment_end(&self) -> usize {
        let mut depth = 0_usize;
        let mut at = self.at;
        while at < self.text.len() {
            match self.text.get(at..at + 2) {
                Some(b"/*") => depth += 1,
                Some(b"*/") => depth -= 1,
                _ => {
                    at += 1;
                    continue;
                }
            }
            at += 2;
            if depth == 0 {
                break;
            }
        }
        at
    }

    fn copy(&mut self, count: usize) {
        for byte in &self.text[self.at..self.at + count] {
            let ascii = if byte.is_ascii() { *byte } else { b'_' };
            self.out.push(char::from(ascii));
        }
        self.at += count;
    }

    fn fill(&mut self, end: usize, with: char) {
        for byte in &self.text[self.at..end] {
            self.out.push(if *byte == b'\n' { '\n' } else { with });
        }
        self.at = end;
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The size in bytes of the UTF-8 character with this first byte.
fn char_size(first: u8) -> usize {
    match first {
        0..=0xbf => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    }
}
