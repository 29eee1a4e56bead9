//! `SimWorld`: what a simulated device remembers between the phases of a run.

use std::sync::{Arc, Mutex};

use super::machine::Machine;

/// The simulated device between the phases of a run. A fresh one holds a device as it is delivered.
#[derive(Clone, Debug, Default)]
pub struct SimWorld {
    machine: Arc<Mutex<Option<Box<Machine>>>>,
}

impl SimWorld {
    /// The same device as it is now, to go another way from here.
    pub fn copied(&self) -> SimWorld {
        let machine = self.machine.lock().expect("no engine panics while it holds it").clone();
        SimWorld { machine: Arc::new(Mutex::new(machine)) }
    }

    /// Hands out the device that was kept, to be kept again at the end of the phase.
    pub(super) fn take(&self) -> Option<Box<Machine>> {
        self.machine.lock().expect("no engine panics while it holds it").take()
    }

    /// Keeps a device for the next phase.
    pub(super) fn keep(&self, machine: Box<Machine>) {
        *self.machine.lock().expect("no engine panics while it holds it") = Some(machine);
    }
}
