"""What SQL Server Management Studio and Azure Data Studio ask when they connect and when their tree of objects is opened.

Both are programs for other systems. The queries are of their form: the views, columns and functions are those that the
public source of SQL Server Management Objects and of SQL Tools Service reads for each node of the tree.
"""

import json
import os
import traceback
from collections.abc import Callable

import pymssql

CHECKS: dict[str, Callable[[], None]] = {}
DATABASE = os.environ["TDS_DATABASE"]
SERVER = pymssql.connect(
    "127.0.0.1", "sa", os.environ["TDS_PASSWORD"], DATABASE, port=os.environ["TDS_PORT"], autocommit=True
)

OBJECTS = """
CREATE SCHEMA sales
GO
CREATE TYPE phone FROM varchar(20) NOT NULL
GO
CREATE TYPE pair AS TABLE (a int PRIMARY KEY, b int)
GO
CREATE TABLE sales.customer (
  id int IDENTITY(10, 5) CONSTRAINT customer_pk PRIMARY KEY,
  name nvarchar(40) NOT NULL CONSTRAINT customer_name UNIQUE,
  age int CONSTRAINT customer_age DEFAULT 18 CONSTRAINT customer_adult CHECK (age >= 18),
  twice AS age * 2,
  number phone)
GO
CREATE TABLE sales.orders (id uniqueidentifier PRIMARY KEY DEFAULT NEWID(), customer int CONSTRAINT orders_customer
  FOREIGN KEY REFERENCES sales.customer (id) ON DELETE CASCADE, total decimal(10, 2))
GO
CREATE INDEX orders_total ON sales.orders (total DESC) INCLUDE (customer) WHERE total > 0
GO
CREATE VIEW sales.adults AS SELECT id, name FROM sales.customer
GO
CREATE PROCEDURE sales.add_customer @name nvarchar(40), @id int = 3 OUTPUT AS INSERT sales.customer (name) VALUES (@name)
GO
CREATE FUNCTION sales.half(@n decimal(10, 2)) RETURNS decimal(10, 2) AS BEGIN RETURN @n / 2 END
GO
CREATE FUNCTION sales.of_customer(@id int) RETURNS TABLE AS RETURN SELECT id FROM sales.orders WHERE customer = @id
GO
CREATE TRIGGER sales.told ON sales.customer AFTER INSERT AS SET NOCOUNT ON
GO
CREATE SYNONYM sales.people FOR sales.customer
GO
CREATE SEQUENCE sales.counting AS bigint START WITH 5
GO
CREATE LOGIN reader WITH PASSWORD = 'Of a test 1!'
GO
CREATE USER reader FOR LOGIN reader
GO
CREATE ROLE reading
GO
ALTER ROLE reading ADD MEMBER reader
GO
EXEC sp_addextendedproperty N'MS_Description', N'who buys', N'SCHEMA', N'sales', N'TABLE', N'customer'
"""

SYSTEM = """CAST(case when {0}.is_ms_shipped = 1 then 1 when (select major_id from sys.extended_properties
  where major_id = {0}.object_id and minor_id = 0 and class = 1 and name = N'microsoft_database_tools_support')
  is not null then 1 else 0 end AS bit)"""


def check(function: Callable[[], None]) -> Callable[[], None]:
    CHECKS[function.__name__.replace("_", " ")] = function
    return function


def sets(sql: str, *values: object) -> list[list[tuple]]:
    cursor = SERVER.cursor()
    cursor.execute(sql, values or None)
    found = []
    while True:
        if cursor.description:
            found.append(cursor.fetchall())
        if not cursor.nextset():
            return found


def rows(sql: str, *values: object) -> list[tuple]:
    (only,) = sets(sql, *values)
    return only


def named(sql: str) -> list[dict[str, object]]:
    cursor = SERVER.cursor(as_dict=True)
    cursor.execute(sql)
    return list(cursor)


def equal(found: object, expected: object) -> None:
    assert found == expected, f"expected {expected!r}, found {found!r}"


@check
def settings_of_a_query_window() -> None:
    sets(
        """SET ROWCOUNT 0 SET TEXTSIZE 2147483647 SET NOCOUNT OFF SET CONCAT_NULL_YIELDS_NULL ON SET ARITHABORT ON
        SET LOCK_TIMEOUT -1 SET QUERY_GOVERNOR_COST_LIMIT 0 SET DEADLOCK_PRIORITY NORMAL
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED SET ANSI_NULLS ON SET ANSI_NULL_DFLT_ON ON SET ANSI_PADDING ON
        SET ANSI_WARNINGS ON SET CURSOR_CLOSE_ON_COMMIT OFF SET IMPLICIT_TRANSACTIONS OFF SET QUOTED_IDENTIFIER ON
        SET NOEXEC OFF SET PARSEONLY OFF SET FMTONLY OFF SET NUMERIC_ROUNDABORT OFF"""
    )
    ((spid, level),) = rows("select @@spid, SERVERPROPERTY('ProductLevel')")
    assert spid > 0 and level, (spid, level)


@check
def kind_version_and_platform_of_the_server() -> None:
    found = sets(
        """DECLARE @edition sysname;
        SET @edition = cast(SERVERPROPERTY(N'EDITION') as sysname);
        SELECT case when @edition = N'SQL Azure' then 2 else 1 end as 'DatabaseEngineType',
          SERVERPROPERTY('EngineEdition') AS DatabaseEngineEdition, SERVERPROPERTY('ProductVersion') AS ProductVersion,
          @@MICROSOFTVERSION AS MicrosoftVersion;
        select host_platform from sys.dm_os_host_info
        if @edition = N'SQL Azure'
          select 'TCP' as ConnectionProtocol
        else
          exec ('select CONVERT(nvarchar(40),CONNECTIONPROPERTY(''net_transport'')) as ConnectionProtocol')"""
    )
    ((kind, edition, version, number),), ((platform,),), ((protocol,),) = found
    equal((kind, platform, protocol), (1, "Linux", "TCP"))
    # Of an sql_variant the driver gives the bytes.
    version = version.decode()
    assert int.from_bytes(edition, "little") in (2, 3, 4) and version.count(".") == 3, (edition, version)
    equal(number >> 24, int(version.split(".")[0]))


@check
def properties_of_the_server() -> None:
    names = """EngineEdition ProductVersion ProductLevel Edition MachineName ServerName InstanceName Collation
        IsSingleUser IsIntegratedSecurityOnly IsClustered IsHadrEnabled HadrManagerStatus IsXTPSupported
        IsPolyBaseInstalled IsFullTextInstalled ProcessID ResourceVersion BuildClrVersion InstanceDefaultDataPath
        InstanceDefaultLogPath InstanceDefaultBackupPath FilestreamConfiguredLevel FilestreamEffectiveLevel
        SqlCharSetName SqlSortOrderName ComputerNamePhysicalNetBIOS LCID ComparisonStyle ProductMajorVersion
        IsAdvancedAnalyticsInstalled IsLocalDB ProductBuild ProductUpdateLevel EditionID SqlCharSet SqlSortOrder
        CollationID LicenseType""".split()
    ((*found,),) = rows("SELECT " + ", ".join(f"CAST(SERVERPROPERTY(N'{name}') AS nvarchar(256))" for name in names))
    values = dict(zip(names, found, strict=True))
    equal({name: values[name] for name in ("IsClustered", "IsHadrEnabled", "IsXTPSupported", "IsPolyBaseInstalled")}, dict.fromkeys(
        ("IsClustered", "IsHadrEnabled", "IsXTPSupported", "IsPolyBaseInstalled"), "0"))
    equal((values["Collation"], values["LCID"]), ("SQL_Latin1_General_CP1_CI_AS", "1033"))
    ((present,),) = rows(
        """SELECT CASE WHEN EXISTS (SELECT TOP 1 1 FROM [sys].[all_columns] WITH (NOLOCK) WHERE name = N'xml_index_type'
        AND OBJECT_ID(N'sys.xml_indexes') = object_id) THEN 1 ELSE 0 END AS SXI_PRESENT"""
    )
    equal(present, 1)


@check
def what_the_login_may() -> None:
    ((*found,),) = rows(
        """SELECT HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER STATE'), IS_SRVROLEMEMBER(N'sysadmin'),
        IS_MEMBER(N'db_owner'), HAS_DBACCESS(N'master'), HAS_PERMS_BY_NAME(NULL, N'DATABASE', N'CREATE TABLE'),
        HAS_PERMS_BY_NAME(NULL, NULL, N'CREATE ANY DATABASE')"""
    )
    equal(found, [1, 1, 1, 1, 1, 1])
    equal(rows("SELECT SUSER_SNAME(), USER_NAME(), ORIGINAL_LOGIN(), SCHEMA_NAME(), DB_NAME()"), [("sa", "dbo", "sa", "dbo", DATABASE)])


@check
def the_list_of_databases() -> None:
    found = named(
        """create table #tmp_db_ars (replica_id uniqueidentifier, group_id uniqueidentifier)
        create table #tmp_db_ags (group_id uniqueidentifier, name sysname)
        declare @HasViewPermission int
        select @HasViewPermission = HAS_PERMS_BY_NAME(NULL, NULL, N'VIEW SERVER STATE')
        if (@HasViewPermission = 1)
        begin
          insert into #tmp_db_ars select replica_id, group_id from master.sys.availability_replicas
          insert into #tmp_db_ags select group_id, name from master.sys.availability_groups
        end
        SELECT dtb.name AS [Name], dtb.database_id AS [ID], dtb.containment AS [ContainmentType], dtb.recovery_model AS [RecoveryModel],
          ISNULL(suser_sname(dtb.owner_sid), '') AS [Owner], dtb.user_access AS [UserAccess], dtb.compatibility_level AS [CompatibilityLevel],
          case when dtb.collation_name is null then 0x200 else 0 end | case when 1 = dtb.is_in_standby then 0x40 else 0 end |
          case dtb.state when 1 then 0x2 when 2 then 0x8 when 3 then 0x4 when 4 then 0x10 when 5 then 0x100 when 6 then 0x20
          else 1 end AS [Status],
          CAST(case when dtb.name in ('master','model','msdb','tempdb') then 1 else dtb.is_distributor end AS bit) AS [IsSystemObject],
          CAST(has_dbaccess(dtb.name) AS bit) AS [IsAccessible], CAST(isnull(dtb.source_database_id, 0) AS bit) AS [IsDatabaseSnapshot],
          CAST(case when ctb.database_id is null then 0 else 1 end AS bit) AS [ChangeTrackingEnabled],
          CAST(case when dmi.mirroring_partner_name is null then 0 else 1 end AS bit) AS [IsMirroringEnabled],
          ISNULL(ags.name, N'') AS [AvailabilityGroupName], dtb.is_encrypted AS [EncryptionEnabled],
          dtb.target_recovery_time_in_seconds AS [TargetRecoveryTime], ISNULL(dtb.is_ledger_on, 0) AS [IsLedger], drs.last_log_backup_lsn AS [LastLog],
          ISNULL(df.physical_name, N'') AS [PrimaryFilePath]
        FROM master.sys.databases AS dtb
          LEFT OUTER JOIN sys.change_tracking_databases AS ctb ON ctb.database_id = dtb.database_id
          LEFT OUTER JOIN sys.database_mirroring AS dmi ON dmi.database_id = dtb.database_id
          LEFT OUTER JOIN sys.database_recovery_status AS drs ON drs.database_id = dtb.database_id
          LEFT OUTER JOIN sys.master_files AS df ON df.database_id = dtb.database_id and 1 = df.data_space_id and 1 = df.file_id
          LEFT OUTER JOIN #tmp_db_ars AS ars ON dtb.replica_id = ars.replica_id
          LEFT OUTER JOIN #tmp_db_ags AS ags ON ars.group_id = ags.group_id
        ORDER BY [Name] ASC
        drop table #tmp_db_ars drop table #tmp_db_ags"""
    )
    by_name = {one["Name"]: one for one in found}
    own = by_name[DATABASE]
    assert own["PrimaryFilePath"].endswith(f"{DATABASE}.db"), own
    expected = {"Status": 1, "IsSystemObject": False, "IsAccessible": True, "ContainmentType": 0, "Owner": "sa", "AvailabilityGroupName": ""}
    equal({name: own[name] for name in expected}, expected)
    equal(by_name["master"]["IsSystemObject"], True)


@check
def logins_roles_and_credentials_of_the_server() -> None:
    found = rows(
        """SELECT log.name, log.type, log.is_disabled, CASE WHEN N'U' = log.type THEN 0 WHEN N'S' = log.type THEN 2 ELSE 1 END
        FROM sys.server_principals AS log
        WHERE log.type in ('U', 'G', 'S', 'C', 'K', 'E', 'X') AND log.principal_id not between 101 and 255 ORDER BY log.name"""
    )
    assert ("sa", "S", False, 2) in found, found
    found = rows("SELECT r.name, CAST(r.is_fixed_role AS bit) FROM sys.server_principals r WHERE r.type = 'R' ORDER BY r.name")
    assert ("sysadmin", True) in found, found
    for view in (
        "sys.credentials", "sys.backup_devices", "sys.server_triggers", "sys.server_audits",
        "sys.server_audit_specifications", "sys.cryptographic_providers", "sys.availability_groups",
    ):
        equal(rows(f"SELECT COUNT(*) FROM {view}"), [(0,)])
    equal(rows("SELECT srv.server_id, srv.is_linked FROM sys.servers AS srv"), [(0, False)])
    equal(rows("SELECT srv.name FROM sys.servers AS srv WHERE srv.server_id != 0"), [])
    assert rows("SELECT e.name, e.protocol_desc, e.state_desc FROM sys.endpoints e"), "no endpoint"


@check
def which_logins_are_denied() -> None:
    equal(rows(
        """SELECT log.name FROM sys.server_principals AS log LEFT OUTER JOIN sys.server_permissions AS sp
          ON sp.grantee_principal_id = log.principal_id and sp.type = N'COSQ' WHERE sp.state = N'D'"""
    ), [])


@check
def tables_of_a_database() -> None:
    found = rows(
        f"""SELECT SCHEMA_NAME(tbl.schema_id) AS [Schema], tbl.name AS [Name], tbl.object_id AS [ID], tbl.create_date,
        {SYSTEM.format("tbl")} AS [IsSystemObject], CAST(tbl.is_memory_optimized AS bit), CAST(tbl.is_filetable AS bit),
        CAST(ISNULL(tbl.temporal_type, 0) AS tinyint), CAST(tbl.is_external AS bit), CAST(tbl.is_node AS bit), CAST(tbl.is_edge AS bit),
        CAST(tbl.ledger_type AS tinyint), CAST(CASE idx.index_id WHEN 1 THEN 1 ELSE 0 END AS bit) AS [HasClusteredIndex]
        FROM sys.tables AS tbl
        INNER JOIN sys.indexes AS idx ON idx.object_id = tbl.object_id and (idx.index_id < 2 or (tbl.is_memory_optimized = 1 and idx.index_id = 2))
        LEFT OUTER JOIN sys.periods AS periods ON periods.object_id = tbl.object_id
        WHERE {SYSTEM.format("tbl")} = 0 ORDER BY [Schema] ASC, [Name] ASC"""
    )
    equal([one[:2] for one in found], [("sales", "customer"), ("sales", "orders")])
    equal([one[4:] for one in found], [(False, False, False, 0, False, False, False, 0, True)] * 2)
    equal(rows(
        """SELECT s.name, o.[name], o.[type] FROM sys.all_objects o INNER JOIN sys.schemas s ON o.schema_id = s.schema_id
        WHERE o.[type] IN ('P','V','U','AF','FN','IF','TF') AND s.name = 'sales' ORDER BY 3, 2"""), [
        ("sales", "half", "FN"), ("sales", "of_customer", "IF"), ("sales", "add_customer", "P "),
        ("sales", "customer", "U "), ("sales", "orders", "U "), ("sales", "adults", "V ")])


@check
def columns_of_a_table() -> None:
    found = rows(
        """SELECT clmns.column_id, clmns.name, CAST(ISNULL(cik.index_column_id, 0) AS bit) AS [InPrimaryKey],
        CAST(ISNULL((select TOP 1 1 from sys.foreign_key_columns AS colfk where colfk.parent_column_id = clmns.column_id
          and colfk.parent_object_id = clmns.object_id), 0) AS bit) AS [IsForeignKey],
        usrt.name AS [DataType], ISNULL(baset.name, N'') AS [SystemType],
        CAST(CASE WHEN baset.name IN (N'nchar', N'nvarchar') AND clmns.max_length <> -1 THEN clmns.max_length/2 ELSE clmns.max_length END AS int),
        CAST(clmns.precision AS int), CAST(clmns.scale AS int), clmns.is_nullable, clmns.is_computed,
        clmns.is_identity, CAST(ISNULL(ic.seed_value, 0) AS numeric(38)), CAST(ISNULL(ic.increment_value, 0) AS numeric(38)),
        ISNULL(cc.definition, N''), ISNULL(d.definition, N''), s2clmns.name, ISNULL(xscclmns.name, N''), clmns.is_sparse
        FROM sys.tables AS tbl
        INNER JOIN sys.all_columns AS clmns ON clmns.object_id = tbl.object_id
        LEFT OUTER JOIN sys.indexes AS ik ON ik.object_id = clmns.object_id and 1 = ik.is_primary_key
        LEFT OUTER JOIN sys.index_columns AS cik ON cik.index_id = ik.index_id and cik.column_id = clmns.column_id
          and cik.object_id = clmns.object_id and 0 = cik.is_included_column
        LEFT OUTER JOIN sys.computed_columns AS cc ON cc.object_id = clmns.object_id and cc.column_id = clmns.column_id
        LEFT OUTER JOIN sys.identity_columns AS ic ON ic.object_id = clmns.object_id and ic.column_id = clmns.column_id
        LEFT OUTER JOIN sys.default_constraints AS d ON d.object_id = clmns.default_object_id
        LEFT OUTER JOIN sys.types AS usrt ON usrt.user_type_id = clmns.user_type_id
        LEFT OUTER JOIN sys.schemas AS s2clmns ON s2clmns.schema_id = usrt.schema_id
        LEFT OUTER JOIN sys.types AS baset ON (baset.user_type_id = clmns.system_type_id and baset.user_type_id = baset.system_type_id)
          or ((baset.system_type_id = clmns.system_type_id) and (baset.user_type_id = clmns.user_type_id)
          and (baset.is_user_defined = 0) and (baset.is_assembly_type = 1))
        LEFT OUTER JOIN sys.xml_schema_collections AS xscclmns ON xscclmns.xml_collection_id = clmns.xml_collection_id
        WHERE (tbl.name = N'customer' and SCHEMA_NAME(tbl.schema_id) = N'sales') ORDER BY 1"""
    )
    equal([one[1:7] for one in found], [
        ("id", True, False, "int", "int", 4), ("name", False, False, "nvarchar", "nvarchar", 40), ("age", False, False, "int", "int", 4),
        ("twice", False, False, "int", "int", 4), ("number", False, False, "phone", "varchar", 20)])
    equal([int(value) for value in found[0][12:14]], [10, 5])
    equal((found[3][10], found[4][16], found[4][9]), (True, "dbo", False))
    equal(found[2][15], "((18))")


@check
def keys_constraints_and_triggers_of_a_table() -> None:
    equal(rows(
        """SELECT i.name, CAST(i.index_id AS int), CAST(OBJECTPROPERTY(i.object_id, N'IsMSShipped') AS bit),
        CASE WHEN 1 = i.is_primary_key THEN 1 WHEN 1 = i.is_unique_constraint THEN 2 ELSE 0 END AS [Kind], i.is_disabled,
        CAST(CASE i.index_id WHEN 1 THEN 1 ELSE 0 END AS bit), CAST(ISNULL(k.is_system_named, 0) AS bit),
        CAST(ISNULL(spi.spatial_index_type, 0) AS tinyint), CAST(ISNULL(xi.xml_index_type, 0) AS tinyint)
        FROM sys.tables AS tbl
        INNER JOIN sys.indexes AS i ON (i.index_id > 0 and i.is_hypothetical = 0) AND (i.object_id = tbl.object_id)
        LEFT OUTER JOIN sys.key_constraints AS k ON k.parent_object_id = i.object_id AND k.unique_index_id = i.index_id
        LEFT OUTER JOIN sys.spatial_indexes AS spi ON i.object_id = spi.object_id and i.index_id = spi.index_id
        LEFT OUTER JOIN sys.xml_indexes AS xi ON xi.object_id = i.object_id AND xi.index_id = i.index_id
        LEFT OUTER JOIN sys.hash_indexes AS hi ON hi.object_id = i.object_id AND hi.index_id = i.index_id
        LEFT OUTER JOIN sys.stats AS s ON s.stats_id = i.index_id AND s.object_id = i.object_id
        LEFT OUTER JOIN sys.data_spaces AS dsi ON dsi.data_space_id = i.data_space_id
        WHERE tbl.name = N'customer' AND SCHEMA_NAME(tbl.schema_id) = N'sales' ORDER BY i.index_id"""), [
        ("customer_pk", 1, False, 1, False, True, False, 0, 0), ("customer_name", 2, False, 2, False, False, False, 0, 0)])
    equal(rows(
        """SELECT cstr.name, cstr.is_system_named, cstr.is_disabled, cstr.delete_referential_action, OBJECT_NAME(cstr.referenced_object_id)
        FROM sys.tables AS tbl INNER JOIN sys.foreign_keys AS cstr ON cstr.parent_object_id = tbl.object_id
        WHERE tbl.name = N'orders'"""), [("orders_customer", False, False, 1, "customer")])
    equal(rows(
        """SELECT cstr.name, cstr.is_not_for_replication, cstr.is_disabled, cstr.definition FROM sys.tables AS tbl
        INNER JOIN sys.check_constraints AS cstr ON cstr.parent_object_id = tbl.object_id WHERE tbl.name = N'customer'"""),
        [("customer_adult", False, False, "([age]>=(18))")])
    equal(rows(
        """SELECT tr.name, tr.is_disabled, tr.is_instead_of_trigger, CAST(ISNULL(tei.object_id, 0) AS bit), CAST(CASE WHEN ISNULL(smtr.definition,
          ssmtr.definition) IS NULL THEN 1 ELSE 0 END AS bit) AS [IsEncrypted]
        FROM sys.tables AS tbl
        INNER JOIN sys.objects AS trr ON trr.parent_object_id = tbl.object_id AND trr.type in ('TR', 'TA')
        LEFT OUTER JOIN sys.triggers AS tr ON tr.object_id = trr.object_id
        LEFT OUTER JOIN sys.assembly_modules AS mod ON mod.object_id = tr.object_id
        LEFT OUTER JOIN sys.trigger_events AS tei ON tei.object_id = tr.object_id and tei.type = 1
        LEFT OUTER JOIN sys.sql_modules AS smtr ON smtr.object_id = tr.object_id
        LEFT OUTER JOIN sys.system_sql_modules AS ssmtr ON ssmtr.object_id = tr.object_id
        WHERE tbl.name = N'customer'"""), [("told", False, False, True, False)])
    equal(rows("SELECT COUNT(*) FROM sys.edge_constraints"), [(0,)])


@check
def indexes_of_a_table() -> None:
    equal(rows(
        """SELECT ic.index_column_id, clmns.name, ic.is_descending_key, ic.is_included_column, i.filter_definition, i.type_desc
        FROM sys.tables AS tbl INNER JOIN sys.indexes AS i ON i.object_id = tbl.object_id
        INNER JOIN sys.index_columns AS ic ON ic.column_id > 0 and ic.index_id = i.index_id AND ic.object_id = i.object_id
        INNER JOIN sys.columns AS clmns ON clmns.object_id = ic.object_id and clmns.column_id = ic.column_id
        WHERE i.name = N'orders_total' ORDER BY 1"""), [
        (1, "total", True, False, "([total]>(0))", "NONCLUSTERED"), (2, "customer", False, True, "([total]>(0))", "NONCLUSTERED")])


@check
def statistics_of_a_table() -> None:
    found = rows(
        """SELECT st.name, st.no_recompute, CAST(INDEXPROPERTY(st.object_id, st.name, N'IsStatistics') AS bit), st.has_filter
        FROM sys.tables AS tbl INNER JOIN sys.stats st ON st.object_id = tbl.object_id WHERE tbl.name = N'orders' AND st.name = N'orders_total'"""
    )
    equal(found, [("orders_total", False, False, True)])


@check
def views_procedures_functions_and_their_parameters() -> None:
    equal(rows(
        f"""SELECT SCHEMA_NAME(v.schema_id), v.name, {SYSTEM.format("v")}, CAST(ISNULL(smv.definition, ssmv.definition) AS nvarchar(25))
        FROM sys.all_views AS v LEFT OUTER JOIN sys.sql_modules AS smv ON smv.object_id = v.object_id
        LEFT OUTER JOIN sys.system_sql_modules AS ssmv ON ssmv.object_id = v.object_id
        WHERE (v.type = N'V') and {SYSTEM.format("v")} = 0"""), [("sales", "adults", False, "CREATE VIEW sales.adults ")])
    equal(rows(
        f"""SELECT sp.name, SCHEMA_NAME(sp.schema_id), CAST(CASE WHEN ISNULL(smsp.definition, ssmsp.definition) IS NULL THEN 1 ELSE 0 END AS bit),
        ISNULL(smsp.uses_native_compilation, 0) FROM sys.all_objects AS sp
        LEFT OUTER JOIN sys.sql_modules AS smsp ON smsp.object_id = sp.object_id
        LEFT OUTER JOIN sys.system_sql_modules AS ssmsp ON ssmsp.object_id = sp.object_id
        WHERE (sp.type = N'P' OR sp.type = N'RF' OR sp.type = N'PC') and {SYSTEM.format("sp")} = 0"""), [("add_customer", "sales", False, False)])
    equal(rows(
        """SELECT param.name, usrt.name, param.is_output, CAST(CASE WHEN baset.name IN (N'nchar', N'nvarchar') AND param.max_length <> -1
          THEN param.max_length/2 ELSE param.max_length END AS int), param.is_readonly
        FROM sys.all_objects AS sp INNER JOIN sys.all_parameters AS param ON param.object_id = sp.object_id
        LEFT OUTER JOIN sys.types AS usrt ON usrt.user_type_id = param.user_type_id
        LEFT OUTER JOIN sys.types AS baset ON baset.user_type_id = param.system_type_id and baset.user_type_id = baset.system_type_id
        WHERE sp.name = N'add_customer' ORDER BY param.parameter_id"""), [("@name", "nvarchar", False, 40, False), ("@id", "int", True, 4, False)])
    equal(rows(
        """SELECT udf.name, CASE udf.type WHEN 'FN' THEN 1 WHEN 'FS' THEN 1 WHEN 'IF' THEN 3 WHEN 'TF' THEN 2 WHEN 'FT' THEN 2 ELSE 0 END,
        usrt.name, CAST(ret_param.precision AS int) FROM sys.all_objects AS udf
        LEFT OUTER JOIN sys.all_parameters AS ret_param ON ret_param.object_id = udf.object_id and ret_param.is_output = 1
        LEFT OUTER JOIN sys.types AS usrt ON usrt.user_type_id = ret_param.user_type_id
        WHERE udf.type in ('TF', 'FN', 'IF', 'FS', 'FT') and udf.is_ms_shipped = 0 ORDER BY 1"""),
        [("half", 1, "decimal", 10), ("of_customer", 3, None, None)])


@check
def types_synonyms_and_sequences() -> None:
    equal(rows(
        """SELECT st.name, sst.name, baset.name, CAST(st.max_length AS int), st.is_nullable FROM sys.types AS st
        INNER JOIN sys.schemas AS sst ON sst.schema_id = st.schema_id
        LEFT OUTER JOIN sys.types AS baset ON baset.user_type_id = st.system_type_id and baset.user_type_id = baset.system_type_id
        WHERE st.schema_id != 4 and st.system_type_id != 240 and st.user_type_id != st.system_type_id and st.is_table_type != 1"""),
        [("phone", "dbo", "varchar", 20, False)])
    equal(rows(
        """SELECT tt.name, SCHEMA_NAME(tt.schema_id), obj.type FROM sys.table_types AS tt
        INNER JOIN sys.objects AS obj ON obj.object_id = tt.type_table_object_id WHERE tt.is_user_defined = 1"""), [("pair", "dbo", "TT")])
    equal(rows("SELECT s.name, PARSENAME(s.base_object_name, 2), PARSENAME(s.base_object_name, 1) FROM sys.synonyms AS s"), [("people", "sales", "customer")])
    equal(rows("SELECT seq.name, TYPE_NAME(seq.user_type_id), CAST(seq.start_value AS bigint) FROM sys.sequences AS seq"), [("counting", "bigint", 5)])
    for view in ("sys.assemblies", "sys.assembly_types", "sys.plan_guides", "sys.fulltext_catalogs", "sys.service_queues", "sys.partition_functions",
                 "sys.partition_schemes", "sys.external_data_sources", "sys.external_file_formats", "sys.security_policies",
                 "sys.database_audit_specifications", "sys.column_master_keys", "sys.column_encryption_keys", "sys.symmetric_keys",
                 "sys.database_scoped_credentials", "sys.services", "sys.routes", "sys.change_tracking_tables", "sys.masked_columns"):
        equal(rows(f"SELECT COUNT(*) FROM {view}"), [(0,)])


@check
def users_roles_and_schemas_of_a_database() -> None:
    found = rows(
        """SELECT u.name, u.principal_id, ISNULL(ak.name, N''), CAST(CASE dp.state WHEN N'G' THEN 1 WHEN 'W' THEN 1 ELSE 0 END AS bit),
        ISNULL(suser_sname(u.sid), N''), u.type FROM sys.database_principals AS u
        LEFT OUTER JOIN sys.asymmetric_keys AS ak ON ak.sid = u.sid
        LEFT OUTER JOIN sys.certificates AS cert ON cert.sid = u.sid
        LEFT OUTER JOIN sys.database_permissions AS dp ON dp.grantee_principal_id = u.principal_id and dp.type = 'CO'
        WHERE u.type in ('U', 'S', 'G', 'C', 'K', 'E', 'X') ORDER BY u.name"""
    )
    assert {"dbo", "reader"} <= {one[0] for one in found}, found
    equal(rows(
        """SELECT rl.name, usr.name FROM sys.database_principals AS rl INNER JOIN sys.database_role_members m ON m.role_principal_id = rl.principal_id
        INNER JOIN sys.database_principals usr ON usr.principal_id = m.member_principal_id WHERE rl.name = 'reading'"""), [("reading", "reader")])
    found = rows("SELECT s.name, USER_NAME(s.principal_id) FROM sys.schemas AS s ORDER BY s.schema_id")
    assert ("dbo", "dbo") in found and ("sales", "dbo") in found, found
    assert rows("SELECT 1 FROM sys.database_principals WHERE type = 'R' AND name = 'db_owner' AND is_fixed_role = 1"), "no db_owner"


@check
def files_space_and_options_of_a_database() -> None:
    found = rows(
        """SELECT g.name, CAST(g.is_default AS bit), s.name, s.physical_name, s.size * CONVERT(float, 8), s.type FROM sys.filegroups AS g
        INNER JOIN sys.master_files AS s ON (s.type = 0 or s.type = 2) and s.database_id = db_id()
          AND (s.data_space_id = g.data_space_id)"""
    )
    equal([one[:2] for one in found], [("PRIMARY", True)])
    equal(rows("SELECT desired_state, actual_state FROM sys.database_query_store_options"), [(0, 0)])


@check
def the_space_that_a_file_uses() -> None:
    ((used, size),) = rows("SELECT CAST(FILEPROPERTY(s.name, 'SpaceUsed') AS int), s.size FROM sys.database_files s WHERE s.type = 0")
    assert 0 < used <= size, (used, size)


@check
def extended_properties_of_a_table() -> None:
    equal(rows(
        """SELECT p.name, CAST(p.value AS nvarchar(100)) FROM sys.tables AS tbl INNER JOIN sys.extended_properties AS p
        ON p.major_id = tbl.object_id AND p.minor_id = 0 AND p.class = 1 WHERE tbl.name = N'customer'"""), [("MS_Description", "who buys")])


@check
def what_depends_on_a_table() -> None:
    found = rows(
        """SELECT OBJECT_NAME(d.referencing_id), d.referenced_schema_name, d.referenced_entity_name FROM sys.sql_expression_dependencies d
        WHERE d.referenced_id = OBJECT_ID(N'sales.customer') AND d.referencing_minor_id = 0 ORDER BY 1"""
    )
    assert ("adults", "sales", "customer") in found, found


@check
def the_first_rows_and_the_text_of_an_object() -> None:
    sets("INSERT sales.customer (name, number) VALUES (N'Ada', '1')")
    equal(rows("SELECT TOP (1000) [id], [name], [age], [twice], [number] FROM [sales].[customer]"), [(10, "Ada", 18, 36, "1")])
    ((text,),) = rows("SELECT OBJECT_DEFINITION(OBJECT_ID(N'sales.half'))")
    assert text.startswith("CREATE FUNCTION sales.half(@n decimal(10, 2))"), text
    equal(rows("SELECT uses_ansi_nulls, uses_quoted_identifier FROM sys.sql_modules WHERE object_id = OBJECT_ID(N'sales.half')"), [(True, True)])


def main() -> None:
    for statement in OBJECTS.split("GO\n"):
        SERVER.cursor().execute(statement)
    for name, run in CHECKS.items():
        error = None
        try:
            run()
        except Exception:
            error = traceback.format_exc()
        print(json.dumps({"check": name, "error": error}), flush=True)


if __name__ == "__main__":
    main()
