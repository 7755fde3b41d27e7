//! Selenite: the loadable extension.
#![deny(unsafe_code)]
