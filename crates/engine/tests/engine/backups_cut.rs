//! Backups of which not all is there any more.

use std::fs;

use selenite_backup::ArchiveName;
use selenite_engine::backups::Reason;

use crate::backups::{Shelf, last, removed};

#[test]
fn a_backup_of_which_a_part_is_gone_takes_no_others_place() {
    let shelf = Shelf::new();
    let (older, _) = shelf.made(1_000_000, None, 1);
    let (old, _) = shelf.made(2_000_000, None, 1);
    let full = shelf.full();
    for object in ["part-00000000", "index-00000000"] {
        let path = shelf.folder(&full).join(object);
        let whole = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let pruned = shelf.prune(last(1), true);
        assert_eq!(removed(&pruned), std::slice::from_ref(&older), "{object}");
        let reasons = |name: &ArchiveName| {
            let kept = pruned.kept.iter().find(|kept| kept.entry.name == *name);
            kept.unwrap().reasons.clone()
        };
        assert!(reasons(&full).contains(&Reason::Incomplete), "{object}");
        assert!(reasons(&old).contains(&Reason::Newest), "{object}");
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(removed(&shelf.prune(last(1), false)).len(), 2);
    assert_eq!(shelf.names(), [full.as_str()]);
}
