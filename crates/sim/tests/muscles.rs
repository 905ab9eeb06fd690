//! Muscles against closed forms: force and length of a bar, volume, and moment arms.

#[path = "muscles/arm.rs"]
mod arm;
#[path = "muscles/bar.rs"]
mod bar;
#[path = "muscles/line.rs"]
mod line;
#[path = "muscles/validation.rs"]
mod validation;
