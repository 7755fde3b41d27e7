//! Runs a program that may hang, print without end, or leave children behind.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// Runs a command without input, and returns the start of what it prints, standard error after
/// standard output.
///
/// # Errors
/// Why there is no answer: the program cannot be started, or did not end within the time limit. Then
/// its process group is killed.
pub fn output(command: &mut Command, time_limit: Duration) -> Result<String, String> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = child.map_err(|error| format!("does not start: {error}"))?;
    let group = Pid::from_child(&child);
    let (sender, answer) = mpsc::channel();
    let pipes: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ];
    for (index, pipe) in pipes.into_iter().enumerate() {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(pipe) = pipe {
                // What was read before an error counts.
                let _ = pipe.take(OUTPUT_SIZE_MAX).read_to_end(&mut bytes);
            }
            // The receiver is gone after the time limit.
            let _ = sender.send((index, bytes));
        });
    }
    let mut parts = [const { None }; 2];
    while parts.iter().any(Option::is_none) {
        let Ok((index, bytes)) = answer.recv_timeout(time_limit) else {
            break;
        };
        parts[index] = Some(bytes);
    }
    // An error means that the group has ended.
    let _ = kill_process_group(group, Signal::KILL);
    // It was killed, or has ended.
    let _ = child.wait();
    let [Some(out), Some(error)] = parts else {
        return Err(format!("does not answer within {} s", time_limit.as_secs()));
    };
    Ok(String::from_utf8_lossy(&[out, error].concat()).trim().to_owned())
}

/// 64 KiB: an answer is one line.
const OUTPUT_SIZE_MAX: u64 = 65536;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(script: &str, time_limit: Duration) -> Result<String, String> {
        output(Command::new("/bin/sh").args(["-c", script]), time_limit)
    }

    #[test]
    fn the_output_of_a_program_is_read() {
        let long = Duration::from_secs(60);
        assert_eq!(of("echo out; echo error >&2", long).unwrap(), "out\nerror");
        assert_eq!(of("exec 1>&- 2>&-", long).unwrap(), "");
        assert!(
            output(&mut Command::new("/nowhere/x"), long)
                .unwrap_err()
                .contains("does not start")
        );
    }

    #[test]
    fn a_program_that_hangs_or_prints_without_end_is_stopped() {
        let error = of("echo begun; exec tail -f /dev/null", Duration::from_millis(50)).unwrap_err();
        assert!(error.starts_with("does not answer within"), "{error}");
        assert!(of("exec 2>&-; yes", Duration::from_secs(60)).unwrap().len() <= 65536);
    }
}
