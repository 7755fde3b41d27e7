//! Selenite: key hierarchy, key slots and the providers of identities.
#![forbid(unsafe_code)]
