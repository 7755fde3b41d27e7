use selenite_format::PageSize;

use super::*;

const PAGE_BYTES: usize = 4096;

fn geometry() -> Geometry {
    Geometry::new(PageSize::DEFAULT)
}

/// Requests a page as `MainFile` does, of a file of `page_count` pages; returns how many pages were
/// read for it.
fn ask(ahead: &mut ReadAhead, page: u32, page_count: u32) -> u32 {
    let mut read = 0;
    if let Some(plan) = ahead
        .note(PageNo(page), geometry())
        .and_then(|plan| plan.up_to(page_count))
    {
        let images = ahead.begin(plan, PAGE_BYTES);
        for (number, image) in (plan.first..).zip(images.chunks_mut(PAGE_BYTES)) {
            image[..4].copy_from_slice(&number.to_be_bytes());
        }
        ahead.fill(plan, PAGE_BYTES, page_count);
        read = plan.count;
    }
    if let Some(image) = ahead.image(PageNo(page)) {
        assert_eq!(image.len(), PAGE_BYTES);
        assert_eq!(image[..4], page.to_be_bytes());
        ahead.serve(PageNo(page));
        return read;
    }
    assert_eq!(read, 0);
    1
}

fn reads(ahead: &mut ReadAhead, pages: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let all = pages.into_iter().map(|page| ask(ahead, page, 10_000));
    all.filter(|count| *count > 0).collect()
}

#[test]
fn a_scan_reads_in_windows_that_grow_to_their_limit() {
    for (pages, last) in [((2..=400).collect::<Vec<u32>>(), 64), ((2..=400).rev().collect(), 20)] {
        let mut ahead = ReadAhead::default();
        let counts = reads(&mut ahead, pages);
        assert_eq!(counts, [1, 1, 1, 8, 16, 32, 64, 64, 64, 64, 64, last]);
        ahead.clear();
        let (used, wasted) = ahead.take_counts();
        assert_eq!((used, wasted), (396, u64::from(last) - 20));
    }
}

#[test]
fn random_reads_read_nothing_ahead() {
    let mut ahead = ReadAhead::default();
    let pages = (0..5000_u32).map(|number| number.wrapping_mul(2_654_435_761) % 9000 + 1);
    assert!(reads(&mut ahead, pages).iter().all(|count| *count == 1));
    ahead.clear();
    assert_eq!(ahead.take_counts(), (0, 0));
}

#[test]
fn a_window_in_use_is_not_given_to_another_run() {
    let mut ahead = ReadAhead::default();
    let pages = (0..200).flat_map(|step| [1000 + step, 5000 + step]);
    let _ = reads(&mut ahead, pages);
    ahead.clear();
    let (used, wasted) = ahead.take_counts();
    assert!(used > 150 && wasted <= 64, "{used} used, {wasted} wasted");
}

#[test]
fn a_window_of_which_little_is_used_makes_the_next_one_smaller() {
    let mut ahead = ReadAhead::default();
    let _ = reads(&mut ahead, 2..=124);
    assert_eq!(reads(&mut ahead, 125..=125), [64]);
    let after = reads(&mut ahead, (126..).step_by(3).take(40));
    assert!(after[..2] == [32, 16], "{after:?}");
}

#[test]
fn no_window_reaches_page_1_or_the_displaced_page_or_beyond_the_end() {
    let geometry = geometry();
    let limits = Limits::of(geometry);
    let (displaced, lock) = (geometry.displaced_page().0, geometry.lock_page().0);
    let plan = |page, direction| {
        limits
            .plan(page, 64, direction)
            .map(|plan| (plan.first, plan.first + plan.count - 1))
    };
    assert_eq!(plan(1, Direction::Forwards), None);
    assert_eq!(plan(10, Direction::Backwards), Some((2, 10)));
    assert_eq!(
        plan(displaced - 5, Direction::Forwards),
        Some((displaced - 5, displaced - 1))
    );
    assert_eq!(plan(displaced, Direction::Forwards), None);
    assert_eq!(
        plan(displaced + 3, Direction::Backwards),
        Some((displaced + 1, displaced + 3))
    );
    assert_eq!(plan(lock, Direction::Backwards), None);
    assert_eq!(plan(lock - 2, Direction::Forwards), Some((lock - 2, lock - 1)));
    assert_eq!(plan(lock + 2, Direction::Backwards), Some((lock + 1, lock + 2)));

    let mut ahead = ReadAhead::default();
    for page in 2..=4 {
        ask(&mut ahead, page, 7);
    }
    assert_eq!(ask(&mut ahead, 5, 7), 3);
    assert!(ahead.image(PageNo(7)).is_some() && ahead.image(PageNo(8)).is_none());
}

#[test]
fn every_page_size_has_windows_of_256_kib_at_most() {
    for shift in 10..=16 {
        let size = PageSize::try_from(1 << shift).unwrap();
        let limits = Limits::of(Geometry::new(size));
        assert!(limits.least >= 2 && limits.most <= 256 && limits.least <= limits.most);
        assert_eq!(u64::from(limits.most) * size.as_u64(), 262_144);
    }
}

#[test]
fn a_forgotten_page_is_not_here_and_all_are_gone_after_clear() {
    let mut ahead = ReadAhead::default();
    let _ = reads(&mut ahead, 2..=6);
    assert!(ahead.image(PageNo(7)).is_some());
    ahead.forget(PageNo(7));
    assert!(ahead.image(PageNo(7)).is_none() && ahead.image(PageNo(8)).is_some());
    ahead.clear();
    assert!((1..20).all(|page| ahead.image(PageNo(page)).is_none()));
    assert_eq!(reads(&mut ahead, 7..=9), [1, 1, 1], "a run restarts");
}
