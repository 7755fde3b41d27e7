//! Removes an archive, object by object.
//!
//! - manifest-first: the manifest is removed first: from then on the archive is no backup, and is
//!   recognised as none. The first object is removed last: after an interrupted removal, the next
//!   one finds an archive that was never finished.
//! - foreign-objects-stay: objects whose names are not those of an archive's objects are never
//!   removed.

use selenite_cipher::DatabaseId;

use crate::destination::{Destination, StoreError};
use crate::names::{ArchiveName, Part, archive_key_prefix};

/// Removes an archive of a database; `gone` is called for each object. Returns the number of
/// objects in its folder that do not belong to it.
///
/// # Errors
/// Those of the destination: objects that were removed stay removed.
pub fn remove_archive(
    destination: &dyn Destination,
    id: DatabaseId,
    name: &ArchiveName,
    gone: &mut dyn FnMut(Part),
) -> Result<u64, StoreError> {
    let prefix = archive_key_prefix(id, name);
    let mut parts = Vec::new();
    let mut foreign_count = 0;
    for object in destination.list(&prefix)? {
        let part = object.name.strip_prefix(&prefix).and_then(Part::parse);
        match part {
            Some(part) => parts.push((order(part), part, object.name)),
            None => foreign_count += 1,
        }
    }
    parts.sort_unstable();
    for (_, part, object) in parts {
        destination.remove(&object)?;
        gone(part);
    }
    Ok(foreign_count)
}

/// Enforces `manifest-first`.
fn order(part: Part) -> u8 {
    match part {
        Part::Manifest => 0,
        Part::Log(_) => 1,
        Part::Pages(_) | Part::Index(_) => 2,
        Part::Begun => 3,
    }
}

#[cfg(test)]
mod tests {
    use selenite_cipher::ArchiveId;

    use super::*;
    use crate::{Folder, object_key};

    #[test]
    fn removal_starts_with_the_manifest_ends_with_begun_and_spares_foreign_objects() {
        let folder = tempfile::tempdir().unwrap();
        let place = Folder::new(folder.path());
        let id = DatabaseId([7; 16]);
        let name = ArchiveName::new(5, ArchiveId([1; 16]));
        let other = ArchiveName::new(5, ArchiveId([2; 16]));
        let all = [
            Part::Begun,
            Part::Pages(0),
            Part::Index(0),
            Part::Log(0),
            Part::Manifest,
        ];
        for part in all {
            place.put_new(&object_key(id, &name, part), b"x").unwrap();
            place.put_new(&object_key(id, &other, part), b"x").unwrap();
        }
        let mine = format!("{}notes.txt", archive_key_prefix(id, &name));
        place.put_new(&mine, b"x").unwrap();
        let mut gone = Vec::new();
        let left = remove_archive(&place, id, &name, &mut |part| gone.push(part)).unwrap();
        assert_eq!((gone.first(), gone.last()), (Some(&Part::Manifest), Some(&Part::Begun)));
        assert_eq!((gone.len(), left), (5, 1));
        let names: Vec<String> = place.list("").unwrap().into_iter().map(|object| object.name).collect();
        assert_eq!(names.len(), 6);
        assert!(names.contains(&mine));
    }
}
