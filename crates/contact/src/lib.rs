//! What touches what, and what follows from it: signed distances to obstacles, paths that cross them, pairs of surface features near each
//! other, and forces that keep things apart. Knows points, shapes and stiffnesses; what is flesh and what is bone is decided elsewhere.
//!
//! The one idea: finding contacts and answering them are separate. Detection hands on any list of candidates that leaves out none that touch;
//! what follows depends on those that do touch and on nothing else, so that how often detection runs never changes an answer.

mod barrier;
mod box_tree;
mod detection;
mod mass;
mod response;
mod rigid_motion;
mod shape;
mod surface_pairs;
mod triangle;

pub use barrier::Barrier;
pub use box_tree::{Bounds, BoxTree};
pub use detection::{Contact, FrictionAnchor, detect_contact};
pub use mass::SolidMass;
pub use response::{Penalty, Push, Response, Strength};
pub use rigid_motion::RigidMotion;
pub use shape::{ConvexHull, DistanceGrid, HeightField, Probe, Shape, ShapeFault, TriangleSolid};
pub use surface_pairs::{NearPair, PairSurface, SurfacePairs};
pub use triangle::{TrianglePoint, crossing_time, nearest_on_triangle};
