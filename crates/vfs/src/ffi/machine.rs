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
