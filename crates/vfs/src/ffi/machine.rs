//! What is asked of the machine itself: randomness and the cycle counter.

use super::Code;

/// Fills `out` from the operating system's generator (getrandom(2)).
///
/// # Errors
/// `IOERR` if there is none: nothing can be sealed then.
pub fn os_random(out: &mut [u8]) -> Result<(), Code> {
    let mut done = 0;
    while done < out.len() {
        let rest = &mut out[done..];
        // SAFETY: `rest` has room for that many bytes.
        let got = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        match usize::try_from(got) {
            Ok(got) if got > 0 => done += got,
            Ok(_) => return Err(Code::IOERR),
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Code::IOERR),
        }
    }
    Ok(())
}

/// Asks the system to keep nothing of a file in its cache that is on disk already (posix_fadvise(2)), by the number of a
/// descriptor. One that is closed by now, or another file's, does no harm: it is advice.
pub fn forget_cached(descriptor: i32) {
    // SAFETY: the call takes any number, and touches no memory of ours.
    let _ = unsafe { libc::posix_fadvise(descriptor, 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// A number that no other machine draws, not even one that goes on from the same copy of memory: from the processor's own
/// generator, in 26 ns where getrandom(2) takes 600 (AMD Zen 3). `None` where there is none, or it is a broken one. It is not
/// for keys.
#[must_use]
pub fn hardware_random() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        if !is_x86_feature_detected!("rdrand") {
            return None;
        }
        // SAFETY: the processor has the instruction.
        let number = unsafe { rdrand() };
        // Processors are known that answer one of these for ever (AMD erratum after a suspend).
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

/// The processor's cycle counter; zero where there is none to be read.
#[must_use]
pub fn cycle_count() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 processor has RDTSC; Linux lets programs use it.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(target_arch = "x86_64"))]
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
