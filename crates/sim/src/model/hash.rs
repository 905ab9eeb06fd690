//! Hash of a model: equal for models built from equal descriptions, whose states are then interchangeable.

use super::Model;
use crate::body::Body;
use crate::body_kind::BodyKind;
use crate::desc::ContactDesc;
use core::fmt::Debug;
use sinew_math::Vec3;
use xxhash_rust::xxh3::Xxh3;

/// Hashes numbers with all their bits.
struct Fingerprint(Xxh3);

impl Model {
    /// Hash of everything that motion and surfaces depend on: nodes, tets, masses, materials and element properties, pins, loads, bones and joints, surfaces and
    /// their embedding. Computed anew at each call.
    pub fn hash(&self) -> u64 {
        // nodes and elements
        let mut print = Fingerprint(Xxh3::new());
        print.vector(&self.gravity);
        print.text(&(self.stable_step.seconds, self.stable_step.viscosity));
        print.count(self.node_count());
        self.node_rest.iter().chain(&self.node_start_v).for_each(|v| print.vector(v));
        self.node_unstressed.iter().chain(&self.node_lift).for_each(|v| print.vector(v));
        self.node_mass.iter().chain(&self.node_inverse_mass).for_each(|m| print.number(*m));
        print.count(self.tets.len());
        self.tets.iter().flatten().for_each(|node| print.index(*node));
        self.elements.stiffness().for_each(|number| print.index(number.to_bits()));
        self.fixed_nodes.node_bone.iter().for_each(|bone| print.index(*bone));
        self.fixed_nodes.node_reference.iter().for_each(|bone| print.index(*bone));
        self.homes.numbers().for_each(|number| print.number(number));
        self.bodies.iter().for_each(|body| print.body(body));

        // pins and loads
        for pin in &self.pins {
            print.text(&(pin.body, pin.nodes.len()));
            print.vector(&pin.center);
            pin.nodes.iter().for_each(|node| print.index(*node));
        }
        for load in &self.loads {
            print.text(&(load.body, load.node_fractions.len()));
            print.vector(&load.force);
            for (node, fraction) in &load.node_fractions {
                print.index(*node);
                print.number(*fraction);
            }
        }

        // rigs, obstacles, contact and constraints
        for rig in &self.rigs {
            print.text(&(&rig.name, &rig.bones));
            print.text(&rig.skeleton);
        }
        for obstacle in &self.obstacles {
            print.text(&(&obstacle.name, &obstacle.shape, obstacle.start.numbers(), obstacle.mobility));
            print.text(&(obstacle.friction, obstacle.stiffness));
        }
        if !self.obstacles.is_empty() || self.contact_surface.has_pairs {
            print.contact(&self.contact_surface.desc, self.contact_surface.step);
        }
        self.constraints.iter().for_each(|constraint| print.text(constraint));
        self.metaphors.iter().for_each(|metaphor| print.text(metaphor));
        for muscle in self.muscles() {
            print.text(muscle);
        }
        for fibre in &self.muscles.fibres {
            print.text(fibre);
        }
        self.body_start.q.iter().chain(&self.body_start.v).for_each(|number| print.number(*number));
        print.0.digest()
    }
}

impl Fingerprint {
    fn body(&mut self, body: &Body) {
        self.text(&(&body.name, &body.nodes, &body.tets, &body.material, body.damping_rate, body.sag));
        if body.air_drag > 0.0 {
            self.number(body.air_drag);
        }
        if let BodyKind::Custom(custom) = &body.kind {
            self.text(&(&custom.kind, &custom.q, &custom.v));
        }
        self.count(body.surface.triangles.len());
        body.surface.triangles.iter().flatten().for_each(|vertex| self.index(*vertex));
        body.surface.vertices.iter().for_each(|vertex| self.vector(vertex));
        for point in 0..body.embedding.point_count() {
            for (node, weight) in body.embedding.point(point) {
                self.index(node);
                self.number(weight);
            }
        }
    }

    /// Hashes contact parameters as they were printed when there were several responses and bodies had none of their own: hashes in recorded takes stay valid.
    fn contact(&mut self, desc: &ContactDesc, step: f64) {
        let text = format!("{desc:?}").replacen("{ friction", "{ response: Penalty, friction", 1);
        let text = text.replacen(", bodies: []", "", 1);
        self.text(&(format_args!("{text}"), step));
    }

    /// Hashes the debug output, which for numbers contains all their bits.
    fn text(&mut self, what: &impl Debug) {
        let text = format!("{what:?}");
        self.count(text.len());
        self.0.update(text.as_bytes());
    }

    fn count(&mut self, count: usize) {
        self.0.update(&(count as u64).to_le_bytes());
    }

    fn index(&mut self, index: u32) {
        self.0.update(&index.to_le_bytes());
    }

    fn number(&mut self, number: f64) {
        self.0.update(&number.to_le_bytes());
    }

    fn vector(&mut self, vector: &Vec3) {
        vector.iter().for_each(|x| self.number(*x));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldDesc;
    use crate::desc::{BodyDesc, CageSize, PinDesc, Region, Sag, ShapeDesc};
    use sinew_flesh::Material;
    use sinew_mesh::{PointField, shapes};

    fn world() -> WorldDesc {
        let surface = shapes::sphere(0.1, 2);
        let body = BodyDesc {
            name: "ball".into(),
            shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(100) },
            material: Material::NAMED[0].1,
            velocity: Vec3::zeros(),
            pins: vec![PinDesc { region: Region::End { direction: Vec3::y(), fraction: 0.1 } }],
            loads: Vec::new(),
            attachment: None,
            sag: Sag::Free,
            ..BodyDesc::default()
        };
        WorldDesc { gravity: -Vec3::y(), bodies: vec![body], rigs: Vec::new(), ..WorldDesc::default() }
    }

    #[test]
    fn a_model_built_again_has_the_same_hash_and_one_built_otherwise_has_not() {
        let hash = |change: fn(&mut WorldDesc)| {
            let mut world = world();
            change(&mut world);
            Model::build(&world).expect("a sound world").hash()
        };
        let same = hash(|_| {});
        assert_eq!(hash(|_| {}), same);
        let changes: [fn(&mut WorldDesc); 8] = [
            |world| world.gravity.x = 1e-12,
            |world| world.bodies[0].name = "bowl".into(),
            |world| world.bodies[0].material.young *= 1.001,
            |world| world.bodies[0].velocity.z = 0.1,
            |world| world.bodies[0].pins.clear(),
            |world| world.bodies[0].air_drag = 0.1,
            |world| world.bodies[0].softness = PointField::new([(Vec3::zeros(), 0.5)]),
            |world| {
                if let ShapeDesc::Surface { surface, .. } = &mut world.bodies[0].shape {
                    surface.vertices[3] *= 0.999;
                }
            },
        ];
        for (i, change) in changes.into_iter().enumerate() {
            assert_ne!(hash(change), same, "change {i}");
        }
    }
}
