use std::sync::Arc;

use selenite_cipher::TRAILER_SIZE;

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

fn page(number: u32, version: u8) -> Vec<u8> {
    let mut bytes = vec![version; PAGE_BYTES];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Offers a page three times: it is taken in then.
fn put(file: &PooledFile, number: u32, generation: u64, version: u8) {
    for _ in 0..3 {
        file.offer(number, generation, &page(number, version), false);
    }
}

fn has(file: &PooledFile, number: u32, generation: u64, version: u8) -> bool {
    let mut out = vec![0; PAGE_BYTES];
    let hit = file.read(number, generation, &mut out);
    assert!(!hit || out == page(number, version), "page {number} is another one");
    hit
}

/// With room for all that a test puts in.
fn roomy() -> Arc<Pool> {
    let pool = Pool::new();
    pool.set_limit(64 << 20);
    pool
}

#[test]
fn a_page_is_taken_in_when_it_is_read_for_the_third_time() {
    let pool = roomy();
    let file = pool.join(key(1));
    let generation = file.generation_of(label(1));
    for _ in 0..2 {
        file.offer(5, generation, &page(5, 1), false);
        assert!(!has(&file, 5, generation, 1));
    }
    file.offer(5, generation, &page(5, 1), false);
    assert!(has(&file, 5, generation, 1) && !has(&file, 6, generation, 1));
    assert_eq!(pool.used(), cost(PAGE_BYTES));
}

#[test]
fn another_label_is_another_generation_and_nothing_of_the_one_before_is_served() {
    let pool = roomy();
    let file = pool.join(key(1));
    let one = file.generation_of(label(1));
    assert_eq!(file.generation_of(label(1)), one);
    put(&file, 5, one, 1);
    let two = file.generation_of(label(2));
    assert!(two > one && !has(&file, 5, two, 1));
    put(&file, 5, two, 2);
    assert!(has(&file, 5, two, 2) && !has(&file, 5, one, 1));
    // A reader that is still in the older transaction puts nothing in.
    put(&file, 6, one, 1);
    assert!(!has(&file, 6, two, 2) && !has(&file, 6, one, 1));
    // A label that comes back is a generation of its own.
    let three = file.generation_of(label(1));
    assert!(three > two && !has(&file, 5, three, 1));
    let keys = Label::of_trailer(2, [1; TRAILER_SIZE]);
    assert!(file.generation_of(keys) > three);
}

#[test]
fn a_log_that_nobody_uses_any_more_is_another_one() {
    let pool = roomy();
    let file = pool.join(key(1));
    file.enter_log();
    file.enter_log();
    let generation = file.generation_of(label(1));
    file.leave_log();
    assert_eq!(file.generation_of(label(1)), generation);
    file.leave_log();
    assert!(file.generation_of(label(1)) > generation);
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
    let generation = one.generation_of(label(1));
    let (second, third) = (other.generation_of(label(1)), privileged.generation_of(label(1)));
    put(&one, 5, generation, 1);
    assert!(!has(&other, 5, second, 1) && !has(&privileged, 5, third, 1) && !has(&other, 5, generation, 1));
    put(&other, 5, second, 2);
    drop(one);
    assert_eq!(pool.used(), cost(PAGE_BYTES));
    let again = pool.join(key(1));
    assert!(!has(&again, 5, generation, 1) && has(&other, 5, second, 2));
    drop(other);
    assert_eq!(pool.used(), 0);
}

#[test]
fn the_limit_is_kept_to_the_byte_and_zero_empties_the_pool() {
    let pool = roomy();
    let file = pool.join(key(1));
    let generation = file.generation_of(label(1));
    let limit = 100 * cost(PAGE_BYTES) + 17;
    pool.set_limit(limit);
    for number in 2..1000 {
        put(&file, number, generation, 1);
        assert!(pool.used() <= limit);
    }
    assert_eq!(pool.used(), 100 * cost(PAGE_BYTES));
    pool.set_limit(10 * cost(PAGE_BYTES));
    assert_eq!(pool.used(), 10 * cost(PAGE_BYTES));
    assert_eq!(
        (2..1000).filter(|number| has(&file, *number, generation, 1)).count(),
        10
    );
    pool.set_limit(0);
    assert_eq!(pool.used(), 0);
    assert!(!pool.is_on());
    put(&file, 5, generation, 1);
    assert_eq!(pool.used(), 0);
}

#[test]
fn a_scan_displaces_nothing_that_lives_and_random_reads_displace_what_is_not_asked_for() {
    let pool = roomy();
    let file = pool.join(key(1));
    let generation = file.generation_of(label(1));
    pool.set_limit(160 * cost(PAGE_BYTES));
    (2..162).for_each(|number| put(&file, number, generation, 1));
    assert!((2..162).all(|number| has(&file, number, generation, 1)));
    for _ in 0..3 {
        (1000..3000).for_each(|number| file.offer(number, generation, &page(number, 1), true));
    }
    assert!((2..162).all(|number| has(&file, number, generation, 1)));
    // Those that are asked for stay among many that are read twice and never again.
    for round in 0..20 {
        assert!((2..42).filter(|number| has(&file, *number, generation, 1)).count() >= 38);
        (0..100).for_each(|number| put(&file, 5000 + round * 100 + number, generation, 1));
    }
    // What is dead makes room for a scan.
    let next = file.generation_of(label(2));
    for _ in 0..2 {
        (1000..3000).for_each(|number| file.offer(number, next, &page(number, 2), true));
    }
    assert!((1000..3000).filter(|number| has(&file, *number, next, 2)).count() >= 150);
}

#[test]
fn pages_of_another_size_take_the_room_that_they_need() {
    let pool = roomy();
    let (small, large) = (pool.join(key(1)), pool.join(key(2)));
    let (one, two) = (small.generation_of(label(1)), large.generation_of(label(1)));
    pool.set_limit(50 * cost(PAGE_BYTES));
    (2..100).for_each(|number| put(&small, number, one, 1));
    for number in 2..200_u32 {
        for _ in 0..4 {
            large.offer(number, two, &vec![9; 65536], false);
        }
        assert!(pool.used() <= pool.limit());
    }
    let mut out = vec![0; 65536];
    assert!((2..200).any(|number| large.read(number, two, &mut out)));
    drop((small, large));
    assert_eq!(pool.used(), 0);
}

#[test]
fn threads_find_what_they_put_in() {
    let pool = roomy();
    pool.set_limit(300 * cost(PAGE_BYTES));
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let pool = &pool;
            scope.spawn(move || {
                let file = pool.join(key(u64::from(thread % 2)));
                for round in 0..30_u8 {
                    let generation = file.generation_of(label(thread % 2 + round % 3));
                    for number in 2..300 {
                        let mut out = vec![0; PAGE_BYTES];
                        if file.read(number, generation, &mut out) {
                            assert_eq!(out[..4], number.to_be_bytes());
                        } else {
                            file.offer(number, generation, &page(number, 1), number % 2 == 0);
                        }
                    }
                }
                if thread == 0 {
                    pool.set_limit(20 * cost(PAGE_BYTES));
                }
            });
        }
    });
    assert_eq!(pool.used(), 0);
}
