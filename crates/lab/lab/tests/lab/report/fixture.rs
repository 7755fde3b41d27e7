//! A synthetic study: drawn from a seed, with the noise of a busy machine.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use selenite_lab::analysis::pool;
use selenite_lab::analysis::session_interval::SessionInterval;
use selenite_lab::summary::*;
use selenite_stats::{Options, estimate};

use super::scene::{CELLS, Cell, LIMITS, control, encrypted, extra, host, latencies, plain, truth};

/// The parameters of a synthetic study.
pub struct Fixture {
    pub seed: u64,
    pub sessions: u32,
    pub pairs: u32,
    pub arms: Vec<&'static str>,
    pub cells: usize,
    pub state: StudyState,
}

impl Fixture {
    /// All arms, all cells, eight sessions of eight pairs.
    pub fn whole() -> Self {
        let arms = vec!["AES_256", "AEGIS_256", "sqlcipher"];
        Self {
            seed: 20_261_121,
            sessions: 8,
            pairs: 8,
            arms,
            cells: 6,
            state: StudyState::Complete,
        }
    }

    /// One arm, one cell, two sessions, not ended.
    pub fn tiny() -> Self {
        Self {
            seed: 7,
            sessions: 2,
            pairs: 2,
            arms: vec!["AES_256"],
            cells: 1,
            state: StudyState::Unfinished,
        }
    }

    pub fn summary(&self) -> Summary {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut arms = vec![
            plain("plain", ArmRole::Plain, None),
            plain("plain2", ArmRole::Floor, Some("plain")),
        ];
        arms.extend(self.arms.iter().map(|arm| encrypted(arm)));
        if self.arms.contains(&"sqlcipher") {
            arms.insert(
                arms.len() - 1,
                ArmFacts {
                    library: "SQLCipher 4.10.0".into(),
                    ..plain("sqlcipher-plain", ArmRole::Plain, None)
                },
            );
        }
        let cells: Vec<CellSummary> = CELLS[..self.cells]
            .iter()
            .map(|cell| self.cell(cell, &mut random))
            .collect();
        let overall = |chosen: fn(&CellSummary) -> bool| -> Vec<Overall> {
            let arms = self.arms.iter();
            arms.filter_map(|arm| {
                pool::overall(
                    cells.iter().filter(|cell| chosen(cell)),
                    arm,
                    Metric::Cpu,
                    SessionInterval::T,
                )
            })
            .collect()
        };
        Summary {
            schema: SUMMARY_SCHEMA,
            study: self.study(),
            host: host(),
            arms,
            overall: overall(|cell| cell.gating),
            mixes: if self.cells > 3 {
                overall(|cell| cell.mix.is_some())
            } else {
                Vec::new()
            },
            cells,
            evidence: self.evidence(&mut random),
            published: None,
            events: vec![
                Event {
                    at_s: 1.2,
                    text: "twins made and proved".into(),
                },
                Event {
                    at_s: 810.0,
                    text: "block 412 void: swapped in 212 pages".into(),
                },
            ],
            limits: LIMITS.iter().map(|limit| (*limit).to_owned()).collect(),
        }
    }

    fn study(&self) -> StudyFacts {
        StudyFacts {
            name: "scan-like-eq".into(),
            title: "Reading every page, and a loop of cards: cold and warm".into(),
            config: "[study]\nname = \"scan-like-eq\"\nseed = 20261121\nlimit = \"3%\"\n\n[arms.AES_256]\nengine = \"selenite\"\n".into(),
            config_sha256: "5f0c6d6d1f0a1d0b7a7b1f2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d3e4f506".into(),
            seed: self.seed,
            lab_version: "0.1.0".into(),
            commit: "fe95298".into(),
            command: "selenite lab run scan-like-eq.toml".into(),
            created_s: 1_795_260_000,
            busy_s: f64::from(self.sessions) * 412.0,
            session_s: Some(430.0),
            sessions: self.sessions,
            planned_sessions: self.sessions,
            extensions: vec![],
            state: self.state,
            limit: 0.03,
            target_half_width: 0.01,
        }
    }

    fn cell(&self, cell: &Cell, random: &mut ChaCha8Rng) -> CellSummary {
        let names: Vec<&str> = ["plain2"].into_iter().chain(self.arms.iter().copied()).collect();
        let mut pairs = Vec::new();
        let mut effects = Vec::new();
        for metric in [
            Metric::Cpu,
            Metric::Elapsed,
            Metric::Switches,
            Metric::Faults,
            Metric::Checkpoint,
        ] {
            let floor = self.effect(cell, "plain2", metric, None, random, &mut pairs);
            let ends = floor.interval;
            effects.push(floor);
            for arm in &names[1..] {
                effects.push(self.effect(cell, arm, metric, ends, random, &mut pairs));
            }
        }
        if cell.write_pages == 0.0 {
            effects.retain(|effect| effect.metric != Metric::Checkpoint);
        }
        let mut all = vec!["plain"];
        all.extend(&names);
        if self.arms.contains(&"sqlcipher") {
            all.push("sqlcipher-plain");
        }
        CellSummary {
            name: cell.name.into(),
            label: cell.label.into(),
            work: cell.work.into(),
            cache: cell.cache.into(),
            mix: cell.mix,
            unit: cell.unit.into(),
            gating: cell.gating,
            warm_up: WarmUp {
                pairs: if cell.cache == "cold" { 0 } else { 3 },
                unsteady: 0,
            },
            levels: all
                .iter()
                .map(|arm| ((*arm).to_owned(), self.level(cell, arm)))
                .collect(),
            effects,
            phases: std::collections::BTreeMap::new(),
            latencies: cell.mix.map(|mix| latencies(&all, mix)).unwrap_or_default(),
            pairs,
        }
    }

    fn level(&self, cell: &Cell, arm: &str) -> Level {
        let cpu = cell.cpu_ns + extra(cell, arm);
        let pages = cell.pages + cell.write_pages;
        let mut metrics = std::collections::BTreeMap::from([
            (Metric::Cpu, cpu),
            (Metric::Elapsed, cpu + cell.wait_ns),
            (Metric::ReadBytes, cell.pages * 4096.0),
            (Metric::WriteBytes, cell.write_pages * 4096.0),
            (Metric::Switches, 40.0 + cell.write_pages / 10.0),
            (Metric::Faults, 120.0 + cell.pages / 50.0),
            (Metric::WriteChars, cell.write_pages * 4120.0),
            (Metric::DatabaseBytes, 29_360_128.0),
            (Metric::WalBytes, cell.write_pages * 4120.0),
            (Metric::PeakMemory, 12.0 * 1_048_576.0),
        ]);
        if cell.write_pages > 0.0 {
            metrics.insert(Metric::Checkpoint, (cpu + cell.wait_ns) * 0.18);
        }
        Level {
            blocks: self.sessions * self.pairs,
            metrics,
            pages,
            operations: cell.operations,
        }
    }

    fn effect(
        &self,
        cell: &Cell,
        arm: &str,
        metric: Metric,
        floor: Option<(f64, f64)>,
        random: &mut ChaCha8Rng,
        points: &mut Vec<PairPoint>,
    ) -> Effect {
        let truth = truth(cell, arm, metric);
        let (instance, noise) = match metric {
            Metric::Cpu => (0.004, 0.012),
            Metric::Instructions
            | Metric::ReadChars
            | Metric::WriteChars
            | Metric::ReadCalls
            | Metric::WriteCalls
            | Metric::ReadBytes
            | Metric::WriteBytes
            | Metric::Elapsed
            | Metric::Checkpoint
            | Metric::Switches
            | Metric::Faults
            | Metric::DatabaseBytes
            | Metric::WalBytes
            | Metric::PeakMemory
            | Metric::ArchiveBytes
            | Metric::Slowdown
            | Metric::Aftermath
            | Metric::TailSlowdown => (0.012, 0.06),
        };
        let mut by_session = Vec::new();
        let mut outliers = 0;
        for session in 1..=self.sessions {
            let bias = normal(random) * instance;
            let mut values = Vec::new();
            for pair in 1..=self.pairs {
                let spike = if random.random_bool(0.015) {
                    random.random_range(0.05..0.3)
                } else {
                    0.0
                };
                outliers += u32::from(spike > 0.0);
                let value =
                    truth + bias + normal(random) * noise + spike * if metric == Metric::Cpu { 0.3 } else { 1.0 };
                values.push(value);
                let at_s = f64::from(session - 1) * 430.0 + f64::from(pair - 1) * 50.0 + random.random_range(0.0..45.0);
                let known = points
                    .iter_mut()
                    .find(|point| point.arm == arm && (point.session, point.pair) == (session, pair));
                match (metric, known) {
                    (Metric::Cpu, None) => points.push(PairPoint {
                        arm: arm.to_owned(),
                        at_s,
                        session,
                        pair,
                        cpu: value.exp_m1(),
                        elapsed: 0.0,
                    }),
                    (Metric::Elapsed, Some(point)) => point.elapsed = value.exp_m1(),
                    _ => {}
                }
            }
            by_session.push((session, hodges_lehmann(&values).exp_m1()));
        }
        self.estimate(cell, arm, metric, floor, by_session, outliers)
    }

    fn estimate(
        &self,
        cell: &Cell,
        arm: &str,
        metric: Metric,
        floor: Option<(f64, f64)>,
        by_session: Vec<(u32, f64)>,
        outliers: u32,
    ) -> Effect {
        let logs: Vec<f64> = by_session.iter().map(|(_, ratio)| ratio.ln_1p()).collect();
        let options = Options {
            replicates: 0,
            ..Options::default()
        };
        let sessions: Vec<Vec<f64>> = logs.iter().map(|log| vec![*log]).collect();
        let mean = estimate(&sessions, &options).expect("every session has an estimate");
        let ends = mean.t.expect("there are two sessions or more");
        let interval = (ends.low.exp_m1(), ends.high.exp_m1());
        let ratio = mean.center.exp_m1();
        let base = self
            .level(cell, control(arm))
            .metrics
            .get(&metric)
            .copied()
            .unwrap_or(0.0);
        let pages = cell.pages + cell.write_pages;
        let each = |count: f64| {
            let timed = matches!(metric, Metric::Cpu | Metric::Elapsed) && count > 0.0;
            timed.then(|| {
                (
                    ratio * base / count,
                    interval.0 * base / count,
                    interval.1 * base / count,
                )
            })
        };
        let limit = 0.03f64;
        Effect {
            arm: arm.to_owned(),
            control: control(arm).to_owned(),
            metric,
            ratio,
            interval: Some(interval),
            bootstrap: Some((interval.0 * 0.98, interval.1 * 0.99)),
            floor,
            difference: ratio * base,
            per_page_ns: each(pages),
            per_operation_ns: each(cell.operations),
            by_session,
            p_limit: mean.p_value(limit.ln_1p()),
            sessions: self.sessions,
            pairs: self.sessions * self.pairs,
            outliers,
            verdict: match interval {
                _ if self.sessions < 5 => Verdict::NotResolved {
                    minutes_more: Some(38.0),
                },
                (low, _) if low > limit => Verdict::Above,
                (_, high) if high < limit => Verdict::Within {
                    inside_floor: floor.is_some_and(|ends| ratio > ends.0 && ratio < ends.1),
                },
                _ => Verdict::NotResolved {
                    minutes_more: Some(18.0),
                },
            },
            against_none: arm.starts_with('A').then(|| AgainstNone {
                control: "NONE".to_owned(),
                ratio: ratio * 0.5,
                interval: Some((interval.0 * 0.5, interval.1 * 0.5)),
                sessions: self.sessions,
                pairs: self.sessions * self.pairs,
            }),
        }
    }

    fn evidence(&self, random: &mut ChaCha8Rng) -> Evidence {
        let mut steal = 0.02f64;
        let count = self.sessions * 60;
        let samples = (0..count).map(|index| {
            steal = (steal * 0.9 + 0.003 + normal(random).abs() * 0.004).clamp(0.0, 0.6);
            let busy = if index % 97 < 9 { 0.4 } else { 0.08 };
            HostSample {
                at_s: f64::from(index) * 7.1,
                steal: Some(steal),
                others: Some((busy + normal(random) * 0.03).clamp(0.0, 1.0)),
                cpu_pressure: Some((busy * 0.5 + normal(random) * 0.02).clamp(0.0, 1.0)),
                io_pressure: Some((0.05 + normal(random) * 0.02).clamp(0.0, 1.0)),
                mhz: (index % 50 != 0).then(|| 3194.0 + normal(random) * 30.0),
            }
        });
        Evidence {
            sessions: vec![],
            samples: samples.collect(),
            blocks: self.sessions * self.pairs * 6 * 6 - 5,
            void: [
                ("swapped in".to_owned(), 1),
                ("cold not proved: 1.8 % of the file was in memory".to_owned(), 4),
            ]
            .into(),
        }
    }
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

fn hodges_lehmann(values: &[f64]) -> f64 {
    let mut sums: Vec<f64> = (0..values.len())
        .flat_map(|a| (a..values.len()).map(move |b| (a, b)))
        .map(|(a, b)| (values[a] + values[b]) / 2.0)
        .collect();
    sums.sort_by(f64::total_cmp);
    let middle = sums.len() / 2;
    if sums.len() % 2 == 1 {
        sums[middle]
    } else {
        (sums[middle - 1] + sums[middle]) / 2.0
    }
}
