//! Selenite: one page to one sealed page and back.
#![forbid(unsafe_code)]
