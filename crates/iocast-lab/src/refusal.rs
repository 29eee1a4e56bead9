//! Why the device could not be made: what and where, and the way out.

use std::fmt;

/// The crate's result.
pub type Result<T> = std::result::Result<T, Refusal>;

/// A message that says what and where, and a hint that says the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What and where.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Refusal {
    /// Both parts.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhint: {}", self.message, self.hint)
    }
}
