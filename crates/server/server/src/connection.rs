//! One connection from its first byte to its last, on a thread of its own.

use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::net::sockopt;
use selenite_tds::{Limits, Login, MessageReader, PacketSize};

use crate::audit::Event;
use crate::config::TlsOffload;
use crate::instance::LANGUAGE;
use crate::login::{
    Acceptance, Afterwards, Applicant, Arrival, Refusal, accept, authenticate, greet, look_again, refuse,
};
use crate::master::{DatabaseRecord, LoginRecord};
use crate::pending_logins::PendingLogin;
use crate::registry::{CancelHandle, NoPlace, Presence, SessionFacts, Traffic};
use crate::transport::{Encryptor, Line, LineError};
use crate::{Ended, Front, Instance, LoginInfo, Session, Wire};

/// An accepted connection.
pub struct Connection {
    /// Its socket.
    pub socket: Arc<TcpStream>,
    /// Ends it from another thread.
    pub cancel_handle: Arc<CancelHandle>,
    /// The peer's address.
    pub peer: SocketAddr,
}

impl Connection {
    /// Serves it to its end.
    pub fn serve(&self, instance: &Arc<Instance>, front: &dyn Front, place: PendingLogin) {
        let mut afterwards = Afterwards::default();
        let outcome = self.try_serve(instance, front, place, &mut afterwards);
        // Data on its way is still delivered.
        let _ = self.socket.shutdown(Shutdown::Write);
        afterwards.write(instance);
        let said = match outcome {
            // A probe of the port is not logged.
            Ok(Ended::Left | Ended::Terminated) | Err(LineError::End) => return,
            Ok(Ended::Broken) => "the connection broke".to_owned(),
            Ok(Ended::Refused) => "ended by an error".to_owned(),
            Err(_) if self.cancel_handle.cancelled().is_some() => return,
            Err(error) => error.to_string(),
        };
        instance.log().line(&format!("{}: {said}", self.peer));
    }

    fn try_serve(
        &self,
        instance: &Arc<Instance>,
        front: &dyn Front,
        place: PendingLogin,
        afterwards: &mut Afterwards,
    ) -> Result<Ended, LineError> {
        self.set_options()?;
        let deadline = Instant::now() + instance.config().limits.login_time;
        let traffic = Arc::new(Traffic::default());
        let mut line = Line::new(self.socket.clone(), traffic.clone(), deadline);
        let mut reader = MessageReader::new();
        let arrival = greet(&mut line, &mut reader, instance.config().encryption, instance.tls())?;
        if !place.keep() {
            return Err(LineError::End);
        }
        let (is_strict, is_encrypted) = (arrival.is_strict, arrival.is_encrypted);
        let user = arrival.login.as_ref().map_or("", |login| &login.user_name).to_owned();
        let admitted = self.admit(instance, front, arrival, deadline, afterwards);
        let admitted = admitted.and_then(|admitted| self.enter(instance, admitted, (is_encrypted, traffic)));
        let (admitted, presence) = match admitted {
            Ok(admitted) => admitted,
            Err(refusal) => {
                instance
                    .log()
                    .line(&format!("{}: login failed for user '{user}': {refusal}", self.peer));
                self.note_login(instance, &user, &Err(&refusal));
                refuse(&mut line, instance.name(), &refusal.notices(&user))?;
                return Ok(Ended::Left);
            }
        };
        // The session is registered. The place before the login is released before the client is answered: what the
        // client opens next may need it.
        instance.pending_logins().note_login(self.peer.ip());
        drop(place);
        let login_info = admitted.login_info(is_encrypted);
        let acceptance = Acceptance {
            server: instance.name(),
            spid: presence.entry().spid(),
            tds_version: login_info.tds_version,
            database: &login_info.database,
            packet_size: login_info.packet_size,
            features: &login_info.features,
        };
        let accepted = accept(&mut line, &acceptance);
        std::mem::take(afterwards).write(instance);
        accepted?;
        line.logged_in()?;
        reader.set_limits(Limits::LoggedIn {
            message_size_max: instance.config().limits.message_size_max,
        });
        if is_encrypted && instance.config().tls_offload == TlsOffload::Thread {
            line.offload(encryptor(&presence).map_err(LineError::Io)?);
        }
        let entry = presence.entry().clone();
        let cancel_handle = self.cancel_handle.clone();
        let limits = (login_info.packet_size, request_time(instance, &login_info));
        let wire = Wire::new(line, reader, cancel_handle, entry.clone(), limits);
        debug_assert!(is_strict <= is_encrypted);
        let ended = front.serve(Session {
            instance,
            login_info,
            wire,
            entry,
        });
        note_logout(instance, &presence);
        Ok(ended)
    }

    /// A place for a session.
    fn enter<'a>(
        &self,
        instance: &'a Instance,
        admitted: Admitted,
        (is_encrypted, traffic): (bool, Arc<Traffic>),
    ) -> Result<(Admitted, Presence<'a>), Refusal> {
        let facts = self.facts(&admitted, is_encrypted)?;
        if !facts.is_administrator && !instance.descriptors().has_room() {
            return Err(Refusal::NoDescriptors(instance.registry().limits().max));
        }
        let user = facts.login.clone();
        let presence = instance.registry().enter(facts, traffic, self.cancel_handle.clone());
        let presence = presence.map_err(|no_place| match no_place {
            NoPlace::Server(max) => Refusal::Full(max),
            NoPlace::Login(max) => Refusal::FullOfLogin(max),
        })?;
        // DROP LOGIN ends the sessions that it sees: from here on it sees this one.
        look_again(instance, &admitted.login)?;
        let outcome = Ok((&admitted.database.name, presence.entry().spid()));
        if !self.note_login(instance, &user, &outcome) {
            return Err(Refusal::Trouble("the audit log can't be written".to_owned()));
        }
        Ok((admitted, presence))
    }

    /// Writes a login to the audit log. False if logins are refused, since it can't be written.
    fn note_login(&self, instance: &Instance, user: &str, outcome: &Result<(&String, u16), &Refusal>) -> bool {
        let event = Event {
            event: "LOGIN",
            login: Some(user),
            address: Some(self.peer.ip()),
            ..Event::default()
        };
        match outcome {
            Ok((database, session)) => instance.audit().write(&Event {
                session: Some(*session),
                database: Some(database),
                ..event
            }),
            Err(refusal) => instance.audit().write(&Event {
                error: refusal.notices(user).first().map(|notice| notice.number),
                reason: Some(&refusal.to_string()),
                ..event
            }),
        }
    }

    /// Whether a login is admitted.
    fn admit(
        &self,
        instance: &Arc<Instance>,
        front: &dyn Front,
        arrival: Arrival,
        deadline: Instant,
        afterwards: &mut Afterwards,
    ) -> Result<Admitted, Refusal> {
        let login7 = arrival.login?;
        check_wishes(&login7)?;
        let tds_version = login7.tds_version.agreed(arrival.is_strict);
        let tds_version = tds_version.ok_or(Refusal::Unsupported("TDS before 7.3B"))?;
        let applicant = Applicant {
            name: &login7.user_name,
            password: login7.password.expose(),
            new_password: login7.new_password.as_ref().map(|password| password.expose()),
            address: self.peer.ip(),
            deadline,
        };
        let (login, later) = authenticate(instance, &applicant);
        *afterwards = later;
        let login = login?;
        let database = database(instance, front, &login, &login7.database)?;
        Ok(Admitted {
            login,
            database,
            tds_version,
            packet_size: PacketSize::nearest(login7.packet_size),
            login7,
        })
    }

    fn facts(&self, admitted: &Admitted, is_encrypted: bool) -> Result<SessionFacts, Refusal> {
        let local = self.socket.local_addr();
        let Login {
            host_name,
            app_name,
            library_name,
            client_version,
            client_process,
            ..
        } = &admitted.login7;
        Ok(SessionFacts {
            login: admitted.login.name.clone(),
            sid: admitted.login.sid,
            is_administrator: admitted.login.is_administrator,
            host: host_name.clone(),
            program: app_name.clone(),
            library: library_name.clone(),
            client_version: *client_version,
            client_process: *client_process,
            peer: self.peer,
            local: local.map_err(|error| Refusal::Trouble(error.to_string()))?,
            is_encrypted,
            tds_version: admitted.tds_version,
            packet_size: admitted.packet_size,
            connected: SystemTime::now(),
        })
    }

    /// A small packet is sent at once. A peer that vanished is noticed as SQL Server notices it: after half a minute
    /// of silence.
    fn set_options(&self) -> Result<(), LineError> {
        let set = || {
            self.socket.set_nodelay(true)?;
            sockopt::set_socket_keepalive(&self.socket, true)?;
            sockopt::set_tcp_keepidle(&self.socket, KEEP_IDLE)?;
            sockopt::set_tcp_keepintvl(&self.socket, KEEP_INTERVAL)?;
            Ok::<_, std::io::Error>(())
        };
        set().map_err(LineError::Io)
    }
}

/// An admitted login and its database.
struct Admitted {
    login: LoginRecord,
    database: DatabaseRecord,
    tds_version: selenite_tds::TdsVersion,
    packet_size: PacketSize,
    login7: Login,
}

impl Admitted {
    /// What the front needs to know of the login. The passwords are wiped here.
    fn login_info(self, is_encrypted: bool) -> LoginInfo {
        let Login {
            lcid,
            is_odbc,
            is_read_only,
            host_name,
            app_name,
            server_name,
            library_name,
            client_version,
            client_process,
            client_id,
            features,
            ..
        } = self.login7;
        LoginInfo {
            login: self.login.name,
            login_id: self.login.id,
            sid: self.login.sid,
            is_administrator: self.login.is_administrator,
            database: self.database.name,
            database_id: self.database.id,
            language: LANGUAGE,
            tds_version: self.tds_version,
            packet_size: self.packet_size,
            is_encrypted,
            host: host_name,
            program: app_name,
            server: server_name,
            library: library_name,
            client_version,
            client_process,
            client_id,
            lcid,
            is_odbc,
            is_read_only,
            features,
        }
    }
}

/// Options that a client may not request.
fn check_wishes(login: &Login) -> Result<(), Refusal> {
    if login.is_integrated {
        return Err(Refusal::Integrated);
    }
    if login.is_user_instance {
        return Err(Refusal::UserInstance);
    }
    if let Some(what) = login.unsupported() {
        return Err(Refusal::Unsupported(what));
    }
    let is_known = ["", LANGUAGE, "english"]
        .iter()
        .any(|known| login.language.eq_ignore_ascii_case(known));
    if login.is_language_fatal && !is_known {
        return Err(Refusal::Language(login.language.clone()));
    }
    Ok(())
}

/// The requested database, or the login's own. If the requested one is not available, that is an error also where the
/// client would take another: its next statements are meant for the one that it named.
fn database(
    instance: &Instance,
    front: &dyn Front,
    login: &LoginRecord,
    asked: &str,
) -> Result<DatabaseRecord, Refusal> {
    let name = if asked.is_empty() {
        &login.default_database
    } else {
        asked
    };
    let found = instance.master().database(name);
    let found = found.map_err(|error| Refusal::Trouble(error.to_string()))?;
    let admitted = found.filter(|database| front.admits(instance, login, database));
    admitted.ok_or_else(|| match asked.is_empty() {
        true => Refusal::DefaultDatabase(name.to_owned()),
        false => Refusal::Database(name.to_owned()),
    })
}

/// A request of an administrator has no time limit: backups, checks, scans.
fn request_time(instance: &Instance, login_info: &LoginInfo) -> Duration {
    match login_info.is_administrator {
        true => Duration::ZERO,
        false => instance.config().limits.request_time,
    }
}

fn note_logout(instance: &Instance, presence: &Presence<'_>) {
    let facts = presence.entry().facts();
    instance.audit().write(&Event {
        event: "LOGOUT",
        login: Some(&facts.login),
        address: Some(facts.peer.ip()),
        session: Some(presence.entry().spid()),
        ..Event::default()
    });
}

/// The session's other thread, whose figures count as the session's.
fn encryptor(presence: &Presence<'_>) -> std::io::Result<Encryptor> {
    let entry = presence.entry().clone();
    Encryptor::start(move || entry.adopt_this_thread())
}

/// SQL Server's own: after 30 s without data, then every second.
const KEEP_IDLE: Duration = Duration::from_secs(30);
const KEEP_INTERVAL: Duration = Duration::from_secs(1);
