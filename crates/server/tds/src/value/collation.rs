//! COLLATION (MS-TDS 2.2.5.1.2).

use selenite_types::Order;

/// The encoding and sort order of char and varchar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Collation(pub [u8; 5]);

impl Collation {
    /// SQL_Latin1_General_CP1_CI_AS: LCID 1033; ignores case, kana and width; SortId 52.
    pub const DEFAULT: Self = Self([0x09, 0x04, 0xD0, 0x00, 0x34]);

    /// A collation of T-SQL's. Each is of Latin1_General, and of code page 1252 or UTF-8.
    #[must_use]
    pub fn of(collation: selenite_types::Collation) -> Self {
        // MS-TDS 2.2.5.1.2, from bit 20 on: fIgnoreCase, fIgnoreAccent, fIgnoreKana, fIgnoreWidth, fBinary, fBinary2.
        let style = collation.comparison_style();
        let has = |bit: i32, flag: u8| if style & bit != 0 { flag } else { 0 };
        let ignored = has(1, 0x10) | has(2, 0x20) | has(0x1_0000, 0x40) | has(0x2_0000, 0x80);
        let binary = match collation.order() {
            Order::Binary => 1,
            Order::CodePoint => 2,
            Order::CaseInsensitive | Order::CapitalsFirst | Order::CapitalsLast | Order::AccentInsensitive => 0,
        };
        let fourth = collation.version() << 4 | binary;
        Self([0x09, 0x04, ignored, fourth, collation.sort_id()]).in_utf8(collation.is_utf8())
    }

    /// The LCID: 20 bits.
    #[must_use]
    pub fn lcid(self) -> u32 {
        let [a, b, c, _, _] = self.0;
        u32::from_le_bytes([a, b, c & 0x0F, 0])
    }

    /// The SortId of a SQL collation; 0 for Windows collations.
    #[must_use]
    pub const fn sort_id(self) -> u8 {
        self.0[4]
    }

    /// The collation with the flag of UTF-8 set or not.
    #[must_use]
    pub(super) fn in_utf8(self, is_utf8: bool) -> Self {
        let [a, b, c, d, e] = self.0;
        let flag = if is_utf8 { UTF8_FLAG } else { 0 };
        Self([a, b, c, d & !UTF8_FLAG | flag, e])
    }

    /// Whether char and varchar are in UTF-8.
    #[must_use]
    pub const fn is_utf8(self) -> bool {
        // MS-TDS 2.2.5.1.2: LCID has 20 bits, then fIgnoreCase, fIgnoreAccent, fIgnoreKana, fIgnoreWidth, fBinary,
        // fBinary2, fUTF8.
        self.0[3] & UTF8_FLAG != 0
    }

    /// Whether char and varchar are in code page 1252. A collation of zeros stands for the server's, which has code
    /// page 1252.
    #[must_use]
    pub fn is_code_page_1252(self) -> bool {
        if self.is_utf8() {
            return false;
        }
        match self.sort_id() {
            // Windows collations: the LCID alone decides.
            0 => LCIDS_1252.contains(&self.lcid()) || self.0 == [0; 5],
            sort_id => SORT_IDS_1252.contains(&sort_id),
        }
    }
}

/// fUTF8, in the fourth byte.
const UTF8_FLAG: u8 = 0x04;

/// SortIds of the collations SQL_*_CP1_*: Latin1_General, Danish, the two of Swedish, Icelandic.
const SORT_IDS_1252: [u8; 9] = [50, 51, 52, 53, 54, 183, 184, 185, 186];

/// LCIDs of Windows collations with code page 1252: Latin1_General, French, German, Spanish, Finnish_Swedish,
/// Danish_Norwegian, Icelandic, and regional English, Italian, Dutch, Portuguese.
const LCIDS_1252: [u32; 20] = [
    0x0409, 0x0809, 0x040C, 0x080C, 0x0C0C, 0x0407, 0x0807, 0x0C07, 0x040A, 0x0C0A, 0x080A, 0x040B, 0x041D, 0x0406,
    0x0414, 0x040F, 0x0410, 0x0413, 0x0416, 0x0816,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_sql_latin1_general_cp1_ci_as() {
        let collation = Collation::DEFAULT;
        assert_eq!((collation.lcid(), collation.sort_id()), (1033, 52));
        assert!(collation.is_code_page_1252());
        assert!(!collation.is_utf8());
    }

    #[test]
    fn a_collation_has_the_flags_of_its_name() {
        for (name, bytes) in [
            ("SQL_Latin1_General_CP1_CI_AS", [0x09, 0x04, 0xD0, 0x00, 0x34]),
            ("SQL_Latin1_General_CP1_CS_AS", [0x09, 0x04, 0xC0, 0x00, 0x33]),
            ("SQL_Latin1_General_CP1_CI_AI", [0x09, 0x04, 0xF0, 0x00, 0x36]),
            ("Latin1_General_CS_AS_KS_WS", [0x09, 0x04, 0x00, 0x00, 0x00]),
            ("Latin1_General_100_CI_AS", [0x09, 0x04, 0xD0, 0x20, 0x00]),
            ("Latin1_General_BIN", [0x09, 0x04, 0x00, 0x01, 0x00]),
            ("Latin1_General_100_BIN2", [0x09, 0x04, 0x00, 0x22, 0x00]),
            ("Latin1_General_100_BIN2_UTF8", [0x09, 0x04, 0x00, 0x26, 0x00]),
            ("Latin1_General_100_CI_AS_SC", [0x09, 0x04, 0xD0, 0x20, 0x00]),
            ("Latin1_General_100_CI_AS_SC_UTF8", [0x09, 0x04, 0xD0, 0x24, 0x00]),
        ] {
            let collation = Collation::of(selenite_types::Collation::from_name(name).unwrap());
            assert_eq!(collation, Collation(bytes), "{name}");
            assert_eq!(collation.is_code_page_1252(), !name.contains("UTF8"));
        }
        assert_eq!(Collation::of(selenite_types::Collation::DEFAULT), Collation::DEFAULT);
    }

    #[test]
    fn a_utf8_collation_has_no_code_page() {
        let collation = Collation([0x09, 0x04, 0xD0, 0x24, 0x00]);
        assert!(collation.is_utf8());
        assert!(!collation.is_code_page_1252());
        assert_eq!(collation.lcid(), 1033);
    }

    #[test]
    fn other_languages_are_not_code_page_1252() {
        assert!(!Collation([0x11, 0x04, 0xD0, 0x00, 0x00]).is_code_page_1252());
        assert!(!Collation([0x19, 0x04, 0xD0, 0x00, 0x6A]).is_code_page_1252());
        assert!(Collation([0x07, 0x04, 0xD0, 0x00, 0x00]).is_code_page_1252());
    }
}
