//! Spatial vector algebra: twists, wrenches and inertias of rigid and articulated bodies, angular part first.
//!
//! ```text
//! V = (w, v),   F = (t, f),   Ad_T = ⎡ R    0 ⎤   ad_V = ⎡[w]  0 ⎤     [KimPollard2011, table II]
//!                                    ⎣[p]R  R ⎦          ⎣[v] [w]⎦
//! ```
//!
//! Six-dimensional quantities are stored as 3-vectors and 3×3 blocks, so zeros and symmetry cost nothing. A [`Frame`] named
//! `a_from_b` maps coordinates of b to coordinates of a. Twists propagate from parent to child by Ad of its inverse, wrenches
//! from child to parent by the transpose.

use crate::{Isometry, Mat3, Rotation, Vec3, nalgebra};
use core::ops::{Add, AddAssign, Mul, Neg, Sub};

/// `[a]`: the skew-symmetric matrix of a × ·.
#[inline]
pub fn cross_matrix(a: &Vec3) -> Mat3 {
    Mat3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// Angular and linear velocity (rad/s, m/s), or acceleration, of a body at the origin of its frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// Angular part w.
    pub angular: Vec3,
    /// Linear part v, of the body point at the origin.
    pub linear: Vec3,
}

/// Torque about the origin and force (N m, N), or angular and linear momentum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Torque t about the origin.
    pub torque: Vec3,
    /// Force f.
    pub force: Vec3,
}

/// A rigid transform between two frames, with the rotation as a matrix: x_a = R x_b + p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Rotation matrix R.
    pub rotation: Mat3,
    /// Origin p of b in a (m).
    pub origin: Vec3,
}

impl Twist {
    /// A twist from its angular and linear part.
    #[inline]
    pub fn new(angular: Vec3, linear: Vec3) -> Twist {
        Twist { angular, linear }
    }

    /// ad_V U: the spatial cross product V × U of motion vectors.
    #[inline]
    pub fn ad(&self, u: &Twist) -> Twist {
        Twist {
            angular: self.angular.cross(&u.angular),
            linear: self.linear.cross(&u.angular) + self.angular.cross(&u.linear),
        }
    }

    /// −ad_Vᵀ F: the spatial cross product V ×* F of a motion vector and a force vector.
    #[inline]
    pub fn minus_ad_transposed(&self, f: &Wrench) -> Wrench {
        Wrench {
            torque: self.angular.cross(&f.torque) + self.linear.cross(&f.force),
            force: self.angular.cross(&f.force),
        }
    }

    /// V · F: the power (W).
    #[inline]
    pub fn dot(&self, f: &Wrench) -> f64 {
        self.angular.dot(&f.torque) + self.linear.dot(&f.force)
    }

    /// The velocity (m/s) of the body point at `p` (m).
    #[inline]
    pub fn at(&self, p: &Vec3) -> Vec3 {
        self.linear + self.angular.cross(p)
    }
}

impl Wrench {
    /// A wrench from its torque and force.
    #[inline]
    pub fn new(torque: Vec3, force: Vec3) -> Wrench {
        Wrench { torque, force }
    }

    /// The wrench of a force (N) that acts at a point (m).
    #[inline]
    pub fn of_force_at(force: Vec3, point: &Vec3) -> Wrench {
        Wrench { torque: point.cross(&force), force }
    }
}

macro_rules! linear_operations {
    ($name:ident, $a:ident, $b:ident) => {
        impl Add for $name {
            type Output = $name;
            #[inline]
            fn add(self, other: $name) -> $name {
                $name { $a: self.$a + other.$a, $b: self.$b + other.$b }
            }
        }
        impl Sub for $name {
            type Output = $name;
            #[inline]
            fn sub(self, other: $name) -> $name {
                $name { $a: self.$a - other.$a, $b: self.$b - other.$b }
            }
        }
        impl AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: $name) {
                *self = *self + other;
            }
        }
        impl Neg for $name {
            type Output = $name;
            #[inline]
            fn neg(self) -> $name {
                $name { $a: -self.$a, $b: -self.$b }
            }
        }
        impl Mul<f64> for $name {
            type Output = $name;
            #[inline]
            fn mul(self, s: f64) -> $name {
                $name { $a: self.$a * s, $b: self.$b * s }
            }
        }
    };
}
linear_operations!(Twist, angular, linear);
linear_operations!(Wrench, torque, force);

impl Default for Frame {
    fn default() -> Frame {
        Frame { rotation: Mat3::identity(), origin: Vec3::zeros() }
    }
}

impl From<&Isometry> for Frame {
    fn from(pose: &Isometry) -> Frame {
        Frame { rotation: pose.rotation.to_rotation_matrix().into_inner(), origin: pose.translation.vector }
    }
}

impl Frame {
    /// The same transform as a unit quaternion and a translation.
    pub fn isometry(&self) -> Isometry {
        Isometry::from_parts(self.origin.into(), self.quaternion())
    }

    /// The rotation as a unit quaternion.
    pub fn quaternion(&self) -> Rotation {
        Rotation::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(self.rotation))
    }

    /// `a_from_b.then(b_from_c)` is `a_from_c`.
    #[inline]
    pub fn then(&self, next: &Frame) -> Frame {
        Frame { rotation: self.rotation * next.rotation, origin: self.point(&next.origin) }
    }

    /// Maps a point from b to a.
    #[inline]
    pub fn point(&self, p: &Vec3) -> Vec3 {
        self.rotation * p + self.origin
    }

    /// Maps a point from a to b.
    #[inline]
    pub fn point_back(&self, p: &Vec3) -> Vec3 {
        self.rotation.tr_mul(&(p - self.origin))
    }

    /// Ad of the inverse: maps a twist from a to b.
    #[inline]
    pub fn twist_back(&self, v: &Twist) -> Twist {
        Twist { angular: self.rotation.tr_mul(&v.angular), linear: self.rotation.tr_mul(&v.at(&self.origin)) }
    }

    /// Transpose of Ad of the inverse: maps a wrench from b to a.
    #[inline]
    pub fn wrench(&self, f: &Wrench) -> Wrench {
        let force = self.rotation * f.force;
        Wrench { torque: self.rotation * f.torque + self.origin.cross(&force), force }
    }

    /// Transpose of Ad: maps a wrench from a to b.
    #[inline]
    pub fn wrench_back(&self, f: &Wrench) -> Wrench {
        let torque = f.torque - self.origin.cross(&f.force);
        Wrench { torque: self.rotation.tr_mul(&torque), force: self.rotation.tr_mul(&f.force) }
    }
}

/// Spatial inertia of a rigid body about the origin of its frame.
///
/// ```text
/// J = ⎡ I    m[c]⎤   I = I_c − m [c]²
///     ⎣−m[c]  m 1⎦
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidInertia {
    /// Mass m (kg).
    pub mass: f64,
    /// First moment of mass m c (kg m).
    pub first_moment: Vec3,
    /// Rotational inertia I about the origin of the frame (kg m²).
    pub tensor: Mat3,
}

impl RigidInertia {
    /// From mass (kg), centre of mass (m) and rotational inertia about the centre of mass (kg m²).
    pub fn new(mass: f64, center: Vec3, tensor_about_center: Mat3) -> RigidInertia {
        let shift = Mat3::identity() * center.norm_squared() - center * center.transpose();
        RigidInertia { mass, first_moment: mass * center, tensor: tensor_about_center + mass * shift }
    }

    /// Adds a particle of a mass (kg) at a point (m).
    #[inline]
    pub fn add_particle(&mut self, mass: f64, point: &Vec3) {
        self.mass += mass;
        self.first_moment += mass * point;
        self.tensor += mass * (Mat3::identity() * point.norm_squared() - point * point.transpose());
    }

    /// J V: the momentum of a body that moves with V.
    #[inline]
    pub fn times(&self, v: &Twist) -> Wrench {
        Wrench {
            torque: self.tensor * v.angular + self.first_moment.cross(&v.linear),
            force: self.mass * v.linear - self.first_moment.cross(&v.angular),
        }
    }
}

impl Add for RigidInertia {
    type Output = RigidInertia;

    /// The composite of two bodies in the same frame.
    #[inline]
    fn add(self, other: RigidInertia) -> RigidInertia {
        RigidInertia {
            mass: self.mass + other.mass,
            first_moment: self.first_moment + other.first_moment,
            tensor: self.tensor + other.tensor,
        }
    }
}

/// Articulated-body inertia: the wrench per acceleration of a body with its subtree attached, a general symmetric 6×6 matrix.
///
/// ```text
/// Ĵ = ⎡I   H⎤
///     ⎣Hᵀ  M⎦
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArticulatedInertia {
    /// I: torque per angular acceleration (kg m²).
    pub rotational: Mat3,
    /// H: torque per linear acceleration (kg m).
    pub coupling: Mat3,
    /// M: force per linear acceleration (kg).
    pub linear: Mat3,
}

impl From<&RigidInertia> for ArticulatedInertia {
    #[inline]
    fn from(body: &RigidInertia) -> ArticulatedInertia {
        ArticulatedInertia {
            rotational: body.tensor,
            coupling: cross_matrix(&body.first_moment),
            linear: Mat3::from_diagonal_element(body.mass),
        }
    }
}

impl ArticulatedInertia {
    /// Ĵ V: the wrench of an acceleration V.
    #[inline]
    pub fn times(&self, v: &Twist) -> Wrench {
        Wrench {
            torque: self.rotational * v.angular + self.coupling * v.linear,
            force: self.coupling.tr_mul(&v.angular) + self.linear * v.linear,
        }
    }

    /// Ĵ ← Ĵ − w wᵀ: removes the inertia along a joint axis (rank-one downdate).
    #[inline]
    pub fn subtract_square(&mut self, w: &Wrench) {
        self.rotational -= w.torque * w.torque.transpose();
        self.coupling -= w.torque * w.force.transpose();
        self.linear -= w.force * w.force.transpose();
    }

    /// Adds an inertia given in frame b to this one, which is in frame a.
    ///
    /// ```text
    /// I′ = R I Rᵀ, H′ = R H Rᵀ, M′ = R M Rᵀ
    /// Ad⁻ᵀ Ĵ Ad⁻¹ = ⎡I′ − H′[p] + [p]H′ᵀ − [p]M′[p]   H′ + [p]M′⎤
    ///               ⎣…                                M′        ⎦
    /// ```
    #[inline]
    pub fn add_from(&mut self, a_from_b: &Frame, other: &ArticulatedInertia) {
        let (r, p) = (&a_from_b.rotation, &a_from_b.origin);
        let rotated = |m: &Mat3| r * (m * r.transpose());
        let (rotational, coupling, linear) =
            (rotated(&other.rotational), rotated(&other.coupling), rotated(&other.linear));
        let p_m = cross_left(p, &linear);
        // −H′[p] = ([p]H′ᵀ)ᵀ, and [p]H′ᵀ − [p]M′[p] = [p](H′ + [p]M′)ᵀ
        let h_p = cross_left(p, &coupling.transpose());
        let shifted = coupling + p_m;
        self.rotational += rotational + h_p.transpose() + cross_left(p, &shifted.transpose());
        self.coupling += shifted;
        self.linear += linear;
    }
}

/// `[p] M`: the cross product of p with each column.
#[inline]
fn cross_left(p: &Vec3, m: &Mat3) -> Mat3 {
    Mat3::from_columns(&[
        p.cross(&m.column(0).into_owned()),
        p.cross(&m.column(1).into_owned()),
        p.cross(&m.column(2).into_owned()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::so3;
    use nalgebra::{Matrix6, Vector6};

    fn frame() -> Frame {
        let rotation = so3::exp(&Vec3::new(0.4, -1.1, 0.8)).to_rotation_matrix().into_inner();
        Frame { rotation, origin: Vec3::new(0.3, 2.0, -0.7) }
    }

    fn twist() -> Twist {
        Twist::new(Vec3::new(1.0, -0.5, 0.2), Vec3::new(-0.3, 0.9, 2.0))
    }

    fn wrench() -> Wrench {
        Wrench::new(Vec3::new(0.1, 0.6, -0.4), Vec3::new(1.5, -0.2, 0.7))
    }

    fn blocks(a: &Mat3, b: &Mat3, c: &Mat3, d: &Mat3) -> Matrix6<f64> {
        let mut m = Matrix6::zeros();
        for (i, j, block) in [(0, 0, a), (0, 3, b), (3, 0, c), (3, 3, d)] {
            m.fixed_view_mut::<3, 3>(i, j).copy_from(block);
        }
        m
    }

    fn dense(j: &ArticulatedInertia) -> Matrix6<f64> {
        blocks(&j.rotational, &j.coupling, &j.coupling.transpose(), &j.linear)
    }

    fn adjoint(f: &Frame) -> Matrix6<f64> {
        blocks(&f.rotation, &Mat3::zeros(), &(cross_matrix(&f.origin) * f.rotation), &f.rotation)
    }

    fn six(a: &Vec3, b: &Vec3) -> Vector6<f64> {
        Vector6::new(a.x, a.y, a.z, b.x, b.y, b.z)
    }

    // all quantities are of order one: sums of a few dozen products have a round-off of some ten ε
    const ROUND_OFF: f64 = 1e-14;

    #[test]
    fn block_operations_agree_with_6x6_matrices() {
        let (frame, v, f) = (frame(), twist(), wrench());
        let back = adjoint(&frame).try_inverse().unwrap();
        let t = frame.twist_back(&v);
        assert!((six(&t.angular, &t.linear) - back * six(&v.angular, &v.linear)).amax() < ROUND_OFF);
        let w = frame.wrench(&f);
        assert!((six(&w.torque, &w.force) - back.transpose() * six(&f.torque, &f.force)).amax() < ROUND_OFF);
        let again = frame.wrench_back(&w);
        assert!((again.torque - f.torque).amax() < ROUND_OFF && (again.force - f.force).amax() < ROUND_OFF);
        let ad = blocks(
            &cross_matrix(&v.angular),
            &Mat3::zeros(),
            &cross_matrix(&v.linear),
            &cross_matrix(&v.angular),
        );
        let product = v.ad(&t);
        assert!(
            (six(&product.angular, &product.linear) - ad * six(&t.angular, &t.linear)).amax() < ROUND_OFF
        );
        let dual = v.minus_ad_transposed(&f);
        assert!(
            (six(&dual.torque, &dual.force) + ad.transpose() * six(&f.torque, &f.force)).amax() < ROUND_OFF
        );
    }

    /// ⟨F, Ad⁻¹ V⟩ = ⟨Ad⁻ᵀ F, V⟩: power is independent of the frame.
    #[test]
    fn wrench_transform_is_the_adjoint_of_the_twist_transform() {
        let (frame, v, f) = (frame(), twist(), wrench());
        assert!((frame.twist_back(&v).dot(&f) - v.dot(&frame.wrench(&f))).abs() < ROUND_OFF);
    }

    #[test]
    fn inertia_transform_and_downdate_agree_with_6x6_matrices() {
        let body =
            RigidInertia::new(1.4, Vec3::new(0.2, -0.1, 0.5), Mat3::from_diagonal(&Vec3::new(0.3, 0.4, 0.5)));
        let mut inertia = ArticulatedInertia::from(&body);
        let (v, w) = (twist(), wrench());
        let momentum = body.times(&v);
        let same = inertia.times(&v);
        assert!(
            (momentum.torque - same.torque).amax() < ROUND_OFF
                && (momentum.force - same.force).amax() < ROUND_OFF
        );
        inertia.subtract_square(&w);
        let column = six(&w.torque, &w.force);
        assert!(
            (dense(&inertia) - (dense(&(&body).into()) - column * column.transpose())).amax() < ROUND_OFF
        );

        let mut transformed = ArticulatedInertia::default();
        transformed.add_from(&frame(), &inertia);
        let back = adjoint(&frame()).try_inverse().unwrap();
        // lever arms of two metres enter squared
        assert!((dense(&transformed) - back.transpose() * dense(&inertia) * back).amax() < 10.0 * ROUND_OFF);
    }

    #[test]
    fn frames_compose_like_isometries() {
        let a = frame();
        let b = Frame { origin: Vec3::new(-1.0, 0.2, 0.4), rotation: so3::axis_angle(&Vec3::x(), 0.7) };
        let p = Vec3::new(0.5, -0.3, 1.2);
        let both = a.then(&b);
        assert!((both.point(&p) - a.point(&b.point(&p))).amax() < ROUND_OFF);
        assert!((both.point_back(&both.point(&p)) - p).amax() < ROUND_OFF);
        assert!((Frame::from(&both.isometry()).rotation - both.rotation).amax() < ROUND_OFF);
    }
}
