//! Pages, journals and logs by the public API.
#![cfg(test)]

mod pages;
mod vectors;
