//! Seals and opens the pages of one file: keys of the current view, nonces, counters.

use std::sync::Arc;

use selenite_cipher::{PageCipher, PageNo};
use selenite_format::Geometry;

use crate::{
    counters::FileCounters,
    database::{Content, Database},
    error::VfsError,
    role::Role,
    session::Nonces,
    view::View,
};

/// A file's cipher. It follows the database's view: after a change of keys the next page is sealed
/// under the new keys.
pub struct Sealer {
    role: Role,
    nonces: Nonces,
    held: Option<Held>,
    /// The number of the view in which the database is unencrypted or empty.
    unsealed: Option<u64>,
}

struct Held {
    view_no: u64,
    view: Arc<View>,
    cipher: PageCipher,
    counters: FileCounters,
}

impl Sealer {
    /// A cipher for a file of that role.
    ///
    /// # Errors
    /// If the system's random number generator fails.
    pub fn new(role: Role) -> Result<Self, VfsError> {
        Ok(Self {
            role,
            nonces: Nonces::new()?,
            held: None,
            unsealed: None,
        })
    }

    /// The geometry of the database's pages, unless the database is unencrypted or empty.
    pub fn geometry(&mut self, database: &Database) -> Option<Geometry> {
        self.held(database).map(|held| held.view.geometry)
    }

    /// The database's view, unless the database is unencrypted or empty.
    pub fn view(&mut self, database: &Database) -> Option<Arc<View>> {
        self.held(database).map(|held| held.view.clone())
    }

    /// Called when a transaction begins to write: each transaction has its own seed for salts.
    pub fn begin(&mut self) {
        self.nonces.renew();
    }

    /// Seals SQLite's page into `out`.
    ///
    /// # Errors
    /// `SettingsMismatch` for a page that is impossible in an encrypted database.
    pub fn seal(&mut self, database: &Database, page_no: PageNo, plain: &[u8], out: &mut [u8]) -> Result<(), VfsError> {
        let role = self.role;
        self.held(database)
            .ok_or(VfsError::SettingsMismatch("a page written before the database"))?;
        let Some(held) = self.held.as_mut() else {
            return Err(VfsError::BothDamaged);
        };
        let suite = held.view.page_keys.sealing_suite();
        let nonce = self.nonces.draw(suite)?;
        let has_just_moved = database.take_has_just_moved();
        held.counters
            .seal(plain.len(), || held.cipher.seal(page_no, nonce, plain, out))
            .map_err(|error| {
                let error = VfsError::of_page(error, role, page_no.0);
                // VACUUM takes the reserve before its transaction begins (`sqlite3RunVacuum`).
                if has_just_moved && matches!(error, VfsError::SettingsMismatch(_)) {
                    return VfsError::HasMoved;
                }
                error
            })
    }

    /// Opens a sealed image into `out`, with zeros in place of the trailer. `out` is zero on error.
    ///
    /// # Errors
    /// `Unauthentic`, `UnknownEpoch`, `DeprecatedSuite`: of this page alone.
    pub fn open(&mut self, database: &Database, page_no: PageNo, image: &[u8], out: &mut [u8]) -> Result<(), VfsError> {
        let role = self.role;
        let Some(held) = self.held(database) else {
            out.fill(0);
            return Err(VfsError::SettingsMismatch("a page read before the database"));
        };
        held.counters
            .open(image.len(), || held.cipher.open(page_no, image, out))
            .map_err(|error| {
                held.counters.refuse();
                VfsError::of_page(error, role, page_no.0)
            })
    }

    /// Opens a sealed image in place, using `scratch` if its suite needs it. It is zero on error.
    ///
    /// # Errors
    /// As [`Sealer::open`].
    pub fn open_in_place(
        &mut self,
        database: &Database,
        page_no: PageNo,
        page: &mut [u8],
        scratch: &mut [u8],
    ) -> Result<(), VfsError> {
        let role = self.role;
        let Some(held) = self.held(database) else {
            page.fill(0);
            return Err(VfsError::SettingsMismatch("a page read before the database"));
        };
        held.counters
            .open(page.len(), || held.cipher.open_in_place(page_no, page, scratch))
            .map_err(|error| {
                held.counters.refuse();
                VfsError::of_page(error, role, page_no.0)
            })
    }

    /// Opens an image that was read ahead, and returns whether it was valid: it may have been read
    /// during another connection's write, so a failure says nothing about the page.
    pub fn open_ahead(&mut self, database: &Database, page_no: PageNo, image: &[u8], out: &mut [u8]) -> bool {
        self.held(database).is_some_and(|held| {
            held.counters
                .open(image.len(), || held.cipher.open(page_no, image, out))
                .is_ok()
        })
    }

    /// Counts pages that were read ahead.
    pub fn count_ahead(&mut self, used: u64, wasted: u64) {
        if let Some(held) = &mut self.held {
            held.counters.read_ahead(used, wasted);
        }
    }

    /// Counts a lookup of a page in the pool.
    pub fn count_pool(&mut self, hit: bool) {
        if let Some(held) = &mut self.held {
            held.counters.pool(hit);
        }
    }

    fn held(&mut self, database: &Database) -> Option<&mut Held> {
        let view_no = database.view_no();
        if self.unsealed == Some(view_no) {
            return None;
        }
        if self.held.as_ref().is_none_or(|held| held.view_no != view_no) {
            self.unsealed = None;
            let Content::Sealed(view) = database.content() else {
                self.held = None;
                self.unsealed = Some(view_no);
                return None;
            };
            let cipher = PageCipher::new(view.page_keys.clone());
            let counters = database.host.counters.for_file(self.role);
            self.held = Some(Held {
                view_no,
                view,
                cipher,
                counters,
            });
        }
        self.held.as_mut()
    }
}
