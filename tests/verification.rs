//! Closed forms and conservation laws.

#[path = "verification/balance.rs"]
mod balance;
#[path = "verification/bodies.rs"]
mod bodies;
#[path = "verification/bumping.rs"]
mod bumping;
#[path = "verification/cantilever.rs"]
mod cantilever;
#[path = "verification/conservation.rs"]
mod conservation;
#[path = "verification/constraint.rs"]
mod constraint;
#[path = "verification/contact.rs"]
mod contact;
#[path = "verification/contact_bodies.rs"]
mod contact_bodies;
#[path = "verification/contact_materials.rs"]
mod contact_materials;
#[path = "verification/coupling.rs"]
mod coupling;
#[path = "verification/crushed_flesh.rs"]
mod crushed_flesh;
#[path = "verification/cuts.rs"]
mod cuts;
#[path = "verification/cycles.rs"]
mod cycles;
#[path = "verification/damping.rs"]
mod damping;
#[path = "verification/divergence.rs"]
mod divergence;
#[path = "verification/filling.rs"]
mod filling;
#[path = "verification/frame_rates.rs"]
mod frame_rates;
#[path = "verification/free_fall.rs"]
mod free_fall;
#[path = "verification/friction_angle.rs"]
mod friction_angle;
#[path = "verification/home.rs"]
mod home;
#[path = "verification/implicit_contact.rs"]
mod implicit_contact;
#[path = "verification/low_poly_contact.rs"]
mod low_poly_contact;
#[path = "verification/mixed_stack.rs"]
mod mixed_stack;
#[path = "verification/preroll.rs"]
mod preroll;
#[path = "verification/recovery.rs"]
mod recovery;
#[path = "verification/rest_overlap.rs"]
mod rest_overlap;
