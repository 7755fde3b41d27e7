//! The peak of resident memory since a reset (proc(5): `VmHWM`, `clear_refs`).

use std::fs;

/// The peak since the reset.
pub struct Peak(());

impl Peak {
    /// Resets the peak to the current resident memory. None if the system does not allow it.
    pub fn set_back() -> Option<Self> {
        fs::write("/proc/self/clear_refs", "5").ok().map(|()| Self(()))
    }

    /// None if the system does not report it.
    pub fn bytes(self) -> Option<u64> {
        parse(&fs::read_to_string("/proc/self/status").ok()?)
    }
}

fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_includes_only_memory_used_after_the_reset() {
        const SIZE: usize = 64 << 20;
        let used = vec![1_u8; SIZE];
        assert_eq!(
            used.iter().step_by(4096).map(|byte| u64::from(*byte)).sum::<u64>(),
            (SIZE / 4096) as u64
        );
        drop(used);
        let Some(peak) = Peak::set_back() else { return };
        let before = peak.bytes().unwrap();
        let peak = Peak::set_back().unwrap();
        let used = vec![1_u8; 2 * SIZE];
        assert_eq!(used.len(), 2 * SIZE);
        // Other tests run in this process.
        assert!(peak.bytes().unwrap() > before + SIZE as u64);
    }

    #[test]
    fn a_status_without_the_peak_gives_none() {
        assert_eq!(
            parse("Name:\tx\nVmHWM:\t    1234 kB\nVmRSS:\t 1 kB\n"),
            Some(1234 * 1024)
        );
        assert_eq!(parse("Name:\tx\n"), None);
        assert_eq!(parse("VmHWM:\t1 MB\n"), None);
    }
}
