//! /proc/cpuinfo.

use std::collections::{BTreeMap, BTreeSet};

/// The properties of the processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Processor {
    /// Its name; for an ARM processor, its numbers.
    pub model: Option<String>,
    /// The flags of its features, as named by the kernel.
    pub flags: BTreeSet<String>,
    /// Logical processors.
    pub threads: u32,
    /// Physical cores; 0 if unknown.
    pub cores: u32,
    /// Mean of the current frequencies, in MHz.
    pub mhz: Option<f64>,
}

impl Processor {
    /// Parses /proc/cpuinfo of x86-64 or ARM.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut processor = Self::default();
        let mut cores = BTreeSet::new();
        let mut frequencies: Vec<f64> = Vec::new();
        for paragraph in text.split("\n\n") {
            let pairs = paragraph.lines().filter_map(|line| line.split_once(':'));
            let fields: BTreeMap<&str, &str> = pairs.map(|(name, value)| (name.trim(), value.trim())).collect();
            if !fields.contains_key("processor") {
                continue;
            }
            processor.threads += 1;
            if let (Some(package), Some(core)) = (fields.get("physical id"), fields.get("core id")) {
                cores.insert((*package, *core));
            }
            let mhz = fields.get("cpu MHz").and_then(|mhz| mhz.parse::<f64>().ok());
            frequencies.extend(mhz.filter(|mhz| mhz.is_finite() && *mhz > 0.0));
            if processor.model.is_none() {
                processor.model = model(&fields);
            }
            let flags = fields
                .get("flags")
                .or(fields.get("Features"))
                .copied()
                .unwrap_or_default();
            if processor.flags.is_empty() {
                processor.flags = flags.split_whitespace().map(str::to_owned).collect();
            }
        }
        processor.cores = u32::try_from(cores.len()).unwrap_or(0);
        processor.mhz = mean(&frequencies);
        processor
    }

    /// Whether it has AES instructions.
    #[must_use]
    pub fn has_aes(&self) -> bool {
        self.flags.contains("aes")
    }

    /// The flags of the features that ciphers use, as named by the kernel.
    #[must_use]
    pub fn cipher_flags(&self) -> Vec<&'static str> {
        let has = |flag: &&&str| self.flags.contains(**flag);
        CIPHER_FLAGS.iter().filter(has).copied().collect()
    }
}

fn model(fields: &BTreeMap<&str, &str>) -> Option<String> {
    if let Some(name) = fields.get("model name").or(fields.get("Model")) {
        return Some((*name).to_owned());
    }
    let (maker, part) = (fields.get("CPU implementer")?, fields.get("CPU part")?);
    Some(format!("ARM, implementer {maker}, part {part}"))
}

/// The arithmetic mean; none of no values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    let count = u32::try_from(values.len()).ok().filter(|count| *count > 0)?;
    Some(values.iter().sum::<f64>() / f64::from(count))
}

const CIPHER_FLAGS: [&str; 11] = [
    "aes",
    "vaes",
    "pclmulqdq",
    "vpclmulqdq",
    "sha_ni",
    "avx2",
    "avx512f",
    "pmull",
    "sha1",
    "sha2",
    "sha512",
];

#[cfg(test)]
mod tests {
    use super::*;

    const EPYC: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\ncpu MHz\t\t: 2400.0\n\
        physical id\t: 0\nsiblings\t: 2\ncore id\t\t: 0\ncpu cores\t: 1\nflags\t\t: fpu aes vaes sha_ni hypervisor\n\
        power management:\n\nprocessor\t: 1\nmodel name\t: AMD EPYC\ncpu MHz\t\t: 2600.0\nphysical id\t: 0\n\
        core id\t\t: 0\nflags\t\t: fpu aes\n\n";
    const ARM: &str = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd aes pmull sha1 sha2\n\
        CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";

    #[test]
    fn two_threads_of_a_core_are_one_core() {
        let processor = Processor::parse(EPYC);
        assert_eq!(processor.model.as_deref(), Some("AMD EPYC"));
        assert_eq!((processor.threads, processor.cores), (2, 1));
        assert_eq!(processor.mhz, Some(2500.0));
        assert!(processor.has_aes());
        assert_eq!(processor.cipher_flags(), ["aes", "vaes", "sha_ni"]);
    }

    #[test]
    fn an_arm_has_other_names() {
        let processor = Processor::parse(ARM);
        assert_eq!(processor.model.as_deref(), Some("ARM, implementer 0x41, part 0xd0c"));
        assert_eq!((processor.threads, processor.cores, processor.mhz), (1, 0, None));
        assert_eq!(processor.cipher_flags(), ["aes", "pmull", "sha1", "sha2"]);
    }

    #[test]
    fn an_invalid_text_is_not_a_processor() {
        for text in ["", "\n\n", "processor", ":::\n:", "flags: aes"] {
            assert_eq!(Processor::parse(text), Processor::default(), "{text:?}");
        }
    }
}
