//! Elementary functions with the same bits on every platform.
//!
//! The standard library calls the system's mathematics library, which differs in the last bit between platforms. These
//! functions come from one portable implementation. IEEE 754 requires `sqrt` and the four basic operations to be correctly
//! rounded, so they need no replacement.

pub use libm::{acos, atan2, cbrt, cos, exp, log as ln, pow, sin};
