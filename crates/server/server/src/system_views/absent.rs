//! Views of what this server does not have: they have no rows, for the tools that look.
//!
//! - `no-rows-are-true`: a view is here only if none of its rows could be there. SQL Server has rows of its own in some
//!   of them (types of the CLR, queues of its broker), for what is not here either.

use selenite_types::{DataType, Width};

use super::columns::{COLUMN, TYPE};
use super::files::SPACE;
use super::indexes::INDEX;
use super::objects::OBJECT;
use super::{BIG, BIT, ColumnSpec, INT, LONG_TEXT, NAME, SMALL, SYS, TIME, TINY, ViewSpec, bytes, text};

pub(crate) const VIEWS: &[ViewSpec] = &[
    of_database("xml_indexes", &[INDEX, XML_INDEX]),
    of_database("xml_schema_collections", &[XML_COLLECTION]),
    of_database("spatial_indexes", &[INDEX, SPATIAL_INDEX]),
    of_database("hash_indexes", &[INDEX, HASH_INDEX]),
    of_database("periods", &[PERIOD]),
    of_database("edge_constraints", &[OBJECT, EDGE_CONSTRAINT]),
    of_database("internal_tables", &[OBJECT, INTERNAL_TABLE]),
    of_database("masked_columns", &[COLUMN, MASKED_COLUMN]),
    of_database("assemblies", &[ASSEMBLY]),
    of_database("assembly_modules", &[ASSEMBLY_MODULE]),
    of_database("assembly_types", &[TYPE, ASSEMBLY_TYPE]),
    of_database("numbered_procedures", &[NUMBERED_PROCEDURE]),
    of_database("plan_guides", &[PLAN_GUIDE]),
    of_database("fulltext_catalogs", &[FULLTEXT_CATALOG]),
    of_database("fulltext_indexes", &[FULLTEXT_INDEX]),
    of_database("fulltext_index_columns", &[FULLTEXT_COLUMN]),
    of_database("service_queues", &[OBJECT, SERVICE_QUEUE]),
    of_database("services", &[SERVICE]),
    of_database("routes", &[ROUTE]),
    of_database("partition_functions", &[PARTITION_FUNCTION]),
    of_database("partition_schemes", &[SPACE, &[("function_id", INT, false)]]),
    of_database("partition_parameters", &[PARTITION_PARAMETER]),
    of_database("destination_data_spaces", &[DESTINATION]),
    of_database("external_data_sources", &[EXTERNAL_SOURCE]),
    of_database("external_file_formats", &[EXTERNAL_FORMAT]),
    of_database("security_policies", &[OBJECT, SECURITY_POLICY]),
    of_database("security_predicates", &[SECURITY_PREDICATE]),
    of_database("database_audit_specifications", &[DATABASE_AUDIT]),
    of_database("column_master_keys", &[COLUMN_MASTER_KEY]),
    of_database("column_encryption_keys", &[COLUMN_KEY]),
    of_database("column_encryption_key_values", &[COLUMN_KEY_VALUE]),
    of_database("database_scoped_credentials", &[SCOPED_CREDENTIAL]),
    of_database("crypt_properties", &[CRYPT_PROPERTY]),
    of_database("change_tracking_tables", &[TRACKED_TABLE]),
    of_server("change_tracking_databases", &[TRACKED_DATABASE]),
    of_server("backup_devices", &[BACKUP_DEVICE]),
    of_server("server_triggers", &[SERVER_TRIGGER]),
    of_server("server_audits", &[SERVER_AUDIT]),
    of_server("server_audit_specifications", &[SERVER_AUDIT_PART]),
    of_server("availability_groups", &[AVAILABILITY_GROUP]),
    of_server("availability_replicas", &[AVAILABILITY_REPLICA]),
    of_server("dm_hadr_database_replica_states", &[REPLICA_STATE]),
];

const fn of_database(name: &'static str, columns: &'static [&'static [ColumnSpec]]) -> ViewSpec {
    ViewSpec {
        schema: SYS,
        name,
        is_of_server: false,
        columns,
        rows: |_| Ok(Vec::new()),
    }
}

const fn of_server(name: &'static str, columns: &'static [&'static [ColumnSpec]]) -> ViewSpec {
    ViewSpec {
        is_of_server: true,
        ..of_database(name, columns)
    }
}

const GUID: DataType = DataType::UniqueIdentifier;
const WORD: DataType = text(60);

const XML_INDEX: &[ColumnSpec] = &[
    ("using_xml_index_id", INT, true),
    ("secondary_type", DataType::Char(1), true),
    ("secondary_type_desc", WORD, true),
    ("xml_index_type", TINY, true),
    ("xml_index_type_desc", WORD, true),
    ("path_id", INT, true),
];
const XML_COLLECTION: &[ColumnSpec] = &[
    ("xml_collection_id", INT, false),
    ("schema_id", INT, false),
    ("principal_id", INT, true),
    ("name", NAME, false),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
];
const SPATIAL_INDEX: &[ColumnSpec] = &[
    ("spatial_index_type", TINY, false),
    ("spatial_index_type_desc", WORD, true),
    ("tessellation_scheme", NAME, true),
];
const HASH_INDEX: &[ColumnSpec] = &[("bucket_count", INT, false)];
const PERIOD: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("period_type", TINY, true),
    ("period_type_desc", WORD, true),
    ("object_id", INT, false),
    ("start_column_id", INT, true),
    ("end_column_id", INT, true),
];
const EDGE_CONSTRAINT: &[ColumnSpec] = &[
    ("is_disabled", BIT, false),
    ("is_not_trusted", BIT, false),
    ("is_system_named", BIT, false),
    ("delete_referential_action", TINY, true),
    ("delete_referential_action_desc", WORD, true),
];
const INTERNAL_TABLE: &[ColumnSpec] = &[
    ("internal_type", TINY, true),
    ("internal_type_desc", WORD, true),
    ("parent_id", INT, false),
    ("parent_minor_id", INT, false),
    ("lob_data_space_id", INT, false),
    ("filestream_data_space_id", INT, true),
];
const MASKED_COLUMN: &[ColumnSpec] = &[("is_masked", BIT, false), ("masking_function", text(4000), true)];
const ASSEMBLY: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("principal_id", INT, false),
    ("assembly_id", INT, false),
    ("clr_name", text(4000), true),
    ("permission_set", TINY, true),
    ("permission_set_desc", WORD, true),
    ("is_visible", BIT, false),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("is_user_defined", BIT, true),
];
const ASSEMBLY_MODULE: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("assembly_id", INT, false),
    ("assembly_class", NAME, true),
    ("assembly_method", NAME, true),
    ("null_on_null_input", BIT, true),
    ("execute_as_principal_id", INT, true),
];
const ASSEMBLY_TYPE: &[ColumnSpec] = &[
    ("assembly_id", INT, false),
    ("assembly_class", NAME, true),
    ("is_binary_ordered", BIT, true),
    ("is_fixed_length", BIT, true),
    ("prog_id", text(40), true),
    ("assembly_qualified_name", text(4000), true),
];
const NUMBERED_PROCEDURE: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("procedure_number", SMALL, false),
    ("definition", LONG_TEXT, true),
];
const PLAN_GUIDE: &[ColumnSpec] = &[
    ("plan_guide_id", INT, false),
    ("name", NAME, false),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("is_disabled", BIT, false),
    ("query_text", LONG_TEXT, true),
    ("scope_type", TINY, false),
    ("scope_type_desc", WORD, true),
    ("scope_object_id", INT, true),
    ("scope_batch", LONG_TEXT, true),
    ("parameters", LONG_TEXT, true),
    ("hints", LONG_TEXT, true),
];
const FULLTEXT_CATALOG: &[ColumnSpec] = &[
    ("fulltext_catalog_id", INT, false),
    ("name", NAME, false),
    ("path", text(260), true),
    ("is_default", BIT, false),
    ("is_accent_sensitivity_on", BIT, false),
    ("data_space_id", INT, true),
    ("file_id", INT, true),
    ("principal_id", INT, true),
    ("is_importing", BIT, false),
];
const FULLTEXT_INDEX: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("unique_index_id", INT, false),
    ("fulltext_catalog_id", INT, true),
    ("is_enabled", BIT, false),
    ("change_tracking_state", DataType::Char(1), true),
    ("change_tracking_state_desc", WORD, true),
    ("has_crawl_completed", BIT, false),
    ("crawl_type", DataType::Char(1), false),
    ("crawl_type_desc", WORD, true),
    ("crawl_start_date", TIME, true),
    ("crawl_end_date", TIME, true),
    ("incremental_timestamp", DataType::Binary(8), true),
    ("stoplist_id", INT, true),
    ("property_list_id", INT, true),
    ("data_space_id", INT, false),
];
const FULLTEXT_COLUMN: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("column_id", INT, false),
    ("type_column_id", INT, true),
    ("language_id", INT, false),
    ("statistical_semantics", INT, false),
];
const SERVICE_QUEUE: &[ColumnSpec] = &[
    ("max_readers", SMALL, true),
    ("activation_procedure", text(776), true),
    ("execute_as_principal_id", INT, true),
    ("is_activation_enabled", BIT, false),
    ("is_receive_enabled", BIT, false),
    ("is_enqueue_enabled", BIT, false),
    ("is_retention_enabled", BIT, false),
    ("is_poison_message_handling_enabled", BIT, true),
];
const SERVICE: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("service_id", INT, false),
    ("principal_id", INT, true),
    ("service_queue_id", INT, false),
];
const ROUTE: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("route_id", INT, false),
    ("principal_id", INT, true),
    ("remote_service_name", text(256), true),
    ("broker_instance", NAME, true),
    ("lifetime", TIME, true),
    ("address", text(256), true),
    ("mirror_address", text(256), true),
];
const PARTITION_FUNCTION: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("function_id", INT, false),
    ("type", DataType::Char(2), false),
    ("type_desc", WORD, true),
    ("fanout", INT, false),
    ("boundary_value_on_right", BIT, false),
    ("is_system", BIT, false),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
];
const PARTITION_PARAMETER: &[ColumnSpec] = &[
    ("function_id", INT, false),
    ("parameter_id", INT, false),
    ("system_type_id", TINY, false),
    ("max_length", SMALL, false),
    ("precision", TINY, false),
    ("scale", TINY, false),
    ("collation_name", NAME, true),
    ("user_type_id", INT, false),
];
const DESTINATION: &[ColumnSpec] = &[
    ("partition_scheme_id", INT, false),
    ("destination_id", INT, false),
    ("data_space_id", INT, false),
];
const EXTERNAL_SOURCE: &[ColumnSpec] = &[
    ("data_source_id", INT, false),
    ("name", NAME, false),
    ("location", text(4000), false),
    ("type_desc", text(255), true),
    ("type", TINY, false),
    ("resource_manager_location", text(4000), true),
    ("credential_id", INT, false),
    ("database_name", NAME, true),
    ("shard_map_name", NAME, true),
];
const EXTERNAL_FORMAT: &[ColumnSpec] = &[
    ("file_format_id", INT, false),
    ("name", NAME, false),
    ("format_type", text(100), false),
    ("field_terminator", text(10), true),
    ("string_delimiter", text(10), true),
    ("date_format", text(50), true),
    ("use_type_default", BIT, true),
    ("serde_method", text(255), true),
    ("row_terminator", text(10), true),
    ("encoding", text(10), true),
    ("data_compression", text(255), true),
];
const SECURITY_POLICY: &[ColumnSpec] = &[
    ("is_enabled", BIT, false),
    ("is_not_for_replication", BIT, false),
    ("uses_database_collation", BIT, true),
    ("is_schema_bound", BIT, false),
];
const SECURITY_PREDICATE: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("security_predicate_id", INT, false),
    ("target_object_id", INT, false),
    ("predicate_definition", LONG_TEXT, false),
    ("predicate_type", INT, true),
    ("predicate_type_desc", WORD, true),
    ("operation", INT, true),
    ("operation_desc", WORD, true),
];
const DATABASE_AUDIT: &[ColumnSpec] = &[
    ("database_specification_id", INT, false),
    ("name", NAME, false),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("audit_guid", GUID, true),
    ("is_state_enabled", BIT, true),
];
const SERVER_AUDIT_PART: &[ColumnSpec] = &[
    ("server_specification_id", INT, false),
    ("name", NAME, false),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("audit_guid", GUID, true),
    ("is_state_enabled", BIT, true),
];
const SERVER_AUDIT: &[ColumnSpec] = &[
    ("audit_id", INT, false),
    ("name", NAME, false),
    ("audit_guid", GUID, true),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("principal_id", INT, true),
    ("type", DataType::Char(2), false),
    ("type_desc", WORD, true),
    ("on_failure", TINY, true),
    ("on_failure_desc", WORD, true),
    ("is_state_enabled", BIT, true),
    ("queue_delay", INT, true),
    ("predicate", text(3000), true),
];
const COLUMN_MASTER_KEY: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("column_master_key_id", INT, false),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("key_store_provider_name", NAME, true),
    ("key_path", text(4000), true),
    ("allow_enclave_computations", BIT, false),
    ("signature", DataType::VarBinary(Width::Max), true),
];
const COLUMN_KEY: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("column_encryption_key_id", INT, false),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
];
const COLUMN_KEY_VALUE: &[ColumnSpec] = &[
    ("column_encryption_key_id", INT, false),
    ("column_master_key_id", INT, false),
    ("encrypted_value", bytes(8000), true),
    ("encryption_algorithm_name", NAME, true),
];
const CRYPT_PROPERTY: &[ColumnSpec] = &[
    ("class", TINY, false),
    ("class_desc", text(60), true),
    ("major_id", INT, false),
    ("thumbprint", bytes(32), false),
    ("crypt_type", DataType::Char(4), false),
    ("crypt_type_desc", text(60), true),
    ("crypt_property", DataType::VarBinary(Width::Max), false),
];

const SCOPED_CREDENTIAL: &[ColumnSpec] = &[
    ("credential_id", INT, false),
    ("name", NAME, false),
    ("credential_identity", text(4000), true),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("target_type", text(100), true),
    ("target_id", INT, true),
];
const TRACKED_TABLE: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("is_track_columns_updated_on", BIT, false),
    ("min_valid_version", BIG, true),
    ("begin_version", BIG, true),
    ("cleanup_version", BIG, true),
];
const TRACKED_DATABASE: &[ColumnSpec] = &[
    ("database_id", INT, false),
    ("is_auto_cleanup_on", TINY, true),
    ("retention_period", INT, true),
    ("retention_period_units", TINY, true),
    ("retention_period_units_desc", WORD, true),
    ("max_cleanup_version", BIG, true),
];
const BACKUP_DEVICE: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("type", TINY, true),
    ("type_desc", WORD, true),
    ("physical_name", text(260), true),
];
const SERVER_TRIGGER: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("object_id", INT, false),
    ("parent_class", TINY, false),
    ("parent_class_desc", WORD, true),
    ("parent_id", INT, false),
    ("type", DataType::Char(2), false),
    ("type_desc", WORD, true),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("is_ms_shipped", BIT, false),
    ("is_disabled", BIT, false),
];
const AVAILABILITY_GROUP: &[ColumnSpec] = &[
    ("group_id", GUID, false),
    ("name", NAME, true),
    ("resource_id", text(40), true),
    ("resource_group_id", text(40), true),
    ("failure_condition_level", INT, true),
    ("health_check_timeout", INT, true),
    ("automated_backup_preference", TINY, true),
    ("automated_backup_preference_desc", WORD, true),
    ("version", SMALL, true),
    ("basic_features", BIT, true),
    ("dtc_support", BIT, true),
    ("db_failover", BIT, true),
    ("is_distributed", BIT, true),
    ("cluster_type", TINY, true),
    ("cluster_type_desc", WORD, true),
    ("required_synchronized_secondaries_to_commit", INT, true),
    ("sequence_number", BIG, true),
    ("is_contained", BIT, true),
];
const AVAILABILITY_REPLICA: &[ColumnSpec] = &[
    ("replica_id", GUID, true),
    ("group_id", GUID, true),
    ("replica_metadata_id", INT, true),
    ("replica_server_name", text(256), true),
    ("owner_sid", bytes(85), true),
    ("endpoint_url", text(128), true),
    ("availability_mode", TINY, true),
    ("availability_mode_desc", WORD, true),
    ("failover_mode", TINY, true),
    ("failover_mode_desc", WORD, true),
    ("session_timeout", INT, true),
    ("primary_role_allow_connections", TINY, true),
    ("primary_role_allow_connections_desc", WORD, true),
    ("secondary_role_allow_connections", TINY, true),
    ("secondary_role_allow_connections_desc", WORD, true),
    ("create_date", TIME, true),
    ("modify_date", TIME, true),
    ("backup_priority", INT, true),
    ("read_only_routing_url", text(256), true),
];
const REPLICA_STATE: &[ColumnSpec] = &[
    ("database_id", INT, false),
    ("group_id", GUID, false),
    ("replica_id", GUID, false),
    ("group_database_id", GUID, false),
    ("is_local", BIT, true),
    ("is_primary_replica", BIT, true),
    ("synchronization_state", TINY, true),
    ("synchronization_state_desc", WORD, true),
    ("is_commit_participant", BIT, true),
    ("synchronization_health", TINY, true),
    ("synchronization_health_desc", WORD, true),
    ("database_state", TINY, true),
    ("database_state_desc", WORD, true),
    ("is_suspended", BIT, true),
    ("suspend_reason", TINY, true),
    ("suspend_reason_desc", WORD, true),
];
