//! Data from a destination is authenticated, or refused.

mod catalog;
mod chain;
mod fixture;
mod forged;
mod opened;
mod pages;
