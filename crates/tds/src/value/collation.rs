//! COLLATION: five bytes (MS-TDS 2.2.5.1.2).

/// How text of char and varchar is encoded and compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Collation(pub [u8; 5]);

impl Collation {
    /// SQL_Latin1_General_CP1_CI_AS: LCID 1033; case, kana and width ignored; sort id 52.
    pub const DEFAULT: Self = Self([0x09, 0x04, 0xD0, 0x00, 0x34]);

    /// Whether char and varchar are in UTF-8.
    #[must_use]
    pub const fn is_utf8(self) -> bool {
        // MS-TDS 2.2.5.1.2: LCID has 20 bits, then ignoring case, accent, kana, width; BIN, BIN2, UTF8.
        self.0[3] & 0x04 != 0
    }
}
