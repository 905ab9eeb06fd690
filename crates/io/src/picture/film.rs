//! Takes all pictures of a plan: looks at the footage once to place the camera, and once more to draw.
//!
//! All pictures are seen by one camera, fitted to all of them, so that motion reads from one to the next. It goes along with what travels farther than
//! it is large. Only as many moments are kept as are drawn at one time, however long the footage is.

use super::bodies::{Bodies, Placement};
use super::camera::Camera;
use super::canvas::Image;
use super::footage::{Footage, PictureError};
use super::heat;
use super::moment::Moment;
use super::options::{PictureOptions, Shot};
use super::outline::{Outline, Travel};
use super::stage::{Panel, Shown, Stage};
use crate::shape_check::check_surfaces;
use rayon::prelude::*;
use sinew_take::SurfaceInfo;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Strains looked at per moment to find the scale.
const STRAINS: usize = 512;
/// Surfaces that stay throw shades if they are not this many times larger than what is pictured.
const LARGE: f32 = 4.0;

/// A footage with all that its pictures have in common.
pub(super) struct Film<'a> {
    footage: &'a dyn Footage,
    options: PictureOptions,
    pub(super) shots: Vec<Shot>,
    outlines: BTreeMap<u64, Outline>,
    travel: Travel,
    stage: Stage<'a>,
}

impl<'a> Film<'a> {
    /// Checks what is wanted, looks at all moments and places the camera.
    pub(super) fn plan(footage: &'a dyn Footage, options: &PictureOptions) -> Result<Film<'a>, PictureError> {
        let shots = options.plan(footage)?;
        check_surfaces(footage.surfaces())?;
        let mut places: Vec<f64> =
            shots.iter().flat_map(|shot| shot.ghosts.iter().copied().chain([shot.place])).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();

        let mut outlines = BTreeMap::new();
        let mut strains = Vec::new();
        let mut next = places.iter();
        let up = footage.up();
        footage.show(&places, &mut |moment| {
            check(footage, &moment, options.compare)?;
            let stride = moment.strain.iter().map(Vec::len).sum::<usize>().div_ceil(STRAINS).max(1);
            let known = moment.strain.iter().flatten().copied().step_by(stride);
            strains.extend(known.filter(|strain| !strain.is_nan()));
            if let Some(place) = next.next() {
                outlines
                    .insert(key(*place), Outline::of(&moment, footage.framed_count(), up, options.compare));
            }
            Ok(())
        })?;
        if outlines.len() != places.len() {
            return Err(PictureError(
                "some frames that should be there are not: was the file changed meanwhile?".into(),
            ));
        }
        let travel = Travel::of(
            outlines.iter().map(|(place, outline)| (f64::from_bits(*place) / footage.fps(), outline)),
        );
        let heat = (!strains.is_empty()).then(|| heat::scale_of(strains));
        let stage = Stage {
            bodies: Bodies::new(footage.surfaces(), footage.looks()),
            cage: footage.cage(),
            camera: Camera::fitted(std::iter::empty, 1.0, 0.0, 1.0),
            ground: 0.0,
            casting: casting(footage),
            heat,
            width: 0,
            height: 0,
        };
        let mut film = Film { footage, options: options.clone(), shots, outlines, travel, stage };
        film.resize(options.width, options.height);
        Ok(film)
    }

    /// Takes pictures of another size from now on.
    pub(super) fn resize(&mut self, width: usize, height: usize) {
        let gap = self.gap();
        let own = if self.options.compare { ((width - gap.min(width - 1)) / 2).max(1) } else { width };
        (self.stage.width, self.stage.height) = (own, height);
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
        self.stage.ground = match (self.footage.ground(), self.shots.first()) {
            (Some(height), Some(shot)) => self.placement(shot).height(height),
            _ => lowest,
        };
        self.stage.camera = Camera::fitted(|| points.iter().copied(), aspect, view.rise, view.zoom);
    }

    /// The width of the line between the two halves of a comparison (pixels).
    fn gap(&self) -> usize {
        if self.options.compare { 2 } else { 0 }
    }

    fn placement(&self, shot: &Shot) -> Placement {
        let middle = self.travel.middle(shot.place / self.footage.fps());
        Placement::new(self.footage.up(), middle, shot.turn)
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
        let mut kept: BTreeMap<u64, Arc<Moment>> = BTreeMap::new();
        let mut arriving = places.iter();
        let (mut done, mut ready) = (0, 0);
        let batch = rayon::current_num_threads().max(1);
        self.footage.show(&places, &mut |moment| {
            let Some(place) = arriving.next() else { return Ok(()) };
            check(self.footage, &moment, self.options.compare)?;
            kept.insert(key(*place), Arc::new(moment));
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
        kept: &BTreeMap<u64, Arc<Moment>>,
        emit: &mut dyn FnMut(Image) -> Result<(), PictureError>,
    ) -> Result<(), PictureError> {
        let draw = |shot: &usize| {
            let shot = &self.shots[*shot];
            let now = kept.get(&key(shot.place))?;
            let ghosts =
                shot.ghosts.iter().filter_map(|place| kept.get(&key(*place)).map(Arc::as_ref)).collect();
            let shown = Shown { now, ghosts, placement: self.placement(shot) };
            Some(if self.options.compare {
                self.stage.draw_both(&shown, self.gap())
            } else {
                self.stage.draw(&shown, Panel::Flesh).finish()
            })
        };
        let images: Vec<Option<Image>> = shots.par_iter().map(draw).collect();
        images.into_iter().flatten().try_for_each(emit)
    }
}

/// How many surfaces throw shades, the first ones: those to which pictures are fitted and those not much larger, before which shades would be coarse.
fn casting(footage: &dyn Footage) -> usize {
    let size = |surface: &SurfaceInfo| {
        let bound = |pick: fn(f32, f32) -> f32, start: f32| {
            surface.rest.iter().fold([start; 3], |all, p| [0, 1, 2].map(|i| pick(all[i], p[i])))
        };
        let (low, high) = (bound(f32::min, f32::INFINITY), bound(f32::max, f32::NEG_INFINITY));
        [0, 1, 2].map(|i| high[i] - low[i]).into_iter().fold(0.0, f32::max)
    };
    let surfaces = footage.surfaces();
    let framed = footage.framed_count().min(surfaces.len());
    let largest = surfaces[..framed].iter().map(size).fold(0.0, f32::max);
    framed + surfaces[framed..].iter().take_while(|surface| size(surface) <= LARGE * largest).count()
}

/// Fails if a moment is not one of the footage.
fn check(footage: &dyn Footage, moment: &Moment, compare: bool) -> Result<(), PictureError> {
    let surfaces = footage.surfaces();
    let fits = |found: &[Vec<[f32; 3]>]| {
        found.len() == surfaces.len()
            && found.iter().zip(surfaces).all(|(points, surface)| points.len() == surface.rest.len())
    };
    if !fits(&moment.surfaces) || (compare && !fits(&moment.skinned)) {
        return Err(PictureError(format!("the surfaces at {} s are not those at the start", moment.time)));
    }
    let finite = |points: &Vec<[f32; 3]>| points.iter().flatten().all(|c| c.is_finite());
    if !moment.surfaces.iter().chain(&moment.skinned).all(finite) {
        return Err(PictureError(format!("there are vertices at {} s that are not finite", moment.time)));
    }
    Ok(())
}

/// A place in the order of places, none of which is negative.
fn key(place: f64) -> u64 {
    place.max(0.0).to_bits()
}
