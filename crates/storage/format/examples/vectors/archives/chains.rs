//! Archives and their bases: FORMAT 12.8.

use selenite_format::PageSize;

use crate::archive::{Archive, Page, block, stored};
use crate::archives::{full, full_unfinished, numbered, sample};
use crate::vector::Vector;

pub fn all() -> Vec<Vector> {
    [good(), bad()].concat()
}

/// A page that occurs in no database, for a page of an older state.
fn old() -> Vec<u8> {
    vec![0x5a; 1024]
}

/// An archive based on `base` with these pages, without its manifest.
fn above(name: &'static str, base: &Archive, minute: u64, pages: &[Page<'_>]) -> Archive {
    let mut archive = Archive::begin(name, minute);
    if !pages.is_empty() {
        archive = archive.part(&[stored(&block(pages))], pages);
    }
    archive.facts.base = Some(base.as_base());
    archive
}

/// A full archive with these pages.
fn full_of(name: &'static str, pages: &[Page<'_>]) -> Archive {
    Archive::begin(name, 0).part(&[stored(&block(pages))], pages)
}

fn vector(case: &str, class: &str, comment: &str, chain: &[&Archive]) -> Vector {
    let vector = Vector::new(&format!("archive/{case}"), class, comment).line("archive", chain[0].folder());
    let vector = match class {
        "ok" => vector.released_sound(&sample()),
        _ => vector,
    };
    chain.iter().fold(vector, |vector, archive| archive.add_to(vector))
}

fn good() -> Vec<Vector> {
    let (pages, old) = (sample(), old());
    let pages = numbered(&pages);
    let before = [(1, old.as_slice()), pages[1], (3, &old), (4, &old)];
    let mut below = full_of("chain full", &before);
    below.facts.page_count = 4;
    let below = below.finish();
    let middle = above("chain middle", &below, 1, &[pages[0], (3, &old)]).finish();
    let top = above("chain top", &middle, 2, &[pages[2]]).finish();
    let nothing = above("chain nothing", &full("full"), 1, &[]).finish();
    let mut lacks = full_of("lacks page 2", &[pages[0], pages[2]]);
    lacks.facts.missing = vec![2];
    let lacks = lacks.finish();
    let mended = above("mended", &lacks, 1, &[pages[1]]).finish();
    let mut lost = above("lost since", &full("full"), 1, &[]);
    lost.facts.missing = vec![2];
    let lost = lost.finish();
    let comment = "page 2 did not open: that of the archive below is of another time";
    let missing = Vector::new("archive/chain-missing", "ok", comment)
        .line("archive", lost.folder())
        .line("pages", 3)
        .released(1, pages[0].1)
        .refused(2, "missing")
        .released(3, pages[2].1);
    let missing = lost.add_to(full("full").add_to(missing));
    vec![
        vector(
            "chain",
            "ok",
            "page 1 of the second, 2 of the full one, 3 of the third; the full one had four",
            &[&top, &middle, &below],
        ),
        vector(
            "chain-nothing",
            "ok",
            "nothing changed: no parts",
            &[&nothing, &full("full")],
        ),
        vector(
            "chain-mended",
            "ok",
            "the full one lacks page 2, the next has it",
            &[&mended, &lacks],
        ),
        missing,
    ]
}

fn bad() -> Vec<Vector> {
    let pages = sample();
    let pages = numbered(&pages);
    let whole = full("full");
    let changed = |name: &'static str| above(name, &whole, 1, &pages[1..2]);
    let top = changed("changed").finish();
    let mut of_old = changed("names another manifest");
    of_old.facts.base = Some(full_unfinished("full").finish().as_base());
    let mut itself = Archive::begin("rests on itself", 1).part(&[stored(&block(&pages))], &pages);
    let mut base = whole.as_base();
    base.archive_id = itself.begun.archive_id;
    itself.facts.base = Some(base);
    let mut large = full_unfinished("of 2048");
    large.facts.page_size = PageSize::try_from(2048).expect("a power of two");
    let large = large.finish();
    let mut lacks = full_of("lacks page 2", &[pages[0], pages[2]]);
    lacks.facts.missing = vec![2];
    let lacks = lacks.finish();
    let lacking = above("lacks it too", &lacks, 1, &pages[..1]).finish();
    let two = full_of("two of three", &pages[..2]).finish();
    let on_two = above("two of three again", &two, 1, &pages[1..2]).finish();
    vec![
        vector("base-missing", "base missing", "what it rests on is not there", &[&top]),
        vector(
            "base-no-manifest",
            "base refused",
            "what it rests on has no manifest",
            &[&top, &whole.clone().without("manifest")],
        ),
        vector(
            "base-other-manifest",
            "base refused",
            "what it rests on has another manifest than it had",
            &[&of_old.finish(), &whole],
        ),
        vector("base-itself", "base refused", "it rests on itself", &[&itself.finish()]),
        vector(
            "base-page-size",
            "base refused",
            "what it rests on has pages of 2048 bytes",
            &[&above("on 2048", &large, 1, &pages[1..2]).finish(), &large],
        ),
        vector(
            "base-flip",
            "part-00000000 refused",
            "a bit of a part of what it rests on is flipped",
            &[&top, &whole.clone().flipped("part-00000000", 100)],
        ),
        vector("incomplete", "incomplete", "page 3 is in no part", &[&two]),
        vector(
            "incomplete-chain",
            "incomplete",
            "page 3 is in no part of two archives",
            &[&on_two, &two],
        ),
        vector(
            "incomplete-missing",
            "incomplete",
            "what it rests on lacks page 2, and it did not write it",
            &[&lacking, &lacks],
        ),
    ]
}
