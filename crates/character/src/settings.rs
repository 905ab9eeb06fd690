//! How a scene is played, whatever it says itself.

use sinew_control::DriveMode;
use sinew_math::{Isometry, Rotation};
use sinew_sim::SolverKind;
use sinew_sim::desc::{CageSize, ObstacleDesc, Shape, ShapeDesc};
use sinew_take::Scene;

/// What is chosen for one take of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TakeSettings {
    /// Its length (s).
    pub seconds: f64,
    /// Frames per second.
    pub fps: f64,
    /// Who drives the skeletons; `None` as the scene says.
    pub lead: Option<DriveMode>,
    /// The animation of a character file, by name or index; `None` for its first.
    pub animation: Option<String>,
    /// The captured motion of a character file, by its name among the captured files.
    pub motion: Option<String>,
    /// How much the flesh of character files swings; `None` as the scene says.
    pub jiggle: Option<f64>,
    /// The file of painted softness, by its name among the captured files.
    pub softness: Option<String>,
    /// The length of the unit of that motion (m); `None` where the file says it or the figure tells.
    pub motion_scale: Option<f64>,
    /// The fabric that a bare mesh is made of, by name; `None` for jelly.
    pub cloth: Option<String>,
    /// Whether the take begins at once, without a preroll.
    pub without_preroll: bool,
    /// Whether it is one cycle among many.
    pub is_loop: bool,
    /// The height of a floor that is added under the scene, against gravity (m).
    pub floor: Option<f64>,
    /// Whether all bodies collide with themselves and with each other.
    pub self_contact: bool,
    /// Whether steps are explicit or implicit; `None` as the scene says.
    pub solver: Option<SolverKind>,
    /// The approximate number of tets of every cage; `None` as the scene says.
    pub cage_tets: Option<usize>,
}

impl TakeSettings {
    /// Changes a scene to be played so.
    pub fn apply(&self, scene: &mut Scene) {
        // how long, and how it is stepped
        if self.is_loop {
            scene.make_loop();
        }
        scene.seconds = self.seconds;
        scene.fps = self.fps;
        if self.without_preroll {
            scene.preroll = 0.0;
        }
        if let Some(kind) = self.solver {
            scene.solver = scene.solver.of_kind(kind);
        }

        // how fine cages are
        if let Some(tets) = self.cage_tets {
            for body in &mut scene.world.bodies {
                if let ShapeDesc::Surface { cage, .. } = &mut body.shape {
                    *cage = CageSize::Tets(tets);
                }
            }
        }

        // who drives, and what there is to collide with
        if let Some(lead) = self.lead {
            scene.performances.iter_mut().for_each(|performance| performance.set_drive_mode(lead));
            if lead.has_loose_joints() {
                (0..scene.world.rigs.len()).for_each(|rig| scene.limit_bare_joints(rig));
            }
        }
        if let (Some(height), Some(up)) = (self.floor, (-scene.world.gravity).try_normalize(0.0)) {
            let at = Isometry::from_parts((height * up).into(), Rotation::identity());
            scene.world.obstacles.push(ObstacleDesc::fixed("floor", Shape::Plane { normal: up }, at));
        }
        if self.self_contact {
            scene.world.contact.self_contact =
                scene.world.bodies.iter().map(|body| body.name.clone()).collect();
            scene.world.contact.between_bodies = true;
        }
    }

    /// How many frames follow the start.
    pub fn frame_count(&self) -> usize {
        (self.seconds * self.fps).round() as usize
    }
}
