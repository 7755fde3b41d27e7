//! Moments as people write them.

/// Seconds since 1970-01-01 UTC as `2026-03-01T12:00:00Z`; a moment after the year 9999 as its number.
#[must_use]
pub fn utc(unix_seconds: u64) -> String {
    let known = i64::try_from(unix_seconds).ok().and_then(|seconds| {
        let connection = rusqlite::Connection::open_in_memory().ok()?;
        let sql = "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', ?1, 'unixepoch')";
        connection.query_row(sql, [seconds], |row| row.get(0)).ok()
    });
    known.unwrap_or_else(|| unix_seconds.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_rfc_3339_has_it() {
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(u64::MAX), u64::MAX.to_string());
        assert_eq!(utc(999_999_999_999), "999999999999");
    }
}
