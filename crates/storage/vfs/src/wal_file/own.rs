//! Which frames are this connection's own, of the transaction under way.

use selenite_format::wal::FrameHeader;

use super::UNSIGNED;

/// The frames that this connection wrote in its present transaction.
///
/// Of one turn (`Database::turn`), that is: frames that were rolled back may be another's by now. In exclusive mode
/// there is one hold; then a frame behind a commit begins the next transaction.
#[derive(Default)]
pub struct Own {
    frames: Option<(u64, u64)>,
    /// The first that was written with a block of zeros.
    unsigned: Option<u64>,
    /// The one that ends the transaction.
    commit: Option<u64>,
    /// Whether [`Own::take_commit`] has answered it.
    is_taken: bool,
    turn: u64,
}

impl Own {
    /// Notes a header that is written; says whether a transaction begins with it.
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

    /// The first and the last frame of the transaction, once it has ended, and once.
    pub fn take_commit(&mut self) -> Option<(u64, u64)> {
        if self.commit.is_none() || std::mem::replace(&mut self.is_taken, true) {
            return None;
        }
        self.frames
    }

    /// The first frame without a signature, and the one that ends the transaction, once there is one.
    pub fn unsigned(&self, turn: u64) -> Option<(u64, u64)> {
        (self.turn == turn).then_some((self.unsigned?, self.commit?))
    }

    /// Whether the frame was written in the transaction under way.
    pub fn has(&self, frame: u64, turn: u64) -> bool {
        self.turn == turn && self.frames.is_some_and(|(first, last)| first <= frame && frame <= last)
    }
}
