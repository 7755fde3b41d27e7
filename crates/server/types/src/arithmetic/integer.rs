//! Checked integer arithmetic.

use super::OperationError;
use crate::DataType;

/// tinyint, smallint, int and bigint as Rust integers.
///
/// An evaluator with typed slots calls these functions; each is a few instructions. Overflow is error 8115 with the
/// type's name, a divisor of 0 is error 8134. As in SQL Server, the minimum divided by -1 overflows, and so does its
/// remainder.
pub trait Integer: Copy + Sized {
    /// The type of the number.
    const TYPE: DataType;

    /// `+`
    fn plus(self, other: Self) -> Result<Self, OperationError>;
    /// `-`
    fn minus(self, other: Self) -> Result<Self, OperationError>;
    /// `*`
    fn times(self, other: Self) -> Result<Self, OperationError>;
    /// `/`, truncated towards zero.
    fn over(self, other: Self) -> Result<Self, OperationError>;
    /// `%`, with the sign of `self`.
    fn modulo(self, other: Self) -> Result<Self, OperationError>;
}

macro_rules! integer {
    ($($number:ty => $data_type:expr),*) => {$(
        impl Integer for $number {
            const TYPE: DataType = $data_type;

            #[inline]
            fn plus(self, other: Self) -> Result<Self, OperationError> {
                self.checked_add(other).ok_or_else(overflow::<Self>)
            }

            #[inline]
            fn minus(self, other: Self) -> Result<Self, OperationError> {
                self.checked_sub(other).ok_or_else(overflow::<Self>)
            }

            #[inline]
            fn times(self, other: Self) -> Result<Self, OperationError> {
                self.checked_mul(other).ok_or_else(overflow::<Self>)
            }

            #[inline]
            fn over(self, other: Self) -> Result<Self, OperationError> {
                self.checked_div(other).ok_or_else(|| division_error::<Self>(other == 0))
            }

            #[inline]
            fn modulo(self, other: Self) -> Result<Self, OperationError> {
                self.checked_rem(other).ok_or_else(|| division_error::<Self>(other == 0))
            }
        }
    )*};
}

integer!(u8 => DataType::TinyInt, i16 => DataType::SmallInt, i32 => DataType::Int, i64 => DataType::BigInt);

#[cold]
fn overflow<T: Integer>() -> OperationError {
    OperationError::Overflow { to: T::TYPE }
}

#[cold]
fn division_error<T: Integer>(by_zero: bool) -> OperationError {
    if by_zero {
        OperationError::DivideByZero
    } else {
        overflow::<T>()
    }
}
