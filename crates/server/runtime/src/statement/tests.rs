//! SELECT on SQLite, compared with T-SQL's results.

use crate::testing::Session;

mod apply;
mod assignment;
mod budget;
mod common_tables;
mod grouping;
mod grouping_sets;
mod joins;
mod json;
mod lists;
mod order;
mod sets;
mod sql_text;
mod subqueries;
mod system;
mod windows;
mod xml;

/// Customers and their orders: one customer has none, one order has no customer.
fn shop() -> Session {
    Session::new(
        "CREATE TABLE customer (id int PRIMARY KEY, name varchar(20) NOT NULL, city nvarchar(20))
         CREATE TABLE orders (id int PRIMARY KEY, customer int, amount decimal(10, 2), placed datetime)
         INSERT customer VALUES (1, 'Ann', N'Oslo'), (2, 'bob', N'Rome'), (3, 'Cid', NULL)
         INSERT orders VALUES (10, 1, 5.50, '2024-01-01'), (11, 1, 2.25, '2024-01-02T10:00:00'), (12, 2, 9, NULL),
             (13, NULL, 1, '2024-03-01')",
    )
}
