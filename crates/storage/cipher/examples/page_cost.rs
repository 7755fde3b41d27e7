//! Prints what it costs to seal and to open a page of 4 KiB, in every suite.
//!
//! `cargo run --release -p selenite-cipher --example page_cost`
//!
//! The suites take turns, so that other load of the machine affects all of them equally. Each
//! figure is the median over the turns of the mean of one turn.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selenite_cipher::{
    DataKey, DatabaseId, Epoch, PageCipher, PageError, PageKeys, PageKeysParts, PageNo, PageNonce, Scan, Secret,
    SessionId, Suite, TRAILER_SIZE,
};

const PAGE_SIZE: usize = 4096;
const TURN_COUNT: usize = 201;
const SESSION: SessionId = SessionId([1; 16]);
const DATABASE: DatabaseId = DatabaseId([2; 16]);

/// Pages in a turn; triple DES takes hundreds of times as long as the others.
fn page_count(suite: Suite) -> u32 {
    if suite.is_deprecated() { 10 } else { 500 }
}

struct Bench {
    suite: Suite,
    cipher: PageCipher,
    data_key: DataKey,
    counter: u32,
    plain: Vec<u8>,
    image: Vec<u8>,
    opened: Vec<u8>,
    seal_ns: Vec<u64>,
    open_ns: Vec<u64>,
    derive_ns: Vec<u64>,
}

impl Bench {
    fn new(suite: Suite) -> Result<Self, PageError> {
        let keys = PageKeys::new(PageKeysParts {
            database_id: DATABASE,
            page_size: PAGE_SIZE,
            scan: Scan::Steady,
            epoch_max: Epoch(1),
            sealing_epoch: Epoch(1),
            data_keys: vec![data_key(suite)],
            allow_plain: true,
            allow_deprecated: true,
        })?;
        let mut plain = vec![0x5a; PAGE_SIZE];
        plain[PAGE_SIZE - TRAILER_SIZE..].fill(0);
        Ok(Self {
            suite,
            cipher: PageCipher::new(Arc::new(keys)),
            data_key: data_key(suite),
            counter: 0,
            plain,
            image: vec![0; PAGE_SIZE],
            opened: vec![0; PAGE_SIZE],
            seal_ns: Vec::new(),
            open_ns: Vec::new(),
            derive_ns: Vec::new(),
        })
    }

    fn turn(&mut self) -> Result<(), PageError> {
        let page_count = page_count(self.suite);
        let start = Instant::now();
        for _ in 0..page_count {
            self.counter += 1;
            let nonce = PageNonce {
                session: SESSION,
                salt: [3; 8],
                counter: self.counter,
            };
            self.cipher
                .seal(PageNo(2), nonce, black_box(&self.plain), &mut self.image)?;
        }
        self.seal_ns.push(mean_ns(start.elapsed(), page_count));

        let start = Instant::now();
        for _ in 0..page_count {
            self.cipher.open(PageNo(2), black_box(&self.image), &mut self.opened)?;
        }
        self.open_ns.push(mean_ns(start.elapsed(), page_count));

        let start = Instant::now();
        for session in 0..10 {
            black_box(self.data_key.page_key(SessionId([session; 16])));
        }
        self.derive_ns.push(mean_ns(start.elapsed(), 10));
        Ok(())
    }
}

fn main() -> Result<(), PageError> {
    let mut benches = Suite::ALL.into_iter().map(Bench::new).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..TURN_COUNT {
        for bench in &mut benches {
            bench.turn()?;
        }
    }
    println!("ns per page of {PAGE_SIZE} bytes, median of {TURN_COUNT} turns (5th to 95th percentile)");
    println!("{:16} {:>26} {:>26} {:>26}", "suite", "seal", "open", "derive key");
    for bench in &mut benches {
        println!(
            "{:16} {:>26} {:>26} {:>26}",
            bench.suite.name(),
            spread(&mut bench.seal_ns),
            spread(&mut bench.open_ns),
            spread(&mut bench.derive_ns)
        );
    }
    Ok(())
}

fn data_key(suite: Suite) -> DataKey {
    DataKey::new(Secret::new([4; 32]), DATABASE, Epoch(1), suite)
}

fn mean_ns(elapsed: Duration, count: u32) -> u64 {
    u64::try_from((elapsed / count).as_nanos()).unwrap_or(u64::MAX)
}

fn spread(samples: &mut [u64]) -> String {
    samples.sort_unstable();
    let at = |percent: usize| samples[(samples.len() - 1) * percent / 100];
    format!("{} ({} to {})", at(50), at(5), at(95))
}
