//! Cages, bones, forces and the legend, drawn over a viewport that a graphics card has drawn.

use crate::view_painter::ViewScene;
use crate::viewport::Viewport;
use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, Vec2};
use sinew_render::{Scalar, scalar_color};

const BONE: Color32 = Color32::from_rgb(250, 246, 232);
const BONE_EDGE: Color32 = Color32::from_rgb(48, 52, 62);
const CAGE: Color32 = Color32::from_rgba_premultiplied(20, 45, 68, 120);
const INK: Color32 = Color32::from_rgb(50, 54, 62);
/// Pieces of the bar of the legend.
const PIECES: usize = 48;

/// Draws all that a scene has of it.
pub(crate) fn draw(painter: &Painter, view: &Viewport, scene: &ViewScene) {
    let project = |points: &[sinew_math::Vec3; 2]| -> Option<[Pos2; 2]> {
        Some([view.project(&points[0])?, view.project(&points[1])?])
    };
    for edge in scene.cage.iter().filter_map(project) {
        painter.line_segment(edge, Stroke::new(0.8, CAGE));
    }
    let bones: Vec<[Pos2; 2]> = scene.marks.bones.iter().filter_map(project).collect();
    // all dark edges first, so that bones that meet have one outline
    for (grown, color) in [(2.0, BONE_EDGE), (0.0, BONE)] {
        for [from, to] in &bones {
            let across = (*to - *from).normalized().rot90();
            let (wide, narrow) = (across * (3.5 + 0.7 * grown), across * (1.5 + 0.7 * grown));
            let outline = vec![*from + wide, *to + narrow, *to - narrow, *from - wide];
            painter.add(egui::Shape::convex_polygon(outline, color, Stroke::NONE));
            painter.circle_filled(*from, 4.0 + 0.7 * grown, color);
        }
    }
    for arrow in &scene.marks.arrows {
        if let Some([from, to]) = project(&[arrow.from, arrow.to]) {
            let [r, g, b] = arrow.color.map(|c| (255.0 * c.clamp(0.0, 1.0).powf(1.0 / 2.2)) as u8);
            painter.arrow(from, to - from, Stroke::new(2.0, Color32::from_rgb(r, g, b)));
        }
    }
    if let Some((scalar, scale)) = scene.legend {
        draw_legend(painter, view.rect, scalar, scale);
    }
}

fn draw_legend(painter: &Painter, rect: Rect, scalar: Scalar, scale: f64) {
    let bar = Rect::from_min_size(rect.left_bottom() + Vec2::new(16.0, -22.0), Vec2::new(160.0, 9.0));
    for i in 0..PIECES {
        let at = |i: usize| bar.left() + bar.width() * i as f32 / PIECES as f32;
        let piece = Rect::from_x_y_ranges(at(i)..=at(i + 1) + 0.5, bar.y_range());
        let [r, g, b] = scalar_color((i as f64 + 0.5) / PIECES as f64);
        painter.rect_filled(piece, 0.0, Color32::from_rgb(r, g, b));
    }
    let (begin, end) = match scalar {
        Scalar::Strain => ("strain 0", format!("{} %", (1000.0 * scale).round() / 10.0)),
        Scalar::Softness => ("softness 0", format!("{scale}")),
        Scalar::Fat => ("fat 0", format!("{scale}")),
    };
    let font = FontId::proportional(13.0);
    painter.text(bar.left_top() - Vec2::new(0.0, 3.0), Align2::LEFT_BOTTOM, begin, font.clone(), INK);
    painter.text(bar.right_top() - Vec2::new(0.0, 3.0), Align2::RIGHT_BOTTOM, end, font, INK);
}
