//! Checks of the processor, of memory and of what may write memory to a disk.

use crate::{Check, Processor, Source};

/// What a check of the machine cannot read from files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The size of the system's pages.
    pub page_size: usize,
    /// The largest core dump of a process (RLIMIT_CORE), in bytes; none: no limit.
    pub core_size: Option<u64>,
}

impl Limits {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            page_size: rustix::param::page_size(),
            core_size: rustix::process::getrlimit(rustix::process::Resource::Core).current,
        }
    }
}

/// Checks the machine.
#[must_use]
pub fn machine(source: &Source, limits: Limits) -> Vec<Check> {
    vec![
        instructions(source),
        page_size(limits),
        swap(source),
        core_dumps(source, limits),
    ]
}

/// What the processor's instructions mean for the choice of a suite.
fn instructions(source: &Source) -> Check {
    let name = "cipher instructions";
    let Some(text) = source.read("proc/cpuinfo") else {
        return Check::ok(name, "unknown: /proc/cpuinfo cannot be read");
    };
    let processor = Processor::parse(&text);
    let flags = processor.cipher_flags().join(" ");
    if !processor.has_aes() {
        return Check::advice(
            name,
            "no AES instructions seen; a virtual machine may hide them",
            "AES and AEGIS are slow without them: create databases with --cipher CHACHA20",
        );
    }
    // The names of x86-64 and of ARM: GHASH needs a multiplication without carry.
    if !["pclmulqdq", "pmull"]
        .iter()
        .any(|flag| processor.flags.contains(*flag))
    {
        return Check::advice(
            name,
            format!("{flags}, but no carry-less multiplication, which AES_256 (GCM) needs"),
            "create databases with --cipher AEGIS_256X4",
        );
    }
    if processor.flags.contains("vaes") {
        return Check::ok(name, format!("{flags}: AES_256 (the default) and AEGIS_256X4 are fast"));
    }
    Check::ok(name, format!("{flags}: AES_256 (the default) is fast"))
}

fn page_size(limits: Limits) -> Check {
    let name = "system page size";
    let size = limits.page_size;
    if size.is_power_of_two() && (4096..=65536).contains(&size) {
        return Check::ok(name, format!("{size} bytes"));
    }
    Check::advice(
        name,
        format!("{size} bytes"),
        "selenite is meant for 4096 to 65536: report what does not work",
    )
}

/// Whether decrypted pages and keys in memory may get to a disk.
fn swap(source: &Source) -> Check {
    let name = "swap";
    let Some(text) = source.read("proc/swaps") else {
        return Check::ok(name, "unknown: /proc/swaps cannot be read");
    };
    let areas: Vec<&str> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let open: Vec<&str> = areas
        .iter()
        .copied()
        .filter(|area| !is_protected(source, area))
        .collect();
    match (areas.as_slice(), open.as_slice()) {
        ([], _) => Check::ok(name, "none"),
        (areas, []) => Check::ok(name, format!("encrypted, or in memory: {}", areas.join(", "))),
        (_, open) => Check::advice(
            name,
            format!("not encrypted: {}", open.join(", ")),
            "keys and decrypted pages in memory may be written there: encrypt it, or set SELENITE_LOCK_MEMORY=1",
        ),
    }
}

/// Whether a swap area is compressed memory, or an encrypted device of the device mapper.
fn is_protected(source: &Source, area: &str) -> bool {
    let device = area.strip_prefix("/dev/").unwrap_or_default();
    let is_crypt = || {
        let uuid = source.read(&format!("sys/block/{device}/dm/uuid"));
        uuid.is_some_and(|uuid| uuid.starts_with("CRYPT-"))
    };
    device.starts_with("zram") || (device.starts_with("dm-") && is_crypt())
}

fn core_dumps(source: &Source, limits: Limits) -> Check {
    let name = "core dumps";
    let pattern = source.read("proc/sys/kernel/core_pattern").unwrap_or_default();
    let program = pattern
        .strip_prefix('|')
        .map(|line| line.split_whitespace().next().unwrap_or("a program"));
    if limits.core_size == Some(0) {
        // The kernel does not apply the limit to a pipe; systemd-coredump and apport do (core(5)).
        let left = program.map_or_else(String::new, |program| {
            format!(", which is left to {program} to observe")
        });
        return Check::ok(name, format!("off: RLIMIT_CORE is 0{left}"));
    }
    let place = match program {
        Some(program) => format!("passed to {program}"),
        None if pattern.is_empty() => "written to a file".to_owned(),
        None => format!("written to {pattern}"),
    };
    let advice = "a crash writes keys and decrypted rows to a disk: ulimit -c 0, or LimitCORE=0 in a systemd unit";
    Check::advice(name, format!("{place} when a program crashes"), advice)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Verdict;

    const LIMITS: Limits = Limits {
        page_size: 4096,
        core_size: Some(0),
    };

    /// A root with one file.
    fn root(path: &str, text: &str) -> (tempfile::TempDir, Source) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        let source = Source::at(folder.path());
        (folder, source)
    }

    #[test]
    fn a_machine_without_facts_has_no_complaint() {
        for check in machine(&Source::at("/nowhere"), LIMITS) {
            assert_eq!(check.verdict, Verdict::Ok, "{check}");
        }
    }

    #[test]
    fn the_instructions_decide_on_the_suite() {
        let check = |flags: &str| {
            let (_folder, source) = root("proc/cpuinfo", &format!("processor\t: 0\nflags\t\t: {flags}\n"));
            instructions(&source)
        };
        let without = check("sse2 avx2");
        assert_eq!(without.verdict, Verdict::Advice);
        assert!(without.advice.unwrap().contains("CHACHA20"));
        assert_eq!(check("aes pclmulqdq avx2").verdict, Verdict::Ok);
        assert!(
            check("aes vaes pclmulqdq vpclmulqdq")
                .finding
                .contains("AEGIS_256X4 are fast")
        );
        assert!(check("aes avx2").advice.unwrap().contains("AEGIS_256X4"));
        let (_folder, arm) = root("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd aes pmull sha2\n");
        assert_eq!(instructions(&arm).verdict, Verdict::Ok);
        let (_folder, bare) = root("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd crc32\n");
        assert!(instructions(&bare).advice.unwrap().contains("CHACHA20"));
    }

    #[test]
    fn larger_system_pages_are_as_good() {
        let of = |page_size| super::page_size(Limits { page_size, ..LIMITS }).verdict;
        for size in [4096, 16384, 65536] {
            assert_eq!(of(size), Verdict::Ok);
        }
        assert_eq!(of(1 << 20), Verdict::Advice);
    }

    #[test]
    fn unencrypted_swap_is_reported() {
        const HEAD: &str = "Filename\tType\tSize\tUsed\tPriority\n";
        let of = |text: &str| {
            let (_folder, source) = root("proc/swaps", &format!("{HEAD}{text}"));
            swap(&source)
        };
        assert_eq!(of("").finding, "none");
        assert_eq!(of("/dev/zram0 partition 100 0 100\n").verdict, Verdict::Ok);
        let open = of("/dev/zram0 partition 100 0 100\n/swap.img file 100 0 -2\n");
        assert_eq!(
            (open.verdict, open.finding.as_str()),
            (Verdict::Advice, "not encrypted: /swap.img")
        );
        assert_eq!(of("/dev/dm-1 partition 100 0 -2\n").verdict, Verdict::Advice);
        let (folder, source) = root("proc/swaps", &format!("{HEAD}/dev/dm-1 partition 100 0 -2\n"));
        fs::create_dir_all(folder.path().join("sys/block/dm-1/dm")).unwrap();
        fs::write(folder.path().join("sys/block/dm-1/dm/uuid"), "CRYPT-PLAIN-swap\n").unwrap();
        assert_eq!(swap(&source).verdict, Verdict::Ok);
    }

    #[test]
    fn core_dumps_are_reported_with_their_place() {
        let of = |pattern: &str, core_size| {
            let (_folder, source) = root("proc/sys/kernel/core_pattern", pattern);
            core_dumps(&source, Limits { core_size, ..LIMITS })
        };
        assert_eq!(of("core\n", Some(0)).finding, "off: RLIMIT_CORE is 0");
        assert!(
            of("|/bin/keep %P\n", Some(0))
                .finding
                .ends_with("left to /bin/keep to observe")
        );
        assert_eq!(of("core\n", None).finding, "written to core when a program crashes");
        let piped = of("|/usr/lib/systemd/systemd-coredump %P %u\n", Some(u64::MAX));
        assert_eq!(piped.verdict, Verdict::Advice);
        assert_eq!(
            piped.finding,
            "passed to /usr/lib/systemd/systemd-coredump when a program crashes"
        );
    }
}
