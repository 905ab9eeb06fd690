//! Free flight of bodies without bones in first-order steps.
//!
//! Backward Euler takes gravity at the end of the step for all of it, and is ahead by ½ h² g after each. A part on which nothing but gravity acts at the end of a step is moved back by that, all of it alike, so that nothing
//! deforms and its centre follows the parabola exactly; its velocity is right as it is. Where contacts, constraints, loads or pins act, they balance gravity, and the step stays as it is. SDIRK2 is exact for constant accelerations.

use super::problem::Problem;
use crate::{Model, NodeEnergy};
use sinew_math::Vec3;

/// Which parts fly, with workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    /// For each part whether nothing but gravity acts on it.
    is_flying: Vec<bool>,
    outside: Vec<Vec3>,
    motion: Vec<Vec3>,
}

impl Flight {
    /// Finds out which parts fly at node positions `x` (m), the end of a solve. None of them does if an energy does not admit moving back by `back` (m).
    pub(super) fn find(
        &mut self,
        model: &Model,
        problem: &Problem,
        (x, back): (&[Vec3], Vec3),
        extras: &mut [&mut dyn NodeEnergy],
    ) {
        // forces from outside
        self.is_flying.clear();
        if model.parts().all().is_empty() {
            return;
        }
        self.outside.clear();
        self.outside.extend_from_slice(problem.load());
        self.outside.resize(x.len(), Vec3::zeros());
        extras.iter_mut().filter(|extra| !extra.is_internal()).for_each(|extra| {
            extra.evaluate(x, &mut self.outside);
        });

        // parts that none of them acts on, all of whose nodes move
        let is_pushed = |node: &u32| {
            problem.inertia[*node as usize] == 0.0
                || self.outside[*node as usize] != Vec3::zeros()
                || problem.exact.holds(*node)
        };
        for part in model.parts().all() {
            let nodes = model.parts().nodes_of(part);
            self.is_flying.push(!nodes.iter().any(is_pushed));
        }
        if !extras.is_empty() && self.is_flying.contains(&true) {
            self.motion.clear();
            self.motion.resize(x.len(), Vec3::zeros());
            let Flight { is_flying, motion, .. } = &mut *self;
            move_back(model, is_flying, &back, motion);
            if extras.iter_mut().any(|extra| extra.max_step(x, motion) < 1.0) {
                self.is_flying.fill(false);
            }
        }
    }

    /// Moves the nodes of flying parts back by a distance (m).
    pub(super) fn move_back(&self, model: &Model, back: &Vec3, x: &mut [Vec3]) {
        move_back(model, &self.is_flying, back, x);
    }
}

fn move_back(model: &Model, is_flying: &[bool], back: &Vec3, x: &mut [Vec3]) {
    for (part, _) in model.parts().all().iter().zip(is_flying).filter(|(_, flies)| **flies) {
        model.parts().nodes_of(part).iter().for_each(|node| x[*node as usize] -= back);
    }
}
