//! `wal/`: FORMAT 6.

use selenite_cipher::{DatabaseId, Epoch, PageNo, Suite};
use selenite_format::wal::{FRAME_HEADER_SIZE, HEADER_SIZE, WordOrder, checksum, header_to_disk};
use selenite_format::{State, Superblock};

use self::frame::{AES, Frame, database_images, file, frames, log_header, pages_after, sealed, sealed_under};
use crate::vector::{Sparse, Vector};
use crate::world::{PAGE_SIZE, Sealer, epoch_record, main_file_of, named, superblock};

mod frame;

pub fn all() -> Vec<Vector> {
    [good(), ends(), epochs(), torn(), images(), reads()].concat()
}

/// A vector of a log of which `count` frames are valid, the first `committed` of them in complete
/// transactions; `end` is the reason why the log ends there.
fn ends_at(case: &str, comment: &str, (count, committed, end): (usize, usize, &str), log: Vec<u8>) -> Vector {
    Vector::new(&format!("wal/{case}"), "ok", comment)
        .line("frames", count)
        .line("committed", committed)
        .line("end", end)
        .released_sound(&pages_after(committed))
        .file(main_file_of(&superblock(AES), &database_images(1)))
        .file(Sparse::whole("wal", log))
}

fn good() -> Vec<Vector> {
    let good = file(&sealed(&frames()));
    let cut = good[..good.len() - 1].to_vec();
    vec![
        ends_at("good", "four frames, two transactions", (4, 4, "file"), good.clone()),
        ends_at(
            "big-endian",
            "checksums over big-endian words",
            (4, 4, "file"),
            big_endian(),
        ),
        ends_at("cut", "the last frame lacks a byte", (3, 3, "file"), cut),
        ends_at(
            "uncommitted",
            "the first transaction lacks its commit frame",
            (2, 0, "file"),
            file(&sealed(&frames()[..2])),
        ),
        ends_at("no-frames", "a header only", (0, 0, "file"), file(&[])),
        ends_at("no-header", "31 bytes", (0, 0, "header"), good[..31].to_vec()),
    ]
}

/// The log as a big-endian machine would have written it.
fn big_endian() -> Vec<u8> {
    let mut header = log_header();
    header[3] = 0x83;
    let mut seed = checksum(WordOrder::BigEndian, [0, 0], &header[..24]);
    header[24..28].copy_from_slice(&seed[0].to_be_bytes());
    header[28..].copy_from_slice(&seed[1].to_be_bytes());
    let mut frames = frames();
    for frame in &mut frames {
        seed = checksum(WordOrder::BigEndian, seed, &frame.header.encode()[..8]);
        seed = checksum(WordOrder::BigEndian, seed, &frame.page);
        frame.header.block[8..12].copy_from_slice(&seed[0].to_be_bytes());
        frame.header.block[12..].copy_from_slice(&seed[1].to_be_bytes());
    }
    let header = header_to_disk(&header).expect("a header with its checksum");
    [header.to_vec(), sealed(&frames).concat()].concat()
}

/// Headers, and rules 1 and 5 of FORMAT 6.4.
fn ends() -> Vec<Vector> {
    let with_last = |change: fn(&mut Frame)| {
        let mut frames = frames();
        change(&mut frames[3]);
        file(&sealed(&frames))
    };
    let patched = |offset: usize, value: u8| {
        let mut log = file(&sealed(&frames()));
        log[offset] ^= value;
        log
    };
    let last = HEADER_SIZE + 3 * (FRAME_HEADER_SIZE + PAGE_SIZE);
    let mut swapped = sealed(&frames());
    swapped.swap(0, 1);
    let mut hole = sealed(&frames());
    hole[3].fill(0);
    let at = (3, 3, "salts");
    vec![
        ends_at(
            "header-torn",
            "a bit of the header's salts is flipped",
            (0, 0, "header"),
            patched(16, 1),
        ),
        ends_at("header-magic", "the magic is another", (0, 0, "header"), patched(0, 1)),
        ends_at(
            "salts",
            "the last frame has the salts of an older log",
            at,
            with_last(|frame| frame.header.block[7] ^= 1),
        ),
        ends_at(
            "block-flip",
            "a bit of the last frame's block is flipped",
            at,
            patched(last + 23, 1),
        ),
        ends_at(
            "page-number",
            "the last frame's page number is changed",
            at,
            patched(last + 3, 1),
        ),
        ends_at(
            "commit-size",
            "the last frame's database size is changed",
            at,
            patched(last + 7, 1),
        ),
        ends_at(
            "swapped",
            "the first two frames are swapped",
            (0, 0, "salts"),
            file(&swapped),
        ),
        ends_at("hole", "the last frame is all zero", at, file(&hole)),
        ends_at(
            "checksum",
            "the last frame has a wrong checksum of SQLite's",
            (3, 3, "checksum"),
            with_last(|frame| frame.header.block[15] ^= 1),
        ),
    ]
}

/// A superblock that lists only epoch 2 of 3.
fn later() -> Superblock {
    Superblock {
        epochs: vec![epoch_record(2, AES)],
        epoch_max: Epoch(3),
        sealing_epoch: Epoch(2),
        ..superblock(AES)
    }
}

/// A superblock that lists epoch 1, and epoch 2 in `suite`, with all pages converted.
fn with_second(state: State, suite: Suite) -> Superblock {
    Superblock {
        state,
        cursor: 3,
        epochs: vec![epoch_record(1, AES), epoch_record(2, suite)],
        epoch_max: Epoch(2),
        ..superblock(AES)
    }
}

/// Rules 2 and 3 of FORMAT 6.4, and FORMAT 5.4.
fn epochs() -> Vec<Vector> {
    let last = &frames()[3];
    let with_last = |epoch: u32, last: Vec<u8>| {
        let mut log = sealed_under(&mut Sealer::new(epoch, AES), &frames());
        log[3] = last;
        Sparse::whole("wal", file(&log))
    };
    let case = |case: &str, expect: &str, comment: &str, superblock: &Superblock, log: Sparse| {
        let epoch = superblock.epochs[0].epoch.0;
        Vector::new(&format!("wal/{case}"), expect, comment)
            .file(main_file_of(superblock, &database_images(epoch)))
            .file(log)
    };
    let three = |vector: Vector, end: &str| {
        vector
            .line("frames", 3)
            .line("committed", 3)
            .line("end", end)
            .released_sound(&pages_after(3))
    };
    let gone = with_last(2, last.seal(3, &mut Sealer::new(1, AES)));
    let above = with_last(2, last.seal(3, &mut Sealer::new(4, AES)));
    let mut newer = sealed_under(&mut Sealer::new(2, AES), &frames());
    let mut of_newer = Sealer::new(4, AES);
    for (frame, index) in frames().iter().zip(0..).skip(2) {
        newer[usize::try_from(index).expect("small")] = frame.seal(index, &mut of_newer);
    }
    let newer = Sparse::whole("wal", file(&newer));
    let deprecated = with_last(1, last.seal(3, &mut Sealer::new(2, Suite::TripleDes3Key)));
    let none = with_last(1, last.seal(3, &mut Sealer::new(2, Suite::None)));
    let old = with_second(State::Changing, Suite::TripleDes3Key);
    let switching_on = with_second(State::SwitchingOn, Suite::None);
    let of_gone = "the last frame is of epoch 1, which is no longer listed";
    let of_above = "the last frame is of epoch 4, and the highest ever used is 3";
    let of_old = "the last frame is in TRIPLE_DES_3KEY, without leave";
    let of_none = "the last frame is in suite NONE, switching on, below the cursor";
    vec![
        three(case("epoch-gone", "ok", of_gone, &later(), gone), "epoch"),
        three(case("epoch-above", "ok", of_above, &later(), above), "epoch"),
        case(
            "epoch-above-twice",
            "wal of another time",
            "the last two frames are of epoch 4, and the highest ever used is 3",
            &later(),
            newer,
        ),
        case("suite-deprecated", "deprecated suite", of_old, &old, deprecated),
        three(case("suite-none", "ok", of_none, &switching_on, none), "unauthentic"),
    ]
}

/// Rules 2 and 4 of FORMAT 6.4: possible states of a frame whose write was interrupted by a power
/// failure. The header is in a sector before that of the trailer.
fn torn() -> Vec<Vector> {
    let good = sealed(&frames());
    let end = FRAME_HEADER_SIZE + PAGE_SIZE;
    let torn = |first: usize, size: usize, fill: &dyn Fn(usize) -> u8| {
        let mut log = good.clone();
        for frame in &mut log[first..] {
            for (at, byte) in frame[end - size..].iter_mut().enumerate() {
                *byte = fill(at);
            }
        }
        file(&log)
    };
    let scattered = |at: usize| u8::try_from((at * 167 + 13) % 251).expect("below 251");
    vec![
        ends_at(
            "torn-trailer",
            "the last 512 bytes of the last frame are others, and name an epoch above the highest",
            (3, 3, "epoch"),
            torn(3, 512, &scattered),
        ),
        ends_at(
            "torn-trailers",
            "the trailers of the last two frames are 255 throughout",
            (2, 0, "epoch"),
            torn(2, 512, &|_| 255),
        ),
    ]
}

/// Rule 4 of FORMAT 6.4.
fn images() -> Vec<Vector> {
    let sealed = sealed(&frames());
    let last = &frames()[3];
    let with_image = |image: Vec<u8>| {
        let mut log = sealed.clone();
        log[3] = last.with_image(3, image);
        file(&log)
    };
    let image = |frame: usize| sealed[frame][FRAME_HEADER_SIZE..].to_vec();
    let mut flipped = image(3);
    flipped[700] ^= 1;
    let foreign = DatabaseId(named("another database id"));
    let at = (3, 3, "unauthentic");
    vec![
        ends_at(
            "image-flip",
            "a bit of the last frame's image is flipped",
            at,
            with_image(flipped),
        ),
        ends_at(
            "image-moved",
            "the last frame, of page 2, has the image of page 3",
            at,
            with_image(image(2)),
        ),
        ends_at(
            "image-foreign",
            "the last frame's image is of another database with the same data key",
            at,
            with_image(Sealer::of_database(foreign, 1, AES).seal(2, &last.page)),
        ),
        ends_at(
            "image-zero",
            "the last frame's image is all zero: it says epoch 0, which is not listed",
            (3, 3, "epoch"),
            with_image(vec![0; PAGE_SIZE]),
        ),
        ends_at(
            "image-older",
            "the last frame has the image of page 2 that frame 1 has: it opens, and SQLite's checksum tells",
            (3, 3, "checksum"),
            with_image(image(1)),
        ),
    ]
}

/// FORMAT 6.5.
fn reads() -> Vec<Vector> {
    let good = sealed(&frames());
    let mut flipped = good.clone();
    flipped[2][FRAME_HEADER_SIZE + 5] ^= 1;
    let mut salted = frames();
    salted[2].header.block[0] ^= 1;
    let case = |case: &str, expect: &str, comment: &str, log: Vec<u8>| {
        Vector::new(&format!("wal/{case}"), expect, comment)
            .line("read", "frame 2")
            .file(main_file_of(&superblock(AES), &database_images(1)))
            .file(Sparse::whole("wal", log))
    };
    let PageNo(number) = frames()[2].header.page_no;
    vec![
        case("read", "ok", "frame 2 is read after recovery", file(&good)).released(number, &frames()[2].page),
        case(
            "read-flip",
            "unauthentic frame 2",
            "frame 2 is read after recovery, and a bit is flipped",
            file(&flipped),
        ),
        case(
            "read-salts",
            "unauthentic frame 2",
            "frame 2 is read after recovery, and has other salts",
            file(&sealed(&salted)),
        ),
    ]
}
