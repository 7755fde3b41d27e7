//! The keys and geometry of one generation of the superblock, as a database's files use them.

use std::sync::Arc;

use selenite_cipher::{LogKey, PageKeys, PageKeysParts, PageNo, Scan};
use selenite_format::{Geometry, State};
use selenite_keyring::Unlocked;

use crate::{error::VfsError, role::Role};

/// Keys and geometry of a database; immutable: a change of keys creates a new view.
pub struct View {
    /// The superblock with its unwrapped master key.
    pub unlocked: Unlocked,
    /// The keys of the database's pages.
    pub page_keys: Arc<PageKeys>,
    /// The key of the database's logs.
    pub log_key: LogKey,
    /// The geometry of the database's pages.
    pub geometry: Geometry,
}

impl View {
    /// Unwraps the keys of an unlocked superblock.
    ///
    /// # Errors
    /// `Retired`; a superblock whose keys do not belong together.
    pub fn new(unlocked: Unlocked, allow_plain: bool, allow_deprecated: bool) -> Result<Self, VfsError> {
        let superblock = &unlocked.superblock;
        let scan = match superblock.state {
            State::Steady => Scan::Steady,
            State::SwitchingOn => Scan::SwitchingOn {
                cursor: PageNo(superblock.cursor),
            },
            State::SwitchingOff => Scan::SwitchingOff,
            State::Changing => Scan::Changing,
            State::Finishing => Scan::Finishing,
            State::Retired => return Err(VfsError::Retired),
        };
        let page_keys = PageKeys::new(PageKeysParts {
            database_id: superblock.database_id,
            page_size: superblock.page_size.bytes(),
            scan,
            epoch_max: superblock.epoch_max,
            sealing_epoch: superblock.sealing_epoch,
            data_keys: unlocked.data_keys()?,
            allow_plain,
            allow_deprecated,
        })
        .map_err(|error| VfsError::of_page(error, Role::Main, 0))?;
        let geometry = Geometry::new(superblock.page_size);
        let log_key = unlocked.log_key()?;
        Ok(Self {
            page_keys: Arc::new(page_keys),
            log_key,
            geometry,
            unlocked,
        })
    }

    /// The page size as a count of bytes.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.geometry.page_size().bytes()
    }
}
