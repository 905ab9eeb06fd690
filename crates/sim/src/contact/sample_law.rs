//! Contact laws of dynamic obstacles: how samples of their surfaces share the stiffness of the whole, and how springs soften where obstacles are light.

use super::candidates::Candidate;
use crate::Model;
use sinew_contact::Penalty;
use sinew_math::Vec3;

/// Springs between dynamic obstacles and flesh divide the stability limit equally between both sides.
const SHARED: f64 = 0.5;
/// Damping coefficient for samples of dynamic obstacles: without elasticity of their own, more of the stability limit is available for damping.
const SAMPLE_DAMPING: f64 = 0.6;

/// Contacts of dynamic obstacles at one time.
#[derive(Clone, Debug, Default)]
pub(super) struct SampleLaws {
    /// Number of samples of each dynamic obstacle in contact; they share its mass.
    contact_samples: Vec<u32>,
    /// For each dynamic obstacle Σ k (1/m + r²/I) over its contacts, then the stiffness factor that keeps it stable.
    give: Vec<f64>,
}

impl SampleLaws {
    /// Fraction of the stiffness of a spring on flesh: all of it on fixed and kinematic obstacles.
    pub(super) fn fraction(model: &Model, obstacle: u32) -> f64 {
        if model.solid(obstacle as usize).is_some() { SHARED } else { 1.0 }
    }

    /// The law of a sample of a dynamic obstacle in contact with another obstacle, before it is softened.
    #[inline(always)]
    pub(super) fn of_sample(&self, model: &Model, owner: u32, obstacle: u32) -> Penalty {
        let friction = model.contact_surface().materials.of_obstacles(owner, obstacle).friction;
        let obstacle = &model.obstacles()[obstacle as usize];
        let owner_count = self.contact_samples[model.obstacles()[owner as usize].carrier].max(1);
        let mass = model.solid(owner as usize).map_or(0.0, |solid| solid.mass) / f64::from(owner_count);
        let (owner, step) = (&model.obstacles()[owner as usize], model.contact_surface().step);
        let factor = model.contact_surface().desc.stiffness * obstacle.stiffness;
        let law = Penalty::stable(mass, step, friction, owner.reach);
        let damping = SAMPLE_DAMPING * factor.sqrt() * mass / step;
        Penalty { stiffness: factor * law.stiffness, damping, ..law }
    }

    /// Counts the samples in contact of dynamic obstacles, on which their laws depend.
    pub(super) fn count<'a>(&mut self, model: &Model, in_contact: impl Iterator<Item = &'a Candidate>) {
        if !model.has_free_obstacles() {
            return;
        }
        self.contact_samples.clear();
        self.contact_samples.resize(model.obstacles().len(), 0);
        for owner in in_contact.filter_map(|c| c.owner) {
            self.contact_samples[model.obstacles()[owner as usize].carrier] += 1;
        }
    }

    /// Computes the stiffness reduction that keeps light dynamic obstacles stable in explicit steps:
    ///
    /// ```text
    /// λ ≤ Σᵢ kᵢ (1/m + rᵢ²/I)  over all its contacts, I its smallest principal inertia
    /// ```
    ///
    /// `center` returns centres of mass (m), `stiffness` that of a contact (N/m).
    pub(super) fn soften<'a>(
        &mut self,
        model: &Model,
        center: impl Fn(usize) -> Vec3,
        in_contact: impl Iterator<Item = &'a Candidate>,
        mut stiffness: impl FnMut(&SampleLaws, &Candidate) -> f64,
    ) {
        self.give.clear();
        self.give.resize(model.obstacles().len(), 0.0);
        if !model.has_free_obstacles() {
            return;
        }
        for c in in_contact {
            let stiffness = stiffness(self, c);
            for side in sides(model, c) {
                if let Some(solid) = &model.obstacles()[side].solid {
                    let arm = c.x - center(side);
                    let least = solid.inertia.diagonal().min().max(f64::MIN_POSITIVE);
                    self.give[side] += stiffness * (1.0 / solid.mass + arm.norm_squared() / least);
                }
            }
        }
        let stable = SHARED * Penalty::STRENGTH.stiffness * model.contact_surface().desc.stiffness
            / (model.contact_surface().step * model.contact_surface().step);
        for give in &mut self.give {
            *give = if *give > stable { stable / *give } else { 1.0 };
        }
    }

    /// The stiffness factor of a contact: the smaller one of its two sides.
    #[inline(always)]
    pub(super) fn give(&self, model: &Model, c: &Candidate) -> f64 {
        let free = sides(model, c).filter(|side| model.obstacles()[*side].solid.is_some());
        free.map(|side| self.give[side]).fold(1.0, f64::min)
    }
}

/// The rigid bodies of a candidate: that of the obstacle, and of the sample if it is one.
#[inline(always)]
fn sides(model: &Model, c: &Candidate) -> impl Iterator<Item = usize> {
    let carrier = |side: u32| model.obstacles()[side as usize].carrier;
    [Some(c.obstacle), c.owner].into_iter().flatten().map(carrier)
}
