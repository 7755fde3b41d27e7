"""ODBC's catalog functions, as pyodbc and mssql-python have them alike: what they tell, under the names that the tests use."""

from typing import Any

from native import set_of
from serve import Reply


def catalog(cursor: Any, what: str, table: str | None, is_swapped: bool = False) -> Reply:
    """Rows of a catalog function, by the columns that the tests look at."""
    match what:
        case "catalogs":
            return kept(cursor.tables(catalog="%", schema="", table=""), cursor, "table_cat")
        case "schemas":
            return kept(cursor.tables(catalog="", schema="%", table=""), cursor, "table_schem")
        case "tables":
            return kept(cursor.tables(schema="dbo"), cursor, "table_name", "table_type")
        case "columns":
            columns = ("column_name", "type_name", "column_size", "nullable")
            return kept(cursor.columns(table=table, schema="dbo"), cursor, *columns)
        case "primary_keys":
            return kept(cursor.primaryKeys(table, schema="dbo"), cursor, "column_name", "key_seq")
        case "foreign_keys":
            columns = ("pktable_name", "pkcolumn_name", "fktable_name", "fkcolumn_name", "key_seq")
            # mssql-python has the two tables the other way round.
            its_own = {"table": table, "schema": "dbo"}
            keys = cursor.foreignKeys(**its_own if is_swapped else {"foreignTable": table, "foreignSchema": "dbo"})
            return kept(keys, cursor, *columns)
        case "statistics":
            return kept(cursor.statistics(table, schema="dbo"), cursor, "index_name", "column_name")
        case "row_id":
            return kept(cursor.rowIdColumns(table, schema="dbo"), cursor, "column_name", "type_name")
        case "procedures":
            return kept(cursor.procedures(schema="dbo"), cursor, "procedure_name")
        case "types":
            return kept(cursor.getTypeInfo(), cursor, "type_name")
    raise ValueError(what)


def kept(told: Any, cursor: Any, *columns: str) -> Reply:
    """The columns of those names, in whatever case."""
    rows = (told or cursor).fetchall()
    names = [column[0].lower() for column in cursor.description]
    places = [names.index(column) for column in columns]
    return Reply(sets=[set_of(list(columns), [[row[place] for place in places] for row in rows])])
