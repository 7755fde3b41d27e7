//! Synthetic blocks with known costs.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use selenite_lab::analysis::Material;
use selenite_lab::config::Config;
use selenite_lab::store::{ArmRow, BlockRow, CellRow, SessionRow, StudyRow};
use selenite_lab::summary::{ArmFacts, ArmRole, HostFacts, HostSample, StudyState};
use selenite_worker::protocol::Sample;

/// Two cells and an encrypted arm that takes 6 % more CPU time: 600 ns for each of 10,000 pages in 100 ms.
pub fn material(sessions: u32, pairs: u32, seed: u64) -> Material {
    println!("seed {seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let config = Config::parse(CONFIG).expect("the configuration makes sense");
    let arms: Vec<ArmRow> = [
        ("plain", ArmRole::Plain),
        ("plain2", ArmRole::Floor),
        ("AES_256", ArmRole::Encrypted),
    ]
    .into_iter()
    .zip(0..)
    .map(|((name, role), id)| ArmRow {
        id,
        facts: facts(name, role),
        masters: BTreeMap::new(),
    })
    .collect();
    let cells: Vec<CellRow> = config
        .cells
        .iter()
        .cloned()
        .zip(0..)
        .map(|(cell, id)| CellRow { id, cell })
        .collect();
    let mut blocks = Vec::new();
    for session in 1..=sessions {
        let bias: Vec<f64> = arms.iter().map(|_| noise(&mut random) * 0.002).collect();
        for pair in 0..pairs {
            for cell in &cells {
                let drift = 1.0 + 0.05 * random.random::<f64>();
                for (arm, bias) in arms.iter().zip(&bias) {
                    let more = if arm.facts.role == ArmRole::Encrypted {
                        1.06
                    } else {
                        1.0
                    };
                    let cpu = 100e6 * more * drift * (1.0 + bias + noise(&mut random) * 0.004);
                    let id = i64::try_from(blocks.len()).expect("few blocks");
                    blocks.push(block(id, (session, cell.id, pair, arm.id), cpu));
                }
            }
        }
    }
    let sessions = (1..=sessions).map(|id| SessionRow {
        id,
        created_s: 1_700_000_000 + u64::from(id) * 600,
        ended_s: Some(1_700_000_300 + u64::from(id) * 600),
        void: None,
    });
    Material {
        study: study(),
        config,
        arms,
        cells,
        sessions: sessions.collect(),
        blocks,
        histograms: vec![],
        events: vec![],
        extensions: vec![],
    }
}

pub fn block(id: i64, (session, cell, pair, arm): (u32, i64, u32, i64), cpu: f64) -> BlockRow {
    let ns = |value: f64| format!("{value:.0}").parse::<u64>().expect("a time is a number");
    let sample = Sample {
        elapsed_ns: ns(cpu * 1.5),
        cpu_ns: ns(cpu),
        pages_read: 10_000,
        operations: 4,
        faults_minor: 30,
        ..Sample::default()
    };
    let began_s = f64::from(u32::try_from(id).expect("few blocks"));
    let host = HostSample {
        at_s: began_s,
        steal: Some(0.01),
        ..HostSample::default()
    };
    BlockRow {
        id,
        seq: id,
        session,
        cell,
        pair,
        arm,
        began_s,
        sample,
        phases: None,
        host,
        void: None,
    }
}

pub fn noise(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

pub fn facts(name: &str, role: ArmRole) -> ArmFacts {
    let encrypted = role == ArmRole::Encrypted;
    ArmFacts {
        name: name.into(),
        label: name.into(),
        control: (role != ArmRole::Plain).then(|| "plain".into()),
        role,
        cipher: if encrypted { "AES_256" } else { "plain" }.into(),
        library: "x 1".into(),
        sqlite_version: "3.51.1".into(),
        proof: if encrypted {
            vec![("marker".into(), "not in the file".into())]
        } else {
            vec![]
        },
        bytes: 40_960_000,
        pages: 10_000,
        pool: None,
        none: None,
        limits: Vec::new(),
        program_sha256: None,
    }
}

pub fn study() -> StudyRow {
    StudyRow {
        name: "synthetic".into(),
        config: CONFIG.into(),
        config_sha256: "00".into(),
        seed: 3,
        lab_version: "0.1.0".into(),
        commit: String::new(),
        command: "selenite lab run synthetic.toml".into(),
        created_s: 1_700_000_000,
        host: HostFacts::default(),
        state: StudyState::Complete,
    }
}

pub const CONFIG: &str = r#"
[study]
name = "synthetic"
title = "Costs that are known"
seed = 3
sessions = 8
pairs = 8
limit = "3%"

[data]
kind = "scan"
size = "16MiB"

[arms.AES_256]
engine = "selenite"
cipher = "AES_256"

[[cells]]
name = "like-cold"
work = { kind = "like" }
cache = "cold"
gating = true

[[cells]]
name = "like-os"
work = { kind = "like" }
cache = "os"
gating = true
"#;
