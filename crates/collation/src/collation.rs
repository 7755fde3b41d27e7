//! SQL Server's collations by name.

use std::cmp::Ordering;
use std::hash::Hasher;

use crate::Order;

/// A collation: its number in the list of those that there are, of which the first is the default.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Collation(u8);

/// What a collation's name says.
struct Named {
    name: &'static str,
    order: Order,
    family: Family,
    /// Whether kana type and width count by its name (they do in every order): `_KS_WS`.
    is_wide: bool,
    characters: Characters,
}

/// What is a character, and how varchar holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Characters {
    /// A unit of UTF-16; varchar is in code page 1252.
    Units,
    /// A code point: `_SC`.
    CodePoints,
    /// A code point; varchar is in UTF-8: `_UTF8`.
    Utf8,
}

/// Where a collation comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    /// A sort order of SQL Server's own, with its number.
    Sql(u8),
    /// Windows', of SQL Server 2000.
    Windows,
    /// Windows', of SQL Server 2008.
    Windows100,
}

impl Collation {
    /// SQL_Latin1_General_CP1_CI_AS.
    pub const DEFAULT: Self = Self(0);
    /// Latin1_General_BIN2.
    pub const BIN2: Self = Self(1);

    /// Every collation, the default first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..).map(Self).take(NAMED.len())
    }

    /// The collation of this name, in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|collation| collation.name().eq_ignore_ascii_case(name))
    }

    /// The name, as it stands behind COLLATE in T-SQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.named().name
    }

    /// The order of text.
    #[inline]
    #[must_use]
    pub fn order(self) -> Order {
        self.named().order
    }

    /// Compares two texts, given as UTF-8.
    #[inline]
    #[must_use]
    pub fn compare(self, left: &[u8], right: &[u8]) -> Ordering {
        self.order().compare(left, right)
    }

    /// [`Order::key`].
    #[must_use]
    pub fn key(self, text: &[u8]) -> Vec<u8> {
        self.order().key(text)
    }

    /// [`Order::fold`].
    #[inline]
    #[must_use]
    pub fn fold(self, character: char) -> char {
        self.order().fold(character)
    }

    /// [`Order::hash`].
    pub fn hash(self, text: &[u8], hasher: &mut impl Hasher) {
        self.order().hash(text, hasher);
    }

    /// Whether functions count code points, and not units of UTF-16: `_SC` and `_UTF8`.
    #[inline]
    #[must_use]
    pub fn counts_code_points(self) -> bool {
        match self.named().characters {
            Characters::Units => false,
            Characters::CodePoints | Characters::Utf8 => true,
        }
    }

    /// Whether char and varchar are in UTF-8.
    #[inline]
    #[must_use]
    pub fn is_utf8(self) -> bool {
        match self.named().characters {
            Characters::Units | Characters::CodePoints => false,
            Characters::Utf8 => true,
        }
    }

    /// How many characters LEN counts for a code point.
    #[inline]
    #[must_use]
    pub fn character_length(self, character: char) -> usize {
        match self.counts_code_points() {
            true => 1,
            false => character.len_utf16(),
        }
    }

    /// How many characters LEN counts.
    #[must_use]
    pub fn text_length(self, text: &str) -> usize {
        match text.is_ascii() {
            true => text.len(),
            false => text.chars().map(|character| self.character_length(character)).sum(),
        }
    }

    /// The code page of char and varchar.
    #[must_use]
    pub fn code_page(self) -> i32 {
        if self.is_utf8() { 65001 } else { 1252 }
    }

    /// What `fn_helpcollations` says of it.
    #[must_use]
    pub fn description(self) -> String {
        let named = self.named();
        let family = match named.family {
            Family::Sql(_) | Family::Windows => "Latin1-General",
            Family::Windows100 => "Latin1-General-100",
        };
        let utf8 = if self.is_utf8() { ", UTF8" } else { "" };
        let senses = match named.order {
            Order::Binary => return format!("{family}, binary sort{utf8}"),
            Order::CodePoint => return format!("{family}, binary code point comparison sort{utf8}"),
            Order::CaseInsensitive => "case-insensitive, accent-sensitive",
            Order::CapitalsFirst | Order::CapitalsLast => "case-sensitive, accent-sensitive",
            Order::AccentInsensitive => "case-insensitive, accent-insensitive",
        };
        let wide = match named.is_wide {
            true => "kanatype-sensitive, width-sensitive",
            false => "kanatype-insensitive, width-insensitive",
        };
        let code_page = match named.family {
            Family::Sql(number) => {
                format!(" for Unicode Data, SQL Server Sort Order {number} on Code Page 1252 for non-Unicode Data")
            }
            Family::Windows | Family::Windows100 => String::new(),
        };
        let supplementary = match self.counts_code_points() {
            true => ", supplementary characters",
            false => "",
        };
        format!("{family}, {senses}, {wide}{code_page}{supplementary}{utf8}")
    }

    /// What is ignored, as the bits of Windows' comparisons: 1 case, 2 accents, 65536 kana type, 131072 width.
    #[must_use]
    pub fn comparison_style(self) -> i32 {
        let named = self.named();
        let style = match named.order {
            Order::Binary | Order::CodePoint => return 0,
            Order::CapitalsFirst | Order::CapitalsLast => 0,
            Order::CaseInsensitive => 1,
            Order::AccentInsensitive => 3,
        };
        style | if named.is_wide { 0 } else { 0x3_0000 }
    }

    /// The version of Windows' tables that its name says.
    #[must_use]
    pub fn version(self) -> u8 {
        match self.named().family {
            Family::Sql(_) | Family::Windows => 0,
            Family::Windows100 => 2,
        }
    }

    /// The number of the sort order of a SQL collation; 0 of Windows'.
    #[must_use]
    pub fn sort_id(self) -> u8 {
        match self.named().family {
            Family::Sql(number) => number,
            Family::Windows | Family::Windows100 => 0,
        }
    }

    #[inline]
    fn named(self) -> &'static Named {
        NAMED.get(usize::from(self.0)).unwrap_or(&DEFAULT)
    }
}

const fn named(name: &'static str, family: Family, order: Order) -> Named {
    Named {
        name,
        order,
        family,
        is_wide: false,
        characters: Characters::Units,
    }
}

const fn wide(name: &'static str, family: Family, order: Order) -> Named {
    Named {
        is_wide: true,
        ..named(name, family, order)
    }
}

/// A collation of Latin1_General_100 with supplementary characters.
const fn supplementary(name: &'static str, order: Order) -> Named {
    Named {
        characters: Characters::CodePoints,
        ..named(name, Family::Windows100, order)
    }
}

const fn utf8(name: &'static str, order: Order) -> Named {
    Named {
        characters: Characters::Utf8,
        ..named(name, Family::Windows100, order)
    }
}

/// The same with regard to kana type and width.
const fn widened(collation: Named) -> Named {
    Named {
        is_wide: true,
        ..collation
    }
}

const DEFAULT: Named = named("SQL_Latin1_General_CP1_CI_AS", Family::Sql(52), Order::CaseInsensitive);

static NAMED: [Named; 32] = [
    DEFAULT,
    named("Latin1_General_BIN2", Family::Windows, Order::CodePoint),
    named("Latin1_General_100_BIN", Family::Windows100, Order::Binary),
    named("Latin1_General_100_BIN2", Family::Windows100, Order::CodePoint),
    named("Latin1_General_100_CI_AI", Family::Windows100, Order::AccentInsensitive),
    wide(
        "Latin1_General_100_CI_AI_KS_WS",
        Family::Windows100,
        Order::AccentInsensitive,
    ),
    named("Latin1_General_100_CI_AS", Family::Windows100, Order::CaseInsensitive),
    wide(
        "Latin1_General_100_CI_AS_KS_WS",
        Family::Windows100,
        Order::CaseInsensitive,
    ),
    named("Latin1_General_100_CS_AS", Family::Windows100, Order::CapitalsLast),
    wide(
        "Latin1_General_100_CS_AS_KS_WS",
        Family::Windows100,
        Order::CapitalsLast,
    ),
    named("Latin1_General_BIN", Family::Windows, Order::Binary),
    named("Latin1_General_CI_AI", Family::Windows, Order::AccentInsensitive),
    wide("Latin1_General_CI_AI_KS_WS", Family::Windows, Order::AccentInsensitive),
    named("Latin1_General_CI_AS", Family::Windows, Order::CaseInsensitive),
    wide("Latin1_General_CI_AS_KS_WS", Family::Windows, Order::CaseInsensitive),
    named("Latin1_General_CS_AS", Family::Windows, Order::CapitalsLast),
    wide("Latin1_General_CS_AS_KS_WS", Family::Windows, Order::CapitalsLast),
    named(
        "SQL_Latin1_General_CP1_CI_AI",
        Family::Sql(54),
        Order::AccentInsensitive,
    ),
    named("SQL_Latin1_General_CP1_CS_AS", Family::Sql(51), Order::CapitalsFirst),
    utf8("Latin1_General_100_BIN2_UTF8", Order::CodePoint),
    supplementary("Latin1_General_100_CI_AI_SC", Order::AccentInsensitive),
    utf8("Latin1_General_100_CI_AI_SC_UTF8", Order::AccentInsensitive),
    widened(supplementary(
        "Latin1_General_100_CI_AI_KS_WS_SC",
        Order::AccentInsensitive,
    )),
    widened(utf8("Latin1_General_100_CI_AI_KS_WS_SC_UTF8", Order::AccentInsensitive)),
    supplementary("Latin1_General_100_CI_AS_SC", Order::CaseInsensitive),
    utf8("Latin1_General_100_CI_AS_SC_UTF8", Order::CaseInsensitive),
    widened(supplementary(
        "Latin1_General_100_CI_AS_KS_WS_SC",
        Order::CaseInsensitive,
    )),
    widened(utf8("Latin1_General_100_CI_AS_KS_WS_SC_UTF8", Order::CaseInsensitive)),
    supplementary("Latin1_General_100_CS_AS_SC", Order::CapitalsLast),
    utf8("Latin1_General_100_CS_AS_SC_UTF8", Order::CapitalsLast),
    widened(supplementary("Latin1_General_100_CS_AS_KS_WS_SC", Order::CapitalsLast)),
    widened(utf8("Latin1_General_100_CS_AS_KS_WS_SC_UTF8", Order::CapitalsLast)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collation_is_found_by_its_name_in_any_case() {
        for (name, found) in [
            ("sql_latin1_general_cp1_ci_as", Some(Collation::DEFAULT)),
            ("LATIN1_GENERAL_BIN2", Some(Collation::BIN2)),
            ("Latin1_General_CS_AI", None),
            ("Latin1_General_100_CI_AS_UTF8", None),
        ] {
            assert_eq!(Collation::from_name(name), found, "{name}");
        }
        assert_eq!(Collation::default().name(), "SQL_Latin1_General_CP1_CI_AS");
        assert_eq!(Collation::default(), Collation::DEFAULT);
        assert_eq!(Collation::BIN2.name(), "Latin1_General_BIN2");
        for collation in Collation::all() {
            assert_eq!(Collation::from_name(collation.name()), Some(collation));
        }
    }

    #[test]
    fn an_order_is_a_collation_by_its_name() {
        for order in Order::ALL {
            assert_eq!(Collation::from_name(order.name()).unwrap().order(), order);
        }
    }

    #[test]
    fn names_say_what_counts() {
        for collation in Collation::all() {
            let (name, style) = (collation.name(), collation.comparison_style());
            let has = |part: &str| name.contains(part);
            assert_eq!(style & 1 != 0, has("_CI_"), "{name}");
            assert_eq!(style & 2 != 0, has("_AI"), "{name}");
            assert_eq!(collation.order().is_binary(), has("_BIN"), "{name}");
            assert_eq!(style & 0x3_0000 == 0, has("_KS_WS") || has("_BIN"), "{name}");
            assert_eq!(collation.version() == 2, has("_100_"), "{name}");
            assert_eq!(collation.is_utf8(), has("_UTF8"), "{name}");
            assert_eq!(collation.counts_code_points(), has("_SC") || has("_UTF8"), "{name}");
            assert_eq!(collation.code_page() == 65001, has("_UTF8"), "{name}");
            assert_eq!(collation.sort_id() != 0, has("SQL_"), "{name}");
            assert_eq!(collation.description().contains("-100"), has("_100_"), "{name}");
        }
    }

    #[test]
    fn the_description_is_that_of_sql_server() {
        let of = |name: &str| Collation::from_name(name).unwrap().description();
        assert_eq!(
            of("SQL_Latin1_General_CP1_CS_AS"),
            "Latin1-General, case-sensitive, accent-sensitive, kanatype-insensitive, width-insensitive for Unicode Data, SQL \
             Server Sort Order 51 on Code Page 1252 for non-Unicode Data"
        );
        assert_eq!(
            of("Latin1_General_100_CI_AI_KS_WS"),
            "Latin1-General-100, case-insensitive, accent-insensitive, kanatype-sensitive, width-sensitive"
        );
        assert_eq!(of("Latin1_General_BIN"), "Latin1-General, binary sort");
        assert_eq!(
            of("Latin1_General_100_CI_AS_SC_UTF8"),
            "Latin1-General-100, case-insensitive, accent-sensitive, kanatype-insensitive, width-insensitive, \
             supplementary characters, UTF8"
        );
        assert_eq!(
            of("Latin1_General_100_BIN2_UTF8"),
            "Latin1-General-100, binary code point comparison sort, UTF8"
        );
    }

    #[test]
    fn with_sc_a_code_point_counts_one() {
        for (name, length) in [
            ("Latin1_General_100_CI_AS", 3),
            ("Latin1_General_100_CI_AS_SC", 2),
            ("Latin1_General_100_BIN2_UTF8", 2),
        ] {
            let collation = Collation::from_name(name).unwrap();
            assert_eq!(collation.text_length("\u{e9}\u{1f600}"), length, "{name}");
        }
    }
}
