//! A user's next I/O: what and where, when it is due, and the memory and the data that it uses.
//!
//! What and where ([`source`]), when it is due ([`pacing`]), both as one [`stream`]; and the
//! memory that it uses ([`buffers`]) and what is written from it ([`payload`]).

pub mod buffers;
pub mod drawn;
pub mod next_io;
pub mod offsets;
pub mod pacing;
pub mod payload;
pub(crate) mod random;
pub mod recorded;
pub mod scatter;
pub mod source;
pub mod span;
pub mod stepped;
pub mod stream;
pub mod tree_drawn;
