//! Runs a workload once, then checks the disk after every possible crash.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::content::{to_u64, to_usize};
use crate::crash_point::{Damage, Density, enumerate};
use crate::random::{Random, seed_of};
use crate::replay::ReplayedCrashes;
use crate::{CrashPoint, Disk, Image, Namespace, Operation, Replay};

/// A workload and the condition that must hold after a crash.
pub struct Scenario<'a> {
    name: &'a str,
    origin: Image,
    namespace: Namespace,
    density: Density,
    damage: Option<Damage>,
    point_count: usize,
    prepare: &'a (dyn Fn(&Disk) + Sync),
    check: &'a (dyn Fn(u64) -> Result<(), String> + Sync),
}

/// The run of a workload whose crashes are simulated.
pub struct Run {
    disk: Arc<Disk>,
    acknowledged: RefCell<Vec<(usize, u64)>>,
}

/// The results of a scenario.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The name of the scenario.
    pub name: String,
    /// The number of operations in the log.
    pub operations: usize,
    /// The number of distinct crash images checked.
    pub points: usize,
    /// The failures found.
    pub failures: Vec<String>,
    /// The number of points that were to be checked, and that of the scenario.
    wanted: (usize, usize),
}

impl<'a> Scenario<'a> {
    /// `check` is called on every crash image with the number of commits acknowledged before the crash.
    #[must_use]
    pub fn new(name: &'a str, check: &'a (dyn Fn(u64) -> Result<(), String> + Sync)) -> Self {
        Self {
            name,
            origin: Image::default(),
            namespace: Namespace::AtFolderSync,
            density: Density::USUAL,
            damage: None,
            point_count: 2000,
            prepare: &|_| (),
            check,
        }
    }

    /// Starts from a disk with the files of an image.
    #[must_use]
    pub fn from(mut self, origin: Image) -> Self {
        self.origin = origin;
        self
    }

    /// Makes names durable as soon as they are created.
    #[must_use]
    pub fn with_names_at_once(mut self) -> Self {
        self.namespace = Namespace::AtOnce;
        self
    }

    /// Sets the number of tears.
    #[must_use]
    pub fn with_density(mut self, density: Density) -> Self {
        self.density = density;
        self
    }

    /// Also damages sectors.
    #[must_use]
    pub fn with_damage(mut self, damage: Damage) -> Self {
        self.damage = Some(damage);
        self
    }

    /// Checks about `count` points, unless `SELENITE_CRASH_POINTS` overrides it.
    #[must_use]
    pub fn with_points(mut self, count: usize) -> Self {
        self.point_count = count;
        self
    }

    /// Calls `prepare` on every disk first, to plant a bug.
    #[must_use]
    pub fn with_disk(mut self, prepare: &'a (dyn Fn(&Disk) + Sync)) -> Self {
        self.prepare = prepare;
        self
    }
}

impl Run {
    /// Records that the first `count` commits were acknowledged.
    pub fn acknowledge(&self, count: u64) {
        self.acknowledged.borrow_mut().push((self.disk.position(), count));
    }

    /// Records the same for an earlier time: when `position` operations had been done ([`Disk::position`]).
    pub fn acknowledge_at(&self, position: usize, count: u64) {
        self.acknowledged.borrow_mut().push((position, count));
    }

    /// The disk of the run.
    #[must_use]
    pub fn disk(&self) -> &Arc<Disk> {
        &self.disk
    }
}

/// Runs `drive`, then checks the crash images of its log.
///
/// # Panics
/// If `drive` fails.
pub fn run(scenario: &Scenario<'_>, drive: impl FnOnce(&Run) -> rusqlite::Result<()>) -> Summary {
    crate::sim::install();
    let started = Instant::now();
    let seed = Random::seed_or(DEFAULT_SEED);
    let disk = Disk::of_image(&scenario.origin);
    (scenario.prepare)(&disk);
    let run = Run {
        disk: disk.clone(),
        acknowledged: RefCell::default(),
    };
    {
        let _disk_guard = disk.enter();
        let driven = drive(&run);
        assert!(
            driven.is_ok(),
            "{}: the workload itself, after {} operations: {driven:?}; selenite says {:?}",
            scenario.name,
            disk.position(),
            crate::opening::last_error()
        );
    }
    let job = Job {
        scenario,
        log: disk.log(),
        disk,
        acknowledged: run.acknowledged.into_inner(),
        seen: Mutex::default(),
        failures: Mutex::default(),
    };
    let wanted = std::env::var("SELENITE_CRASH_POINTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(scenario.point_count);
    let points = job.points(seed, wanted);
    let checked = job.check_all(&points);
    let summary = Summary {
        name: scenario.name.to_owned(),
        operations: job.log.len(),
        points: checked,
        failures: job.failures.into_inner().unwrap_or_else(PoisonError::into_inner),
        wanted: (wanted, scenario.point_count),
    };
    println!(
        "{}: {} operations, {} crash points, seed {seed}, {} ms, {} failures",
        summary.name,
        summary.operations,
        summary.points,
        started.elapsed().as_millis(),
        summary.failures.len(),
    );
    summary
}

impl Summary {
    /// Asserts that all crash images passed, and that enough were checked ([`Self::assert_points`]).
    ///
    /// # Panics
    /// If either does not hold.
    pub fn assert_sound(&self, points: usize) {
        assert!(
            self.failures.is_empty(),
            "{}: {} crash images are not sound, of which:\n{}",
            self.name,
            self.failures.len(),
            self.failures[..self.failures.len().min(5)].join("\n")
        );
        self.assert_points(points);
    }

    /// Asserts that at least `points` were checked: a proportional number if `SELENITE_CRASH_POINTS` asks for fewer
    /// points than the scenario has.
    ///
    /// # Panics
    /// If it does not hold.
    pub fn assert_points(&self, points: usize) {
        let (wanted, usual) = self.wanted;
        let enough = points * wanted.min(usual) / usual;
        assert!(
            self.points >= enough,
            "{}: only {} crash points, not {enough}",
            self.name,
            self.points
        );
    }
}

struct Job<'a> {
    scenario: &'a Scenario<'a>,
    disk: Arc<Disk>,
    log: Vec<Operation>,
    acknowledged: Vec<(usize, u64)>,
    seen: Mutex<ReplayedCrashes>,
    failures: Mutex<Vec<String>>,
}

impl Job<'_> {
    /// About `wanted` points to check, in log order.
    fn points(&self, seed: u64, wanted: usize) -> Vec<CrashPoint> {
        let each = to_u64(wanted.div_ceil(self.log.len().max(1)));
        let density = Density {
            cuts: self.scenario.density.cuts.max(each / 2),
            subsets: self.scenario.density.subsets.max(each / 4),
        };
        let mut points = enumerate(&self.log, density, self.scenario.damage, seed);
        let mut random = Random::new(seed_of(&[seed, to_u64(self.log.len())]));
        while points.len() > wanted {
            let drop = to_usize(random.below(to_u64(points.len())));
            points.swap_remove(drop);
        }
        points.sort_by_key(|point| point.position);
        points
    }

    fn check_all(&self, points: &[CrashPoint]) -> usize {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREAD_COUNT)
                .map(|thread| scope.spawn(move || self.check_some(points.iter().skip(thread).step_by(THREAD_COUNT))))
                .collect();
            let counts = threads
                .into_iter()
                .map(|thread| thread.join().expect("checks do not panic"));
            counts.sum()
        })
    }

    fn check_some<'p>(&self, points: impl Iterator<Item = &'p CrashPoint>) -> usize {
        let mut replay = Replay::new(&self.disk, &self.log, self.scenario.namespace);
        let mut checked = 0;
        for point in points {
            replay.advance(point.position);
            let (image, number) = replay.image(point.tear);
            let acknowledged = self.acknowledged_at(point.position);
            let is_new = {
                let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.insert(number, acknowledged)
            };
            if !is_new {
                continue;
            }
            checked += 1;
            if let Err(problem) = self.check_one(&image, acknowledged) {
                self.note_failure(point, acknowledged, &problem);
            }
        }
        checked
    }

    fn check_one(&self, image: &Image, acknowledged: u64) -> Result<(), String> {
        let disk = Disk::of_image(image);
        (self.scenario.prepare)(&disk);
        let _disk_guard = disk.enter();
        (self.scenario.check)(acknowledged)
    }

    fn note_failure(&self, point: &CrashPoint, acknowledged: u64, problem: &str) {
        let text = format!(
            "operation {} ({}), {:?}, {acknowledged} commits acknowledged: {problem}",
            point.position,
            self.log[point.position - 1].describe(),
            point.tear,
        );
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.push(text);
    }

    fn acknowledged_at(&self, position: usize) -> u64 {
        let before = self.acknowledged.iter().filter(|(at, _)| *at <= position);
        before.map(|(_, count)| *count).max().unwrap_or(0)
    }
}

const DEFAULT_SEED: u64 = 20_260_321;
/// The machines that run the tests have two cores.
const THREAD_COUNT: usize = 2;
