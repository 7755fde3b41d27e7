//! Nonces: the session and counter under which each page is sealed, and the salt beside them (FORMAT 5.1, 5.3).
//!
//! - nonce-never-repeats: no pair of session and counter is issued twice. In one process the serial
//!   number in the session and the counter are the two parts of one number, which a single atomic
//!   addition takes: no interleaving of threads yields one twice. Between processes, including a
//!   forked child, 96 random bits in the session differ.
//! - salt-covers-copies: the salt covers the case that nonce-never-repeats can't: a machine whose
//!   memory was copied and that continues twice. It is computed when a page is sealed, from a
//!   number of the processor's generator, or else of the system's (once per transaction), the cycle
//!   counter and the clock, under a key from the system. The state of the processor's generator is
//!   not part of the copied memory; the system's is, until the system is notified of the copy.

use std::time::{SystemTime, UNIX_EPOCH};

use selenite_cipher::{BlockCipher, PageNonce, Secret, SessionId, Suite};

use crate::atomics::{AtomicU64, Ordering};
#[cfg(not(selenite_loom))]
use crate::ffi::ForkPage;
use crate::ffi::{Code, cycle_count, hardware_random, os_random};

/// Draws the nonces of one file.
pub struct Nonces {
    mixer: BlockCipher,
    /// `None` until the first page of a transaction needs one.
    seed: Option<u64>,
}

impl Nonces {
    /// A source whose salts differ from those of every other.
    ///
    /// # Errors
    /// `IOERR` if the system's random number generator fails.
    pub fn new() -> Result<Self, Code> {
        let mut key = [0; 32];
        os_random(&mut key)?;
        Ok(Self {
            mixer: BlockCipher::new(&Secret::new(key)),
            seed: None,
        })
    }

    /// Called when a transaction begins to write: its first page draws a seed. One that writes no page draws none.
    pub fn renew(&mut self) {
        self.seed = None;
    }

    /// The nonce for one page. The caller uses it once, immediately.
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
        self.mixer.encrypt(&mut block);
        let mut salt = [0; 8];
        salt.copy_from_slice(&block[..8]);
        salt
    }
}

/// A series of sessions: three words in the page that a fork wipes.
///
/// Word 0 is the number of pages numbered so far: its lower `counter_bits` are the next counter,
/// the bits above them the serial number of the session. It is changed only by addition, so it has
/// each value once (an atomic addition reads what the last one in the word's modification order
/// wrote, C11 7.17.3 number 12), whatever is visible of the other words. Those are random; 0 means
/// that they were not drawn yet. A session is word 1, the lower half of word 2, and the serial
/// number: whatever mixture of old and new values of words 1 and 2 a thread reads, two different
/// serial numbers never give equal pairs. No process waits for a thread, which might not exist in a
/// forked child.
struct Sessions {
    first_word: usize,
    /// A session seals 2 to the power of `counter_bits` pages.
    counter_bits: u32,
}

/// Every suite but triple DES: half of what the counter's 32 bits hold.
static LONG: Sessions = Sessions {
    first_word: 0,
    counter_bits: 31,
};

/// Triple DES: a session seals 128 pages (FORMAT 5.2).
static SHORT: Sessions = Sessions {
    first_word: 8,
    counter_bits: 7,
};

/// The words of this process.
#[cfg(not(selenite_loom))]
fn words() -> &'static [AtomicU64] {
    ForkPage::of_process().words()
}

/// A model supplies its own words.
#[cfg(selenite_loom)]
fn words() -> &'static [AtomicU64] {
    &[]
}

impl Sessions {
    fn next(&self, words: &[AtomicU64]) -> Result<(SessionId, u32), Code> {
        let number = words[self.first_word].fetch_add(1, Ordering::Relaxed);
        let counter = u32::try_from(number & ((1 << self.counter_bits) - 1)).map_err(|_| Code::IOERR)?;
        // After 2^39 pages under triple DES, which takes years, the serial number would start
        // again.
        let serial = u32::try_from(number >> self.counter_bits).map_err(|_| Code::IOERR)?;
        // Each session draws new words: pages sealed by a copy of this machine's memory soon belong
        // to other sessions (salt-covers-copies).
        let is_first = counter == 0;
        let high = Self::random_word(&words[self.first_word + 1], is_first)?;
        let low = Self::random_word(&words[self.first_word + 2], is_first)?;
        let mut session = [0; 16];
        session[..8].copy_from_slice(&high.to_be_bytes());
        session[8..12].copy_from_slice(&low.to_be_bytes()[4..]);
        session[12..].copy_from_slice(&serial.to_be_bytes());
        Ok((SessionId(session), counter))
    }

    /// A word that is not 0: the existing value, or, if it is 0 or this is the first use in a
    /// session (`is_first`), a new random value that is also stored.
    fn random_word(word: &AtomicU64, is_first: bool) -> Result<u64, Code> {
        let found = word.load(Ordering::Relaxed);
        if found != 0 && !is_first {
            return Ok(found);
        }
        let mut drawn = [0; 8];
        os_random(&mut drawn)?;
        let drawn = u64::from_ne_bytes(drawn).max(1);
        if is_first {
            word.store(drawn, Ordering::Relaxed);
            return Ok(drawn);
        }
        let put = word.compare_exchange(0, drawn, Ordering::Relaxed, Ordering::Relaxed);
        Ok(put.map_or_else(|there| there, |_| drawn))
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
            assert!(1 << sessions.counter_bits <= u64::from(suite.session_page_count_max()));
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
    fn a_serial_number_that_would_begin_again_is_refused() {
        static LAST: Sessions = Sessions {
            first_word: 24,
            counter_bits: 7,
        };
        let words = ForkPage::of_process().words();
        words[24].store((1 << 39) - 1, Ordering::Relaxed);
        let (session, counter) = LAST.next(words).unwrap();
        assert_eq!((&session.0[12..], counter), ([0xff; 4].as_slice(), 127));
        assert_eq!(LAST.next(words).unwrap_err(), Code::IOERR);
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

    /// `salt-covers-copies`: simulates a copied virtual machine: the process's memory is restored,
    /// and the process continues.
    #[test]
    fn a_process_continued_twice_from_one_point_repeats_no_nonce() {
        static COPIED: Sessions = Sessions {
            first_word: 16,
            counter_bits: 20,
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

#[cfg(all(test, selenite_loom))]
mod model {
    use std::collections::HashSet;
    use std::sync::Arc;

    use super::*;

    /// nonce-never-repeats, with sessions of two pages, so that threads meet at the end of a
    /// session and before one is drawn. The serial number and the counter alone have to differ: the
    /// random bits would hide a pair that is issued twice.
    #[test]
    fn no_pair_of_session_and_counter_is_given_twice() {
        loom::model(|| {
            let words: Arc<Vec<AtomicU64>> = Arc::new((0..3).map(|_| AtomicU64::new(0)).collect());
            let take = |count: usize| {
                let words = words.clone();
                let sessions = Sessions {
                    first_word: 0,
                    counter_bits: 1,
                };
                move || -> Vec<_> { (0..count).map(|_| sessions.next(&words).unwrap()).collect() }
            };
            let other = loom::thread::spawn(take(2));
            let mut pairs = take(2)();
            pairs.extend(other.join().unwrap());
            let mut seen = HashSet::new();
            for (session, counter) in pairs {
                assert!(counter < 2);
                assert!(session.0[..12] != [0; 12]);
                let serial: [u8; 4] = session.0[12..].try_into().unwrap();
                assert!(seen.insert((serial, counter)), "{counter} of {session:?}");
            }
        });
    }
}
