//! The timeline: media buttons, the play head, recorded frames and edits.

use crate::icons::{Icon, icon_button};
use crate::selection::Selection;
use crate::session::Command;
use crate::studio::Studio;
use crate::theme;
use egui::{Align2, CursorIcon, FontId, Panel, Pos2, Rect, Sense, Shape, Stroke, Ui, Vec2};

/// The height of the bar (points).
const HEIGHT: f32 = 44.0;
/// How near the mouse must be to an edit to choose it (points).
const NEAR: f32 = 7.0;

impl Studio {
    pub(crate) fn timeline(&mut self, ui: &mut Ui) {
        Panel::bottom("timeline").show(ui, |ui| {
            ui.add_space(4.0);
            ui.horizontal(|ui| self.media_buttons(ui));
            self.time_bar(ui);
            ui.add_space(2.0);
        });
    }

    fn media_buttons(&mut self, ui: &mut Ui) {
        let (available, goal) = (self.status.frames, self.status.frame_goal);
        ui.add_enabled_ui(self.is_ready(), |ui| {
            if icon_button(ui, Icon::First, "First frame (Home)", false).clicked() {
                self.playback.go_to(0);
            }
            if icon_button(ui, Icon::Back, "One frame back (Left)", false).clicked() {
                self.playback.step(-1, available);
            }
            let is_playing = self.playback.is_playing;
            let (icon, name) =
                if is_playing { (Icon::Pause, "Pause (Space)") } else { (Icon::Play, "Play (Space)") };
            if icon_button(ui, icon, name, is_playing).clicked() {
                self.playback.is_playing = !is_playing;
            }
            if icon_button(ui, Icon::Forward, "One frame on (Right)", false).clicked() {
                self.playback.step(1, available);
            }
            if icon_button(ui, Icon::Last, "Last frame (End)", false).clicked() {
                self.playback.go_to(available.saturating_sub(1));
            }
            if icon_button(ui, Icon::Loop, "Begin again at the end", self.playback.is_looping).clicked() {
                self.playback.is_looping = !self.playback.is_looping;
            }
            ui.separator();

            // where it is
            let mut frame = self.playback.frame();
            let last = available.saturating_sub(1);
            if ui.add(egui::DragValue::new(&mut frame).range(0..=last).prefix("frame ")).changed() {
                self.playback.is_playing = false;
                self.playback.go_to(frame);
            }
            ui.label(format!("of {}", goal.saturating_sub(1)));
            ui.label(format!("{:.3} s", self.time()));
            ui.separator();
            let speed = format!("{} ×", self.playback.speed);
            let chosen =
                egui::ComboBox::from_id_salt("speed").width(64.0).selected_text(&speed).show_ui(ui, |ui| {
                    for speed in [0.1, 0.25, 0.5, 1.0, 2.0] {
                        ui.selectable_value(&mut self.playback.speed, speed, format!("{speed} ×"));
                    }
                });
            chosen.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Speed"));
            let mut has_range = self.playback.range.is_some();
            if ui
                .checkbox(&mut has_range, "range")
                .on_hover_text("Play only a part, between two handles")
                .changed()
            {
                let [a, b] = [goal / 4, 3 * goal / 4];
                self.playback.range = has_range.then_some([a, b]);
            }
            ui.separator();
            if self.status.is_simulating {
                // no spinner: it would redraw the window without end, and the simulation needs the time
                if ui.button("Pause simulation").clicked() {
                    self.send(Command::Simulate(false));
                }
            } else if self.status.frames < self.status.frame_goal {
                if ui.button("Simulate").on_hover_text("Simulate on to the end of the take").clicked() {
                    self.send(Command::Simulate(true));
                }
            } else if ui.button("+ 2 s").on_hover_text("Make the take two seconds longer").clicked() {
                self.send(Command::Extend(self.status.seconds + 2.0));
            }
        });
    }

    /// The bar with frames, edits and the play head.
    fn time_bar(&mut self, ui: &mut Ui) {
        let size = Vec2::new(ui.available_width(), HEIGHT);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, "Timeline"));
        ui.painter_at(rect).rect_filled(rect, 4.0, ui.visuals().extreme_bg_color);
        if !self.is_ready() {
            return;
        }
        let scale = TimeScale { rect, goal: self.status.frame_goal.max(2) };
        self.draw_frames(ui, &scale);
        self.draw_seconds(ui, &scale);
        let under_mouse = self.draw_edits(ui, &scale, response.hover_pos());
        self.draw_play_head(ui, &scale);
        self.scrub(&scale, response, under_mouse);
    }

    /// What is there, what is to come, and the range that is played.
    fn draw_frames(&self, ui: &Ui, scale: &TimeScale) {
        let painter = ui.painter_at(scale.rect);
        let lane = |a: usize, b: usize| {
            let [a, b] = [a, b].map(|frame| scale.x_of(frame as f64));
            let top = scale.rect.top();
            Rect::from_min_max(Pos2::new(a, top + 20.0), Pos2::new(b, top + 27.0))
        };
        painter.rect_filled(lane(0, scale.goal - 1), 3.0, ui.visuals().faint_bg_color);
        painter.rect_filled(lane(0, self.status.frames.saturating_sub(1)), 3.0, theme::CACHED);
        if let Some([a, b]) = self.playback.range {
            let marked = lane(a, b).expand2(Vec2::new(0.0, 2.0));
            painter.rect_filled(marked, 3.0, theme::ACCENT.gamma_multiply(0.35));
        }
    }

    fn draw_seconds(&self, ui: &Ui, scale: &TimeScale) {
        let (painter, color) = (ui.painter_at(scale.rect), ui.visuals().weak_text_color());
        let fps = self.document().map_or(60.0, |document| document.fps);
        let seconds = (scale.goal - 1) as f64 / fps;
        let steps = [0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0];
        let width = f64::from(scale.rect.width());
        let step = steps.into_iter().find(|step| width * step / seconds > 60.0).unwrap_or(600.0);
        let count = (seconds / step + 1e-9).floor() as usize;
        for i in 0..=count {
            let tick = i as f64 * step;
            let (x, top) = (scale.x_of(tick * fps), scale.rect.top());
            let mark = [Pos2::new(x, top + 14.0), Pos2::new(x, top + 20.0)];
            painter.line_segment(mark, Stroke::new(1.0, color));
            let text = if step < 1.0 { format!("{tick:.2} s") } else { format!("{tick:.0} s") };
            let align = match i {
                0 => Align2::LEFT_TOP,
                _ if x > scale.rect.right() - 24.0 => Align2::RIGHT_TOP,
                _ => Align2::CENTER_TOP,
            };
            painter.text(Pos2::new(x, top + 1.0), align, text, FontId::proportional(10.0), color);
        }
    }

    /// Draws the edits; returns the one under the mouse.
    fn draw_edits(&self, ui: &Ui, scale: &TimeScale, mouse: Option<Pos2>) -> Option<usize> {
        let painter = ui.painter_at(scale.rect);
        let fps = self.document().map_or(60.0, |document| document.fps);
        let mut under_mouse = None;
        for (i, edit) in self.status.edits.iter().enumerate() {
            let (x, base) = (scale.x_of((edit.time * fps).round()), scale.rect.top() + 40.0);
            let is_chosen = self.selection == Selection::Edit(i);
            let color = if is_chosen { theme::ACCENT } else { theme::EDIT };
            let tip = [Pos2::new(x, base - 11.0), Pos2::new(x + 5.0, base), Pos2::new(x - 5.0, base)];
            painter.add(Shape::convex_polygon(tip.to_vec(), color, Stroke::NONE));
            if mouse.is_some_and(|at| (at.x - x).abs() < NEAR && at.y > base - 13.0) {
                under_mouse = Some(i);
            }
        }
        under_mouse
    }

    fn draw_play_head(&self, ui: &Ui, scale: &TimeScale) {
        let (painter, rect) = (ui.painter_at(scale.rect), scale.rect);
        let x = scale.x_of(self.playback.frame() as f64);
        let line = [Pos2::new(x, rect.top() + 10.0), Pos2::new(x, rect.bottom() - 2.0)];
        painter.line_segment(line, Stroke::new(2.0, theme::ACCENT));
        painter.circle_filled(Pos2::new(x, rect.top() + 12.0), 4.0, theme::ACCENT);
        if self.status.stopped.is_some() {
            let x = scale.x_of(self.status.frames.saturating_sub(1) as f64);
            painter.circle_filled(Pos2::new(x, rect.top() + 23.5), 5.0, theme::ERROR);
        }
    }

    /// The mouse: edits are chosen, everything else scrubs or moves the range.
    fn scrub(&mut self, scale: &TimeScale, response: egui::Response, under_mouse: Option<usize>) {
        let cursor =
            if under_mouse.is_some() { CursorIcon::PointingHand } else { CursorIcon::ResizeHorizontal };
        let response = response.on_hover_cursor(cursor);
        if let Some(edit) = under_mouse {
            let text = self.status.edits[edit].to_line();
            response.clone().on_hover_text_at_pointer(shortened(&text, 160));
            if response.clicked() {
                self.selection = Selection::Edit(edit);
                self.panels.inspector = true;
                return;
            }
        }
        let is_used = response.dragged() || response.clicked() || response.is_pointer_button_down_on();
        let Some(at) = response.interact_pointer_pos().filter(|_| is_used) else { return };
        let frame = scale.frame_at(at.x);
        match &mut self.playback.range {
            Some([a, b]) if at.y > scale.rect.top() + 18.0 && response.dragged() => {
                if frame.abs_diff(*a) < frame.abs_diff(*b) {
                    *a = frame.min(*b);
                } else {
                    *b = frame.max(*a);
                }
            }
            _ => {
                self.playback.is_playing = false;
                self.playback.go_to(frame.min(self.status.frames.saturating_sub(1)));
            }
        }
    }
}

/// Where frames are in the bar.
struct TimeScale {
    rect: Rect,
    /// How many frames the take will have, two or more.
    goal: usize,
}

impl TimeScale {
    fn x_of(&self, frame: f64) -> f32 {
        self.rect.left() + 8.0 + (self.rect.width() - 16.0) * (frame / (self.goal - 1) as f64) as f32
    }

    fn frame_at(&self, x: f32) -> usize {
        let fraction = ((x - self.rect.left() - 8.0) / (self.rect.width() - 16.0)).clamp(0.0, 1.0);
        (f64::from(fraction) * (self.goal - 1) as f64).round() as usize
    }
}

/// The beginning of a text, with an ellipsis where it is cut.
pub(crate) fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let cut: String = text.chars().take(limit).collect();
    format!("{cut}…")
}
