CREATE PROCEDURE sp_describe_first_result_set @tsql nvarchar(max), @params nvarchar(max) = NULL, @browse_information_mode tinyint = 0
AS
SELECT r.is_hidden, r.column_ordinal, r.name, r.is_nullable, r.system_type_id, r.system_type_name, r.max_length, r.[precision], r.scale,
    r.collation_name, r.user_type_id, r.user_type_database, r.user_type_schema, r.user_type_name, r.assembly_qualified_type_name,
    r.xml_collection_id, r.xml_collection_database, r.xml_collection_schema, r.xml_collection_name, r.is_xml_document,
    r.is_case_sensitive, r.is_fixed_length_clr_type, r.source_server, r.source_database, r.source_schema, r.source_table,
    r.source_column, r.is_identity_column, r.is_part_of_unique_key, r.is_updateable, r.is_computed_column, r.is_sparse_column_set,
    CONVERT(smallint, NULL) AS ordinal_in_order_by_list, CONVERT(smallint, NULL) AS order_by_list_length,
    CONVERT(smallint, NULL) AS order_by_is_descending, r.tds_type_id, r.tds_length, r.tds_collation_id, r.tds_collation_sort_id
FROM sys.selenite_first_result_set(@tsql, @params) r
ORDER BY r.column_ordinal
