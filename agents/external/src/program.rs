//! A program as a child process that is talked to in lines, with a time for every answer and a certain end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

/// Longest line that a program may say, in bytes without its line break.
pub const LINE_BYTES: usize = 1 << 20;
/// How long a program may take to end by itself once its standard input is closed.
pub const GRACE: Duration = Duration::from_secs(1);
/// How long the status of a program that says no more is waited for.
const STATUS_WAIT: Duration = Duration::from_millis(200);
/// Time between two looks at whether a program has ended.
const POLL: Duration = Duration::from_millis(2);

/// A running program. Its standard error is ours. Dropping it closes its standard input, waits for [`GRACE`] at most, and
/// kills it with all that it has started; it also ends, on Linux, whenever this process does.
#[derive(Debug)]
pub struct Program {
    child: Child,
    /// To the thread that writes; `None` once the input is to be closed.
    lines_in: Option<Sender<String>>,
    /// From the thread that reads; at the end of the output the other end is dropped.
    lines_out: Receiver<Result<String, Silence>>,
    grace: Duration,
}

/// Why a program gave no line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Silence {
    /// It took too long.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Late(Duration),
    /// It has ended, or closed its standard output (no status).
    #[error("{}", ended(.0))]
    Ended(Option<ExitStatus>),
    /// It ended in the middle of a line.
    #[error("the output ended in the middle of a line")]
    CutOff,
    /// It said more than [`LINE_BYTES`] without a line break.
    #[error("a line longer than {LINE_BYTES} bytes")]
    TooLong,
    /// It said something that is no text.
    #[error("a line that is not UTF-8")]
    NotText,
    /// It said something when nothing was asked.
    #[error("an answer to no question")]
    Unasked,
}

fn ended(status: &Option<ExitStatus>) -> String {
    status.map_or("the program closed its output".to_string(), |status| format!("the program ended ({status})"))
}

impl Program {
    /// Starts the program that the first of `words` names with the others as its arguments.
    ///
    /// # Errors
    /// What the system said, such as that there is no such program.
    pub fn start(words: &[String]) -> io::Result<Program> {
        let [name, arguments @ ..] = words else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut command = Command::new(name);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        bind_to_this_process(&mut command);
        let mut child = spawn(command)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (lines_in, to_write) = mpsc::channel();
        let (heard, lines_out) = mpsc::sync_channel(1);
        let program = Program { child, lines_in: Some(lines_in), lines_out, grace: GRACE };
        if let (Some(stdin), Some(stdout)) = (stdin, stdout) {
            thread::Builder::new().name("to program".to_string()).spawn(move || write_lines(stdin, &to_write))?;
            thread::Builder::new().name("from program".to_string()).spawn(move || read_lines(stdout, &heard))?;
        }
        Ok(program)
    }

    /// Hands the program a line. Never waits, however slowly the program reads; that it is gone shows when it is asked.
    pub fn tell(&self, line: String) {
        if let Some(lines_in) = &self.lines_in {
            let _ = lines_in.send(line);
        }
    }

    /// Hands the program a line and waits for the one that answers it.
    ///
    /// # Errors
    /// [`Silence`]; the program is then of no more use.
    pub fn ask(&mut self, line: String, time: Duration) -> Result<String, Silence> {
        match self.lines_out.try_recv() {
            Ok(said) => return Err(said.err().unwrap_or(Silence::Unasked)),
            Err(_) => self.tell(line),
        }
        match self.lines_out.recv_timeout(time) {
            Ok(said) => said,
            Err(RecvTimeoutError::Timeout) => Err(Silence::Late(time)),
            Err(RecvTimeoutError::Disconnected) => Err(Silence::Ended(self.wait(STATUS_WAIT))),
        }
    }

    /// Ends the program at once when it is dropped.
    pub fn condemn(&mut self) {
        self.grace = Duration::ZERO;
    }

    /// The status once the program has ended, `None` if it has not after `time`.
    fn wait(&mut self, time: Duration) -> Option<ExitStatus> {
        let begun = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(None) if begun.elapsed() < time => thread::sleep(POLL),
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.lines_in = None;
        let ended = self.wait(self.grace).is_some();
        // Also what a program that has ended leaves behind. As long as one of its group is left, nobody else has its number,
        // and if none is, numbers are not given out again so soon.
        kill_group(&mut self.child);
        if !ended {
            // A child that was not waited for stays in the table of processes.
            let _ = self.child.wait();
        }
    }
}

/// A command to start, and where the child goes.
type Start = (Command, Sender<io::Result<Child>>);

/// The thread that starts all programs. It lives as long as the process, and so does the thread whose end the system
/// takes for the end of a child's parent.
static STARTER: LazyLock<Sender<Start>> = LazyLock::new(|| {
    let (sender, starts) = mpsc::channel::<Start>();
    let start_all = move || {
        for (mut command, started) in starts {
            let _ = started.send(command.spawn());
        }
    };
    // Where no thread is to be had, nobody receives, and every start fails.
    let _ = thread::Builder::new().name("program starter".to_string()).spawn(start_all);
    sender
});

fn spawn(command: Command) -> io::Result<Child> {
    let no_thread = || io::Error::other("no thread to start it on");
    let (started, child) = mpsc::channel();
    STARTER.send((command, started)).map_err(|_| no_thread())?;
    child.recv().map_err(|_| no_thread())?
}

/// A group of its own: Ctrl-C at the terminal is for us, who then end the program when its game is over.
#[cfg(unix)]
fn bind_to_this_process(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    end_with_parent(command);
}

#[cfg(not(unix))]
fn bind_to_this_process(_command: &mut Command) {}

/// Even where no destructor runs (a second Ctrl-C, a kill), no program is left behind.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn end_with_parent(command: &mut Command) {
    use nix::sys::{prctl, signal::Signal};
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec the closure makes one system call; it takes no lock and allocates nothing.
    unsafe {
        command.pre_exec(|| prctl::set_pdeathsig(Signal::SIGKILL).map_err(io::Error::from));
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn end_with_parent(_command: &mut Command) {}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    if let Ok(group) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    let _ = child.kill();
}

/// Writes until there is nothing more to say or nobody reads; then the input is closed.
fn write_lines(mut stdin: impl Write, lines: &Receiver<String>) {
    for mut line in lines {
        line.push('\n');
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Reads lines until the output ends, a line is none, or nobody listens.
fn read_lines(stdout: impl Read, heard: &SyncSender<Result<String, Silence>>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        // One more for the line break. What cannot be read is an end, too.
        let read = (&mut stdout).take(LINE_BYTES as u64 + 1).read_until(b'\n', &mut line);
        let said = match line.pop() {
            None => return,
            Some(b'\n') => String::from_utf8(line).map_err(|_| Silence::NotText),
            Some(_) if read.is_ok() && line.len() == LINE_BYTES => Err(Silence::TooLong),
            Some(_) => Err(Silence::CutOff),
        };
        let last = said.is_err();
        if heard.send(said).is_err() || last {
            return;
        }
    }
}
