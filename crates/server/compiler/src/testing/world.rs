//! A server with one database, one table and one user, at a fixed moment.

use selenite_types::{Decimal, Width};
use zeroize::Zeroizing;

use super::*;
use crate::{
    CaughtError, ColumnFacts, ColumnKey, Connection, DatabaseFacts, IdentityFacts, Key, KeySecret, ObjectFacts,
    ObjectKey, ObjectKind, PrincipalFacts, RandomState, SchemaFacts, Server, Session, TableOption, UserTypeFacts,
    same_name,
};

pub(crate) struct World {
    pub session: Session,
    pub connection: Connection,
    pub server: Server,
    pub caught: Option<CaughtError>,
    pub random: Cell<RandomState>,
    pub now: Moment,
    /// The number of polls, and the poll at which the statement is cancelled.
    pub polls: Cell<u64>,
    pub stops_at: Cell<u64>,
    /// The largest request of memory.
    pub reserved_max: Cell<usize>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            session: Session {
                spid: 51,
                ..Session::default()
            },
            connection: connection(),
            server: server(),
            caught: None,
            random: Cell::new(RandomState::new(1)),
            polls: Cell::new(0),
            stops_at: Cell::new(u64::MAX),
            reserved_max: Cell::new(0),
            // 2024-02-29 13:14:15.1234567 UTC, in a time zone one hour ahead.
            now: Moment {
                unix_ns: 1_709_212_455_123_456_700,
                offset_minutes: 60,
            },
        }
    }
}

fn connection() -> Connection {
    Connection {
        login: Arc::from("sa"),
        original_login: Arc::from("sa"),
        user: Arc::from("dbo"),
        host: Arc::from("bench"),
        host_id: Arc::from("4711"),
        application: Arc::from("tsql"),
        net_transport: Arc::from("TCP"),
        protocol_type: Arc::from("TSQL"),
        auth_scheme: Arc::from("SQL"),
        local_net_address: Some(Arc::from("127.0.0.1")),
        local_tcp_port: Some(1433),
        client_net_address: Some(Arc::from("127.0.0.1")),
    }
}

fn server() -> Server {
    Server {
        name: Arc::from("BENCH"),
        service_name: Arc::from("MSSQLSERVER"),
        machine_name: Arc::from("BENCH"),
        instance_name: None,
        version: Arc::from("Selenite 0.1"),
        product_version: [15, 0, 2000, 5],
        product_level: Arc::from("RTM"),
        edition: Arc::from("Selenite"),
        engine_edition: 3,
        process_id: 99,
        data_path: Arc::from("/data/"),
        connection_count_max: 32_767,
    }
}

impl Environment for World {
    fn now(&self) -> Moment {
        self.now
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn server(&self) -> &Server {
        &self.server
    }

    fn caught(&self) -> Option<&CaughtError> {
        self.caught.as_ref()
    }

    fn random(&self) -> &Cell<RandomState> {
        &self.random
    }

    fn reserve(&self, bytes: usize) -> Result<(), SqlError> {
        self.reserved_max.set(bytes.max(self.reserved_max.get()));
        Ok(())
    }

    fn poll(&self) -> Result<(), SqlError> {
        self.polls.set(self.polls.get() + 1);
        match self.polls.get() >= self.stops_at.get() {
            true => Err(SqlError::interrupted()),
            false => Ok(()),
        }
    }

    fn random_bytes(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }

    /// As testdata/tsql/key_messages.txt has them: the size of a key is the first byte of its GUID, and its bytes count up
    /// from that.
    fn open_key(&self, guid: Guid) -> Result<Option<KeySecret>, SqlError> {
        let size = guid.0[0];
        let secret = (size..size.saturating_mul(2)).collect();
        Ok([16, 24, 32].contains(&size).then(|| Arc::new(Zeroizing::new(secret))))
    }

    fn new_guid(&self) -> Guid {
        Guid([7; 16])
    }

    fn database(&self, key: Key<'_>) -> Result<Option<DatabaseFacts>, SqlError> {
        let found = found(key, &[(1, "master"), (5, "TestDB")], 5);
        Ok(found.map(|(id, name)| DatabaseFacts {
            id: i16::try_from(id).unwrap(),
            name: Arc::from(name),
            is_accessible: true,
            status: Arc::from("ONLINE"),
            is_read_only: false,
            recovery: Arc::from("FULL"),
            user_access: "MULTI_USER",
            switched_on: Arc::from(["ANSI_NULLS"]),
        }))
    }

    fn schema(&self, key: Key<'_>) -> Result<Option<SchemaFacts>, SqlError> {
        Ok(found(key, &[(1, "dbo"), (4, "sys")], 1).map(|(id, name)| SchemaFacts {
            id,
            name: Arc::from(name),
        }))
    }

    fn object(&self, key: ObjectKey<'_>) -> Result<Option<ObjectFacts>, SqlError> {
        let is_orders = match key {
            ObjectKey::Name {
                database,
                schema,
                name,
                object_type,
            } => {
                database.is_none_or(|database| same_name(database, "testdb"))
                    && schema.is_none_or(|schema| same_name(schema, "dbo"))
                    && same_name(name, "orders")
                    && object_type.is_none_or(|of| of == "U")
            }
            ObjectKey::Id { id, .. } => id == ORDERS,
        };
        Ok(is_orders.then(|| ObjectFacts {
            id: ORDERS,
            name: Arc::from("Orders"),
            schema: SchemaFacts {
                id: 1,
                name: Arc::from("dbo"),
            },
            kind: ObjectKind::UserTable,
            is_system: false,
            table: TableOption {
                has_identity: true,
                ..TableOption::default()
            },
        }))
    }

    fn column(&self, table_id: i32, key: ColumnKey<'_>) -> Result<Option<ColumnFacts>, SqlError> {
        let columns = [
            ("id", DataType::Int, false),
            ("name", DataType::NVarChar(Width::Limited(20)), true),
            (
                "price",
                DataType::Decimal {
                    precision: 10,
                    scale: 2,
                },
                true,
            ),
        ];
        let mut numbered = (1..).zip(columns);
        let column = numbered.find(|(number, (name, ..))| match key {
            ColumnKey::Name(wanted) => same_name(name, wanted),
            ColumnKey::Number(wanted) => *number == wanted,
        });
        let column = column.filter(|_| table_id == ORDERS);
        Ok(column.map(|(number, (name, data_type, nullable))| ColumnFacts {
            number,
            name: Arc::from(name),
            data_type,
            nullable,
            is_identity: name == "id",
            is_computed: false,
        }))
    }

    fn identity(&self, table_id: i32) -> Result<Option<IdentityFacts>, SqlError> {
        let number = |unscaled| Decimal { unscaled, scale: 0 };
        let identity = IdentityFacts {
            seed: number(100),
            increment: number(5),
            current: number(115),
        };
        Ok((table_id == ORDERS).then_some(identity))
    }

    fn user(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, SqlError> {
        Ok(principal(key, &[(1, "dbo"), (16_384, "db_owner")], "db_owner"))
    }

    fn login(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, SqlError> {
        Ok(principal(key, &[(1, "sa"), (3, "sysadmin")], "sysadmin"))
    }

    fn user_type(&self, _: Key<'_>, _: Option<&str>) -> Result<Option<UserTypeFacts>, SqlError> {
        Ok(None)
    }
}

fn found<'a>(key: Key<'_>, known: &[(i32, &'a str)], current: i32) -> Option<(i32, &'a str)> {
    let is_wanted = |(id, name): &&(i32, &str)| match key {
        Key::Current => *id == current,
        Key::Name(wanted) => same_name(name, wanted),
        Key::Id(wanted) => *id == wanted,
        Key::Sid(sid) => sid == [1] && *id == 1,
    };
    known.iter().find(is_wanted).copied()
}

fn principal(key: Key<'_>, known: &[(i32, &str)], role: &str) -> Option<PrincipalFacts> {
    let is_role = |name: &str| name == role;
    found(key, known, 1).map(|(id, name)| PrincipalFacts {
        id,
        name: Arc::from(name),
        is_role: is_role(name),
        is_member: is_role(name),
    })
}

pub(crate) const ORDERS: i32 = 901_578_250;
