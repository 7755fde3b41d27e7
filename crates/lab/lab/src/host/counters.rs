//! Parsers of the kernel's counters.

/// CPU time of all processors since boot, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Used by processes and the kernel, including interrupts.
    pub busy: u64,
    /// Idle.
    pub idle: u64,
    /// Given to other guests by the hypervisor.
    pub steal: u64,
}

impl CpuTimes {
    /// Parses the first line of /proc/stat (proc_stat(5)). User time already includes that of guests.
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.lines().next()?.split_whitespace();
        if fields.next()? != "cpu" {
            return None;
        }
        let numbers: Result<Vec<u64>, _> = fields.map(str::parse).collect();
        let numbers = numbers.ok()?;
        let [user, nice, system, idle, iowait, irq, softirq, steal] = *numbers.first_chunk::<8>()?;
        Some(Self {
            busy: user + nice + system + irq + softirq,
            idle: idle + iowait,
            steal,
        })
    }

    /// The difference from an earlier reading; a counter that decreased counts as 0.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(earlier.busy),
            idle: self.idle.saturating_sub(earlier.idle),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    /// The sum of all states.
    pub fn total(self) -> u64 {
        self.busy + self.idle + self.steal
    }
}

/// CPU ticks of a process and of its reaped children, from /proc/PID/stat (proc_pid_stat(5)).
pub fn process_ticks(text: &str) -> Option<u64> {
    // The name is in parentheses and may contain any characters.
    let fields = text.get(text.rfind(')')? + 1..)?;
    let times: Vec<u64> = fields
        .split_whitespace()
        .skip(11)
        .take(4)
        .map(|time| time.parse().unwrap_or(0))
        .collect();
    (times.len() == 4).then(|| times.iter().sum())
}

/// Microseconds that some task waited: `total` of the line `some` of a file in /proc/pressure.
pub fn pressure_total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split_whitespace().find_map(|field| field.strip_prefix("total="))?;
    total.parse().ok()
}

/// A number of /proc/vmstat, or of /proc/meminfo in its unit.
pub fn named_number(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut line| {
        let is_it = line.next()?.trim_end_matches(':') == name;
        line.next().filter(|_| is_it)?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_times_are_those_of_all_processors() {
        let text = "cpu  100 20 30 400 50 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 12\n";
        let times = CpuTimes::parse(text).unwrap();
        assert_eq!(
            times,
            CpuTimes {
                busy: 163,
                idle: 450,
                steal: 8
            }
        );
        assert_eq!(times.total(), 621);
        let earlier = CpuTimes {
            busy: 160,
            idle: 500,
            steal: 0,
        };
        assert_eq!(
            times.since(earlier),
            CpuTimes {
                busy: 3,
                idle: 0,
                steal: 8
            }
        );
    }

    #[test]
    fn an_invalid_text_has_no_cpu_times() {
        for text in [
            "",
            "cpu",
            "cpu 1 2 3",
            "cpu0 1 2 3 4 5 6 7 8",
            "cpu 1 2 3 4 5 6 7 x",
            "cpu -1 2 3 4 5 6 7 8",
        ] {
            assert_eq!(CpuTimes::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_process_may_have_parentheses_in_its_name() {
        let text = "42 (a) b (c)) S 1 42 42 0 -1 4194560 100 0 0 0 11 22 3 4 20 0 1 0 500 1000 10";
        assert_eq!(process_ticks(text), Some(40));
        for rubbish in ["", "42 (a", "42 (a) S 1", ")"] {
            assert_eq!(process_ticks(rubbish), None, "{rubbish:?}");
        }
    }

    #[test]
    fn pressure_is_that_of_some_tasks() {
        let text =
            "some avg10=0.64 avg60=1.96 avg300=2.96 total=4667986565\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n";
        assert_eq!(pressure_total(text), Some(4_667_986_565));
        for rubbish in ["", "full total=3", "some avg10=1", "some total=x"] {
            assert_eq!(pressure_total(rubbish), None, "{rubbish:?}");
        }
    }

    #[test]
    fn numbers_are_found_by_their_whole_name() {
        assert_eq!(named_number("pswpinx 1\npswpin 25\npswpout 3\n", "pswpin"), Some(25));
        assert_eq!(
            named_number("MemTotal:       24684096 kB\n", "MemTotal"),
            Some(24_684_096)
        );
        assert_eq!(named_number("pswpin\n", "pswpin"), None);
        assert_eq!(named_number("", "pswpin"), None);
    }
}
