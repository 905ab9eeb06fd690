//! Limbs that do not pass through each other: springs between the cores of bones, as stiff as an explicit sub-step allows.
//!
//! Contact i pushes two bones apart along n at x_i. With m_ib the mobility of a bone by itself along n there, and J_i V = n · (V_a(x_i) − V_b(x_i)),
//!
//! ```text
//! |J_i V|² ≤ 2 (m_ia Vᵀ_a M_a V_a + m_ib Vᵀ_b M_b V_b)                          (Cauchy-Schwarz, twice)
//! k_i = κ/(h² max(Λ_a, Λ_b)),  Λ_b = 2 Σ_i m_ib      so that   Σ_i k_i J_iᵀ J_i ≤ κ/h² M
//! ```
//!
//! however many contacts there are. Joints only constrain bones, and by Rayleigh's principle constraints do not raise frequencies, so that the bound for free bones holds for the tree. M_b includes the
//! flesh that follows the bone in the sub-step. Force and reaction act at one point: momentum and angular momentum are conserved.

use super::bone_coupling::Field;
use crate::rig::LimbCores;
use sinew_contact::nearest_on_segments;
use sinew_math::spatial::{Frame, RigidInertia, Wrench};
use sinew_math::{Mat3, Vec3};

/// How a bone gives way, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mobility {
    inverse_mass: f64,
    /// Centre of mass (m).
    center: Vec3,
    /// Inverse of the rotational inertia about it (1/(kg m²)).
    inverse_tensor: Mat3,
}

/// Springs between bones in a sub-step.
#[derive(Clone, Debug, Default)]
pub(super) struct BoneSupport {
    /// For each bone of all rigs, the world first.
    pub(super) mobility: Vec<Mobility>,
    /// Wrenches on them about the origin of the world.
    pub(super) wrenches: Vec<Wrench>,
    /// Λ_b (1/kg).
    load: Vec<f64>,
    /// Axes of all cores in the world (m).
    axes: Vec<[Vec3; 2]>,
    contacts: Vec<CoreContact>,
}

/// Two cores in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CoreContact {
    bones: [u32; 2],
    /// Where force and reaction act (m).
    x: Vec3,
    /// Direction of the force on the first.
    normal: Vec3,
    depth: f64,
    /// The distance that they keep (m).
    distance: f64,
}

/// κ and γ of springs and dampers, in units of the stability limits 1/h² and 1/h. Nothing else that is explicit acts on bones but flesh in contact with obstacles, so that κ + 2 γ may be a good part of 4.
const STIFFNESS: f64 = 0.5;
const DAMPING: f64 = 0.5;
/// Overlaps open by the distance that cores keep in this time (s), not faster.
const RECOVERY_TIME: f64 = 0.1;

impl Mobility {
    /// A bone that nothing moves.
    pub(super) const NONE: Mobility = Mobility {
        inverse_mass: 0.0,
        center: Vec3::new(0.0, 0.0, 0.0),
        inverse_tensor: Mat3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    };

    /// That of a rigid body in a frame. Without mass or extent it moves freely.
    pub(super) fn of(frame: &Frame, inertia: &RigidInertia) -> Mobility {
        let center = inertia.first_moment / inertia.mass;
        let shift = Mat3::identity() * center.norm_squared() - center * center.transpose();
        let inverse = (inertia.tensor - inertia.mass * shift).try_inverse();
        let inverse = inverse.unwrap_or_else(|| Mat3::from_diagonal_element(f64::INFINITY));
        Mobility {
            inverse_mass: 1.0 / inertia.mass,
            center: frame.point(&center),
            inverse_tensor: frame.rotation * inverse * frame.rotation.transpose(),
        }
    }

    /// The velocity along a direction that a unit impulse along it causes at a point (1/kg).
    fn along(&self, x: &Vec3, direction: &Vec3) -> f64 {
        let arm = (x - self.center).cross(direction);
        self.inverse_mass + arm.dot(&(self.inverse_tensor * arm))
    }
}

impl BoneSupport {
    /// Finds the cores in contact, with the bones of all rigs, the world first, moving by the given fields; returns whether there are any.
    pub(super) fn detect(&mut self, limbs: &LimbCores, fields: &[Field]) -> bool {
        // axes
        self.axes.clear();
        self.axes.extend(limbs.cores.iter().map(|core| {
            let field = &fields[core.bone as usize];
            core.ends.map(|end| field.origin + field.rotation * end)
        }));

        // pairs that are closer than they may be
        self.contacts.clear();
        self.contacts.reserve(limbs.pairs.len());
        for pair in &limbs.pairs {
            let [a, b] = pair.cores.map(|core| &self.axes[core as usize]);
            let (apart, reach) = (a[0] + a[1] - b[0] - b[1], (a[1] - a[0]).norm() + (b[1] - b[0]).norm());
            if 0.5 * apart.norm() > pair.distance + 0.5 * reach {
                continue;
            }
            let near = nearest_on_segments(a, b);
            let gap = near.gap();
            let distance = gap.norm();
            if distance < pair.distance && distance > 0.0 {
                self.contacts.push(CoreContact {
                    bones: pair.cores.map(|core| limbs.cores[core as usize].bone),
                    x: 0.5 * (near.points[0] + near.points[1]),
                    normal: gap / distance,
                    depth: pair.distance - distance,
                    distance: pair.distance,
                });
            }
        }
        !self.contacts.is_empty()
    }

    /// Finds the wrenches of contacts in a sub-step of `h` (s); returns the energy that they supply (J).
    pub(super) fn push(&mut self, fields: &[Field], h: f64) -> f64 {
        // Λ of all bones
        self.load.clear();
        self.load.resize(self.mobility.len(), 0.0);
        for contact in &self.contacts {
            for bone in contact.bones.map(|bone| bone as usize) {
                self.load[bone] += 2.0 * self.mobility[bone].along(&contact.x, &contact.normal);
            }
        }

        // forces
        self.wrenches.clear();
        self.wrenches.resize(self.mobility.len(), Wrench::default());
        let mut given = 0.0;
        for contact in &self.contacts {
            let [a, b] = contact.bones.map(|bone| bone as usize);
            let load = self.load[a].max(self.load[b]);
            if !(load > 0.0 && load.is_finite()) {
                continue;
            }
            let opening = (fields[a].at(&contact.x) - fields[b].at(&contact.x)).dot(&contact.normal);
            let force = force(contact, opening, load, h);
            given += (h * force * opening).max(0.0);
            for (bone, sign) in [(a, 1.0), (b, -1.0)] {
                let push = (sign * force) * contact.normal;
                self.wrenches[bone].force += push;
                self.wrenches[bone].torque += contact.x.cross(&push);
            }
        }
        given
    }
}

/// The force of a contact (N), never attractive: a spring that does not open overlaps too fast, and a damper.
///
/// ```text
/// f = max(0, k δ r − c v),   r = 1 − v/v_r from 0 to 1,   k = κ/(h² Λ),  c = γ/(h Λ)
/// ```
fn force(contact: &CoreContact, opening: f64, load: f64, h: f64) -> f64 {
    let (stiffness, damping) = (STIFFNESS / (h * h * load), DAMPING / (h * load));
    let slowed = (1.0 - opening * RECOVERY_TIME / contact.distance).clamp(0.0, 1.0);
    (stiffness * contact.depth * slowed - damping * opening).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::{CorePair, LimbCore};

    /// Two balls of radius 0.1 m on bones of their own, whose inertia is in the world's frame.
    struct Balls {
        limbs: LimbCores,
        inertia: [RigidInertia; 2],
        x: [Vec3; 2],
        v: [Vec3; 2],
    }

    impl Balls {
        fn new(mass: [f64; 2], x: [Vec3; 2], v: [Vec3; 2]) -> Balls {
            let core = |bone: u32| LimbCore { bone, ends: [Vec3::zeros(); 2], radius: 0.1 };
            let pairs = vec![CorePair { cores: [0, 1], distance: 0.2 }];
            let tensor = |mass: f64| Mat3::from_diagonal_element(0.4 * mass * 0.01);
            let inertia = mass.map(|mass| RigidInertia::new(mass, Vec3::zeros(), tensor(mass)));
            Balls { limbs: LimbCores { cores: vec![core(1), core(2)], pairs }, inertia, x, v }
        }

        /// The fields of the world and both balls.
        fn fields(&self) -> [Field; 3] {
            let field = |i: usize| Field {
                at_origin: self.v[i],
                rotation: Mat3::identity(),
                origin: self.x[i],
                ..Field::default()
            };
            [Field::default(), field(0), field(1)]
        }

        /// The wrenches on both.
        fn push(&self, support: &mut BoneSupport, h: f64) -> [Wrench; 2] {
            let fields = self.fields();
            if !support.detect(&self.limbs, &fields) {
                return [Wrench::default(); 2];
            }
            support.mobility = vec![Mobility::NONE];
            for i in 0..2 {
                let frame = Frame { origin: self.x[i], ..Frame::default() };
                support.mobility.push(Mobility::of(&frame, &self.inertia[i]));
            }
            support.push(&fields, h);
            [support.wrenches[1], support.wrenches[2]]
        }
    }

    /// Force and reaction have one line of action, so that wrenches about a common origin are opposite to the bit.
    #[test]
    fn wrenches_are_opposite() {
        let x = [Vec3::new(0.3, 0.2, 0.1), Vec3::new(0.35, 0.3, 0.17)];
        let balls = Balls::new([2.0, 30.0], x, [Vec3::new(0.4, 2.0, 1.0), Vec3::zeros()]);
        let [a, b] = balls.push(&mut BoneSupport::default(), 1e-3);
        assert!(a.force.norm() > 1.0);
        assert_eq!((a.force, a.torque), (-b.force, -b.torque));
    }

    /// Balls that meet at v = 3 m/s stop within a few sub-steps and move apart until they no longer overlap, without ever gaining energy. Λ is twice the larger mobility, so that ω² ≥ κ/(2 h²) and a spring alone would
    /// stop them within v h √(2/κ); √2 times that leaves room for the sub-step in which they meet.
    #[test]
    fn balls_rebound_without_energy_from_nowhere() {
        for (mass, h) in [([1.0, 1.0], 2e-3), ([0.01, 50.0], 2e-3), ([3.0, 40.0], 2.5e-4)] {
            let x = [Vec3::zeros(), Vec3::x() * 0.21];
            let mut balls = Balls::new(mass, x, [Vec3::x() * 3.0, Vec3::zeros()]);
            let energy =
                |balls: &Balls| 0.5 * (0..2).map(|i| mass[i] * balls.v[i].norm_squared()).sum::<f64>();
            let (start, mut support) = (energy(&balls), BoneSupport::default());
            let mut deepest = 0.0f64;
            for _ in 0..(0.5 / h) as usize {
                let wrenches = balls.push(&mut support, h);
                for i in 0..2 {
                    balls.v[i] += h / mass[i] * wrenches[i].force;
                    balls.x[i] += h * balls.v[i];
                }
                deepest = deepest.max(0.2 - (balls.x[1] - balls.x[0]).norm());
                assert!(energy(&balls) <= start * (1.0 + 1e-12));
            }
            let closing = 3.0 * h / STIFFNESS.sqrt() * 2.0;
            assert!(deepest < closing, "{deepest} m of {closing} m");
            assert!((balls.x[1] - balls.x[0]).norm() >= 0.2 - 1e-4);
        }
    }
}
