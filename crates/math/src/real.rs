//! Elementary functions with the same bits on every platform.
//!
//! The standard library calls the system's mathematics library, which differs in the last bit
//! between platforms; these come from one portable implementation. `sqrt` and the four basic
//! operations are exact by IEEE 754 and need no stand-in.

pub use libm::{acos, atan2, cbrt, cos, exp, log as ln, pow, sin};
