use std::sync::Arc;

use selenite_cipher::TRAILER_SIZE;

use super::label::Label;
use super::pooled_file::Share;
use super::*;

const PAGE_BYTES: usize = 4096;

fn key(file: u64) -> FileKey {
    FileKey {
        file: (1, file),
        database: DatabaseId([7; 16]),
        rights: (false, false),
    }
}

fn label(number: u8) -> Label {
    Label::of_trailer(1, [number; TRAILER_SIZE])
}

/// The label of a log with that first salt.
fn log(salt: u32, backfilled: u32, attempted: u32) -> Label {
    Label::Log {
        superblock_generation: 1,
        words: [salt.to_be(), 7, backfilled, attempted],
    }
}

fn share(file: &Arc<PooledFile>, label: Label) -> Share {
    file.share(|| Some(label)).unwrap()
}

fn page(number: u32, version: u8) -> Vec<u8> {
    let mut bytes = vec![version; PAGE_BYTES];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Offers a page twice, so that it is stored.
fn put(share: &Share, number: u32, version: u8) {
    (0..2).for_each(|_| share.offer(number, &page(number, version), false));
}

/// Stores a page and finds it, so that memory is added as soon as there is no room (growth-pays in `tables.rs`).
fn put_and_find(share: &Share, number: u32, bytes: &[u8]) {
    (0..2).for_each(|_| share.offer(number, bytes, false));
    let mut out = vec![0; bytes.len()];
    for _ in 0..2 {
        let _ = share.read(number, &mut out);
    }
}

fn has(share: &Share, number: u32, version: u8) -> bool {
    let mut out = vec![0; PAGE_BYTES];
    let hit = share.read(number, &mut out);
    assert!(!hit || out == page(number, version), "page {number} is another one");
    hit
}

fn count(share: &Share, pages: std::ops::Range<u32>, version: u8) -> usize {
    pages.filter(|number| has(share, *number, version)).count()
}

/// A pool with room for some thousand pages.
fn roomy() -> Arc<Pool> {
    let pool = Pool::new();
    pool.set_limit(if cfg!(miri) { 4 << 20 } else { 16 << 20 });
    pool
}

#[test]
fn a_page_is_taken_in_when_it_is_read_for_the_second_time() {
    let pool = roomy();
    let file = pool.join(key(1));
    let one = share(&file, label(1));
    let empty = pool.used();
    one.offer(5, &page(5, 1), false);
    assert!(
        !has(&one, 5, 1) && pool.used() == empty,
        "no memory before the first page"
    );
    one.offer(5, &page(5, 1), false);
    assert!(has(&one, 5, 1) && !has(&one, 6, 1));
    assert!(pool.used() > empty + (2 << 20));
}

#[test]
fn another_label_is_another_generation_and_nothing_of_the_one_before_is_served() {
    let pool = roomy();
    let file = pool.join(key(1));
    let one = share(&file, label(1));
    put(&one, 5, 1);
    assert!(has(&share(&file, label(1)), 5, 1));
    let two = share(&file, label(2));
    assert!(!has(&two, 5, 1));
    put(&two, 5, 2);
    assert!(has(&two, 5, 2) && !has(&one, 5, 1));
    // A reader that is still in the older transaction stores nothing.
    put(&one, 6, 1);
    assert!(!has(&two, 6, 2) && !has(&one, 6, 1));
    // A label that recurs is a new generation, and so is one under other keys.
    let three = share(&file, label(1));
    assert!(!has(&three, 5, 1));
    put(&three, 5, 3);
    let keys = share(&file, Label::of_trailer(2, [1; TRAILER_SIZE]));
    assert!(has(&three, 5, 3) && !has(&keys, 5, 3));
    assert!(file.share(|| None).is_none());
}

#[test]
fn pages_are_not_served_after_the_last_user_of_the_log_left() {
    let pool = roomy();
    let file = pool.join(key(1));
    (0..2).for_each(|_| file.enter_log());
    put(&share(&file, log(1, 0, 0)), 5, 1);
    file.leave_log();
    assert!(has(&share(&file, log(1, 0, 0)), 5, 1));
    file.leave_log();
    assert!(!has(&share(&file, log(1, 0, 0)), 5, 1));
}

#[test]
fn files_do_not_see_each_others_pages_and_take_them_along_when_they_go() {
    let pool = roomy();
    let (one, other) = (pool.join(key(1)), pool.join(key(2)));
    let rights = FileKey {
        rights: (false, true),
        ..key(1)
    };
    let privileged = pool.join(rights);
    assert!(Arc::ptr_eq(&one, &pool.join(key(1))));
    let first = share(&one, label(1));
    let (second, third) = (share(&other, label(1)), share(&privileged, label(1)));
    put(&first, 5, 1);
    assert!(!has(&second, 5, 1) && !has(&third, 5, 1));
    put(&second, 5, 2);
    drop((first, one));
    let again = share(&pool.join(key(1)), label(1));
    assert!(!has(&again, 5, 1) && has(&second, 5, 2));
    drop((again, second, third, other, privileged));
    assert_eq!(pool.used(), 0);
}

#[test]
fn the_limit_is_kept_to_the_byte_and_zero_empties_the_pool() {
    let pool = roomy();
    for limit in [8 << 20, (5 << 20) + 17, 1 << 20, 100_000, 20_000, 1000, 1] {
        pool.set_limit(limit);
        let file = pool.join(key(1));
        let one = share_or_none(&file);
        assert!(pool.used() <= limit);
        let Some(one) = one else {
            assert!(limit < 100_000);
            continue;
        };
        for number in 2..3000 {
            put_and_find(&one, number, &page(number, 1));
            assert!(pool.used() <= limit, "{limit}");
        }
        // The remainder is less than a page for each shard, the tables, and the data kept per page.
        let held = count(&one, 2..3000, 1) * PAGE_BYTES;
        let least = limit.saturating_sub(limit / 20 + 40_000);
        assert!(held <= limit && held >= least, "{held} of {limit}");
        assert!(pool.used() >= held);
        pool.set_limit(limit - 1);
        assert!(!has(&one, 2, 1) && pool.used() < 100_000 + limit / 20);
        put(&one, 5, 1);
        assert!(!has(&one, 5, 1), "the tables are closed");
    }
    // More than any machine has: tables of that size are allocated, for one page.
    pool.set_limit(usize::MAX);
    let file = pool.join(key(1));
    let one = share_or_none(&file).unwrap();
    put(&one, 5, 1);
    assert!(has(&one, 5, 1) && pool.limit() == 64 << 30);
    pool.set_limit(0);
    drop((one, file));
    assert_eq!(pool.used(), 0);
    assert!(!pool.is_on() && share_or_none(&pool.join(key(1))).is_none());
}

fn share_or_none(file: &Arc<PooledFile>) -> Option<Share> {
    file.share(|| Some(label(1)))
}

#[test]
fn a_scan_displaces_nothing_that_lives_and_random_reads_displace_what_is_not_asked_for() {
    let pool = roomy();
    pool.set_limit(1 << 20);
    let file = pool.join(key(1));
    let one = share(&file, label(1));
    (2..2000).for_each(|number| put(&one, number, 1));
    let held: Vec<u32> = (2..2000).filter(|number| has(&one, *number, 1)).collect();
    assert!(held.len() > 200);
    for _ in 0..3 {
        (3000..3100).for_each(|number| (0..2).for_each(|_| one.offer(number, &page(number, 1), true)));
    }
    assert!(held.iter().all(|number| has(&one, *number, 1)));
    // Pages that are requested often stay among many that are read twice and never again.
    let hot = &held[..40];
    for round in 0..20 {
        assert!(hot.iter().filter(|number| has(&one, **number, 1)).count() >= 38);
        (0..100).for_each(|number| put(&one, 5000 + round * 100 + number, 1));
    }
    // Dead pages make room for a scan.
    let next = share(&file, label(2));
    for number in 3000..4000 {
        (0..2).for_each(|_| next.offer(number, &page(number, 2), true));
    }
    assert!(count(&next, 3000..4000, 2) >= 150);
}

#[test]
fn a_scan_of_more_than_the_pool_holds_is_not_taken_in_when_it_comes_again() {
    let pool = roomy();
    pool.set_limit(1 << 20);
    let one = share(&pool.join(key(1)), label(1));
    for _ in 0..5 {
        (2..5000).for_each(|number| one.offer(number, &page(number, 1), true));
    }
    // Marks collide, so some pages are stored by mistake.
    assert!(count(&one, 2..5000, 1) < 5000 / 10);
}

/// growth-pays in `tables.rs`: a pool whose pages are not found stays at one chunk, and one whose pages are found grows.
#[test]
fn memory_is_added_when_what_there_is_has_answered_reads() {
    let pool = roomy();
    let file = pool.join(key(1));
    let one = share(&file, label(1));
    (2..3000).for_each(|number| put(&one, number, 1));
    let chunk = 2 << 20;
    let first = pool.used();
    assert!(first > chunk && first < 2 * chunk, "{first}");
    // One page in eight displaces another, so some of the last ones are there.
    assert!(count(&one, 2500..3000, 1) > 20);
    for _ in 0..3 {
        assert!(count(&one, 2..3000, 1) >= 400);
        (2..3000).for_each(|number| put(&one, number, 1));
    }
    let later = pool.used();
    assert!(later > first + chunk, "{later} after {first}");
}

#[test]
fn pages_of_another_size_get_their_share_of_the_memory() {
    let pool = roomy();
    let (small, large) = (pool.join(key(1)), pool.join(key(2)));
    let (one, two) = (share(&small, label(1)), share(&large, label(1)));
    (2..6000).for_each(|number| put_and_find(&one, number, &page(number, 1)));
    let alone = count(&one, 2..6000, 1);
    for number in 2..1000_u32 {
        put_and_find(&two, number, &[9; 65536]);
        assert!(pool.used() <= pool.limit());
    }
    let mut out = vec![0; 65536];
    let larges = (2..1000).filter(|number| two.read(*number, &mut out)).count();
    assert!(out == [9; 65536]);
    let smalls = count(&one, 2..6000, 1);
    assert!(
        larges >= 60 && smalls >= 1000 && smalls < alone,
        "{larges} and {smalls} of {alone}"
    );
    drop((one, small));
    // The page size that no connection uses any more leaves its memory to the other.
    for number in 2..1000_u32 {
        put_and_find(&two, number, &[9; 65536]);
    }
    let more = (2..1000).filter(|number| two.read(*number, &mut out)).count();
    assert!(more > larges + 30, "{more} after {larges}");
    drop((two, large));
    assert_eq!(pool.used(), 0);
}

#[test]
fn threads_find_what_they_put_in() {
    // Under Miri each step takes a thousand times as long.
    let (rounds, pages) = if cfg!(miri) { (8, 12) } else { (30, 300) };
    let pool = roomy();
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let pool = &pool;
            scope.spawn(move || {
                let file = pool.join(key(u64::from(thread % 2)));
                for round in 0..rounds {
                    let Some(share) = file.share(|| Some(label(thread % 2 + round % 3))) else {
                        continue;
                    };
                    for number in 2..pages {
                        let mut out = vec![0; PAGE_BYTES];
                        if share.read(number, &mut out) {
                            assert_eq!(out[..4], number.to_be_bytes());
                        } else {
                            share.offer(number, &page(number, 1), number % 2 == 0);
                        }
                    }
                    if thread == 0 {
                        pool.set_limit(usize::from(round % 7) << 20);
                    }
                }
            });
        }
    });
    assert_eq!(pool.used(), 0);
}
