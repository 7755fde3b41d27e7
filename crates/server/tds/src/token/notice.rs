//! ERROR and INFO (MS-TDS 2.2.7.10 and 2.2.7.13).

use super::text;

/// A message to the user of the client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice<'a> {
    /// Its number.
    pub number: i32,
    /// Its state.
    pub state: u8,
    /// Its severity: an error's is above 10.
    pub severity: u8,
    /// The text; what is beyond 2047 units of UTF-16 is cut off, as SQL Server does.
    pub text: &'a str,
    /// The server's name; cut off at 128 units.
    pub server: &'a str,
    /// The procedure's name, or empty; cut off at 128 units.
    pub procedure: &'a str,
    /// The line of the batch or procedure, from 1; 0 for no line.
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

/// 2047: what RAISERROR's text has at most.
const TEXT_SIZE_MAX: u16 = 2047;
