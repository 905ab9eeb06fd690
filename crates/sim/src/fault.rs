//! Validation errors: all faults found in a world description, each with the body it concerns.

use core::fmt;

/// A reason why no model can be built from a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The body it concerns; empty for the world itself.
    pub body: String,
    /// What is wrong, by how much, and how to fix it.
    pub what: String,
}

/// All faults of a world description.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildError {
    /// All faults found, not only the first.
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
