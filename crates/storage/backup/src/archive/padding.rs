//! Padding, which hides exact sizes.

/// `size` rounded up so that only its leading seven bits carry information: at most 1.6 % more, and
/// never below `SIZE_MIN` bytes. This reduces the information about compressed data that an
/// attacker gets from sizes (Nikitin, Barman, Lueks, Underwood, Hubaux, Ford: Reducing Metadata
/// Leakage from Encrypted Files, 2019, section 4).
#[must_use]
pub fn padded(size: usize) -> usize {
    let size = size.max(SIZE_MIN);
    let step = 1 << size.ilog2().saturating_sub(LEADING_BITS - 1);
    size.div_ceil(step) * step
}

const SIZE_MIN: usize = 4096;
const LEADING_BITS: u32 = 7;

#[cfg(test)]
mod tests {
    use super::padded;

    #[test]
    fn padding_leaves_few_sizes_and_adds_little() {
        assert_eq!((padded(0), padded(4096), padded(4097)), (4096, 4096, 4160));
        for size in (4096..3_000_000).step_by(977) {
            let long = padded(size);
            assert!(long >= size && (long - size) * 64 <= size, "{size}: {long}");
            assert_eq!(padded(long), long);
        }
        let lengths: std::collections::BTreeSet<usize> = (1 << 20..2 << 20).map(padded).collect();
        assert_eq!(lengths.len(), 65);
    }
}
