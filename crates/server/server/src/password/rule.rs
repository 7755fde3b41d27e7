//! What a new password has to be: SQL Server's rule on Linux, and CHECK_POLICY's on Windows.

/// Why a password is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleBroken {
    /// Fewer than 8 characters. SQL Server's 18464 at login, 15116 in CREATE LOGIN.
    Short,
    /// More than 128 units of UTF-16. 18465; 15117.
    Long,
    /// Fewer than three of capitals, small letters, digits and others; or the login's name is in it. 18466; 15118.
    Simple,
}

/// Checks a new password of the login of that name.
///
/// # Errors
/// [`RuleBroken`].
pub fn check_new_password(login: &str, password: &str) -> Result<(), RuleBroken> {
    if password.chars().count() < CHARACTER_COUNT_MIN {
        return Err(RuleBroken::Short);
    }
    if password.encode_utf16().count() > UNIT_COUNT_MAX {
        return Err(RuleBroken::Long);
    }
    let kinds: [fn(char) -> bool; 4] = [char::is_uppercase, char::is_lowercase, char::is_numeric, |character| {
        !character.is_alphanumeric()
    }];
    let kind_count = kinds.iter().filter(|is_kind| password.contains(**is_kind)).count();
    let has_name = login.chars().count() >= NAME_COUNT_MIN && password.to_lowercase().contains(&login.to_lowercase());
    if kind_count < KIND_COUNT_MIN || has_name {
        return Err(RuleBroken::Simple);
    }
    Ok(())
}

const CHARACTER_COUNT_MIN: usize = 8;
/// What SQL Server keeps of a password.
const UNIT_COUNT_MAX: usize = 128;
const KIND_COUNT_MIN: usize = 3;
/// As Windows: a name of one or two letters would be in every other password.
const NAME_COUNT_MIN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_a_length_and_three_kinds_of_characters_and_not_the_name() {
        let cases = [
            ("Abcdef1", Err(RuleBroken::Short)),
            ("Abcdefg1", Ok(())),
            ("abcdef-1", Ok(())),
            ("ABCDEF-1", Ok(())),
            ("Abcdefgh", Err(RuleBroken::Simple)),
            ("12345678", Err(RuleBroken::Simple)),
            ("Jo-hannes1", Ok(())),
            ("xHANNAx-1", Err(RuleBroken::Simple)),
        ];
        for (password, outcome) in cases {
            assert_eq!(check_new_password("hanna", password), outcome, "{password}");
        }
        assert_eq!(check_new_password("Jo-", "Jo-hanna1"), Err(RuleBroken::Simple));
        assert_eq!(check_new_password("sa", "Salamander-1"), Ok(()));
        assert_eq!(check_new_password("a", &"Aa1-".repeat(32)), Ok(()));
        assert_eq!(check_new_password("a", &"Aa1-5".repeat(26)), Err(RuleBroken::Long));
    }
}
