//! What sessions wait for, by the names that SQL Server has for it.

/// A reason to wait that is measured. There is no other here: what is not measured is not counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WaitType {
    /// For the client to read what was sent: the socket's buffer is full.
    AsyncNetworkIo,
    /// For the right to write to a database, which one session has at a time.
    LockExclusive,
    /// For another thread to encrypt a packet (`--tls-offload thread`).
    EncryptMessage,
    /// For the end of a WAITFOR.
    WaitFor,
    /// For the log of a commit to be on disk.
    WriteLog,
}

impl WaitType {
    /// All of them, by name.
    pub const ALL: [Self; 5] = [
        Self::AsyncNetworkIo,
        Self::LockExclusive,
        Self::EncryptMessage,
        Self::WaitFor,
        Self::WriteLog,
    ];

    /// SQL Server's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AsyncNetworkIo => "ASYNC_NETWORK_IO",
            Self::LockExclusive => "LCK_M_X",
            Self::EncryptMessage => "PREEMPTIVE_OS_ENCRYPTMESSAGE",
            Self::WaitFor => "WAITFOR",
            Self::WriteLog => "WRITELOG",
        }
    }

    /// Its place in [`WaitType::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::AsyncNetworkIo => 0,
            Self::LockExclusive => 1,
            Self::EncryptMessage => 2,
            Self::WaitFor => 3,
            Self::WriteLog => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_stands_in_its_place_and_in_the_order_of_names() {
        for (index, kind) in WaitType::ALL.into_iter().enumerate() {
            assert_eq!(kind.index(), index);
        }
        assert!(WaitType::ALL.is_sorted_by_key(|kind| kind.name()));
    }
}
