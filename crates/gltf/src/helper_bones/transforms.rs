//! Rigid transforms of helpers in one frame, for weights that stay as they are.
//!
//! ```text
//! minimise Σ_i λ_i ‖x_i − Σ_j w_ij J_j p_i − Σ_h u_ih H_h p_i‖²   over rotations and translations H_h = [R_h | t_h]
//! ```
//!
//! With p̃ = (p, 1) the objective is a quadratic form of the H_h in a few moments,
//!
//! ```text
//! A_hk = Σ_i λ_i u_ih u_ik p̃_i p̃_iᵀ,   B_h = Σ_i λ_i u_ih (x_i − Σ_j w_ij J_j p_i) p̃_iᵀ
//! ```
//!
//! which are summed over vertices once; then sweeps over the helpers cost nothing in vertices. A sweep solves for one helper after the
//! other exactly: with C = B_h − Σ_{k≠h} H_k A_kh = [Q | c] and A_hh = [P s; sᵀ m] the rotation is that of the polar decomposition of
//! Q − c sᵀ/m, and t = (c − R s)/m [LeDeng2012, §4.2].
//!
//! A tether holds every helper weakly to the joint that it follows, by a moment about its centre. It decides what vertices leave open: the
//! rotation of a helper whose vertices are all on a line, and the place of one that moves none. A second one draws it to the course of the frames
//! before and after: what vertices hardly determine would otherwise differ from frame to frame, and helpers that share vertices would move against each other between frames.

use super::motion::{Affine, Influence, apply, blend, squared_distance};
use sinew_math::nalgebra::Matrix4;
use sinew_math::svd::Svd;
use sinew_math::{Mat3, Vec3};

/// Sweeps over the helpers of a frame in a round.
pub(super) const SWEEPS: usize = 8;

/// What depends on the weights only: which helpers share vertices.
pub(super) struct TransformSolver<'a> {
    weights: &'a [Vec<Influence>],
    joint_count: usize,
    helper_count: usize,
    vertices: Vec<VertexTerms>,
    /// Pairs h < k that share vertices.
    pairs: Vec<(usize, usize)>,
}

/// The bones of a vertex.
struct VertexTerms {
    joints: Vec<Influence>,
    /// Helpers, counted from 0.
    helpers: Vec<(usize, f64)>,
    /// The pair of each two of them, first with second, first with third and so on.
    pairs: Vec<usize>,
}

/// A frame: bind positions, targets, and the maps of the file's joints.
pub(super) struct FrameTerms<'a> {
    pub(super) bind: &'a [[f32; 3]],
    pub(super) targets: &'a [[f32; 3]],
    pub(super) joints: &'a [Affine],
    /// Where each helper tends to be.
    pub(super) tethers: &'a [Tether],
}

/// Where a helper tends to be.
#[derive(Clone, Debug)]
pub(super) struct Tether {
    /// The centre of the helper at bind (m).
    pub(super) centre: Vec3,
    /// The radius of its vertices about it (m).
    pub(super) radius: f64,
    /// The map it tends to in this frame.
    pub(super) map: Affine,
    /// Its weight as a fraction of that of the vertices.
    pub(super) fraction: f64,
}

impl<'a> TransformSolver<'a> {
    /// For weights of joints, then helpers.
    pub(super) fn new(
        joint_count: usize,
        helper_count: usize,
        weights: &'a [Vec<Influence>],
    ) -> TransformSolver<'a> {
        let mut table = vec![usize::MAX; helper_count * helper_count];
        let mut pairs = Vec::new();
        let vertices = weights.iter().map(|influences| {
            let (joints, helpers): (Vec<Influence>, Vec<Influence>) =
                influences.iter().partition(|influence| influence.bone < joint_count);
            let helpers: Vec<(usize, f64)> =
                helpers.iter().map(|influence| (influence.bone - joint_count, influence.weight)).collect();
            let mut shared = Vec::new();
            for (place, (h, _)) in helpers.iter().enumerate() {
                for (k, _) in &helpers[place + 1..] {
                    let key = h.min(k) * helper_count + h.max(k);
                    if table[key] == usize::MAX {
                        table[key] = pairs.len();
                        pairs.push((*h.min(k), *h.max(k)));
                    }
                    shared.push(table[key]);
                }
            }
            VertexTerms { joints, helpers, pairs: shared }
        });
        let vertices = vertices.collect();
        TransformSolver { weights, joint_count, helper_count, vertices, pairs }
    }

    /// ‖r_i‖ of all vertices (m).
    pub(super) fn distances(&self, frame: &FrameTerms, helpers: &[Affine]) -> Vec<f32> {
        let maps: Vec<Affine> = frame.joints.iter().chain(helpers).copied().collect();
        distances(self.weights, &maps, frame.bind, frame.targets)
    }

    /// Moves helpers to lower the objective, in so many sweeps.
    pub(super) fn solve(&self, frame: &FrameTerms, emphasis: &[f32], sweeps: usize, helpers: &mut [Affine]) {
        // moments
        debug_assert_eq!((frame.joints.len(), helpers.len()), (self.joint_count, self.helper_count));
        let mut own = vec![Matrix4::<f64>::zeros(); self.helper_count];
        let mut shared = vec![Matrix4::<f64>::zeros(); self.pairs.len()];
        let mut targets = vec![Affine::zeros(); self.helper_count];
        for (vertex, terms) in self.vertices.iter().enumerate() {
            if terms.helpers.is_empty() {
                continue;
            }
            let lambda = f64::from(emphasis[vertex]);
            self.add_vertex(terms, vertex, (frame, lambda), (&mut own, &mut shared, &mut targets));
        }
        own.iter_mut().chain(&mut shared).for_each(|moment| moment.fill_lower_triangle_with_upper_triangle());

        // what holds helpers that vertices leave free
        for h in 0..self.helper_count {
            let tether = &frame.tethers[h];
            let moment = tether.moment(own[h][(3, 3)]);
            own[h] += moment;
            targets[h] += tether.map * moment;
        }

        // sweeps
        let mut neighbours = vec![Vec::new(); self.helper_count];
        for (pair, (h, k)) in self.pairs.iter().enumerate() {
            neighbours[*h].push((*k, pair));
            neighbours[*k].push((*h, pair));
        }
        for _ in 0..sweeps {
            for h in 0..self.helper_count {
                let mut wanted = targets[h];
                for (k, pair) in &neighbours[h] {
                    subtract_product(&mut wanted, &helpers[*k], &shared[*pair]);
                }
                helpers[h] = best_rigid(&own[h], &wanted, &helpers[h]);
            }
        }
    }

    /// Adds the moments of a vertex, in their upper triangles.
    fn add_vertex(
        &self,
        terms: &VertexTerms,
        vertex: usize,
        (frame, lambda): (&FrameTerms, f64),
        (own, shared, targets): (&mut [Matrix4<f64>], &mut [Matrix4<f64>], &mut [Affine]),
    ) {
        let p = &frame.bind[vertex];
        let target = &frame.targets[vertex];
        let mut x = [f64::from(target[0]), f64::from(target[1]), f64::from(target[2])];
        for influence in &terms.joints {
            let moved = apply(&frame.joints[influence.bone], p);
            for axis in 0..3 {
                x[axis] -= influence.weight * moved[axis];
            }
        }
        let point = [f64::from(p[0]), f64::from(p[1]), f64::from(p[2]), 1.0];
        let mut pair = terms.pairs.iter();
        for (place, (h, u)) in terms.helpers.iter().enumerate() {
            let factor = lambda * u;
            for column in 0..4 {
                for axis in 0..3 {
                    targets[*h][(axis, column)] += factor * x[axis] * point[column];
                }
            }
            add_moment(&mut own[*h], factor * u, &point);
            for ((_, other), pair) in terms.helpers[place + 1..].iter().zip(&mut pair) {
                add_moment(&mut shared[*pair], factor * other, &point);
            }
        }
    }
}

/// ‖Σ_b w_b T_b p − x‖ of all vertices (m).
pub(super) fn distances(
    weights: &[Vec<Influence>],
    maps: &[Affine],
    bind: &[[f32; 3]],
    targets: &[[f32; 3]],
) -> Vec<f32> {
    let vertices = weights.iter().zip(bind).zip(targets);
    let distance = |((influences, p), x): ((&Vec<Influence>, &[f32; 3]), &[f32; 3])| {
        squared_distance(&blend(influences, p, maps), x).sqrt() as f32
    };
    vertices.map(distance).collect()
}

/// C ← C − H A.
#[inline]
fn subtract_product(c: &mut Affine, h: &Affine, a: &Matrix4<f64>) {
    for column in 0..4 {
        for axis in 0..3 {
            let mut sum = 0.0;
            for k in 0..4 {
                sum += h[(axis, k)] * a[(k, column)];
            }
            c[(axis, column)] -= sum;
        }
    }
}

/// Adds the upper triangle of f p̃ p̃ᵀ.
#[inline]
fn add_moment(moment: &mut Matrix4<f64>, factor: f64, point: &[f64; 4]) {
    for column in 0..4 {
        let scaled = factor * point[column];
        for row in 0..=column {
            moment[(row, column)] += scaled * point[row];
        }
    }
}

/// The rigid map that minimises tr(T A Tᵀ) − 2 tr(T Cᵀ); `kept` where A has no mass.
pub(super) fn best_rigid(moment: &Matrix4<f64>, wanted: &Affine, kept: &Affine) -> Affine {
    let mass = moment[(3, 3)];
    // the comparison is false for NaN too
    let has_mass = mass > 1e-30;
    if !has_mass {
        return *kept;
    }
    let first: Vec3 = moment.fixed_view::<3, 1>(0, 3).into_owned();
    let (turned, shifted): (Mat3, Vec3) =
        (wanted.fixed_view::<3, 3>(0, 0).into_owned(), wanted.column(3).into_owned());
    let Svd { u, v, .. } = Svd::of(&(turned - shifted * first.transpose() / mass));
    rigid(&(u * v.transpose()), &|rotation| (shifted - rotation * first) / mass)
}

/// [R | t].
pub(super) fn rigid(rotation: &Mat3, translation: &dyn Fn(&Mat3) -> Vec3) -> Affine {
    let mut map = Affine::zeros();
    map.fixed_view_mut::<3, 3>(0, 0).copy_from(rotation);
    map.set_column(3, &translation(rotation));
    map
}

/// D(t) D(s)⁻¹ H for rigid maps.
pub(super) fn carried(now: &Affine, then: &Affine, map: &Affine) -> Affine {
    let part = |map: &Affine| -> (Mat3, Vec3) {
        (map.fixed_view::<3, 3>(0, 0).into_owned(), map.column(3).into_owned())
    };
    let ((now, now_shift), (then, then_shift), (turned, shift)) = (part(now), part(then), part(map));
    let step = now * then.transpose();
    rigid(&(step * turned), &|_| step * (shift - then_shift) + now_shift)
}

impl Tether {
    /// The same, drawn to another map as well, with a weight as a fraction of that of the vertices.
    pub(super) fn and(&self, other: &Affine, fraction: f64) -> Tether {
        let both = self.fraction + fraction;
        // f₁ ‖T − T₁‖² + f₂ ‖T − T₂‖² is (f₁ + f₂) ‖T − (f₁ T₁ + f₂ T₂)/(f₁ + f₂)‖² but for a constant
        Tether { map: (self.map * self.fraction + other * fraction) / both, fraction: both, ..self.clone() }
    }

    /// f m ∫ p̃ p̃ᵀ of a ball's worth of points about the centre.
    fn moment(&self, mass: f64) -> Matrix4<f64> {
        let (c, mass) = (&self.centre, self.fraction * mass.max(1e-12));
        let mut moment = Matrix4::zeros();
        let spread = c * c.transpose() + Mat3::identity() * (self.radius * self.radius / 3.0);
        moment.fixed_view_mut::<3, 3>(0, 0).copy_from(&spread);
        moment.fixed_view_mut::<3, 1>(0, 3).copy_from(c);
        moment.fixed_view_mut::<1, 3>(3, 0).copy_from(&c.transpose());
        moment[(3, 3)] = 1.0;
        mass * moment
    }
}
