//! What a fuzzer found worth keeping is given to every target in every run of the tests, and random alterations of it.
#![cfg(test)]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use selenite_fuzzing::target::{TARGETS, Target};
use selenite_testing::Random;
use selenite_testing::random::seed_of;

/// How many alterations a target is given: `SELENITE_FUZZ_INPUTS` says otherwise.
const ALTERED: u64 = 200;
/// Of an input that grows: far more than the largest of the corpus.
const SIZE_MAX: usize = 1 << 16;

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// The inputs of a target, by the names of their files.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = fuzz_folder().join("corpus").join(name);
    let files = names_in(&folder).into_iter();
    files
        .map(|file| (file.clone(), std::fs::read(folder.join(file)).unwrap()))
        .collect()
}

static PANICS: AtomicU64 = AtomicU64::new(0);

fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICS.fetch_add(1, Ordering::SeqCst);
            usual(info);
        }));
    });
}

fn give(target: Target, input: &[u8], what: impl Fn() -> String) {
    count_panics();
    let before = PANICS.load(Ordering::SeqCst);
    let ended = catch_unwind(AssertUnwindSafe(|| target(input)));
    // A thread that the target started may be the one that panicked.
    assert!(ended.is_ok() && PANICS.load(Ordering::SeqCst) == before, "{}", what());
}

#[test]
fn every_target_has_a_program_and_a_corpus() {
    let wanted: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names_in(&fuzz_folder().join("corpus")), wanted);
    let programs = names_in(&fuzz_folder().join("fuzz_targets"));
    let programs: BTreeSet<String> = programs.iter().map(|name| name.replace(".rs", "")).collect();
    assert_eq!(programs, wanted);
    let manifest = std::fs::read_to_string(fuzz_folder().join("Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        assert!(
            manifest.contains(&format!("name = \"{name}\"\n")),
            "{name} is no [[bin]]"
        );
        assert!(!corpus(name).is_empty(), "{name}");
    }
}

#[test]
fn every_input_of_the_corpus_holds() {
    for (name, target) in TARGETS {
        for (file, input) in corpus(name) {
            give(target, &input, || format!("fuzz/corpus/{name}/{file}"));
        }
    }
}

#[test]
fn altered_inputs_hold() {
    let seed = Random::seed_or(20_261_122);
    let count = std::env::var("SELENITE_FUZZ_INPUTS").map_or(ALTERED, |text| text.parse().unwrap());
    println!("seed {seed}, {count} inputs a target");
    for (name, target) in TARGETS {
        let corpus = corpus(name);
        for number in 0..count {
            let mut random = Random::new(seed_of(&[seed, number]));
            let input = altered(&corpus, &mut random);
            give(target, &input, || {
                format!("{name}, seed {seed}, input {number}: {}", hex(&input))
            });
        }
    }
}

/// A few changes of one input, or two of them joined.
fn altered(corpus: &[(String, Vec<u8>)], random: &mut Random) -> Vec<u8> {
    let one = |random: &mut Random| &corpus[index(random, corpus.len())].1;
    let mut input = one(random).clone();
    for _ in 0..=random.below(4) {
        let (from, to) = (index(random, input.len() + 1), index(random, input.len() + 1));
        let (from, to) = (from.min(to), from.max(to));
        match random.below(6) {
            0 if from < input.len() => input[from] ^= 1 << random.below(8),
            1 if from < input.len() => input[from] = random.draw().to_le_bytes()[0],
            2 => drop(input.drain(from..to)),
            3 => {
                let part = input[from..to].to_vec();
                input.splice(to..to, part);
            }
            4 => {
                let size = index(random, 16);
                input.splice(from..from, random.bytes(size));
            }
            _ => {
                let other = one(random);
                input.truncate(from);
                input.extend_from_slice(&other[index(random, other.len() + 1)..]);
            }
        }
        input.truncate(SIZE_MAX);
    }
    input
}

fn index(random: &mut Random, end: usize) -> usize {
    usize::try_from(random.below(end as u64)).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
