//! Waking a thread out of a blocking system call: a signal whose handler does nothing.
//!
//! SIGURG, because by default it is ignored: a stray one harms nobody. No SA_RESTART, so that the call
//! returns EINTR.

use std::os::unix::thread::JoinHandleExt;
use std::thread::JoinHandle;

extern "C" fn nothing(_signal: libc::c_int) {}

/// Installs the handler, unless the process already has one for this signal.
pub fn install_waker() {
    // SAFETY: sigaction is plain data; the handler is async-signal-safe because it does nothing.
    unsafe {
        let mut old = std::mem::zeroed::<libc::sigaction>();
        libc::sigaction(libc::SIGURG, std::ptr::null(), &mut old);
        if old.sa_sigaction != libc::SIG_DFL && old.sa_sigaction != libc::SIG_IGN {
            return;
        }
        let mut new = std::mem::zeroed::<libc::sigaction>();
        new.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        libc::sigemptyset(&mut new.sa_mask);
        libc::sigaction(libc::SIGURG, &new, std::ptr::null_mut());
    }
}

/// Leaves every other signal to the threads that wait for it: called by each worker for itself.
pub fn only_waker() {
    // SAFETY: sigset_t is plain data; the mask of the calling thread alone is changed.
    unsafe {
        let mut others = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&mut others);
        libc::sigdelset(&mut others, libc::SIGURG);
        libc::pthread_sigmask(libc::SIG_SETMASK, &others, std::ptr::null_mut());
    }
}

/// Wakes a thread.
pub fn wake(thread: &JoinHandle<()>) {
    // SAFETY: a handle that was not joined keeps the thread's id valid; the signal's handler does nothing.
    unsafe {
        libc::pthread_kill(thread.as_pthread_t(), libc::SIGURG);
    }
}
