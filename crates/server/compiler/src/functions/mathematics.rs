//! Mathematical functions.
//!
//! - `small-numbers-as-int-and-float`: integers below int are computed as int, and bits as float, as
//!   in SQL Server's tables of result types.
//! - `no-nan-or-infinity`: a result that is not a number (a root of a negative number, 0 to the
//!   power of -1) is error 3623 or 8115, never NaN or infinity.

use selenite_types::DataType;

use super::typing::{Typing, number_type};
use super::{Function, Rule};

mod bits;
mod exact;
mod float;
mod power;
mod random;
mod round;
mod series;

use Rule::{Bits, Float, Int, Number, Whole};
pub(crate) use series::GENERATE_SERIES;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("abs", &[Number], NUMBER, exact::abs),
    Function::new("acos", &[Float], FLOAT, float::acos),
    Function::new("asin", &[Float], FLOAT, float::asin),
    Function::new("atan", &[Float], FLOAT, float::atan),
    Function::new("atn2", &[Float, Float], FLOAT, float::atn2),
    Function::new("bit_count", &[Bits], Typing::Is(DataType::BigInt), bits::bit_count),
    Function::new("ceiling", &[Number], Typing::By(exact::whole_type), exact::ceiling),
    Function::new("cos", &[Float], FLOAT, float::cos),
    Function::new("cot", &[Float], FLOAT, float::cot),
    Function::new("degrees", &[Number], Typing::By(power::angle_type), power::degrees),
    Function::new("exp", &[Float], FLOAT, float::exp),
    Function::new("floor", &[Number], Typing::By(exact::whole_type), exact::floor),
    Function::new("left_shift", &[Bits, Whole], Typing::By(bits::same), bits::left_shift),
    Function::new("log", &[Float, Float], FLOAT, float::log).optional(1),
    Function::new("log10", &[Float], FLOAT, float::log10),
    Function::new("pi", &[], FLOAT, float::pi).never_null(),
    Function::new("power", &[Number, Float], Typing::By(power::power_type), power::power),
    Function::new("radians", &[Number], Typing::By(power::angle_type), power::radians),
    Function::new("rand", &[Int], FLOAT, random::rand)
        .optional(1)
        .taking_nulls()
        .of_statement(),
    Function::new("right_shift", &[Bits, Whole], Typing::By(bits::same), bits::right_shift),
    Function::new("round", &[Number, Int, Int], NUMBER, round::round).optional(1),
    Function::new("sign", &[Number], NUMBER, exact::sign),
    Function::new("sin", &[Float], FLOAT, float::sin),
    Function::new("sqrt", &[Float], FLOAT, float::sqrt),
    Function::new("square", &[Float], FLOAT, float::square),
    Function::new("tan", &[Float], FLOAT, float::tan),
];

const FLOAT: Typing = Typing::Is(DataType::Float);
const NUMBER: Typing = Typing::By(number_type);

#[cfg(test)]
mod tests;
