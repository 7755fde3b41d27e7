//! Concurrent use of a destination by several threads.

use std::sync::Barrier;
use std::thread;

use selenite_backup::StoreErrorKind;

use super::faulty_store::{Fault, FaultyStore, Habits};
use super::real_store::RealStore;
use super::{open, settings};

#[test]
fn of_several_writers_of_one_object_one_succeeds() {
    let store = RealStore::start();
    let places: Vec<_> = (0..4).map(|_| open(&settings(store.port))).collect();
    let barrier = Barrier::new(8);
    let results: Vec<bool> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|writer: u8| {
                let (place, barrier) = (&places[usize::from(writer) % 4], &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    match place.put_new("one", &[writer; 100]) {
                        Ok(()) => true,
                        Err(error) if error.kind == StoreErrorKind::Exists => false,
                        Err(error) => panic!("{error}"),
                    }
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(results.iter().filter(|won| **won).count(), 1);
    let winner = results.iter().position(|won| *won).unwrap();
    assert_eq!(
        places[0].get("one", 100).unwrap(),
        vec![u8::try_from(winner).unwrap(); 100]
    );
}

#[test]
fn several_writers_succeed_over_an_unreliable_network() {
    let store = FaultyStore::start(Habits::default());
    let mut settings = settings(store.port);
    settings.policy.tries_max = 30;
    let place = open(&settings);
    let faults = (0..12).map(|number| match number % 3 {
        0 => Fault::Closes,
        1 => Fault::Loses,
        _ => Fault::Says(503, "SlowDown"),
    });
    store.fail(faults);
    thread::scope(|scope| {
        for writer in 0..4_u8 {
            let place = place.as_ref();
            scope.spawn(move || {
                for number in 0..5 {
                    place.put_new(&format!("{writer}/{number}"), &[writer, number]).unwrap();
                }
            });
        }
    });
    for writer in 0..4_u8 {
        for number in 0..5 {
            assert_eq!(place.get(&format!("{writer}/{number}"), 2).unwrap(), [writer, number]);
        }
    }
    assert_eq!(place.list("").unwrap().len(), 20);
    assert_eq!(place.traffic().requests, store.state().asked.len() as u64);
    assert_eq!(place.traffic().retries, 12);
}
