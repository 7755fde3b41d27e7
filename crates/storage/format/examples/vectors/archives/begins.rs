//! The object `begun` of an archive: FORMAT 12.3.

use crate::archive::Archive;
use crate::archives::{PACKED, full, full_unfinished, numbered, opens, sample};
use crate::vector::Vector;

/// The archive key of `escrow` in an age file for the recipient of testdata/age.
const AGE_FILE: &[u8] = include_bytes!("../../../../../../testdata/archive/key.age");
const IDENTITY: &str = include_str!("../../../../../../testdata/age/identity.txt");
const RECIPIENT: &str = include_str!("../../../../../../testdata/age/recipient.txt");

pub fn all() -> Vec<Vector> {
    [recipients(), keys(), names(), forms()].concat()
}

fn escrow() -> Archive {
    let mut archive = Archive::begin("escrow", 0);
    archive.begun.recipients = vec![AGE_FILE.to_vec()];
    let listed = format!("selenite/1 archive recipients\n{}", RECIPIENT.trim());
    archive.begun.recipients_tag = archive.key().mac(listed.as_bytes());
    archive.seal_begun();
    archive
        .part(&[crate::archive::framed(PACKED)], &numbered(&sample()))
        .finish()
}

fn by_age(case: &str, class: &str, comment: &str, archive: &Archive) -> Vector {
    let key = format!("age {}", IDENTITY.trim());
    let vector = Vector::with_key(&format!("archive/{case}"), class, comment, key).line("archive", archive.folder());
    if class == "ok" {
        let vector = vector.line("recipient", RECIPIENT.trim()).released_sound(&sample());
        return archive.add_to(vector);
    }
    archive.add_to(vector)
}

fn recipients() -> Vec<Vector> {
    let comment = "opened by a slot of the database, and made for a recipient";
    let mut other = full_unfinished("escrow of another");
    // The key of another archive in a file that can be opened.
    other.begun.recipients = vec![AGE_FILE.to_vec()];
    other.seal_begun();
    vec![
        by_age("recipient", "ok", "opened by a recipient's file", &escrow()),
        opens("recipient-slot", comment, &escrow()).line("recipient", RECIPIENT.trim()),
        by_age(
            "recipient-none",
            "wrong key",
            "an age identity, and a file for nobody",
            &full("full"),
        ),
        by_age(
            "recipient-other-key",
            "wrong key",
            "a recipient's file holds the key of another archive: it is passed over",
            &other.finish(),
        ),
    ]
}

fn keys() -> Vec<Vector> {
    let whole = full("full");
    let key = format!("raw {}", crate::vector::hex(&[0x6b; 32]));
    let wrong = Vector::with_key("archive/wrong-key", "wrong key", "no slot opens", key);
    let mut master = full_unfinished("wrapped elsewhere");
    // Wrapped for another archive: the associated data differs.
    master.begun.wrapped_key = whole.begun.wrapped_key;
    master.seal_begun();
    vec![
        whole.add_to(wrong.line("archive", whole.folder())),
        refused(
            "wrapped-of-another",
            "the wrapped key is another archive's",
            &master.finish(),
        ),
    ]
}

/// Whether an archive is at the place to which it was written.
fn names() -> Vec<Vector> {
    let (whole, other) = (full("full"), full("other"));
    let moved = |folder: &str, comment: &str, case: &str| {
        let vector = Vector::new(&format!("archive/begun-{case}"), "begun refused", comment).line("archive", folder);
        whole.objects.iter().fold(vector, |vector, (name, bytes)| {
            vector.object(format!("{folder}/{name}"), bytes.clone())
        })
    };
    let folder = whole.folder();
    vec![
        moved(
            &folder.replace("T2213", "T2214"),
            "the folder says that it was begun a minute later",
            "other-time",
        ),
        moved(
            &other.folder(),
            "the folder says that it is another archive",
            "other-archive-id",
        ),
        moved(
            &format!("{}{}", "0".repeat(32), &folder[32..]),
            "the folder says that it is of another database",
            "other-database",
        ),
        refused(
            "of-another",
            "what opens another archive is in its place",
            &whole.clone().with("begun", other.objects["begun"].clone()),
        ),
    ]
}

fn forms() -> Vec<Vector> {
    let whole = full("full");
    let flip = |what: &str, at: i64| {
        let comment = format!("a bit of {what} is flipped");
        let case = format!("flip-{}", what.replace(' ', "-"));
        refused(&case, &comment, &whole.clone().flipped("begun", at))
    };
    // The superblock has 512 bytes, and there is no recipient.
    let size = whole.objects["begun"].len();
    assert_eq!(size, 120 + 512 + 4 + 32 + 32);
    // Inserts bytes after a field with a wrong value, all under the archive's MAC.
    let signed = |name: &'static str, (at, value): (usize, u32), (behind, more): (usize, Vec<u8>)| {
        let mut archive = full_unfinished(name);
        let mut bytes = archive.objects["begun"].clone();
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        bytes.truncate(size - 32);
        bytes.splice(behind..behind, more);
        let mac = archive.key().mac(&bytes);
        bytes.extend(mac);
        archive.put_begun(bytes);
        archive.finish()
    };
    let count = 120 + 512;
    let files = |name, value, more| signed(name, (count, value), (count + 4, more));
    let many = files("33 recipients", 33, [[0, 0, 0, 1, 0]; 33].concat());
    let none = files("recipient of no bytes", 1, vec![0; 4]);
    let long = [8193_u32.to_be_bytes().to_vec(), vec![0; 8193]].concat();
    let long = files("recipient of 8193 bytes", 1, long);
    let superblock = vec![0; 32769 - 512];
    let superblock = signed("superblock of 32769 bytes", (116, 32769), (count, superblock));
    let mut padded = full_unfinished("superblock and zeros");
    padded.begun.superblock.resize(1024, 0);
    padded.seal_begun();
    let missing = whole.clone().without("begun");
    vec![
        crate::archives::refused("begun-missing", "begun missing", "what opens it is not there", &missing),
        flip("magic", 15),
        flip("archive id", 16),
        flip("database id", 32),
        flip("time", 55),
        flip("wrapped key", 70),
        flip("superblock", 160),
        flip("recipients mac", -40),
        flip("mac", -1),
        refused("cut", "it lacks its last byte", &whole.clone().cut("begun", 1)),
        refused(
            "longer",
            "it has a byte more",
            &whole
                .clone()
                .with("begun", [whole.objects["begun"].as_slice(), &[0]].concat()),
        ),
        refused("recipients-33", "it has 33 recipients", &many),
        refused("recipient-size-0", "a recipient's file has no bytes", &none),
        refused("recipient-size-8193", "a recipient's file has 8193 bytes", &long),
        opens(
            "begun-superblock-longer",
            "512 zeros behind the superblock: they are not read",
            &padded.finish(),
        ),
        refused("superblock-size-32769", "the superblock has 32769 bytes", &superblock),
    ]
}

fn refused(case: &str, comment: &str, archive: &Archive) -> Vector {
    crate::archives::refused(&format!("begun-{case}"), "begun refused", comment, archive)
}
