//! ERROR and INFO (MS-TDS 2.2.7.10 and 2.2.7.13).

use super::text;

/// An error or informational message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice<'a> {
    /// The message's number.
    pub number: i32,
    /// The message's state.
    pub state: u8,
    /// The message's severity (Class): above 10 for errors.
    pub severity: u8,
    /// The message's text; truncated at 2047 UTF-16 units, as by SQL Server.
    pub text: &'a str,
    /// The server's name; truncated at 128 units.
    pub server: &'a str,
    /// The procedure's name, or empty; truncated at 128 units.
    pub procedure: &'a str,
    /// The line of the batch or procedure, from 1; 0 if not applicable.
    pub line: u32,
}

impl Notice<'_> {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.number.to_le_bytes());
        out.extend([self.state, self.severity]);
        text::append_long(self.text, TEXT_SIZE_MAX, out);
        text::append_short(self.server, out);
        text::append_short(self.procedure, out);
        out.extend(self.line.to_le_bytes());
    }
}

/// 2047: the maximum length of RAISERROR's text.
const TEXT_SIZE_MAX: u16 = 2047;
