//! Services of the operating system and the processor: randomness, the cycle counter, memory locks.

use std::ffi::CStr;

use super::Code;

/// Fills `out` from the operating system's generator (getrandom(2)).
///
/// # Errors
/// `IOERR` if the generator fails: then nothing can be sealed.
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

/// Whether this process has rights that the user who started it does not have (set-user-ID,
/// set-group-ID, file capabilities), from AT_SECURE (getauxval(3)). That user controls the
/// environment of the process.
#[must_use]
pub fn is_elevated() -> bool {
    // SAFETY: the call reads the kernel's data for this process, and writes no memory of the
    // program.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Creates an empty file that only its owner may access (mode 0600), if there is none of that name.
/// It is created without a descriptor: closing one would release the locks of this process on the
/// file (fcntl(2)).
///
/// # Errors
/// `AlreadyExists`; errors of mknod(2).
pub fn make_private_file(path: &CStr) -> std::io::Result<()> {
    // SAFETY: the path ends with a zero byte.
    match unsafe { libc::mknod(path.as_ptr(), libc::S_IFREG | 0o600, 0) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Locks all current and future memory of this process (mlockall(2)); a page is locked when it is
/// first used.
///
/// # Errors
/// Those of the system.
pub fn lock_memory() -> std::io::Result<()> {
    const FLAGS: libc::c_int = libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT;
    // SAFETY: the call takes only flags, and moves no memory.
    match unsafe { libc::mlockall(FLAGS) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// The amount of memory that this process may lock, in bytes; `None` without a limit.
///
/// # Errors
/// Those of the system.
pub fn locked_memory_limit() -> std::io::Result<Option<u64>> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the struct is ours, and lives for this call.
    match unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) } {
        0 if limit.rlim_cur == libc::RLIM_INFINITY => Ok(None),
        0 => Ok(Some(limit.rlim_cur)),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Asks the system to drop the clean pages of a file from its page cache (posix_fadvise(2)), by
/// descriptor number. A descriptor that was closed meanwhile, or belongs to another file, does no
/// harm: the call is only advice.
pub fn forget_cached(descriptor: i32) {
    // SAFETY: the call accepts any number, and writes no memory of the program.
    let _ = unsafe { libc::posix_fadvise(descriptor, 0, 0, libc::POSIX_FADV_DONTNEED) };
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

/// The processor's cycle counter; zero if it cannot be read.
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
