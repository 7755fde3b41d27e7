//! The time that this process needs to encrypt and decrypt a page, for each suite.
//!
//! Pages are sealed and opened as in the VFS, under a temporary key, with data that is in the
//! processor's caches. So the figures are the costs of the cipher, without those of additional
//! memory traffic.
//!
//! - bounded-time: a batch is as large as fits the time budget; for a slow suite a batch is one
//!   operation.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use selenite_cipher::{
    DataKey, DatabaseId, Epoch, PAGE_SIZE_MAX, PAGE_SIZE_MIN, PageCipher, PageError, PageKeys, PageKeysParts, PageNo,
    Scan, Secret, Suite,
};

use crate::error::VfsError;
use crate::ffi::{Code, os_random};
use crate::role::Role;
use crate::session::Nonces;

/// The time of an operation on one page, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PageTime {
    /// The mean over all batches.
    pub mean: f64,
    /// Half the width of the mean's 90 % confidence interval, from the variation between batches.
    pub half_interval: f64,
    /// The median of single operations.
    pub p50: f64,
    /// The 99th percentile of single operations.
    pub p99: f64,
}

/// The costs of a suite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SuiteCosts {
    /// The suite.
    pub suite: Suite,
    /// The time to encrypt a page.
    pub seal: PageTime,
    /// The time to decrypt a page.
    pub open: PageTime,
}

/// The costs of all suites that encrypt, for pages of `page_size` bytes: measured now, or within
/// the last five minutes.
///
/// # Errors
/// If the system's random number generator fails.
pub fn costs(page_size: usize) -> Result<Arc<[SuiteCosts]>, VfsError> {
    // SQLite has pages of 512 bytes; an encrypted database has none below 1,024.
    let page_size = page_size.clamp(PAGE_SIZE_MIN, PAGE_SIZE_MAX);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    known.retain(|costs| now.saturating_duration_since(costs.measured) < AGE_MAX);
    if let Some(costs) = known.iter().find(|costs| costs.page_size == page_size) {
        return Ok(costs.suites.clone());
    }
    let wanted = Suite::ALL.into_iter().filter(|suite| *suite != Suite::None);
    let suites: Result<Arc<[SuiteCosts]>, VfsError> = wanted.map(|suite| measure(suite, page_size)).collect();
    let suites = suites?;
    known.push(KnownCosts {
        page_size,
        measured: now,
        suites: suites.clone(),
    });
    Ok(suites)
}

struct KnownCosts {
    page_size: usize,
    measured: Instant,
    suites: Arc<[SuiteCosts]>,
}

/// At most one entry for each of the seven page sizes.
static KNOWN: Mutex<Vec<KnownCosts>> = Mutex::new(Vec::new());

fn measure(suite: Suite, page_size: usize) -> Result<SuiteCosts, VfsError> {
    let mut cipher = PageCipher::new(Arc::new(throw_away_keys(suite, page_size)?));
    let mut nonces = Nonces::new()?;
    let refused = |error: PageError| VfsError::of_page(error, Role::Main, PAGE.0);
    // The last 48 bytes are zero, as in a page that is sealed.
    let plain = vec![0; page_size];
    let (mut image, mut out) = (plain.clone(), plain.clone());
    let seal = time(|| {
        let nonce = nonces.draw(suite)?;
        cipher.seal(PAGE, nonce, &plain, &mut image).map_err(refused)
    })?;
    let open = time(|| cipher.open(PAGE, &image, &mut out).map_err(refused))?;
    Ok(SuiteCosts { suite, seal, open })
}

fn throw_away_keys(suite: Suite, page_size: usize) -> Result<PageKeys, VfsError> {
    let mut filled = Ok(());
    let secret = Secret::fill(|bytes| filled = os_random(bytes));
    filled?;
    let database_id = DatabaseId([0; 16]);
    PageKeys::new(PageKeysParts {
        database_id,
        page_size,
        scan: Scan::Steady,
        epoch_max: Epoch(1),
        sealing_epoch: Epoch(1),
        data_keys: vec![DataKey::new(secret, database_id, Epoch(1), suite)],
        allow_plain: false,
        allow_deprecated: true,
    })
    .map_err(|_| VfsError::Lower(Code::ERROR))
}

/// Times an operation in batches, and then one at a time.
fn time(mut operation: impl FnMut() -> Result<(), VfsError>) -> Result<PageTime, VfsError> {
    operation()?;
    let mut run = |count: u32| {
        let start = Instant::now();
        for _ in 0..count {
            operation()?;
        }
        Ok::<_, VfsError>(start.elapsed())
    };
    let first = run(1)?.as_nanos().max(1);
    let fitting = |budget: Duration| u32::try_from(budget.as_nanos() / first).unwrap_or(u32::MAX);
    let size = fitting(BATCH).clamp(1, BATCH_SIZE_MAX);
    let mut batches = [0.0; BATCH_COUNT];
    for batch in &mut batches {
        *batch = run(size)?.as_secs_f64() / f64::from(size);
    }
    let mut singles = match fitting(SINGLES).min(SINGLE_COUNT_MAX) {
        count if count > SINGLE_COUNT_MIN => (0..count).map(|_| Ok(run(1)?.as_secs_f64())).collect(),
        // For a slow suite each batch is one operation.
        _ => Ok::<_, VfsError>(batches.to_vec()),
    }?;
    singles.sort_by(f64::total_cmp);
    let (mean, half_interval) = mean_with_interval(&batches);
    Ok(PageTime {
        mean,
        half_interval,
        p50: quantile(&singles, 50),
        p99: quantile(&singles, 99),
    })
}

/// The mean, and half the width of its 90 % confidence interval by Student's t.
fn mean_with_interval(batches: &[f64; BATCH_COUNT]) -> (f64, f64) {
    let mean = batches.iter().sum::<f64>() / COUNT;
    let squares: f64 = batches.iter().map(|batch| (batch - mean).powi(2)).sum();
    (mean, T_95 * (squares / (COUNT - 1.0)).sqrt() / COUNT.sqrt())
}

/// The value at `percent` of the sorted values.
fn quantile(sorted: &[f64], percent: usize) -> f64 {
    let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(index).copied().unwrap_or(0.0)
}

/// Any page except the first, which contains SQLite's header.
const PAGE: PageNo = PageNo(2);
const BATCH_COUNT: usize = 8;
const COUNT: f64 = 8.0;
/// The 95th percentile of Student's t with seven degrees of freedom.
const T_95: f64 = 1.895;
/// With [`SINGLES`], 2.6 ms per suite: 16 ms for the six that are not deprecated.
const BATCH: Duration = Duration::from_micros(100);
const BATCH_SIZE_MAX: u32 = 1000;
const SINGLES: Duration = Duration::from_micros(500);
const SINGLE_COUNT_MAX: u32 = 400;
const SINGLE_COUNT_MIN: u32 = 8;
/// A processor's clock frequency changes with load and temperature.
const AGE_MAX: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_that_encrypts_has_costs() {
        for page_size in [512, 4096] {
            let costs = costs(page_size).unwrap();
            assert_eq!(costs.len(), Suite::ALL.len() - 1);
            for one in &*costs {
                for time in [one.seal, one.open] {
                    assert!(time.mean > 0.0 && time.half_interval >= 0.0, "{one:?}");
                    assert!(0.0 < time.p50 && time.p50 <= time.p99, "{one:?}");
                }
            }
        }
    }

    #[test]
    fn costs_are_measured_once_in_five_minutes() {
        assert!(Arc::ptr_eq(&costs(2048).unwrap(), &costs(2048).unwrap()));
    }

    #[test]
    fn the_interval_is_of_the_mean() {
        assert_eq!(mean_with_interval(&[2.0; BATCH_COUNT]), (2.0, 0.0));
        let (mean, half) = mean_with_interval(&[1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0]);
        assert!(mean == 2.0 && (half - 0.716).abs() < 0.001, "{half}");
    }
}
