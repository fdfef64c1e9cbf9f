//! Feeds a reader with one input after the other, and holds each to the bounds: no panic, a second of computing (in an optimised build), 64 MB.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use crate::chance::{Chance, cases, seeds};
use crate::mutate::mutated;

/// The most that one input may cost in computing. It is not counted while others use the processor. The promise is of a build
/// with optimisation, as it is installed and as a night runs; one without takes up to eight times as long (GOALS.yaml).
const MOST_TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 4 } else { 1 });
/// The most memory that reading one input may hold at a time, in bytes.
const MOST_MEMORY: u64 = 64 << 20;
/// How long a reader may be silent before it counts as hanging; far beyond the bound, for a busy machine.
const HANGS: Duration = Duration::from_secs(120);
/// How much of an input a message shows, in bytes.
const SHOWN: usize = 400;

/// How many inputs of a format are made for one change, and for a night.
pub const INPUTS: (u64, u64) = (1_000, 1_000_000);

/// What the inputs of a format are made of.
pub struct Format {
    /// Its name, and that of its test.
    pub name: &'static str,
    /// Whole inputs, taken as they are and mutated.
    pub samples: Vec<Vec<u8>>,
    /// Words that mean something in the format.
    pub words: Vec<&'static str>,
}

/// Feeds `take` with the samples of a format, and with mutations of them. `take` panics where something is wrong.
#[track_caller]
pub fn feed(format: Format, take: impl Fn(&[u8]) + Send + 'static) {
    feed_so_many(INPUTS, format, take);
}

/// Feeds `take` like `feed`, with another number of inputs for a change and for a night.
#[track_caller]
pub fn feed_so_many(
    (change, night): (u64, u64),
    format: Format,
    take: impl Fn(&[u8]) + Send + 'static,
) {
    let name = format.name;
    let (report, reports) = channel();
    // A thread of its own, with the stack that every thread has: an input that needs more would end the program.
    let feeder = std::thread::Builder::new().name(name.to_owned());
    let feeder = feeder.spawn(move || {
        for (index, sample) in format.samples.iter().enumerate() {
            let _ = report.send(format!("sample {index}"));
            bounded(&format!("{name}: sample {index}"), sample, &take);
        }
        for seed in seeds(cases(change, night)) {
            let _ = report.send(format!("SEED={seed}"));
            let input = mutated(&format, &mut Chance::of(seed));
            let named = format!("SEED={seed} cargo test --test fuzz {name}");
            bounded(&named, &input, &take);
        }
    });
    let feeder = feeder.expect("a thread");
    let mut newest = String::new();
    loop {
        match reports.recv_timeout(HANGS) {
            Ok(input) => newest = input,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("{name} hangs: {newest}"),
        }
    }
    assert!(feeder.join().is_ok(), "{name} failed, see above");
}

/// Takes one input within the bounds.
fn bounded(named: &str, input: &[u8], take: &impl Fn(&[u8])) {
    let before = computed();
    let mut ended = Ok(());
    let memory = allocation_counter::measure(|| {
        ended = catch_unwind(AssertUnwindSafe(|| take(input)));
    });
    let time = computed().saturating_sub(before);
    let shown = input[..input.len().min(SHOWN)].escape_ascii();
    let size = input.len();
    assert!(ended.is_ok(), "{named}\n{size} bytes: {shown}");
    assert!(
        time <= MOST_TIME,
        "{named}\ntook {time:?}\n{size} bytes: {shown}"
    );
    assert!(
        memory.bytes_max <= MOST_MEMORY,
        "{named}\nheld {} bytes\n{size} bytes: {shown}",
        memory.bytes_max
    );
}

/// Returns how long this thread has computed.
fn computed() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .expect("every thread has a clock")
        .into()
}
