//! SELECT on SQLite.

use super::sqlite::Session;

fn shop() -> Session {
    Session::new(
        "CREATE TABLE customer (id int PRIMARY KEY, name varchar(20) NOT NULL, city nvarchar(20))
         CREATE TABLE orders (id int PRIMARY KEY, customer int, amount decimal(10, 2), at datetime)
         INSERT customer VALUES (1, 'Ann', N'Oslo'), (2, 'bob', N'Rome'), (3, 'Cid', NULL)
         INSERT orders VALUES (10, 1, 5.50, '2024-01-01'), (11, 1, 2.25, '2024-01-02T10:00:00'), (12, 2, 9, NULL),
             (13, NULL, 1, '2024-03-01')",
    )
}

#[test]
fn a_select_gives_names_types_and_rows() {
    let answer = shop().answer("SELECT id, name AS n, city FROM customer WHERE id = 1");
    assert_eq!(answer.columns, ["id int", "n varchar(20)", "city nvarchar(20) null"]);
    assert_eq!(answer.rows, ["1|Ann|Oslo"]);
}
