//! How far bodies reach at one moment, and how they travel.

use crate::render_frame::RenderFrame;
use sinew_math::{Vec3, real};
use sinew_take::Up;

/// Directions in which the farthest points are kept: the others lie within a hundredth of their distance, far less than the margin of a picture.
const DIRECTIONS: usize = 96;
/// The camera follows the mean of this time before and after (s), so that it does not sway with every step.
const FOLLOW: f64 = 0.5;

/// How far bodies reach at one moment, y up (m).
pub(crate) struct Outline {
    pub(crate) low: Vec3,
    pub(crate) high: Vec3,
    /// The farthest points in many directions, in the frame's own axes.
    pub(crate) extremes: Vec<Vec3>,
}

impl Outline {
    /// Of the first `framed` surfaces and the cage.
    pub(crate) fn of(render_frame: &RenderFrame, framed: usize, up: Up, with_skinned: bool) -> Outline {
        let skinned = if with_skinned { render_frame.skinned.as_slice() } else { &[] };
        let points = || {
            let surfaces = render_frame.surfaces.iter().take(framed).chain(skinned.iter().take(framed));
            surfaces.flatten().chain(&render_frame.cage)
        };
        let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        for p in points() {
            let p = up.to_y_up(&Vec3::from(p.map(f64::from)));
            (low, high) = (low.inf(&p), high.sup(&p));
        }
        let directions: Vec<[f32; 3]> = (0..DIRECTIONS).map(direction).collect();
        let mut farthest = vec![(f32::NEG_INFINITY, [0.0f32; 3]); DIRECTIONS];
        for p in points() {
            for (direction, farthest) in directions.iter().zip(&mut farthest) {
                let far = p[0] * direction[0] + p[1] * direction[1] + p[2] * direction[2];
                if far > farthest.0 {
                    *farthest = (far, *p);
                }
            }
        }
        let found = farthest.iter().filter(|(far, _)| far.is_finite());
        Outline { low, high, extremes: found.map(|(_, p)| Vec3::from(p.map(f64::from))).collect() }
    }

    fn middle(&self) -> Vec3 {
        if self.low.x.is_finite() { (self.low + self.high) / 2.0 } else { Vec3::zeros() }
    }
}

/// Spread evenly over a sphere by the golden angle.
fn direction(i: usize) -> [f32; 3] {
    let y = 1.0 - (2.0 * i as f64 + 1.0) / DIRECTIONS as f64;
    let radius = (1.0 - y * y).max(0.0).sqrt();
    let angle = i as f64 * 2.399_963_229_728_653;
    [(radius * real::cos(angle)) as f32, y as f32, (radius * real::sin(angle)) as f32]
}

/// Where the middle of the picture is over time.
pub(crate) enum Travel {
    /// In one place (m, y up).
    Stays(Vec3),
    /// Where bodies are at each time (s), if they go farther over the ground than they are large.
    Goes(Vec<(f64, Vec3)>),
}

impl Travel {
    /// The travel of outlines in the order of their times (s).
    pub(crate) fn of<'a>(outlines: impl Iterator<Item = (f64, &'a Outline)> + Clone) -> Travel {
        let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        for (_, outline) in outlines.clone() {
            (low, high) = (low.inf(&outline.low), high.sup(&outline.high));
        }
        let Some((_, first)) = outlines.clone().next() else { return Travel::Stays(Vec3::zeros()) };
        let size = outlines.clone().map(|(_, o)| (o.high - o.low).amax()).fold(0.0, f64::max);
        let start = first.middle();
        let travel = outlines.clone().map(|(_, o)| (o.middle() - start).xz().norm()).fold(0.0, f64::max);
        if travel > size && travel.is_finite() {
            return Travel::Goes(
                outlines.map(|(time, o)| (time, Vec3::new(o.middle().x, start.y, o.middle().z))).collect(),
            );
        }
        Travel::Stays(if low.x.is_finite() { (low + high) / 2.0 } else { Vec3::zeros() })
    }

    /// What the camera looks at, at a time (s).
    pub(crate) fn middle(&self, time: f64) -> Vec3 {
        match self {
            Travel::Stays(middle) => *middle,
            Travel::Goes(path) => {
                let from = path.partition_point(|(t, _)| *t < time - FOLLOW);
                let to = path.partition_point(|(t, _)| *t <= time + FOLLOW);
                let here = path.partition_point(|(t, _)| *t < time - 1e-9).min(path.len() - 1);
                // as many before as after, so that the ends do not pull the camera inwards
                let reach = here.saturating_sub(from).min(to.saturating_sub(here + 1));
                let near = &path[here - reach..=here + reach];
                near.iter().map(|(_, middle)| *middle).sum::<Vec3>() / near.len() as f64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f32) -> Outline {
        let surfaces = vec![vec![[x, 0.0, 0.0], [x + 1.0, 1.0, 0.0], [x + 0.5, 0.5, 0.2]]];
        Outline::of(&RenderFrame { surfaces, ..RenderFrame::default() }, 1, Up::Y, false)
    }

    #[test]
    fn the_farthest_points_are_kept() {
        let outline = at(0.0);
        assert!(
            outline.extremes.contains(&Vec3::zeros()) && outline.extremes.contains(&Vec3::new(1.0, 1.0, 0.0))
        );
        assert_eq!((outline.low.x, outline.high.y), (0.0, 1.0));
    }

    #[test]
    fn the_camera_goes_along_only_with_what_travels_far() {
        let still = [at(0.0), at(0.5)];
        let travel = Travel::of(still.iter().enumerate().map(|(i, o)| (i as f64, o)));
        assert_eq!(travel.middle(0.0), travel.middle(1.0));
        let far: Vec<Outline> = (0..10).map(|i| at(i as f32)).collect();
        let travel = Travel::of(far.iter().enumerate().map(|(i, o)| (0.1 * i as f64, o)));
        // it moves steadily from the first to the last
        assert!((0..10).all(|i| (travel.middle(0.1 * f64::from(i)).x - (0.5 + f64::from(i))).abs() < 1e-9));
    }
}
