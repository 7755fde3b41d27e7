//! NEWSEQUENTIALID: a clock in a uniqueidentifier.
//!
//! - `after-all-before`: each is after all that this process made before, in SQL Server's order of uniqueidentifiers.
//! - `node-of-the-process`: the node is random, and says so by its multicast bit (RFC 9562, section 6.10), so that no
//!   two servers make the same and no address of the machine is told.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use selenite_types::{Guid, guid_from_ordered};

/// The next one.
pub(super) fn next() -> Guid {
    static LAST: Mutex<u64> = Mutex::new(0);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    *last = ticks().max(last.saturating_add(1));
    of(*last, node())
}

/// The most significant bytes first: node and clock sequence, version and high time, middle, low.
fn of(ticks: u64, node: [u8; 8]) -> Guid {
    let mut ordered = [0; 16];
    let time = ticks & TIME_MASK | VERSION;
    ordered[..8].copy_from_slice(&node);
    ordered[8..].copy_from_slice(&time.to_be_bytes());
    guid_from_ordered(ordered)
}

/// Units of 100 ns since 1582-10-15.
fn ticks() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let units = u64::try_from(since.as_nanos() / 100).unwrap_or(u64::MAX);
    units.saturating_add(GREGORIAN)
}

/// The node, and two bytes of a clock sequence.
fn node() -> [u8; 8] {
    static NODE: OnceLock<[u8; 8]> = OnceLock::new();
    *NODE.get_or_init(|| {
        let mut bytes = [0; 8];
        // As in `new_guid`: without random numbers no login got this far.
        let _ = aws_lc_rs::rand::fill(&mut bytes);
        bytes[0] |= 1;
        bytes[6] = bytes[6] & 0x3F | 0x80;
        bytes
    })
}

/// From 1582-10-15 to 1970-01-01.
const GREGORIAN: u64 = 0x01B2_1DD2_1381_4000;
const TIME_MASK: u64 = 0x0FFF_FFFF_FFFF_FFFF;
/// Version 1, of time.
const VERSION: u64 = 1 << 60;

#[cfg(test)]
mod tests {
    use selenite_types::guid_ordered;

    use super::*;

    #[test]
    fn each_is_after_the_one_before() {
        let made: Vec<_> = (0..100).map(|_| guid_ordered(next())).collect();
        assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn the_time_is_below_the_node() {
        let node = [0x03, 2, 3, 4, 5, 6, 0x80, 8];
        assert_eq!(of(0x0123, node).0[10..], node[..6]);
        assert!(guid_ordered(of(0x00FF_FFFF, node)) < guid_ordered(of(0x0100_0000, node)));
    }
}
