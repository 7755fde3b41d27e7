//! Forgeries by a recipient, who has the archive's key and write access to the destination: FORMAT 12.4 and 12.8.

use std::sync::Arc;

use selenite_backup::{
    ArchiveName, ArchiveWriter, BackupError, Base, Catalog, Destination, Folder, KeySource, LogWriter, OpenArchive,
    Part,
    archive::{CompressionLevel, IndexBlock, Packer, PartHeader, PartWriter},
    object_key, resume_or_begin,
};
use selenite_cipher::{ArchiveKey, PartKind, Suite};
use selenite_format::PageSize;
use selenite_format::archive::{LogEnd, LogPosition};
use selenite_keyring::{AgeIdentity, AgeRecipient, KeyError, OriginPolicy, Recipient, create, os_random};
use selenite_testing::HandMade;

use super::fixture::{Fixture, PAGE_SIZE, add, mark_of, replace, words};

const MADE: u64 = 1_800_000_000;
const RECIPIENT: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";

/// The archive as a holder of its key alone would make it, without the master key.
fn forge(from: &HandMade, parts: &[&[&[(u32, &str)]]]) -> HandMade {
    let mut forged = HandMade {
        key: recipients_key(&from.key),
        begun: from.begun.clone(),
        facts: from.facts.clone(),
        objects: from.objects.clone(),
    };
    (forged.facts.parts, forged.facts.indexes) = (Vec::new(), Vec::new());
    add(&mut forged, parts);
    forged.finish();
    forged
}

/// The key in a recipient's file.
fn recipients_key(key: &ArchiveKey) -> ArchiveKey {
    key.duplicate().without_origin()
}

/// Another part with the same salt, in place of a part.
fn with_salt(of: &[u8], sealed_otherwise: impl FnOnce((PartKind, u32, [u8; 16])) -> Vec<u8>) -> Vec<u8> {
    let header = PartHeader::parse(of).unwrap();
    sealed_otherwise((header.kind, header.number, header.salt))
}

fn is_unproved(error: &BackupError) -> bool {
    matches!(
        error,
        BackupError::Key {
            source: KeyError::ArchiveUnproved,
            ..
        }
    )
}

fn put_all(destination: &dyn Destination, archive: &HandMade) {
    for (part, bytes) in &archive.objects {
        replace(destination, &archive.object(*part), bytes);
    }
}

#[test]
fn parts_and_a_manifest_of_a_recipient_are_refused_unless_any_origin_is_admitted() {
    let mut fixture = Fixture::new();
    let real = fixture.made(MADE, 1, &[&[&[(1, "real")]]]);
    let destination = fixture.destination();
    real.put(&destination);
    assert!(fixture.chain(&real.name()).unwrap().is_own());
    let forged = forge(&real, &[&[&[(1, "forged")]]]);
    put_all(&destination, &forged);
    let error = fixture.read(&real.name()).unwrap_err();
    assert!(is_unproved(&error), "{error}");
    fixture.trust.policy = OriginPolicy::Any;
    assert!(!fixture.chain(&real.name()).unwrap().is_own());
    assert_eq!(fixture.read(&real.name()).unwrap(), words(&[(1, "forged")]));
}

/// The recipient of a slot is public: anyone who knows it can make a database with another master
/// key, and valid MACs.
#[test]
fn an_archive_of_a_foreign_database_is_not_of_own_origin() {
    let own = AgeIdentity::generate();
    let recipient: AgeRecipient = own.describe().parse().unwrap();
    let mut fixture = Fixture::new();
    let to: Vec<Box<dyn Recipient>> = vec![Box::new(recipient)];
    let page_size = PageSize::try_from(PAGE_SIZE).unwrap();
    fixture.unlocked = create(page_size, Suite::Aes256, &to, 0, &mut os_random).unwrap();
    fixture.identities = vec![Box::new(own)];
    let forged = fixture.made(MADE, 1, &[&[&[(1, "forged")]]]);
    forged.put(&fixture.destination());
    let error = fixture.read(&forged.name()).unwrap_err();
    assert!(
        matches!(
            error,
            BackupError::Key {
                source: KeyError::ForeignOrigin { .. },
                ..
            }
        ),
        "{error}"
    );
    fixture.trust.policy = OriginPolicy::Any;
    assert!(!fixture.chain(&forged.name()).unwrap().is_own());
    // The same holds for an archive based on it.
    let above = fixture.above(&forged, 1, &[&[&[(1, "forged")]]]);
    above.put(&fixture.destination());
    assert!(!fixture.chain(&above.name()).unwrap().is_own());
}

/// The salt is the one in the manifest, and the key of the part is derived from it and the archive's key.
#[test]
fn a_part_of_a_recipient_under_a_salt_that_the_manifest_lists_is_refused() {
    let mut fixture = Fixture::new();
    let real = fixture.made(MADE, 1, &[&[&[(1, "real")]]]);
    let destination = fixture.destination();
    real.put(&destination);
    let other = fixture.made(MADE + 60, 1, &[&[&[(1, "forged")]]]);
    let key = recipients_key(&real.key);
    // The content of the other archive's part, as its recipient could open it.
    let opened = selenite_backup::archive::OpenPart::open_any(
        &other.key,
        (PartKind::Part, 0),
        other.objects[&Part::Pages(0)].clone(),
    );
    let opened = opened.unwrap();
    let mut content = PartWriter::default();
    opened.blocks().for_each(|block| assert!(content.push(block)));
    let forged = with_salt(&real.objects[&Part::Pages(0)], |place| content.seal(&key, place, true));
    replace(&destination, &real.object(Part::Pages(0)), &forged);
    for policy in [OriginPolicy::Own, OriginPolicy::Any] {
        fixture.trust.policy = policy;
        let error = fixture.read(&real.name()).unwrap_err();
        assert!(matches!(error, BackupError::Unauthentic { .. }), "{error}");
    }
}

#[test]
fn an_index_of_a_recipient_is_no_base_for_the_next_backup() {
    let fixture = Fixture::new();
    let real = fixture.made(MADE, 1, &[&[&[(1, "real")]]]);
    let destination = fixture.destination();
    real.put(&destination);
    let sealed = with_salt(&real.objects[&Part::Index(0)], |place| {
        let (mut block, mut packed) = (Vec::new(), Vec::new());
        IndexBlock::encode(&[(1, mark_of("forged"))], &mut block);
        Packer::new(CompressionLevel::None).unwrap().pack(&block, &mut packed);
        let mut index = PartWriter::default();
        assert!(index.push(&packed));
        index.seal(&recipients_key(&real.key), place, true)
    });
    replace(&destination, &real.object(Part::Index(0)), &sealed);
    let chain = fixture.chain(&real.name()).unwrap();
    let marks = chain.marks(&destination, &mut |_, _| {});
    assert!(matches!(marks, Err(BackupError::Unauthentic { .. })));
}

#[test]
fn an_archive_of_unknown_origin_is_never_a_base() {
    let fixture = Fixture::new();
    let destination = fixture.destination();
    let forged = forge(&fixture.made(MADE, 1, &[&[&[(1, "forged")]]]), &[&[&[(1, "forged")]]]);
    forged.put(&destination);
    let master = &fixture.unlocked.master;
    let base = Base::newest(&destination, fixture.id(), (master, &[]), MADE + 60).unwrap();
    assert!(base.is_none());
    // An archive that is nevertheless based on it, as an older program would make it.
    let above = fixture.above(&forged, 2, &[&[&[(2, "real")]]]);
    above.put(&destination);
    let error = fixture.read(&above.name()).unwrap_err();
    assert!(is_unproved(&error), "{error}");
}

fn begin(fixture: &Fixture, destination: &Arc<dyn Destination>, recipients: &[AgeRecipient]) -> ArchiveName {
    let begun = ArchiveWriter::begin(destination, &fixture.unlocked, MADE, recipients).unwrap();
    begun.name().clone()
}

fn taken_up(fixture: &Fixture, destination: &Arc<dyn Destination>, recipients: &[AgeRecipient]) -> bool {
    let now = (MADE + 3600, true);
    let (_, marks) = resume_or_begin(destination, &fixture.unlocked, recipients, now).unwrap();
    marks.is_some()
}

/// Otherwise content for other recipients only would be sealed under a key that this recipient has.
#[test]
fn an_unfinished_archive_changed_by_its_recipient_is_not_continued() {
    let recipient: AgeRecipient = RECIPIENT.parse().unwrap();
    for is_forged in [false, true] {
        let fixture = Fixture::new();
        let destination: Arc<dyn Destination> = Arc::new(fixture.destination());
        let name = begin(&fixture, &destination, std::slice::from_ref(&recipient));
        let master = KeySource::Master(&fixture.unlocked.master);
        let opened = OpenArchive::open(destination.as_ref(), fixture.id(), &name, &master).unwrap();
        assert!(!taken_up(&fixture, &destination, &[]), "it is for a recipient");
        let key = recipients_key(&opened.key);
        let mut begun = opened.begun;
        begun.recipients.clear();
        begun.recipients_tag = key.mac(b"selenite/1 archive recipients");
        let bytes = begun.encode(|maced| key.mac(maced)).unwrap();
        let wanted: &[AgeRecipient] = if is_forged {
            &[]
        } else {
            std::slice::from_ref(&recipient)
        };
        if is_forged {
            replace(
                destination.as_ref(),
                &object_key(fixture.id(), &name, Part::Begun),
                &bytes,
            );
        }
        // The archive that `taken_up` began above is for no other recipient, and empty.
        let catalog = Catalog::list(destination.as_ref(), Some(fixture.id())).unwrap();
        for entry in catalog.entries.iter().filter(|entry| entry.name != name) {
            let other = object_key(fixture.id(), &entry.name, Part::Begun);
            destination.remove(&other).unwrap();
        }
        assert_eq!(taken_up(&fixture, &destination, wanted), !is_forged);
    }
}

#[test]
fn parts_of_a_recipient_are_not_continued() {
    for is_forged in [false, true] {
        let fixture = Fixture::new();
        let destination: Arc<dyn Destination> = Arc::new(fixture.destination());
        let name = begin(&fixture, &destination, &[]);
        let master = KeySource::Master(&fixture.unlocked.master);
        let opened = OpenArchive::open(destination.as_ref(), fixture.id(), &name, &master).unwrap();
        let mut made = HandMade::begin(&fixture.unlocked, MADE, &[]);
        made.key = if is_forged {
            recipients_key(&opened.key)
        } else {
            opened.key.duplicate()
        };
        made.begun = opened.begun;
        add(&mut made, &[&[&[(1, "sent")]]]);
        for part in [Part::Pages(0), Part::Index(0)] {
            destination.put_new(&made.object(part), &made.objects[&part]).unwrap();
        }
        assert_eq!(taken_up(&fixture, &destination, &[]), !is_forged);
        // The part alone, without an index: the part itself is read.
        let began = Catalog::list(destination.as_ref(), Some(fixture.id())).unwrap();
        for entry in began.entries.iter().filter(|entry| entry.name != name) {
            let other = object_key(fixture.id(), &entry.name, Part::Begun);
            destination.remove(&other).unwrap();
        }
        destination.remove(&made.object(Part::Index(0))).unwrap();
        assert_eq!(taken_up(&fixture, &destination, &[]), !is_forged);
    }
}

/// An index of an earlier part of that number, which no longer exists.
#[test]
fn an_index_of_another_part_is_not_continued() {
    let fixture = Fixture::new();
    let destination: Arc<dyn Destination> = Arc::new(fixture.destination());
    let name = begin(&fixture, &destination, &[]);
    let master = KeySource::Master(&fixture.unlocked.master);
    let opened = OpenArchive::open(destination.as_ref(), fixture.id(), &name, &master).unwrap();
    let part = |word: &str| {
        let mut made = HandMade::begin(&fixture.unlocked, MADE, &[]);
        made.key = opened.key.duplicate();
        made.begun = opened.begun.clone();
        add(&mut made, &[&[&[(1, word)]]]);
        made
    };
    let (one, other) = (part("one"), part("other"));
    destination
        .put_new(&one.object(Part::Pages(0)), &one.objects[&Part::Pages(0)])
        .unwrap();
    let index = &other.objects[&Part::Index(0)];
    destination.put_new(&other.object(Part::Index(0)), index).unwrap();
    assert!(!taken_up(&fixture, &destination, &[]));
}

#[test]
fn log_objects_of_a_recipient_are_refused() {
    let fixture = Fixture::new();
    let folder: Arc<Folder> = Arc::new(fixture.destination());
    let mut archive = HandMade::begin(&fixture.unlocked, MADE, &[]);
    archive.facts.page_count = 1;
    let place = LogPosition {
        salts: [5; 8],
        frames: 0,
    };
    archive.facts.log = Some(place);
    add(&mut archive, &[&[&[(1, "real")]]]);
    archive.finish();
    archive.put(folder.as_ref());
    for (key, is_taken) in [(archive.key.duplicate(), true), (recipients_key(&archive.key), false)] {
        let end = |frames| LogEnd {
            position: LogPosition { frames, ..place },
            checksum: if frames == 0 { [0; 8] } else { [6; 8] },
        };
        let manifest = archive.as_base().manifest;
        let of = (key, fixture.id(), archive.name());
        let mut log = LogWriter::new(folder.clone(), of, manifest, end(0), CompressionLevel::default());
        let page_size = PageSize::try_from(PAGE_SIZE).unwrap();
        let mut turn = log.turn(end(1), (page_size, 1), (MADE + 1) * 1000).unwrap();
        turn.page(1, &[7; 1024], &[8; 1024]).unwrap();
        turn.finish().unwrap();
        let chain = fixture.chain(&archive.name()).unwrap();
        let read = chain.tip().log(folder.as_ref(), 1, u64::MAX);
        assert_eq!(read.is_ok(), is_taken, "{:?}", read.err());
        folder.remove(&archive.object(Part::Log(0))).unwrap();
    }
}
