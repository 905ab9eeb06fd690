//! Takes all pictures of a plan: looks at the frame source once to place the camera, and once more to draw.
//!
//! All pictures are seen by one camera, fitted to all of them, so that motion reads from one to the next. It goes along with what travels farther than
//! it is large. Only as many moments are kept as are drawn at one time, however long the frame source is.

use super::bodies::{Bodies, Placement};
use super::camera::Camera;
use super::canvas::Image;
use super::frame_source::{FrameSource, PictureError};
use super::heat;
use super::options::{PictureOptions, Shot};
use super::outline::{Outline, Travel};
use super::render_frame::RenderFrame;
use super::renderer::{Panel, Renderer, Shown};
use rayon::prelude::*;
use sinew_take::{SurfaceInfo, check_surfaces};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Strains looked at per moment to find the scale.
const STRAINS: usize = 512;
/// Surfaces that stay throw shades if they are not this many times larger than what is pictured.
const LARGE: f32 = 4.0;

/// A frame source with all that its pictures have in common.
pub(super) struct RenderPlan<'a> {
    frame_source: &'a dyn FrameSource,
    options: PictureOptions,
    pub(super) shots: Vec<Shot>,
    outlines: BTreeMap<u64, Outline>,
    travel: Travel,
    renderer: Renderer<'a>,
}

impl<'a> RenderPlan<'a> {
    /// Checks what is wanted, looks at all moments and places the camera.
    pub(super) fn plan(
        frame_source: &'a dyn FrameSource,
        options: &PictureOptions,
    ) -> Result<RenderPlan<'a>, PictureError> {
        let shots = options.plan(frame_source)?;
        check_surfaces(frame_source.surfaces())?;
        let mut places: Vec<f64> =
            shots.iter().flat_map(|shot| shot.ghosts.iter().copied().chain([shot.place])).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();

        let mut outlines = BTreeMap::new();
        let mut strains = Vec::new();
        let mut next = places.iter();
        let up = frame_source.up();
        frame_source.show(&places, &mut |render_frame| {
            check(frame_source, &render_frame, options.compare)?;
            let stride = render_frame.strain.iter().map(Vec::len).sum::<usize>().div_ceil(STRAINS).max(1);
            let known = render_frame.strain.iter().flatten().copied().step_by(stride);
            strains.extend(known.filter(|strain| !strain.is_nan()));
            if let Some(place) = next.next() {
                outlines.insert(
                    key(*place),
                    Outline::of(&render_frame, frame_source.framed_count(), up, options.compare),
                );
            }
            Ok(())
        })?;
        if outlines.len() != places.len() {
            return Err(PictureError(
                "some frames that should be there are not: was the file changed meanwhile?".into(),
            ));
        }
        let travel = Travel::of(
            outlines.iter().map(|(place, outline)| (f64::from_bits(*place) / frame_source.fps(), outline)),
        );
        let heat = (!strains.is_empty()).then(|| heat::scale_of(strains));
        let renderer = Renderer {
            bodies: Bodies::new(frame_source.surfaces(), frame_source.looks()),
            cage: frame_source.cage(),
            camera: Camera::fitted(std::iter::empty, 1.0, 0.0, 1.0),
            ground: 0.0,
            casting: casting(frame_source),
            heat,
            width: 0,
            height: 0,
        };
        let mut render_plan =
            RenderPlan { frame_source, options: options.clone(), shots, outlines, travel, renderer };
        render_plan.resize(options.width, options.height);
        Ok(render_plan)
    }

    /// Takes pictures of another size from now on.
    pub(super) fn resize(&mut self, width: usize, height: usize) {
        let gap = self.gap();
        let own = if self.options.compare { ((width - gap.min(width - 1)) / 2).max(1) } else { width };
        (self.renderer.width, self.renderer.height) = (own, height);
        let mut points = Vec::new();
        for shot in &self.shots {
            let placement = self.placement(shot);
            for place in shot.ghosts.iter().chain([&shot.place]) {
                if let Some(outline) = self.outlines.get(&key(*place)) {
                    points.extend(outline.extremes.iter().map(|p| placement.point(p)));
                }
            }
        }
        let view = self.options.view;
        let aspect = own as f64 / height as f64;
        let lowest = points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        self.renderer.ground = match (self.frame_source.ground(), self.shots.first()) {
            (Some(height), Some(shot)) => self.placement(shot).height(height),
            _ => lowest,
        };
        self.renderer.camera = Camera::fitted(|| points.iter().copied(), aspect, view.rise, view.zoom);
    }

    /// The width of the line between the two halves of a comparison (pixels).
    fn gap(&self) -> usize {
        if self.options.compare { 2 } else { 0 }
    }

    fn placement(&self, shot: &Shot) -> Placement {
        let middle = self.travel.middle(shot.place / self.frame_source.fps());
        Placement::new(self.frame_source.up(), middle, shot.turn)
    }

    /// Takes the chosen pictures, given by rising numbers, and hands them on in order.
    pub(super) fn take(
        &self,
        chosen: &[usize],
        emit: &mut dyn FnMut(Image) -> Result<(), PictureError>,
    ) -> Result<(), PictureError> {
        // a turntable may go over the same frames again and again
        let mut runs = chosen.chunk_by(|a, b| self.shots[*a].place <= self.shots[*b].place);
        runs.try_for_each(|run| self.take_run(run, emit))
    }

    /// Takes pictures whose places rise.
    fn take_run(
        &self,
        run: &[usize],
        emit: &mut dyn FnMut(Image) -> Result<(), PictureError>,
    ) -> Result<(), PictureError> {
        // the last picture in which each moment is seen
        let mut last_use: BTreeMap<u64, usize> = BTreeMap::new();
        for (i, shot) in run.iter().enumerate() {
            let shot = &self.shots[*shot];
            shot.ghosts.iter().chain([&shot.place]).for_each(|place| {
                last_use.insert(key(*place), i);
            });
        }
        let places: Vec<f64> = last_use.keys().map(|place| f64::from_bits(*place)).collect();
        let mut kept: BTreeMap<u64, Arc<RenderFrame>> = BTreeMap::new();
        let mut arriving = places.iter();
        let (mut done, mut ready) = (0, 0);
        let batch = rayon::current_num_threads().max(1);
        self.frame_source.show(&places, &mut |render_frame| {
            let Some(place) = arriving.next() else { return Ok(()) };
            check(self.frame_source, &render_frame, self.options.compare)?;
            kept.insert(key(*place), Arc::new(render_frame));
            while run.get(ready).is_some_and(|shot| self.shots[*shot].place <= *place) {
                ready += 1;
            }
            while ready - done >= batch || (ready == run.len() && done < ready) {
                let next = (done + batch).min(ready);
                self.draw(&run[done..next], &kept, emit)?;
                done = next;
                kept.retain(|place, _| last_use.get(place).is_some_and(|last| *last >= done));
            }
            Ok(())
        })
    }

    fn draw(
        &self,
        shots: &[usize],
        kept: &BTreeMap<u64, Arc<RenderFrame>>,
        emit: &mut dyn FnMut(Image) -> Result<(), PictureError>,
    ) -> Result<(), PictureError> {
        let draw = |shot: &usize| {
            let shot = &self.shots[*shot];
            let now = kept.get(&key(shot.place))?;
            let ghosts =
                shot.ghosts.iter().filter_map(|place| kept.get(&key(*place)).map(Arc::as_ref)).collect();
            let shown = Shown { now, ghosts, placement: self.placement(shot) };
            Some(if self.options.compare {
                self.renderer.draw_both(&shown, self.gap())
            } else {
                self.renderer.draw(&shown, Panel::Flesh).finish()
            })
        };
        let images: Vec<Option<Image>> = shots.par_iter().map(draw).collect();
        images.into_iter().flatten().try_for_each(emit)
    }
}

/// How many surfaces throw shades, the first ones: those to which pictures are fitted and those not much larger, before which shades would be coarse.
fn casting(frame_source: &dyn FrameSource) -> usize {
    let size = |surface: &SurfaceInfo| {
        let bound = |pick: fn(f32, f32) -> f32, start: f32| {
            surface.rest.iter().fold([start; 3], |all, p| [0, 1, 2].map(|i| pick(all[i], p[i])))
        };
        let (low, high) = (bound(f32::min, f32::INFINITY), bound(f32::max, f32::NEG_INFINITY));
        [0, 1, 2].map(|i| high[i] - low[i]).into_iter().fold(0.0, f32::max)
    };
    let surfaces = frame_source.surfaces();
    let framed = frame_source.framed_count().min(surfaces.len());
    let largest = surfaces[..framed].iter().map(size).fold(0.0, f32::max);
    framed + surfaces[framed..].iter().take_while(|surface| size(surface) <= LARGE * largest).count()
}

/// Fails if a moment is not one of the frame source.
fn check(
    frame_source: &dyn FrameSource,
    render_frame: &RenderFrame,
    compare: bool,
) -> Result<(), PictureError> {
    let surfaces = frame_source.surfaces();
    let fits = |found: &[Vec<[f32; 3]>]| {
        found.len() == surfaces.len()
            && found.iter().zip(surfaces).all(|(points, surface)| points.len() == surface.rest.len())
    };
    if !fits(&render_frame.surfaces) || (compare && !fits(&render_frame.skinned)) {
        return Err(PictureError(format!(
            "the surfaces at {} s are not those at the start",
            render_frame.time
        )));
    }
    let finite = |points: &Vec<[f32; 3]>| points.iter().flatten().all(|c| c.is_finite());
    if !render_frame.surfaces.iter().chain(&render_frame.skinned).all(finite) {
        return Err(PictureError(format!(
            "there are vertices at {} s that are not finite",
            render_frame.time
        )));
    }
    Ok(())
}

/// A place in the order of places, none of which is negative.
fn key(place: f64) -> u64 {
    place.max(0.0).to_bits()
}
