//! The viewports: pictures, cameras, and what tools do in them.

use crate::icons::{Icon, icon_button_at};
use crate::preferences::Navigation;
use crate::scene_overlays;
use crate::selection::Selection;
use crate::session::{Command, Hand, HandTarget, Phase};
use crate::studio::{Arrangement, Studio};
use crate::theme;
use crate::tools::Tool;
use crate::viewport::{self, Viewport};
use egui::{
    Align2, CentralPanel, Color32, CursorIcon, FontId, Frame, PointerButton, Pos2, Rect, Response, Sense,
    Stroke, TextureOptions, Ui, Vec2,
};
use sinew_io::tables::DriveMode;

/// How near the mouse must be to a joint (points).
const JOINT_NEAR: f32 = 14.0;

impl Studio {
    pub(crate) fn viewport_area(&mut self, ui: &mut Ui) {
        CentralPanel::default().frame(Frame::NONE).show(ui, |ui| {
            let area = ui.available_rect_before_wrap();
            if self.session.is_none() {
                return self.welcome(ui);
            }
            for (slot, rect) in self.places(area) {
                self.viewports[slot].rect = rect;
                self.viewport(ui, slot);
            }
            if self.status.phase == Phase::Opening {
                self.opening_note(ui, area);
            }
        });
    }

    /// Where the visible viewports are.
    fn places(&self, area: Rect) -> Vec<(usize, Rect)> {
        let gap = 1.0;
        let [left, right] = {
            let (a, b) = area.split_left_right_at_fraction(0.5);
            [a.with_max_x(a.max.x - gap), b.with_min_x(b.min.x + gap)]
        };
        match self.arrangement {
            Arrangement::One(slot) => vec![(slot, area)],
            Arrangement::Comparison => vec![(0, left), (1, right)],
            Arrangement::Four => {
                let rows = |column: Rect| {
                    let (a, b) = column.split_top_bottom_at_fraction(0.5);
                    [a.with_max_y(a.max.y - gap), b.with_min_y(b.min.y + gap)]
                };
                let ([a, b], [c, d]) = (rows(left), rows(right));
                vec![(0, a), (2, b), (1, c), (3, d)]
            }
        }
    }

    fn viewport(&mut self, ui: &mut Ui, slot: usize) {
        let rect = self.viewports[slot].rect;
        let id = ui.scope_id().with(("viewport", slot));
        let response = ui.interact(rect, id, Sense::click_and_drag());
        let name = self.viewports[slot].kind.name();
        response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, format!("{name} viewport")));
        if response.contains_pointer() {
            self.active_view = slot;
        }
        self.show_picture(ui, slot, rect);
        if self.is_ready() {
            self.use_tool(ui, slot, &response);
            self.draw_joints(ui, slot);
            self.metaphor_widget(ui, slot, &response);
            self.obstacle_gizmo(ui, slot, &response);
            if self.tool == Tool::Joints {
                self.draw_builder(ui, slot);
            }
        }
        // what is grabbed is where the camera was
        self.navigate(ui, slot, &response);
        self.viewport_label(ui, slot, rect);
    }

    /// Uploads and paints the last picture of a viewport.
    fn show_picture(&mut self, ui: &Ui, slot: usize, rect: Rect) {
        if let Some((painter, scene)) = self.painter.as_mut().zip(self.shown.scene.clone()) {
            let is_compared = self.arrangement == Arrangement::Comparison;
            let pixels = ui.ctx().pixels_per_point();
            let size =
                [rect.width(), rect.height()].map(|points| (points * pixels).round().max(1.0) as usize);
            let camera = self.viewports[if is_compared { 0 } else { slot }].camera;
            let texture = painter.paint(slot, &scene, is_compared && slot == 0, &camera, size);
            let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
            ui.painter_at(rect).image(texture, rect, whole, Color32::WHITE);
            let view = Viewport { camera, ..self.viewports[slot].clone() };
            return scene_overlays::draw(&ui.painter_at(rect), &view, &scene);
        }
        let Some(picture) = &self.shown.pictures[slot] else { return };
        let is_new = self.textures[slot].as_ref().is_none_or(|(_, serial)| *serial != picture.serial);
        if is_new {
            let (size, image) = (picture.image.size, picture.image.clone());
            // one that fills its pixels needs nothing between them, which is cheaper
            let pixels = ui.ctx().pixels_per_point();
            let is_full = size[0] == (rect.width() * pixels).round() as usize;
            let options = if is_full { TextureOptions::NEAREST } else { TextureOptions::LINEAR };
            match &mut self.textures[slot] {
                Some((texture, serial)) => {
                    texture.set(image, options);
                    *serial = picture.serial;
                }
                empty => {
                    let texture = ui.ctx().load_texture(format!("viewport {slot}"), image, options);
                    *empty = Some((texture, picture.serial));
                }
            }
        }
        if let Some((texture, _)) = &self.textures[slot] {
            let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
            ui.painter_at(rect).image(texture.id(), rect, whole, Color32::WHITE);
        }
    }

    fn viewport_label(&mut self, ui: &mut Ui, slot: usize, rect: Rect) {
        let painter = ui.painter_at(rect);
        let text = match (self.arrangement, slot) {
            (Arrangement::Comparison, 0) => "Plain skinning",
            (Arrangement::Comparison, _) => "Flesh",
            _ => self.viewports[slot].kind.name(),
        };
        let ink = Color32::from_rgb(50, 54, 62);
        painter.text(
            rect.min + Vec2::new(10.0, 8.0),
            Align2::LEFT_TOP,
            text,
            FontId::proportional(13.0),
            ink,
        );
        if let Some(error) = &self.shown.error {
            painter.text(
                rect.min + Vec2::new(10.0, 26.0),
                Align2::LEFT_TOP,
                error,
                FontId::proportional(12.0),
                theme::ERROR,
            );
        }

        // one or all of them
        if self.arrangement != Arrangement::Comparison {
            let is_one = self.arrangement == Arrangement::One(slot);
            let (icon, name) = if is_one {
                (Icon::Four, "Show all four viewports")
            } else {
                (Icon::Maximise, "Maximise this viewport")
            };
            let place =
                Rect::from_min_size(Pos2::new(rect.right() - 34.0, rect.top() + 6.0), Vec2::splat(26.0));
            let response = icon_button_at(ui, place, icon, name);
            if response.clicked() {
                self.arrangement = if is_one { Arrangement::Four } else { Arrangement::One(slot) };
            }
        }
    }

    /// Moves the camera by the mouse.
    fn navigate(&mut self, ui: &Ui, slot: usize, response: &Response) {
        let slot = if self.arrangement == Arrangement::Comparison { 0 } else { slot };
        let (modifiers, scroll, pinch) =
            ui.input(|input| (input.modifiers, input.smooth_scroll_delta().y, f64::from(input.zoom_delta())));
        let by = response.drag_delta();
        let view = &mut self.viewports[slot];
        let dragged = |button| response.dragged_by(button);
        let (orbits, pans, zooms) = match self.preferences.navigation {
            Navigation::Blender => {
                let middle = dragged(PointerButton::Middle);
                (middle && modifiers.is_none(), middle && modifiers.shift, middle && modifiers.command)
            }
            Navigation::Maya => (
                modifiers.alt && dragged(PointerButton::Primary),
                modifiers.alt && dragged(PointerButton::Middle),
                modifiers.alt && dragged(PointerButton::Secondary),
            ),
        };
        // where there is no middle button: the left one beside the character, and the right one
        let is_free = self.dialogs.obstacle.is_none() && self.dialogs.handle.is_none();
        let beside =
            self.tool == Tool::Select && dragged(PointerButton::Primary) && modifiers.is_none() && is_free;
        if orbits || beside {
            view.orbit(by);
        } else if pans || (dragged(PointerButton::Secondary) && !zooms) {
            view.pan(by);
        } else if zooms {
            view.zoom(sinew_math::real::exp(-0.01 * f64::from(by.y)));
        }
        if response.contains_pointer() && (scroll != 0.0 || pinch != 1.0) {
            view.zoom(sinew_math::real::exp(0.003 * f64::from(scroll)) * pinch);
        }
    }

    // --- tools

    fn use_tool(&mut self, ui: &Ui, slot: usize, response: &Response) {
        let Some(at) = response.interact_pointer_pos().or(response.hover_pos()) else { return };
        let (alt, pressed) = ui.input(|input| (input.modifiers.alt, input.pointer.press_origin()));
        let pressed = pressed.unwrap_or(at);
        match self.tool {
            _ if alt => {}
            Tool::Select => {
                if response.clicked() {
                    self.select_at(slot, at);
                }
            }
            // a drag begins some points from where the button was pressed
            Tool::Pull => {
                response.clone().on_hover_cursor(CursorIcon::Grab);
                self.drag_hand(slot, response, [pressed, at], |studio| studio.flesh_at(slot, pressed));
            }
            Tool::Reach | Tool::Direct => {
                let drive = if self.tool == Tool::Reach { DriveMode::Reach } else { DriveMode::Direct };
                self.drag_hand(slot, response, [pressed, at], |studio| studio.joint_at(slot, pressed, drive));
            }
            Tool::Joints => self.place_joints(slot, response),
            Tool::Paint => self.paint_at(ui, slot, response, at),
            Tool::Metaphor(kind) => {
                response.clone().on_hover_cursor(CursorIcon::Crosshair);
                if response.clicked() {
                    self.place_metaphor(slot, at, kind);
                }
            }
        }
    }

    fn select_at(&mut self, slot: usize, at: Pos2) {
        let view = &self.viewports[slot];
        let bone =
            self.overlays.bones.then(|| viewport::pick_bone(&self.shown, view, at, JOINT_NEAR)).flatten();
        let body = viewport::pick_surface(&self.shown, view.ray(at));
        let [eye, _] = view.ray(at);
        let far = |point: &sinew_math::Vec3| (point - eye).norm();
        let obstacle = viewport::pick_obstacle(&self.shown, view.ray(at))
            .filter(|(_, point)| body.as_ref().is_none_or(|hit| far(point) < far(&hit.point)));
        self.selection = match (bone, obstacle, body) {
            (Some(bone), _, _) => Selection::Bone(bone.rig, bone.bone),
            (None, Some((obstacle, _)), _) => Selection::Obstacle(obstacle),
            (None, None, Some(hit)) => Selection::Body(hit.body),
            (None, None, None) => Selection::Scene,
        };
    }

    /// What a hand grabs of the flesh under the mouse.
    fn flesh_at(&self, slot: usize, at: Pos2) -> Option<(HandTarget, sinew_math::Vec3)> {
        let hit = viewport::pick_surface(&self.shown, self.viewports[slot].ray(at))?;
        let body = self.document()?.model.bodies().get(hit.body)?.name.clone();
        Some((HandTarget::Flesh { body, rest: hit.rest }, hit.point))
    }

    /// What a hand grabs of the bones under the mouse.
    fn joint_at(&self, slot: usize, at: Pos2, drive: DriveMode) -> Option<(HandTarget, sinew_math::Vec3)> {
        let hit = viewport::pick_bone(&self.shown, &self.viewports[slot], at, JOINT_NEAR)?;
        let document = self.document()?;
        let rig = document.model.rigs().get(hit.rig)?;
        let bone = rig.skeleton.bones().get(hit.bone)?.name.clone();
        let rest = rig.rest_place(hit.bone)?;
        let place = viewport::joint_place(&self.shown, hit.rig, hit.bone)?;
        Some((HandTarget::Bone { character: rig.name.clone(), bone, rest, drive }, place))
    }

    /// Grabs, moves and lets go.
    fn drag_hand(
        &mut self,
        slot: usize,
        response: &Response,
        [pressed, at]: [Pos2; 2],
        find: impl Fn(&Studio) -> Option<(HandTarget, sinew_math::Vec3)>,
    ) {
        if response.drag_started_by(PointerButton::Primary) {
            let Some((target, place)) = find(self) else {
                let what = if self.tool == Tool::Pull { "flesh" } else { "a joint, a white dot" };
                return self.tell(format!("Begin the drag on {what}"));
            };
            if let HandTarget::Bone { .. } = target {
                let bone = viewport::pick_bone(&self.shown, &self.viewports[slot], pressed, JOINT_NEAR);
                self.selection = bone.map_or(self.selection, |bone| Selection::Bone(bone.rig, bone.bone));
            }
            self.dialogs.held_place = Some(place);
            let frame = self.shown.frame;
            self.send(Command::Grab(Hand { frame, target, place }));
        }
        let Some(place) = self.dialogs.held_place else { return };
        if response.dragged_by(PointerButton::Primary) {
            self.send(Command::MoveHand(self.viewports[slot].at_depth_of(at, &place)));
        }
        if response.drag_stopped_by(PointerButton::Primary) {
            self.dialogs.held_place = None;
            self.send(Command::Release);
        }
    }

    /// Joints that can be grabbed, and the selected one.
    fn draw_joints(&self, ui: &Ui, slot: usize) {
        let view = &self.viewports[slot];
        let painter = ui.painter_at(view.rect);
        let shows_all = self.tool.shows_joints() || self.overlays.bones;
        let mouse = ui.input(|input| input.pointer.hover_pos());
        for (rig, bones) in self.shown.surfaces.bones.iter().enumerate() {
            for (bone, pose) in bones.iter().enumerate() {
                let is_chosen = self.selection == Selection::Bone(rig, bone);
                if !(shows_all || is_chosen) {
                    continue;
                }
                let Some(place) = view.project(&pose.translation.vector) else { continue };
                let is_near = mouse.is_some_and(|mouse| mouse.distance(place) < JOINT_NEAR);
                let (size, fill) = match (is_chosen, is_near) {
                    (true, _) => (6.0, theme::ACCENT),
                    (false, true) => (6.0, Color32::WHITE),
                    (false, false) => (3.5, Color32::from_white_alpha(200)),
                };
                painter.circle(place, size, fill, Stroke::new(1.0, Color32::from_black_alpha(180)));
            }
        }
    }

    // --- before there is something to see

    /// What is being done while something opens, over the picture of it at rest, and a way out.
    fn opening_note(&mut self, ui: &Ui, area: Rect) {
        let mut is_cancelled = false;
        egui::Area::new(egui::Id::unique("opening"))
            .fixed_pos(area.center_top() + Vec2::new(0.0, 14.0))
            .pivot(Align2::CENTER_TOP)
            .fade_in(false)
            .show(ui.ctx(), |ui| {
                Frame::popup(ui.style()).show(ui, |ui| {
                    ui.horizontal(|ui| {
                        let doing = egui::RichText::new(format!("{} …", self.status.doing)).size(14.0);
                        ui.add(egui::Label::new(doing).wrap_mode(egui::TextWrapMode::Extend));
                        if let Some(fraction) = self.status.progress {
                            let bar = egui::ProgressBar::new(fraction).desired_width(160.0).show_percentage();
                            ui.add(bar);
                        }
                        is_cancelled = ui.button("Cancel opening").clicked();
                    });
                });
            });
        if is_cancelled {
            self.close();
        }
    }

    /// What is shown while nothing is open.
    fn welcome(&mut self, ui: &mut Ui) {
        let names = ["dancer", "penguin", "starfish", "cow", "rabbit-twist", "cloth-ball"];
        let mut opened = None;
        ui.vertical_centered(|ui| {
            ui.add_space(0.22 * ui.available_height());
            ui.heading(egui::RichText::new("Sinew").size(34.0));
            ui.label("Open a rigged character and watch its flesh move, or drop a file here.");
            ui.add_space(14.0);
            if ui.add(egui::Button::new("Open a file…").min_size(Vec2::new(180.0, 32.0))).clicked() {
                self.dialogs.show(crate::open_dialogs::Dialog::Open);
            }
            ui.add_space(14.0);
            ui.weak("or begin with one of these");
            ui.add_space(4.0);
            ui.allocate_ui(Vec2::new(444.0, 70.0), |ui| {
                ui.horizontal_wrapped(|ui| {
                    for name in names {
                        let described = sinew_zoo::find(name).map_or("", |character| character.description);
                        let button = egui::Button::new(name).min_size(Vec2::new(142.0, 28.0));
                        if ui.add(button).on_hover_text(described).clicked() {
                            opened = Some(name);
                        }
                    }
                });
            });
        });
        if let Some(name) = opened {
            self.open(std::path::Path::new(name));
        }
    }
}
