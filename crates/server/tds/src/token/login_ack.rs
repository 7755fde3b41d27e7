//! LOGINACK (MS-TDS 2.2.7.14).

use super::text;
use crate::{ProductVersion, TdsError, TdsVersion};

/// The acknowledgement of a login.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoginAck<'a> {
    /// The negotiated version.
    pub tds_version: TdsVersion,
    /// ProgName: clients expect `Microsoft SQL Server`.
    pub program: &'a str,
    /// ProgVersion.
    pub version: ProductVersion,
}

impl LoginAck<'_> {
    pub(super) fn encode(&self, out: &mut Vec<u8>) -> Result<(), TdsError> {
        out.push(SQL_TSQL);
        // Unlike in LOGIN7, the version is big-endian here.
        out.extend(self.tds_version.0.to_be_bytes());
        text::append_name(self.program, out)?;
        out.extend([self.version.major, self.version.minor]);
        out.extend(self.version.build.to_be_bytes());
        Ok(())
    }
}

/// Interface: the server accepts T-SQL.
const SQL_TSQL: u8 = 1;
