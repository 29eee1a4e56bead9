//! `iocast-lab FILE [name=value ...]`: a storage device whose answers are known, because they were told.
//!
//! Requests come in on a few FUSE threads (`device`), `schedule` says when each ends (`service`: how long it
//! takes), `answers` waits for that time and answers. `guard` is a second process that takes the mount away
//! whatever becomes of the first.

mod answers;
mod awake;
mod device;
mod guard;
mod lies;
mod memory;
mod options;
mod place;
mod refusal;
mod schedule;
mod service;
mod units;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use rustix::process::{Signal, geteuid, getpid, kill_process};

use crate::device::{Device, Served};
use crate::guard::Guard;
use crate::options::Options;
use crate::place::Place;
use crate::refusal::{Refusal, Result};

/// The transport is measured on reads of about the told latency, for longer sleeps end later.
const PROBE_NS: std::ops::RangeInclusive<u64> = 100_000..=1_000_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        None | Some("-h" | "--help") => {
            let _ = std::io::stdout().write_all(options::help().as_bytes());
            return if arguments.is_empty() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
        Some(file) => {
            if let Err(refusal) = run(file, &arguments[1..]) {
                let _ = writeln!(std::io::stderr(), "{refusal}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}

/// Serves until a signal or an unmount ends it.
fn run(file: &str, texts: &[String]) -> Result<()> {
    let options = Arc::new(options::parse(texts)?);
    let place = Place::find(file).map_err(|what| {
        Refusal::new(format!("{file}: {what}"), "give a file, or a new name in an existing directory")
    })?;
    let signals = Signals::block();
    let mut guard =
        Guard::start(&place).map_err(|e| Refusal::new(format!("cannot fork: {e}"), "free some memory"))?;
    let _awake = awake::hold();
    let device = Device::new(Arc::clone(&options)).map_err(|e| {
        Refusal::new(format!("no memory for size={}: {e}", options.size_bytes), "ask for a smaller size")
    })?;
    let device = Arc::new(device);
    let session = mount(place.path(), Arc::clone(&device), options.threads);
    let served = session.and_then(|session| {
        let transport_ns = measure_transport(&device, &options, &mut guard)?;
        let told = format!(
            "ready {} size={} transport={:.1}us\n",
            place.path().display(),
            options.size_bytes,
            transport_ns as f64 / 1e3
        );
        let _ = std::io::stdout().write_all(told.as_bytes()).and_then(|()| std::io::stdout().flush());
        signals.wait_with(session);
        Ok(())
    });
    place.leave();
    guard.dismiss();
    served
}

fn mount(path: &Path, device: Arc<Device>, threads: usize) -> Result<BackgroundSession> {
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("iocast-lab".into()),
        MountOption::Subtype("iocast-lab".into()),
        MountOption::DefaultPermissions,
    ];
    config.acl = SessionACL::All;
    config.n_threads = Some(threads);
    let hint = if geteuid().is_root() {
        "load FUSE with `modprobe fuse`; in a container, add --device /dev/fuse --cap-add SYS_ADMIN"
    } else {
        "run it as root"
    };
    Session::new(Served(device), path, &config)
        .and_then(Session::spawn)
        .map_err(|e| Refusal::new(format!("{}: cannot mount: {e}", path.display()), hint))
}

/// What the way through the kernel adds to an answer, from now on taken off, in ns.
fn measure_transport(device: &Device, options: &Options, guard: &mut Guard) -> Result<u64> {
    if let Some(told_ns) = options.transport_ns {
        return Ok(told_ns);
    }
    let probe_ns = options.read_ns.clamp(*PROBE_NS.start(), *PROBE_NS.end());
    device.probe(probe_ns);
    let measured = guard.read_ns(probe_ns);
    device.probe(0);
    let typical_ns = measured.map_err(|e| {
        Refusal::new(format!("cannot measure the transport: {e}"), "set it: transport=10us, or transport=0us")
    })?;
    let transport_ns = typical_ns.saturating_sub(probe_ns);
    device.set_transport_ns(transport_ns);
    Ok(transport_ns)
}

/// The signals that end the device, blocked in all threads.
struct Signals(libc::sigset_t);

impl Signals {
    /// To be called before there are threads.
    fn block() -> Signals {
        // SAFETY: a set of signals is plain data that sigemptyset fills.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::sigaddset(&mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            Signals(set)
        }
    }

    /// Returns when one of them comes, or when the session ends because somebody unmounted the file.
    fn wait_with(&self, session: BackgroundSession) {
        std::thread::spawn(move || {
            let _ = session.guard.join();
            // This process waits for it.
            let _ = kill_process(getpid(), Signal::TERM);
        });
        let mut signal = 0;
        // SAFETY: waits for one of the set.
        unsafe { libc::sigwait(&self.0, &mut signal) };
    }
}
