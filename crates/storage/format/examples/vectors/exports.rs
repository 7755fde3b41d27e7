//! `exported/`: FORMAT 13. The age files are stored, since age draws its own nonces: `testdata/exported/make.py`.

use selenite_cipher::Suite;

use crate::slots::AGE_IDENTITY;
use crate::vector::{Sparse, Vector};
use crate::world::{SAMPLE, Sealer, main_file_of, pages_of, superblock};

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../../../../../testdata/exported/", $name, ".age"))
    };
}

const REFUSED: &str = "exported key refused";

pub fn all() -> Vec<Vector> {
    let opened = of(
        "good",
        "ok",
        "the master key of the database, sealed to a recipient",
        file!("good"),
    );
    [
        vec![opened.released_sound(&pages_of(SAMPLE))],
        vec![
            of("short", REFUSED, "a record of 111 bytes", file!("short")),
            of("long", REFUSED, "a record of 113 bytes", file!("long")),
            of("magic", REFUSED, "another first field", file!("magic")),
            of(
                "commitment",
                REFUSED,
                "a bit of the commitment is flipped",
                file!("commitment"),
            ),
            of("armored", REFUSED, "an armored age file", file!("armored")),
            of("closed", "wrong key", "sealed to another recipient", file!("closed")),
            of(
                "elsewhere",
                "another database",
                "the id of another database",
                file!("elsewhere"),
            ),
            of(
                "other",
                "another master key",
                "the right id and its own commitment, and another master key",
                file!("other"),
            ),
        ],
    ]
    .concat()
}

fn of(case: &str, class: &str, comment: &str, exported: &[u8]) -> Vector {
    let key = format!("age {}", AGE_IDENTITY.trim());
    let images = Sealer::new(1, Suite::Aes256).seal_all(&pages_of(SAMPLE));
    Vector::with_key(&format!("exported/{case}"), class, comment, key)
        .file(main_file_of(&superblock(Suite::Aes256), &images))
        .file(Sparse::whole("exported", exported.to_vec()))
}
