//! What keeps a world from being built into a model: every fault found, each with the body it is about.

use core::fmt;

/// Something about a world that no model can be built from.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The body it is about; empty for the world itself.
    pub body: String,
    /// What is wrong, how much, and what to do.
    pub what: String,
}

/// All faults of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildError {
    /// Everything that was found, not only the first.
    pub faults: Vec<Fault>,
}

impl Fault {
    pub(crate) fn new(body: &str, what: impl Into<String>) -> Fault {
        Fault { body: body.into(), what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.body.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "body '{}': {}", self.body, self.what)
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl core::error::Error for BuildError {}
