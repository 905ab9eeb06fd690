//! Spatial (six-dimensional) vectors and inertias of rigid bodies, angular part first.
//!
//! ```text
//! V = (w, v),   F = (t, f),   Ad_T = ⎡ R    0 ⎤   ad_V = ⎡[w]  0 ⎤     [KimPollard2011, table II]
//!                                    ⎣[p]R  R ⎦          ⎣[v] [w]⎦
//! ```
//!
//! The one idea: the blocks are 3-vectors and 3×3 matrices, so that zeros and symmetry cost nothing. A [`Frame`] named
//! `a_from_b` takes points of b to a; twists go down the tree by Ad of its inverse, wrenches come up by the transpose.

use crate::{Isometry, Mat3, Rotation, Vec3, nalgebra};
use core::ops::{Add, AddAssign, Mul, Neg, Sub};

/// [a]: the matrix of a × ·.
#[inline]
pub fn cross_matrix(a: &Vec3) -> Mat3 {
    Mat3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// Angular and linear velocity (rad/s, m/s), or acceleration, of a body at the origin of its frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    /// w
    pub angular: Vec3,
    /// v, of the point of the body at the origin
    pub linear: Vec3,
}

/// Torque about the origin and force (N m, N), or angular and linear momentum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// t
    pub torque: Vec3,
    /// f
    pub force: Vec3,
}

/// Where one frame stands in another, as a matrix: x_a = R x_b + p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// R
    pub rotation: Mat3,
    /// p (m)
    pub origin: Vec3,
}

impl Twist {
    /// A twist from its parts.
    #[inline]
    pub fn new(angular: Vec3, linear: Vec3) -> Twist {
        Twist { angular, linear }
    }

    /// ad_V U: how U changes when it is carried along with V.
    #[inline]
    pub fn ad(&self, u: &Twist) -> Twist {
        Twist {
            angular: self.angular.cross(&u.angular),
            linear: self.linear.cross(&u.angular) + self.angular.cross(&u.linear),
        }
    }

    /// −ad_Vᵀ F: how a wrench or momentum changes when it is carried along with V.
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

    /// The velocity of the point of the body at `p` (m/s).
    #[inline]
    pub fn at(&self, p: &Vec3) -> Vec3 {
        self.linear + self.angular.cross(p)
    }
}

impl Wrench {
    /// A wrench from its parts.
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
    /// The same as a quaternion and a translation.
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

    /// A point of b in a.
    #[inline]
    pub fn point(&self, p: &Vec3) -> Vec3 {
        self.rotation * p + self.origin
    }

    /// A point of a in b.
    #[inline]
    pub fn point_back(&self, p: &Vec3) -> Vec3 {
        self.rotation.tr_mul(&(p - self.origin))
    }

    /// Ad of the inverse: a twist seen from a, seen from b.
    #[inline]
    pub fn twist_back(&self, v: &Twist) -> Twist {
        Twist { angular: self.rotation.tr_mul(&v.angular), linear: self.rotation.tr_mul(&v.at(&self.origin)) }
    }

    /// Transpose of Ad of the inverse: a wrench seen from b, seen from a.
    #[inline]
    pub fn wrench(&self, f: &Wrench) -> Wrench {
        let force = self.rotation * f.force;
        Wrench { torque: self.rotation * f.torque + self.origin.cross(&force), force }
    }

    /// Transpose of Ad: a wrench seen from a, seen from b.
    #[inline]
    pub fn wrench_back(&self, f: &Wrench) -> Wrench {
        let torque = f.torque - self.origin.cross(&f.force);
        Wrench { torque: self.rotation.tr_mul(&torque), force: self.rotation.tr_mul(&f.force) }
    }
}

/// Mass and moments of a rigid body, seen from its frame.
///
/// ```text
/// J = ⎡ I    m[c]⎤   I = I_c − m [c]²
///     ⎣−m[c]  m 1⎦
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidInertia {
    /// m (kg)
    pub mass: f64,
    /// m c (kg m)
    pub first_moment: Vec3,
    /// I, about the origin of the frame (kg m²)
    pub tensor: Mat3,
}

impl RigidInertia {
    /// From mass (kg), centre (m) and the tensor about the centre (kg m²).
    pub fn new(mass: f64, center: Vec3, tensor_about_center: Mat3) -> RigidInertia {
        let shift = Mat3::identity() * center.norm_squared() - center * center.transpose();
        RigidInertia { mass, first_moment: mass * center, tensor: tensor_about_center + mass * shift }
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

/// What a body with all that hangs on it answers to an acceleration: any symmetric matrix.
///
/// ```text
/// Ĵ = ⎡I   H⎤
///     ⎣Hᵀ  M⎦
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArticulatedInertia {
    /// I: torque of angular acceleration (kg m²)
    pub rotational: Mat3,
    /// H: torque of linear acceleration (kg m)
    pub coupling: Mat3,
    /// M: force of linear acceleration (kg)
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
    /// Ĵ V
    #[inline]
    pub fn times(&self, v: &Twist) -> Wrench {
        Wrench {
            torque: self.rotational * v.angular + self.coupling * v.linear,
            force: self.coupling.tr_mul(&v.angular) + self.linear * v.linear,
        }
    }

    /// Ĵ − w wᵀ
    #[inline]
    pub fn subtract_square(&mut self, w: &Wrench) {
        self.rotational -= w.torque * w.torque.transpose();
        self.coupling -= w.torque * w.force.transpose();
        self.linear -= w.force * w.force.transpose();
    }

    /// Adds an inertia seen from b to this one seen from a.
    ///
    /// ```text
    /// I′ = R I Rᵀ, H′ = R H Rᵀ, M′ = R M Rᵀ
    /// Ad⁻ᵀ Ĵ Ad⁻¹ = ⎡I′ − H′[p] + [p]H′ᵀ − [p]M′[p]   H′ + [p]M′⎤
    ///               ⎣…                                M′        ⎦
    /// ```
    #[inline]
    pub fn add_from(&mut self, a_from_b: &Frame, other: &ArticulatedInertia) {
        let (r, p) = (&a_from_b.rotation, &a_from_b.origin);
        let turn = |m: &Mat3| r * (m * r.transpose());
        let (rotational, coupling, linear) =
            (turn(&other.rotational), turn(&other.coupling), turn(&other.linear));
        let p_m = cross_left(p, &linear);
        // −H′[p] = ([p]H′ᵀ)ᵀ, and [p]H′ᵀ − [p]M′[p] = [p](H′ + [p]M′)ᵀ
        let h_p = cross_left(p, &coupling.transpose());
        let shifted = coupling + p_m;
        self.rotational += rotational + h_p.transpose() + cross_left(p, &shifted.transpose());
        self.coupling += shifted;
        self.linear += linear;
    }
}

/// [p] M: p × each column.
#[inline]
fn cross_left(p: &Vec3, m: &Mat3) -> Mat3 {
    Mat3::from_columns(&[
        p.cross(&m.column(0).into_owned()),
        p.cross(&m.column(1).into_owned()),
        p.cross(&m.column(2).into_owned()),
    ])
}
