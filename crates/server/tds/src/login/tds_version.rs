//! The protocol version.

use std::fmt;

/// A version as in LOGIN7 (MS-TDS 2.2.6.4, TDSVersion).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TdsVersion(pub u32);

impl TdsVersion {
    /// 7.2: the first version with today's layout of LOGIN7.
    pub const V7_2: Self = Self(0x7209_0002);
    /// 7.3, revision B: the first version with NBCROW.
    pub const V7_3B: Self = Self(0x730B_0003);
    /// 7.4: SQL Server 2012 and later.
    pub const V7_4: Self = Self(0x7400_0004);
    /// 8.0: TLS starts before the first packet.
    pub const V8_0: Self = Self(0x0800_0000);

    /// The version for a client that requests `self`; `None` if it is too old. Over strict TLS go-mssqldb and
    /// mssql-jdbc request 8.0 and reject every other version; tedious, tiberius and Microsoft's ODBC driver request
    /// 7.4, and tiberius does not know 8.0.
    #[must_use]
    pub fn agreed(self, is_strict: bool) -> Option<Self> {
        if is_strict {
            let is_eight = self == Self::V8_0;
            return (is_eight || self >= Self::V7_4).then_some(if is_eight { self } else { Self::V7_4 });
        }
        // 8.0 is a smaller number than 7.4, and is not valid without strict TLS.
        if self >= Self::V7_4 {
            return Some(Self::V7_4);
        }
        (self >= Self::V7_3B).then_some(Self::V7_3B)
    }
}

impl fmt::Debug for TdsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TdsVersion({:#010x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_at_most_the_requested_one() {
        let asked = [
            0x7100_0001,
            0x7209_0002,
            0x730A_0003,
            0x730B_0003,
            0x7400_0004,
            0x7500_0000,
        ];
        let spoken = asked.map(|version| TdsVersion(version).agreed(false).map(|version| version.0));
        let (b, four) = (Some(0x730B_0003), Some(0x7400_0004));
        assert_eq!(spoken, [None, None, None, b, four, four]);
        assert_eq!(TdsVersion::V8_0.agreed(false), None);
    }

    #[test]
    fn strict_tls_agrees_on_8_0_with_clients_that_request_it() {
        assert_eq!(TdsVersion::V8_0.agreed(true), Some(TdsVersion::V8_0));
        assert_eq!(TdsVersion::V7_4.agreed(true), Some(TdsVersion::V7_4));
        assert_eq!(TdsVersion::V7_3B.agreed(true), None);
    }
}
