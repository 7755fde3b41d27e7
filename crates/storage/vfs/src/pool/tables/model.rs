//! Model: readers, a writer that replaces a page, and the end of the pool, in every interleaving of
//! two of them.

use super::*;

const PAGE_BYTES: usize = 1024;
/// Room for the tables and for one page of each shard.
const LIMIT: usize = 64 << 10;
/// 512 KiB: loom passes the size as a number of words.
const STACK_WORDS: usize = 1 << 16;
const KEY: PageAddress = PageAddress { file: 1, page: 2 };

fn page(version: u8) -> [u8; PAGE_BYTES] {
    [version; PAGE_BYTES]
}

/// Tables that contain the page in generation 1.
fn tables() -> (Arc<Budget>, Arc<Tables>) {
    let budget = Arc::new(Budget::default());
    budget.limit.store(LIMIT, Ordering::SeqCst);
    let tables = Arc::new(Tables::new(&budget).unwrap());
    // It is stored when it is read for the second time.
    for _ in 0..2 {
        tables.offer(KEY, 1, &page(1), false);
    }
    assert!(tables.read(KEY, 1, &mut page(0)));
    (budget, tables)
}

/// A thread of loom with a larger stack: the default is 32 KiB.
fn spawn(body: impl FnOnce() + Send + 'static) -> loom::thread::JoinHandle<()> {
    loom::thread::Builder::new()
        .stack_size(STACK_WORDS)
        .spawn(body)
        .unwrap()
}

fn check(model: impl Fn() + Send + Sync + 'static) {
    let model = Arc::new(model);
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 20_000;
    let orders = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = orders.clone();
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        let model = model.clone();
        spawn(move || model()).join().unwrap();
    });
    println!("{} orders", orders.load(Ordering::Relaxed));
}

/// A page that is found must be complete, and of the requested generation.
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
fn a_replaced_page_is_found_whole_in_one_generation() {
    check(|| {
        let (_budget, tables) = tables();
        let shared = tables.clone();
        let writer = spawn(move || (0..2).for_each(|_| shared.offer(KEY, 2, &page(2), false)));
        read(&tables, 1);
        read(&tables, 2);
        writer.join().unwrap();
        assert!(!read(&tables, 1) && read(&tables, 2));
    });
}

#[test]
fn two_threads_that_store_one_page_leave_the_newer_generation_or_none() {
    check(|| {
        let (_budget, tables) = tables();
        let (one, other) = (PageAddress { file: 1, page: 4 }, PageAddress { file: 1, page: 6 });
        // Both are in the page's shard, which has no room left for both: the later one displaces
        // the other.
        let shared = tables.clone();
        let writer = spawn(move || {
            shared.offer(one, 1, &page(1), false);
            shared.offer(one, 1, &page(1), false);
            shared.offer(KEY, 2, &page(2), false);
            shared.offer(KEY, 2, &page(2), false);
        });
        tables.offer(other, 1, &page(1), false);
        tables.offer(other, 1, &page(1), false);
        tables.offer(KEY, 1, &page(1), false);
        read(&tables, 1);
        writer.join().unwrap();
        assert!(!read(&tables, 1));
        read(&tables, 2);
    });
}

#[test]
fn tables_that_are_closed_hold_nothing_and_have_given_all_back() {
    check(|| {
        let (budget, tables) = tables();
        let shared = tables.clone();
        let reader = spawn(move || {
            read(&shared, 1);
            // After closing there would be room for both.
            for page_number in [2, 3] {
                let key = PageAddress {
                    file: 1,
                    page: page_number,
                };
                (0..2).for_each(|_| shared.offer(key, 1, &page(1), false));
            }
        });
        tables.close();
        reader.join().unwrap();
        assert!(!read(&tables, 1));
        drop(tables);
        assert_eq!(budget.used.load(Ordering::SeqCst), 0);
    });
}
