//! The tables of the hummer measurement: Vendor, Card, Purchase, and their six indexes.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use rusqlite::Connection;

use super::{date, in_transactions, string};
use crate::WorkerError;

/// The start of every BusinessName and SecureString.
pub const MARKER: &str = "PlainToRead-Card";

/// Makes the tables and inserts `rows` rows into each.
pub fn fill(connection: &Connection, rows: u64, random: &mut ChaCha8Rng) -> Result<(), WorkerError> {
    connection.execute_batch(SCHEMA)?;
    let mut vendor = connection.prepare("INSERT INTO Vendor VALUES (?1, ?2, ?3, ?4, ?5)")?;
    in_transactions(connection, rows, |row| {
        let name = business_name(random);
        let place = (string(random, 20), string(random, 5), date(random));
        vendor.execute((row.cast_signed(), name, place.0, place.1, place.2))?;
        Ok(())
    })?;
    let mut card = connection.prepare("INSERT INTO Card VALUES (?1, ?2, ?3, ?4, ?5)")?;
    in_transactions(connection, rows, |row| {
        // The number contains the row, so that numbers are unique.
        let number = format!("{:06}{row:010}", random.next_u32() % 1_000_000);
        let code = format!("{:03}", random.next_u32() % 1_000);
        let secure = format!("{MARKER}{}", string(random, 20));
        card.execute((row.cast_signed(), number, code, secure, date(random)))?;
        Ok(())
    })?;
    let mut purchase = connection.prepare(PURCHASE)?;
    in_transactions(connection, rows, |_| {
        purchase.execute(purchase_values(random, rows, rows)).map(drop)
    })
}

/// A vendor's name.
pub fn business_name(random: &mut ChaCha8Rng) -> String {
    format!("{MARKER}{}", string(random, 24))
}

/// The parameters of [`PURCHASE`]: a card, a vendor, cents, a date.
pub fn purchase_values(random: &mut ChaCha8Rng, cards: u64, vendors: u64) -> (i64, i64, i64, String) {
    (
        any(random, cards),
        any(random, vendors),
        i64::from(random.next_u32() % 1_000_000),
        date(random),
    )
}

/// A random key from 1 to `count`.
pub fn any(random: &mut ChaCha8Rng, count: u64) -> i64 {
    (random.next_u64() % count.max(1) + 1).cast_signed()
}

/// Inserts a purchase with the next key.
pub const PURCHASE: &str = "INSERT INTO Purchase(CardID, VendorID, Amount, PurchaseDate) VALUES (?1, ?2, ?3, ?4)";

const SCHEMA: &str = "
CREATE TABLE Vendor(VendorID INTEGER PRIMARY KEY, BusinessName TEXT, City TEXT, PostalCode TEXT, Changed TEXT);
CREATE TABLE Card(CardID INTEGER PRIMARY KEY, CardNumber TEXT, SecurityCode TEXT, SecureString TEXT, Changed TEXT);
CREATE TABLE Purchase(PurchaseID INTEGER PRIMARY KEY, CardID INTEGER, VendorID INTEGER, Amount INTEGER,
    PurchaseDate TEXT);
CREATE INDEX VendorByBusinessName ON Vendor(BusinessName);
CREATE UNIQUE INDEX CardByNumber ON Card(CardNumber, SecurityCode);
CREATE INDEX CardBySecurityCode ON Card(SecurityCode, CardNumber);
CREATE INDEX CardBySecureString ON Card(SecureString);
CREATE INDEX PurchaseByCard ON Purchase(CardID);
CREATE INDEX PurchaseByVendor ON Purchase(VendorID);
";
