use super::*;
use crate::data_type::tests::all_types;

const COLUMN: Site<'_> = Site {
    place: DeclarationContext::Column { number: 2, name: "c" },
    line: 3,
};
const VARIABLE: Site<'_> = Site {
    place: DeclarationContext::Variable { number: 1, name: "@v" },
    line: 1,
};
const CAST: Site<'_> = Site {
    place: DeclarationContext::Cast,
    line: 4,
};

fn n(number: u64) -> Argument {
    Argument::Number(number)
}

fn declared(name: &str, arguments: &[Argument], site: &Site<'_>) -> DataType {
    DataType::from_name(name, arguments, site).unwrap()
}

fn refused(name: &str, arguments: &[Argument], site: &Site<'_>) -> (u16, u8, String) {
    let error = DataType::from_name(name, arguments, site).unwrap_err();
    (error.number(), error.severity(), error.to_string())
}

#[test]
fn every_displayed_type_parses_to_itself() {
    for data_type in all_types() {
        let shown = data_type.to_string();
        let (name, numbers) = shown.split_once('(').unwrap_or((&shown, ""));
        let arguments: Vec<Argument> = numbers
            .trim_end_matches(')')
            .split(',')
            .filter(|number| !number.is_empty())
            .map(|number| {
                if number == "max" {
                    Argument::Max
                } else {
                    n(number.parse().unwrap())
                }
            })
            .collect();
        for site in [COLUMN, VARIABLE, CAST] {
            assert_eq!(declared(name, &arguments, &site), data_type);
        }
    }
}

#[test]
fn names_have_synonyms_and_ignore_case() {
    let sysname = DataType::NVarChar(Width::Limited(128));
    let cases = [
        ("INTEGER", DataType::Int),
        (
            "Dec",
            DataType::Decimal {
                precision: 18,
                scale: 0,
            },
        ),
        ("double precision", DataType::Float),
        ("character varying", DataType::VarChar(Width::Limited(1))),
        ("char varying", DataType::VarChar(Width::Limited(1))),
        ("National Character Varying", DataType::NVarChar(Width::Limited(1))),
        ("national char", DataType::NChar(1)),
        ("binary varying", DataType::VarBinary(Width::Limited(1))),
        ("text", DataType::VarChar(Width::Max)),
        ("ntext", DataType::NVarChar(Width::Max)),
        ("image", DataType::VarBinary(Width::Max)),
        ("SYSNAME", sysname),
    ];
    for (name, data_type) in cases {
        assert_eq!(declared(name, &[], &COLUMN), data_type, "{name}");
    }
}

#[test]
fn omitted_arguments_have_defaults() {
    assert_eq!(declared("varchar", &[], &COLUMN), DataType::VarChar(Width::Limited(1)));
    assert_eq!(
        declared("varchar", &[], &VARIABLE),
        DataType::VarChar(Width::Limited(1))
    );
    assert_eq!(declared("varchar", &[], &CAST), DataType::VarChar(Width::Limited(30)));
    assert_eq!(declared("nchar", &[], &CAST), DataType::NChar(30));
    assert_eq!(
        declared("varbinary", &[], &CAST),
        DataType::VarBinary(Width::Limited(30))
    );
    assert_eq!(
        declared("numeric", &[], &CAST),
        DataType::Numeric {
            precision: 18,
            scale: 0
        }
    );
    assert_eq!(
        declared("decimal", &[n(7)], &CAST),
        DataType::Decimal { precision: 7, scale: 0 }
    );
    assert_eq!(declared("float", &[], &CAST), DataType::Float);
    assert_eq!(declared("float", &[n(24)], &COLUMN), DataType::Real);
    assert_eq!(declared("float", &[n(25)], &COLUMN), DataType::Float);
    assert_eq!(declared("time", &[], &COLUMN), DataType::Time(7));
    assert_eq!(declared("datetime2", &[n(0)], &COLUMN), DataType::DateTime2(0));
}

#[test]
fn an_unknown_type_is_an_error_with_its_name() {
    let declared = (
        2715,
        16,
        "Column, parameter, or variable #2: Cannot find data type Foo.".to_owned(),
    );
    assert_eq!(refused("Foo", &[], &COLUMN), declared);
    assert_eq!(
        refused("foo", &[], &CAST),
        (243, 16, "Type foo is not a defined system type.".to_owned())
    );
    let unsupported = (40510, 16, "Data type 'geometry' is not supported.".to_owned());
    assert_eq!(refused("GEOMETRY", &[], &COLUMN), unsupported);
    for name in UNSUPPORTED {
        assert_eq!(refused(name, &[], &CAST).0, 40510);
    }
}

#[test]
fn arguments_after_a_type_without_arguments_are_errors() {
    let text = "Column, parameter, or variable #2: Cannot specify a column width on data type int.";
    assert_eq!(refused("int", &[n(4)], &COLUMN), (2716, 16, text.to_owned()));
    let text = "CAST or CONVERT: invalid attributes specified for type 'int'";
    assert_eq!(refused("integer", &[n(4)], &CAST), (291, 16, text.to_owned()));
    let text = "Column, parameter, or variable #1: Cannot specify a column width on data type real.";
    assert_eq!(refused("float", &[n(10), n(1)], &VARIABLE), (2716, 16, text.to_owned()));
    assert_eq!(refused("varchar", &[n(10), n(1)], &COLUMN).0, 2716);
    assert_eq!(
        refused("text", &[n(10)], &COLUMN).2.split(' ').next_back(),
        Some("text.")
    );
    assert_eq!(refused("datetime", &[n(3)], &COLUMN).0, 2716);
}

#[test]
fn a_length_of_zero_is_refused_before_other_errors() {
    let text = "Line 3: Length or precision specification 0 is invalid.";
    for name in ["varchar", "nchar", "binary", "decimal", "float", "datetime", "int"] {
        assert_eq!(refused(name, &[n(0)], &COLUMN), (1001, 15, text.to_owned()), "{name}");
    }
}

#[test]
fn the_message_for_too_long_depends_on_the_declaration_context() {
    let any = "exceeds the maximum allowed for any data type (8000).";
    assert_eq!(
        refused("varchar", &[n(9000)], &COLUMN),
        (131, 15, format!("The size (9000) given to the column 'c' {any}"))
    );
    let of_type = format!("The size (9000) given to the type 'varchar' {any}");
    assert_eq!(refused("varchar", &[n(9000)], &VARIABLE), (131, 15, of_type.clone()));
    assert_eq!(refused("varchar", &[n(9000)], &CAST), (131, 15, of_type));
    assert_eq!(refused("binary", &[n(u64::MAX)], &CAST).0, 131);
    let text = "The size (5000) given to the parameter '@v' exceeds the maximum allowed (4000).";
    assert_eq!(refused("nvarchar", &[n(5000)], &VARIABLE), (2717, 16, text.to_owned()));
    assert_eq!(refused("nchar", &[n(5000)], &COLUMN).0, 2717);
    let text = "The size (4001) given to the convert specification 'nvarchar' exceeds the maximum allowed \
                for any data type (4000).";
    assert_eq!(refused("nvarchar", &[n(4001)], &CAST), (131, 16, text.to_owned()));
    assert_eq!(
        refused("char", &[Argument::Max], &CAST),
        (102, 15, "Incorrect syntax near 'max'.".to_owned())
    );
}

#[test]
fn the_message_for_precision_or_scale_depends_on_the_declaration_context() {
    let text = "Column or parameter #2: Specified column precision 39 is greater than the maximum precision of 38.";
    assert_eq!(refused("decimal", &[n(39), n(0)], &COLUMN), (2750, 16, text.to_owned()));
    assert_eq!(refused("decimal", &[n(39)], &VARIABLE).0, 2750);
    let text = "The size (39) given to the type 'decimal' exceeds the maximum allowed (38).";
    assert_eq!(refused("dec", &[n(39), n(0)], &VARIABLE), (2717, 16, text.to_owned()));
    assert_eq!(refused("decimal", &[n(39), n(1)], &CAST), (2717, 16, text.to_owned()));
    assert_eq!(
        declared("numeric", &[n(39)], &CAST),
        DataType::Numeric {
            precision: 38,
            scale: 0
        }
    );
    let text = "The scale (3) for column 'c' must be within the range 0 to 2.";
    assert_eq!(refused("decimal", &[n(2), n(3)], &COLUMN), (183, 15, text.to_owned()));
    let text = "The scale must be less than or equal to the precision.";
    assert_eq!(refused("decimal", &[n(2), n(3)], &CAST), (192, 15, text.to_owned()));
    let text = "Column or parameter #1: Specified column precision 54 is greater than the maximum precision of 53.";
    assert_eq!(refused("float", &[n(54)], &VARIABLE), (2750, 16, text.to_owned()));
    assert_eq!(declared("float", &[n(54)], &CAST), DataType::Float);
    assert_eq!(
        refused("time", &[n(8)], &CAST),
        (1002, 15, "Line 4: Specified scale 8 is invalid.".to_owned())
    );
}
