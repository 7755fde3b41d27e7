use std::fs;

use super::*;

struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { folder }
    }

    fn source(&self) -> Source {
        Source::at(self.folder.path())
    }

    fn facts(&self) -> HostFacts {
        facts(&self.source(), Path::new("/"))
    }
}

fn value<'a>(facts: &'a HostFacts, name: &str) -> Option<&'a str> {
    facts
        .facts
        .iter()
        .find(|fact| fact.0 == name)
        .map(|fact| fact.1.as_str())
}

#[test]
fn a_quiet_machine_has_facts_and_no_warnings() {
    let machine = Machine::new(&[
        (
            "proc/cpuinfo",
            "processor : 0\nmodel name : Some CPU\nflags : fpu aes sha_ni\nphysical id : 0\ncore id : 0\ncpu MHz : 3000\n",
        ),
        ("sys/devices/system/cpu/smt/active", "0\n"),
        (
            "sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
            "performance\n",
        ),
        ("sys/bus/event_source/devices/cpu/type", "4\n"),
        ("proc/sys/kernel/perf_event_paranoid", "2\n"),
        ("proc/meminfo", "MemTotal: 2097152 kB\nSwapTotal: 0 kB\n"),
        ("proc/sys/kernel/osrelease", "6.1.0\n"),
        ("proc/pressure/cpu", "some total=1\n"),
        ("proc/loadavg", "0.10 0.20 0.30 1/100 42\n"),
        ("proc/self/mountinfo", "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"),
        ("sys/dev/block/254:0/queue/rotational", "0\n"),
        ("sys/dev/block/254:0/queue/scheduler", "[none] mq-deadline\n"),
    ]);
    let facts = machine.facts();
    assert_eq!(facts.warnings, Vec::<String>::new());
    assert_eq!(value(&facts, "processor"), Some("Some CPU"));
    assert_eq!(value(&facts, "cipher instructions"), Some("aes sha_ni"));
    assert_eq!(value(&facts, "logical processors"), Some("1, 1 cores"));
    assert_eq!(value(&facts, "performance counters"), Some("available"));
    assert_eq!(value(&facts, "memory"), Some("2048 MiB"));
    assert_eq!(value(&facts, "swap"), Some("none"));
    assert_eq!(value(&facts, "file system"), Some("ext4 on /dev/vda (rw,relatime,rw)"));
    assert_eq!(value(&facts, "device"), Some("not rotational, none"));
    assert_eq!(value(&facts, "virtualisation"), Some("none seen"));
}

#[test]
fn what_makes_figures_less_sure_is_a_warning() {
    let machine = Machine::new(&[
        ("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor\n"),
        ("sys/devices/system/cpu/smt/active", "1\n"),
        ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n"),
        ("proc/sys/kernel/perf_event_paranoid", "2\n"),
        ("proc/meminfo", "SwapTotal: 1048576 kB\n"),
        ("proc/loadavg", "2.50 0.20 0.30 1/100 42\n"),
        ("proc/self/mountinfo", "27 1 0:4 / / rw - overlay overlay rw\n"),
        (".dockerenv", ""),
    ]);
    let facts = machine.facts();
    let expected = [
        "no AES",
        "SMT",
        "governor",
        "instructions can't",
        "swap",
        "virtual machine",
        "load 2.50",
        "overlay",
    ];
    assert_eq!(facts.warnings.len(), expected.len(), "{:?}", facts.warnings);
    for (warning, part) in facts.warnings.iter().zip(expected) {
        assert!(warning.contains(part), "{warning:?} {part:?}");
    }
    assert_eq!(value(&facts, "virtualisation"), Some("virtual machine, in a container"));
}

#[test]
fn a_machine_without_facts_is_not_an_error() {
    let facts = Machine::new(&[]).facts();
    assert_eq!(value(&facts, "memory"), None);
    assert_eq!(
        value(&facts, "performance counters"),
        Some("not available: the kernel has no perf events")
    );
}

#[test]
fn forbidden_and_missing_counters_are_distinguished() {
    let machine = |level: &'static str| {
        Machine::new(&[
            ("sys/bus/event_source/devices/armv8_pmuv3_0/type", "8"),
            ("proc/sys/kernel/perf_event_paranoid", level),
        ])
    };
    assert_eq!(perf_counters(&machine("-1").source()), Ok(()));
    let why = perf_counters(&machine("3").source()).unwrap_err();
    assert!(why.contains("is 3"), "{why}");
}

#[test]
fn this_machine_has_facts() {
    let facts = facts(&Source::default(), Path::new("."));
    assert!(
        value(&facts, "kernel").is_some_and(|kernel| kernel.starts_with("Linux ")),
        "{facts:?}"
    );
}
