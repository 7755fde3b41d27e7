//! The time of a suite for a page, without SQLite and without files.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selenite_cipher::{
    DataKey, DatabaseId, Epoch, PageCipher, PageError, PageKeys, PageKeysParts, PageNo, PageNonce, Scan, Secret,
    SessionId, Suite, TRAILER_SIZE,
};
use selenite_worker::WorkerError;
use selenite_worker::protocol::CipherTime;

/// Seals and opens a page alternately. Returns the medians.
///
/// # Errors
/// None is known.
pub fn measure(suite: Suite) -> Result<CipherTime, WorkerError> {
    if std::env::var_os("OPENSSL_ia32cap").is_some() {
        selenite_cipher::prefer_aws_lc();
    }
    try_measure(suite).map_err(|error| WorkerError::Engine(format!("{suite}: {error}")))
}

fn try_measure(suite: Suite) -> Result<CipherTime, PageError> {
    let mut cipher = cipher(suite)?;
    let mut plain = vec![0x5a; PAGE_SIZE];
    plain[PAGE_SIZE - TRAILER_SIZE..].fill(0);
    let (mut image, mut opened) = (vec![0; PAGE_SIZE], vec![0; PAGE_SIZE]);
    let pages = pages_in_turn(suite);
    let mut counter = 0;
    let (mut seals, mut opens) = (Vec::new(), Vec::new());
    for _ in 0..TURN_COUNT {
        let started = Instant::now();
        for _ in 0..pages {
            counter += 1;
            let nonce = PageNonce {
                session: SessionId([1; 16]),
                salt: [3; 8],
                counter,
            };
            cipher.seal(PageNo(2), nonce, black_box(&plain), &mut image)?;
        }
        seals.push(mean_ns(started.elapsed(), pages));
        let started = Instant::now();
        for _ in 0..pages {
            cipher.open(PageNo(2), black_box(&image), &mut opened)?;
        }
        opens.push(mean_ns(started.elapsed(), pages));
    }
    Ok(CipherTime {
        seal_ns: median(seals),
        open_ns: median(opens),
    })
}

fn cipher(suite: Suite) -> Result<PageCipher, PageError> {
    let database_id = DatabaseId([2; 16]);
    let keys = PageKeys::new(PageKeysParts {
        database_id,
        page_size: PAGE_SIZE,
        scan: Scan::Steady,
        epoch_max: Epoch(1),
        sealing_epoch: Epoch(1),
        data_keys: vec![DataKey::new(Secret::new([4; 32]), database_id, Epoch(1), suite)],
        allow_plain: true,
        allow_deprecated: true,
    })?;
    Ok(PageCipher::new(Arc::new(keys)))
}

/// Triple DES takes hundreds of times as long as the others.
fn pages_in_turn(suite: Suite) -> u32 {
    if suite.is_deprecated() { 4 } else { 200 }
}

fn mean_ns(elapsed: Duration, count: u32) -> f64 {
    elapsed.as_secs_f64() * 1e9 / f64::from(count)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

const PAGE_SIZE: usize = 4096;

const TURN_COUNT: usize = 101;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_takes_some_time() {
        for suite in Suite::ALL {
            let time = measure(suite).unwrap();
            assert!(time.seal_ns > 0.0 && time.open_ns > 0.0, "{suite}: {time:?}");
        }
    }
}
