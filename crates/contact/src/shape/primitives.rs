//! Closed-form signed distances of spheres, capsules, boxes and cylinders.

use super::Probe;
use sinew_math::Vec3;

/// Distance from a core point, with the normal along y where it is undefined.
#[inline]
fn from_core_point(from_core: Vec3, radius: f64) -> Probe {
    let length = from_core.norm();
    let normal = if length > 0.0 { from_core / length } else { Vec3::y() };
    Probe { distance: length - radius, normal }
}

#[inline]
pub(super) fn sphere(p: &Vec3, radius: f64) -> Probe {
    from_core_point(*p, radius)
}

#[inline]
pub(super) fn capsule(p: &Vec3, half_length: f64, radius: f64) -> Probe {
    from_core_point(Vec3::new(p.x, p.y - p.y.clamp(-half_length, half_length), p.z), radius)
}

#[inline]
pub(super) fn cuboid(p: &Vec3, half: &Vec3) -> Probe {
    let beyond = p.abs() - half;
    let outside = beyond.sup(&Vec3::zeros());
    let length = outside.norm();
    if length > 0.0 {
        let normal = Vec3::from_fn(|k, _| outside[k].copysign(p[k])) / length;
        return Probe { distance: length, normal };
    }
    let axis = beyond.imax();
    let mut normal = Vec3::zeros();
    normal[axis] = 1.0f64.copysign(p[axis]);
    Probe { distance: beyond[axis], normal }
}

/// The distance of [`cuboid`] alone.
#[inline(always)]
pub(super) fn cuboid_distance(p: &Vec3, half: &Vec3) -> f64 {
    let beyond = p.abs() - half;
    let length = beyond.sup(&Vec3::zeros()).norm();
    if length > 0.0 { length } else { beyond[beyond.imax()] }
}

#[inline]
pub(super) fn cylinder(p: &Vec3, half_length: f64, radius: f64) -> Probe {
    let across = (p.x * p.x + p.z * p.z).sqrt();
    let outward = if across > 0.0 { Vec3::new(p.x / across, 0.0, p.z / across) } else { Vec3::x() };
    let along = Vec3::new(0.0, 1.0f64.copysign(p.y), 0.0);
    let (side, end) = (across - radius, p.y.abs() - half_length);
    if side > 0.0 && end > 0.0 {
        let length = (side * side + end * end).sqrt();
        return Probe { distance: length, normal: (outward * side + along * end) / length };
    }
    if side > end {
        Probe { distance: side, normal: outward }
    } else {
        Probe { distance: end, normal: along }
    }
}
