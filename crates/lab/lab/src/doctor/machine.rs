//! Checks of the machine.

use std::path::Path;

use selenite_doctor::Check;
use selenite_doctor::files::free_disk;

use crate::cache::{CacheError, PageCache};
use crate::host::{CpuTimes, LOAD_MAX, Processor, Source, governors, load, perf_counters};

/// Checks the machine, and `folder`, in which `bytes` will be needed.
#[must_use]
pub fn machine(source: &Source, folder: &Path, bytes: u64) -> Vec<Check> {
    vec![
        aes(source),
        governor(source),
        smt(source),
        steal(source),
        busy(source),
        counters(source),
        pressure(source),
        clock(source),
        fincore(&PageCache::default()),
        free_disk(folder, bytes),
    ]
}

fn aes(source: &Source) -> Check {
    let name = "AES instructions";
    let processor = Processor::parse(&source.read("proc/cpuinfo").unwrap_or_default());
    if processor.has_aes() {
        return Check::ok(name, processor.cipher_flags().join(" "));
    }
    Check::advice(
        name,
        "none seen",
        "results apply to such machines only; a virtual machine may hide them",
    )
}

fn governor(source: &Source) -> Check {
    let name = "frequency governor";
    match governors(source) {
        governors if governors.is_empty() => Check::ok(name, "none here; the host decides"),
        governors if governors == ["performance"] => Check::ok(name, "performance"),
        governors => Check::advice(
            name,
            governors.join(", "),
            "cpupower frequency-set --governor performance",
        ),
    }
}

fn smt(source: &Source) -> Check {
    let name = "threads that share cores";
    match source.read("sys/devices/system/cpu/smt/active").as_deref() {
        Some("1") => Check::advice(
            name,
            "on",
            "for the least noise: echo off > /sys/devices/system/cpu/smt/control",
        ),
        Some(_) => Check::ok(name, "off"),
        None => Check::ok(name, "unknown"),
    }
}

fn steal(source: &Source) -> Check {
    let name = "time given to other machines";
    let Some(times) = source.read("proc/stat").and_then(|text| CpuTimes::parse(&text)) else {
        return Check::advice(name, "unknown", "/proc/stat can't be read");
    };
    let finding = format!("{} of {} ticks since the start", times.steal, times.total());
    if times.steal > times.total() / STEAL_ONE_IN {
        let advice = "elapsed times will be less precise: use a machine with dedicated processors";
        return Check::advice(name, finding, advice);
    }
    Check::ok(name, finding)
}

fn busy(source: &Source) -> Check {
    let name = "load";
    match load(source) {
        Some(load) if load > LOAD_MAX => Check::advice(name, format!("{load:.2}"), "stop other programs"),
        Some(load) => Check::ok(name, format!("{load:.2}")),
        None => Check::ok(name, "unknown"),
    }
}

fn counters(source: &Source) -> Check {
    let name = "performance counters";
    match perf_counters(source) {
        Ok(()) => Check::ok(name, "available"),
        Err(why) => Check::advice(
            name,
            why,
            "CPU time stands in for instructions; small effects need more sessions",
        ),
    }
}

fn pressure(source: &Source) -> Check {
    let name = "pressure (PSI)";
    if source.read("proc/pressure/cpu").is_some() {
        return Check::ok(name, "available");
    }
    Check::advice(name, "not available", "boot with psi=1, to see when tasks had to wait")
}

fn clock(source: &Source) -> Check {
    let name = "clock source";
    match source.read("sys/devices/system/clocksource/clocksource0/current_clocksource") {
        Some(clock) if SLOW_CLOCKS.contains(&clock.as_str()) => Check::advice(
            name,
            clock,
            "reading the clock is slow: latencies of short operations will be too long",
        ),
        Some(clock) => Check::ok(name, clock),
        None => Check::ok(name, "unknown"),
    }
}

fn fincore(cache: &PageCache) -> Check {
    let name = "fincore";
    // Any existing file is suitable.
    let program = std::env::current_exe().unwrap_or_default();
    match cache.residence(&program) {
        Ok(_) => Check::ok(name, "proves what is in the page cache"),
        Err(error @ (CacheError::NoFincore | CacheError::Fincore { .. })) => {
            Check::problem(name, error.to_string(), error.advice())
        }
        Err(error @ (CacheError::NotEvicted { .. } | CacheError::Io { .. })) => {
            Check::advice(name, error.to_string(), error.advice())
        }
    }
}

/// 1 %: more steal changes elapsed times by as much as the effects to be measured.
const STEAL_ONE_IN: u64 = 100;
/// Clock sources that are read by a system call, or over a slow bus.
const SLOW_CLOCKS: [&str; 4] = ["acpi_pm", "hpet", "jiffies", "refined-jiffies"];
