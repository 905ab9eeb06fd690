//! Where the vertices of surfaces are.
//!
//! A surface rides in the cage of its body. Where the body has a home, vertices are skinned by their own weights and take from the cage only the
//! displacement of its nodes from home:
//!
//! ```text
//! x_v = Σ_b w_b T_b p_b + Σ_i φ_i (x_i − s_i)
//! ```
//!
//! so that flesh at home is drawn exactly as it is skinned.

use crate::coupling::{BoneCoupling, HomePose};
use crate::{Model, State};
use sinew_math::Vec3;
use sinew_math::parallel::for_each_part;

/// Computes the surfaces of states. Scratch.
#[derive(Clone, Debug, Default)]
pub struct SurfacePlacer {
    homes: HomePose,
    displacement: Vec<Vec3>,
}

/// Vertices that one task places.
const CHUNK: usize = 4096;

impl SurfacePlacer {
    /// Takes a state; to be called before [`SurfacePlacer::place`].
    pub fn update(&mut self, model: &Model, state: &State) {
        if model.homes().is_empty() {
            return;
        }
        let coupling = BoneCoupling::of(model, state);
        self.homes.place(model, &coupling.fields);
        self.displacement.resize(model.node_count(), Vec3::zeros());
        for node in model.homes().bodies.iter().flat_map(|body| body.nodes.clone()) {
            self.displacement[node] = state.node_x[node] - self.homes.nodes[node].place;
        }
    }

    /// Writes the vertices of a body's surface (m).
    ///
    /// # Panics
    /// If `out` is shorter than the surface.
    pub fn place(&self, model: &Model, body: usize, state: &State, out: &mut [[f32; 3]]) {
        let own = &model.bodies()[body];
        let Some(home) = model.homes().of_body(body) else {
            own.embedding.interpolate_f32(&state.node_x[own.nodes.clone()], out);
            return;
        };
        let displacement = &self.displacement[own.nodes.clone()];
        for_each_part(out, CHUNK, |first, out| {
            for (i, out) in out.iter_mut().enumerate() {
                let vertex = first + i;
                let moved = own.embedding.point(vertex).fold(Vec3::zeros(), |sum, (node, fraction)| {
                    sum + fraction * displacement[node as usize]
                });
                let at = self.homes.skinned(home.of_vertex(vertex)) + moved;
                *out = [at.x as f32, at.y as f32, at.z as f32];
            }
        });
    }
}
