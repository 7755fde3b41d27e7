//! What is asked of the machine itself: randomness and the cycle counter.

use std::ffi::CStr;

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

/// Whether this process has rights that who started it does not have (set-user-ID, set-group-ID, file capabilities):
/// the kernel says so in AT_SECURE (getauxval(3)). Its environment is theirs, and not its owner's.
#[must_use]
pub fn is_elevated() -> bool {
    // SAFETY: the call reads what the kernel left for this process, and touches no memory of ours.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Makes an empty file that only its owner may use (mode 0600), where none of that name is. No descriptor of it is
/// opened: closing that would give up the locks of this process on the file (fcntl(2)).
///
/// # Errors
/// `AlreadyExists`; what mknod(2) says.
pub fn make_private_file(path: &CStr) -> std::io::Result<()> {
    // SAFETY: the path ends with a zero byte.
    match unsafe { libc::mknod(path.as_ptr(), libc::S_IFREG | 0o600, 0) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Locks all memory of this process, now and later (mlockall(2)); a page is locked when it is first used.
///
/// # Errors
/// As the system has it.
pub fn lock_memory() -> std::io::Result<()> {
    const FLAGS: libc::c_int = libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT;
    // SAFETY: the call takes flags alone, and moves no memory.
    match unsafe { libc::mlockall(FLAGS) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// How much memory this process may lock, in bytes; nothing where there is no limit.
///
/// # Errors
/// As the system has it.
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

/// Asks the system to drop the clean pages of a file from its page cache (posix_fadvise(2)), by the number
/// of a descriptor. One that is closed by now, or another file's, does no harm: it is advice.
pub fn forget_cached(descriptor: i32) {
    // SAFETY: the call takes any number, and touches no memory of ours.
    let _ = unsafe { libc::posix_fadvise(descriptor, 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// A number that no other machine draws, not even one that goes on from the same copy of memory: from the
/// processor's own generator, in 26 ns where getrandom(2) takes 600 (AMD Zen 3). `None` where there is none, or it
/// is a broken one. It is not for keys.
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
