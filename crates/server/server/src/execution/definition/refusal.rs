//! What is wrong with a definition in view of the existing objects and rows.

use selenite_compiler::{Ends, SqlError};

fn refused(number: i32, text: String) -> SqlError {
    SqlError::new(number, Ends::Statement, text)
}

/// 3701: DROP of what does not exist; `kind` as in `table`.
pub fn not_there(kind: &str, name: &str) -> SqlError {
    let text = format!("Cannot drop the {kind} '{name}', because it does not exist or you do not have permission.");
    refused(3701, text).with_severity(11).with_state(5)
}

/// 3705: DROP of an object of another kind.
pub fn wrong_kind(used: &str, name: &str, kind: &str) -> SqlError {
    let text = format!(
        "Cannot use DROP {used} with '{name}' because '{name}' is a {kind}. Use DROP {}.",
        kind.to_uppercase()
    );
    refused(3705, text)
}

/// 3726: DROP of a table that a foreign key refers to.
pub fn referenced(name: &str) -> SqlError {
    refused(
        3726,
        format!("Could not drop object '{name}' because it is referenced by a FOREIGN KEY constraint."),
    )
}

/// 3725: a key that a foreign key refers to.
pub fn key_referenced(key: &str, table: &str, foreign: &str) -> SqlError {
    let text =
        format!("The constraint '{key}' is being referenced by table '{table}', foreign key constraint '{foreign}'.");
    refused(3725, text).with_state(0)
}

/// 3723: DROP INDEX of a constraint's index.
pub fn index_of_constraint(table: &str, index: &str, kind: &str) -> SqlError {
    let text = format!(
        "An explicit DROP INDEX is not allowed on index '{table}.{index}'. It is being used for {kind} constraint enforcement."
    );
    refused(3723, text).with_state(4)
}

/// 1088: an index on what does not exist.
pub fn no_object(name: &str) -> SqlError {
    let text = format!("Cannot find the object \"{name}\" because it does not exist or you do not have permissions.");
    refused(1088, text).with_state(12)
}

/// 4902: ALTER TABLE of what does not exist.
pub fn no_table(name: &str) -> SqlError {
    let text = format!("Cannot find the object \"{name}\" because it does not exist or you do not have permissions.");
    refused(4902, text)
}

/// 2727: ALTER INDEX of what does not exist.
pub fn no_index(name: &str) -> SqlError {
    refused(2727, format!("Cannot find index '{name}'.")).with_severity(11)
}

/// 1902: a second clustered index.
pub fn clustered_twice(table: &str, other: &str) -> SqlError {
    let text = format!(
        "Cannot create more than one clustered index on table '{table}'. Drop the existing clustered index '{other}' before \
         creating another."
    );
    refused(1902, text).with_state(3)
}

/// 1505: rows that a unique key does not allow.
pub fn duplicate_key(table: &str, index: &str, value: &str) -> SqlError {
    let text = format!(
        "The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the object name '{table}' and the \
         index name '{index}'. The duplicate key value is ({value})."
    );
    refused(1505, text)
}

/// 1778: a foreign key of another type than what it refers to.
pub fn foreign_type(column: &str, referencing: &str, key: &str) -> SqlError {
    let text = format!(
        "Column '{column}' is not the same data type as referencing column '{referencing}' in foreign key '{key}'."
    );
    refused(1778, text).with_state(0)
}

/// 1757: a foreign key of another collation than what it refers to.
pub fn foreign_collation(column: &str, referencing: &str, key: &str) -> SqlError {
    let text = format!(
        "Column '{column}' is not of same collation as referencing column '{referencing}' in foreign key '{key}'."
    );
    refused(1757, text).with_state(0)
}

/// 547: rows that a constraint added by ALTER TABLE does not allow.
pub fn conflict(kind: &str, name: &str, (database, table): (&str, &str), column: Option<&str>) -> SqlError {
    let column = column.map_or_else(String::new, |column| format!(", column '{column}'"));
    let text = format!(
        "The ALTER TABLE statement conflicted with the {kind} constraint \"{name}\". The conflict occurred in database \
         \"{database}\", table \"{table}\"{column}."
    );
    refused(547, text).with_state(0)
}

/// 515: NULL in a column that does not allow it.
pub fn null_there(column: &str, table: &str) -> SqlError {
    let text = format!(
        "Cannot insert the value NULL into column '{column}', table '{table}'; column does not allow nulls. UPDATE fails."
    );
    refused(515, text).with_state(2)
}

/// 4901: a column that existing rows can't have.
pub fn column_without_value(column: &str, table: &str) -> SqlError {
    let text = format!(
        "ALTER TABLE only allows columns to be added that can contain nulls, or have a DEFAULT definition specified, or the \
         column being added is an identity or timestamp column, or alternatively if none of the previous conditions are \
         satisfied the table must be empty to allow addition of this column. Column '{column}' cannot be added to non-empty \
         table '{table}' because it does not satisfy these conditions."
    );
    refused(4901, text)
}

/// 5074: an index that needs a column.
pub fn index_needs(index: &str, column: &str) -> SqlError {
    refused(5074, format!("The index '{index}' is dependent on column '{column}'."))
}

/// 208: ALTER of what does not exist.
pub fn invalid_name(name: &str) -> SqlError {
    refused(208, format!("Invalid object name '{name}'.")).with_state(6)
}

/// 4909: ALTER of an object of another kind.
pub fn not_of_kind(name: &str, kind: &str) -> SqlError {
    refused(4909, format!("Cannot alter '{name}' because it is not a {kind}."))
}

/// 4508: a view over a temporary table.
pub fn view_of_temporary() -> SqlError {
    let text = "Views or functions are not allowed on temporary tables. Table names that begin with '#' denote temporary tables.";
    refused(4508, text.to_owned())
}

/// 4103: a view with a temporary table's name.
pub fn temporary_view(name: &str) -> SqlError {
    refused(4103, format!("\"{name}\": Temporary views are not allowed."))
}

/// 4511: a column of a view without a name.
pub fn view_column_unnamed(number: usize) -> SqlError {
    refused(
        4511,
        format!("Create View or Function failed because no column name was specified for column {number}."),
    )
}

/// 4506: two columns of a view with one name.
pub fn view_column_twice(column: &str, view: &str) -> SqlError {
    let text = format!(
        "Column names in each view or function must be unique. Column name '{column}' in view or function '{view}' is \
         specified more than once."
    );
    refused(4506, text)
}

/// 15150: DROP SCHEMA of one that every database has.
pub fn schema_stays(name: &str) -> SqlError {
    refused(15150, format!("Cannot drop the schema '{name}'."))
}

/// 3729: DROP SCHEMA of one that has objects.
pub fn schema_has_objects(name: &str, object: &str) -> SqlError {
    let text = format!("Cannot drop schema '{name}' because it is being referenced by object '{object}'.");
    refused(3729, text)
}

/// 15151: an owner or an object that does not exist.
pub fn not_found(kind: &str, name: &str) -> SqlError {
    let text = format!("Cannot find the {kind} '{name}', because it does not exist or you do not have permission.");
    refused(15151, text)
}

/// 15530: ALTER SCHEMA TRANSFER of a name that the schema has already.
pub fn taken_in_schema(name: &str) -> SqlError {
    refused(15530, format!("The object with name \"{name}\" already exists."))
}
