//! The total cost of an arm's processes.

use std::collections::BTreeMap;
use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use selenite_worker::protocol::Sample;
use sha2::{Digest as _, Sha256};

/// Adds the samples of processes that worked together: counters are added, elapsed time is from the
/// first start to the last end, pages and bytes of files are the maximum of the processes. Peaks of
/// memory are added: an upper bound of the common peak. Latencies are omitted: see [`histograms`].
pub fn sum(samples: &[Sample]) -> Sample {
    let began_ns = samples.iter().map(|sample| sample.began_ns).min().unwrap_or(0);
    let ended = |sample: &Sample| sample.began_ns.saturating_add(sample.elapsed_ns);
    let ended_ns = samples.iter().map(ended).max().unwrap_or(0);
    let add = |counter: fn(&Sample) -> u64| samples.iter().map(counter).fold(0, u64::saturating_add);
    let most = |size: fn(&Sample) -> u64| samples.iter().map(size).max().unwrap_or(0);
    let known = |counter: fn(&Sample) -> Option<u64>| {
        let counts: Option<Vec<u64>> = samples.iter().map(counter).collect();
        let counts = counts.filter(|counts| !counts.is_empty());
        counts.map(|counts| counts.into_iter().fold(0, u64::saturating_add))
    };
    Sample {
        began_ns,
        elapsed_ns: ended_ns.saturating_sub(began_ns),
        cpu_ns: add(|s| s.cpu_ns),
        user_ns: add(|s| s.user_ns),
        system_ns: add(|s| s.system_ns),
        instructions: known(|s| s.instructions),
        peak_bytes: known(|s| s.peak_bytes),
        archive_bytes: known(|s| s.archive_bytes),
        client_cpu_ns: known(|s| s.client_cpu_ns),
        switches_voluntary: add(|s| s.switches_voluntary),
        switches_involuntary: add(|s| s.switches_involuntary),
        faults_minor: add(|s| s.faults_minor),
        faults_major: add(|s| s.faults_major),
        read_calls: add(|s| s.read_calls),
        write_calls: add(|s| s.write_calls),
        read_chars: add(|s| s.read_chars),
        write_chars: add(|s| s.write_chars),
        read_bytes: add(|s| s.read_bytes),
        write_bytes: add(|s| s.write_bytes),
        pages_read: add(|s| s.pages_read),
        pages_written: add(|s| s.pages_written),
        checkpoint_ns: add(|s| s.checkpoint_ns),
        checkpoint_cpu_ns: add(|s| s.checkpoint_cpu_ns),
        operations: add(|s| s.operations),
        retries: add(|s| s.retries),
        answer: answer(samples),
        pages: most(|s| s.pages),
        database_bytes: most(|s| s.database_bytes),
        wal_bytes: most(|s| s.wal_bytes),
        altered: samples.iter().any(|sample| sample.altered),
        file_counts: samples
            .iter()
            .flat_map(|sample| sample.file_counts.iter().cloned())
            .collect(),
        latencies: BTreeMap::new(),
    }
}

/// Merges the latencies of processes by operation, into V2-deflate histograms. The merge is
/// lossless: counts of equal buckets are added.
///
/// # Errors
/// The operation whose histogram is invalid, and the reason.
pub fn histograms(samples: &[Sample]) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut merged: BTreeMap<&str, Histogram<u64>> = BTreeMap::new();
    for (operation, text) in samples.iter().flat_map(|sample| &sample.latencies) {
        let complain = |what: String| format!("latencies of {operation}: {what}");
        let one = decode(text).map_err(complain)?;
        match merged.get_mut(operation.as_str()) {
            None => {
                merged.insert(operation, one);
            }
            Some(sum) if sum.sigfig() == one.sigfig() && sum.low() == one.low() => {
                sum.add(one).map_err(|error| complain(error.to_string()))?;
            }
            Some(_) => return Err(complain("processes use different buckets".to_owned())),
        }
    }
    let encoded = merged
        .into_iter()
        .map(|(operation, histogram)| Ok((operation.to_owned(), encode(&histogram)?)));
    encoded.collect()
}

/// The number of operations in a histogram.
///
/// # Errors
/// The reason why the histogram is invalid.
pub fn count(v2: &[u8]) -> Result<u64, String> {
    of_v2(v2).map(|histogram| histogram.len())
}

/// A quantile of all operations together, in nanoseconds; none if there are none.
///
/// # Errors
/// The reason why a histogram is invalid.
pub fn quantile<'a>(all: impl IntoIterator<Item = &'a Vec<u8>>, quantile: f64) -> Result<Option<u64>, String> {
    let mut merged: Option<Histogram<u64>> = None;
    for v2 in all {
        let one = of_v2(v2)?;
        match &mut merged {
            None => merged = Some(one),
            Some(sum) => sum.add(one).map_err(|error| error.to_string())?,
        }
    }
    let merged = merged.filter(|merged| !merged.is_empty());
    Ok(merged.map(|merged| merged.value_at_quantile(quantile)))
}

/// The answer of a single process; for several, a digest of all answers in order.
fn answer(samples: &[Sample]) -> String {
    if let [only] = samples {
        return only.answer.clone();
    }
    let mut digest = Sha256::new();
    for sample in samples {
        digest.update(sample.answer.as_bytes());
        digest.update([0]);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn decode(text: &str) -> Result<Histogram<u64>, String> {
    of_v2(&STANDARD.decode(text).map_err(|error| error.to_string())?)
}

fn of_v2(v2: &[u8]) -> Result<Histogram<u64>, String> {
    let decoded = Deserializer::new().deserialize(&mut Cursor::new(v2));
    let mut histogram: Histogram<u64> = decoded.map_err(|error| error.to_string())?;
    histogram.auto(true);
    Ok(histogram)
}

fn encode(histogram: &Histogram<u64>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let written = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    written.map_err(|error| error.to_string())?;
    Ok(bytes)
}
