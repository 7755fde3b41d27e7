use proptest::collection::vec;
use proptest::prelude::*;
use selenite_cipher::{SlotId, Suite};

use super::*;

fn any_slot() -> impl Strategy<Value = Slot> {
    let id: [u8; 16] = [0; 16];
    (
        any::<u16>(),
        any::<u64>(),
        "\\PC{0,16}",
        vec(any::<u8>(), 0..40),
        vec(any::<u8>(), 0..=64),
        vec(any::<u8>(), 1..300),
    )
        .prop_map(move |(kind, created, label, identifier, parameters, wrapped)| Slot {
            kind: SlotKind::from_id(kind % 9),
            id: SlotId(id),
            created,
            label,
            identifier,
            parameters,
            wrapped,
        })
}

proptest! {
    #[test]
    fn parse_reverses_encode(
        numbers: (u64, u64, u32, [u8; 16]),
        choices in (0..6_usize, 0..7_u32, any::<bool>(), 1..=2_u32, 0..8_usize),
        mut slots in vec(any_slot(), 1..=32),
        mac: [u8; 32],
    ) {
        let (state, size, pages_exist, epoch_count, suite) = choices;
        for (slot, id) in slots.iter_mut().zip(0..) {
            slot.id = SlotId([id; 16]);
        }
        let suite = Suite::ALL[suite];
        // FORMAT 5.4: in state 3 no epoch is NONE.
        let changes_none = suite == Suite::None && State::ALL[state] == State::Changing;
        let state = if changes_none { State::Finishing } else { State::ALL[state] };
        let superblock = Superblock {
            generation: numbers.0.max(1),
            database_id: DatabaseId(numbers.3),
            page_size: PageSize::try_from(1024 << size).unwrap(),
            state,
            pages_exist,
            epoch_max: Epoch(u32::MAX),
            sealing_epoch: Epoch(epoch_count),
            cursor: if state.has_cursor() { numbers.2 } else { 0 },
            master_created: numbers.1,
            log_key: [0x17; 60],
            epochs: (1..=epoch_count).map(|number| epoch(number, suite)).collect(),
            slots,
        };
        let bytes = superblock.encode(|_| mac).unwrap();
        prop_assert_eq!(Superblock::parse(&bytes), Ok(superblock));
        prop_assert_eq!(Superblock::maced(&bytes).1, &mac);
    }

    #[test]
    fn parse_never_panics_on_a_whole_superblock(
        blocks in 1..8_usize,
        mut body in vec(any::<u8>(), 512 * 8),
        counts in (0..4_u8, 0..4_u8),
    ) {
        let size = blocks * 512;
        body.truncate(size);
        body[..16].copy_from_slice(&MAGIC);
        body[16..20].copy_from_slice(&[2, 0, 0, 1]);
        body[24..28].copy_from_slice(&u32::try_from(size).unwrap().to_be_bytes());
        // With valid fields before them, random bytes reach the parsing of epochs and slots.
        let fixed = encoded(&superblock());
        body[20..24].fill(0);
        body[28..192].copy_from_slice(&fixed[28..192]);
        body[77] = counts.0;
        body[79] = counts.1;
        let bytes = whole_again(body);
        prop_assert_ne!(Superblock::parse(&bytes), Err(FormatError::NotWhole));
    }

    #[test]
    fn parse_never_panics(bytes in vec(any::<u8>(), 0..2048)) {
        prop_assert_eq!(Superblock::parse(&bytes), Err(FormatError::NotWhole));
        prop_assert_eq!(inspect(&bytes), Whole::No);
    }
}
