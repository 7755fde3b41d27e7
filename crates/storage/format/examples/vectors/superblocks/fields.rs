//! Superblocks with valid checksum and MAC that break a rule of FORMAT 3.

use selenite_cipher::{Epoch, SlotId, Suite};
use selenite_format::{EpochRecord, Slot, SlotKind, State, Superblock};

use super::{TAMPERED, base, opens, refuses};
use crate::vector::Vector;
use crate::world::{encode, epoch_record, named, raw_slot, signed};

pub fn all() -> Vec<Vector> {
    [fields(), epochs(), slots(), sizes()].concat()
}

/// Fields with one valid value, and limits.
fn fields() -> Vec<Vector> {
    let case = |name: &str, comment: &str, offset: usize, value: &[u8]| {
        let mut bytes = encode(&base());
        bytes[offset..offset + value.len()].copy_from_slice(value);
        let bytes = signed(bytes);
        refuses(name, TAMPERED, comment, bytes.clone(), bytes)
    };
    let page_size = |size: u32| size.to_be_bytes();
    vec![
        case("field-mark", "bytes 16 and 17 are not 02 00", 16, &[4, 0]),
        case("field-version", "version 0", 19, &[0]),
        case("zero-field-20", "byte 20 is not zero", 20, &[1]),
        case("zero-field-28", "byte 31 is not zero", 31, &[1]),
        case("field-generation", "generation 0", 32, &[0; 8]),
        case("page-size-512", "page size 512", 56, &page_size(512)),
        case("page-size-3000", "page size 3000", 56, &page_size(3000)),
        case("page-size-131072", "page size 131072", 56, &page_size(131_072)),
        case("page-size-reserve", "reserve 47", 60, &[47]),
        case("field-state", "state 6", 61, &[6]),
        case("field-flags", "flag bit 1", 63, &[3]),
        case("field-cursor", "a cursor in state 0", 75, &[1]),
        case("zero-field-88", "byte 127 is not zero", 127, &[1]),
        case("zero-field-188", "byte 188 is not zero", 188, &[1]),
        case("zero-field-epoch-6", "byte 6 of the epoch is not zero", 192 + 6, &[1]),
        case(
            "zero-field-epoch-76",
            "byte 79 of the epoch is not zero",
            192 + 79,
            &[1],
        ),
        case("zero-field-slot-6", "byte 7 of the slot is not zero", 272 + 7, &[1]),
        case("zero-field-slot-40", "byte 40 of the slot is not zero", 272 + 40, &[1]),
        case(
            "zero-field-end",
            "a byte between the last slot and the MAC is not zero",
            447,
            &[1],
        ),
    ]
}

/// Epochs and slots that `Superblock::encode` would refuse.
struct Parts {
    epochs: Vec<Vec<u8>>,
    slots: Vec<Vec<u8>>,
    epoch_max: u32,
    sealing_epoch: u32,
}

impl Parts {
    fn new(records: &[EpochRecord], slots: &[Slot]) -> Self {
        let epochs = records.iter().map(epoch_bytes).collect();
        Self {
            epochs,
            slots: slots.iter().map(slot_bytes).collect(),
            epoch_max: 2,
            sealing_epoch: 1,
        }
    }

    fn build(self) -> Vec<u8> {
        let mut out = encode(&base())[..192].to_vec();
        out[64..68].copy_from_slice(&self.epoch_max.to_be_bytes());
        out[68..72].copy_from_slice(&self.sealing_epoch.to_be_bytes());
        out[77] = u8::try_from(self.epochs.len()).expect("few");
        out[79] = u8::try_from(self.slots.len()).expect("few");
        out.extend(self.epochs.concat());
        out.extend(self.slots.concat());
        out.resize((out.len() + 64).next_multiple_of(512), 0);
        let size = u32::try_from(out.len()).expect("small");
        out[24..28].copy_from_slice(&size.to_be_bytes());
        signed(out)
    }

    fn refused(self, case: &str, comment: &str) -> Vector {
        let bytes = self.build();
        refuses(case, TAMPERED, comment, bytes.clone(), bytes)
    }
}

fn epoch_bytes(record: &EpochRecord) -> Vec<u8> {
    let zeros = [0; 4];
    [
        record.epoch.0.to_be_bytes().as_slice(),
        &record.suite.id().to_be_bytes(),
        &zeros[..2],
        &record.created.to_be_bytes(),
        &record.wrapped,
        &zeros,
    ]
    .concat()
}

fn slot_bytes(slot: &Slot) -> Vec<u8> {
    let size = |bytes: &[u8]| u16::try_from(bytes.len()).expect("small").to_be_bytes();
    let slot_size = u32::try_from(slot.size()).expect("small");
    [
        slot_size.to_be_bytes().as_slice(),
        &slot.kind.id().to_be_bytes(),
        &[0; 2],
        &slot.id.0,
        &slot.created.to_be_bytes(),
        &size(slot.label.as_bytes()),
        &size(&slot.identifier),
        &size(&slot.parameters),
        &size(&slot.wrapped),
        &[0; 8],
        slot.label.as_bytes(),
        &slot.identifier,
        &slot.parameters,
        &slot.wrapped,
    ]
    .concat()
}

fn epochs() -> Vec<Vector> {
    let record = |number| epoch_record(number, Suite::Aes256);
    let parts = |numbers: &[u32]| {
        let records: Vec<EpochRecord> = numbers.iter().map(|&number| record(number)).collect();
        Parts::new(&records, &[raw_slot()])
    };
    let mut suite = parts(&[1]);
    suite.epochs[0][5] = 8;
    let switching_on = Superblock {
        state: State::SwitchingOn,
        epochs: vec![record(1), epoch_record(2, Suite::None)],
        epoch_max: Epoch(2),
        ..base()
    };
    let mut changing = encode(&switching_on);
    changing[61] = State::Changing.id();
    let changing = signed(changing);
    let none_changing = "changing key or suite, with an epoch of suite NONE";
    vec![
        parts(&[]).refused("epochs-none", "no epoch"),
        Parts {
            epoch_max: 3,
            ..parts(&[1, 2, 3])
        }
        .refused("epochs-three", "three epochs"),
        parts(&[1, 0]).refused("epochs-zero", "an epoch with number 0"),
        parts(&[1, 1]).refused("epochs-twice", "the same epoch number twice"),
        parts(&[1, 3]).refused("epochs-above", "an epoch number above the highest ever used"),
        Parts {
            sealing_epoch: 2,
            ..parts(&[1])
        }
        .refused("epochs-sealing", "the sealing epoch is not listed"),
        refuses(
            "epochs-none-changing",
            TAMPERED,
            none_changing,
            changing.clone(),
            changing,
        ),
        suite.refused("epochs-suite", "a suite that there is not"),
    ]
}

fn slots() -> Vec<Vector> {
    let parts = |slots: &[Slot]| Parts::new(&[epoch_record(1, Suite::Aes256)], slots);
    let changed = |change: fn(&mut Slot)| {
        let mut slot = raw_slot();
        slot.id = SlotId(named("another slot id"));
        change(&mut slot);
        parts(&[raw_slot(), slot])
    };
    let many = |count: u8| -> Vec<Slot> {
        let others = (1..count).map(|index| Slot {
            kind: SlotKind::Unknown(100),
            id: SlotId([index; 16]),
            label: String::new(),
            identifier: Vec::new(),
            wrapped: vec![index],
            ..raw_slot()
        });
        others.chain([raw_slot()]).collect()
    };
    let mut beyond = parts(&[raw_slot()]);
    // 448 - 272 = 176 bytes are available: with 119 wrapped bytes instead of 92 it has 187, and ends within the MAC.
    beyond.slots[0][3] = 187;
    beyond.slots[0][39] = 119;
    let mut size = parts(&[raw_slot()]);
    size.slots[0][3] += 1;
    let mut label = parts(&[raw_slot()]);
    label.slots[0][48] = 0xff;
    let full = Superblock {
        slots: many(32),
        ..base()
    };
    let bytes = encode(&full);
    vec![
        opens(
            "slots-32",
            "31 slots of a kind that nobody knows, then the raw one",
            bytes.clone(),
            bytes,
            "A",
        ),
        parts(&[]).refused("slots-none", "no slot"),
        parts(&many(33)).refused("slots-33", "33 slots"),
        beyond.refused("slots-beyond", "the slot ends beyond the place for slots"),
        size.refused("slots-size", "the slot's size is not that of its parts"),
        label.refused("slots-label-utf-8", "the label is not UTF-8"),
        parts(&[raw_slot(), raw_slot()]).refused("slots-twice", "the same slot id twice"),
        changed(|slot| slot.label = "x".repeat(65)).refused("slots-label", "a label of 65 bytes"),
        changed(|slot| slot.identifier = vec![1; 513]).refused("slots-identifier", "an identifier of 513 bytes"),
        changed(|slot| slot.parameters = vec![1; 65]).refused("slots-parameters", "65 bytes of parameters"),
        changed(|slot| slot.wrapped = vec![1; 8193]).refused("slots-wrapped", "8193 bytes wrapped"),
        changed(|slot| slot.wrapped.clear()).refused("slots-wrapped-none", "nothing wrapped"),
    ]
}

/// The maximum size of each part of a slot.
fn sizes() -> Vec<Vector> {
    let largest = Slot {
        kind: SlotKind::Unknown(100),
        id: SlotId(named("another slot id")),
        created: 0,
        label: "x".repeat(64),
        identifier: vec![1; 512],
        parameters: vec![2; 64],
        wrapped: vec![3; 8192],
    };
    let bytes = encode(&Superblock {
        slots: vec![largest, raw_slot()],
        ..base()
    });
    vec![opens(
        "slots-largest",
        "a slot with as much of everything as there may be",
        bytes.clone(),
        bytes,
        "A",
    )]
}
