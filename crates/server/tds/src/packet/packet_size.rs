//! The negotiated packet size.

/// The size of a packet, including the header: 512 to 32767 (MS-TDS 2.2.3.1.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PacketSize(u16);

impl PacketSize {
    /// 4096: the size until the login response, and the default that a request of 0 selects.
    pub const DEFAULT: Self = Self(4096);
    /// 512.
    pub const MIN: Self = Self(512);
    /// 32767.
    pub const MAX: Self = Self(32767);

    /// `None` if the size is out of range.
    #[must_use]
    pub fn new(size: u16) -> Option<Self> {
        (Self::MIN.0..=Self::MAX.0).contains(&size).then_some(Self(size))
    }

    /// The valid size nearest to a login's request; 0 selects the default.
    #[must_use]
    pub fn nearest(asked: u32) -> Self {
        match u16::try_from(asked) {
            Ok(0) => Self::DEFAULT,
            Ok(size) => Self(size.clamp(Self::MIN.0, Self::MAX.0)),
            Err(_) => Self::MAX,
        }
    }

    /// The size in bytes.
    #[must_use]
    pub fn bytes(self) -> u16 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_gets_the_nearest_valid_size() {
        let asked = [0, 1, 511, 512, 4096, 8000, 32767, 32768, 65536, u32::MAX];
        let given = asked.map(|size| PacketSize::nearest(size).bytes());
        assert_eq!(given, [4096, 512, 512, 512, 4096, 8000, 32767, 32767, 32767, 32767]);
    }

    #[test]
    fn a_size_out_of_range_is_none() {
        assert_eq!(PacketSize::new(511), None);
        assert_eq!(PacketSize::new(32768), None);
        assert_eq!(PacketSize::new(512), Some(PacketSize::MIN));
    }
}
