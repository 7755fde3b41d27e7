//! The arms, cells and machine of a synthetic study, with their true effects.

use selenite_lab::summary::*;

pub struct Cell {
    pub name: &'static str,
    pub label: &'static str,
    pub work: &'static str,
    pub cache: &'static str,
    pub mix: Option<[u8; 3]>,
    pub unit: &'static str,
    pub gating: bool,
    pub cpu_ns: f64,
    pub wait_ns: f64,
    pub pages: f64,
    pub write_pages: f64,
    pub operations: f64,
}

pub const CELLS: [Cell; 6] = [
    Cell {
        name: "like-cold",
        label: "LIKE, cold",
        work: "like",
        cache: "cold",
        mix: None,
        unit: "statement",
        gating: true,
        cpu_ns: 38e6,
        wait_ns: 61e6,
        pages: 7168.0,
        write_pages: 0.0,
        operations: 1.0,
    },
    Cell {
        name: "eq-cold",
        label: "equality, cold",
        work: "equal",
        cache: "cold",
        mix: None,
        unit: "statement",
        gating: true,
        cpu_ns: 12e6,
        wait_ns: 60e6,
        pages: 7168.0,
        write_pages: 0.0,
        operations: 1.0,
    },
    Cell {
        name: "eq-page",
        label: "equality, in SQLite's cache",
        work: "equal",
        cache: "page",
        mix: None,
        unit: "statement",
        gating: true,
        cpu_ns: 9e6,
        wait_ns: 0.2e6,
        pages: 0.0,
        write_pages: 0.0,
        operations: 1.0,
    },
    Cell {
        name: "hummer-10-0-0",
        label: "cards 10/0/0",
        work: "hummer",
        cache: "os",
        mix: Some([10, 0, 0]),
        unit: "loop",
        gating: true,
        cpu_ns: 900e6,
        wait_ns: 40e6,
        pages: 31_000.0,
        write_pages: 0.0,
        operations: 20_000.0,
    },
    Cell {
        name: "hummer-4-3-3",
        label: "cards 4/3/3",
        work: "hummer",
        cache: "os",
        mix: Some([4, 3, 3]),
        unit: "loop",
        gating: false,
        cpu_ns: 1400e6,
        wait_ns: 800e6,
        pages: 22_000.0,
        write_pages: 14_000.0,
        operations: 20_000.0,
    },
    Cell {
        name: "hummer-0-5-5",
        label: "cards 0/5/5",
        work: "hummer",
        cache: "os",
        mix: Some([0, 5, 5]),
        unit: "loop",
        gating: false,
        cpu_ns: 1700e6,
        wait_ns: 1200e6,
        pages: 18_000.0,
        write_pages: 23_000.0,
        operations: 20_000.0,
    },
];

pub const LIMITS: [&str; 4] = [
    "Databases larger than memory, other page sizes, and more than one process at a time.",
    "Disks slower or faster than this one: waiting hides a cipher, and shows it in nothing but CPU time.",
    "Instructions could not be counted on this machine: CPU time stands in for them.",
    "Machines without AES instructions.",
];

pub fn control(arm: &str) -> &'static str {
    if arm == "sqlcipher" { "sqlcipher-plain" } else { "plain" }
}

pub fn extra(cell: &Cell, arm: &str) -> f64 {
    let (read, write) = match arm {
        "AES_256" => (1400.0, 1900.0),
        "AEGIS_256" => (110.0, 420.0),
        "sqlcipher" => (9700.0, 12_800.0),
        _ => (0.0, 0.0),
    };
    let reserved = if arm == "sqlcipher" { 0.026 } else { 0.0 };
    cell.pages * read + cell.write_pages * write + cell.cpu_ns * reserved
}

pub fn truth(cell: &Cell, arm: &str, metric: Metric) -> f64 {
    let extra = extra(cell, arm);
    match metric {
        Metric::Cpu => (extra / cell.cpu_ns).ln_1p(),
        Metric::Elapsed => (0.8 * extra / (cell.cpu_ns + cell.wait_ns)).ln_1p(),
        Metric::Checkpoint => (0.5 * extra / (cell.cpu_ns + cell.wait_ns)).ln_1p(),
        Metric::Instructions
        | Metric::ReadChars
        | Metric::WriteChars
        | Metric::ReadCalls
        | Metric::WriteCalls
        | Metric::ReadBytes
        | Metric::WriteBytes
        | Metric::Switches
        | Metric::Faults
        | Metric::DatabaseBytes
        | Metric::WalBytes
        | Metric::PeakMemory
        | Metric::ArchiveBytes
        | Metric::Slowdown
        | Metric::Aftermath
        | Metric::TailSlowdown => 0.0,
    }
}

pub fn plain(name: &str, role: ArmRole, control: Option<&str>) -> ArmFacts {
    ArmFacts {
        name: name.into(),
        label: format!("SQLite in clear ({name})"),
        control: control.map(str::to_owned),
        role,
        cipher: "plain".into(),
        library: "SQLite 3.51.1".into(),
        sqlite_version: "3.51.1".into(),
        proof: Vec::new(),
        bytes: 29_360_128,
        pages: 7168,
        pool: None,
        none: None,
        limits: Vec::new(),
        program_sha256: None,
    }
}

pub fn encrypted(name: &str) -> ArmFacts {
    let ours = name != "sqlcipher";
    let proof = [
        ("marker text", "not in the file, its WAL or its journal"),
        ("without the key", "refused"),
        ("bytes", "entropy of 7.99 bits a byte"),
        (
            "the engine says",
            if ours {
                "authenticated pages"
            } else {
                "cipher_status = 1, HMAC-SHA512"
            },
        ),
    ];
    ArmFacts {
        name: name.into(),
        label: if ours {
            format!("Selenite {name}, page pool of 64.0 MiB")
        } else {
            "SQLCipher 4.10 AES-256-CBC".into()
        },
        control: Some(control(name).into()),
        role: ArmRole::Encrypted,
        cipher: if ours { name.into() } else { "aes256cbc".into() },
        library: if ours {
            "selenite 0.1.0".into()
        } else {
            "SQLCipher 4.10.0".into()
        },
        sqlite_version: "3.51.1".into(),
        proof: proof.map(|(what, found)| (what.to_owned(), found.to_owned())).into(),
        bytes: if ours { 29_593_600 } else { 30_146_560 },
        pages: if ours { 7168 } else { 7360 },
        pool: ours.then_some(64 << 20),
        none: ours.then(|| "NONE".to_owned()),
        limits: Vec::new(),
        program_sha256: None,
    }
}

pub fn latencies(arms: &[&str], mix: [u8; 3]) -> Vec<LatencyCurve> {
    let operations = [
        ("read", mix[0], 24e3),
        ("update", mix[1], 61e3),
        ("insert", mix[2], 70e3),
    ];
    let mut curves = Vec::new();
    for (operation, share, median) in operations.into_iter().filter(|(_, share, _)| *share > 0) {
        for arm in arms {
            let more = match *arm {
                "AES_256" => 1.09,
                "AEGIS_256" => 1.03,
                "sqlcipher" => 1.5,
                _ => 1.0,
            };
            let point = |percentile: f64| {
                let tail = (1.0 - percentile / 100.0).max(2e-5);
                let stall = if tail < 0.004 { (0.004 / tail).powf(0.6) } else { 1.0 };
                let ns = median * more * (0.5 / tail).powf(0.22) * stall;
                (percentile, format!("{ns:.0}").parse().expect("a time is a number"))
            };
            let points = [1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99, 100.0]
                .map(point)
                .into();
            curves.push(LatencyCurve {
                arm: (*arm).into(),
                operation: operation.into(),
                count: u64::from(share) * 128_000,
                points,
            });
        }
    }
    curves
}

pub fn host() -> HostFacts {
    let facts = [
        ("processor", "AMD EPYC 9R14, 2 cores"),
        ("AES instructions", "yes (aes, vaes, pclmulqdq)"),
        ("memory", "24 GiB"),
        ("kernel", "Linux 6.18.44"),
        ("file system", "ext4 on virtio"),
    ];
    HostFacts {
        facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        warnings: vec!["This is a virtual machine: others may take its time (steal).".into()],
    }
}
