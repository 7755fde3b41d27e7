//! Services of the processor: its random numbers and its cycle counter.

use super::Code;
use super::platform::fill_random;
use selenite_cipher::IS_FIPS;

/// Fills `out` from the operating system's generator, in the FIPS build from its module's.
///
/// # Errors
/// `IOERR` if the generator fails: then nothing can be sealed.
pub fn os_random(out: &mut [u8]) -> Result<(), Code> {
    if IS_FIPS {
        return aws_lc_rs::rand::fill(out).map_err(|_| Code::IOERR);
    }
    fill_random(out).map_err(|_| Code::IOERR)
}

/// A number that no other machine draws, not even one that continues from the same copy of memory:
/// from the processor's generator, in 26 ns where getrandom(2) takes 600 (AMD Zen 3). `None` if
/// there is none, or it is defective. Not for keys.
#[must_use]
pub fn hardware_random() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        if !is_x86_feature_detected!("rdrand") {
            return None;
        }
        // SAFETY: the processor has the instruction.
        let number = unsafe { rdrand() };
        // Some processors return one of these values permanently (AMD erratum after a suspend).
        number.filter(|number| *number != 0 && *number != u64::MAX)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        None
    }
}

/// Ten attempts, as Intel advises (Digital Random Number Generator, Software Implementation Guide, 5.2.1).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "rdrand")]
fn rdrand() -> Option<u64> {
    let mut number = 0;
    (0..10)
        .any(|_| std::arch::x86_64::_rdrand64_step(&mut number) == 1)
        .then_some(number)
}

/// The processor's cycle counter, or its constant timer (ARM); zero if it cannot be read.
#[must_use]
pub fn cycle_count() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 processor has RDTSC; Linux lets programs use it.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let count: u64;
        // SAFETY: the instruction reads a register (Arm ARM, CNTVCT_EL0), which Linux, macOS and
        // Windows let programs read.
        unsafe { std::arch::asm!("mrs {count}, cntvct_el0", count = out(reg) count, options(nomem, nostack)) };
        count
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_processor_draws_no_number_twice() {
        let drawn: Vec<u64> = (0..10_000).filter_map(|_| hardware_random()).collect();
        let distinct: HashSet<u64> = drawn.iter().copied().collect();
        assert_eq!(drawn.len(), distinct.len());
        assert!(drawn.is_empty() || drawn.len() > 9_000, "{} of 10,000", drawn.len());
    }
}
