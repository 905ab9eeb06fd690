//! Cloth, shells and springs: stiffness, energy, contact, solvers and determinism.

#[path = "cloth/bending.rs"]
mod bending;
#[path = "cloth/contact.rs"]
mod contact;
#[path = "cloth/sheets.rs"]
mod sheets;
#[path = "cloth/solid.rs"]
mod solid;
#[path = "cloth/stretch.rs"]
mod stretch;
