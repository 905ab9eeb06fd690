//! Two-pass rendering of a shot list: the first pass over the frames fits the camera, the second draws.
//!
//! All pictures share one camera fitted to all of them, so that motion is comparable between pictures. It follows bodies that travel farther than
//! they are large. Only as many frames are in memory as are drawn at one time, however long the source is.

use crate::camera::Camera;
use crate::camera_path::CameraPath;
use crate::extent::Extent;
use crate::frame_source::{FrameSource, PictureError};
use crate::geometry::Geometry;
use crate::image::Image;
use crate::options::PictureOptions;
use crate::render_frame::RenderFrame;
use crate::renderer::{Panel, PictureContent, Renderer};
use crate::shots::{self, Shot};
use crate::strain_colors;
use crate::view_transform::ViewTransform;
use rayon::prelude::*;
use sinew_take::{SurfaceInfo, check_surfaces};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Strains per frame that the scale of strain colours is chosen from.
const STRAIN_SAMPLES: usize = 512;
/// Static obstacles cast shadows if they are at most this many times larger than the bodies; shadow maps of larger ones would be too coarse.
const MAX_CASTER_RATIO: f32 = 4.0;

/// A frame source with everything that its pictures have in common.
pub(crate) struct RenderPlan<'a> {
    source: &'a dyn FrameSource,
    options: PictureOptions,
    pub(crate) shots: Vec<Shot>,
    extents: BTreeMap<u64, Extent>,
    camera_path: CameraPath,
    renderer: Renderer<'a, 'static>,
}

/// Receives pictures in order.
pub(crate) type ImageCallback<'a> = dyn FnMut(Image) -> Result<(), PictureError> + 'a;

/// What the first pass over the frames measures.
struct Survey {
    extents: BTreeMap<u64, Extent>,
    /// A sample of the strains of all frames.
    strains: Vec<f32>,
}

impl<'a> RenderPlan<'a> {
    /// Checks the options, visits all frames and fits the camera.
    pub(crate) fn build(
        source: &'a dyn FrameSource,
        options: &PictureOptions,
    ) -> Result<RenderPlan<'a>, PictureError> {
        let shots = shots::list(source, options)?;
        check_surfaces(source.surfaces())?;
        let Survey { extents, strains } = survey(source, &shots, options.compare)?;
        let camera_path = CameraPath::of(
            extents.iter().map(|(position, extent)| (f64::from_bits(*position) / source.fps(), extent)),
        );
        let renderer = Renderer {
            geometry: Geometry::new(source.surfaces(), source.looks()),
            cage: source.cage(),
            camera: Camera::fitted(std::iter::empty, 1.0, 0.0, 1.0),
            ground: 0.0,
            caster_count: caster_count(source),
            moving_count: source.framed_count(),
            scalar: source.scalar(),
            strain_scale: (!strains.is_empty()).then(|| strain_colors::scale_of(source.scalar(), strains)),
            width: 0,
            height: 0,
            is_wanted: None,
        };
        let mut plan = RenderPlan { source, options: options.clone(), shots, extents, camera_path, renderer };
        plan.resize(options.width, options.height);
        Ok(plan)
    }

    /// Changes the size of the pictures (pixels) and fits the camera again.
    pub(crate) fn resize(&mut self, width: usize, height: usize) {
        // each panel of a comparison has half of the width
        let gap = self.gap();
        let panel = if self.options.compare { ((width - gap.min(width - 1)) / 2).max(1) } else { width };
        (self.renderer.width, self.renderer.height) = (panel, height);

        // the extreme points of all frames in all pictures
        let mut points = Vec::new();
        for shot in &self.shots {
            let transform = self.view_transform(shot);
            for position in shot.positions() {
                if let Some(extent) = self.extents.get(&key(position)) {
                    points.extend(extent.extremes.iter().map(|p| transform.point(p)));
                }
            }
        }

        // the ground and the camera
        let view = self.options.view;
        let lowest = points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        self.renderer.ground = match (self.source.ground(), self.shots.first()) {
            (Some(height), Some(shot)) => self.view_transform(shot).height(height),
            _ => lowest,
        };
        let aspect = panel as f64 / height as f64;
        self.renderer.camera = Camera::fitted(|| points.iter().copied(), aspect, view.elevation, view.zoom);
    }

    /// The gap between the panels of a comparison (pixels).
    fn gap(&self) -> usize {
        if self.options.compare { 2 } else { 0 }
    }

    fn view_transform(&self, shot: &Shot) -> ViewTransform {
        let target = self.camera_path.target(shot.position / self.source.fps());
        ViewTransform::new(self.source.up(), target, shot.azimuth)
    }

    /// Draws the chosen shots, given by increasing indices, and emits them in order.
    pub(crate) fn draw(&self, chosen: &[usize], emit: &mut ImageCallback) -> Result<(), PictureError> {
        // a turntable may run through the frames several times; a frame source is visited forwards only
        let mut runs = chosen.chunk_by(|a, b| self.shots[*a].position <= self.shots[*b].position);
        runs.try_for_each(|run| self.draw_run(run, emit))
    }

    /// Draws shots whose positions do not decrease, as many at a time as there are threads.
    fn draw_run(&self, run: &[usize], emit: &mut ImageCallback) -> Result<(), PictureError> {
        // for each frame the last shot that shows it, counted within the run
        let mut last_use: BTreeMap<u64, usize> = BTreeMap::new();
        for (i, shot) in run.iter().enumerate() {
            self.shots[*shot].positions().for_each(|position| {
                last_use.insert(key(position), i);
            });
        }
        let positions: Vec<f64> = last_use.keys().map(|position| f64::from_bits(*position)).collect();

        let mut frames: BTreeMap<u64, Arc<RenderFrame>> = BTreeMap::new();
        let mut arriving = positions.iter();
        let (mut drawn, mut ready) = (0, 0);
        let batch = rayon::current_num_threads().max(1);
        self.source.visit(&positions, &mut |render_frame| {
            // keep the frame, and count the shots whose frames have all arrived
            let Some(position) = arriving.next() else { return Ok(()) };
            check(self.source, &render_frame, self.options.compare)?;
            frames.insert(key(*position), Arc::new(render_frame));
            while run.get(ready).is_some_and(|shot| self.shots[*shot].last_position() <= *position) {
                ready += 1;
            }

            // draw full batches, then drop the frames that no later shot shows
            while ready - drawn >= batch || (ready == run.len() && drawn < ready) {
                let next = (drawn + batch).min(ready);
                self.draw_batch(&run[drawn..next], &frames, emit)?;
                drawn = next;
                frames.retain(|position, _| last_use.get(position).is_some_and(|last| *last >= drawn));
            }
            Ok(())
        })
    }

    fn draw_batch(
        &self,
        shots: &[usize],
        frames: &BTreeMap<u64, Arc<RenderFrame>>,
        emit: &mut ImageCallback,
    ) -> Result<(), PictureError> {
        let draw = |shot: &usize| {
            let shot = &self.shots[*shot];
            let frame = |position: f64| frames.get(&key(position)).map(Arc::as_ref);
            let content = PictureContent {
                now: frame(shot.position)?,
                ghosts: shot.ghosts.iter().filter_map(|position| frame(*position)).collect(),
                later: shot.later.iter().filter_map(|position| frame(*position)).collect(),
                transform: self.view_transform(shot),
            };
            Some(if self.options.compare {
                self.renderer.draw_comparison(&content, self.gap())
            } else {
                self.renderer.draw(&content, Panel::Flesh).finish()
            })
        };
        let images: Vec<Option<Image>> = shots.par_iter().map(draw).collect();
        images.into_iter().flatten().try_for_each(emit)
    }
}

/// Visits all frames of some shots and measures them.
fn survey(source: &dyn FrameSource, shots: &[Shot], compare: bool) -> Result<Survey, PictureError> {
    let mut positions: Vec<f64> = shots.iter().flat_map(Shot::positions).collect();
    positions.sort_by(f64::total_cmp);
    positions.dedup();

    let followed = source.followed();
    let mut found = Survey { extents: BTreeMap::new(), strains: Vec::new() };
    let mut next = positions.iter();
    source.visit(&positions, &mut |render_frame| {
        check(source, &render_frame, compare)?;
        let strain_count = render_frame.strain.iter().map(Vec::len).sum::<usize>();
        let stride = strain_count.div_ceil(STRAIN_SAMPLES).max(1);
        let sampled = render_frame.strain.iter().flatten().copied().step_by(stride);
        found.strains.extend(sampled.filter(|strain| !strain.is_nan()));
        if let Some(position) = next.next() {
            let extent = Extent::of(&render_frame, &followed, source.up(), compare);
            found.extents.insert(key(*position), extent);
        }
        Ok(())
    })?;
    if found.extents.len() != positions.len() {
        return Err(PictureError("frames are missing: was the file changed while it was read?".into()));
    }
    Ok(found)
}

/// How many surfaces, from the first, cast shadows: those the camera is fitted to, and the static ones that are not much larger.
fn caster_count(source: &dyn FrameSource) -> usize {
    let size = |surface: &SurfaceInfo| {
        let bound = |pick: fn(f32, f32) -> f32, start: f32| {
            surface.rest.iter().fold([start; 3], |all, p| [0, 1, 2].map(|i| pick(all[i], p[i])))
        };
        let (low, high) = (bound(f32::min, f32::INFINITY), bound(f32::max, f32::NEG_INFINITY));
        [0, 1, 2].map(|i| high[i] - low[i]).into_iter().fold(0.0, f32::max)
    };
    let surfaces = source.surfaces();
    let framed = source.framed_count().min(surfaces.len());
    let limit = MAX_CASTER_RATIO * surfaces[..framed].iter().map(size).fold(0.0, f32::max);
    framed + surfaces[framed..].iter().take_while(|surface| size(surface) <= limit).count()
}

/// Returns an error if a frame does not have the surfaces of its source, or non-finite vertices.
fn check(source: &dyn FrameSource, render_frame: &RenderFrame, compare: bool) -> Result<(), PictureError> {
    let surfaces = source.surfaces();
    let fits = |found: &[Vec<[f32; 3]>]| {
        found.len() == surfaces.len()
            && found.iter().zip(surfaces).all(|(points, surface)| points.len() == surface.rest.len())
    };
    let time = render_frame.time;
    if !fits(&render_frame.surfaces) || (compare && !fits(&render_frame.skinned)) {
        return Err(PictureError(format!("the surfaces at {time} s are not those at the start")));
    }
    let finite = |points: &Vec<[f32; 3]>| points.iter().flatten().all(|c| c.is_finite());
    if !render_frame.surfaces.iter().chain(&render_frame.skinned).all(finite) {
        return Err(PictureError(format!("there are non-finite vertices at {time} s")));
    }
    Ok(())
}

/// A position as a map key: the bits of non-negative numbers are ordered as the numbers are.
fn key(position: f64) -> u64 {
    position.max(0.0).to_bits()
}
