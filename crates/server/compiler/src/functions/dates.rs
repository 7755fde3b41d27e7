//! Functions of dates and times.
//!
//! - `one-moment-per-statement`: the clock has one value in a statement: it is read once for GETDATE.
//! - `text-is-datetime-or-datetimeoffset`: text is parsed as datetime where the result keeps the
//!   argument's type, and otherwise as datetimeoffset, which is UTC where the text has no offset.

use selenite_types::{DataType, Width};

use super::{Function, Rule, Typing};

mod change;
mod check;
mod count;
mod moment;
mod offset;
mod parts;
mod zone;

use Rule::{BigInt, Date, DateOperand, Int, IntOrText, LocalMoment, Moment, Offset, Plain, PlainMoment, Scale};
pub(super) use zone::AT_TIME_ZONE;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("current_timestamp", &[], DATETIME, moment::local_datetime)
        .never_null()
        .of_statement()
        .bare(),
    Function::refused("current_date").bare(),
    Function::refused("current_timezone"),
    Function::refused("current_timezone_id"),
    Function::new(
        "date_bucket",
        &[BigInt, PlainMoment, PlainMoment],
        Typing::By(|arguments| type_of(arguments.get(1))),
        change::bucket,
    )
    .optional(1)
    .with_part(),
    Function::new(
        "dateadd",
        &[Int, DateOperand],
        Typing::By(|arguments| type_of(arguments.get(1))),
        change::add,
    )
    .with_part(),
    Function::new("datediff", &[Moment, Moment], INT, count::difference).with_part(),
    Function::new(
        "datediff_big",
        &[Moment, Moment],
        Typing::Is(DataType::BigInt),
        count::difference_big,
    )
    .with_part(),
    Function::new(
        "datefromparts",
        &[Int, Int, Int],
        Typing::Is(DataType::Date),
        parts::date,
    ),
    Function::new(
        "datename",
        &[Moment],
        Typing::Is(DataType::NVarChar(Width::Limited(30))),
        count::name,
    )
    .with_part(),
    Function::new("datepart", &[Moment], INT, count::part).with_part(),
    Function::new(
        "datetime2fromparts",
        &[Int, Int, Int, Int, Int, Int, Int, Scale],
        Typing::By(parts::datetime2_type),
        parts::datetime2,
    ),
    Function::new("datetimefromparts", &[Int; 7], DATETIME, parts::datetime),
    Function::new(
        "datetimeoffsetfromparts",
        &[Int, Int, Int, Int, Int, Int, Int, Int, Int, Scale],
        Typing::By(parts::datetimeoffset_type),
        parts::datetimeoffset,
    ),
    Function::new(
        "datetrunc",
        &[PlainMoment],
        Typing::By(|arguments| type_of(arguments.first())),
        change::truncate,
    )
    .with_part(),
    Function::new("day", &[Moment], INT, count::day),
    Function::new(
        "eomonth",
        &[Date, Int],
        Typing::Is(DataType::Date),
        change::end_of_month,
    )
    .optional(1),
    Function::new("getdate", &[], DATETIME, moment::local_datetime)
        .never_null()
        .of_statement(),
    Function::new("getutcdate", &[], DATETIME, moment::utc_datetime)
        .never_null()
        .of_statement(),
    Function::new("isdate", &[Plain], INT, check::is_date).never_null(),
    Function::new("month", &[Moment], INT, count::month),
    Function::new(
        "smalldatetimefromparts",
        &[Int; 5],
        Typing::Is(DataType::SmallDateTime),
        parts::smalldatetime,
    ),
    Function::new(
        "switchoffset",
        &[Offset, IntOrText],
        Typing::By(offset::offset_type),
        offset::switch,
    ),
    Function::new("sysdatetime", &[], DATETIME2, moment::local)
        .never_null()
        .of_statement(),
    Function::new(
        "sysdatetimeoffset",
        &[],
        Typing::Is(DataType::DateTimeOffset(7)),
        moment::with_offset,
    )
    .never_null()
    .of_statement(),
    Function::new("sysutcdatetime", &[], DATETIME2, moment::utc)
        .never_null()
        .of_statement(),
    Function::new(
        "timefromparts",
        &[Int, Int, Int, Int, Scale],
        Typing::By(parts::time_type),
        parts::time,
    ),
    Function::new(
        "todatetimeoffset",
        &[LocalMoment, IntOrText],
        Typing::By(offset::offset_type),
        offset::attach,
    ),
    Function::new("year", &[Moment], INT, count::year),
];

fn type_of(argument: Option<&crate::Expr>) -> DataType {
    argument.map_or(DataType::DateTime, |argument| argument.data_type)
}

const INT: Typing = Typing::Is(DataType::Int);
const DATETIME: Typing = Typing::Is(DataType::DateTime);
const DATETIME2: Typing = Typing::Is(DataType::DateTime2(7));

#[cfg(test)]
mod tests;
