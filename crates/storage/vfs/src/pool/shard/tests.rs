use std::collections::BTreeMap;

use super::*;
use crate::ffi::Arena;

const PAGE_BYTES: usize = 1024;
const SLOTS: usize = 8;

fn key(file: u32, page: u32) -> PageAddress {
    PageAddress { file, page }
}

fn page(key: PageAddress, version: u8) -> Vec<u8> {
    let mut bytes = vec![version; PAGE_BYTES];
    bytes[..4].copy_from_slice(&key.page.to_be_bytes());
    bytes[4..8].copy_from_slice(&key.file.to_be_bytes());
    bytes
}

/// A shard of `parts` parts.
fn shard(parts: usize) -> (Shard, Filter) {
    let mut shard = Shard::new(PAGE_BYTES, SLOTS, SLOTS * parts);
    for part in Arena::take(4096 * 2 * parts)
        .unwrap()
        .cut(&vec![PAGE_BYTES * SLOTS; parts])
    {
        shard.add_part(part);
    }
    (shard, Filter::new(SLOTS * parts))
}

/// The number of slots that are not zero.
fn used(shard: &Shard) -> usize {
    let pages = shard.parts.iter().flat_map(|part| part.bytes().chunks(PAGE_BYTES));
    pages.filter(|page| page.iter().any(|byte| *byte != 0)).count()
}

#[test]
fn removed_pages_are_wiped() {
    let (mut shard, filter) = shard(2);
    for number in 1..=16 {
        let key = key(number % 2, number);
        assert!(shard.put(key, 1, &page(key, 7), Room::Vacant, &filter));
    }
    assert_eq!(used(&shard), 16);
    shard.remove_part(2, &filter);
    assert_eq!((used(&shard), shard.slots.len()), (8, 8));
    shard.forget_file(0, &filter);
    assert_eq!(used(&shard), 4);
    shard.forget_file(1, &filter);
    assert!(used(&shard) == 0 && shard.is_empty());
    assert!((1..=16).all(|number| !filter.may_hold(key(number % 2, number))));
}

/// Compares the shard with a map, for page numbers that collide.
#[test]
fn a_shard_has_exactly_the_pages_stored_and_not_removed() {
    let mut state = 20_261_121_u64;
    println!("seed {state}");
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % below).unwrap()
    };
    let (mut shard, filter) = shard(8);
    let mut model = BTreeMap::new();
    // Under Miri each step takes a thousand times as long.
    for round in 0..if cfg!(miri) { 200 } else { 40_000_u32 } {
        let key = key(draw(3), draw(60) + 1);
        let index = (key.file, key.page);
        let version = u8::try_from(round % 251 + 1).unwrap();
        match draw(8) {
            0..=2 => {
                let known = shard.renew(key, u64::from(round) + 1, &page(key, version));
                assert_eq!(known, model.contains_key(&index));
                if known || shard.put(key, u64::from(round) + 1, &page(key, version), Room::Vacant, &filter) {
                    model.insert(index, (u64::from(round) + 1, version));
                } else {
                    assert_eq!(model.len(), SLOTS * 8);
                }
            }
            3 | 4 if draw(20) == 0 => {
                shard.forget_file(key.file, &filter);
                model.retain(|(file, _), _| *file != key.file);
            }
            _ => {
                let mut out = vec![0; PAGE_BYTES];
                let generation = model.get(&index).map_or(1, |(generation, _)| *generation);
                let hit = shard.read(key, generation, &mut out);
                assert_eq!(
                    hit.then_some(out),
                    model.get(&index).map(|(_, version)| page(key, *version))
                );
                assert!(!hit || filter.may_hold(key));
            }
        }
        assert_eq!(shard.slots.len() - shard.vacant.len(), model.len());
    }
}
