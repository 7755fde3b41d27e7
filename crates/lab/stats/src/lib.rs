//! Statistics of paired measurements that were taken in sessions.
//!
//! - nothing-is-deleted: no measurement is deleted; estimators are robust instead.
//! - sessions-are-the-sample: sessions, not pairs, are the sample: pairs of one session share what
//!   is particular to that session.
//! - total-functions: every function is total: what cannot be estimated is `None`, and no end of an
//!   interval is NaN.
//!
//! Effects are differences of logarithms, `ln(arm / control)`; the caller converts them to ratios.
#![forbid(unsafe_code)]

mod bootstrap;
mod confidence_sequence;
mod estimate;
mod forecast;
mod hodges_lehmann;
mod holm;
mod interval;
mod moments;
mod outliers;
mod precision;
mod precision_plan;
mod sequential_method;
mod signed_rank;
mod steady_state;
mod student;
mod verdict;
mod walsh_averages;

pub use bootstrap::{bca_interval, hierarchical_interval};
pub use confidence_sequence::{confidence_sequence, sequence_p_value};
pub use estimate::{Estimate, estimate, session_estimates};
pub use forecast::{sessions_for, sessions_to_clear, sessions_to_clear_by_sequence, smallest_effect};
pub use hodges_lehmann::hodges_lehmann;
pub use holm::holm;
pub use interval::{Interval, Options};
pub use outliers::{median, outliers};
pub use precision::is_precise;
pub use precision_plan::{PilotNoise, PrecisionPlan, StudyCost, precision_plan};
pub use sequential_method::{MethodErrors, SequentialMethod, SessionCourse, sequential_errors};
pub use signed_rank::signed_rank_interval;
pub use steady_state::{SteadyState, steady_from};
pub use student::{t_interval, t_p_value, t_quantile};
pub use verdict::{SESSIONS_MIN, Verdict, verdict};
