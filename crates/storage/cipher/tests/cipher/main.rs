//! Tests of the crate's public API, in one executable. Those of all suites, and of keys wrapped under given nonces, are
//! not for the FIPS build.
#![cfg(test)]

#[cfg(feature = "fips")]
mod fips;
#[cfg(not(feature = "fips"))]
mod keys;
#[cfg(not(feature = "fips"))]
mod known_answers;
#[cfg(not(feature = "fips"))]
mod page;
#[cfg(not(feature = "fips"))]
mod page_cipher;
