//! Origin MACs: FORMAT 12.2, 12.4 and 12.8. Objects by a recipient, who has the archive key and not the master key.

use selenite_cipher::{MasterKey, PartKind};

use super::{PACKED, full, numbered, opens, refused, sample};
use crate::archive::{Archive, Page, block, content, framed, index_block, salt_of, sealed, stored};
use crate::vector::Vector;
use crate::world::{database_id, secret};

pub fn all() -> Vec<Vector> {
    [good(), whole(), parts(), bases()].concat()
}

fn own(name: &'static str) -> Archive {
    Archive::begin_own(name, 0)
        .part(&[framed(PACKED)], &numbered(&sample()))
        .finish()
}

/// An incremental archive with page 2, which did not change.
fn above(name: &'static str, base: &Archive) -> Archive {
    let pages = sample();
    let changed = &numbered(&pages)[1..2];
    let mut archive = Archive::begin_own(name, 1);
    archive.facts.base = Some(base.as_base());
    archive.part(&[stored(&block(changed))], changed).finish()
}

fn of_own_origin(vector: Vector) -> Vector {
    vector.line("origin", "own")
}

fn good() -> Vec<Vector> {
    let base = own("own");
    let top = above("own above", &base);
    let chain = opens("own-chain", "two archives with origin MACs", &top);
    vec![
        of_own_origin(opens("own", "an archive with origin MACs", &base)),
        of_own_origin(base.add_to(chain)),
    ]
}

/// Complete archives without proof of their origin.
fn whole() -> Vec<Vector> {
    let comment = "the salts are no origin MACs: an archive from before, or a forged one";
    let none = refused("origin-none", "foreign origin", comment, &full("full"));
    // The parts are the database's own, and the recipient omits the last page.
    let mut manifest = own("manifest of a recipient").by_recipient();
    manifest.facts.page_count = 2;
    let manifest = manifest.finish();
    let comment = "the salt of the manifest is no origin MAC";
    let mut of_another = own("manifest under another key");
    let other = MasterKey::new(secret("another master key"), database_id());
    let key = of_another.key();
    let key = other.archive_key(key.secret().duplicate(), key.archive_id());
    let facts = content(&[stored(&of_another.facts.encode())]);
    let object = sealed(&key, PartKind::Facts, 0, [0; 16], &facts);
    of_another = of_another.with("manifest", object);
    let other = "the salt of the manifest is an origin MAC under another master key";
    vec![
        of_own_origin(none),
        of_own_origin(refused("origin-manifest", "foreign origin", comment, &manifest)),
        of_own_origin(refused("origin-other-key", "foreign origin", other, &of_another)),
    ]
}

/// Objects of a recipient in place of an archive's own: refused whichever origins are accepted.
fn parts() -> Vec<Vector> {
    let pages = sample();
    let other = vec![0x5a; 1024];
    let mut listed: Vec<Page<'_>> = numbered(&pages);
    listed[1].1 = &other;
    let base = own("own");
    let recipient = base.clone().by_recipient().key();
    let salts = (base.facts.parts[0], base.facts.indexes[0]);
    let part = content(&[stored(&block(&listed))]);
    let part = sealed(&recipient, PartKind::Part, 0, salts.0, &part);
    let fewer = content(&[stored(&index_block(&listed[..2]))]);
    let index = sealed(&recipient, PartKind::Index, 0, salts.1, &fewer);
    let all = content(&[stored(&index_block(&listed))]);
    let mut unbound = Archive::begin_own("index of another part", 0).part(&[framed(PACKED)], &numbered(&pages));
    let bound = sealed(&unbound.key(), PartKind::Index, 0, [7; 16], &all);
    unbound.facts.indexes = vec![salt_of(&bound)];
    let unbound = unbound.finish().with("index-00000000", bound);
    vec![
        refused(
            "origin-part",
            "part-00000000 refused",
            "a part of a recipient, under the salt that the manifest lists",
            &base.clone().with("part-00000000", part),
        ),
        refused(
            "origin-index",
            "index-00000000 refused",
            "an index of a recipient, under the salt that the manifest lists",
            &base.with("index-00000000", index),
        ),
        refused(
            "origin-index-bound",
            "index-00000000 refused",
            "an index whose origin MAC covers the salt of another part",
            &unbound,
        ),
    ]
}

fn bases() -> Vec<Vector> {
    let base = full("full");
    let top = above("own above none", &base);
    let vector = Vector::new(
        "archive/origin-base",
        "foreign origin",
        "an archive with origin MACs rests on one without",
    );
    let vector = of_own_origin(vector.line("archive", top.folder()));
    vec![base.add_to(top.add_to(vector))]
}
