//! A scene as the text of ordinary files: a scene file that a person can read and change, and the meshes that it names.
//!
//! What is written is what scene files can say; a scene that needs more is refused with a word about what it is. Nothing is written to
//! disk here.

mod character;
mod constraints;
mod cues;
mod keys;
mod meshes;
mod obstacles;
mod words;

use sinew_control::Motion;
use sinew_flesh::{Law, Material, StretchLimits};
use sinew_sim::desc::{BodyDesc, CageSize, LoadDesc, Region, ShapeDesc};
use sinew_take::Scene;
use words::{list, number, text, vector};

/// A scene as the text of files that lie in one folder.
#[derive(Clone, Debug)]
pub struct SceneFiles {
    /// Names of files with their texts; the first is the scene file, the others are what it names.
    pub files: Vec<(String, String)>,
}

impl SceneFiles {
    /// Writes a scene under a name: `NAME.toml` and a mesh for each body.
    ///
    /// # Errors
    /// The first thing that a scene file cannot say, in words.
    pub fn of(scene: &Scene, name: &str) -> Result<SceneFiles, String> {
        let mut page = format!(
            "seconds = {}\nfps = {}\ngravity = {}\n",
            number(scene.seconds),
            number(scene.fps),
            vector(&scene.world.gravity)
        );
        let mut meshes = Vec::new();
        for (i, body) in scene.world.bodies.iter().enumerate() {
            if matches!(body.shape, ShapeDesc::Custom(_)) {
                return Err(format!("'{}' is not made of tets, which a scene file cannot say", body.name));
            }
            page += "\n";
            match &body.attachment {
                Some(_) => page += &character::write(scene, body)?,
                None => page += &write_body(body, scene.pin_motions.get(i).map_or(&[], Vec::as_slice)),
            }
            meshes.extend(meshes::write(body));
        }
        let (obstacles, obstacle_meshes) = obstacles::write(scene)?;
        page += &obstacles;
        meshes.extend(obstacle_meshes);
        page += &constraints::write(scene)?;
        let mut files = vec![(format!("{name}.toml"), page)];
        files.extend(meshes);
        Ok(SceneFiles { files })
    }
}

fn write_body(body: &BodyDesc, motions: &[Motion]) -> String {
    let mut page = format!("[[body]]\nname = {}\n", text(&body.name));
    page += &write_shape(body);
    page += &format!("material = {}\n", material(&body.material));
    page += &format!("velocity = {}\n", vector(&body.velocity));
    page += &format!("sag = {}\n", text(body.sag.name()));
    for (pin, motion) in body.pins.iter().zip(motions) {
        page += &format!("[[body.pin]]\nregion = {}\n", region(&pin.region));
        page += &self::motion(motion);
    }
    for load in &body.loads {
        page += &format!("[[body.load]]\n{}", write_load(load));
    }
    page
}

fn write_shape(body: &BodyDesc) -> String {
    let name = text(&meshes::file_name(body));
    match &body.shape {
        ShapeDesc::Surface { cage: CageSize::Tets(tets), .. } => {
            format!("surface = {name}\ncage_tets = {tets}\n")
        }
        ShapeDesc::Surface { cage: CageSize::Edge(edge), .. } => {
            format!("surface = {name}\ncage_edge = {}\n", number(*edge))
        }
        ShapeDesc::Tets(_) | ShapeDesc::Custom(_) => format!("tets = {name}\n"),
    }
}

fn write_load(load: &LoadDesc) -> String {
    format!("region = {}\nforce = {}\n", region(&load.region), vector(&load.force))
}

fn material(material: &Material) -> String {
    let mut law = format!("law = {}", text(material.law.name()));
    if let Law::StVenantKirchhoff(StretchLimits { lower, upper }) = material.law {
        law += &format!(", stretch_limits = {}", list(&[lower, upper]));
    }
    format!(
        "{{ {law}, young = {}, poisson = {}, density = {}, damping = {} }}",
        number(material.young),
        number(material.poisson),
        number(material.density),
        number(material.damping_ratio)
    )
}

fn region(region: &Region) -> String {
    match region {
        Region::End { direction, fraction } => {
            format!("{{ end = {}, fraction = {} }}", vector(direction), number(*fraction))
        }
        Region::Box { min, max } => {
            format!("{{ box = {{ min = {}, max = {} }} }}", vector(min), vector(max))
        }
        Region::Ball { center, radius } => {
            format!("{{ ball = {{ center = {}, radius = {} }} }}", vector(center), number(*radius))
        }
        Region::Nearest(place) => format!("{{ nearest = {} }}", vector(place)),
    }
}

fn motion(motion: &Motion) -> String {
    match motion {
        Motion::Still => String::new(),
        Motion::Shake { amplitude, frequency } => format!(
            "motion = {{ shake = {{ amplitude = {}, frequency = {} }} }}\n",
            vector(amplitude),
            number(*frequency)
        ),
        Motion::Spin { axis, center, rate } => format!(
            "motion = {{ spin = {{ axis = {}, center = {}, rate = {} }} }}\n",
            vector(axis),
            vector(center),
            number(*rate)
        ),
        Motion::Glide { velocity } => {
            format!("motion = {{ glide = {{ velocity = {} }} }}\n", vector(velocity))
        }
    }
}
