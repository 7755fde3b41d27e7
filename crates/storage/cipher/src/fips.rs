//! The FIPS build (docs/FIPS.md): AWS-LC's FIPS module does all cryptography.
//!
//! - module-alone: in this build, no code of another cryptographic library is called.

/// Whether this is the FIPS build.
pub const IS_FIPS: bool = cfg!(feature = "fips");

/// The shortest passphrase in bytes from which AWS-LC derives a key by PBKDF2 as an approved service.
pub const FIPS_PASSPHRASE_SIZE_MIN: usize = 14;

/// The name and version of the FIPS module of this build; `None` if this is not the FIPS build.
///
/// # Errors
/// This is the FIPS build, and AWS-LC is not in FIPS mode: nothing may be encrypted or decrypted.
pub fn fips_module() -> Result<Option<String>, NotInFipsMode> {
    if !IS_FIPS {
        return Ok(None);
    }
    aws_lc_rs::try_fips_mode().map_err(|_| NotInFipsMode)?;
    Ok(Some(format!("AWS-LC FIPS {}", aws_lc_rs::awslc_version())))
}

/// The FIPS build without its FIPS module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInFipsMode;

impl std::fmt::Display for NotInFipsMode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("this is the FIPS build of selenite, and AWS-LC is not in FIPS mode")
    }
}

impl std::error::Error for NotInFipsMode {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_is_named_in_the_fips_build_only() {
        let module = fips_module().unwrap();
        assert_eq!(module.is_some(), IS_FIPS);
        assert!(module.is_none_or(|name| name.starts_with("AWS-LC FIPS ")));
    }
}
