//! Tests that run in a separate process, whose settings and counters do not affect other tests.
//!
//! The process runs the test executable again, with one test as its filter.

use std::process::Command;

/// The first statement of a test: runs the test in a separate process, and continues in that process only.
///
/// For tests that set the page pool's limit, plant a bug, install another VFS, or read a counter of the process.
#[macro_export]
macro_rules! own_process {
    () => {
        fn here() {}
        if $crate::own_process::passed_elsewhere(std::any::type_name_of_val(&here)) {
            return;
        }
    };
}

/// A command that runs one test of this executable by its name, modules included.
///
/// If `SELENITE_TEST_RUNNER` is set, the executable was started by that program, an emulator or a loader, and is started
/// by it again: a program and its arguments, one a line.
///
/// # Panics
/// If the path of the executable is unknown.
#[must_use]
pub fn test_command(name: &str) -> Command {
    let mut command = match std::env::var(RUNNER_VARIABLE) {
        Ok(runner) => {
            let mut words = runner.lines();
            let mut command = Command::new(words.next().expect("the variable is not empty"));
            // The system knows the path of the runner, which passes on the executable's.
            let executable = std::env::args_os().next();
            command
                .args(words)
                .arg(executable.expect("a runner names its executable"));
            command
        }
        Err(_) => Command::new(std::env::current_exe().expect("the system names a process's executable")),
    };
    command.args([name, "--exact", "--include-ignored", "--nocapture", "--test-threads=1"]);
    command
}

/// Returns false in the process that runs the one test. Elsewhere it starts that process, and
/// returns true when the test has passed. `here` is the path of a function in the test.
///
/// # Panics
/// If the test fails.
#[doc(hidden)]
#[must_use]
pub fn passed_elsewhere(here: &str) -> bool {
    let test = test_of(here);
    if std::env::var(TEST_VARIABLE).is_ok_and(|named| named == test) {
        return false;
    }
    let output = test_command(test)
        .env(TEST_VARIABLE, test)
        .output()
        .expect("an executable that runs can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success() && said.contains("test result: ok. 1 passed"),
        "{test} in a process of its own: {}",
        output.status
    );
    true
}

/// Removes the executable and the function in the test from `executable::module::test::here`.
fn test_of(here: &str) -> &str {
    let (_, path) = here.split_once("::").unwrap_or(("", here));
    path.rsplit_once("::").map_or(path, |(test, _)| test)
}

/// The environment variable that contains the name of the test to run.
const TEST_VARIABLE: &str = "SELENITE_TEST_OWN_PROCESS";
/// The environment variable that contains what starts the executable.
const RUNNER_VARIABLE: &str = "SELENITE_TEST_RUNNER";

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    static COUNT: AtomicU32 = AtomicU32::new(0);

    fn count_alone() {
        assert_eq!(
            COUNT.fetch_add(1, Ordering::SeqCst),
            0,
            "another test has counted in this process"
        );
    }

    #[test]
    fn a_test_in_its_own_process_counts_alone() {
        own_process!();
        count_alone();
    }

    #[test]
    fn so_does_another() {
        own_process!();
        count_alone();
    }

    #[test]
    fn a_failure_in_it_is_one_of_the_test() {
        let failed =
            std::panic::catch_unwind(|| super::passed_elsewhere("crate::own_process::tests::no_such_test::here"));
        assert!(failed.is_err());
    }
}
