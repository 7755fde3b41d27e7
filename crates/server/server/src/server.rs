//! Starts a server, and stops it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use selenite_tds::EncryptionMode;

use crate::announcement::Announcement;
use crate::audit::{AuditLog, Event};
use crate::descriptors::Descriptors;
use crate::listener::{Listener, Stopper};
use crate::master::{Master, MasterError};
use crate::password::{PasswordHash, random_password};
use crate::{Config, DataFolder, Front, Instance, ServerError, certificate, identity, memory};

/// A server that can be started.
pub struct Server;

/// A running server. It stops when this is dropped.
pub struct Running {
    address: SocketAddr,
    instance: Arc<Instance>,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

/// Reports progress during the start.
type Announce<'a> = dyn FnMut(Announcement<'_>) -> io::Result<()> + 'a;

impl Server {
    /// Starts a server, which accepts connections when this returns.
    ///
    /// `open_front` makes what serves sessions. `announce` receives what the operator has to know; the first password
    /// counts only if it was announced.
    ///
    /// # Errors
    /// [`ServerError`]; the error of `open_front`. Nothing runs then.
    pub fn start(
        config: Config,
        announce: &mut Announce<'_>,
        open_front: impl FnOnce(&Arc<Instance>) -> Result<Arc<dyn Front>, ServerError>,
    ) -> Result<Running, ServerError> {
        let mut config = config;
        let (descriptors, lowered) = Descriptors::provide(&mut config.limits)?;
        // First what fails most often, and before anything is created.
        let listener = Listener::bind(config.listen)?;
        let address = listener.address();
        memory::start(&config.limits)?;
        let data_folder = DataFolder::take(&config.data)?;
        let own_identity = identity::settle(&mut config.access, config.new_identity.as_deref(), data_folder.path())?;
        if let Some(own) = &own_identity {
            let (path, is_new) = (own.path.as_path(), own.is_new);
            announce_to(announce, Announcement::Identity { path, is_new })?;
        }
        selenite::install()?;
        let master = open_master(&config, &data_folder, announce)?;
        let tls = match &config.tls_files {
            Some(files) => certificate::from_files(files)?,
            None => {
                let (setup, own) = certificate::own(&master, data_folder.path(), address)?;
                let announcement = Announcement::Certificate {
                    path: &own.path,
                    fingerprint: own.fingerprint,
                    is_new: own.is_new,
                };
                announce_to(announce, announcement)?;
                setup
            }
        };
        warn(&config, address, announce)?;
        if let Some(lowered) = lowered {
            announce_to(announce, lowered)?;
        }
        let audit = AuditLog::open(&config.audit, data_folder.path(), &config.log)?;
        audit.write(&Event {
            event: "START",
            ..Event::default()
        });
        let instance =
            Instance::new(config, data_folder, master, tls, (descriptors, audit)).map_err(|fault| machine(&fault))?;
        let instance = Arc::new(instance);
        let front = open_front(&instance)?;
        front.begin(&instance);
        let stopper = listener.stopper();
        let shared = instance.clone();
        let thread = std::thread::Builder::new()
            .name("listen".to_owned())
            .spawn(move || listener.run(&shared, &front))
            .map_err(|error| machine(&error))?;
        Ok(Running {
            address,
            instance,
            stopper,
            thread: Some(thread),
        })
    }
}

impl Running {
    /// The address at which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What all sessions share.
    #[must_use]
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// Ends the listener, all sessions and the front. When this returns, none of its threads is left, and another
    /// server may have the data folder.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            // The hook has reported a panic already.
            let _ = thread.join();
            self.instance.audit().write(&Event {
                event: "STOP",
                ..Event::default()
            });
        }
        self.instance.release_data_folder();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

fn open_master(config: &Config, folder: &DataFolder, announce: &mut Announce<'_>) -> Result<Master, ServerError> {
    if Master::is_there(folder.path())
        && let Some(master) = Master::open(folder.path(), &config.access)?
    {
        return Ok(master);
    }
    let password = random_password();
    let hash = PasswordHash::new(&password, config.password_cost).map_err(MasterError::from)?;
    let tell = || announce(Announcement::Password(&password));
    Ok(Master::create(folder.path(), &config.access, &hash, tell)?)
}

fn warn(config: &Config, address: SocketAddr, announce: &mut Announce<'_>) -> Result<(), ServerError> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    announce_to(announce, Announcement::NotLoopback(address))?;
    match config.encryption {
        EncryptionMode::Off | EncryptionMode::Optional => announce_to(announce, Announcement::InClear(address)),
        EncryptionMode::Required | EncryptionMode::Strict => Ok(()),
    }
}

fn announce_to(announce: &mut Announce<'_>, announcement: Announcement<'_>) -> Result<(), ServerError> {
    announce(announcement).map_err(|source| ServerError::Io {
        verb: "write to",
        path: "standard output".into(),
        source,
    })
}

fn machine(error: &dyn std::fmt::Display) -> ServerError {
    ServerError::Machine(error.to_string())
}
