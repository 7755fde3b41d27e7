//! Members of the server's roles but `sysadmin`, and permissions on the server.
//!
//! Logins and members are kept by their security ids. A role is kept by its number, which no later one has, and loses
//! its members when it is dropped.

use super::{Master, MasterError, ServerGrant, ServerPermission, ServerSecurity, server_role};

impl Master {
    /// All of them. What a later version has written has no meaning here, and gives nothing.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn server_security(&self) -> Result<ServerSecurity, MasterError> {
        self.with(|connection| {
            let mut asked = connection.prepare_cached("SELECT role, member FROM selenite_server_member")?;
            let members = asked.query_map([], |row| Ok((row.get::<_, i32>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
            let members: Vec<(i32, Vec<u8>)> = members.collect::<Result<_, _>>()?;
            let sql = "SELECT type, on_login, grantee, state FROM selenite_server_permission ORDER BY grantee, type, on_login";
            let mut asked = connection.prepare_cached(sql)?;
            let grants = asked.query_map([], |row| {
                let kind = ServerPermission::of_letters(&row.get::<_, String>(0)?);
                let state: String = row.get(3)?;
                let is_known = state == GRANTED || state == DENIED;
                Ok(kind.filter(|_| is_known).map(|kind| (kind, state == DENIED)).zip(Some((
                    row.get::<_, Vec<u8>>(1)?,
                    row.get::<_, Vec<u8>>(2)?,
                ))))
            })?;
            let grants: Vec<_> = grants.collect::<Result<_, _>>()?;
            let grant = |((kind, is_denied), (on, grantee))| ServerGrant {
                kind,
                on,
                grantee,
                is_denied,
            };
            Ok(ServerSecurity {
                roles: server_role::load(connection)?,
                members,
                grants: grants.into_iter().flatten().map(grant).collect(),
            })
        })
    }

    /// Makes a login or role a member of the role of a number and security id, or no longer one.
    ///
    /// # Errors
    /// [`MasterError::Unknown`] for a role that was dropped meanwhile; SQLite's error.
    pub fn set_server_member(&self, role: (i32, &[u8]), sid: &[u8], is_member: bool) -> Result<(), MasterError> {
        let sql = match is_member {
            true => "INSERT OR IGNORE INTO selenite_server_member (role, member) VALUES (?1, ?2)",
            false => "DELETE FROM selenite_server_member WHERE role = ?1 AND member = ?2",
        };
        let (id, of_role) = role;
        self.change(|connection| {
            let known = "SELECT ?1 < 256 OR EXISTS (SELECT 1 FROM selenite_server_role WHERE id = ?1 AND sid = ?2)";
            if !connection.query_row(known, (id, of_role), |row| row.get(0))? {
                return Err(MasterError::Unknown(id.to_string()));
            }
            connection.execute(sql, (id, sid))?;
            Ok(())
        })
    }

    /// Grants and denies permissions, or forgets them if they are not to be kept: all of them or none.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn set_server_grants(&self, grants: &[ServerGrant], is_kept: bool) -> Result<(), MasterError> {
        self.change(|connection| {
            for grant in grants {
                let (letters, state) = (grant.kind.words().1, if grant.is_denied { DENIED } else { GRANTED });
                connection.execute(
                    "DELETE FROM selenite_server_permission WHERE type = ?1 AND on_login = ?2 AND grantee = ?3",
                    (letters, &grant.on, &grant.grantee),
                )?;
                if is_kept {
                    connection.execute(
                        "INSERT INTO selenite_server_permission (type, on_login, grantee, state) VALUES (?1, ?2, ?3, ?4)",
                        (letters, &grant.on, &grant.grantee, state),
                    )?;
                }
            }
            Ok(())
        })
    }
}

const GRANTED: &str = "G";
const DENIED: &str = "D";

pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS selenite_server_member (
    role INTEGER NOT NULL,
    member BLOB NOT NULL,
    PRIMARY KEY (role, member)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS selenite_server_permission (
    type TEXT NOT NULL,
    on_login BLOB NOT NULL,
    grantee BLOB NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (type, on_login, grantee)
) STRICT, WITHOUT ROWID;
";
