//! Three arrows along the axes of the world, by which something is moved along one of them, and a middle by which it is moved along the picture.

use crate::viewport::Viewport;
use egui::{Color32, Painter, Pos2, Stroke};
use sinew_math::Vec3;

/// The length of an arrow (points).
const LENGTH: f32 = 64.0;
/// How near the mouse must be (points).
const NEAR: f32 = 9.0;
/// The colours of x, y and z.
const COLORS: [Color32; 3] =
    [Color32::from_rgb(226, 74, 70), Color32::from_rgb(112, 176, 58), Color32::from_rgb(66, 128, 220)];

/// A part of it that is dragged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GizmoPart {
    /// An arrow: x, y or z.
    Axis(usize),
    /// The middle.
    Middle,
}

fn axis(i: usize) -> Vec3 {
    [Vec3::x(), Vec3::y(), Vec3::z()][i]
}

/// The ends of the arrows in the window, where they can be seen.
fn ends(view: &Viewport, place: &Vec3) -> Option<(Pos2, [Option<Pos2>; 3])> {
    let middle = view.project(place)?;
    // arrows are as long as the picture is high there, by a fraction
    let depth = (view.ray(middle)[0] - place).norm();
    let reach = 2.0 * view.camera.half_height * depth * f64::from(LENGTH / view.rect.height().max(1.0));
    let end = |i: usize| view.project(&(place + axis(i) * reach)).filter(|end| end.distance(middle) > 6.0);
    Some((middle, [0, 1, 2].map(end)))
}

/// Draws it at a place, with the part under the mouse brighter.
pub(crate) fn draw(painter: &Painter, view: &Viewport, place: &Vec3, bright: Option<GizmoPart>) {
    let Some((middle, ends)) = ends(view, place) else { return };
    for (i, end) in ends.iter().enumerate() {
        let Some(end) = end else { continue };
        let is_bright = bright == Some(GizmoPart::Axis(i));
        let color = if is_bright { Color32::WHITE } else { COLORS[i] };
        painter.line_segment([middle, *end], Stroke::new(5.0, Color32::from_black_alpha(90)));
        painter.line_segment([middle, *end], Stroke::new(2.5, color));
        let along = (*end - middle).normalized();
        let across = egui::vec2(-along.y, along.x);
        let head = vec![*end + along * 9.0, *end + across * 5.0, *end - across * 5.0];
        painter.add(egui::Shape::convex_polygon(
            head,
            color,
            Stroke::new(1.0, Color32::from_black_alpha(120)),
        ));
    }
    let fill = if bright == Some(GizmoPart::Middle) { Color32::WHITE } else { Color32::from_gray(210) };
    painter.circle(middle, 5.5, fill, Stroke::new(1.5, Color32::from_black_alpha(190)));
}

/// The part under the mouse.
pub(crate) fn part_at(view: &Viewport, place: &Vec3, mouse: Pos2) -> Option<GizmoPart> {
    let (middle, ends) = ends(view, place)?;
    if mouse.distance(middle) < NEAR {
        return Some(GizmoPart::Middle);
    }
    let far = |end: &Pos2| {
        let (along, to) = (*end - middle, mouse - middle);
        let fraction = (to.dot(along) / along.length_sq()).clamp(0.0, 1.15);
        mouse.distance(middle + along * fraction)
    };
    let near = ends.iter().enumerate().filter_map(|(i, end)| end.as_ref().map(|end| (i, far(end))));
    let nearest = near.min_by(|a, b| a.1.total_cmp(&b.1));
    nearest.filter(|(_, distance)| *distance < NEAR).map(|(i, _)| GizmoPart::Axis(i))
}

/// Where the mouse moves a thing by a part of the gizmo, if it was at `place` when the mouse was at `from`.
pub(crate) fn moved(view: &Viewport, part: GizmoPart, place: &Vec3, [from, to]: [Pos2; 2]) -> Vec3 {
    match part {
        GizmoPart::Middle => place + view.at_depth_of(to, place) - view.at_depth_of(from, place),
        GizmoPart::Axis(i) => {
            let by = along_axis(view, place, i, to) - along_axis(view, place, i, from);
            place + axis(i) * by
        }
    }
}

/// How far along an axis through a place the point nearest to the ray through the mouse is (m).
fn along_axis(view: &Viewport, place: &Vec3, i: usize, mouse: Pos2) -> f64 {
    let ([eye, ray], axis) = (view.ray(mouse), axis(i));
    let ray = ray.normalize();
    let (b, off) = (axis.dot(&ray), place - eye);
    // the two lines are nearest where their connection is normal to both
    let determinant = 1.0 - b * b;
    if determinant < 1e-6 { 0.0 } else { (b * ray.dot(&off) - axis.dot(&off)) / determinant }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewport::ViewKind;
    use egui::{Rect, Vec2};

    fn view() -> Viewport {
        let rect = Rect::from_min_size(Pos2::new(30.0, 10.0), Vec2::new(800.0, 600.0));
        let mut view = Viewport { rect, ..Viewport::new(ViewKind::Perspective) };
        view.frame([-Vec3::repeat(1.0), Vec3::repeat(1.0)].into_iter());
        view
    }

    #[test]
    fn an_arrow_that_is_dragged_to_another_point_of_its_axis_gets_there() {
        let view = view();
        let place = Vec3::new(0.1, 0.3, -0.2);
        for i in 0..3 {
            let there = place + axis(i) * 0.4;
            let mice = [view.project(&place).unwrap(), view.project(&there).unwrap()];
            let moved = moved(&view, GizmoPart::Axis(i), &place, mice);
            // positions in the window are single precision
            assert!((moved - there).norm() < 1e-3, "{i}: {moved:?}");
        }
    }

    #[test]
    fn parts_are_found_where_they_are_drawn() {
        let (view, place) = (view(), Vec3::zeros());
        let (middle, ends) = ends(&view, &place).unwrap();
        assert_eq!(part_at(&view, &place, middle), Some(GizmoPart::Middle));
        for (i, end) in ends.iter().enumerate() {
            let end = end.unwrap();
            assert_eq!(part_at(&view, &place, middle + (end - middle) * 0.7), Some(GizmoPart::Axis(i)));
        }
        assert_eq!(part_at(&view, &place, middle + Vec2::splat(200.0)), None);
    }
}
