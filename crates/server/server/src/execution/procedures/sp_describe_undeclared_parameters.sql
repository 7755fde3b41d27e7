CREATE PROCEDURE sp_describe_undeclared_parameters @tsql nvarchar(max), @params nvarchar(max) = NULL
AS
SELECT p.parameter_ordinal, p.name, p.suggested_system_type_id, p.suggested_system_type_name, p.suggested_max_length,
    p.suggested_precision, p.suggested_scale, p.suggested_user_type_id, p.suggested_user_type_database, p.suggested_user_type_schema,
    p.suggested_user_type_name, p.suggested_assembly_qualified_type_name, p.suggested_xml_collection_id,
    p.suggested_xml_collection_database, p.suggested_xml_collection_schema, p.suggested_xml_collection_name,
    p.suggested_is_xml_document, p.suggested_is_case_sensitive, p.suggested_is_fixed_length_clr_type, p.suggested_is_input,
    p.suggested_is_output, p.formal_parameter_name, p.suggested_tds_type_id, p.suggested_tds_length
FROM sys.selenite_undeclared_parameters(@tsql, @params) p
ORDER BY p.parameter_ordinal
