//! Takes of characters with bones exported as skinned GLBs: the file plays back the simulated surface and bone poses, for any rig.

use sinew_gltf::{CharacterFile, RigFile, RigGlb, SkinnedGlbOptions, SkinnedGlbReport, open_character};
use sinew_io::open_scene;
use sinew_math::{Vec3, so3};
use sinew_sim::Model;
use sinew_take::{Frame, FrameSink, LoopCloser, Player, Scene, SceneParts, SinkError, SurfaceInfo, Up};
use std::path::Path;
use std::sync::Arc;

/// The round-off of sums of at most 64 targets, each up to a metre and rounded to single precision in shape and weight: 64 · 2 · 6e-8 m.
const ROUND_OFF: f64 = 1e-5;

#[derive(Default)]
struct Kept(Vec<Frame>);

impl FrameSink for Kept {
    fn begin(&mut self, _: &[SurfaceInfo], _: f64) -> Result<(), SinkError> {
        Ok(())
    }
    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.0.push(frame.clone());
        Ok(())
    }
    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// A simulated scene and its file.
struct Written {
    rig: Arc<RigFile>,
    model: Arc<Model>,
    frames: Vec<Frame>,
    file: CharacterFile,
    report: SkinnedGlbReport,
    fps: f64,
    up: Up,
}

fn write(scene: &Scene, options: SkinnedGlbOptions, is_loop: bool) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("take.glb");
    let up = Up::against(scene.world.gravity);
    let mut player = Player::build(scene).unwrap();
    let rig = Arc::new(RigFile::build(&player.model, &SceneParts::all(&player.model), up, &[]).unwrap());
    let (mut kept, mut glb) = (Kept::default(), RigGlb::new(rig.clone(), &target, options));
    let mut sinks: Vec<Box<dyn FrameSink + '_>> = vec![Box::new(&mut kept), Box::new(&mut glb)];
    if is_loop {
        sinks = vec![Box::new(LoopCloser::new(sinks, player.frame_count()))];
    }
    let mut sinks_as_seen: Vec<&mut dyn FrameSink> =
        sinks.iter_mut().map(|sink| &mut **sink as &mut dyn FrameSink).collect();
    player.play(&mut sinks_as_seen, |_| {}).unwrap();
    drop(sinks);
    let (report, frames) = (glb.report().unwrap().clone(), kept.0);
    assert_eq!(report.bytes, std::fs::metadata(&target).unwrap().len());
    let file = open_character(&target).unwrap();
    // bones of several skeletons may have the same names
    assert!(file.notes.is_empty() || player.model.rigs().len() > 1, "{:?}", file.notes);
    Written { rig, model: player.model, frames, file: file.value, report, fps: scene.fps, up }
}

impl Written {
    /// Checks that the file plays back every vertex and bone of every frame within the reported error.
    fn plays_back(&self) {
        let world_from_scene = |p: Vec3| match self.up {
            Up::Y => p,
            Up::Z => Vec3::new(p.x, p.z, -p.y),
        };
        for (i, frame) in self.frames.iter().enumerate() {
            // surfaces
            let pose = self.file.rigged.pose_at(0, i as f64 / self.fps).unwrap();
            let shown = (0..frame.surfaces.len()).filter_map(|body| Some((body, self.rig.surface(body)?)));
            for ((body, surface), report) in shown.zip(&self.report.bodies) {
                assert_eq!((surface.node, &report.name), (report.node, &self.model.bodies()[body].name));
                let played = self.file.rigged.world_vertices(surface, &pose).unwrap();
                let given = &frame.surfaces[body];
                assert_eq!(played.len(), given.len());
                let gaps = played.iter().zip(given).map(|(played, given)| {
                    (played - world_from_scene(Vec3::from(given.map(f64::from)))).norm()
                });
                let gap = gaps.fold(0.0, f64::max);
                assert!(gap <= report.largest_error + ROUND_OFF, "{gap} {report} in frame {i}");
            }

            // bones
            for (rig, bones) in frame.bones.iter().enumerate() {
                for (bone, simulated) in bones.iter().enumerate() {
                    let node = self.rig.bone_node(rig, bone).unwrap();
                    assert_eq!(
                        self.file.rigged.nodes[node].name.as_ref(),
                        Some(&self.model.rigs()[rig].skeleton.bones()[bone].name)
                    );
                    let matrix = pose.world_from_node[node];
                    let middle = Vec3::new(matrix[(0, 3)], matrix[(1, 3)], matrix[(2, 3)]);
                    // keys in single precision, accumulated down a chain of eight bones
                    assert!((middle - world_from_scene(simulated.translation.vector)).norm() < 1e-5);
                    for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
                        let turned = matrix.fixed_view::<3, 3>(0, 0) * axis;
                        assert!((turned - world_from_scene(simulated.rotation * axis)).norm() < 1e-5);
                    }
                }
            }
        }
    }

    /// Checks that weights sum to 1, joints exist, and no vertex has more than four.
    fn weights_are_valid(&self) {
        for surface in (0..self.model.bodies().len()).filter_map(|body| self.rig.surface(body)) {
            let primitive = self.file.rigged.primitive(surface).unwrap();
            let joints =
                self.file.rigged.skins[self.file.rigged.nodes[surface.node].skin.unwrap()].joints.len();
            let weights = primitive.weights.as_ref().unwrap();
            let mut followed = vec![false; joints];
            for vertex in 0..primitive.positions.len() {
                let weights = weights.of(vertex);
                assert!((1..=4).contains(&weights.len()));
                assert!(weights.iter().all(|entry| entry.weight > 0.0 && (entry.joint as usize) < joints));
                // as written, in single precision
                assert!(
                    (weights.iter().map(|entry| entry.weight).sum::<f64>() - 1.0).abs()
                        < 4.0 * f64::from(f32::EPSILON)
                );
                weights.iter().for_each(|entry| followed[entry.joint as usize] = true);
            }
            // each bone of these characters has skin weights
            assert!(followed.iter().all(|followed| *followed), "{followed:?}");
        }
    }

    fn is_met(&self) {
        for body in &self.report.bodies {
            assert!(body.is_met() && body.components <= 64 && body.components > 0, "{body}");
            assert_eq!(body.damped_vertices, 0);
        }
    }
}

fn shortened(mut scene: Scene, seconds: f64) -> Scene {
    scene.seconds = seconds;
    scene
}

fn example(name: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    open_scene(&path).unwrap().value
}

#[test]
fn glb_plays_back_built_in_characters_and_scenes_as_simulated() {
    let find = |name: &str| (sinew_zoo::find(name).unwrap().build)();
    for scene in [find("starfish-coarse"), find("worm"), example("worm.toml")] {
        let written = write(&shortened(scene, 1.0), SkinnedGlbOptions::default(), false);
        assert!(written.report.keyed_nodes > 5);
        written.plays_back();
        written.weights_are_valid();
        written.is_met();
    }
}

#[test]
fn bind_pose_of_the_file_is_the_rest_surface() {
    let model = Model::build(&sinew_zoo::worm(300).world).unwrap();
    let rig = RigFile::build(&model, &SceneParts::all(&model), Up::Y, &[]).unwrap();
    let (file, surface) = (rig.character(), rig.surface(0).unwrap());
    let vertices = file.world_vertices(surface, &file.rest_pose()).unwrap();
    // inverse bind matrices in single precision, half a metre from the origin
    assert!(vertices.iter().zip(&model.bodies()[0].surface.vertices).all(|(a, b)| (a - b).norm() < 1e-6));
    let parents: Vec<Option<usize>> =
        (0..7).map(|bone| file.nodes[rig.bone_node(0, bone).unwrap()].parent).collect();
    for (bone, parent) in model.rigs()[0].skeleton.bones().iter().zip(parents) {
        match bone.parent {
            Some(above) => assert_eq!(parent, rig.bone_node(0, above.index())),
            None => assert_eq!(file.nodes[parent.unwrap()].name.as_deref(), Some("worm skeleton")),
        }
    }
}

/// A coarse dancer with the same bones and dance as the fine one, but fewer tets and vertices. The motion of its belly over the whole dance needs more
/// than 64 morph targets; a second and a half of it does not.
#[test]
fn part_of_the_dance_has_an_error_below_a_thousandth_with_64_targets() {
    let scene = shortened(sinew_zoo::dancer(1_500, 0.03), 1.5);
    let written = write(&scene, SkinnedGlbOptions::default(), false);
    assert_eq!(written.frames.len(), 91);
    written.plays_back();
    written.weights_are_valid();
    written.is_met();
    // the longest side of its bounds is its height
    assert!(written.report.bodies[0].allowed_error < 2e-3);
}

#[test]
fn first_and_last_frame_of_a_loop_are_equal() {
    let mut scene = sinew_zoo::worm(300);
    assert!(scene.make_loop());
    let written = write(&scene, SkinnedGlbOptions::default(), true);
    written.plays_back();
    let (first, last) = (&written.frames[0], &written.frames[written.frames.len() - 1]);
    assert_eq!(first.surfaces, last.surfaces);
}

/// Two worms with free roots and a ball of jelly without bones, z up.
#[test]
fn one_file_holds_several_characters_and_bodies_without_bones() {
    let mut scene = shortened(sinew_zoo::worm(300), 0.5);
    let Scene { world, pin_motions, performances, .. } = &mut scene;
    let (mut body, mut rig) = (world.bodies[0].clone(), world.rigs[0].clone());
    (body.name, rig.name) = ("second".into(), "second rig".into());
    body.attachment.as_mut().unwrap().rig = rig.name.clone();
    performances.push(performances[0].clone());
    let mut jelly = sinew_zoo::jelly();
    let mut jelly_body = jelly.world.bodies.remove(0);
    jelly_body.pins.clear();
    // it falls and is thrown sideways, so that only its node has to move far
    jelly_body.velocity = Vec3::new(1.0, 0.0, 0.0);
    world.bodies.extend([body, jelly_body]);
    world.rigs.push(rig);
    pin_motions.extend([Vec::new(), Vec::new()]);
    world.gravity = Vec3::new(0.0, 0.0, -9.81);
    performances
        .iter_mut()
        .for_each(|performance| performance.set_drive_mode(sinew_control::DriveMode::TwoWay));

    let written = write(&scene, SkinnedGlbOptions::default(), false);
    written.plays_back();
    let skinned: Vec<bool> =
        (0..3).map(|body| written.file.rigged.is_skinned(written.rig.surface(body).unwrap())).collect();
    assert_eq!(skinned, [true, true, false]);
    // the node of the jelly, which falls and is thrown sideways, is where its surface is
    let surface = written.rig.surface(2).unwrap();
    let mean = |points: &[Vec3]| points.iter().sum::<Vec3>() / points.len() as f64;
    let middle = mean(&written.file.rigged.primitive(surface).unwrap().positions);
    let pose = written.file.rigged.pose_at(0, 0.5).unwrap();
    let carried = pose.world_from_node[surface.node].transform_point(&middle.into()).coords;
    let last = &written.frames[30].surfaces[2];
    let last: Vec<Vec3> = last.iter().map(|p| Vec3::new(p[0].into(), p[2].into(), (-p[1]).into())).collect();
    // keys in single precision, after a fall of some ten metres
    assert!((carried - mean(&last)).norm() < 1e-5 && (carried - middle).norm() > 1.0, "{carried} {middle}");
    assert_eq!(written.file.rigged.skins.len(), 2);
}

#[test]
fn frames_of_another_model_are_rejected() {
    let model = Model::build(&sinew_zoo::worm(300).world).unwrap();
    let rig = RigFile::build(&model, &SceneParts::all(&model), Up::Y, &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut glb = RigGlb::new(rig, folder.path().join("a.glb"), SkinnedGlbOptions::default());
    assert!(glb.frame(&Frame::default()).is_err() && glb.finish().is_err());
    assert!(glb.begin(&[], 30.0).is_err());
    let surfaces: Vec<SurfaceInfo> = model.bodies().iter().map(SurfaceInfo::of).collect();
    glb.begin(&surfaces, 30.0).unwrap();
    let rest: Vec<Vec<[f32; 3]>> = surfaces.iter().map(|surface| surface.rest.clone()).collect();
    let frame = Frame { surfaces: rest, ..Frame::default() };
    assert!(glb.frame(&frame).unwrap_err().0.contains("other bones"));
    let turned = so3::exp(&Vec3::new(f64::NAN, 0.0, 0.0));
    let broken = vec![vec![sinew_math::Isometry::from_parts(Vec3::zeros().into(), turned); 7]];
    assert!(glb.frame(&Frame { bones: broken, ..frame }).unwrap_err().0.contains("finite"));
    assert!(glb.finish().unwrap_err().0.contains("no frames"));
    assert!(glb.report().is_none());
    drop(glb);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}
