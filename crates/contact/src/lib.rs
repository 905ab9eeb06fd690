//! Contact: signed distances to obstacles, bounding volume hierarchies, candidate pairs of surfaces, continuous collision
//! detection, and penalty, friction and barrier laws. Knows points, shapes and stiffnesses, not flesh and bones.
//!
//! Detection and response are separate. Detection returns a superset of the pairs in contact; the response depends only on the
//! pairs that are in contact, so how often detection runs never changes a result.
//!
//! ```
//! use sinew_contact::{Penalty, Shape, detect_contact};
//! use sinew_math::Vec3;
//!
//! // a point enters the top of a box
//! let floor = Shape::Cuboid { half: Vec3::new(1.0, 0.1, 1.0) };
//! let (before, now) = (Vec3::new(0.0, 0.12, 0.0), Vec3::new(0.0, 0.095, 0.0));
//! let contact = detect_contact(&floor, &now, &before, None).expect("penetration");
//! assert!((contact.depth - 0.005).abs() < 1e-12 && contact.normal == Vec3::y());
//!
//! // penalty force on a mass of 0.1 kg for steps of 1 ms and a friction coefficient of 0.5
//! let law = Penalty::stable(0.1, 1e-3, 0.5, 0.05);
//! let contact_force = law.force(contact.depth, &contact.normal, &Vec3::zeros(), &Vec3::zeros());
//! assert!(contact_force.force.y > 0.0);
//! ```

mod barrier;
mod box_tree;
mod ccd;
mod detection;
mod mass;
mod material;
mod pair_distance;
mod parallel_edges;
mod response;
mod rigid_motion;
mod segment;
mod shape;
mod smooth_friction;
mod solid;
mod surface_pairs;
mod triangle;
mod triangle_intersection;

pub use barrier::Barrier;
pub use box_tree::{Bounds, BoxTree};
pub use ccd::{Clearance, Sweep};
pub use detection::{
    Contact, FrictionAnchor, detect_contact, detect_contact_after, detect_contact_or_distance,
    is_out_of_contact,
};
pub use mass::SolidMass;
pub use material::{ContactMaterial, PairMaterial};
pub use pair_distance::{PairDistance, PairHessian};
pub use parallel_edges::ParallelEdges;
pub use response::{ContactForce, Penalty, Strength};
pub use rigid_motion::RigidMotion;
pub use segment::{SegmentPoints, nearest_on_segment, nearest_on_segments};
pub use shape::{ConvexHull, DistanceGrid, HeightField, Probe, SampleGrid, Shape, ShapeFault, TriangleSolid};
pub use smooth_friction::SmoothFriction;
pub use solid::{Deformation, ImplicitSolid, SolidPoint, SolidShape};
pub use surface_pairs::{CarrierRows, NearPair, PairSurface, Patch, SurfaceEdge, SurfacePairs};
pub use triangle::{TrianglePoint, nearest_on_triangle};
pub use triangle_intersection::triangles_intersect;
