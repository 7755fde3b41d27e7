//! The frames that this connection wrote in the current transaction.

use selenite_format::wal::FrameHeader;

use super::UNSIGNED;

/// The frames that this connection wrote in its current transaction.
///
/// The transaction is part of one turn (`Database::turn`): frames that were rolled back may be
/// overwritten by others. In exclusive mode there is only one turn; then a frame after a commit
/// begins the next transaction.
#[derive(Default)]
pub struct TransactionFrames {
    frames: Option<(u64, u64)>,
    /// The first frame that was written with a header block of zeros.
    unsigned: Option<u64>,
    /// The frame that ends the transaction.
    commit: Option<u64>,
    /// Whether [`TransactionFrames::take_commit`] has returned it.
    is_taken: bool,
    turn: u64,
}

impl TransactionFrames {
    /// Notes a header that is written; returns whether a transaction begins with it.
    pub fn note(&mut self, frame: u64, header: &FrameHeader, turn: u64) -> bool {
        if self.turn != turn {
            *self = Self {
                turn,
                ..Self::default()
            };
        }
        let begins = match self.frames {
            Some((first, last)) if self.commit.is_none_or(|commit| frame <= commit) => {
                self.frames = Some((first.min(frame), last.max(frame)));
                false
            }
            Some(_) | None => {
                *self = Self {
                    frames: Some((frame, frame)),
                    turn,
                    ..Self::default()
                };
                true
            }
        };
        if header.block == UNSIGNED {
            self.unsigned = Some(self.unsigned.map_or(frame, |first| first.min(frame)));
        }
        if header.commit_size != 0 {
            self.commit = Some(frame);
        }
        begins
    }

    /// The first and the last frame of the transaction, returned once after it has ended.
    pub fn take_commit(&mut self) -> Option<(u64, u64)> {
        if self.commit.is_none() || std::mem::replace(&mut self.is_taken, true) {
            return None;
        }
        self.frames
    }

    /// The first frame without salts and checksum, and the frame that ends the transaction, once it
    /// exists.
    pub fn unsigned(&self, turn: u64) -> Option<(u64, u64)> {
        (self.turn == turn).then_some((self.unsigned?, self.commit?))
    }

    /// Whether the frame was written in the current transaction.
    pub fn has(&self, frame: u64, turn: u64) -> bool {
        self.turn == turn && self.frames.is_some_and(|(first, last)| first <= frame && frame <= last)
    }
}
