//! Key slots as they are shown to users and selected by them.

use std::fmt;

use selenite_cipher::{MasterKey, SlotId};
use selenite_format::{Slot, SlotKind, Superblock};

use crate::{KeyError, Random, Recipient, SlotBody, hex, origin, random};

/// The slot whose id begins with `wanted` (hexadecimal of either case), or whose label or holder
/// equals it, in the form of [`SlotSummary`]; that of a key command also as `command:NAME`. A
/// complete id takes precedence over labels.
///
/// `NoSuchSlot` if there is none (or `wanted` is empty), `AmbiguousSlot` if there are several.
pub fn find_slot<'a>(superblock: &'a Superblock, wanted: &str) -> Result<&'a Slot, KeyError> {
    let digits = wanted.to_ascii_lowercase();
    let id_of = |slot: &Slot| hex::encode(&slot.id.0);
    if let Some(slot) = superblock.slots.iter().find(|slot| id_of(slot) == digits) {
        return Ok(slot);
    }
    let fits = |slot: &&Slot| {
        let summary = SlotSummary::new(slot);
        let is_spec = slot.kind == SlotKind::Command
            && wanted
                .strip_prefix("command:")
                .is_some_and(|name| name.as_bytes() == slot.identifier);
        !wanted.is_empty()
            && (is_spec
                || id_of(slot).starts_with(&digits)
                || [&summary.label, &slot.label, &summary.who]
                    .iter()
                    .any(|text| *text == wanted))
    };
    let found: Vec<&Slot> = superblock.slots.iter().filter(fits).collect();
    let wanted = wanted.to_owned();
    match found.as_slice() {
        [slot] => Ok(slot),
        [] => Err(KeyError::NoSuchSlot { wanted }),
        _ => Err(KeyError::AmbiguousSlot {
            wanted,
            slots: found
                .into_iter()
                .map(|slot| SlotSummary::new(slot).to_string())
                .collect(),
        }),
    }
}

/// The description of a slot for users. The slot may come from an unauthenticated file: control
/// characters are escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotSummary {
    /// The id of the slot.
    pub id: SlotId,
    /// The kind of the slot.
    pub kind: SlotKind,
    /// When the slot was created: seconds since 1970-01-01 UTC.
    pub created: u64,
    /// The label; may be empty.
    pub label: String,
    /// The identity that opens the slot: `age1...`, `raw key 00ff...`, `passphrase`, `command kms`.
    pub who: String,
    /// Whether its passphrase is stretched by Argon2id, by the size of its parameters (FORMAT 4.5).
    pub is_argon2id: bool,
}

impl SlotSummary {
    /// The summary of a slot.
    pub fn new(slot: &Slot) -> Self {
        let name = String::from_utf8_lossy(&slot.identifier).escape_debug().to_string();
        let who = match slot.kind {
            SlotKind::Raw => format!("raw key {}", hex::encode(&slot.identifier)),
            SlotKind::Passphrase => "passphrase".to_owned(),
            SlotKind::Age => name,
            SlotKind::Command => format!("command {name}"),
            SlotKind::Pkcs11 => "PKCS#11".to_owned(),
            SlotKind::KeyService => "key service".to_owned(),
            SlotKind::Unknown(kind) => format!("unknown kind {kind}"),
        };
        let label = slot.label.escape_debug().to_string();
        Self {
            id: slot.id,
            kind: slot.kind,
            is_argon2id: slot.kind == SlotKind::Passphrase && slot.parameters.len() == 28,
            created: slot.created,
            label,
            who,
        }
    }
}

impl fmt::Display for SlotSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.id, self.who)?;
        if !self.label.is_empty() {
            write!(f, ", {:?}", self.label)?;
        }
        f.write_str(")")
    }
}

/// A new slot for `recipient` with a random id, and with an origin mark if the recipient's secret is available.
pub(crate) fn make(
    recipient: &dyn Recipient,
    label: &str,
    master: &MasterKey,
    now: u64,
    random: &mut Random<'_>,
) -> Result<Slot, KeyError> {
    let blank = Slot {
        kind: recipient.kind(),
        id: SlotId(random::draw(random)),
        created: now,
        label: label.to_owned(),
        identifier: Vec::new(),
        parameters: Vec::new(),
        wrapped: Vec::new(),
    };
    let mut slot = fill(blank, recipient, master)?;
    origin::mark(&mut slot, recipient, master, random);
    Ok(slot)
}

/// The same slot with the master key wrapped again, and without an origin mark.
pub(crate) fn fill(slot: Slot, recipient: &dyn Recipient, master: &MasterKey) -> Result<Slot, KeyError> {
    let SlotBody {
        identifier,
        parameters,
        wrapped,
    } = recipient.wrap(master.database_id(), slot.id, master.secret())?;
    Ok(Slot {
        identifier,
        parameters,
        wrapped,
        ..slot
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{database, raw};

    #[test]
    fn find_slot_takes_a_prefix_that_only_one_slot_has() {
        let mut superblock = database(vec![raw(1), raw(2), raw(3)]).superblock;
        for (slot, first) in superblock.slots.iter_mut().zip([0xab, 0xac, 0x12]) {
            slot.id.0[0] = first;
        }
        let find = |prefix: &str| find_slot(&superblock, prefix).map(|slot| slot.id.0[0]);
        assert_eq!(find("ab").unwrap(), 0xab);
        assert_eq!(find("AC").unwrap(), 0xac);
        assert_eq!(find("1").unwrap(), 0x12);
        assert_eq!(find(&hex::encode(&superblock.slots[1].id.0)).unwrap(), 0xac);
        assert!(matches!(find("a"), Err(KeyError::AmbiguousSlot { slots, .. }) if slots.len() == 2));
        for prefix in ["", "ff", "xyz", &"ab".repeat(17)] {
            assert!(matches!(find(prefix), Err(KeyError::NoSuchSlot { .. })), "{prefix}");
        }
    }

    #[test]
    fn find_slot_takes_a_label_or_a_holder_that_only_one_slot_has() {
        let mut superblock = database(vec![raw(1), raw(2), raw(3)]).superblock;
        let marks = [(0xab, "laptop"), (0xac, "backup host"), (0x12, "ab")];
        for (slot, (first, label)) in superblock.slots.iter_mut().zip(marks) {
            slot.id.0[0] = first;
            slot.label = label.to_owned();
        }
        let find = |wanted: &str| find_slot(&superblock, wanted).map(|slot| slot.id.0[0]);
        assert_eq!(find("laptop").unwrap(), 0xab);
        assert_eq!(find("backup host").unwrap(), 0xac);
        assert!(matches!(find("Laptop"), Err(KeyError::NoSuchSlot { .. })));
        for slot in &superblock.slots {
            assert_eq!(find(&SlotSummary::new(slot).who).unwrap(), slot.id.0[0]);
        }
        let error = find("ab").unwrap_err().to_string();
        assert!(
            error.contains("names 2 key slots: ab") && error.contains("\"laptop\""),
            "{error}"
        );

        superblock.slots[1].kind = SlotKind::Command;
        superblock.slots[1].identifier = b"kms".to_vec();
        assert_eq!(
            find_slot(&superblock, "command:kms").unwrap().id,
            superblock.slots[1].id
        );
        assert!(find_slot(&superblock, "command:km").is_err());

        superblock.slots[2].label = hex::encode(&superblock.slots[0].id.0);
        let id = superblock.slots[2].label.clone();
        assert_eq!(find_slot(&superblock, &id).unwrap().id, superblock.slots[0].id);
    }

    #[test]
    fn a_summary_shows_no_control_characters_of_a_hostile_file() {
        let slot = Slot {
            kind: SlotKind::Age,
            id: SlotId([1; 16]),
            created: 0,
            label: "a\x1b[2Jb".to_owned(),
            identifier: b"age1\x1b]0;x\x07\xff".to_vec(),
            parameters: Vec::new(),
            wrapped: vec![1],
        };
        let text = SlotSummary::new(&slot).to_string();
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}
