CREATE PROCEDURE sp_spaceused @objname nvarchar(776) = NULL, @updateusage varchar(5) = 'false', @mode varchar(11) = 'ALL',
    @oneresultset bit = 0, @include_total_xtp_storage bit = 0
AS
DECLARE @page decimal(15,2), @count decimal(15,2), @free decimal(15,2), @log decimal(15,2), @data decimal(15,2), @index decimal(15,2)
SELECT @page = d.page_size, @count = d.page_count, @free = d.free_pages FROM sys.selenite_database_space() d
IF @objname IS NOT NULL
BEGIN
    SELECT CONVERT(nvarchar(128), o.name) AS name, CONVERT(char(20), ISNULL(t.row_count, 0)) AS rows,
        CONVERT(varchar(18), LTRIM(STR((t.data_pages + t.index_pages) * @page / 1024., 15, 0) + ' KB')) AS reserved,
        CONVERT(varchar(18), LTRIM(STR(t.data_pages * @page / 1024., 15, 0) + ' KB')) AS data,
        CONVERT(varchar(18), LTRIM(STR(t.index_pages * @page / 1024., 15, 0) + ' KB')) AS index_size,
        CONVERT(varchar(18), '0 KB') AS unused
    FROM sys.selenite_table_space(OBJECT_ID(@objname)) t JOIN sys.objects o ON o.object_id = t.object_id
    RETURN 0
END
SELECT @log = SUM(CONVERT(decimal(15,2), f.size)) FROM sys.database_files f WHERE f.type = 1
SELECT @data = SUM(CONVERT(decimal(15,2), t.data_pages)), @index = SUM(CONVERT(decimal(15,2), t.index_pages))
FROM sys.selenite_table_space(NULL) t
SELECT @data = ISNULL(@data, 0), @index = ISNULL(@index, 0), @log = ISNULL(@log, 0)
DECLARE @size varchar(18) = LTRIM(STR((@count * @page + @log * 8192) / 1048576, 15, 2) + ' MB'),
    @unallocated varchar(18) = LTRIM(STR(@free * @page / 1048576, 15, 2) + ' MB'),
    @reserved varchar(18) = LTRIM(STR((@count - @free) * @page / 1024., 15, 0) + ' KB'),
    @rows varchar(18) = LTRIM(STR(@data * @page / 1024., 15, 0) + ' KB'),
    @indexes varchar(18) = LTRIM(STR(@index * @page / 1024., 15, 0) + ' KB'),
    @unused varchar(18) = LTRIM(STR((@count - @free - @data - @index) * @page / 1024., 15, 0) + ' KB')
IF @oneresultset = 1
    SELECT CONVERT(nvarchar(128), DB_NAME()) AS database_name, @size AS database_size, @unallocated AS [unallocated space],
        @reserved AS reserved, @rows AS data, @indexes AS index_size, @unused AS unused
ELSE
BEGIN
    SELECT CONVERT(nvarchar(128), DB_NAME()) AS database_name, @size AS database_size, @unallocated AS [unallocated space]
    SELECT @reserved AS reserved, @rows AS data, @indexes AS index_size, @unused AS unused
END
RETURN 0
