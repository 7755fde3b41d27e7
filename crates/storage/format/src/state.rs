//! The state of a database as a whole.

/// The state in a superblock (FORMAT 3.1, offset 61).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// 0: no operation is in progress.
    Steady,
    /// 1: pages in suite NONE are being encrypted.
    SwitchingOn,
    /// 2: pages are being converted to suite NONE.
    SwitchingOff,
    /// 3: pages are being re-encrypted under another key or in another suite.
    Changing,
    /// 4: every page is converted; old images may still exist.
    Finishing,
    /// 5: the file was replaced by another of the same name (FORMAT 3.10).
    Retired,
}

impl State {
    /// All states, ordered by number.
    pub const ALL: [Self; 6] = [
        Self::Steady,
        Self::SwitchingOn,
        Self::SwitchingOff,
        Self::Changing,
        Self::Finishing,
        Self::Retired,
    ];

    /// The number in the superblock.
    pub const fn id(self) -> u8 {
        match self {
            Self::Steady => 0,
            Self::SwitchingOn => 1,
            Self::SwitchingOff => 2,
            Self::Changing => 3,
            Self::Finishing => 4,
            Self::Retired => 5,
        }
    }

    /// The state with that number, if any.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.id() == id)
    }

    /// Whether the cursor is used; otherwise it is zero (FORMAT 3.1, offset 72).
    pub const fn has_cursor(self) -> bool {
        match self {
            Self::Steady | Self::Retired => false,
            Self::SwitchingOn | Self::SwitchingOff | Self::Changing | Self::Finishing => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_id_accepts_six_numbers() {
        let found: Vec<State> = (0..=u8::MAX).filter_map(State::from_id).collect();
        assert_eq!(found, State::ALL);
    }
}
