//! Statistics of paired measurements that were taken in sessions.
//!
//! S1. No measurement is deleted; estimators are robust instead.
//! S2. Sessions, not pairs, are the sample: twins of one session share whatever is particular to them.
#![forbid(unsafe_code)]
