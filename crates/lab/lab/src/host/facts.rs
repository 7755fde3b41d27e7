//! The properties of the machine, for the report.

use std::path::Path;

use selenite_doctor::{Mount, Processor, Source};

use super::counters::named_number;
use crate::summary::HostFacts;

/// Describes the machine, and `folder`, which will contain the copies.
#[must_use]
pub fn facts(source: &Source, folder: &Path) -> HostFacts {
    let mut facts = HostFacts::default();
    processor(source, &mut facts);
    memory(source, &mut facts);
    system(source, &mut facts);
    storage(source, folder, &mut facts);
    facts
}

fn processor(source: &Source, facts: &mut HostFacts) {
    let processor = Processor::parse(&source.read("proc/cpuinfo").unwrap_or_default());
    facts.add("processor", processor.model.clone());
    facts.add("cipher instructions", Some(processor.cipher_flags().join(" ")));
    if !processor.has_aes() {
        facts.warn("no AES instructions: ciphers that use AES cost many times as much as on other machines");
    }
    let cores = (processor.cores > 0).then(|| format!(", {} cores", processor.cores));
    facts.add(
        "logical processors",
        Some(format!("{}{}", processor.threads, cores.unwrap_or_default())),
    );
    let smt = source.read("sys/devices/system/cpu/smt/active");
    let is_smt = smt.as_deref() == Some("1");
    facts.add(
        "threads share cores (SMT)",
        smt.map(|_| if is_smt { "yes" } else { "no" }.to_owned()),
    );
    if is_smt {
        facts.warn("threads share cores (SMT): what else runs makes CPU time dearer");
    }
    let governors = governors(source);
    if governors.iter().any(|governor| governor != "performance") {
        facts.warn("the frequency governor is not `performance`: the clock depends on the load");
    }
    facts.add(
        "frequency governor",
        (!governors.is_empty()).then(|| governors.join(", ")),
    );
    facts.add("frequency", processor.mhz.map(|mhz| format!("{mhz:.0} MHz")));
    let counters = perf_counters(source);
    if let Err(why) = &counters {
        facts.warn(&format!(
            "instructions can't be counted ({why}): CPU time stands in for them"
        ));
    }
    let counters = counters.map_or_else(|why| format!("not available: {why}"), |()| "available".to_owned());
    facts.add("performance counters", Some(counters));
}

fn memory(source: &Source, facts: &mut HostFacts) {
    let memory = source.read("proc/meminfo").unwrap_or_default();
    let mib = |name: &str| named_number(&memory, name).map(|kib| kib / 1024);
    facts.add("memory", mib("MemTotal").map(|mib| format!("{mib} MiB")));
    let swap = mib("SwapTotal");
    facts.add(
        "swap",
        swap.map(|mib| {
            if mib == 0 {
                "none".to_owned()
            } else {
                format!("{mib} MiB")
            }
        }),
    );
    if swap.is_some_and(|mib| mib > 0) {
        facts.warn("there is swap: blocks during which it is read are void");
    }
    let huge = source.read("sys/kernel/mm/transparent_hugepage/enabled");
    facts.add("transparent huge pages", huge.and_then(|text| chosen(&text)));
}

fn system(source: &Source, facts: &mut HostFacts) {
    facts.add(
        "kernel",
        source
            .read("proc/sys/kernel/osrelease")
            .map(|release| format!("Linux {release}")),
    );
    facts.add("virtualisation", Some(virtualisation(source)));
    if has_virtual_processors(source) {
        facts.warn("a virtual machine: neighbours that are not seen here take CPU time and cache");
    }
    let clock = source.read("sys/devices/system/clocksource/clocksource0/current_clocksource");
    facts.add("clock source", clock);
    let has_pressure = source.has("proc/pressure/cpu");
    facts.add(
        "pressure (PSI)",
        Some(if has_pressure { "available" } else { "not available" }.to_owned()),
    );
    if let Some(load) = load(source) {
        facts.add("load", Some(format!("{load:.2}")));
        if load > LOAD_MAX {
            facts.warn(&format!("the machine is busy with something else (load {load:.2})"));
        }
    }
}

fn storage(source: &Source, folder: &Path, facts: &mut HostFacts) {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let Some(mount) = source
        .read("proc/self/mountinfo")
        .and_then(|text| Mount::of(&folder, &text))
    else {
        return;
    };
    facts.add(
        "file system",
        Some(format!("{} on {} ({})", mount.kind, mount.device, mount.options)),
    );
    if mount.has_no_disk() {
        facts.warn(&format!(
            "{} is {}, no disk's file system: cold caches can't be had",
            folder.display(),
            mount.kind
        ));
    }
    facts.add("device", device(source, &mount));
}

/// The model of a file system's device, and whether it is rotational.
fn device(source: &Source, mount: &Mount) -> Option<String> {
    // For a partition, the disk's files are in the parent folder.
    let read = |name: &str| {
        let paths = ["", "../"].map(|up| format!("sys/dev/block/{}/{up}{name}", mount.number));
        paths.iter().find_map(|path| source.read(path))
    };
    let turns =
        read("queue/rotational").map(|flag| if flag == "1" { "rotational" } else { "not rotational" }.to_owned());
    let words: Vec<String> = [
        read("device/model"),
        turns,
        read("queue/scheduler").and_then(|text| chosen(&text)),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The governors in use, without duplicates; empty if the machine does not report them.
pub(crate) fn governors(source: &Source) -> Vec<String> {
    let policies = source.names("sys/devices/system/cpu/cpufreq").into_iter();
    let paths = policies.map(|policy| format!("sys/devices/system/cpu/cpufreq/{policy}/scaling_governor"));
    let mut governors: Vec<String> = paths.filter_map(|path| source.read(&path)).collect();
    governors.sort();
    governors.dedup();
    governors
}

/// Whether instructions can be counted, as far as files show, or why not.
pub(crate) fn perf_counters(source: &Source) -> Result<(), String> {
    let Some(paranoid) = source.read("proc/sys/kernel/perf_event_paranoid") else {
        return Err("the kernel has no perf events".to_owned());
    };
    let devices = source.names("sys/bus/event_source/devices");
    if !devices
        .iter()
        .any(|device| device.starts_with("cpu") || device.starts_with("armv"))
    {
        return Err("no counters of the processor; virtual machines often have none".to_owned());
    }
    match paranoid.parse::<i32>() {
        Ok(level) if level > PARANOID_MAX => {
            Err(format!("kernel.perf_event_paranoid is {level}, above {PARANOID_MAX}"))
        }
        Ok(_) => Ok(()),
        Err(_) => Err(format!("kernel.perf_event_paranoid is {paranoid:?}")),
    }
}

/// Whether the machine runs under a hypervisor.
pub(crate) fn has_virtual_processors(source: &Source) -> bool {
    let text = source.read("proc/cpuinfo").unwrap_or_default();
    source.has("sys/hypervisor/type") || Processor::parse(&text).flags.contains("hypervisor")
}

fn virtualisation(source: &Source) -> String {
    let name = [
        "sys/hypervisor/type",
        "sys/class/dmi/id/product_name",
        "sys/class/dmi/id/sys_vendor",
    ];
    let machine = match has_virtual_processors(source) {
        true => match name.into_iter().find_map(|path| source.read(path)) {
            Some(name) => format!("virtual machine ({name})"),
            None => "virtual machine".to_owned(),
        },
        false => "none seen".to_owned(),
    };
    let is_contained = source.has(".dockerenv") || source.has("run/.containerenv");
    machine + if is_contained { ", in a container" } else { "" }
}

/// The load of the last minute.
pub(crate) fn load(source: &Source) -> Option<f64> {
    source.read("proc/loadavg")?.split_whitespace().next()?.parse().ok()
}

/// The word in brackets: `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word.to_owned())
}

impl HostFacts {
    fn add(&mut self, name: &str, value: Option<String>) {
        self.facts.extend(
            value
                .filter(|value| !value.is_empty())
                .map(|value| (name.to_owned(), value)),
        );
    }

    fn warn(&mut self, warning: &str) {
        self.warnings.push(warning.to_owned());
    }
}

/// Other work of half a processor is visible in elapsed time.
pub(crate) const LOAD_MAX: f64 = 0.5;
/// Above 2 a process must not count even its own instructions in user mode (perf_event_open(2), and
/// Debian's 3).
const PARANOID_MAX: i32 = 2;

#[cfg(test)]
mod tests;
