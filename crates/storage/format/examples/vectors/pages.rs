//! `page/`: FORMAT 2.2 to 2.5 and 5.

use selenite_cipher::{DatabaseId, Epoch, Suite};
use selenite_format::{State, Superblock};

use crate::vector::Vector;
use crate::world::{SAMPLE, Sealer, epoch_record, main_file_of, named, pages_of, superblock};

mod sizes;

pub fn all() -> Vec<Vector> {
    [suites(), flips(), places(), epochs(), none(), sizes::all()].concat()
}

/// The name of a suite in file names.
fn slug(suite: Suite) -> String {
    suite.name().to_lowercase().replace('_', "-")
}

/// Adds what a caller must allow in order to read a suite.
fn allowed(vector: Vector, suite: Suite) -> Vector {
    match suite {
        Suite::None => vector.line("allow", "plain"),
        Suite::TripleDes3Key => vector.line("allow", "deprecated"),
        Suite::Aes128
        | Suite::Aes192
        | Suite::Aes256
        | Suite::Aegis128X4
        | Suite::Aegis256X4
        | Suite::ChaCha20
        | Suite::Aes256CtrHmac => vector,
    }
}

fn sample() -> Vec<Vec<u8>> {
    pages_of(SAMPLE)
}

/// The images of the sample in `suite`.
fn images(suite: Suite) -> Vec<Vec<u8>> {
    Sealer::new(1, suite).seal_all(&sample())
}

/// A vector in which page 2 is refused and the others are released.
fn page_2_refused(case: &str, comment: &str, superblock: &Superblock, images: &[Vec<u8>]) -> Vector {
    let pages = sample();
    Vector::new(&format!("page/{case}"), "unauthentic page 2", comment)
        .line("pages", 3)
        .released(1, &pages[0])
        .refused(2, "unauthentic")
        .released(3, &pages[2])
        .file(main_file_of(superblock, images))
}

fn suites() -> Vec<Vector> {
    let good = Suite::ALL.map(|suite| {
        let vector = Vector::new(
            &format!("page/suite-{}", slug(suite)),
            "ok",
            &format!("suite {}", suite.name()),
        );
        allowed(vector, suite)
            .released_sound(&sample())
            .file(main_file_of(&superblock(suite), &images(suite)))
    });
    let deprecated = Vector::new("page/deprecated", "deprecated suite", "TRIPLE_DES_3KEY without leave")
        .line("pages", 3)
        .refused(1, "deprecated")
        .refused(2, "deprecated")
        .refused(3, "deprecated")
        .file(main_file_of(
            &superblock(Suite::TripleDes3Key),
            &images(Suite::TripleDes3Key),
        ));
    [good.to_vec(), vec![deprecated]].concat()
}

/// One flipped bit of page 2, at the first and last byte of each part, for each suite.
fn flips() -> Vec<Vector> {
    let flip = |suite: Suite, case: &str, comment: &str, offset: usize| {
        let mut images = images(suite);
        images[1][offset] ^= 0x10;
        allowed(page_2_refused(case, comment, &superblock(suite), &images), suite)
    };
    let mut all = Vec::new();
    for suite in Suite::ALL {
        let name = slug(suite);
        all.push(flip(
            suite,
            &format!("flip-{name}-image"),
            "a bit of the image's last byte",
            975,
        ));
        all.push(flip(suite, &format!("flip-{name}-salt"), "a bit of the salt", 976 + 20));
        all.push(flip(suite, &format!("flip-{name}-tag"), "a bit of the tag", 1023));
    }
    let aes = Suite::Aes256;
    all.push(flip(aes, "flip-first", "a bit of the image's first byte", 0));
    all.push(flip(
        aes,
        "flip-epoch",
        "a bit of the epoch number: it is not listed",
        976 + 3,
    ));
    all.push(flip(aes, "flip-session", "a bit of the session", 976 + 4));
    all.push(flip(aes, "flip-counter", "a bit of the counter", 976 + 31));
    all
}

fn places() -> Vec<Vector> {
    let suite = Suite::Aes256;
    let case = |name: &str, comment: &str, image: Vec<u8>| {
        let mut images = images(suite);
        images[1] = image;
        page_2_refused(name, comment, &superblock(suite), &images)
    };
    let page = &sample()[1];
    let foreign = DatabaseId(named("another database id"));
    let zeros = Sealer::new(1, suite).seal(2, &[0; 1024]);
    let mut gap = images(suite);
    gap.push(Sealer::new(1, suite).seal(4, &[0; 1024]));
    let mut with_zeros = sample();
    with_zeros.push(vec![0; 1024]);
    vec![
        case("moved", "the image of page 3", images(suite)[2].clone()),
        case(
            "foreign",
            "the image of page 2 of another database with the same data key",
            Sealer::of_database(foreign, 1, suite).seal(2, page),
        ),
        case(
            "other-suite",
            "the image of page 2 in another suite with the same data key",
            Sealer::new(1, Suite::ChaCha20).seal(2, page),
        ),
        case(
            "none-unasked",
            "the image of page 2 in suite NONE",
            Sealer::new(1, Suite::None).seal(2, page),
        ),
        case("zero", "all zero", vec![0; 1024]),
        case(
            "zero-tail",
            "a sealed page of zeros, with its trailer gone",
            [&zeros[..976], &[0; 48]].concat(),
        ),
        Vector::new(
            "page/gap",
            "ok",
            "page 4 was never written: it is a sealed page of zeros",
        )
        .released_sound(&with_zeros)
        .file(main_file_of(&superblock(suite), &gap)),
    ]
}

fn epochs() -> Vec<Vector> {
    let suite = Suite::Aes256;
    let two = Superblock {
        state: State::Changing,
        cursor: 0,
        epochs: vec![epoch_record(1, suite), epoch_record(2, suite)],
        epoch_max: Epoch(2),
        sealing_epoch: Epoch(2),
        ..superblock(suite)
    };
    let renamed = |epoch: u32| {
        let mut images = images(suite);
        images[1][..].rotate_left(976);
        images[1][..4].copy_from_slice(&epoch.to_be_bytes());
        images[1][..].rotate_right(976);
        images
    };
    let mut mixed = images(suite);
    mixed[1] = Sealer::new(2, suite).seal(2, &sample()[1]);
    let older = Superblock {
        epochs: vec![epoch_record(2, suite)],
        sealing_epoch: Epoch(2),
        epoch_max: Epoch(3),
        ..superblock(suite)
    };
    let newer_images = Sealer::new(2, suite).seal_all(&sample());
    let with_page_2_of = |epoch: u32| {
        let mut images = newer_images.clone();
        images[1] = Sealer::new(epoch, suite).seal(2, &sample()[1]);
        images
    };
    vec![
        Vector::new("page/two-epochs", "ok", "page 2 is in another epoch than pages 1 and 3")
            .released_sound(&sample())
            .file(main_file_of(&two, &mixed)),
        page_2_refused(
            "epoch",
            "the image of epoch 1 says epoch 2, which is listed",
            &two,
            &renamed(2),
        ),
        page_2_refused("epoch-0", "the image of epoch 1 says epoch 0", &two, &renamed(0)),
        page_2_refused(
            "epoch-gone",
            "the image is of epoch 1, which is no longer listed",
            &older,
            &with_page_2_of(1),
        ),
        page_2_refused(
            "epoch-above",
            "the image is of epoch 4, above the highest ever used",
            &older,
            &with_page_2_of(4),
        ),
    ]
}

/// FORMAT 5.4.
fn none() -> Vec<Vector> {
    let aes = Suite::Aes256;
    let listed = |state, cursor| Superblock {
        state,
        cursor,
        epochs: vec![epoch_record(1, aes), epoch_record(2, Suite::None)],
        epoch_max: Epoch(2),
        ..superblock(aes)
    };
    let mut page_2 = images(aes);
    page_2[1] = Sealer::new(2, Suite::None).seal(2, &sample()[1]);
    let opens = |case: &str, comment: &str, superblock: &Superblock| {
        Vector::new(&format!("page/{case}"), "ok", comment)
            .released_sound(&sample())
            .file(main_file_of(superblock, &page_2))
    };
    let refuses =
        |case: &str, comment: &str, superblock: &Superblock| page_2_refused(case, comment, superblock, &page_2);
    let only = Vector::new(
        "page/none-not-allowed",
        "unauthentic page 1",
        "only NONE is listed, and plain databases are not allowed",
    )
    .line("pages", 3)
    .refused(1, "unauthentic")
    .refused(2, "unauthentic")
    .refused(3, "unauthentic")
    .file(main_file_of(&superblock(Suite::None), &images(Suite::None)));
    vec![
        only,
        opens(
            "none-switching-on",
            "switching on, above the cursor",
            &listed(State::SwitchingOn, 1),
        ),
        refuses(
            "none-switching-on-at",
            "switching on, at the cursor",
            &listed(State::SwitchingOn, 2),
        ),
        refuses(
            "none-switching-on-below",
            "switching on, below the cursor",
            &listed(State::SwitchingOn, 3),
        ),
        opens(
            "none-switching-off",
            "switching off, above the cursor",
            &listed(State::SwitchingOff, 1),
        ),
        opens(
            "none-switching-off-below",
            "switching off, below the cursor",
            &listed(State::SwitchingOff, 3),
        ),
        opens("none-finishing", "finishing", &listed(State::Finishing, 3)),
        refuses(
            "none",
            "steady, with an epoch of suite NONE listed",
            &listed(State::Steady, 0),
        ),
        refuses(
            "none-allowed",
            "allowing plain databases does nothing where NONE is not the suite of the only epoch",
            &listed(State::Steady, 0),
        )
        .line("allow", "plain"),
    ]
}
