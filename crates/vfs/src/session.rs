//! Nonces: the session and counter under which each page is sealed, and the salt beside them (FORMAT 5.1, 5.3).
//!
//! N1. No pair of session and counter is given twice: the counter is taken by one atomic addition, a session is 128
//!     random bits drawn before the first page and again long before the counter could wrap, and both lie in memory
//!     that a forked child finds empty.
//! N2. The salt guards what N1 can't: a machine whose memory was copied and goes on twice. It is made when a page is
//!     sealed, from a number of the processor's generator, or else of the system's (once a transaction), the cycle
//!     counter and the clock, under a key of the system's. The processor's is no part of the memory that was copied; the
//!     system's is, until it hears of the copy.

use std::time::{SystemTime, UNIX_EPOCH};

use aes::Aes256;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use selenite_cipher::{PageNonce, SessionId, Suite};

use crate::atomics::{AtomicU64, Ordering, yield_now};
#[cfg(not(selenite_loom))]
use crate::ffi::ForkPage;
use crate::ffi::{Code, cycle_count, hardware_random, os_random};

/// Draws the nonces of one file.
pub struct Nonces {
    mixer: Aes256,
    /// `None` until the first page of a transaction wants one.
    seed: Option<u64>,
}

impl Nonces {
    /// A source whose salts differ from those of every other.
    ///
    /// # Errors
    /// `IOERR` if the system has no randomness to give.
    pub fn new() -> Result<Self, Code> {
        let mut key = [0; 32];
        os_random(&mut key)?;
        Ok(Self {
            mixer: Aes256::new(&Array::from(key)),
            seed: None,
        })
    }

    /// Called when a transaction begins to write: its first page draws a seed. One that writes no page draws none.
    pub fn renew(&mut self) {
        self.seed = None;
    }

    /// The nonce for one page. It is used for one page, at once.
    ///
    /// # Errors
    /// As [`Nonces::new`].
    pub fn draw(&mut self, suite: Suite) -> Result<PageNonce, Code> {
        self.draw_from(if suite == Suite::TripleDes3Key { &SHORT } else { &LONG })
    }

    fn draw_from(&mut self, sessions: &Sessions) -> Result<PageNonce, Code> {
        let seed = match self.seed {
            Some(seed) => seed,
            None => {
                let seed = match hardware_random() {
                    Some(seed) => seed,
                    None => {
                        let mut seed = [0; 8];
                        os_random(&mut seed)?;
                        u64::from_ne_bytes(seed)
                    }
                };
                *self.seed.insert(seed)
            }
        };
        let (session, counter) = sessions.next(words())?;
        Ok(PageNonce {
            session,
            salt: self.salt(seed),
            counter,
        })
    }

    fn salt(&self, seed: u64) -> [u8; 8] {
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let moment = clock
            .as_secs()
            .wrapping_mul(1_000_000_000)
            .wrapping_add(u64::from(clock.subsec_nanos()));
        let mut block = [0; 16];
        block[..8].copy_from_slice(&(seed ^ cycle_count()).to_ne_bytes());
        block[8..].copy_from_slice(&moment.to_ne_bytes());
        let mut block = Array::from(block);
        self.mixer.encrypt_block(&mut block);
        let mut salt = [0; 8];
        salt.copy_from_slice(&block[..8]);
        salt
    }
}

/// A run of sessions: four words in the page that a fork wipes.
///
/// Word 0 is the serial number of the session (upper half; 0 = none yet) and the next counter; words 1 and 2 are the
/// session; word 3 is 1 while one thread draws. A reader takes its counter first, then the session, and starts over if
/// the serial changed meanwhile. A child never waits for a thread it does not have: word 3, too, is wiped.
struct Sessions {
    first_word: usize,
    /// How many pages one session may seal.
    page_count_max: u32,
}

/// Every suite but triple DES: the counter of 32 bits, less room for every thread that adds before it sees the limit.
static LONG: Sessions = Sessions {
    first_word: 0,
    page_count_max: u32::MAX - (1 << 20),
};

/// Triple DES, of which a session seals few pages (FORMAT 5.2).
static SHORT: Sessions = Sessions {
    first_word: 8,
    page_count_max: 128,
};

/// The words of this process.
#[cfg(not(selenite_loom))]
fn words() -> &'static [AtomicU64] {
    ForkPage::of_process().words()
}

/// A model brings words of its own.
#[cfg(selenite_loom)]
fn words() -> &'static [AtomicU64] {
    &[]
}

/// The lower half of word 0.
fn counter_of(word: u64) -> u32 {
    u32::try_from(word & u64::from(u32::MAX)).unwrap_or(u32::MAX)
}

impl Sessions {
    fn next(&self, words: &[AtomicU64]) -> Result<(SessionId, u32), Code> {
        let word = |index: usize| -> &AtomicU64 { &words[self.first_word + index] };
        loop {
            // Looked at before it is added to: threads that wait for a new session must not add up to a carry.
            let seen = word(0).load(Ordering::SeqCst);
            if seen >> 32 == 0 || counter_of(seen) >= self.page_count_max {
                self.draw(words, seen >> 32)?;
                continue;
            }
            let taken = word(0).fetch_add(1, Ordering::SeqCst);
            let (serial, counter) = (taken >> 32, counter_of(taken));
            if serial == 0 || counter >= self.page_count_max {
                continue;
            }
            let mut session = [0; 16];
            session[..8].copy_from_slice(&word(1).load(Ordering::SeqCst).to_ne_bytes());
            session[8..].copy_from_slice(&word(2).load(Ordering::SeqCst).to_ne_bytes());
            if word(0).load(Ordering::SeqCst) >> 32 == serial {
                return Ok((SessionId(session), counter));
            }
        }
    }

    /// Draws the session that comes after `serial`, unless another thread does.
    fn draw(&self, words: &[AtomicU64], serial: u64) -> Result<(), Code> {
        let word = |index: usize| -> &AtomicU64 { &words[self.first_word + index] };
        if word(3)
            .compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst)
            .is_err()
        {
            yield_now();
            return Ok(());
        }
        let drawn = if word(0).load(Ordering::SeqCst) >> 32 == serial {
            self.replace(words, serial)
        } else {
            Ok(())
        };
        word(3).store(0, Ordering::SeqCst);
        drawn
    }

    fn replace(&self, words: &[AtomicU64], serial: u64) -> Result<(), Code> {
        let mut session = [0; 16];
        os_random(&mut session)?;
        let (low, high) = session.split_at(8);
        let half = |bytes: &[u8]| bytes.iter().fold(0_u64, |sum, &byte| (sum << 8) | u64::from(byte));
        words[self.first_word].store(0, Ordering::SeqCst);
        words[self.first_word + 1].store(half(low), Ordering::SeqCst);
        words[self.first_word + 2].store(half(high), Ordering::SeqCst);
        // The serial only tells two sessions of one process apart: 2^31 of them would take centuries.
        words[self.first_word].store(((serial + 1) & 0x7fff_ffff).max(1) << 32, Ordering::SeqCst);
        Ok(())
    }
}

#[cfg(test)]
#[cfg(not(selenite_loom))]
mod tests {
    use std::collections::HashSet;

    #[test]
    fn sessions_are_no_longer_than_their_suites_allow() {
        for suite in Suite::ALL {
            let sessions = if suite == Suite::TripleDes3Key { &SHORT } else { &LONG };
            assert!(sessions.page_count_max <= suite.session_page_count_max());
        }
    }

    use super::*;

    #[test]
    fn threads_never_get_the_same_pair() {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                std::thread::spawn(|| {
                    let mut nonces = Nonces::new().unwrap();
                    (0..20_000)
                        .map(|index| {
                            let suite = if index % 8 == 0 {
                                Suite::TripleDes3Key
                            } else {
                                Suite::Aes256
                            };
                            let nonce = nonces.draw(suite).unwrap();
                            (nonce.session, nonce.counter)
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let mut seen = HashSet::new();
        for thread in threads {
            for pair in thread.join().unwrap() {
                assert!(seen.insert(pair));
            }
        }
    }

    #[test]
    fn a_session_seals_few_pages_in_triple_des() {
        let mut nonces = Nonces::new().unwrap();
        let mut counts = std::collections::HashMap::new();
        for _ in 0..10_000 {
            let nonce = nonces.draw(Suite::TripleDes3Key).unwrap();
            *counts.entry(nonce.session).or_insert(0_u32) += 1;
        }
        assert!(counts.values().all(|&count| count <= 128));
        assert!(counts.len() >= 78);
    }

    #[test]
    fn salts_of_one_moment_differ_between_sources() {
        let (mut one, mut two) = (Nonces::new().unwrap(), Nonces::new().unwrap());
        assert_ne!(
            one.draw(Suite::Aes256).unwrap().salt,
            two.draw(Suite::Aes256).unwrap().salt
        );
    }

    /// N2. What a copied virtual machine does: all of the process's memory is as it was, and it goes on.
    #[test]
    fn a_process_continued_twice_from_one_point_repeats_no_nonce() {
        static COPIED: Sessions = Sessions {
            first_word: 16,
            page_count_max: 1 << 20,
        };
        let words = ForkPage::of_process().words();
        let mut nonces = Nonces::new().unwrap();
        let _ = nonces.draw_from(&COPIED).unwrap();
        let image: Vec<u64> = words[16..20].iter().map(|word| word.load(Ordering::SeqCst)).collect();
        let mut seen = HashSet::new();
        let mut pairs = HashSet::new();
        for _continuation in 0..4 {
            for (word, value) in words[16..20].iter().zip(&image) {
                word.store(*value, Ordering::SeqCst);
            }
            for _ in 0..1000 {
                let nonce = nonces.draw_from(&COPIED).unwrap();
                pairs.insert((nonce.session, nonce.counter));
                assert!(seen.insert((nonce.session, nonce.salt, nonce.counter)));
            }
        }
        assert_eq!(pairs.len(), 1000, "the image was not continued from one point");
    }
}
