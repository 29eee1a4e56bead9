//! What is said of each line: an event, ignored by a rule, or broken at a column.

/// Why a line is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Byte of the line, from 1.
    pub column: usize,
    /// The rule it breaks.
    pub rule: &'static str,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// An event, or part of one.
    Accepted,
    /// None, by this rule.
    Ignored(&'static str),
}

/// What a line is, or the rule that it breaks.
pub type Verdict = std::result::Result<Taken, Broken>;
