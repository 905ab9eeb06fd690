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
                ui.spinner();
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
        let painter = ui.painter_at(rect);
        let (visuals, goal) = (ui.visuals().clone(), self.status.frame_goal.max(2));
        let x_of =
            |frame: f64| rect.left() + 8.0 + (rect.width() - 16.0) * (frame / (goal - 1) as f64) as f32;
        let frame_at = |x: f32| {
            let fraction = ((x - rect.left() - 8.0) / (rect.width() - 16.0)).clamp(0.0, 1.0);
            (f64::from(fraction) * (goal - 1) as f64).round() as usize
        };

        // the ground: what is there, and what is to come
        painter.rect_filled(rect, 4.0, visuals.extreme_bg_color);
        if !self.is_ready() {
            return;
        }
        let lane = |a: f64, b: f64| {
            Rect::from_min_max(Pos2::new(x_of(a), rect.top() + 20.0), Pos2::new(x_of(b), rect.top() + 27.0))
        };
        painter.rect_filled(lane(0.0, (goal - 1) as f64), 3.0, visuals.faint_bg_color);
        painter.rect_filled(lane(0.0, self.status.frames.saturating_sub(1) as f64), 3.0, theme::CACHED);
        if let Some([a, b]) = self.playback.range {
            painter.rect_filled(
                lane(a as f64, b as f64).expand2(Vec2::new(0.0, 2.0)),
                3.0,
                theme::ACCENT.gamma_multiply(0.35),
            );
        }

        // seconds
        let fps = self.document().map_or(60.0, |document| document.fps);
        let seconds = (goal - 1) as f64 / fps;
        let step = [0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0];
        let step =
            step.into_iter().find(|step| f64::from(rect.width()) * step / seconds > 60.0).unwrap_or(600.0);
        let mut tick = 0.0;
        while tick <= seconds + 1e-9 {
            let x = x_of(tick * fps);
            painter.line_segment(
                [Pos2::new(x, rect.top() + 14.0), Pos2::new(x, rect.top() + 20.0)],
                Stroke::new(1.0, visuals.weak_text_color()),
            );
            let text = if step < 1.0 { format!("{tick:.2} s") } else { format!("{tick:.0} s") };
            let align = if tick == 0.0 { Align2::LEFT_TOP } else { Align2::CENTER_TOP };
            painter.text(
                Pos2::new(x, rect.top() + 1.0),
                align,
                text,
                FontId::proportional(10.0),
                visuals.weak_text_color(),
            );
            tick += step;
        }

        // edits
        let mut under_mouse = None;
        let mouse = response.hover_pos();
        for (i, edit) in self.status.edits.iter().enumerate() {
            let x = x_of((edit.time * fps).round());
            let is_chosen = self.selection == Selection::Edit(i);
            let color = if is_chosen { theme::ACCENT } else { theme::EDIT };
            let base = rect.top() + 40.0;
            let tip = [Pos2::new(x, base - 11.0), Pos2::new(x + 5.0, base), Pos2::new(x - 5.0, base)];
            painter.add(Shape::convex_polygon(tip.to_vec(), color, Stroke::NONE));
            if mouse.is_some_and(|at| (at.x - x).abs() < NEAR && at.y > rect.top() + 27.0) {
                under_mouse = Some(i);
            }
        }

        // the play head
        let head = x_of(self.playback.frame() as f64);
        painter.line_segment(
            [Pos2::new(head, rect.top() + 10.0), Pos2::new(head, rect.bottom() - 2.0)],
            Stroke::new(2.0, theme::ACCENT),
        );
        painter.circle_filled(Pos2::new(head, rect.top() + 12.0), 4.0, theme::ACCENT);
        if self.status.stopped.is_some() {
            let x = x_of(self.status.frames.saturating_sub(1) as f64);
            painter.circle_filled(Pos2::new(x, rect.top() + 23.5), 5.0, theme::ERROR);
        }

        // the mouse: edits are chosen, everything else scrubs
        let response = response.on_hover_cursor(if under_mouse.is_some() {
            CursorIcon::PointingHand
        } else {
            CursorIcon::ResizeHorizontal
        });
        if let Some(edit) = under_mouse {
            let text = self.status.edits[edit].to_line();
            response.clone().on_hover_text_at_pointer(shortened(&text, 160));
            if response.clicked() {
                self.selection = Selection::Edit(edit);
                self.panels.inspector = true;
                return;
            }
        }
        if let Some(at) = response.interact_pointer_pos()
            && (response.dragged() || response.clicked() || response.is_pointer_button_down_on())
        {
            let frame = frame_at(at.x);
            match &mut self.playback.range {
                Some([a, b]) if at.y > rect.top() + 18.0 && response.dragged() => {
                    if frame.abs_diff(*a) < frame.abs_diff(*b) {
                        *a = frame.min(*b)
                    } else {
                        *b = frame.max(*a)
                    }
                }
                _ => {
                    self.playback.is_playing = false;
                    self.playback.go_to(frame.min(self.status.frames.saturating_sub(1)));
                }
            }
        }
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
