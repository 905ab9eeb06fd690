//! The hard core of a limb: capsules of bones that do not enter fixed obstacles, however much their flesh gives way.
//!
//! Contact of flesh is a penalty on its surface, soft enough for explicit sub-steps. Where the whole character lands on a few vertices it gives way by a good part of a limb. Bones then bear on the
//! obstacle themselves, by a spring and a damper that are taken at the end of the sub-step, so that any stiffness is stable:
//!
//! ```text
//! f = k (δ − h vₙ) − c vₙ − (h c + h² k) V̇ₙ ≥ 0,     f_t = −min(c, μ f/|v_t|) v_t,    v with the fall of the sub-step, h g
//! ```
//!
//! with k such that the weight of the whole character is borne at a depth of a fraction of its size, and c critical for its mass.

use sinew_contact::Shape;
use sinew_math::spatial::{Frame, RigidInertia};
use sinew_math::{Isometry, Vec3};
use sinew_skeleton::{MassDesc, SolidShape};

/// The depth at which a core bears the weight of the whole character, as a fraction of its size.
const DEPTH: f64 = 2.5e-4;
/// What weight is taken for it (m/s²).
const GRAVITY: f64 = 9.81;
/// Where a capsule is tested, as fractions of its length.
const SAMPLES: [f64; 3] = [0.0, 0.5, 1.0];

/// A capsule in the frame of a bone (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CoreCapsule {
    from: Vec3,
    to: Vec3,
    radius: f64,
}

/// The cores of the bones of a rig.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BoneCores {
    /// The capsules of each bone.
    capsules: Vec<Vec<CoreCapsule>>,
    /// k (N/m) and c (N s/m).
    stiffness: f64,
    damping: f64,
}

/// A fixed obstacle that cores bear on.
pub(crate) struct CoreGround<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) pose: &'a Isometry,
    pub(crate) friction: f64,
}

/// How a bone moves in a sub-step.
pub(crate) struct CoreMotion<'a> {
    pub(crate) frame: &'a Frame,
    /// The velocity of a point of the bone, in the world (m/s), at the end of the sub-step if nothing but gravity acts.
    pub(crate) velocity: &'a dyn Fn(&Vec3) -> Vec3,
    pub(crate) h: f64,
}

impl BoneCores {
    /// The capsules of bones, given their masses; without strength they do nothing.
    pub(crate) fn of_bones<'a>(masses: impl Iterator<Item = &'a MassDesc>) -> BoneCores {
        BoneCores { capsules: masses.map(capsules_of).collect(), ..BoneCores::default() }
    }

    /// Makes cores as strong as a character of a mass (kg) and a size (m) needs.
    pub(crate) fn strengthen(&mut self, mass: f64, size: f64) {
        if mass > 0.0 && size > 0.0 {
            self.stiffness = mass * GRAVITY / (DEPTH * size);
            self.damping = 2.0 * (self.stiffness * mass).sqrt();
        }
    }

    /// Adds what an obstacle does to the core of a bone: the force (N) and torque about the origin of the bone (N m) in the world, and the inertia in the bone's frame.
    pub(crate) fn bear(
        &self,
        bone: usize,
        (motion, ground): (&CoreMotion, &CoreGround),
        (force, torque): (&mut Vec3, &mut Vec3),
        added: &mut RigidInertia,
    ) {
        if self.stiffness == 0.0 {
            return;
        }
        for capsule in &self.capsules[bone] {
            for fraction in SAMPLES {
                let middle = motion.frame.point(&(capsule.from + fraction * (capsule.to - capsule.from)));
                let probe = ground.shape.probe(&ground.pose.inverse_transform_point(&middle.into()).coords);
                let depth = capsule.radius - probe.distance;
                if depth > 0.0 {
                    let normal = ground.pose.rotation * probe.normal;
                    let x = middle - normal * probe.distance;
                    let place = motion.frame.point_back(&x);
                    let (push, inertia) =
                        self.push((depth, &normal), ground.friction, &(motion.velocity)(&place), motion.h);
                    *force += push;
                    *torque += (x - motion.frame.origin).cross(&push);
                    added.add_particle(inertia, &place);
                }
            }
        }
    }

    /// The force on a core (N) without what depends on its acceleration, and the inertia (kg) that does.
    fn push(&self, (depth, normal): (f64, &Vec3), friction: f64, velocity: &Vec3, h: f64) -> (Vec3, f64) {
        let (k, c) = (self.stiffness, self.damping);
        let approach = velocity.dot(normal);
        let normal_force = k * (depth - h * approach) - c * approach;
        if normal_force <= 0.0 {
            return (Vec3::zeros(), 0.0);
        }
        let sliding = velocity - approach * normal;
        let drag = c.min(friction * normal_force / sliding.norm().max(f64::MIN_POSITIVE));
        (normal_force * normal - drag * sliding, h * (c + h * k))
    }
}

fn capsules_of(mass: &MassDesc) -> Vec<CoreCapsule> {
    match mass {
        MassDesc::Solid { shape: SolidShape::Capsule { from, to, radius }, .. } => {
            vec![CoreCapsule { from: *from, to: *to, radius: *radius }]
        }
        MassDesc::Sum(all) => all.iter().flat_map(capsules_of).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUND: Shape = Shape::Plane { normal: Vec3::new(0.0, 1.0, 0.0) };

    fn cores() -> BoneCores {
        let shape = SolidShape::Capsule { from: Vec3::zeros(), to: Vec3::zeros(), radius: 0.1 };
        let mut cores = BoneCores::of_bones([MassDesc::Solid { shape, density: 1.0 }].iter());
        cores.strengthen(80.0, 2.0);
        cores
    }

    /// A ball of any mass that falls onto the ground at v = 5 m/s stops, and leaves it slowly. A capsule of length 0 is tested three times in one place, each with critical damping for 80 kg: together they have a damping
    /// ratio of √3, with which an oscillator that is struck comes back at no more than
    ///
    /// ```text
    /// max −ẋ = v/(2√2) ((√3−√2) r^((√2−√3)/(2√2)) − (√3+√2) r^(−(√2+√3)/(2√2))) = 0.061 v,     r = ((√3+√2)/(√3−√2))²
    /// ```
    ///
    /// Lighter masses are damped more. It ends where k δ = m g.
    #[test]
    fn a_core_of_any_mass_stops_on_the_ground() {
        let (cores, h, g) = (cores(), 2e-3, 9.81);
        for mass in [1e-3, 0.1, 5.0, 80.0] {
            let (mut y, mut v) = (0.11, -5.0);
            for _ in 0..4000 {
                let frame = Frame { origin: Vec3::y() * y, ..Frame::default() };
                let fallen = Vec3::y() * (v - h * g);
                let motion = CoreMotion { frame: &frame, velocity: &|_| fallen, h };
                let ground = CoreGround { shape: &GROUND, pose: &Isometry::identity(), friction: 0.5 };
                let (mut force, mut torque, mut added) =
                    (Vec3::zeros(), Vec3::zeros(), RigidInertia::default());
                cores.bear(0, (&motion, &ground), (&mut force, &mut torque), &mut added);
                // acceleration relative to free fall
                v += h * (force.y / (mass + added.mass) - g);
                y += h * v;
                assert!(v < 0.061 * 5.0 && y > 0.0, "{mass} kg: {v} m/s at {y} m");
            }
            let depth = mass * g / (3.0 * cores.stiffness);
            assert!((0.1 - y - depth).abs() < 1e-3 * depth + 1e-9, "{mass} kg: {y}");
        }
    }

    /// Friction never exceeds μ times the normal force.
    #[test]
    fn friction_of_a_core_is_bounded() {
        let (push, _) = cores().push((0.01, &Vec3::y()), 0.5, &Vec3::new(30.0, 0.0, 40.0), 1e-3);
        assert!((Vec3::new(push.x, 0.0, push.z).norm() - 0.5 * push.y).abs() < 1e-9 * push.y);
    }
}
