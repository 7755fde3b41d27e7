//! What a session process prints: one line of JSON for each block.

use std::path::PathBuf;

use selenite_plan::{Load, Operation};
use serde::{Deserialize, Serialize};

/// What a session process is asked to measure: its only argument, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionSpec {
    /// A folder that does not exist. The session makes it, and removes it at its end.
    pub folder: PathBuf,
    /// The seed of the order of blocks.
    pub seed: u64,
    /// How long it may take. Two rounds are run however long they take.
    pub milliseconds: u64,
    /// The names of the suites.
    pub suites: Vec<String>,
    /// Present where a trace is repeated, and no operation is measured: the script is on standard input.
    #[serde(default)]
    pub replay: Option<ReplaySettings>,
}

/// How a trace is repeated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaySettings {
    /// `pool_size` of the encrypted databases; the extension's default if none.
    pub pool_size: Option<String>,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionLine {
    /// A block was measured.
    Block(BlockSample),
    /// A mix of operations was measured.
    Mix(MixSample),
    /// A database was encrypted into a new file.
    Conversion(ConversionSample),
}

/// A block: the same operation many times, in one arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockSample {
    /// Which round, from 0: blocks of one round are compared.
    pub round: u32,
    /// [`PLAIN`](selenite_worker::protocol::PLAIN), [`PLAIN2`], [`COUNTED`], the name of a suite or a version of TLS.
    pub arm: String,
    /// The operation.
    pub operation: Operation,
    /// Bytes of one operation; 0 for one without a size.
    pub bytes: u32,
    /// CPU nanoseconds of one operation.
    pub ns: f64,
}

/// A mix of reads and changes: the same in all arms of a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixSample {
    /// Which round, from 0.
    pub round: u32,
    /// As of a [`BlockSample`].
    pub arm: String,
    /// CPU nanoseconds of all of it.
    pub ns: f64,
    /// Its operations, from the arm whose calls the extension counts ([`COUNTED`]).
    #[serde(default)]
    pub load: Option<Load>,
}

/// A conversion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversionSample {
    /// The suite.
    pub suite: String,
    /// Nanoseconds of elapsed time for a MiB.
    pub ns_per_mib: f64,
}

/// What one session measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionSamples {
    /// Whether AES instructions were used.
    pub aes_instructions: bool,
    /// Its blocks.
    pub blocks: Vec<BlockSample>,
    /// Its mixes.
    pub mixes: Vec<MixSample>,
    /// Its conversions.
    pub conversions: Vec<ConversionSample>,
}

/// The second copy of the unencrypted database. Its difference from the first is the floor.
pub const PLAIN2: &str = "plain2";
/// The database in clear that is opened through the extension, which counts the calls for its files.
pub const COUNTED: &str = "counted";
