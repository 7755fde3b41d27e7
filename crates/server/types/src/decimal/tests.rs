use proptest::prelude::*;

use super::*;

fn d(text: &str) -> Decimal {
    let (digits, scale) = match text.split_once('.') {
        Some((whole, fraction)) => (format!("{whole}{fraction}"), fraction.len()),
        None => (text.to_owned(), 0),
    };
    Decimal {
        unscaled: digits.parse().unwrap(),
        scale: u8::try_from(scale).unwrap(),
    }
}

/// Any decimal, with any number of digits and any scale.
fn decimals() -> impl Strategy<Value = Decimal> {
    (any::<i128>(), 0..=38_u8, 0..=38_u8).prop_map(|(bits, digits, scale)| {
        let limit = i128::try_from(POWERS_OF_TEN[usize::from(digits)]).unwrap();
        Decimal {
            unscaled: bits % limit,
            scale,
        }
    })
}

#[test]
fn a_quotient_is_truncated_and_never_rounded() {
    assert_eq!(divide(d("4.00"), d("7"), 6), Some(d("0.571428")));
    assert_eq!(divide(d("-4.00"), d("7"), 6), Some(d("-0.571428")));
    assert_eq!(divide(d("4.00"), d("-7"), 6), Some(d("-0.571428")));
    assert_eq!(divide(d("2.0"), d("3.0"), 6), Some(d("0.666666")));
    assert_eq!(
        divide(d("1"), d("1600000"), 8),
        Some(d("0.00000062")),
        "a half is cut too"
    );
    assert_eq!(
        divide(d("2"), d("3"), 38),
        Some(d("0.66666666666666666666666666666666666666"))
    );
    assert_eq!(
        divide(d("1"), d("0.00000000000000000000000000000000000001"), 0).map(|n| n.digits()),
        None
    );
    assert_eq!(
        divide(d("0.00000000000000000000000000000000000001"), d("1"), 6),
        Some(d("0.000000"))
    );
    let most = Decimal {
        unscaled: 10_i128.pow(38) - 1,
        scale: 38,
    };
    assert_eq!(divide(most, most, 6), Some(d("1.000000")));
    assert_eq!(
        divide(Decimal { scale: 0, ..most }, most, 0),
        None,
        "10^38 has 39 digits"
    );
    assert_eq!(divide(d("1"), d("0"), 0), None);
}

#[test]
fn a_product_is_rounded_halves_away_from_zero() {
    let third = d("0.0000009000");
    assert_eq!(multiply(third, d("1.0000000000"), 6), Some(d("0.000001")));
    assert_eq!(multiply(d("0.5"), d("0.1"), 1), Some(d("0.1")));
    assert_eq!(multiply(d("-0.5"), d("0.1"), 1), Some(d("-0.1")));
    assert_eq!(multiply(d("0.4"), d("0.1"), 1), Some(d("0.0")));
    let tiny = Decimal { unscaled: 5, scale: 38 };
    assert_eq!(multiply(tiny, tiny, 37), Some(Decimal { unscaled: 0, scale: 37 }));
    let half = Decimal {
        unscaled: 5 * 10_i128.pow(37),
        scale: 38,
    };
    assert_eq!(
        multiply(half, half, 37),
        Some(Decimal {
            unscaled: 25 * 10_i128.pow(35),
            scale: 37
        })
    );
    let nines = Decimal {
        unscaled: 10_i128.pow(38) - 1,
        scale: 0,
    };
    assert_eq!(multiply(nines, d("2"), 0), None);
    assert_eq!(multiply(nines, nines, 0), None);
}

#[test]
fn sums_of_any_scales_are_exact_before_they_are_rounded() {
    assert_eq!(add(d("1.5"), d("-2.25"), 2), Some(d("-0.75")));
    assert_eq!(add(d("1.45"), d("0.005"), 1), Some(d("1.5")), "1.455 is rounded once");
    assert_eq!(add(d("1.4"), d("0.049"), 1), Some(d("1.4")));
    let nines = Decimal {
        unscaled: 10_i128.pow(38) - 1,
        scale: 0,
    };
    assert_eq!(add(nines, d("1"), 0), None);
    assert_eq!(add(nines, Decimal { unscaled: 4, scale: 38 }, 0), Some(nines));
    assert_eq!(
        add(
            nines,
            Decimal {
                unscaled: 5 * 10_i128.pow(37),
                scale: 38
            },
            0
        ),
        None
    );
    assert_eq!(subtract(nines, nines, 0), Some(d("0")));
    assert_eq!(subtract(d("1"), d("0.1"), 1), Some(d("0.9")));
}

#[test]
fn a_remainder_has_the_sign_of_the_dividend() {
    assert_eq!(remainder(d("7.5"), d("2"), 1), Some(d("1.5")));
    assert_eq!(remainder(d("-7.5"), d("2"), 1), Some(d("-1.5")));
    assert_eq!(remainder(d("7.5"), d("-2"), 1), Some(d("1.5")));
    assert_eq!(remainder(d("7"), d("0.3"), 1), Some(d("0.1")));
    let nines = Decimal {
        unscaled: 10_i128.pow(38) - 1,
        scale: 0,
    };
    let tiny = Decimal { unscaled: 7, scale: 38 };
    assert_eq!(remainder(nines, tiny, 38).map(|rest| rest.unscaled < 7), Some(true));
    assert_eq!(remainder(tiny, nines, 38), Some(tiny));
}

#[test]
fn another_scale_rounds_or_adds_zeros() {
    assert_eq!(d("1.455").rescale(2), Some(d("1.46")));
    assert_eq!(d("-1.455").rescale(2), Some(d("-1.46")));
    assert_eq!(d("1.454").rescale(2), Some(d("1.45")));
    assert_eq!(d("99.5").rescale(0), Some(d("100")));
    assert_eq!(d("1").rescale(3), Some(d("1.000")));
    assert_eq!(d("1").rescale(38), None, "39 digits");
    assert_eq!(d("0").rescale(39), None);
    assert_eq!(d("0.5").rescale(0), Some(d("1")));
    assert_eq!(
        (d("0").digits(), d("9").digits(), d("-10").digits(), d("1.00").digits()),
        (1, 1, 2, 3)
    );
    assert!(d("99").fits(2) && !d("-100").fits(2) && d("-100").fits(3));
}

#[test]
fn numbers_out_of_range_are_none_and_never_panic() {
    let wild = [i128::MIN, i128::MIN + 1, -1, 0, 1, i128::MAX];
    for a in wild {
        for b in wild {
            for scales in [(0, 0), (38, 0), (0, 38), (38, 38), (255, 0), (0, 255), (200, 200)] {
                let (a, b) = (
                    Decimal {
                        unscaled: a,
                        scale: scales.0,
                    },
                    Decimal {
                        unscaled: b,
                        scale: scales.1,
                    },
                );
                let _ = compare(a, b);
                for scale in [0, 6, 38, 39, 255] {
                    for made in [add, subtract, multiply, divide, remainder].map(|made| made(a, b, scale)) {
                        assert!(made.is_none_or(|made| made.fits(38) && made.scale == scale));
                    }
                    let _ = a.rescale(scale);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn order_is_that_of_the_numbers(a in decimals(), b in decimals(), c in decimals()) {
        prop_assert_eq!(compare(a, b), compare(b, a).reverse());
        if compare(a, b) == compare(b, c) {
            prop_assert_eq!(compare(a, c), compare(a, b));
        }
        if let Some(wider) = a.rescale(38) {
            prop_assert_eq!(compare(a, wider), Ordering::Equal);
            prop_assert_eq!(compare(wider, b), compare(a, b));
        }
    }

    #[test]
    fn subtraction_is_the_inverse_of_addition(a in decimals(), b in decimals()) {
        let scale = a.scale.max(b.scale);
        prop_assert_eq!(add(a, b, scale), add(b, a, scale));
        if let Some(sum) = add(a, b, scale) {
            let back = subtract(sum, b, scale).unwrap();
            prop_assert_eq!(compare(back, a), Ordering::Equal);
        }
    }

    #[test]
    fn a_product_of_small_numbers_is_that_of_the_unscaled_numbers(a in any::<i64>(), b in any::<i64>(), s in 0..=19_u8, t in 0..=19_u8) {
        let product = multiply(Decimal { unscaled: a.into(), scale: s }, Decimal { unscaled: b.into(), scale: t }, s + t);
        let exact = i128::from(a) * i128::from(b);
        prop_assert_eq!(product, Decimal { unscaled: exact, scale: s + t }.checked());
    }

    #[test]
    fn a_rounded_product_is_within_half_a_unit(a in decimals(), b in decimals(), scale in 0..=38_u8) {
        if let Some(product) = multiply(a, b, scale) {
            let all = a.scale + b.scale;
            let exact = Wide::product(a.unscaled.unsigned_abs(), b.unscaled.unsigned_abs());
            if all >= scale && all - scale <= 38 {
                let unit = POWERS_OF_TEN[usize::from(all - scale)];
                let back = Wide::product(product.unscaled.unsigned_abs(), unit);
                let off = back.difference(exact);
                prop_assert!(off.high == 0 && off.low <= unit / 2, "{off:?} {unit}");
            }
        }
    }

    #[test]
    fn quotient_times_divisor_plus_remainder_is_the_dividend(a in any::<i64>(), b in any::<i64>(), s in 0..=6_u8, t in 0..=6_u8) {
        prop_assume!(b != 0);
        let (a, b) = (Decimal { unscaled: a.into(), scale: s }, Decimal { unscaled: b.into(), scale: t });
        let quotient = divide(a, b, 6).unwrap();
        let back = multiply(quotient, b, 6 + t).unwrap();
        let rest = subtract(a, back, 6 + t.max(s)).unwrap();
        // Truncated towards zero: the error is less than one unit of the quotient times the divisor.
        let missing = Decimal { unscaled: rest.unscaled.abs(), ..rest };
        let unit = Decimal { unscaled: b.unscaled.abs(), scale: b.scale + 6 };
        prop_assert_eq!(compare(missing, unit), Ordering::Less);
        prop_assert!(rest.unscaled == 0 || (rest.unscaled < 0) == (a.unscaled < 0));
        let modulo = remainder(a, b, s.max(t)).unwrap();
        let magnitude = |number: Decimal| Decimal { unscaled: number.unscaled.abs(), ..number };
        prop_assert_eq!(compare(magnitude(modulo), magnitude(b)), Ordering::Less);
    }
}
