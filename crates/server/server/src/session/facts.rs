//! What is known of a session when it begins.

use std::cell::Cell;
use std::sync::Arc;

use selenite_compiler::{Connection, RandomState, Server, Session};
use selenite_tds::TdsVersion;
use selenite_tsql::ast::IsolationLevel;
use selenite_types::Moment;

use crate::instance::VERSION;
use crate::session_state::{CurrentDatabase, SessionState};
use crate::{Instance, LoginInfo, SessionEntry};

/// The state of a session that has just logged in.
pub(super) fn new_state(
    instance: &Instance,
    login_info: &LoginInfo,
    entry: &SessionEntry,
    now: Moment,
) -> SessionState {
    let session = Session {
        spid: i16::try_from(entry.spid()).unwrap_or(i16::MAX),
        // What ODBC and OLE DB begin with; others have no limit either (SET TEXTSIZE).
        text_size: if login_info.is_odbc { i32::MAX } else { -1 },
        ..Session::default()
    };
    SessionState {
        now,
        session,
        connection: Arc::new(connection(login_info, entry)),
        server: Arc::new(server(instance, login_info.tds_version)),
        caught: None,
        random: Cell::new(RandomState::new(seed(now, entry.spid()))),
        database: CurrentDatabase {
            id: login_info.database_id,
            name: Arc::from(login_info.database.as_str()),
        },
        isolation: IsolationLevel::ReadCommitted,
        row_count_max: 0,
        statistics_io: false,
        plan_form: None,
        statistics_profile: false,
        statistics_xml: false,
        lock_timeout_max: instance.config().limits.lock_timeout,
    }
}

fn connection(login_info: &LoginInfo, entry: &SessionEntry) -> Connection {
    let facts = entry.facts();
    let login: Arc<str> = Arc::from(login_info.login.as_str());
    Connection {
        original_login: login.clone(),
        login,
        // There is one schema and one owner.
        user: Arc::from("dbo"),
        host: Arc::from(login_info.host.as_str()),
        host_id: Arc::from(login_info.client_process.to_string()),
        application: Arc::from(login_info.program.as_str()),
        net_transport: Arc::from("TCP"),
        protocol_type: Arc::from("TSQL"),
        auth_scheme: Arc::from("SQL"),
        local_net_address: Some(Arc::from(facts.local.ip().to_string())),
        local_tcp_port: Some(i32::from(facts.local.port())),
        client_net_address: Some(Arc::from(facts.peer.ip().to_string())),
    }
}

fn server(instance: &Instance, tds_version: TdsVersion) -> Server {
    let name: Arc<str> = Arc::from(instance.name());
    Server {
        machine_name: name.clone(),
        name,
        service_name: Arc::from("SELENITE"),
        instance_name: None,
        version: Arc::from(version_text(tds_version)),
        product_version: [
            VERSION.major.into(),
            VERSION.minor.into(),
            VERSION.build,
            VERSION.sub_build,
        ],
        product_level: Arc::from("RTM"),
        edition: Arc::from("Selenite"),
        // 3: what drivers expect of a server that is no cloud's.
        engine_edition: 3,
        process_id: i32::try_from(std::process::id()).unwrap_or(0),
        data_path: Arc::from(instance.data_folder().to_string_lossy()),
        connection_count_max: i32::try_from(instance.registry().limits().max).unwrap_or(i32::MAX),
    }
}

/// `@@VERSION`. SQLAlchemy's dialect for pymssql wants `Microsoft .. - ` and four numbers there, and fails without;
/// so it begins with what this is compatible with, and says what it is.
fn version_text(tds_version: TdsVersion) -> String {
    let tds = if tds_version == TdsVersion::V8_0 { "8.0" } else { "7.4" };
    let own = env!("CARGO_PKG_VERSION");
    format!(
        "Microsoft SQL Server compatible: Selenite {own} (TDS {tds}) - {}.{}.{}.{}\n\tT-SQL over encrypted SQLite files\n",
        VERSION.major, VERSION.minor, VERSION.build, VERSION.sub_build,
    )
}

/// RAND without a seed is another in each session.
fn seed(now: Moment, spid: u16) -> i32 {
    let mixed = now.unix_ns.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ u64::from(spid);
    i32::try_from(mixed % 0x7FFF_FFFF).unwrap_or(1)
}
