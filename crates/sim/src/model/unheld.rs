//! Which bodies and obstacles nothing holds: neither a bone nor a pin, nor a constraint to the world or to something that is held itself.

use super::Model;
use crate::constraint::{Anchor, Hold};
use crate::desc::Mobility;

/// What nothing holds. Before a take it waits ([`crate::Phase`]), while characters and all that hangs on them get ready.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unheld {
    /// For each body whether nothing holds it.
    pub(crate) bodies: Vec<bool>,
    /// For each obstacle whether it is dynamic and nothing holds it.
    pub(crate) obstacles: Vec<bool>,
}

/// A body or an obstacle, by its place.
#[derive(Clone, Copy)]
enum Thing {
    Body(usize),
    Obstacle(usize),
    /// The world, or a bone.
    Held,
}

impl Unheld {
    /// Finds what nothing holds in a model that is otherwise complete.
    pub(super) fn find(model: &Model) -> Unheld {
        // bodies without bones and pins, and dynamic obstacles with their parts
        let reference = &model.fixed_nodes.node_reference;
        let is_free = |i: usize| {
            let body = &model.bodies[i];
            let hangs = body.nodes.clone().any(|node| reference[node] > 0 || model.fixed_nodes.holds(node));
            !hangs && model.pins.iter().all(|pin| pin.body != i)
        };
        let is_dynamic =
            |i: usize| matches!(model.obstacles[model.obstacles[i].carrier].mobility, Mobility::Free { .. });
        let mut unheld = Unheld {
            bodies: (0..model.bodies.len()).map(is_free).collect(),
            obstacles: (0..model.obstacles.len()).map(is_dynamic).collect(),
        };

        // constraints hold what they join to something held, until nothing more is
        loop {
            let before = unheld.count();
            for constraint in &model.constraints {
                let [a, b] = match &constraint.hold {
                    Hold::Place { anchor, .. } => [thing(model, anchor), Thing::Held],
                    Hold::Between(anchors) => anchors.each_ref().map(|anchor| thing(model, anchor)),
                    Hold::Exact { row, .. } => [thing(model, &Anchor::Nodes(row.clone())), Thing::Held],
                    Hold::Around(_) => continue,
                };
                if !(unheld.contains(a) && unheld.contains(b)) {
                    unheld.remove(model, a);
                    unheld.remove(model, b);
                }
            }
            if unheld.count() == before {
                return unheld;
            }
        }
    }

    /// Whether there is anything that nothing holds.
    pub(crate) fn any(&self) -> bool {
        self.count() > 0
    }

    fn count(&self) -> usize {
        self.bodies.iter().chain(&self.obstacles).filter(|own| **own).count()
    }

    fn contains(&self, thing: Thing) -> bool {
        match thing {
            Thing::Body(i) => self.bodies[i],
            Thing::Obstacle(i) => self.obstacles[i],
            Thing::Held => false,
        }
    }

    fn remove(&mut self, model: &Model, thing: Thing) {
        match thing {
            Thing::Body(i) => self.bodies[i] = false,
            Thing::Obstacle(i) => {
                let carrier = model.obstacles[i].carrier;
                let parts = self.obstacles.iter_mut().zip(&model.obstacles);
                parts.filter(|(_, other)| other.carrier == carrier).for_each(|(own, _)| *own = false);
            }
            Thing::Held => {}
        }
    }
}

/// What a point moves with.
fn thing(model: &Model, anchor: &Anchor) -> Thing {
    match anchor {
        Anchor::Nodes(row) => {
            let node = row.first().map(|(node, _)| *node as usize);
            let body = |node| model.bodies.iter().position(|body| body.nodes.contains(&node));
            node.and_then(body).map_or(Thing::Held, Thing::Body)
        }
        Anchor::Bone { .. } => Thing::Held,
        Anchor::Obstacle { obstacle, .. } => Thing::Obstacle(*obstacle),
    }
}
