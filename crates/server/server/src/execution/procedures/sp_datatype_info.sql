CREATE PROCEDURE sp_datatype_info @data_type int = 0, @ODBCVer tinyint = 2
AS
SELECT t.type_name AS TYPE_NAME, t.data_type AS DATA_TYPE, t.[precision] AS [PRECISION], t.literal_prefix AS LITERAL_PREFIX,
    t.literal_suffix AS LITERAL_SUFFIX, t.create_params AS CREATE_PARAMS, t.nullable AS NULLABLE, t.case_sensitive AS CASE_SENSITIVE,
    t.searchable AS SEARCHABLE, t.unsigned_attribute AS UNSIGNED_ATTRIBUTE, t.[money] AS [MONEY], t.auto_increment AS AUTO_INCREMENT,
    t.type_name AS LOCAL_TYPE_NAME, t.minimum_scale AS MINIMUM_SCALE, t.maximum_scale AS MAXIMUM_SCALE,
    t.sql_data_type AS SQL_DATA_TYPE, t.sql_datetime_sub AS SQL_DATETIME_SUB, t.num_prec_radix AS NUM_PREC_RADIX,
    CONVERT(smallint, NULL) AS INTERVAL_PRECISION, t.usertype AS USERTYPE
FROM sys.selenite_odbc_types(0, @ODBCVer) t
WHERE @data_type = 0 OR t.data_type = @data_type
ORDER BY 2, 12, 11, 20
