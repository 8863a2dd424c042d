//! How far long work has come, told where there is no terminal.

use dervish_training::commands::progress::{LINE_EVERY, LineClock, time_left};
use std::time::{Duration, Instant};

#[test]
fn a_line_is_due_every_quarter_of_a_minute() {
    let begun = Instant::now();
    let after = |seconds: u64| begun + Duration::from_secs(seconds);
    assert_eq!(LINE_EVERY, Duration::from_secs(15));
    let mut clock = LineClock::new(LINE_EVERY, begun);
    let due: Vec<u64> = (0..=60).filter(|&second| clock.due(after(second))).collect();
    assert_eq!(due, [15, 30, 45, 60]);
    // After a long silence one line, not all that were missed.
    assert!(clock.due(after(200)) && !clock.due(after(214)) && clock.due(after(215)));
}

#[test]
fn what_is_left_takes_as_long_as_what_was_done() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    // 30 games in 60 s: 15 more take 30 s. Three quarters of a session that began at a half took 40 s: the last one as long.
    assert_eq!(time_left(30.0, 15.0, Duration::from_secs(60)), seconds(30));
    assert_eq!(time_left(0.75 - 0.5, 0.25, Duration::from_secs(40)), seconds(40));
    assert_eq!(time_left(30.0, 0.0, Duration::from_secs(60)), seconds(0));
    // More than all is no debt.
    assert_eq!(time_left(1.5, -0.5, Duration::from_secs(60)), seconds(0));
    // Before the first game nothing is known, nor where the answer is beyond all time.
    assert_eq!(time_left(0.0, 100.0, Duration::ZERO), None);
    assert_eq!(time_left(f64::MIN_POSITIVE, 1.0, Duration::from_secs(60)), None);
}
