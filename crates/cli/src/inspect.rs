//! `sinew inspect`: describes a file and the model built from it, and reports faults.

use crate::contents;
use crate::failure::Failure;
use crate::outputs::is_take;
use crate::take_status::{recorded_length, warn_if_incomplete};
use clap::Args;
use sinew_gltf::{Engine, FileFacts};
use sinew_io::{CharacterChoice, Loaded, TakeEnding, TakeFile};
use sinew_sim::desc::{BodyDesc, NetworkKind, ShapeDesc};
use sinew_sim::{Body, Model, Muscle, Rig};
use sinew_skeleton::{BoneId, Skeleton};
use sinew_take::Scene;
use sinew_zoo::source;
use std::path::PathBuf;

/// Describe what a file contains, how it would be simulated, and what is wrong with it.
#[derive(Args)]
pub(crate) struct Inspect {
    /// A character (.glb, .gltf, .vrm, .fbx), a scene (.toml), a recorded take (.take), a motion (.bvh), a mesh (.obj, .ply, .stl, TetGen .node/.ele), or a name from `sinew zoo list`.
    input: PathBuf,

    /// Say what an engine would refuse, drop or change of a glTF file: godot, unity, unreal, bevy or web (three.js); several separated by commas.
    #[arg(long = "for", value_name = "ENGINE", value_delimiter = ',', value_parser = engine_named)]
    engines: Vec<Engine>,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if !self.engines.is_empty() {
            return self.print_findings();
        }

        // what the file contains
        let take = is_take(&self.input).then(|| TakeFile::open(&self.input)).transpose()?;
        let opened = match &take {
            Some(take) => {
                print_take(take);
                Loaded { value: source::reopen(take)?, notes: Vec::new() }
            }
            None => source::open(Some(&self.input), &CharacterChoice::default())?,
        };
        let source = opened.value;
        let scene = &source.scene;
        say!("scene '{}': {} s at {} frames per second", scene.name, scene.seconds, scene.fps);
        source.bindings().for_each(contents::print);
        for body in &scene.world.bodies {
            print_shape(body);
        }

        // what is wrong with it
        opened.notes.iter().for_each(|note| say!("note: {note}"));
        let faults = scene.faults();
        if !faults.is_empty() {
            return Err(Failure::input(faults.join("\n")));
        }

        // how it would be simulated
        let model = Model::build(&scene.world).map_err(Failure::input)?;
        print_model(&model, scene);
        if let Some(take) = take {
            take.check_model(&model)?;
        }
        Ok(())
    }

    /// Prints what engines do with a file.
    fn print_findings(&self) -> Result<(), Failure> {
        let extension = self.input.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        if !["glb", "gltf", "vrm"].map(Some).contains(&extension.as_deref()) {
            let input = self.input.display();
            return Err(Failure::input(format!(
                "--for is for .glb, .gltf and .vrm files: bake {input} first"
            )));
        }
        let facts = FileFacts::open(&self.input).map_err(Failure::input)?;
        for engine in &self.engines {
            let findings = engine.findings(&facts);
            match findings.len() {
                0 => say!("{}: plays as it is", engine.version()),
                _ => say!("{}:", engine.version()),
            }
            findings.iter().for_each(|finding| say!("  {finding}"));
        }
        Ok(())
    }
}

fn engine_named(name: &str) -> Result<Engine, String> {
    Engine::named(name).ok_or_else(|| {
        let names: Vec<&str> = Engine::ALL.iter().map(|engine| engine.name()).collect();
        format!("the engines are {}", names.join(", "))
    })
}

fn print_take(take: &TakeFile) {
    let recipe = take.recipe();
    say!(
        "take of {}, recorded by sinew {}, model hash {:016x}",
        recipe.origin,
        recipe.sinew,
        recipe.model_hash
    );
    for file in recipe.files.files() {
        say!("  contains {} ({} bytes)", file.name, file.bytes.len());
    }
    match take.ending() {
        TakeEnding::Complete => say!("  complete: {}", recorded_length(take)),
        TakeEnding::Unfinished => say!("  unfinished: {}", recorded_length(take)),
        TakeEnding::Damaged { .. } => {
            say!("  damaged: {}", recorded_length(take));
            warn_if_incomplete(take);
        }
    }
}

fn print_shape(body: &BodyDesc) {
    // what the shape is made of
    let (bounds, counts) = match &body.shape {
        ShapeDesc::Surface { surface, .. } => (
            surface.bounds(),
            format!(
                "mesh with {} vertices and {} triangles, surface area {:.4} m²",
                surface.vertices.len(),
                surface.triangles.len(),
                surface.area()
            ),
        ),
        ShapeDesc::Tets(mesh) => {
            (mesh.bounds(), format!("tet mesh with {} nodes and {} tets", mesh.nodes.len(), mesh.tets.len()))
        }
        ShapeDesc::Network(network) => {
            let points = network.mesh.points();
            let first = points.first().copied().unwrap_or_default();
            let bounds = points.iter().fold((first, first), |(low, high), x| (low.inf(x), high.sup(x)));
            let kind = match network.kind {
                NetworkKind::Cloth { .. } => "cloth",
                NetworkKind::Shell { .. } => "shell",
                NetworkKind::Solid => "springs along the edges of tets, of a mesh",
            };
            (Some(bounds), format!("{kind} with {} vertices", points.len()))
        }
        ShapeDesc::Skin(skin) => {
            let (count, muscles) = (skin.surface.vertices.len(), skin.muscles.len());
            (skin.surface.bounds(), format!("skin with {count} vertices over {muscles} muscles"))
        }
        ShapeDesc::Custom(kind) => {
            let surface = kind.surface();
            (surface.bounds(), format!("custom body with {} vertices", surface.vertices.len()))
        }
    };
    say!("body '{}': {counts}", body.name);

    // how large it is, and where
    if let Some((low, high)) = bounds {
        let size = high - low;
        say!(
            "  size {:.4} × {:.4} × {:.4} m, from {:.4?} to {:.4?}",
            size.x,
            size.y,
            size.z,
            low.as_slice(),
            high.as_slice()
        );
    }
}

/// What a muscle is, in one line.
fn print_muscle(model: &Model, muscle: &Muscle) {
    let Some(body) = muscle.body else {
        say!(
            "muscle '{}': line of action of {:.1} cm, up to {:.0} N",
            muscle.name,
            1e2 * muscle.length,
            muscle.max_force()
        );
        return;
    };
    let [origin, insertion] = [0, 1].map(|i| muscle.end_nodes[i].len());
    say!(
        "muscle '{}' in '{}': {:.1} cm, {:.0} cm³ in {} tets, {:.1} cm² across, up to {:.0} N; {origin} and {insertion} nodes fixed to bones at its ends",
        muscle.name,
        model.bodies()[body].name,
        1e2 * muscle.length,
        1e6 * muscle.volume,
        muscle.tet_count(),
        1e4 * muscle.area(),
        muscle.max_force()
    );
}

fn print_rig(model: &Model, index: usize, rig: &Rig) {
    // the skeleton as a whole
    let skeleton = &rig.skeleton;
    say!(
        "skeleton '{}': {} bones, {} degrees of freedom, {:.4} kg of bone and {:.4} kg of flesh fixed to it",
        rig.name,
        skeleton.bones().len(),
        skeleton.v_count(),
        rig.bone_mass,
        skeleton.mass() - rig.bone_mass
    );

    // how many nodes are fixed to each bone
    let mut nodes = vec![0; skeleton.bones().len()];
    for (_, bone) in
        (0..model.node_count()).filter_map(|n| model.bone_of_node(n)).filter(|(r, _)| *r == index)
    {
        nodes[bone.index()] += 1;
    }

    // the tree of bones, depth first
    let mut open: Vec<(BoneId, usize)> = roots_or_children(skeleton, None).map(|bone| (bone, 0)).collect();
    open.reverse();
    while let Some((bone, depth)) = open.pop() {
        let found = skeleton.bone(bone);
        say!(
            "  {}{} ({} degrees of freedom, {:.4} kg, {} nodes)",
            "· ".repeat(depth.min(40)),
            found.name,
            found.joint.v_count,
            found.mass.mass,
            nodes[bone.index()]
        );
        let children: Vec<BoneId> = roots_or_children(skeleton, Some(bone)).collect();
        open.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }
}

/// The children of a bone; the roots if `parent` is `None`.
fn roots_or_children(skeleton: &Skeleton, parent: Option<BoneId>) -> impl Iterator<Item = BoneId> + '_ {
    let bones = skeleton.bones().iter().enumerate();
    bones.filter(move |(_, bone)| bone.parent == parent).map(|(i, _)| BoneId(i as u32))
}

/// Prints the material of flesh, and how it moves.
fn print_material(body: &Body) {
    let lame = body.material.lame();
    say!(
        "  E = {:.4} Pa, ν = {}, ρ = {} kg/m³; μ = {:.4} Pa, λ = {:.4} Pa",
        body.material.young,
        body.material.poisson,
        body.material.density,
        lame.mu,
        lame.lambda
    );
    let length = body.reach;
    let shear_wave = (lame.mu / body.material.density).sqrt() / (4.0 * length);
    match body.frequency {
        Some(frequency) => say!(
            "  lowest frequency {:.2} Hz; its oscillations halve every {:.2} s",
            frequency / core::f64::consts::TAU,
            core::f64::consts::LN_2 / (body.material.damping_ratio * frequency).max(1e-9)
        ),
        None => say!(
            "  lowest frequency about {shear_wave:.2} Hz (shear wave over {length:.3} m); oscillations halve every {:.2} s",
            core::f64::consts::LN_2 / (0.5 * body.damping_rate).max(1e-9)
        ),
    }
}

fn print_model(model: &Model, scene: &Scene) {
    for (i, body) in model.bodies().iter().enumerate() {
        // mass, cage and material
        say!("body '{}' as simulated:", body.name);
        match (body.tets.len(), body.thickness()) {
            (0, Some(thickness)) => {
                say!("  {:.5} kg, a sheet of {} nodes, {thickness:.5} m thick", body.mass, body.nodes.len());
            }
            (0, None) => say!("  {:.5} kg, {} nodes without a cage", body.mass, body.nodes.len()),
            (tets, _) => {
                let (mass, volume, nodes) = (body.mass, body.volume, body.nodes.len());
                say!("  {mass:.5} kg, {volume:.6} m³, cage of {tets} tets and {nodes} nodes");
                print_material(body);
            }
        }

        // what it is attached to
        let pinned: usize = model.pins().iter().filter(|pin| pin.body == i).map(|pin| pin.nodes.len()).sum();
        say!(
            "  {pinned} nodes held by {} pins; {} loads",
            scene.world.bodies[i].pins.len(),
            model.loads().iter().filter(|l| l.body == i).count()
        );
        let fixed = body.nodes.clone().filter(|&node| model.bone_of_node(node).is_some()).count();
        if fixed > 0 {
            say!("  {fixed} nodes fixed to bones");
        }

        // rest shape and notes
        if let Some(report) = &body.rest_shape {
            say!("  {report}");
        }
        body.notes.iter().for_each(|note| say!("  note: {note}"));
    }

    // skeletons and time step
    model.rigs().iter().enumerate().for_each(|(i, rig)| print_rig(model, i, rig));
    model.muscles().iter().for_each(|muscle| print_muscle(model, muscle));
    say!(
        "explicit steps of at most {:.3} ms ({} per frame); highest frequency {:.0} Hz",
        1e3 * model.stable_step().seconds,
        (1.0 / (scene.fps * model.stable_step().seconds)).ceil(),
        model.stable_step().omega / core::f64::consts::TAU
    );
}
