//! Icons, drawn as shapes, so that they are sharp at every size and need no font.

use egui::{Color32, Pos2, Rect, Response, Role, Sense, Shape, Stroke, StrokeKind, Ui, Vec2, WidgetInfo};

/// A picture on a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Icon {
    /// To the first frame.
    First,
    /// One frame back.
    Back,
    /// Play.
    Play,
    /// Pause.
    Pause,
    /// One frame on.
    Forward,
    /// To the last frame.
    Last,
    /// Begin again at the end.
    Loop,
    /// One of several viewports becomes the only one.
    Maximise,
    /// All four viewports.
    Four,
    /// The folder above.
    Above,
}

/// A button with an icon; its name is for readers of screens, and shown when the mouse waits.
pub(crate) fn icon_button(ui: &mut Ui, icon: Icon, name: &str, is_selected: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::new(30.0, 24.0), Sense::click());
    icon_in(ui, rect, &response, icon, is_selected);
    describe(response, name, ui.is_enabled())
}

/// The same at a place of its own.
pub(crate) fn icon_button_at(ui: &mut Ui, rect: Rect, icon: Icon, name: &str) -> Response {
    let response =
        ui.interact(rect, ui.scope_id().with(("icon", rect.min.x as i32, rect.min.y as i32)), Sense::click());
    icon_in(ui, rect, &response, icon, false);
    describe(response, name, true)
}

fn describe(response: Response, name: &str, is_enabled: bool) -> Response {
    response.widget_info(|| WidgetInfo::labeled(Role::Button, is_enabled, name));
    response.on_hover_text(name)
}

fn icon_in(ui: &Ui, rect: Rect, response: &Response, icon: Icon, is_selected: bool) {
    let visuals = ui.style().interact_selectable(response, is_selected);
    ui.painter().rect(
        rect.expand(visuals.expansion - 1.0),
        visuals.corner_radius,
        visuals.weak_bg_fill,
        visuals.bg_stroke,
        StrokeKind::Inside,
    );
    let color = visuals.fg_stroke.color;
    for shape in shapes(icon, rect.center(), color) {
        ui.painter().add(shape);
    }
}

/// The shapes of an icon of 12 points about a place.
fn shapes(icon: Icon, middle: Pos2, color: Color32) -> Vec<Shape> {
    let at = |x: f32, y: f32| middle + Vec2::new(x, y);
    let filled = |points: Vec<Pos2>| Shape::convex_polygon(points, color, Stroke::NONE);
    let bar =
        |x: f32| Shape::rect_filled(Rect::from_center_size(at(x, 0.0), Vec2::new(2.5, 11.0)), 0.5, color);
    let right = |x: f32| filled(vec![at(x - 3.5, -5.5), at(x + 4.5, 0.0), at(x - 3.5, 5.5)]);
    let left = |x: f32| filled(vec![at(x + 3.5, -5.5), at(x + 3.5, 5.5), at(x - 4.5, 0.0)]);
    let line = |points: Vec<Pos2>| Shape::line(points, Stroke::new(1.6, color));
    let square = |x: f32, y: f32, size: f32| {
        Shape::rect_stroke(
            Rect::from_center_size(at(x, y), Vec2::splat(size)),
            1.0,
            Stroke::new(1.4, color),
            StrokeKind::Middle,
        )
    };
    match icon {
        Icon::First => vec![bar(-5.5), left(1.5)],
        Icon::Last => vec![right(-1.5), bar(5.5)],
        Icon::Back => vec![left(0.0)],
        Icon::Forward => vec![bar(-4.5), right(1.5)],
        Icon::Play => vec![filled(vec![at(-4.5, -6.5), at(6.0, 0.0), at(-4.5, 6.5)])],
        Icon::Pause => vec![bar(-3.0), bar(3.0)],
        Icon::Loop => vec![
            line(vec![
                at(4.0, -4.0),
                at(-3.5, -4.0),
                at(-6.0, -1.5),
                at(-6.0, 1.5),
                at(-3.5, 4.0),
                at(3.5, 4.0),
                at(6.0, 1.5),
                at(6.0, 0.0),
            ]),
            filled(vec![at(2.5, -7.0), at(6.5, -4.0), at(2.5, -1.0)]),
        ],
        Icon::Maximise => vec![square(0.0, 0.0, 11.0)],
        Icon::Four => vec![
            square(-3.2, -3.2, 4.6),
            square(3.2, -3.2, 4.6),
            square(-3.2, 3.2, 4.6),
            square(3.2, 3.2, 4.6),
        ],
        Icon::Above => vec![
            filled(vec![at(-5.0, 0.0), at(0.0, -6.0), at(5.0, 0.0)]),
            Shape::rect_filled(Rect::from_center_size(at(0.0, 3.0), Vec2::new(3.0, 6.0)), 0.0, color),
        ],
    }
}
