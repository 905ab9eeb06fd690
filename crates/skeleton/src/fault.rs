//! Faults of a skeleton description, reported together.

use core::fmt;

/// One fault of a description.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The bone concerned; empty for the skeleton itself.
    pub bone: String,
    /// What is wrong, how much, and what to do.
    pub what: String,
}

/// All faults of a description.
#[derive(Clone, Debug, PartialEq)]
pub struct SkeletonError {
    /// All faults, not only the first.
    pub faults: Vec<Fault>,
}

impl Fault {
    pub(crate) fn new(bone: &str, what: impl Into<String>) -> Fault {
        Fault { bone: bone.into(), what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bone.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "bone '{}': {}", self.bone, self.what)
        }
    }
}

impl fmt::Display for SkeletonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl core::error::Error for SkeletonError {}
