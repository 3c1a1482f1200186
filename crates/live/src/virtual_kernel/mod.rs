//! The command `virtual`: starts a user-mode Linux in virtual time with this program as its first
//! process, hands it the request, and passes its events on.
//!
//! The kernel reads the host's files and writes into one folder, which this process makes and
//! removes. It ends with this process.

mod host_core;
mod lines;
mod memory;

use crate::events::{self, Failure};
use crate::guest::{EVENTS, REQUEST};
use crate::linux::{self, Clock, socket};
use crate::run_control::end_with_parent;
use cwndlab_scenario::CheckedScenario;
use host_core::Core;
use lines::Lines;
use serde::Deserialize;
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fs;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Pause between two looks at the events.
const PAUSE: Duration = Duration::from_millis(5);
/// The longest time without an event: a hundredth of a run with a million packets takes minutes.
const SILENCE: Duration = Duration::from_secs(900);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    /// The scenario; none for what the kernel says of itself.
    scenario: Option<Value>,
    parent: Option<i32>,
    /// The kernel's binary.
    kernel: PathBuf,
}

/// Runs the request on standard input.
pub fn run() -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::broken("virtual kernel", error);
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(failed)?;
    let Form { scenario, parent, kernel } = serde_json::from_str(&text)
        .map_err(|error| Failure::refused(format!("request: {error}")))?;
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stopped)).map_err(failed)?;
    }
    end_with_parent(parent, libc::SIGTERM)?;
    let directory = std::env::current_dir().map_err(failed)?;
    // The guest checks the scenario again; here it tells the memory and the seed.
    let checked = scenario.as_ref().map(crate::request::checked).transpose()?;
    checked.as_ref().map(|found| linux::check(found, Clock::Virtual)).transpose()?;
    remove_left_folders();
    let prefix = format!("{FOLDER}{}-", std::process::id());
    let folder = tempfile::Builder::new().prefix(&prefix).tempdir().map_err(failed)?;
    let request = serde_json::json!({ "scenario": scenario, "directory": directory });
    fs::write(folder.path().join(REQUEST), request.to_string()).map_err(failed)?;
    let core = Core::choose();
    let mut guest = start(&kernel, folder.path(), checked.as_ref(), &core)?;
    let done = follow(&mut guest, folder.path(), &stopped);
    // SIGKILL, because a guest that waits does not see another signal; without an effect on one
    // that has ended.
    let _ = guest.kill();
    let _ = guest.wait();
    done
}

/// Starts the kernel.
fn start(
    kernel: &Path,
    folder: &Path,
    scenario: Option<&CheckedScenario>,
    core: &Core,
) -> Result<Child, Failure> {
    let failed = |error: std::io::Error| Failure::broken("virtual kernel", error);
    let memory = scenario.map_or(memory::LEAST, memory::needed);
    let store = memory::folder(memory, folder)?;
    let console = fs::File::create(folder.join(CONSOLE)).map_err(failed)?;
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(kernel);
    command
        .arg(format!("mem={}M", memory >> 20))
        .args(["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet"])
        .args(["time-travel=inf-cpu", "time-travel-start=0", "norandmaps"])
        .args(["con=null", "con0=null,fd:1", "console=tty0"])
        .args(["umid=run".to_string(), format!("uml_dir={}/", folder.display())])
        .arg(format!("init={}", program.display()))
        .args(["--".to_string(), "guest".to_string(), folder.display().to_string()])
        .env_clear()
        .env("CWNDLAB_SEED", scenario.map_or(0, |scenario| scenario.seed).to_string())
        .env("TMPDIR", store)
        .stdin(Stdio::null())
        .stdout(console.try_clone().map_err(failed)?)
        .stderr(console)
        // Ctrl-C in a terminal is for this process.
        .process_group(0);
    socket::prepare_guest(&mut command, core.number);
    command
        .spawn()
        .map_err(|error| Failure::refused(format!("virtual kernel {}: {error}", kernel.display())))
}

/// How the names of the folders of runs begin; the process follows.
const FOLDER: &str = "cwndlab-virtual-";

/// Removes the folders of processes that were killed before they could.
fn remove_left_folders() {
    let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(FOLDER)?.split_once('-'));
        let is_left = |(process, _): (&str, &str)| {
            process.parse::<u32>().is_ok() && !Path::new("/proc").join(process).exists()
        };
        if process.is_some_and(is_left) {
            // Of another user, it stays.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The output of the kernel, in the folder of the run.
const CONSOLE: &str = "console";

/// Passes events on until the run's result.
fn follow(guest: &mut Child, folder: &Path, stopped: &AtomicBool) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::broken("virtual kernel", error);
    let (mut events, mut last) = (Lines::new(folder.join(EVENTS)), Instant::now());
    loop {
        // Read after the end once more: the last events may have come before it.
        let ended = guest.try_wait().map_err(failed)?;
        while let Some(line) = events.next().map_err(failed)? {
            last = Instant::now();
            if line.starts_with(&kind("error")) {
                let error: Value = serde_json::from_str(&line).unwrap_or_default();
                let code = error["code"].as_u64().unwrap_or(1) as u8;
                let message = error["message"].as_str().unwrap_or_default().to_string();
                return Err(Failure { message, code });
            }
            events::send_line(&line);
            if ["result", "answer"].iter().any(|last| line.starts_with(&kind(last))) {
                return Ok(());
            }
        }
        if stopped.load(Ordering::Relaxed) {
            return Err(Failure::broken("virtual kernel", "stopped"));
        }
        if let Some(status) = ended {
            return Err(ended_early(folder, status));
        }
        if last.elapsed() > SILENCE {
            let silence = format!("no event for {} s", SILENCE.as_secs());
            return Err(Failure::broken("virtual kernel", silence));
        }
        thread::sleep(PAUSE);
    }
}

/// How the line of an event begins.
fn kind(event: &str) -> String {
    format!("{{\"event\":\"{event}\"")
}

/// Why a kernel ended without a result: its panic, its message on errors, or a signal.
fn ended_early(folder: &Path, status: std::process::ExitStatus) -> Failure {
    let console = fs::read(folder.join(CONSOLE)).unwrap_or_default();
    let console = String::from_utf8_lossy(&console);
    let panic = console.lines().find_map(|line| line.split_once("Kernel panic - not syncing: "));
    let why = match (panic, status.signal()) {
        (Some((_, why)), _) => format!("the kernel panicked: {}", why.trim()),
        (None, Some(libc::SIGBUS)) => "its memory is full: set TMPDIR to a folder with more".into(),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => {
            let last = console.lines().rev().find(|line| !line.trim().is_empty());
            format!("ended without a result: {}", last.unwrap_or("it said nothing").trim())
        }
    };
    Failure::broken("virtual kernel", why)
}
