//! Readers, a writer that renews a page, and the end of the pool, in every order that two of them can take.

use super::*;

const PAGE_BYTES: usize = 1024;
/// Room for the tables and for one page of each shard.
const LIMIT: usize = 64 << 10;
const KEY: PageKey = PageKey { file: 1, page: 2 };

fn page(version: u8) -> [u8; PAGE_BYTES] {
    [version; PAGE_BYTES]
}

/// Tables in which the page is of generation 1.
fn tables() -> (Arc<Budget>, Arc<Tables>) {
    let budget = Arc::new(Budget::default());
    budget.limit.store(LIMIT, Ordering::SeqCst);
    let tables = Arc::new(Tables::new(&budget).unwrap());
    // It is taken in when it is read for the second time.
    for _ in 0..2 {
        tables.offer(KEY, 1, &page(1), false);
    }
    assert!(tables.read(KEY, 1, &mut page(0)));
    (budget, tables)
}

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// What is found is whole, and of the generation that was asked for.
fn read(tables: &Tables, generation: u64) -> bool {
    let mut out = page(0);
    let is_found = tables.read(KEY, generation, &mut out);
    assert!(
        !is_found || out == page(u8::try_from(generation).unwrap()),
        "{generation}"
    );
    is_found
}

#[test]
fn a_page_that_is_renewed_is_found_whole_in_one_generation() {
    check(|| {
        let (_budget, tables) = tables();
        let shared = tables.clone();
        let writer = loom::thread::spawn(move || shared.offer(KEY, 2, &page(2), false));
        read(&tables, 1);
        read(&tables, 2);
        writer.join().unwrap();
        assert!(!read(&tables, 1) && read(&tables, 2));
    });
}

#[test]
fn tables_that_are_closed_hold_nothing_and_have_given_all_back() {
    check(|| {
        let (budget, tables) = tables();
        let shared = tables.clone();
        let reader = loom::thread::spawn(move || {
            read(&shared, 1);
            // Another page, for which memory would be taken.
            let key = PageKey { file: 1, page: 3 };
            shared.offer(key, 1, &page(1), false);
            shared.offer(key, 1, &page(1), false);
        });
        tables.close();
        reader.join().unwrap();
        assert!(!read(&tables, 1));
        drop(tables);
        assert_eq!(budget.used.load(Ordering::SeqCst), 0);
    });
}
