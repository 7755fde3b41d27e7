//! `selenite plan`: one file for each of its commands.

pub mod calibrate;

use crate::arguments::plan::PlanCommand;
use crate::complaint::Complaint;

pub fn run(command: &PlanCommand) -> Result<(), Complaint> {
    match command {
        PlanCommand::Calibrate(calibrate) => calibrate::run(calibrate),
    }
}
