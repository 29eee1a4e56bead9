//! Trees of files: their shape as numbers, their names, the directories that are held open; made, looked at, removed.
//!
//! Nothing is kept of a file but a bit: its name, its directory and its size follow from its number. Every call goes
//! to one name in a directory that is held by a descriptor, so that no link and no renamed directory leads elsewhere.

pub mod directories;
pub mod look;
pub mod make;
pub mod name_watch;
pub mod number_set;
pub mod ours;
pub mod removal;
pub mod shape;
pub mod work;
