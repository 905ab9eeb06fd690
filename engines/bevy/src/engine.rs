//! The engine, updated by hand: an application of Bevy without a window.

use crate::clip::Clip;
use crate::viewpoint::Viewpoint;
use bevy::asset::{AssetMetaCheck, AssetPath, LoadState, RecursiveDependencyLoadState};
use bevy::camera::RenderTarget;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::gltf::Gltf;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::log::{Level, LogPlugin};
use bevy::prelude::*;
use bevy::render::render_resource::{PipelineCache, PollType, TextureFormat};
use bevy::render::renderer::RenderDevice;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};
use bevy::render::{RenderApp, RenderPlugin};
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;
use std::path::Path;
use std::time::Duration;

/// Updates after which what has not happened never will.
const MAX_UPDATES: usize = 3000;
/// Updates in which new entities reach the GPU and their shaders are asked for.
const MIN_DRAWN: usize = 8;
/// Frames per second of the engine's clock.
const FPS: f32 = 60.0;

/// The engine.
pub(crate) struct Engine {
    app: App,
}

/// The picture, once it is there.
#[derive(Resource, Default)]
struct Picture(Option<Image>);

impl Engine {
    /// Starts the engine, with the folder of the file as that of its assets.
    pub(crate) fn start(file: &Path) -> Result<Engine, String> {
        let is_file = file.metadata().map(|metadata| metadata.is_file());
        if !is_file.map_err(|error| format!("{}: {error}", file.display()))? {
            return Err(format!("{}: not a file", file.display()));
        }
        let file = std::path::absolute(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let folder = file.parent().unwrap_or(&file).to_str();
        let folder = folder.ok_or_else(|| format!("{}: the path is not Unicode", file.display()))?;
        let assets =
            AssetPlugin { file_path: folder.to_string(), meta_check: AssetMetaCheck::Never, ..default() };
        let window =
            WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() };
        let render = RenderPlugin { synchronous_pipeline_compilation: true, ..default() };
        // the renderer warns that a driver in software is slow, and what cannot be loaded is reported below
        let filter = "warn,wgpu=error,bevy_render::renderer=error,bevy_asset::server=off".to_string();
        let log = LogPlugin { level: Level::WARN, filter, ..default() };

        let mut app = App::new();
        let plugins = DefaultPlugins.set(assets).set(window).set(render).set(log);
        // panics are reported by the main program
        app.add_plugins(plugins.disable::<bevy::app::PanicHandlerPlugin>());
        app.insert_resource(ClearColor(Color::srgb(0.80, 0.82, 0.84)));
        app.insert_resource(GlobalAmbientLight { brightness: 300.0, ..default() });
        app.init_resource::<Picture>();
        app.finish();
        app.cleanup();
        Ok(Engine { app })
    }

    /// Entities and assets.
    pub(crate) fn world(&self) -> &World {
        self.app.world()
    }

    /// Entities and assets, to be queried.
    pub(crate) fn world_mut(&mut self) -> &mut World {
        self.app.world_mut()
    }

    /// Loads the file with its textures.
    pub(crate) fn load(&mut self, file: &Path) -> Result<Gltf, String> {
        let name = file.file_name().ok_or_else(|| format!("{}: not a file", file.display()))?;
        let path = AssetPath::from_path_buf(name.into());
        let handle: Handle<Gltf> = self.app.world().resource::<AssetServer>().load(path);
        for _ in 0..MAX_UPDATES {
            self.update()?;
            let server = self.app.world().resource::<AssetServer>();
            let states = (server.load_state(&handle), server.recursive_dependency_load_state(&handle));
            let failure = match states {
                (LoadState::Failed(error), _) | (_, RecursiveDependencyLoadState::Failed(error)) => error,
                (LoadState::Loaded, RecursiveDependencyLoadState::Loaded) => {
                    let loaded = self.app.world_mut().resource_mut::<Assets<Gltf>>().remove(&handle);
                    return loaded.ok_or_else(|| format!("{}: lost by Bevy", file.display()));
                }
                _ => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
            };
            // lines after the first are a backtrace
            let reason = failure.to_string().lines().next().unwrap_or_default().to_string();
            return Err(format!("{}: {reason}", file.display()));
        }
        Err(format!("{}: Bevy does not come to an end of loading it", file.display()))
    }

    /// Puts the scene of the file into the world.
    pub(crate) fn show(&mut self, file: &Gltf) -> Result<(), String> {
        let scene = file.default_scene.as_ref().or(file.scenes.first()).ok_or("the file has no scene")?;
        self.app.world_mut().spawn(WorldAssetRoot(scene.clone()));
        for _ in 0..MAX_UPDATES {
            self.update()?;
            let world = self.app.world_mut();
            if world.query::<&Mesh3d>().iter(world).next().is_some() {
                return Ok(());
            }
        }
        Err("the scene shows no mesh".to_string())
    }

    /// Plays a clip from its start up to a time (s), and stops it there.
    pub(crate) fn play(&mut self, clip: &Clip, time: f32) -> Result<(), String> {
        let world = self.app.world_mut();
        let (graph, node) = AnimationGraph::from_clip(clip.handle.clone());
        let graph = AnimationGraphHandle(world.resource_mut::<Assets<AnimationGraph>>().add(graph));
        let mut players = world.query::<(Entity, &mut AnimationPlayer)>();
        let mut roots = Vec::new();
        for (root, mut player) in players.iter_mut(world) {
            player.play(node);
            roots.push(root);
        }
        if roots.is_empty() {
            return Err(format!("nothing in the scene moves in {}", clip.name));
        }
        for root in roots {
            world.entity_mut(root).insert(graph.clone());
        }
        // the clock advances by a frame in every update, however long that takes
        world.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(1.0 / FPS)));
        for _ in 0..(time * FPS).ceil() as usize {
            self.update()?;
        }
        // back to the very time; one update is enough only where the graph was read in an earlier one
        for mut player in players.iter_mut(self.app.world_mut()) {
            player.1.play(node).seek_to(time).pause();
        }
        (0..2).try_for_each(|_| self.update())
    }

    /// Draws the world and saves the picture.
    pub(crate) fn draw(&mut self, viewpoint: &Viewpoint, size: [u32; 2], path: &Path) -> Result<(), String> {
        let world = self.app.world_mut();
        let target = Image::new_target_texture(size[0], size[1], TextureFormat::Rgba8UnormSrgb, None);
        let target = world.resource_mut::<Assets<Image>>().add(target);
        world.spawn((
            Camera3d::default(),
            Projection::Perspective(viewpoint.projection.clone()),
            viewpoint.transform,
            RenderTarget::from(target.clone()),
            // colours as in the textures: the default curve needs a table that is a feature of its own
            Tonemapping::None,
        ));
        // the key light comes over the left shoulder of the camera, a weaker one fills its shadows from the right
        let from = |x, y, z| {
            let towards_light = viewpoint.transform.rotation * Vec3::new(x, y, z);
            Transform::default().looking_to(-towards_light, Vec3::Y)
        };
        let shadows = CascadeShadowConfigBuilder {
            num_cascades: 1,
            minimum_distance: viewpoint.projection.near,
            maximum_distance: viewpoint.projection.far,
            ..default()
        };
        world.spawn((
            DirectionalLight { illuminance: 2600.0, shadow_maps_enabled: true, ..default() },
            shadows.build(),
            from(-0.6, 1.0, 1.0),
        ));
        world.spawn((DirectionalLight { illuminance: 900.0, ..default() }, from(1.0, 0.2, 0.7)));

        let mut updates = 0;
        while updates < MIN_DRAWN || self.is_compiling() {
            if updates == MAX_UPDATES {
                return Err("Bevy does not come to an end of compiling its shaders".to_string());
            }
            self.update()?;
            updates += 1;
        }
        let keep = |captured: On<ScreenshotCaptured>, mut picture: ResMut<Picture>| {
            picture.0 = Some(captured.image.clone());
        };
        self.app.world_mut().spawn(Screenshot::image(target)).observe(keep);
        for _ in 0..MAX_UPDATES {
            self.update()?;
            if let Some(image) = self.app.world_mut().resource_mut::<Picture>().0.take() {
                let image = image.try_into_dynamic().map_err(|error| error.to_string())?;
                let saved = image.to_rgb8().save(path);
                return saved.map_err(|error| format!("{}: {error}", path.display()));
            }
        }
        Err("Bevy hands back no picture".to_string())
    }

    /// Whether shaders are being compiled, so that something would be missing from a picture.
    fn is_compiling(&self) -> bool {
        let pipelines = self.app.sub_app(RenderApp).world().resource::<PipelineCache>();
        pipelines.waiting_pipelines().next().is_some()
    }

    /// Runs one update, and waits until it is drawn.
    fn update(&mut self) -> Result<(), String> {
        self.app.update();
        let device = self.app.world().resource::<RenderDevice>().wgpu_device();
        let drawn = device.poll(PollType::Wait { submission_index: None, timeout: None });
        drawn.map(|_| ()).map_err(|error| format!("the driver does not finish: {error}"))
    }
}
