//! Limbs that do not pass through each other: springs and dampers between bones.
//!
//! Contact i pushes two bones apart along n at x_i, with the force f = max(0, k δ − c v) at a depth δ that grows by −v. Between bones of one skeleton, whose common ancestor moves with neither, J_ij is how much joint j opens the
//! contact, and the force is taken at the end of the sub-step,
//!
//! ```text
//! f(δ − h (v + h a), v + h a) = k (δ − h v) − c v − (h c + h² k) J a
//! D_jj = Σ_i (h c_i + h² k_i) |J_ij| Σ_l |J_il|      so that   Σ_i (h c_i + h² k_i) J_iᵀ J_i ≤ D      (Gershgorin)
//! ```
//!
//! with the diagonal D in the place of the matrix: it only adds to the inertia of joints, costs the recursion nothing, conserves momentum, and is stable however stiff contacts are and however heavy what they bear.
//!
//! Between skeletons springs are as stiff as an explicit sub-step allows. With m_ib the mobility of a bone by itself along n there, and J_i V = n · (V_a(x_i) − V_b(x_i)),
//!
//! ```text
//! |J_i V|² ≤ 2 (m_ia Vᵀ_a M_a V_a + m_ib Vᵀ_b M_b V_b)                          (Cauchy-Schwarz, twice)
//! k_i = κ/(h² max(Λ_a, Λ_b)),  Λ_b = 2 Σ_i m_ib      so that   Σ_i k_i J_iᵀ J_i ≤ κ/h² M
//! ```
//!
//! however many contacts there are. Joints only constrain bones, and by Rayleigh's principle constraints do not raise frequencies, so that the bound for free bones holds for the tree. M_b includes the
//! flesh that follows the bone in the sub-step. Force and reaction act at one point: momentum and angular momentum are conserved.

use super::bone_coupling::Field;
use crate::rig::{LimbPair, LimbShapes, YIELD};
use core::ops::Range;
use sinew_math::spatial::{Frame, RigidInertia, Wrench};
use sinew_math::{Mat3, Vec3};
use sinew_skeleton::{Kinematics, Skeleton};

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
    contacts: Vec<LimbContact>,
    /// J of a contact: degrees of freedom with how much they open it.
    rows: Vec<(usize, f64)>,
}

/// A skeleton that moves freely.
pub(super) struct FreeSkeleton<'a> {
    /// Its bones among those of all rigs.
    pub(super) bones: Range<usize>,
    pub(super) skeleton: &'a Skeleton,
    pub(super) kinematics: &'a Kinematics,
    /// What is added to the drag of its degrees of freedom.
    pub(super) drag: &'a mut Vec<f64>,
}

/// A point of one limb in the flesh of another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LimbContact {
    bones: [u32; 2],
    /// Where force and reaction act (m).
    x: Vec3,
    /// Direction of the force on the first.
    normal: Vec3,
    /// How much deeper it is than it may be (m).
    depth: f64,
    /// The thickness of the other limb (m).
    thickness: f64,
    /// Whether it is taken at the end of the sub-step.
    is_within: bool,
}

/// The damping of contacts within a skeleton, in units of 1/h over the mobility of both bones: they stop what is this many times as heavy within a sub-step.
const WITHIN: f64 = 30.0;
/// κ and γ of springs and dampers, in units of the stability limits 1/h² and 1/h. Nothing else that is explicit acts on bones but flesh in contact with obstacles, so that κ + 2 γ may be a good part of 4.
const STIFFNESS: f64 = 0.5;
const DAMPING: f64 = 0.5;
/// Overlaps open by the thickness of a limb in this time (s), not faster.
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
    /// Finds the limbs in contact, with the bones of all rigs, the world first, moving by the given fields, where one of the two gives way; returns whether there are any.
    pub(super) fn detect(
        &mut self,
        shapes: &LimbShapes,
        fields: &[Field],
        gives_way: impl Fn(u32) -> bool,
    ) -> bool {
        self.contacts.clear();
        if !shapes.pairs.is_empty() {
            self.make_room(shapes.points.len(), fields.len());
        }
        for pair in &shapes.pairs {
            let bones = [shapes.limbs[pair.limb as usize].bone, shapes.fields[pair.field as usize].bone];
            if bones.into_iter().any(&gives_way) {
                self.detect_pair(shapes, pair, fields);
            }
        }
        !self.contacts.is_empty()
    }

    /// Reserves memory, so that steps in which limbs meet for the first time do not allocate.
    fn make_room(&mut self, points: usize, bones: usize) {
        self.contacts.reserve(points);
        // joints have up to six degrees of freedom
        self.rows.clear();
        self.rows.reserve(6 * bones);
        self.mobility.reserve(bones.saturating_sub(self.mobility.len()));
        self.wrenches.reserve(bones.saturating_sub(self.wrenches.len()));
        self.load.reserve(bones.saturating_sub(self.load.len()));
    }

    /// Finds the points of a limb that are too deep in the flesh of another.
    fn detect_pair(&mut self, shapes: &LimbShapes, pair: &LimbPair, fields: &[Field]) {
        // far from each other?
        let (limb, flesh) = (&shapes.limbs[pair.limb as usize], &shapes.fields[pair.field as usize]);
        let [a, b] = [limb.bone, flesh.bone].map(|bone| &fields[bone as usize]);
        let (turn, shift) = (b.rotation.tr_mul(&a.rotation), b.rotation.tr_mul(&(a.origin - b.origin)));
        let bounds = flesh.grid.bounds();
        if bounds.distance_squared(&(turn * limb.center + shift)) > limb.radius * limb.radius {
            return;
        }

        // points
        for (i, place) in shapes.points[limb.points.clone()].iter().enumerate() {
            let p = turn * place + shift;
            let Some((depth, out)) = flesh.depth(&p) else { continue };
            let allowed = match pair.allowed {
                Some(start) => f64::from(shapes.allowed[start + i]),
                None => YIELD * flesh.thickness,
            };
            if depth > allowed {
                self.contacts.push(LimbContact {
                    bones: [limb.bone, flesh.bone],
                    x: b.origin + b.rotation * p,
                    normal: b.rotation * out,
                    depth: depth - allowed,
                    thickness: flesh.thickness,
                    is_within: false,
                });
            }
        }
    }

    /// Begins the wrenches of a sub-step.
    pub(super) fn begin(&mut self) {
        self.wrenches.clear();
        self.wrenches.resize(self.mobility.len(), Wrench::default());
    }

    /// Adds the wrenches and the drag of contacts within a skeleton in a sub-step of `h` (s); returns the energy that they supply (J).
    pub(super) fn push_within(&mut self, own: &mut FreeSkeleton, fields: &[Field], h: f64) -> f64 {
        own.drag.resize(own.skeleton.v_count(), 0.0);
        let mut given = 0.0;
        for i in 0..self.contacts.len() {
            let contact = self.contacts[i];
            let [a, b] = contact.bones.map(|bone| bone as usize);
            if !(own.bones.contains(&a) && own.bones.contains(&b) && self.find_rows(own, &contact)) {
                continue;
            }
            self.contacts[i].is_within = true;
            let mobility: f64 =
                [a, b].map(|bone| self.mobility[bone].along(&contact.x, &contact.normal)).iter().sum();
            let damping = WITHIN / (h * mobility);
            let opening = (fields[a].at(&contact.x) - fields[b].at(&contact.x)).dot(&contact.normal);
            // k δ − c v with k = c/T
            let force = damping * (contact.depth / RECOVERY_TIME - opening);
            if !(force > 0.0 && force.is_finite()) {
                continue;
            }
            given += (h * force * opening).max(0.0);
            self.add_wrenches(&contact, force);
            let sum: f64 = self.rows.iter().map(|(_, row)| row.abs()).sum();
            let rate = h * damping * (1.0 + h / RECOVERY_TIME);
            self.rows.iter().for_each(|(dof, row)| own.drag[*dof] += rate * row.abs() * sum);
        }
        given
    }

    /// Finds J of a contact over the joints between its bones; returns whether they have a common ancestor.
    fn find_rows(&mut self, own: &FreeSkeleton, contact: &LimbContact) -> bool {
        self.rows.clear();
        let [mut a, mut b] = contact.bones.map(|bone| bone as usize - own.bones.start);
        while a != b {
            // parents come before their children
            let (bone, sign) = if a > b { (a, 1.0) } else { (b, -1.0) };
            let frame = &own.kinematics.world_frames()[bone];
            let force = frame.rotation.tr_mul(&(sign * contact.normal));
            let push = Wrench::new(frame.point_back(&contact.x).cross(&force), force);
            let bones = own.skeleton.bones();
            for dof in bones[bone].joint.v() {
                self.rows.push((dof, own.kinematics.columns()[dof].dot(&push)));
            }
            let Some(parent) = bones[bone].parent else { return false };
            *(if a > b { &mut a } else { &mut b }) = parent.index();
        }
        true
    }

    /// Adds a force on the first bone of a contact, and its reaction on the second.
    fn add_wrenches(&mut self, contact: &LimbContact, force: f64) {
        for (bone, sign) in contact.bones.into_iter().zip([1.0, -1.0]) {
            let push = (sign * force) * contact.normal;
            self.wrenches[bone as usize].force += push;
            self.wrenches[bone as usize].torque += contact.x.cross(&push);
        }
    }

    /// Adds the wrenches of all other contacts in a sub-step of `h` (s); returns the energy that they supply (J).
    pub(super) fn push_between(&mut self, fields: &[Field], h: f64) -> f64 {
        // Λ of all bones
        self.load.clear();
        self.load.resize(self.mobility.len(), 0.0);
        for contact in self.contacts.iter().filter(|contact| !contact.is_within) {
            for bone in contact.bones.map(|bone| bone as usize) {
                self.load[bone] += 2.0 * self.mobility[bone].along(&contact.x, &contact.normal);
            }
        }

        // forces
        let mut given = 0.0;
        for i in 0..self.contacts.len() {
            let contact = self.contacts[i];
            let [a, b] = contact.bones.map(|bone| bone as usize);
            let load = self.load[a].max(self.load[b]);
            if contact.is_within || !(load > 0.0 && load.is_finite()) {
                continue;
            }
            let opening = (fields[a].at(&contact.x) - fields[b].at(&contact.x)).dot(&contact.normal);
            let force = force(&contact, opening, load, h);
            given += (h * force * opening).max(0.0);
            self.add_wrenches(&contact, force);
        }
        given
    }
}

/// The force of a contact between skeletons (N), never attractive: a spring that does not open overlaps too fast, and a damper.
///
/// ```text
/// f = max(0, k δ r − c v),   r = 1 − v/v_r from 0 to 1,   k = κ/(h² Λ),  c = γ/(h Λ)
/// ```
fn force(contact: &LimbContact, opening: f64, load: f64, h: f64) -> f64 {
    let (stiffness, damping) = (STIFFNESS / (h * h * load), DAMPING / (h * load));
    let slowed = (1.0 - opening * RECOVERY_TIME / contact.thickness).clamp(0.0, 1.0);
    (stiffness * contact.depth * slowed - damping * opening).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::{Limb, LimbField};
    use sinew_contact::SampleGrid;
    use sinew_math::Isometry;
    use sinew_skeleton::{
        BoneDesc, BoneId, Drives, Dynamics, JointDesc, JointDrive, JointKind, Loads, MassDesc,
        MassProperties, Parent, SkeletonDesc, SkeletonState,
    };

    /// Points of bone 1 at the poles of a ball of radius 0.1 m, in the flesh of bone 2, which is such a ball.
    fn shapes() -> LimbShapes {
        let grid = SampleGrid { origin: Vec3::repeat(-0.15), spacing: 0.0125, counts: [25; 3] };
        let distance = (0..grid.count()).map(|i| (grid.point(i).norm() - 0.1) as f32).collect();
        let poles = [Vec3::x(), Vec3::y(), Vec3::z()].into_iter().flat_map(|axis| [0.1 * axis, -0.1 * axis]);
        LimbShapes {
            points: poles.collect(),
            limbs: vec![Limb { bone: 1, points: 0..6, center: Vec3::zeros(), radius: 0.1 }],
            fields: vec![LimbField::new(2, grid, distance, vec![1.0; grid.count()]).expect("flesh")],
            pairs: vec![LimbPair { limb: 0, field: 0, allowed: None }],
            allowed: Vec::new(),
        }
    }

    /// Two balls of radius 0.1 m on bones of their own, whose inertia is in the world's frame.
    struct Balls {
        shapes: LimbShapes,
        inertia: [RigidInertia; 2],
        x: [Vec3; 2],
        v: [Vec3; 2],
    }

    impl Balls {
        fn new(mass: [f64; 2], x: [Vec3; 2], v: [Vec3; 2]) -> Balls {
            let tensor = |mass: f64| Mat3::from_diagonal_element(0.4 * mass * 0.01);
            let inertia = mass.map(|mass| RigidInertia::new(mass, Vec3::zeros(), tensor(mass)));
            Balls { shapes: shapes(), inertia, x, v }
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
            if !support.detect(&self.shapes, &fields, |_| true) {
                return [Wrench::default(); 2];
            }
            support.mobility = vec![Mobility::NONE];
            for i in 0..2 {
                let frame = Frame { origin: self.x[i], ..Frame::default() };
                support.mobility.push(Mobility::of(&frame, &self.inertia[i]));
            }
            support.begin();
            support.push_between(&fields, h);
            [support.wrenches[1], support.wrenches[2]]
        }
    }

    /// Force and reaction have one line of action, so that wrenches about a common origin are opposite to the bit.
    #[test]
    fn wrenches_are_opposite() {
        let x = [Vec3::new(0.3, 0.2, 0.1), Vec3::new(0.35, 0.32, 0.12)];
        let balls = Balls::new([2.0, 30.0], x, [Vec3::new(0.4, 2.0, 1.0), Vec3::zeros()]);
        let [a, b] = balls.push(&mut BoneSupport::default(), 1e-3);
        assert!(a.force.norm() > 1.0);
        assert_eq!((a.force, a.torque), (-b.force, -b.torque));
    }

    /// Balls that meet at v = 3 m/s stop within a few sub-steps and move apart until they are as deep as they may be, without ever gaining energy. Λ is twice the larger mobility, so that ω² ≥ κ/(2 h²) and a spring alone would
    /// stop them within v h √(2/κ); √2 times that, and a sub-step's way, leave room for the sub-step in which they meet.
    #[test]
    fn balls_rebound_without_energy_from_nowhere() {
        for (mass, h) in [([1.0, 1.0], 2e-3), ([0.01, 50.0], 2e-3), ([3.0, 40.0], 2.5e-4)] {
            let x = [Vec3::zeros(), Vec3::x() * 0.21];
            let mut balls = Balls::new(mass, x, [Vec3::x() * 3.0, Vec3::zeros()]);
            let energy =
                |balls: &Balls| 0.5 * (0..2).map(|i| mass[i] * balls.v[i].norm_squared()).sum::<f64>();
            let (start, mut support) = (energy(&balls), BoneSupport::default());
            let allowed = YIELD * balls.shapes.fields[0].thickness;
            let mut deepest = 0.0f64;
            for _ in 0..(0.5 / h) as usize {
                let wrenches = balls.push(&mut support, h);
                for i in 0..2 {
                    balls.v[i] += h / mass[i] * wrenches[i].force;
                    balls.x[i] += h * balls.v[i];
                }
                deepest = deepest.max(0.2 - allowed - (balls.x[1] - balls.x[0]).norm());
                assert!(energy(&balls) <= start * (1.0 + 1e-12));
            }
            let closing = 3.0 * h * (2.0 / STIFFNESS.sqrt() + 1.0);
            assert!(deepest < closing, "{deepest} m of {closing} m");
            assert!((balls.x[1] - balls.x[0]).norm() >= 0.2 - allowed - 1e-4);
        }
    }

    /// A heavy trunk on a free root, bone 0, which two light arms, 1 and 2, hang on by hinges 0.1 m apart.
    fn arms() -> Skeleton {
        let bone = |name: &str, parent, x: f64, kind, (mass, center): (f64, Vec3)| BoneDesc {
            name: name.into(),
            parent,
            parent_from_joint: Isometry::translation(x, 0.0, 0.0),
            joint: JointDesc::of(kind),
            mass: MassDesc::Given(MassProperties {
                mass,
                center,
                tensor: Mat3::from_diagonal_element(0.4 * mass * 0.01),
            }),
        };
        let arm = |name: &str, x: f64| {
            bone(name, Parent::Index(0), x, JointKind::Revolute(Vec3::z()), (2.0, Vec3::zeros()))
        };
        let trunk = bone("trunk", Parent::World, 0.0, JointKind::Free, (60.0, Vec3::zeros()));
        Skeleton::build(&SkeletonDesc { bones: vec![trunk, arm("left", -0.05), arm("right", 0.05)] })
            .expect("sound")
    }

    /// Arms that close at 4 m/s, driven by torques that would add 5 m/s in a sub-step, are in contact 0.5 m below their hinges. At its end they open at the rate at which overlaps do, but for one part in [`WITHIN`] of
    /// the 9 m/s that were against it, however many points are in contact, and no force comes from outside.
    #[test]
    fn contact_within_a_skeleton_holds_any_load() {
        let (skeleton, h) = (arms(), 2e-3);
        let mut state = SkeletonState::at_rest(&skeleton);
        let dofs: Vec<usize> = [1, 2].map(|bone| skeleton.bones()[bone].joint.v().start).into();
        state.v[dofs[0]] = 4.0;
        state.v[dofs[1]] = -4.0;
        let mut kinematics = Kinematics::default();
        kinematics.update(&skeleton, &state);
        let fields: Vec<Field> = core::iter::once(Field::default())
            .chain(kinematics.world_frames().iter().zip(kinematics.velocities()).map(|(frame, v)| {
                let (angular, linear) = (frame.rotation * v.angular, frame.rotation * v.linear);
                Field {
                    angular,
                    at_origin: linear - angular.cross(&frame.origin),
                    rotation: frame.rotation,
                    origin: frame.origin,
                    ..Field::default()
                }
            }))
            .collect();

        let contact = LimbContact {
            bones: [2, 3],
            x: Vec3::new(0.0, -0.5, 0.0),
            normal: -Vec3::x(),
            depth: 1e-3,
            thickness: 0.1,
            is_within: false,
        };
        let mut support = BoneSupport { contacts: vec![contact; 5], ..BoneSupport::default() };
        support.mobility.push(Mobility::NONE);
        support.mobility.extend(
            skeleton
                .bones()
                .iter()
                .zip(kinematics.world_frames())
                .map(|(bone, frame)| Mobility::of(frame, &bone.inertia)),
        );
        support.begin();
        let mut dynamics = Dynamics::default();
        let mut own = FreeSkeleton {
            bones: 1..4,
            skeleton: &skeleton,
            kinematics: &kinematics,
            drag: &mut dynamics.added_drag,
        };
        support.push_within(&mut own, &fields, h);
        assert!(support.contacts.iter().all(|contact| contact.is_within));

        // the sub-step
        let mut drives = Drives::limp(&skeleton);
        let load = 20.0;
        for (bone, torque) in [(1, load), (2, -load)] {
            drives.set(&skeleton, BoneId(bone), JointDrive::Torque(&[torque])).expect("a hinge");
        }
        let wrenches: Vec<Wrench> = support.wrenches[1..]
            .iter()
            .zip(kinematics.world_frames())
            .map(|(push, frame)| {
                let torque = push.torque - frame.origin.cross(&push.force);
                Wrench::new(frame.rotation.tr_mul(&torque), frame.rotation.tr_mul(&push.force))
            })
            .collect();
        let loads = Loads { gravity: Vec3::zeros(), wrenches: &wrenches, passive_step: h };
        dynamics.solve(&skeleton, &kinematics, &state, &drives, &loads).expect("sound");

        // contact points open along −x by 0.5 m times the difference of the rates
        let rate = |arm: usize| state.v[dofs[arm]] + h * dynamics.acceleration[dofs[arm]];
        let opening = 0.5 * (rate(1) - rate(0));
        let wanted = 1e-3 / RECOVERY_TIME;
        assert!((opening - wanted).abs() < 9.0 / WITHIN, "opens by {opening} m/s, wanted {wanted}");

        // momentum of the trunk and both arms: Σ m a = 0 for what pushes only between them
        let sum: Vec3 = support.wrenches.iter().map(|wrench| wrench.force).sum();
        assert_eq!(sum, Vec3::zeros());
    }
}
