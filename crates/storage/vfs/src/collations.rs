//! The collations that every connection gets, so that any SQLite with the extension opens a
//! database made by the server.

use selenite_collation::Order;

use crate::ffi::Collation;

/// The orders of `selenite_collation`, which never change.
pub const COLLATIONS: &[Collation] = &[
    Collation {
        name: c"SQL_Latin1_General_CP1_CI_AS",
        compare: selenite_collation::collate,
    },
    Collation {
        name: c"SQL_Latin1_General_CP1_CS_AS",
        compare: |left, right| Order::CapitalsFirst.compare(left, right),
    },
    Collation {
        name: c"Latin1_General_CS_AS",
        compare: |left, right| Order::CapitalsLast.compare(left, right),
    },
    Collation {
        name: c"Latin1_General_CI_AI",
        compare: |left, right| Order::AccentInsensitive.compare(left, right),
    },
    Collation {
        name: c"Latin1_General_BIN",
        compare: |left, right| Order::Binary.compare(left, right),
    },
    Collation {
        name: c"Latin1_General_BIN2",
        compare: |left, right| Order::CodePoint.compare(left, right),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_there_by_its_name() {
        let names: Vec<_> = COLLATIONS
            .iter()
            .map(|collation| collation.name.to_str().unwrap())
            .collect();
        assert_eq!(names, Order::ALL.map(Order::name));
        for (collation, order) in COLLATIONS.iter().zip(Order::ALL) {
            for (left, right) in [
                ("a", "A"),
                ("A", "a"),
                ("e", "\u{e9}"),
                ("a\u{100}", "aa"),
                ("a", "b"),
                ("", " "),
            ] {
                let (left, right) = (left.as_bytes(), right.as_bytes());
                assert_eq!((collation.compare)(left, right), order.compare(left, right));
            }
        }
    }
}
