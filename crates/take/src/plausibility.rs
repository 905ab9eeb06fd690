//! Questions about input that can be simulated but is probably not meant: units, materials, and bodies inside obstacles.

use crate::{Frame, Player, Scene};
use sinew_math::Vec3;
use sinew_sim::desc::BodyDesc;
use sinew_sim::{Body, Obstacle, ObstacleState};

/// Young's moduli between those of mucus and of diamond (Pa).
const YOUNG: [f64; 2] = [30.0, 1.2e12];
/// Densities between that of aerogel and that of osmium (kg/m³).
const DENSITY: [f64; 2] = [1.0, 2.3e4];
/// No animal is heavier: a blue whale has 190 t (kg).
const HEAVIEST: f64 = 2.0e5;
/// Characters between a wren and a blue whale (m).
const CHARACTER: [f64; 2] = [0.05, 35.0];
/// An obstacle that reaches this fraction of a body's size into it is more than a foot that sinks in.
const DEEP: f64 = 0.1;
/// Vertices of a body that are looked at for obstacles.
const SAMPLES: usize = 2000;

impl Player {
    /// Asks about implausible input, one sentence each: the scene that this player was built of, before its first step.
    pub fn questions(&self, scene: &Scene) -> Vec<String> {
        let mut frame = Frame::default();
        frame.update(&self.model, &self.state);
        let mut questions = Vec::new();
        for ((body, desc), surface) in
            self.model.bodies().iter().zip(&scene.world.bodies).zip(&frame.surfaces)
        {
            let size = body.surface.bounds().map_or(0.0, |(low, high)| (high - low).amax());
            questions.extend(about_material(body, desc));
            questions.extend(about_size(body, desc, size));
            for (obstacle, state) in self.model.obstacles().iter().zip(&self.state.obstacles) {
                questions.extend(about_place(body, size, surface, obstacle, state));
            }
        }
        questions
    }
}

fn about_material(body: &Body, desc: &BodyDesc) -> Option<String> {
    // the material of flesh with a home is chosen by size, whatever the size is
    if desc.attachment.as_ref().is_some_and(|attachment| attachment.home.is_some()) || body.tets.is_empty() {
        return None;
    }
    let (name, young, density) = (&body.name, body.material.young, body.material.density);
    if !(YOUNG[0]..=YOUNG[1]).contains(&young) {
        let than = if young < YOUNG[0] { "softer than any tissue" } else { "harder than diamond" };
        return Some(format!(
            "is Young's modulus of '{name}' meant to be {young} Pa, {than}? fat has 2,000, muscle 10,000, rubber 100,000"
        ));
    }
    (!(DENSITY[0]..=DENSITY[1]).contains(&density))
        .then(|| format!("is the density of '{name}' meant to be {density} kg/m³? flesh has about 1,000"))
}

fn about_size(body: &Body, desc: &BodyDesc, size: f64) -> Option<String> {
    let name = &body.name;
    if desc.attachment.is_some() && !(CHARACTER[0]..=CHARACTER[1]).contains(&size) {
        return Some(format!(
            "is the character '{name}' meant to be {} large? if its unit is not the metre, set scale in a scene file",
            length(size)
        ));
    }
    (body.mass > HEAVIEST).then(|| {
        let tonnes = body.mass / 1e3;
        format!(
            "is '{name}' meant to weigh {tonnes:.0} tonnes at {}? if not, set scale in a scene file",
            length(size)
        )
    })
}

/// Asks if an obstacle reaches deep into a body.
fn about_place(
    body: &Body,
    size: f64,
    surface: &[[f32; 3]],
    obstacle: &Obstacle,
    state: &ObstacleState,
) -> Option<String> {
    let stride = surface.len().div_ceil(SAMPLES).max(1);
    let depth = |p: &[f32; 3]| {
        let p = Vec3::from(p.map(f64::from));
        -obstacle.shape.probe(&(state.pose.inverse() * sinew_math::nalgebra::Point3::from(p)).coords).distance
    };
    let deepest = surface.iter().step_by(stride).map(depth).fold(0.0, f64::max);
    (deepest > DEEP * size).then(|| {
        let (name, other) = (&body.name, &obstacle.name);
        format!(
            "is '{name}' meant to begin {} deep inside the obstacle '{other}'? if not, move one of them with translate",
            length(deepest)
        )
    })
}

/// A length in the unit that people use for it.
fn length(metres: f64) -> String {
    match metres {
        m if m >= 10.0 => format!("{m:.0} m"),
        m if m >= 1.0 => format!("{m:.2} m"),
        m if m >= 0.01 => format!("{:.1} cm", 1e2 * m),
        m => format!("{:.2} mm", 1e3 * m),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_flesh::Material;
    use sinew_math::Isometry;
    use sinew_mesh::shapes;
    use sinew_sim::desc::{ObstacleDesc, Sag, Shape, ShapeDesc, WorldDesc};

    /// A cube of the given size and stiffness about the height 0, and a floor.
    fn scene(size: f64, young: f64, floor: f64) -> Scene {
        let body = BodyDesc {
            name: "beam".into(),
            shape: ShapeDesc::Tets(shapes::beam(2, [size, size, size])),
            material: Material::soft_solid(young, 0.4, 1000.0, 0.0),
            velocity: Vec3::zeros(),
            pins: Vec::new(),
            loads: Vec::new(),
            attachment: None,
            sag: Sag::Free,
            ..BodyDesc::default()
        };
        let at = Isometry::translation(0.0, floor, 0.0);
        let obstacles = vec![ObstacleDesc::fixed("floor", Shape::Plane { normal: Vec3::y() }, at)];
        Scene {
            name: "test".into(),
            world: WorldDesc { bodies: vec![body], obstacles, ..WorldDesc::default() },
            pin_motions: Vec::new(),
            performances: Vec::new(),
            obstacle_motions: Vec::new(),
            constraint_motions: Vec::new(),
            curves: Default::default(),
            solver: Default::default(),
            preroll: 0.0,
            seconds: 0.1,
            fps: 60.0,
            edits: Vec::new(),
        }
    }

    fn questions(size: f64, young: f64, floor: f64) -> Vec<String> {
        let scene = scene(size, young, floor);
        Player::build(&scene).unwrap().questions(&scene)
    }

    #[test]
    fn plausible_input_is_not_questioned() {
        assert_eq!(questions(0.5, 1e4, -10.0), Vec::<String>::new());
    }

    #[test]
    fn units_materials_and_floors_are_questioned_in_one_line_each() {
        for (asked, word) in [
            (questions(0.5, 2.0, -10.0), "meant to be 2 Pa, softer than any tissue"),
            (questions(20.0, 1e6, -100.0), "meant to weigh 8000 tonnes at 20 m"),
            (questions(0.5, 1e4, 0.2), "deep inside the obstacle 'floor'"),
        ] {
            assert!(asked.len() == 1 && asked[0].contains(word), "{asked:?}");
        }
    }

    #[test]
    fn lengths_have_the_unit_that_people_use() {
        assert_eq!([155.0, 1.5, 0.13, 0.002].map(length), ["155 m", "1.50 m", "13.0 cm", "2.00 mm"]);
    }
}
