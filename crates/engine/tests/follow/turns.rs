//! Turn by turn, in one process.

use selenite_engine::restore::Which;

use crate::{Bench, add};

#[test]
fn what_was_committed_since_the_backup_is_restored() {
    let bench = Bench::new();
    let database = bench.open();
    for _ in 0..50 {
        add(&database, 0, 200).unwrap();
    }
    let first = bench.once().unwrap();
    assert_eq!(first.objects.0, 1, "where the backup was taken");
    for _ in 0..70 {
        add(&database, 0, 5000).unwrap();
    }
    let second = bench.once().unwrap();
    assert_eq!((&second.archive, second.objects.0), (&first.archive, 2));
    add(&database, 1, 10).unwrap();
    let third = bench.once().unwrap();
    assert_eq!((&third.archive, third.objects.0), (&first.archive, 3));
    assert_eq!(bench.once().unwrap().objects.0, 3, "nothing came");
    let (to, restored) = bench.restore(Which::Newest).unwrap();
    assert_eq!(bench.check(&to), [120, 1]);
    assert_eq!(restored.log_count, 3);
    // The backup alone is as it was.
    let (to, restored) = bench.restore(Which::Named(first.archive.unwrap())).unwrap();
    assert_eq!(bench.check(&to), [50]);
    assert_eq!(restored.log_count, 0);
}
